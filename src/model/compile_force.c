// Force elements: every spring, damper, stop, link, bushing, force and user law becomes an impedance at a port.
#include <math.h>
#include <string.h>

#include "model/compile.h"

static const srImpedance* builtin(const srCompiler* c, const char* name) {
  const srImpedance* law = c->catalog->impedance(name);
  SR_ASSERT(law);
  return law;
}

// A new element; its name is the given one, or states its kind.
srForceElement* sr_c_add_force(srCompiler* c, const srImpedance* law, srAccount account, const char* name,
                               srPlace place) {
  srForceElement* e = &SR_PUSH(&c->scratch, c->force, c->nforce, c->force_capacity);
  place.file = sr_pool_text(c->pool, place.file);
  *e = (srForceElement){.name = sr_pool_text(c->pool, name), .place = place, .law = law, .account = account};
  e->dof = e->qdof = e->point[0] = e->point[1] = e->formula = e->distance_arg = e->z = -1;
  e->tau = 1e-4;
  e->y = c->m->ny;
  e->ny = law->ny;
  c->m->ny += law->ny;
  return e;
}

static void set_parameters(srCompiler* c, srForceElement* e, const double* p, int n) {
  double* copy = sr_pool_alloc(c->pool, (size_t)(n + 1) * sizeof *copy);
  if (n > 0) memcpy(copy, p, (size_t)n * sizeof *p);
  e->p = copy;
  e->np = n;
}

static const char* name_or(srCompiler* c, srElementKind kind, int i, const char* what, const char* of) {
  const char* name = sr_c_text(c, kind, i, 0);  // NAME is the first attribute of every force element
  return name ? name : sr_pool_printf(&c->scratch, "%s %s", what, of ? of : "");
}

// ------------------------------------------------------------------------------- springs, dampers, stops of joints
static void on_coordinate(srCompiler* c, const char* law, int j, int k, srPlace place, const double* p, int np) {
  const srModel* m = c->m;
  const bool scalar = sr_joint_kind((srJointType)m->joint_type[j])->scalar;
  const char* name = sr_pool_printf(&c->scratch, "%s of %s", law, m->v_name[m->joint_v[j] + k]);
  srForceElement* e = sr_c_add_force(c, builtin(c, law), SR_ACCOUNT_DISSIPATED, name, place);
  e->dof = m->joint_v[j] + k;
  e->qdof = scalar ? m->joint_q[j] + k : -1;
  set_parameters(c, e, p, np);
}

bool sr_c_not_negative(srCompiler* c, srElementKind kind, int i, int field, double* out, int n) {
  if (sr_c_numbers(c, kind, i, field, out, n) != n) return false;
  for (int k = 0; k < n; k++) {
    if (out[k] >= 0) continue;
    sr_c_error(c, sr_c_place(c, kind, i, field), "'%s' of <%s> must not be negative, got %g",
               srs_element(kind)->fields[field].word, srs_element(kind)->word, out[k]);
    return false;
  }
  return true;
}

static void joint_spring(srCompiler* c, int j, int joint, double stiffness) {
  const int n = c->m->joint_nv[j];
  const bool given = sr_given(*sr_c_attr(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, stiffness)));
  const int field = given ? SR_FIELD(srJointDef, stiffness) : SR_FIELD(srJointDef, natural_frequency);
  srPlace place = sr_c_place(c, SR_ELEMENT_JOINT, joint, field);
  double rest[7] = {0};
  const int nrest = sr_c_numbers(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, rest), rest, 7);
  if (nrest < 0 || stiffness == 0) return;
  if (!sr_joint_kind((srJointType)c->m->joint_type[j])->scalar) {
    sr_c_error(c, place, "'stiffness' needs a joint whose coordinates are numbers; for '%s' use a <bushing>",
               c->m->joint_name[j]);
  } else if (nrest > 0 && nrest != n) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, rest)),
               "'rest' of joint '%s' takes %d value%s, got %d", c->m->joint_name[j], n, n == 1 ? "" : "s", nrest);
  } else {
    for (int k = 0; k < n; k++) on_coordinate(c, "joint-spring", j, k, place, (double[]){stiffness, rest[k]}, 2);
  }
}

static void joint_damper(srCompiler* c, int j, int joint, double damping) {
  if (damping == 0) return;
  const bool given = sr_given(*sr_c_attr(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, damping)));
  const int field = given ? SR_FIELD(srJointDef, damping) : SR_FIELD(srJointDef, damping_ratio);
  srPlace place = sr_c_place(c, SR_ELEMENT_JOINT, joint, field);
  for (int k = 0; k < c->m->joint_nv[j]; k++) on_coordinate(c, "joint-damper", j, k, place, &damping, 1);
}

static void joint_stop(srCompiler* c, int j, int joint, const srJointLaw* x) {
  const double* limits = c->priv->limits + 2 * j;
  if (isnan(limits[0])) return;
  const char* law = sr_c_text(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, limit_law));
  if (law) {
    sr_compile_joint_ends(c, j, joint, law, x->limit_stiffness, x->limit_damping);
    return;
  }
  on_coordinate(c, "joint-stop", j, 0, sr_c_place(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, limits)),
                (double[]){limits[0], limits[1], x->limit_stiffness, x->limit_damping}, 4);
}

static void joint_elements(srCompiler* c) {
  const int n = srs_count(c->spec, SR_ELEMENT_JOINT);
  srJointLaw* law = sr_pool_alloc(c->pool, ((size_t)n + 1) * sizeof *law);
  for (int i = 0; i < n; i++) law[i] = (srJointLaw){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
  c->priv->joint_law = law;
  for (int j = 0; j < c->m->njoint; j++) {
    const int joint = c->joint_of_spec_body[c->spec_of_body[j + 1]];
    if (joint < 0 || c->m->joint_nv[j] == 0) continue;
    if (sr_c_joint_spring(c, j, joint, &law[joint])) {
      joint_spring(c, j, joint, law[joint].stiffness);
      joint_damper(c, j, joint, law[joint].damping);
    }
    if (sr_c_joint_stop(c, j, joint, &law[joint])) joint_stop(c, j, joint, &law[joint]);
  }
}

// ----------------------------------------------------------------------------------------------- elements by formula
static void torque(srCompiler* c, int i) {
  srNode node;
  int qdof = -1, joint;
  const int dof = sr_c_coordinate(c, SR_ELEMENT_TORQUE, i, SR_FIELD(srTorqueDef, joint),
                                  SR_FIELD(srTorqueDef, coordinate), &qdof, &joint);
  if (sr_c_laws(c, SR_ELEMENT_TORQUE, i, SR_FIELD(srTorqueDef, law), &node, 1) != 1 || dof < 0) return;
  const char* name = name_or(c, SR_ELEMENT_TORQUE, i, "torque on", c->m->v_name[dof]);
  srForceElement* e =
      sr_c_add_force(c, builtin(c, "joint-formula"), SR_ACCOUNT_TORQUE, name, srs_place(c->spec, SR_ELEMENT_TORQUE, i));
  e->dof = dof;
  e->qdof = qdof;
  e->formula = sr_c_root(c, node);
}

// The two ends of a link, spring, bushing or user law; false when one is unknown or both are one.
static bool ends(srCompiler* c, srElementKind kind, int i, int a, int b, int point[2]) {
  point[0] = sr_c_point(c, kind, i, a);
  point[1] = sr_c_point(c, kind, i, b);
  if (point[0] < 0 || point[1] < 0) return false;
  const srModel* m = c->m;
  if (m->point_link[point[0]] != m->point_link[point[1]]) return true;
  sr_c_error(c, sr_c_place(c, kind, i, b), "'%s' and '%s' cannot move against each other", m->point_name[point[0]],
             m->point_name[point[1]]);
  return false;
}

static void distance_force(srCompiler* c, int i) {
  int point[2];
  srNode node;
  const bool ok =
      ends(c, SR_ELEMENT_DISTANCE_FORCE, i, SR_FIELD(srDistanceForceDef, a), SR_FIELD(srDistanceForceDef, b), point);
  c->distance_arg = c->m->ndistance_arg;
  const int n = sr_c_laws(c, SR_ELEMENT_DISTANCE_FORCE, i, SR_FIELD(srDistanceForceDef, law), &node, 1);
  c->distance_arg = -1;
  if (!ok || n != 1) return;
  const char* name = name_or(c, SR_ELEMENT_DISTANCE_FORCE, i, "link to", c->m->point_name[point[1]]);
  srForceElement* e = sr_c_add_force(c, builtin(c, "distance-formula"), SR_ACCOUNT_DISTANCE, name,
                                     srs_place(c->spec, SR_ELEMENT_DISTANCE_FORCE, i));
  memcpy(e->point, point, sizeof point);
  e->formula = sr_c_root(c, node);
  e->distance_arg = c->m->ndistance_arg;
  c->m->ndistance_arg += 2;
}

// The law of a <spring> or a <damper>, a spring without stiffness.
static void on_line(srCompiler* c, srElementKind kind, int i, const int point[2], const double p[4]) {
  const char* what = kind == SR_ELEMENT_SPRING ? "spring to" : "damper to";
  const char* name = name_or(c, kind, i, what, c->m->point_name[point[1]]);
  srForceElement* e =
      sr_c_add_force(c, builtin(c, "distance-spring"), SR_ACCOUNT_DISSIPATED, name, srs_place(c->spec, kind, i));
  memcpy(e->point, point, 2 * sizeof *point);
  set_parameters(c, e, p, 4);
}

static void spring(srCompiler* c, int i) {
  int point[2];
  double p[4];
  bool ok = ends(c, SR_ELEMENT_SPRING, i, SR_FIELD(srSpringDef, a), SR_FIELD(srSpringDef, b), point);
  ok &= sr_c_not_negative(c, SR_ELEMENT_SPRING, i, SR_FIELD(srSpringDef, stiffness), p, 1);
  ok &= sr_c_not_negative(c, SR_ELEMENT_SPRING, i, SR_FIELD(srSpringDef, length), p + 1, 1);
  ok &= sr_c_number(c, SR_ELEMENT_SPRING, i, SR_FIELD(srSpringDef, preload), p + 2);
  ok &= sr_c_not_negative(c, SR_ELEMENT_SPRING, i, SR_FIELD(srSpringDef, damping), p + 3, 1);
  if (ok) on_line(c, SR_ELEMENT_SPRING, i, point, p);
}

static void damper(srCompiler* c, int i) {
  int point[2];
  double p[4] = {0};
  bool ok = ends(c, SR_ELEMENT_DAMPER, i, SR_FIELD(srDamperDef, a), SR_FIELD(srDamperDef, b), point);
  ok &= sr_c_not_negative(c, SR_ELEMENT_DAMPER, i, SR_FIELD(srDamperDef, damping), p + 3, 1);
  if (ok) on_line(c, SR_ELEMENT_DAMPER, i, point, p);
}

// The equations are those of a body, a sensor and a constraint: inerter.c.
static void inerter(srCompiler* c, int i) {
  const srInerterDef* def = srs_get(c->spec, SR_ELEMENT_INERTER, i);
  const bool points = sr_given(def->a) && sr_given(def->b), joints = sr_given(def->joint) && sr_given(def->joint2);
  const bool either = sr_given(def->a) || sr_given(def->b), other = sr_given(def->joint) || sr_given(def->joint2);
  int point[2];
  double inertance;
  if (points == joints || (points ? other : either))
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_INERTER, i),
               "<inerter> takes two points 'a' and 'b', or two joints 'joint' and 'joint2'");
  else if (points)
    (void)ends(c, SR_ELEMENT_INERTER, i, SR_FIELD(srInerterDef, a), SR_FIELD(srInerterDef, b), point);
  if (!sr_c_number(c, SR_ELEMENT_INERTER, i, SR_FIELD(srInerterDef, inertance), &inertance) || inertance > 0) return;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_INERTER, i, SR_FIELD(srInerterDef, inertance)),
             "'inertance' of <inerter> must be positive, got %g", inertance);
}

static void external_force(srCompiler* c, int i) {
  srNode f[3], moment[3];
  const int nf = sr_c_laws(c, SR_ELEMENT_FORCE, i, SR_FIELD(srForceDef, f), f, 3);
  const int nm = sr_c_laws(c, SR_ELEMENT_FORCE, i, SR_FIELD(srForceDef, m), moment, 3);
  if (nf != 3 || nm != 3) return;
  const int point = c->force_point + i;
  const char* name = name_or(c, SR_ELEMENT_FORCE, i, "force on", c->m->body_name[c->m->point_body[point]]);
  srForceElement* e =
      sr_c_add_force(c, builtin(c, "point-formula"), SR_ACCOUNT_FORCE, name, srs_place(c->spec, SR_ELEMENT_FORCE, i));
  e->point[0] = point;
  e->formula = c->nroot;  // moment, then force: angular first
  for (int k = 0; k < 3; k++) sr_c_root(c, moment[k]);
  for (int k = 0; k < 3; k++) sr_c_root(c, f[k]);
}

// With diagonal matrices and no preload it takes the law for these.
static void bushing(srCompiler* c, int i) {
  const srElementKind kind = SR_ELEMENT_BUSHING;
  int point[2];
  double p[48], K[6], C[6];
  const bool ok = ends(c, kind, i, SR_FIELD(srBushingDef, a), SR_FIELD(srBushingDef, b), point);
  const int stiff = sr_c_symmetric(c, kind, i, SR_FIELD(srBushingDef, stiffness), p, K);
  const int damped = sr_c_symmetric(c, kind, i, SR_FIELD(srBushingDef, damping), p + 21, C);
  const int loaded = sr_c_numbers(c, kind, i, SR_FIELD(srBushingDef, preload), p + 42, 6);
  if (!ok || stiff < 0 || damped < 0 || loaded < 0) return;
  const bool given = sr_given(*sr_c_attr(c, kind, i, SR_FIELD(srBushingDef, preload)));
  const bool diagonal = stiff == 6 && damped == 6 && !given;
  const char* name = name_or(c, kind, i, "bushing to", c->m->point_name[point[1]]);
  srForceElement* e = sr_c_add_force(c, builtin(c, diagonal ? "bushing" : "bushing-matrix"), SR_ACCOUNT_DISSIPATED,
                                     name, srs_place(c->spec, kind, i));
  memcpy(e->point, point, sizeof point);
  if (diagonal) {
    memcpy(p, K, sizeof K);
    memcpy(p + 6, C, sizeof C);
  }
  set_parameters(c, e, p, diagonal ? 12 : 48);
}

// ------------------------------------------------------------------------------------------------------ user laws
static bool user_port(srCompiler* c, int i, srPort port, srForceElement* at) {
  const srUserDef* def = srs_get(c->spec, SR_ELEMENT_USER, i);
  const bool joint = sr_given(def->joint), point = sr_given(def->point), two = sr_given(def->a) && sr_given(def->b);
  static const char* const wanted[] = {"'joint'", "'a' and 'b'", "'point'", "'a' and 'b'"};
  if ((unsigned)port >= SR_COUNT(wanted)) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_USER, i), "the law '%s' has no port that a model can give",
               def->law.text);
    return false;
  }
  const bool right = port == SR_PORT_JOINT ? joint : port == SR_PORT_POINT ? point : two;
  if (!right || joint + point + (sr_given(def->a) || sr_given(def->b)) != 1) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_USER, i), "the law '%s' takes %s and no other attachment",
               def->law.text, wanted[port]);
    return false;
  }
  int j;
  if (port == SR_PORT_JOINT) {
    at->dof = sr_c_coordinate(c, SR_ELEMENT_USER, i, SR_FIELD(srUserDef, joint), SR_FIELD(srUserDef, coordinate),
                              &at->qdof, &j);
    return at->dof >= 0;
  }
  if (port == SR_PORT_POINT) {
    at->point[0] = sr_c_point(c, SR_ELEMENT_USER, i, SR_FIELD(srUserDef, point));
    return at->point[0] >= 0;
  }
  return ends(c, SR_ELEMENT_USER, i, SR_FIELD(srUserDef, a), SR_FIELD(srUserDef, b), at->point);
}

static void user_law(srCompiler* c, int i) {
  const char* word = sr_c_text(c, SR_ELEMENT_USER, i, SR_FIELD(srUserDef, law));
  if (!word) return;
  const int k = sr_c_find(c, &c->laws, word, "law", sr_c_place(c, SR_ELEMENT_USER, i, SR_FIELD(srUserDef, law)));
  if (k < 0) return;
  const srImpedance* law = c->impedances[k];
  srForceElement at = {.dof = -1, .qdof = -1, .point = {-1, -1}};
  const double* p;
  double tau;
  const int np = sr_c_law_parameters(c, SR_ELEMENT_USER, i, SR_FIELD(srUserDef, parameters), law->name, law->np, &p);
  const bool placed = user_port(c, i, law->port, &at);
  if (!sr_c_number(c, SR_ELEMENT_USER, i, SR_FIELD(srUserDef, tau), &tau) || np < 0 || !placed) return;
  const char* name = name_or(c, SR_ELEMENT_USER, i, "law", word);
  srForceElement* e = sr_c_add_force(c, law, SR_ACCOUNT_USER, name, srs_place(c->spec, SR_ELEMENT_USER, i));
  e->dof = at.dof;
  e->qdof = at.qdof;
  memcpy(e->point, at.point, sizeof at.point);
  e->tau = tau;
  set_parameters(c, e, p, np);
}

void sr_compile_forces(srCompiler* c) {
  c->m->ny = c->priv->ny_user;
  joint_elements(c);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_TORQUE); i++) torque(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_DISTANCE_FORCE); i++) distance_force(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_SPRING); i++) spring(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_DAMPER); i++) damper(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_INERTER); i++) inerter(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_BUSHING); i++) bushing(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_TYRE); i++) sr_compile_tyre(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_FORCE); i++) external_force(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_FRICTION); i++) sr_compile_friction(c, i);
  sr_compile_surfaces(c);
  sr_compile_pairs(c);
  if (sr_c_errors(c) == 0) sr_compile_excluded(c);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CONTACT); i++) sr_compile_contact(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_USER); i++) user_law(c, i);
  sr_compile_sets(c);
  sr_compile_contact_states(c);
  srForceElement* force = sr_pool_alloc(c->pool, (size_t)(c->nforce + 1) * sizeof *force);
  if (c->nforce > 0) memcpy(force, c->force, (size_t)c->nforce * sizeof *force);
  c->m->force = force;
  c->m->nforce = c->nforce;
}
