// Springs, dampers and stops by natural frequency w and damping ratio z of the joint's coordinate. With its effective inertia I,
// seen by a force along it while all other joints are free, I = 1/(M^-1)_ii:
//   K = I w^2,   D = 2 z sqrt(K I)          so that I x'' + D x' + K x = 0 has the frequency w and the ratio z
// M is that of the tree where all joints are at 'reference', with armature; drivers, closures and couplings are ignored. For a stop,
// whose damping grows with the overshoot d as K d limit-damping (force/joint_stop.c), the ratio is that at d = SR_STOP_OVERSHOOT.
#include <math.h>
#include <string.h>

#include "model/compile.h"

// -------------------------------------------------------------------------------------------------------------- inertias
static double* zero_positions(srCompiler* c) {
  const srModel* m = c->m;
  double* q = sr_pool_alloc(&c->scratch, ((size_t)m->nq + 1) * sizeof *q);
  for (int j = 0; j < m->njoint; j++) {
    if (m->joint_type[j] == SR_JOINT_BALL) q[m->joint_q[j]] = 1;
    if (m->joint_type[j] == SR_JOINT_FREE) q[m->joint_q[j] + 3] = 1;
  }
  return q;
}

// False: no joint has one.
static bool set_reference(srCompiler* c, double* q) {
  const srModel* m = c->m;
  const int field = SR_FIELD(srJointDef, reference);
  bool given = false;
  for (int j = 0; j < m->njoint; j++) {
    const int joint = c->joint_of_spec_body[c->spec_of_body[j + 1]], nq = m->joint_nq[j];
    if (joint < 0 || nq == 0 || !sr_given(*sr_c_attr(c, SR_ELEMENT_JOINT, joint, field))) continue;
    if (!sr_joint_kind((srJointType)m->joint_type[j])->scalar) {
      sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, field),
                 "'reference' is for joints whose coordinates are numbers; '%s' is a %s joint", m->joint_name[j],
                 sr_joint_word((srJointType)m->joint_type[j]));
      continue;
    }
    const int n = sr_c_numbers(c, SR_ELEMENT_JOINT, joint, field, q + m->joint_q[j], nq);
    given |= n > 0;
    if (n > 0 && n != nq)
      sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, field), "'reference' of joint '%s' takes %d values, got %d",
                 m->joint_name[j], nq, n);
  }
  return given;
}

static double* new_array(srCompiler* c, const double* like) {
  double* out = sr_pool_alloc(c->pool, ((size_t)c->m->njv + 1) * sizeof *out);
  if (like && c->m->njv > 0) memcpy(out, like, (size_t)c->m->njv * sizeof *out);
  return out;
}

void sr_compile_effective(srCompiler* c) {
  const struct srModelPrivate* tree = c->absolute ? c->absolute->tree : NULL;
  double* carried = new_array(c, tree ? tree->carried_inertia : NULL);
  double* effective = new_array(c, tree ? tree->effective_inertia : NULL);
  double* at_zero = new_array(c, tree ? tree->inertia_at_zero : NULL);
  c->priv->effective_inertia = effective;
  c->priv->carried_inertia = carried;
  c->priv->inertia_at_zero = at_zero;
  if (tree) return;
  double* q = zero_positions(c);
  c->catalog->inertia(c->m, &c->scratch, q, carried, at_zero);
  memcpy(effective, at_zero, (size_t)c->m->nv * sizeof *effective);
  if (set_reference(c, q)) c->catalog->inertia(c->m, &c->scratch, q, carried, effective);
}

// ------------------------------------------------------------------------------------------------ stiffness and damping
// The four attributes of a spring with its damper, or of a stop.
typedef struct Words {
  int stiffness, damping, frequency, ratio;
} Words;

static const char* word_of(int field) { return srs_element(SR_ELEMENT_JOINT)->fields[field].word; }

static bool is_given(srCompiler* c, int joint, int field) {
  return sr_given(*sr_c_attr(c, SR_ELEMENT_JOINT, joint, field));
}

// `by` replaces `plain`: not together with it, and for one coordinate. False after an error.
static bool check(srCompiler* c, int j, int joint, int by, int plain) {
  const srPlace place = sr_c_place(c, SR_ELEMENT_JOINT, joint, by);
  const srModel* m = c->m;
  if (!is_given(c, joint, by)) return true;
  if (is_given(c, joint, plain)) {
    sr_c_error(c, place, "'%s' and '%s' of joint '%s' define the same quantity: give one of them", word_of(by),
               word_of(plain), m->joint_name[j]);
    return false;
  }
  if (m->joint_nv[j] != 1) {
    sr_c_error(c, place, "'%s' is for joints with one coordinate; '%s' has %d", word_of(by), m->joint_name[j],
               m->joint_nv[j]);
    return false;
  }
  return true;
}

// A natural frequency of a coordinate without inertia, or one that does not move by itself, is meaningless.
static void warn(srCompiler* c, int j, int joint, int field, bool moves) {
  const int dof = c->m->joint_v[j];
  const srPlace place = sr_c_place(c, SR_ELEMENT_JOINT, joint, field);
  if (!moves)
    sr_c_warning(c, place, "'%s' of joint '%s' is not used: nothing with mass or inertia moves with the joint",
                 word_of(field), c->m->joint_name[j]);
  else if (!c->absolute && c->m->dof_driver[dof] >= 0)
    sr_c_warning(c, place, "'%s' of joint '%s': a driver moves the joint, which does not vibrate by itself",
                 word_of(field), c->m->joint_name[j]);
}

// Stiffness, and damping per unit of velocity; 'damping' itself where there is no ratio.
static bool resolve(srCompiler* c, int j, int joint, const Words* x, double* stiffness, double* damping,
                    bool* by_ratio) {
  const srElementKind kind = SR_ELEMENT_JOINT;
  const bool by_frequency = is_given(c, joint, x->frequency);
  double w = 0, z = 0;
  *by_ratio = is_given(c, joint, x->ratio);
  bool good = check(c, j, joint, x->frequency, x->stiffness) & check(c, j, joint, x->ratio, x->damping);
  good &= sr_c_not_negative(c, kind, joint, x->stiffness, stiffness, 1);
  good &= sr_c_not_negative(c, kind, joint, x->damping, damping, 1);
  good &= !by_frequency || sr_c_not_negative(c, kind, joint, x->frequency, &w, 1);
  good &= !*by_ratio || sr_c_not_negative(c, kind, joint, x->ratio, &z, 1);
  if (!good || (!by_frequency && !*by_ratio)) return good;
  if (!c->priv->effective_inertia) return false;  // after earlier errors
  const double I = c->priv->effective_inertia[c->m->joint_v[j]];
  warn(c, j, joint, by_frequency ? x->frequency : x->ratio, I > 0);
  *by_ratio = *by_ratio && I > 0;
  if (by_frequency && I > 0) *stiffness = I * w * w;
  if (*by_ratio) *damping = 2 * z * sqrt(*stiffness * I);
  return true;
}

bool sr_c_joint_spring(srCompiler* c, int j, int joint, srJointLaw* out) {
  const Words words = {SR_FIELD(srJointDef, stiffness), SR_FIELD(srJointDef, damping),
                       SR_FIELD(srJointDef, natural_frequency), SR_FIELD(srJointDef, damping_ratio)};
  bool by_ratio;
  return resolve(c, j, joint, &words, &out->stiffness, &out->damping, &by_ratio);
}

bool sr_c_joint_stop(srCompiler* c, int j, int joint, srJointLaw* out) {
  const Words words = {SR_FIELD(srJointDef, limit_stiffness), SR_FIELD(srJointDef, limit_damping),
                       SR_FIELD(srJointDef, limit_natural_frequency), SR_FIELD(srJointDef, limit_damping_ratio)};
  const int given = is_given(c, joint, words.frequency) ? words.frequency : words.ratio;
  bool by_ratio;
  if (is_given(c, joint, given) && is_given(c, joint, SR_FIELD(srJointDef, limit_law))) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, given),
               "'%s' is for stops without 'limit-law'; give 'limit-stiffness' and 'limit-damping'", word_of(given));
    return false;
  }
  if (!resolve(c, j, joint, &words, &out->limit_stiffness, &out->limit_damping, &by_ratio)) return false;
  if (by_ratio)
    out->limit_damping = out->limit_stiffness > 0 ? out->limit_damping / (out->limit_stiffness * SR_STOP_OVERSHOOT) : 0;
  return true;
}
