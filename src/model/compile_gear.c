// Gears and racks in mesh. Observed from the body that carries their axes, all members have the same pitch-line displacement:
//   r_k x_k = s + const          x_k: angle of gear k relative to the carrier, or displacement of a rack, r_k = 1
// For an epicyclic gear with sun, ring and arm this is the relation of Willis (1841): (w_s - w_a)/(w_r - w_a) = z_r/z_s.
// x_k is the sum of the joint coordinates on the path from the carrier to the member, all about (along) parallel axes. Teeth are radii in another
// unit. The constant is that of the initial positions in the file.
//
// A gear with n members is n - 1 couplings, each of a member with a reference member:
//   x_k - (r_0/r_k) x_0 = const
// The reference is a member that adds few coordinates to the equations: with two in each they are eliminated (compile_elimination.c).
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "model/compile.h"
#include "model/list.h"

#define SCRATCH(c, type, n) ((type*)sr_pool_alloc(&(c)->scratch, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))
#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

#define PARALLEL 1e-9  // sine of the angle between axes that count as parallel
#define FARTHEST 64    // joints between a member and the carrier, on either side
#define NONE 1e-12     // factor that rounding leaves of a coordinate that cancels

// A joint between a member and its carrier: x += sign q, the axis in the frame of their common ancestor.
typedef struct Step {
  int joint;
  double sign, axis[3];
} Step;

typedef struct Member {
  const char* name;
  srPlace place;
  int body;
  double radius;
  int nstep, nown, capacity;  // steps; those on the member's side of the common ancestor
  Step* step;
} Member;

typedef struct Gear {
  srCompiler* c;
  int i, n, carrier;
  const char* name;
  Member* member;
  int* seen;  // of a body: 1 + the last gear that it is a member of
} Gear;

// A relation of coordinates: sum of factor q(joint) = offset.
typedef struct Relation {
  int n;
  int* joint;
  double* factor;
} Relation;

// --------------------------------------------------------------------------------------------------------- members
static int find_body(srCompiler* c, const char* name, srPlace place) {
  const int i = sr_c_find(c, &c->bodies, name, "body", place);
  return i < 0 ? -1 : c->body_of_spec[i];
}

static bool find_members(Gear* g) {
  srCompiler* c = g->c;
  const int field = SR_FIELD(srGearDef, members);
  srListItem* items = NULL;
  bool good = true;
  if (!sr_c_text(c, SR_ELEMENT_GEAR, g->i, field)) return false;
  g->n = sr_split_names(&c->scratch, sr_c_attr(c, SR_ELEMENT_GEAR, g->i, field), &items);
  g->member = SCRATCH(c, Member, g->n);
  for (int k = 0; k < g->n; k++) {
    Member* x = &g->member[k];
    *x = (Member){.name = items[k].text, .place = items[k].place};
    if (x->place.line == 0) x->place = srs_place(c->spec, SR_ELEMENT_GEAR, g->i);
    x->body = find_body(c, x->name, x->place);
    good &= x->body >= 0;
    if (x->body < 0) continue;
    if (g->seen[x->body] == g->i + 1) {
      sr_c_error(c, x->place, "'%s' is a member of gear '%s' twice", x->name, g->name);
      good = false;
    }
    g->seen[x->body] = g->i + 1;
  }
  if (g->n >= 2 || !good) return good;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_GEAR, g->i, field), "gear '%s' needs two members or more", g->name);
  return false;
}

static bool find_radii(Gear* g) {
  srCompiler* c = g->c;
  const srGearDef* def = srs_get(c->spec, SR_ELEMENT_GEAR, g->i);
  const int field = sr_given(def->teeth) ? SR_FIELD(srGearDef, teeth) : SR_FIELD(srGearDef, radius);
  double* radius = SCRATCH(c, double, g->n);
  if (sr_given(def->teeth) == sr_given(def->radius)) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_GEAR, g->i), "gear '%s' takes either 'teeth' or 'radius'", g->name);
    return false;
  }
  const srPlace place = sr_c_place(c, SR_ELEMENT_GEAR, g->i, field);
  const char* word = srs_element(SR_ELEMENT_GEAR)->fields[field].word;
  const int n = sr_c_numbers(c, SR_ELEMENT_GEAR, g->i, field, radius, g->n);
  if (n < 0) return false;
  if (n != g->n) {
    sr_c_error(c, place, "'%s' of gear '%s' takes %d values, one for each member, got %d", word, g->name, g->n, n);
    return false;
  }
  for (int k = 0; k < n; k++) {
    g->member[k].radius = radius[k];
    if (radius[k] != 0) continue;
    sr_c_error(c, place, "'%s' of gear '%s' must not be zero", word, g->name);
    return false;
  }
  return true;
}

// The body that a body cannot move against: through welds towards the ground.
static int rigid_with(const srModel* m, int body) {
  while (body > 0 && m->joint_type[m->body_joint[body]] == SR_JOINT_WELD) body = m->body_parent[body];
  return body;
}

static int parent_of(const srModel* m, int body) {
  return body > 0 ? rigid_with(m, m->body_parent[rigid_with(m, body)]) : 0;
}

// The one given, or the parent that all members have.
static bool find_carrier(Gear* g) {
  srCompiler* c = g->c;
  const int field = SR_FIELD(srGearDef, carrier);
  const char* name = sr_c_text(c, SR_ELEMENT_GEAR, g->i, field);
  g->carrier =
      name ? find_body(c, name, sr_c_place(c, SR_ELEMENT_GEAR, g->i, field)) : parent_of(c->m, g->member[0].body);
  for (int k = 1; k < g->n && !name; k++) {
    if (parent_of(c->m, g->member[k].body) == g->carrier && rigid_with(c->m, g->member[k].body) > 0) continue;
    sr_c_error(c, g->member[k].place,
               "gear '%s': '%s' and '%s' have different parents: name the 'carrier' of their axes", g->name,
               g->member[0].name, g->member[k].name);
    return false;
  }
  return g->carrier >= 0;
}

// ----------------------------------------------------------------------------------------------------------- paths
static int common_ancestor(const srModel* m, int i, int j) {
  while (i != j) {  // parents have smaller numbers
    if (i > j) {
      i = m->body_parent[i];
    } else {
      j = m->body_parent[j];
    }
  }
  return i;
}

static bool fits_gear(const Gear* g, const Member* x, int joint, int passed) {
  const srModel* m = g->c->m;
  const srJointType type = (srJointType)m->joint_type[joint];
  const bool known = type == SR_JOINT_REVOLUTE || type == SR_JOINT_PRISMATIC || type == SR_JOINT_WELD;
  if (known && passed < FARTHEST) return true;
  if (known) {
    sr_c_error(g->c, x->place, "gear '%s': there are more than %d joints between '%s' and its carrier '%s'", g->name,
               FARTHEST, x->name, m->body_name[g->carrier]);
  } else {
    sr_c_error(g->c, x->place,
               "gear '%s': joint '%s' between '%s' and its carrier '%s' is %s; members roll by revolute joints, racks "
               "slide by prismatic ones",
               g->name, m->joint_name[joint], x->name, m->body_name[g->carrier], sr_joint_word(type));
  }
  return false;
}

// Joints from `body` down to `end`; axes are carried along to the frame of `end`. False: one that no gear can have.
static bool climb(const Gear* g, Member* x, int body, int end, double sign) {
  srCompiler* c = g->c;
  const srModel* m = c->m;
  const int first = x->nstep;
  for (int passed = 0; body != end; body = m->body_parent[body], passed++) {
    const int j = m->body_joint[body];
    const srJointType type = (srJointType)m->joint_type[j];
    srJointOut out = {0};
    double frame[16], axis[3];
    if (!fits_gear(g, x, j, passed)) return false;
    const int joint = c->joint_of_spec_body[c->spec_of_body[body]];
    if (!sr_c_expand_joint(c, joint, sr_joint_kind(type), &out, frame)) return false;
    for (int k = first; k < x->nstep; k++) {
      memcpy(axis, x->step[k].axis, sizeof axis);
      srm_pose_rotate(frame, axis, x->step[k].axis);
    }
    if (type == SR_JOINT_WELD) continue;
    Step step = {.joint = j, .sign = sign};
    srm_pose_rotate(frame, out.frame[0] + 8, step.axis);
    SR_PUSH(&c->scratch, x->step, x->nstep, x->capacity) = step;
  }
  return true;
}

// All about (along) one axis, that of the member's own joint: else that of the carrier's.
static bool align(const Gear* g, Member* x) {
  const srModel* m = g->c->m;
  if (x->nstep == 0) {
    sr_c_error(g->c, x->place, "gear '%s': '%s' does not move relative to the carrier '%s'", g->name, x->name,
               m->body_name[g->carrier]);
    return false;
  }
  for (int k = 1; k < x->nstep; k++) {
    const double* axis = x->step[0].axis;
    const char *joint = m->joint_name[x->step[k].joint], *first = m->joint_name[x->step[0].joint];
    double turn[3];
    srm_cross3(axis, x->step[k].axis, turn);
    if (m->joint_type[x->step[k].joint] != m->joint_type[x->step[0].joint] || srm_norm3(turn) > PARALLEL) {
      sr_c_error(g->c, x->place,
                 "gear '%s': the axes of '%s' and '%s' between '%s' and its carrier '%s' must be parallel, and both "
                 "joints of one type",
                 g->name, first, joint, x->name, m->body_name[g->carrier]);
      return false;
    }
    if (srm_dot3(axis, x->step[k].axis) < 0) x->step[k].sign = -x->step[k].sign;
  }
  return true;
}

static bool is_rack(const srModel* m, const Member* x) { return m->joint_type[x->step[0].joint] == SR_JOINT_PRISMATIC; }

static bool check_rack(const Gear* g, const Member* x) {
  const srGearDef* def = srs_get(g->c->spec, SR_ELEMENT_GEAR, g->i);
  if (!is_rack(g->c->m, x)) return true;
  if (sr_given(def->radius) && fabs(x->radius) == 1) return true;
  sr_c_error(g->c,
             sr_c_place(g->c, SR_ELEMENT_GEAR, g->i,
                        sr_given(def->teeth) ? SR_FIELD(srGearDef, teeth) : SR_FIELD(srGearDef, radius)),
             "gear '%s': '%s' is a rack, which takes 'radius' with 1 or -1 for it and the pitch radii of the others",
             g->name, x->name);
  return false;
}

static bool find_path(const Gear* g, Member* x) {
  const int end = common_ancestor(g->c->m, x->body, g->carrier);
  if (!climb(g, x, x->body, end, 1)) return false;
  x->nown = x->nstep;
  return climb(g, x, g->carrier, end, -1) && align(g, x) && check_rack(g, x);
}

static bool find_paths(Gear* g) {
  bool good = true;
  for (int k = 0; k < g->n; k++) good &= find_path(g, &g->member[k]);
  return good;
}

// ------------------------------------------------------------------------------------------------------- equations
// Adds `by` x_k. What cancels is dropped.
static void add_member(Relation* to, const Member* x, double by) {
  for (int k = 0; k < x->nstep; k++) {
    int at = 0;
    while (at < to->n && to->joint[at] != x->step[k].joint) at++;
    if (at == to->n) {
      to->joint[to->n] = x->step[k].joint;
      to->factor[to->n++] = 0;
    }
    to->factor[at] += by * x->step[k].sign;
  }
  int n = 0;
  for (int k = 0; k < to->n; k++) {
    if (fabs(to->factor[k]) <= NONE * fmax(1, fabs(by))) continue;
    to->joint[n] = to->joint[k];
    to->factor[n++] = to->factor[k];
  }
  to->n = n;
}

static Relation relation(const Gear* g, int k, int reference) {
  const Member *x = &g->member[k], *other = &g->member[reference];
  Relation out = {.joint = SCRATCH(g->c, int, x->nstep + other->nstep),
                  .factor = SCRATCH(g->c, double, x->nstep + other->nstep)};
  add_member(&out, x, 1);
  add_member(&out, other, -other->radius / x->radius);
  return out;
}

// Every equation has the coordinates of the reference: a fixed member adds none of its own, a planet not that of the arm.
static int find_reference(const Gear* g) {
  int best = 0;
  for (int k = 1; k < g->n; k++) {
    const Member *x = &g->member[k], *least = &g->member[best];
    if (x->nown < least->nown || (x->nown == least->nown && x->nstep < least->nstep)) best = k;
  }
  return best;
}

// Initial position in the file; another formulation starts from elsewhere.
static double initial_position(srCompiler* c, int j) {
  const int joint = c->joint_of_spec_body[c->spec_of_body[c->m->joint_body[j]]];
  double q = 0;
  (void)sr_c_numbers(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, q), &q, 1);
  return q;
}

static srGearMesh mesh_of(const Gear* g, const Member* x, double factor) {
  return (srGearMesh){.body = x->body, .rack = is_rack(g->c->m, x), .factor = factor};
}

static void put_coupling(const Gear* g, int k, int reference, const Relation* from, srCoupling* out) {
  srCompiler* c = g->c;
  const Member *x = &g->member[k], *other = &g->member[reference];
  int *dof = NEW(c, int, from->n), *qdof = NEW(c, int, from->n);
  double* factor = NEW(c, double, from->n);
  *out = (srCoupling){.gear = g->i, .n = from->n, .dof = dof, .qdof = qdof, .factor = factor};
  out->name = sr_pool_printf(c->pool, "%s.%s", g->name, x->name);
  out->place = sr_c_kept_place(c, SR_ELEMENT_GEAR, g->i);
  out->mesh[0] = mesh_of(g, x, 1 / from->factor[0]);
  out->mesh[1] = mesh_of(g, other, -other->radius / x->radius / from->factor[0]);
  for (int l = 0; l < from->n; l++) {
    dof[l] = c->m->joint_v[from->joint[l]];
    qdof[l] = c->m->joint_q[from->joint[l]];
    factor[l] = from->factor[l] / from->factor[0];
    out->offset += factor[l] * initial_position(c, from->joint[l]);
  }
}

static const char* name_of(srCompiler* c, int i, srNames* names) {
  const char* given = sr_c_text(c, SR_ELEMENT_GEAR, i, SR_FIELD(srGearDef, name));
  const char* name = given ? given : sr_pool_printf(&c->scratch, "gear%d", i + 1);
  sr_c_new_name(c, names, name, i, "gear", sr_c_place(c, SR_ELEMENT_GEAR, i, SR_FIELD(srGearDef, name)));
  return name;
}

// Paths need the joints without errors.
static void compile_gear(Gear* g, srCoupling** list, int* n, int* capacity) {
  const bool found = find_members(g);
  if (!found || !find_radii(g) || !find_carrier(g) || sr_c_errors(g->c) > 0 || !find_paths(g)) return;
  const int reference = find_reference(g);
  for (int k = 0; k < g->n; k++) {
    if (k == reference) continue;
    const Relation x = relation(g, k, reference);
    if (x.n == 0) {
      sr_c_error(g->c, g->member[k].place, "gear '%s': '%s' and '%s' mesh in every position already", g->name,
                 g->member[k].name, g->member[reference].name);
      return;
    }
    put_coupling(g, k, reference, &x, &SR_PUSH(&g->c->scratch, *list, *n, *capacity));
  }
}

void sr_compile_gears(srCompiler* c, srCoupling** list, int* n, int* capacity) {
  srNames names;
  sr_names_init(&names, &c->scratch);
  int* seen = SCRATCH(c, int, c->m->nbody + 1);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_GEAR); i++) {
    Gear g = {.c = c, .i = i, .name = name_of(c, i, &names), .seen = seen};
    compile_gear(&g, list, n, capacity);
  }
}
