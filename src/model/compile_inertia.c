// Inertia: bodies from <inertial> and from shapes with a density; links from the bodies that ride on them.
//
//   about another point:  J_o = J_c + m (|c|^2 1 - c c^T)
//   physical:  m >= 0,  principal moments >= 0,  none larger than the sum of the other two
//
// A tensor that is unphysical by rounding alone is repaired (math/inertia.h), with a warning. So is one with a negative moment
// where the repair affects no joint, in files of robots: the change is compared with the inertia of all bodies that are
// welded together, about the origin of their link.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/dense.h"
#include "math/inertia.h"
#include "math/pose.h"
#include "math/solid.h"
#include "model/compile.h"

typedef struct Inertia {
  double mass, com[3];
  double J[9];  // about the centre of mass
} Inertia;

#define PI 3.14159265358979323846

// --------------------------------------------------------------------------------------------------------- shapes
static void sphere(const double* s, Inertia* out) {
  out->mass *= 4.0 / 3.0 * PI * s[0] * s[0] * s[0];
  const double i = 0.4 * out->mass * s[0] * s[0];
  srm_diagonal(out->J, i, i, i);
}

static void box(const double* s, Inertia* out) {
  out->mass *= s[0] * s[1] * s[2];
  const double k = out->mass / 12, x = s[0] * s[0], y = s[1] * s[1], z = s[2] * s[2];
  srm_diagonal(out->J, k * (y + z), k * (x + z), k * (x + y));
}

static void cylinder(const double* s, Inertia* out) {
  out->mass *= PI * s[0] * s[0] * s[1];
  const double across = out->mass * (3 * s[0] * s[0] + s[1] * s[1]) / 12;
  srm_diagonal(out->J, across, across, 0.5 * out->mass * s[0] * s[0]);
}

// A cylinder and two half balls; the centroid of a half ball is 3/8 r from its base.
static void capsule(const double* s, Inertia* out) {
  const double r = s[0], length = s[1], density = out->mass;
  const double barrel = density * PI * r * r * length, balls = density * 4.0 / 3.0 * PI * r * r * r;
  const double ball_across = balls * (0.4 * r * r + 0.25 * length * length + 0.375 * length * r);
  const double across = barrel * (3 * r * r + length * length) / 12 + ball_across;
  out->mass = barrel + balls;
  srm_diagonal(out->J, across, across, 0.5 * barrel * r * r + 0.4 * balls * r * r);
}

static void ellipsoid(const double* s, Inertia* out) {
  out->mass *= 4.0 / 3.0 * PI * s[0] * s[1] * s[2];
  const double k = out->mass / 5, x = s[0] * s[0], y = s[1] * s[1], z = s[2] * s[2];
  srm_diagonal(out->J, k * (y + z), k * (x + z), k * (x + y));
}

// A cone of height h has its centroid h/4 above the base, which is at -h/2.
static void cone(const double* s, Inertia* out) {
  const double r = s[0], h = s[1];
  out->mass *= PI / 3 * r * r * h;
  const double across = out->mass * (3.0 / 20 * r * r + 3.0 / 80 * h * h);
  srm_diagonal(out->J, across, across, 0.3 * out->mass * r * r);
  out->com[2] = -0.25 * h;
}

// mass holds the density on entry.
static const struct ShapeKind {
  const char* word;
  int nsize, most;  // how many numbers
  void (*inertia)(const double* size, Inertia* out);
} shapes[] = {{"sphere", 1, 1, sphere},       {"box", 3, 3, box},
              {"cylinder", 2, 2, cylinder},   {"capsule", 2, 2, capsule},
              {"ellipsoid", 3, 3, ellipsoid}, {"cone", 2, 2, cone},
              {"plane", 0, 0, NULL},          {"hull", 0, 0, NULL},
              {"mesh", 0, 0, NULL},           {"heightfield", 2, 3, NULL},
              {"surface", 0, 0, NULL}};

static bool shape_density(srCompiler* c, int i, double* density) {
  *density = 0;
  int n = sr_c_numbers(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, density), density, 1);
  if (n < 0) return false;
  const char* material = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, material));
  if (n == 0 && material) {
    int k = sr_c_find(c, &c->materials, material, "material",
                      sr_c_place(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, material)));
    if (k < 0 || sr_c_numbers(c, SR_ELEMENT_MATERIAL, k, SR_FIELD(srMaterialDef, density), density, 1) < 0)
      return false;
  }
  if (*density >= 0) return true;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, density)),
             "the density of a shape must not be negative, got %g", *density);
  return false;
}

// The convex hull of a mesh filled with the density; its errors have been reported.
static bool hull_inertia(srCompiler* c, int i, Inertia* out) {
  const int k = sr_c_mesh(c, i);
  const double density = out->mass;
  if (k < 0 || density == 0 || srs_owner(c->spec, SR_ELEMENT_SHAPE, i) < 0) return false;
  const srMesh* mesh = &c->m->mesh[k];
  if (mesh->nhull == 0) return false;
  out->mass = density * srm_solid(mesh->corner, mesh->ncorner, mesh->hull, mesh->nhull, out->com, out->J, NULL);
  for (int r = 0; r < 9; r++) out->J[r] *= density;
  return true;
}

// A mesh filled with the density; out->com in the frame of the shape. False: no contribution.
static bool mesh_inertia(srCompiler* c, int i, Inertia* out) {
  const int k = sr_c_mesh(c, i);
  const srPlace place = sr_c_place(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, mesh));
  const double density = out->mass;
  if (k < 0 || density == 0 || srs_owner(c->spec, SR_ELEMENT_SHAPE, i) < 0) return false;  // the ground has no mass
  const srMesh* mesh = &c->m->mesh[k];
  if (mesh->nvertex == 0) return false;  // reported
  if (mesh->ntriangle == 0) {
    sr_c_error(c, place, "a density needs a volume: mesh '%s' has no triangles", mesh->name);
    return false;
  }
  const double volume = srm_solid(mesh->vertex, mesh->nvertex, mesh->triangle, mesh->ntriangle, out->com, out->J, NULL);
  if (!sr_c_mesh_is_closed(c, mesh))
    sr_c_warning(c, place, "mesh '%s' is not closed: its volume, and the mass and inertia from it, are not exact",
                 mesh->name);
  if (!(volume > 0)) {
    sr_c_error(c, place,
               "mesh '%s' has the volume %g m^3: a density needs triangles that are seen counterclockwise "
               "from outside",
               mesh->name, volume);
    return false;
  }
  for (int r = 0; r < 9; r++) out->J[r] *= density;
  out->mass = density * volume;
  return true;
}

// Checks a shape; its inertia in the body's frame. False after an error.
static bool shape_inertia(srCompiler* c, int i, Inertia* out) {
  const char* word = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, type));
  const struct ShapeKind* kind = NULL;
  for (int k = 0; word && k < SR_COUNT(shapes); k++) kind = strcmp(word, shapes[k].word) == 0 ? &shapes[k] : kind;
  srPlace place = sr_c_place(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, size));
  double size[3], pose[16], J[9];
  int n = sr_c_numbers(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, size), size, 3);
  if (!kind || n < 0 || !shape_density(c, i, &out->mass)) return false;
  if (n < kind->nsize || n > kind->most) {
    sr_c_error(c, place, "'size' of a %s takes %d%s value%s, got %d", word, kind->nsize,
               kind->most > kind->nsize ? " or 3" : "", kind->most != 1 ? "s" : "", n);
    return false;
  }
  for (int k = 0; k < n; k++) {
    const bool hollow = k == 0 && (kind->inertia == sphere || kind->inertia == cylinder);
    if (size[k] > 0 || (size[k] < 0 && hollow && out->mass == 0)) continue;  // hollow: no mass
    sr_c_error(c, place, "'size' of a %s must be positive, got %g", word, size[k]);
    return false;
  }
  if (!sr_c_pose(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, at), SR_FIELD(srShapeDef, rot), SR_FIELD(srShapeDef, rpy),
                 pose)) {
    return false;
  }
  if (strcmp(word, "mesh") == 0) {
    if (!mesh_inertia(c, i, out)) return false;
  } else if (strcmp(word, "hull") == 0) {
    if (!hull_inertia(c, i, out)) return false;
  } else if (kind->inertia == NULL) {
    return false;  // planes, height fields and surfaces have no mass
  } else {
    kind->inertia(size, out);
  }
  memcpy(J, out->J, sizeof J);
  srm_pose_rotate_tensor(pose, J, out->J);
  srm_pose_point(pose, out->com, out->com);
  return true;
}

static void add_shapes(srCompiler* c, Inertia* bodies) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_MATERIAL); i++) {
    const char* name = sr_c_text(c, SR_ELEMENT_MATERIAL, i, SR_FIELD(srMaterialDef, name));
    srPlace place = sr_c_place(c, SR_ELEMENT_MATERIAL, i, SR_FIELD(srMaterialDef, name));
    if (name) sr_c_new_name(c, &c->materials, name, i, "material", place);
  }
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_SHAPE); i++) {
    const int owner = srs_owner(c->spec, SR_ELEMENT_SHAPE, i);
    Inertia part = {0};
    if (!shape_inertia(c, i, &part) || owner < 0 || !(part.mass > 0)) continue;
    Inertia* body = &bodies[c->body_of_spec[owner]];
    srm_add_inertia(&body->mass, body->com, body->J, part.mass, part.com, part.J);
  }
}

// ------------------------------------------------------------------------------------------------------- inertial
static void read_inertial(srCompiler* c, int body, int i, Inertia* out) {
  const char* name = c->m->body_name[body];
  double pose[16], given[6] = {0}, J[9];
  if (!sr_c_number(c, SR_ELEMENT_INERTIAL, i, SR_FIELD(srInertialDef, mass), &out->mass)) return;
  if (out->mass < 0) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_INERTIAL, i, SR_FIELD(srInertialDef, mass)),
               "the mass of body '%s' is negative: %g kg", name, out->mass);
  }
  if (sr_c_numbers(c, SR_ELEMENT_INERTIAL, i, SR_FIELD(srInertialDef, com), out->com, 3) < 0) return;
  if (sr_c_numbers(c, SR_ELEMENT_INERTIAL, i, SR_FIELD(srInertialDef, inertia), given, 6) < 0) return;
  if (!sr_c_pose(c, SR_ELEMENT_INERTIAL, i, -1, SR_FIELD(srInertialDef, rot), SR_FIELD(srInertialDef, rpy), pose))
    return;
  srm_symmetric(given, J);
  srm_pose_rotate_tensor(pose, J, out->J);
}

// Adds a body to the inertia of its link, about the link's origin.
static void add_to_link(const Inertia* body, const double pose[16], double* link) {
  double J[9], com[3];
  srm_pose_rotate_tensor(pose, body->J, J);
  srm_pose_point(pose, body->com, com);
  srm_add_parallel_axis(J, body->mass, com);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) link[4 * k + i] += J[3 * i + k];
    link[12 + i] += body->mass * com[i];
  }
  link[15] += body->mass;
}

// ------------------------------------------------------------------------------------------------------- physical
#define ROUNDING 1e-10  // part of the largest moment that the rounding of numbers in a file may change
#define NOT_FELT 1e-6   // part of the least moment that moves, the tolerance of a run: less does not affect a joint

// A tensor that no body can have.
typedef struct Flaw {
  int inertial;           // element of the spec, -1: none
  double e[3];            // moments, ascending
  double nearest[9];      // about the centre of mass, in the axes of the body
  double change;          // norm
  bool negative, broken;  // a moment below zero, the triangle inequality
} Flaw;

static Flaw find_flaw(int inertial, const double J[9]) {
  Flaw flaw = {.inertial = inertial};
  srm_eigen_sym3(J, flaw.e);
  const double low = fmin(flaw.e[0], fmin(flaw.e[1], flaw.e[2])), high = fmax(flaw.e[0], fmax(flaw.e[1], flaw.e[2]));
  const double rounding = ROUNDING * fabs(high);
  flaw.negative = low < -rounding;
  flaw.broken = high > flaw.e[0] + flaw.e[1] + flaw.e[2] - high + rounding;
  flaw.change = srm_nearest_inertia(J, flaw.nearest);
  return flaw;
}

// Least and largest moment of the bodies of a link, about its origin, flaws repaired.
static void link_moments(const srCompiler* c, int link, const Inertia* bodies, const Flaw* flaws, double range[2]) {
  double sum[16] = {0}, J[9], e[3];
  for (int b = 1; b <= c->m->nbody; b++) {
    if (c->m->body_link[b] != link) continue;
    Inertia body = bodies[b];
    if (flaws[b].negative || flaws[b].broken) srm_nearest_inertia(bodies[b].J, body.J);
    add_to_link(&body, c->body_pose + 16 * b, sum);
  }
  for (int k = 0; k < 9; k++) J[k] = sum[4 * (k % 3) + k / 3];
  srm_eigen_sym3(J, e);
  range[0] = fmin(e[0], fmin(e[1], e[2]));
  range[1] = fmax(e[0], fmax(e[1], e[2]));
}

// Is the flaw repaired? Reports what is done with it.
static bool judge(srCompiler* c, int body, const Flaw* flaw, const double range[2], bool strict) {
  const char* name = c->m->body_name[body];
  const srPlace place = sr_c_place(c, SR_ELEMENT_INERTIAL, flaw->inertial, SR_FIELD(srInertialDef, inertia));
  const double low = fmin(flaw->e[0], fmin(flaw->e[1], flaw->e[2]));
  const bool rounded = flaw->change <= ROUNDING * range[1];
  const bool still = c->m->body_link[body] == 0;  // welded to the ground
  if (rounded || (!strict && flaw->negative && (still || flaw->change <= NOT_FELT * range[0]))) {
    sr_c_warning(
        c, place,
        "the inertia of body '%s' is not physical, by %.2g kg m^2, which %s: the nearest physical one is taken", name,
        flaw->change,
        rounded ? "is rounding"
        : still ? "moves nothing, for the body is welded to the ground"
                : "is negligible for what the body is welded to");
    return true;
  }
  if (flaw->negative) {
    sr_c_error(c, place, "the inertia of body '%s' is not physical: it has a negative principal moment (%g kg m^2)",
               name, low);
    return false;
  }
  void (*tell)(srCompiler*, srPlace, const char*, ...) = strict ? sr_c_error : sr_c_warning;
  tell(c, place,
       "the inertia of body '%s' is not physical: its principal moments %g, %g, %g break the triangle inequality "
       "(none may exceed the sum of the others)",
       name, flaw->e[0], flaw->e[1], flaw->e[2]);
  return false;
}

// given: the tensors of <inertial>; bodies: with their shapes.
static void make_physical(srCompiler* c, const Flaw* flaws, const double* given, Inertia* bodies) {
  const srModel* m = c->m;
  for (int b = 1; b <= m->nbody; b++) {
    const Flaw* flaw = &flaws[b];
    double range[2];
    if (!flaw->negative && !flaw->broken) continue;
    bool repaired = flaw->negative;  // free bodies: the rest was checked in the tree before
    if (!m->absolute) {
      const char* check = sr_c_text(c, SR_ELEMENT_INERTIAL, flaw->inertial, SR_FIELD(srInertialDef, check));
      link_moments(c, m->body_link[b], bodies, flaws, range);
      repaired = judge(c, b, flaw, range, strcmp(check, "strict") == 0);
    }
    for (int k = 0; k < 9 && repaired; k++) bodies[b].J[k] += flaw->nearest[k] - given[9 * b + k];
  }
}

// ---------------------------------------------------------------------------------------------------------- links
// Penalty formulation: only its own inertia resists the springs of a body.
static void penalty_inertia(srCompiler* c, int body, Inertia* x) {
  const double added = c->m->run_penalty_inertia;
  double e[3];
  srm_eigen_sym3(x->J, e);
  const double low = fmin(e[0], fmin(e[1], e[2])), high = fmax(e[0], fmax(e[1], e[2]));
  for (int i = 0; i < 9 && low < added; i += 4) x->J[i] += added;
  if (x->mass > 0 && (low > 1e-12 * high || added > 0)) return;
  sr_c_error(c, c->m->body_place[body],
             "body '%s' has no %s: in the penalty formulation nothing would hold it back; give it one%s, or take "
             "another formulation",
             c->m->body_name[body], x->mass > 0 ? "moment of inertia about one of its axes" : "mass",
             x->mass > 0 ? ", or 'penalty-inertia' in <run>" : "");
}

void sr_compile_inertia(srCompiler* c) {
  srModel* m = c->m;
  const size_t n = (size_t)m->nbody + 1;
  Inertia* bodies = sr_pool_alloc(&c->scratch, n * sizeof *bodies);
  Flaw* flaws = sr_pool_alloc(&c->scratch, n * sizeof *flaws);
  double* given = sr_pool_alloc(&c->scratch, n * 9 * sizeof *given);
  for (int b = 1; b <= m->nbody; b++) {
    int i = c->inertial_of_spec_body[c->spec_of_body[b]];
    if (i >= 0) read_inertial(c, b, i, &bodies[b]);
    if (i >= 0) flaws[b] = find_flaw(i, bodies[b].J);
    memcpy(given + 9 * b, bodies[b].J, sizeof bodies[b].J);
  }
  add_shapes(c, bodies);
  make_physical(c, flaws, given, bodies);
  for (int b = 1; b <= m->nbody && m->formulation == SR_FORMULATION_PENALTY; b++) penalty_inertia(c, b, &bodies[b]);

  double* mass = sr_pool_alloc(c->pool, n * sizeof *mass);
  double* com = sr_pool_alloc(c->pool, n * 4 * sizeof *com);
  double* J = sr_pool_alloc(c->pool, n * 9 * sizeof *J);
  double* link = sr_pool_alloc(c->pool, (size_t)m->nlink * 16 * sizeof *link);
  for (int b = 1; b <= m->nbody; b++) {
    mass[b] = bodies[b].mass;
    memcpy(com + 4 * b, bodies[b].com, sizeof bodies[b].com);
    memcpy(J + 9 * b, bodies[b].J, sizeof bodies[b].J);
    add_to_link(&bodies[b], c->body_pose + 16 * b, link + 16 * m->body_link[b]);
  }
  m->body_mass = mass;
  m->body_com = com;
  m->body_inertia = J;
  m->link_inertia = link;
}
