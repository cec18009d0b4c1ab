// Friction and contact on the graph: laws by their own definitions (law/friction.h, law/normal.h), the geometry of spheres, planes and capsules as src/contact has it of numbers (place_pair.c, place_patch.c, shapes.c). Open and closed, sticking and slipping are chosen by selects.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "contact/friction_graph.h"
#include "contact/normal_graph.h"
#include "contact/place.h"
#include "symbolic/contact.h"
#include "symbolic/symbols.h"

// ---- laws ---------------------------------------------------------------------------------------------------------------

static srNode argument(void* user, srVarKind kind, int index) {
  (void)kind;
  return ((const srNode*)user)[index];
}

static srGraph* graph_of(const srSymLaw* law) { return law->pass->g; }
static srPool* pool_of(const srSymLaw* law) { return law->pass->tree->pool; }

// Those of the element from `first` on.
static void numbers(const srSymLaw* law, int first, const double* x, int n, srNode* out) {
  for (int i = 0; i < n; i++) out[i] = sr_sym_element_number(law->pass, law->element, first + i, x[i]);
}

void sr_sym_normal_numbers(const srSymLaw* law, srNode out[SR_NORMAL_ARGUMENTS]) {
  double value[SR_NORMAL_ARGUMENTS];
  sr_normal_arguments(&law->element->contact->p, 0, 0, 0, value);
  numbers(law, law->element->np, value, SR_NORMAL_ARGUMENTS, out);
}

srNode sr_sym_normal_of(srPool* pool, srGraph* g, const srNormalLaw* law, const srNode number[SR_NORMAL_ARGUMENTS],
                        srNode d, srNode ddot) {
  srGraph* own = sr_graph_create(pool);
  srNode given[SR_NORMAL_ARGUMENTS];
  srNormalGraph x;
  const bool defined = sr_normal_graph(law, own, &x);
  SR_ASSERT(defined);
  (void)defined;
  memcpy(given, number, sizeof given);
  given[0] = d, given[1] = ddot;  // as sr_normal_arguments
  const srNode f = sr_sym_import(sr_sym_import_begin(pool, own, g, argument, given), x.f);
  return srx_if(g, srx_positive(g, d), f, srx_number(g, 0));
}

int sr_sym_normal_arguments(const srSymLaw* law, const srNode* given, srGraph* g, srNode* number, srNode* all, int n,
                            double* key) {
  for (int i = 0; i < SR_NORMAL_ARGUMENTS; i++) {
    if (sr_graph_constant(graph_of(law), given[i], &key[i])) {
      number[i] = srx_number(g, key[i]);
    } else {
      number[i] = sr_graph_var(g, SR_VAR_ARG, n), all[n++] = given[i];
      key[i] = 1e300;
    }
  }
  return n;
}

srNode sr_sym_normal_force(const srSymLaw* law, srNode d, srNode ddot) {
  srNode number[SR_NORMAL_ARGUMENTS];
  if (law->normal == NULL) sr_sym_normal_numbers(law, number);
  return sr_sym_normal_of(pool_of(law), graph_of(law), law->element->contact->law, law->normal ? law->normal : number,
                          d, ddot);
}

// Force and rates of a friction law at slip v, with bristles e and limits times N.
static void friction_force(const srSymLaw* law, const srDryFriction* x, const srNode* v, const srNode* e, srNode N,
                           srNode* f, srNode* edot) {
  srGraph *g = graph_of(law), *own = sr_graph_create(pool_of(law));
  const int first = x->n + x->ne, n = first + SR_FRICTION_ARGUMENTS;
  double* value = sr_pool_alloc(pool_of(law), (size_t)n * sizeof *value);
  srNode* given = sr_pool_alloc(pool_of(law), (size_t)n * sizeof *given);
  srFrictionGraph* y = sr_pool_alloc(pool_of(law), sizeof *y);
  const bool defined = sr_friction_graph(x->law, x->n, x->ne / x->n, own, y);
  SR_ASSERT(defined);
  (void)defined;
  const double* none = sr_pool_alloc(pool_of(law), (size_t)n * sizeof *none);
  sr_friction_arguments(x, none, none, 0, 0, value);
  const srSurfaceLaws* c = law->element->contact;
  numbers(law, sr_sym_friction_numbers(law->element, x == &c->slip ? 0 : x == &c->roll ? 1 : 2), value, n, given);
  for (int i = 0; i < x->n; i++) given[i] = v[i];
  for (int i = 0; i < x->ne; i++) given[x->n + i] = e[i];
  given[first] = N, given[first + 1] = law->time_constant;  // as sr_friction_arguments
  srSymImport* import = sr_sym_import_begin(pool_of(law), own, g, argument, given);
  for (int i = 0; i < x->n; i++) f[i] = sr_sym_import(import, y->f[i]);
  for (int i = 0; i < x->ne; i++) edot[i] = sr_sym_import(import, y->edot[i]);
}

static void bristles(const srSymLaw* law, const srDryFriction* x, srNode* e) {
  for (int i = 0; i < x->ne; i++) e[i] = sr_graph_var(graph_of(law), SR_VAR_STATE, law->element->y + x->e + i);
}

// ---- one coordinate -----------------------------------------------------------------------------------------------------

srNode sr_sym_friction_joint(const srSymLaw* law, srNode rate, srNode* ydot) {
  const srDryFriction* x = &law->element->contact->slip;
  srNode e[SR_FRICTION_FORCE_MOST], f[SR_FRICTION_MAX_N];
  bristles(law, x, e);
  friction_force(law, x, &rate, e, srx_number(graph_of(law), 1), f, ydot + x->e);
  return srx_neg(graph_of(law), f[0]);
}

srNode sr_sym_end_joint(const srSymLaw* law, srNode q, srNode rate) {
  srGraph* g = graph_of(law);
  const srSurfaceLaws* c = law->element->contact;
  const srNode side = srx_number(g, c->side), d = srx_mul(g, side, srx_sub(g, q, srx_number(g, c->end)));
  return srx_neg(g, srx_mul(g, side, sr_sym_normal_force(law, d, srx_mul(g, side, rate))));
}

void sr_sym_gap(const srSymLaw* law, srNode gap, srNode gap_rate, srNode slip_rate, srNode f[2], srNode* ydot) {
  srGraph* g = graph_of(law);
  const srDryFriction* x = &law->element->contact->slip;
  srNode e[SR_FRICTION_FORCE_MOST], friction[SR_FRICTION_MAX_N];
  f[0] = sr_sym_normal_force(law, srx_neg(g, gap), srx_neg(g, gap_rate));
  f[1] = srx_number(g, 0);
  if (x->law == NULL) return;
  bristles(law, x, e);
  friction_force(law, x, &slip_rate, e, f[0], friction, ydot + x->e);
  f[1] = srx_neg(g, friction[0]);
}

// ---- shapes -------------------------------------------------------------------------------------------------------------

srVec sr_sym_flat(srGraph* g, srVec n, srVec a) { return srx_minus(g, a, srx_times(g, srx_dot3(g, n, a), n)); }
static srVec along_z(srGraph* g, double z) {
  const double v[3] = {0, 0, z};
  return srx_numbers(g, v);
}

// A sphere b on a plane, on a sphere, within a hollow one or a bore.
static void place_pair(const srSymLaw* law, const srSymFrames* at, srSymPlace* out) {
  srGraph* g = graph_of(law);
  const srSurfaceLaws* c = law->element->contact;
  const srNode zero = srx_number(g, 0);
  srNode gap, arm;
  out->turning = out->moment = srx_zero(g);
  if (c->pair == &sr_pair_plane_sphere) {
    out->n = along_z(g, 1);
    gap = srx_sub(g, at->x.x[2], srx_number(g, c->radius[1]));
    arm = srx_number(g, c->radius[1]);
  } else {
    const bool bore = c->pair == &sr_pair_bore_sphere, within = bore || c->pair == &sr_pair_hollow_sphere;
    const int axes = bore ? 2 : 3;
    const srNode distance = srx_norm(g, axes, at->x.x), side = srx_number(g, within ? -1 : 1);
    const srNode apart = srx_positive(g, distance), curve = srx_if(g, apart, srx_div(g, side, distance), zero);
    for (int i = 0; i < 3; i++)  // concentric: no normal
      out->n.x[i] =
          i < axes ? srx_if(g, apart, srx_mul(g, curve, at->x.x[i]), srx_number(g, i == (bore ? 0 : 2))) : zero;
    gap = srx_sub(g, srx_mul(g, side, distance), srx_number(g, c->radius[0] + c->radius[1]));
    arm = srx_add(g, srx_number(g, c->radius[1]), srx_mul(g, srx_number(g, 0.5), gap));
    out->turning = srx_times(g, curve, sr_sym_flat(g, out->n, at->u));
    if (bore) out->turning.x[2] = zero;
  }
  out->N = out->N_spin = sr_sym_normal_force(law, srx_neg(g, gap), srx_neg(g, srx_dot3(g, out->n, at->u)));
  out->r = srx_times(g, srx_neg(g, arm), out->n);
  out->force = srx_times(g, out->N, out->n);
}

// A capsule b on a plane: the spheres at its ends.
static void place_capsule(const srSymLaw* law, const srSymFrames* at, srSymPlace* out) {
  srGraph* g = graph_of(law);
  const srSurfaceLaws* c = law->element->contact;
  const srConvex* capsule = &c->shape[1]->convex;
  const srVec axis = {{at->R.x[2], at->R.x[5], at->R.x[8]}}, below = along_z(g, -capsule->radius);
  srVec r[2], first = srx_zero(g);
  srNode f[2], second = srx_number(g, 0);
  out->n = along_z(g, 1);
  out->turning = out->moment = srx_zero(g);
  out->N = srx_number(g, 0);
  for (int k = 0; k < 2; k++) {
    const srVec centre = srx_times(g, srx_number(g, (k == 0 ? -1 : 1) * capsule->size[2]), axis);
    const srNode depth = srx_sub(g, srx_number(g, capsule->radius), srx_add(g, at->x.x[2], centre.x[2]));
    r[k] = srx_plus(g, centre, below);
    const srVec v = srx_plus(g, at->u, srx_cross3(g, at->w, r[k]));
    f[k] = sr_sym_normal_force(law, depth, srx_neg(g, v.x[2]));
    out->N = srx_add(g, out->N, f[k]);
    out->moment = srx_plus(g, out->moment, srx_cross3(g, r[k], srx_times(g, f[k], out->n)));
    first = srx_plus(g, first, srx_times(g, f[k], r[k]));
    second = srx_add(g, second, srx_mul(g, f[k], srx_dot(g, 2, r[k].x, r[k].x)));
  }
  const srNode pressed = srx_positive(g, out->N), zero = srx_number(g, 0);
  for (int i = 0; i < 3; i++) out->r.x[i] = srx_if(g, pressed, srx_div(g, first.x[i], out->N), zero);
  const srNode G = srx_max(g, zero, srx_sub(g, second, srx_mul(g, out->N, srx_dot(g, 2, out->r.x, out->r.x))));
  const srNode square = srx_mul(g, out->N, G);
  const srNode gyration = srx_if(g, srx_positive(g, square), srx_sqrt(g, square), zero);
  out->N_spin = srx_add(g, gyration, srx_mul(g, srx_number(g, c->lever), out->N));
  out->force = srx_times(g, out->N, out->n);
}

static bool is_capsule_on_plane(const srSurfaceLaws* c) {
  return c->patch != NULL && !c->patch->line && !c->patch->round && c->shape[0]->convex.kind == SR_KIND_PLANE &&
         c->shape[1]->convex.kind == SR_KIND_CAPSULE;
}

// slip = P (u + w x r + b), turn = P w, spin = n.w; b: velocity of the surfaces in their bodies.
static void put_motion(const srSymLaw* law, const srSymFrames* at, srSymPlace* out) {
  srGraph* g = graph_of(law);
  const srCollisionShape* const* shape = law->element->contact->shape;
  srVec v = srx_plus(g, at->u, srx_cross3(g, at->w, out->r));
  for (int k = 0; k < 2 && law->belt != NULL; k++) {
    if (shape[k]->belt < 0) continue;
    const srVec b = {{law->belt[3 * k], law->belt[3 * k + 1], law->belt[3 * k + 2]}};
    v = k == 0 ? srx_minus(g, v, b) : srx_plus(g, v, srx_mat_vec(g, &at->R, b));
  }
  out->slip = sr_sym_flat(g, out->n, v);
  out->turn = sr_sym_flat(g, out->n, at->w);
  out->spin = srx_dot3(g, out->n, at->w);
}

// e' = (law's e') - n (n'.e) + 1/2 (n.w) n x e
static void rub(const srSymLaw* law, const srDryFriction* x, const srSymPlace* p, const srNode* v, srNode N, srVec* f,
                srNode* ydot) {
  srGraph* g = graph_of(law);
  srNode e[SR_FRICTION_FORCE_MOST];
  *f = srx_zero(g);
  if (x->law == NULL) return;
  bristles(law, x, e);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) {
    const srVec in_plane = sr_sym_flat(g, p->n, (srVec){{e[i], e[i + 1], e[i + 2]}});
    memcpy(e + i, in_plane.x, sizeof in_plane.x);
  }
  friction_force(law, x, v, e, N, f->x, ydot + x->e);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) {
    const srVec own = {{e[i], e[i + 1], e[i + 2]}}, about = srx_cross3(g, p->n, own);
    const srNode back = srx_dot3(g, p->turning, own), half = srx_mul(g, srx_number(g, 0.5), p->spin);
    for (int k = 0; k < 3; k++) {
      const srNode turn = srx_sub(g, srx_mul(g, half, about.x[k]), srx_mul(g, back, p->n.x[k]));
      ydot[x->e + i + k] = srx_add(g, ydot[x->e + i + k], turn);
    }
  }
}

void sr_sym_shapes(const srSymLaw* law, srSymFrames* at, srNode* ydot) {
  srGraph* g = graph_of(law);
  const srSurfaceLaws* c = law->element->contact;
  srSymPlace p;
  srVec slip, roll, spin;
  if (c->pair->place != NULL)
    place_pair(law, at, &p);
  else if (sr_sym_is_box_on_plane(c))
    sr_sym_place_box(law, at, &p);
  else if (sr_sym_is_sphere_on_field(c))
    sr_sym_place_field(law, at, &p);
  else if (sr_sym_is_capsule_on_field(c))
    sr_sym_place_capsule_on_field(law, at, &p);
  else if (sr_sym_is_box_on_field(c))
    sr_sym_place_box_on_field(law, at, &p);
  else
    place_capsule(law, at, &p);
  put_motion(law, at, &p);
  rub(law, &c->slip, &p, p.slip.x, p.N, &slip, ydot);
  rub(law, &c->roll, &p, p.turn.x, p.N, &roll, ydot);
  rub(law, &c->spin, &p, &p.spin, p.N_spin, &spin, ydot);
  at->force = srx_minus(g, p.force, slip);
  at->moment = srx_plus(g, p.moment, srx_cross3(g, slip, p.r));
  at->moment = srx_minus(g, at->moment, srx_plus(g, roll, srx_times(g, spin.x[0], p.n)));
}

bool sr_sym_sees_rotation(const srForceElement* e) {
  const srSurfaceLaws* c = e->contact;
  return c == NULL || c->pair->place == NULL || e->formula >= 0;
}

int sr_sym_belt(const srForceElement* e, int k) { return e->contact->shape[k]->belt; }

// ---- what is refused ----------------------------------------------------------------------------------------------------

static const char* friction_missing(srPool* pool, const srDryFriction* x) {
  if (x->law == NULL) return NULL;
  if (x->law->set_valued)
    return sr_pool_printf(pool, "its friction law '%s' is set-valued at rest, and no function of the state",
                          x->law->name);
  srFrictionGraph* y = sr_pool_alloc(pool, sizeof *y);
  if (sr_friction_graph(x->law, x->n, x->ne / x->n, sr_graph_create(pool), y)) return NULL;
  return sr_pool_printf(pool, "its friction law '%s' is C code", x->law->name);
}

static const char* shapes_missing(srPool* pool, const srSurfaceLaws* c) {
  if (c->pair == NULL) return NULL;
  const bool field = sr_sym_is_sphere_on_field(c) || sr_sym_is_capsule_on_field(c) || sr_sym_is_box_on_field(c);
  if (c->pair->place == NULL && !is_capsule_on_plane(c) && !sr_sym_is_box_on_plane(c) && !field)
    return sr_pool_printf(pool,
                          "there is code for spheres, capsules and boxes on planes and height fields, for spheres on "
                          "spheres, in hollow spheres and bores, and not for '%s' and '%s'",
                          c->a, c->b);
  if (field && sr_sym_field_missing(pool, c) != NULL) return sr_sym_field_missing(pool, c);
  if (c->directed >= 0) return "its friction depends on the direction";
  return c->wheel >= 0 ? "it is a tyre with a relaxation length" : NULL;
}

const char* sr_sym_contact_missing(srPool* pool, const srSurfaceLaws* c) {
  srNormalGraph x;
  if (c->law != NULL && c->law->needs_speed)
    return sr_pool_printf(
        pool, "its normal law '%s' depends on the velocity of approach, which a run records: take kelvin-voigt",
        c->law->name);
  if (c->law != NULL && !sr_normal_graph(c->law, sr_graph_create(pool), &x))
    return sr_pool_printf(pool, "its normal law '%s' is C code", c->law->name);
  const srDryFriction* part[] = {&c->slip, &c->roll, &c->spin};
  const char* missing = shapes_missing(pool, c);
  for (int i = 0; i < SR_COUNT(part) && missing == NULL; i++) missing = friction_missing(pool, part[i]);
  return missing;
}
