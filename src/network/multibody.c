// A mechanism as an admittance: Kikuuwe and Yamamoto, eq 8. What a run of the model integrates, its force elements, states and constraints
// included; forces come on the joint coordinates and at points:
//   M(q) v' + c(q, v) = f(t, q, v, y; tau) + u + sum over points J^T (moment, force) + G^T lambda
// It owns its data, so that components of one model may run at the same time.
#include <float.h>
#include <math.h>
#include <sarrus/system.h>
#include <string.h>

#include "constraint/constraint.h"
#include "math/pose.h"
#include "model/private.h"
#include "network/network.h"
#include "simulate/jump.h"
#include "simulate/prescribed.h"
#include "system/system.h"

#define POINT_OUT 16  // 0 0 0 position, angular velocity velocity, quaternion
#define POINT_IN 6    // moment, force
#define HALVINGS 80   // of a step, to its last digits

typedef struct Multibody {
  const srModel* m;
  srData* d;
  srModelSystem system;
  srIntegrator* integrator;  // its rates and its acceptance of a step, with the constraints kept
  bool started;
  int npoint;
  int* point;    // of the model
  double* J;     // 6 x nv
  double* rate;  // of all states, and power
  // Switches of drivers and constraint formulas (simulate/prescribed.c); impulse NULL: there are none.
  srImpulse* impulse;
  srMotionJump jump;
  void* prescribed;       // memory of jump
  double *side, *before;  // of the switches now and at the end of the last step; NaN: those of laws
  double t_last;          // end of the last step
} Multibody;

static const double* velocities(const Multibody* b, const double* x) { return x + b->m->nq; }
static const double* own_states(const Multibody* b, const double* x) { return x + b->m->nq + b->m->nv; }

// Forces at points as forces on the coordinates (relative coordinates: those of the joints are those of the model).
static void add_point_forces(const Multibody* b, const double* u) {
  const srModel* m = b->m;
  for (int k = 0; k < b->npoint; ++k) {
    sr_frame_jacobian(m, b->d, b->point[k], 0, b->J);
    const double* wrench = u + m->njv + POINT_IN * k;
    for (int r = 0; r < 6; ++r) {
      for (int i = 0; i < m->nv; ++i) b->d->tau[i] += b->J[r * m->nv + i] * wrench[r];
    }
  }
}

// ---- corners of drivers and constraint formulas ---------------------------------------------------------------------------
// A network does not cut its steps at events, but corners depend on the time alone (possible): at the end of a step that passes one at t_c, velocities change by the
// impulse at t_c, and positions by what that changes until t: q (+) (v+ - v) (t - t_c). The error is that of a force that jumps within the step.

// Sides of the switches of drivers and constraints at t; those of laws are free.
static void take_sides(const Multibody* b, double t, double* side) {
  const srModel* m = b->m;
  sr_switch_functions(m, b->d, t, side);
  for (int i = 0; i < m->priv->nswitch; ++i) {
    const srLawSwitch* s = &m->priv->of_switch[i];
    side[i] = s->of_motion ? sr_switch_value(s->op, side[i]) : (double)NAN;
  }
}

static bool same_sides(const Multibody* b) {
  for (int i = 0; i < b->m->priv->nswitch; ++i) {
    if (!isnan(b->side[i]) && !isnan(b->before[i]) && b->side[i] != b->before[i]) return false;
  }
  return true;
}

// The first time after t_last, up to t, at which the sides are no longer those before: at it, or at the next number.
static double first_corner(Multibody* b, double t) {
  double a = b->t_last, c = t;
  for (int k = 0; k < HALVINGS && c - a > DBL_EPSILON * fabs(c); ++k) {
    const double middle = a + 0.5 * (c - a);
    take_sides(b, middle, b->side);
    if (same_sides(b)) {
      a = middle;
    } else {
      c = middle;
    }
  }
  take_sides(b, c, b->side);
  return c;
}

// The impulse of the corner at t_c on the state x at t.
static int pass_corner(Multibody* b, double t_c, double t, double* x) {
  const srModel* m = b->m;
  srData* d = b->d;
  double *q = x, *v = x + m->nq, *y = v + m->nv, *change = b->rate;
  d->held = b->before;
  (void)sr_evaluate_motion(m, d, t_c, q, v, y, SR_STAGE_VELOCITY);
  sr_motion_before(&b->jump);
  d->held = b->side;
  const bool jump = sr_motion_jumps(&b->jump, true);
  int answer = sr_motion_leaps(&b->jump, t_c, d->error_message, sizeof d->error_message) ? -1 : 0;
  if (answer == 0 && jump) {
    for (int i = 0; i < m->nv; ++i) change[i] = -v[i];
    answer = sri_impulse(b->impulse, t_c, q, v, y, 0, b->J, b->J);
    for (int i = 0; i < m->nv; ++i) change[i] = (change[i] + v[i]) * (t - t_c);
    if (answer == 0) sr_retract(m, q, change, q);
  }
  d->held = NULL;
  memcpy(b->before, b->side, (size_t)m->priv->nswitch * sizeof *b->side);
  return answer;
}

static int pass_corners(Multibody* b, double t, double* x) {
  int answer = 0;
  if (b->impulse == NULL) return 0;
  take_sides(b, t, b->side);
  while (answer == 0 && !same_sides(b)) {
    const double t_c = first_corner(b, t);
    answer = pass_corner(b, t_c, t, x);
    b->t_last = t_c;
    take_sides(b, t, b->side);
  }
  b->t_last = t;
  return answer;
}

static void restart(void* self) { ((Multibody*)self)->started = false; }

int sr_multibody_rates(const srAdmittanceIn* in, double* xdot) {
  Multibody* b = in->self;
  const srModel* m = b->m;
  const double *v = velocities(b, in->x), *y = own_states(b, in->x);
  const size_t nx = (size_t)(m->nq + m->nv + m->ny);
  if (m->njv > 0) memcpy(b->d->tau, in->u, (size_t)m->njv * sizeof *in->u);
  if (b->npoint > 0) {
    (void)sr_evaluate_motion(m, b->d, in->t, in->x, v, y, SR_STAGE_POSITION);
    add_point_forces(b, in->u);
  }
  if (!b->started && sri_start(b->integrator, in->t, in->x, v, y) != SR_OK) return -1;
  // A step that has failed after this one was accepted begins again.
  if (b->impulse != NULL && (!b->started || in->t < b->t_last)) {
    take_sides(b, in->t, b->before);
    b->t_last = in->t;
  }
  b->started = true;
  const int answer = sri_rates(b->integrator, in->t, in->x, in->tau, b->rate);
  memcpy(xdot, b->rate, nx * sizeof *xdot);
  return answer;
}

static void point_motion(const Multibody* b, int k, double* out) {
  srFrameMotion frame;
  sr_frame_motion(b->m, b->d, b->point[k], 0, &frame);
  memset(out, 0, 3 * sizeof *out);
  memcpy(out + 3, frame.position, sizeof frame.position);
  memcpy(out + 6, frame.angular_velocity, sizeof frame.angular_velocity);
  memcpy(out + 9, frame.velocity, sizeof frame.velocity);
  srm_quaternion_from_rows(frame.rotation, out + 12);
}

static int motion(const srAdmittanceIn* in, double* out) {
  Multibody* b = in->self;
  const srModel* m = b->m;
  const srStage stage = m->absolute || b->npoint > 0 ? SR_STAGE_VELOCITY : SR_STAGE_NONE;
  (void)sr_evaluate_motion(m, b->d, in->t, in->x, velocities(b, in->x), own_states(b, in->x), stage);
  if (m->njq > 0) memcpy(out, b->d->jq, (size_t)m->njq * sizeof *out);
  if (m->njv > 0) memcpy(out + m->njq, b->d->jv, (size_t)m->njv * sizeof *out);
  for (int k = 0; k < b->npoint; ++k) point_motion(b, k, out + m->njq + m->njv + POINT_OUT * k);
  return 0;
}

static int accepted(const srAdmittanceIn* in, double* x) {
  Multibody* b = in->self;
  const int answer = pass_corners(b, in->t, x);
  return answer == 0 ? sri_accept_state(b->integrator, in->t, x) : answer;
}

// ---- making one -----------------------------------------------------------------------------------------------------------

static void destroy(void* object) {
  Multibody* b = object;
  sri_destroy(b->integrator);
  sr_data_destroy(b->d);
  sr_free(b->point);
  sr_free(b->J);
  sr_free(b->rate);
  sri_impulse_destroy(b->impulse);
  sr_free(b->prescribed);
  sr_free(b->side);
  sr_free(b);
}

// False: out of memory.
static bool make_corners(Multibody* b, const srSystem* callbacks) {
  const size_t n = (size_t)b->m->priv->nswitch;
  if (!sr_motion_may_jump(b->m)) return true;
  b->side = sr_alloc(2 * n * sizeof *b->side);
  b->prescribed = sr_alloc(sr_motion_jump_size(b->m));
  b->impulse = sri_impulse_create(callbacks, 0);
  if (!b->side || !b->prescribed || !b->impulse) return false;
  b->before = b->side + n;
  sr_motion_jump_init(&b->jump, b->m, b->d, b->prescribed);
  return true;
}

static Multibody* create(const srModel* m, const srData* d, int npoint) {
  Multibody* b = sr_alloc(sizeof *b);
  if (!b) return NULL;
  b->m = m;
  b->npoint = npoint;
  b->d = sr_data_create(m);
  b->point = sr_alloc((size_t)(npoint + 1) * sizeof *b->point);
  b->J = sr_alloc((size_t)(6 * m->nv + 1) * sizeof *b->J);
  b->rate = sr_alloc((size_t)(m->nq + m->nv + m->ny + SR_ACCOUNTS) * sizeof *b->rate);
  b->system = (srModelSystem){.m = m, .d = b->d};
  const srSystem callbacks = b->d ? sr_system(&b->system) : (srSystem){0};
  const srIntegratorOptions options = {.step = 1};  // which the network makes
  if (!b->d || !b->point || !b->J || !b->rate || !make_corners(b, &callbacks) ||
      sri_create("rk4", &callbacks, &options, NULL, &b->integrator) != SR_OK) {
    destroy(b);
    return NULL;
  }
  if (d) sr_data_copy(m, d, b->d);
  return b;
}

static const char* error_message(void* self) { return ((Multibody*)self)->d->error_message; }

static const srForceElement* located_contact(const srModel* m) {
  for (int i = 0; i < m->nforce; ++i) {
    if (m->force[i].contact && m->force[i].contact->located) return &m->force[i];
  }
  return NULL;
}

// The joint of the first coordinate without inertia, where there is one.
static const char* first_massless(const srModel* m) {
  int i = 0;
  while (!m->dof_massless[i]) ++i;
  return m->joint_name[m->link_joint[m->dof_link[i]]];
}

static const srContactSet* located_set(const srModel* m) {
  for (int i = 0; i < m->nset; ++i) {
    if (m->set[i].located) return &m->set[i];
  }
  return NULL;
}

// A driver or constraint whose formula switches with the state, where there is one.
static const char* switch_of_state(const srModel* m) {
  for (int i = 0; i < m->priv->nswitch; ++i) {
    const srLawSwitch* s = &m->priv->of_switch[i];
    if (s->of_motion && !s->of_time) return s->name;
  }
  return NULL;
}

// What a network cannot do with a model, as a sentence.
static bool possible(srNetwork* n, const char* name, const srModel* m, int npoint) {
  const char* friction = NULL;
  srPlace place;
  if (m->nevent > 0) {
    sr_net_error(n, "'%s': the model has events, which a network does not locate", name);
  } else if (located_contact(m) || located_set(m)) {
    sr_net_error(n, "'%s': the contact '%s' needs the speed at first touch, which a network does not locate", name,
                 located_contact(m) ? located_contact(m)->name : located_set(m)->name);
  } else if (sr_set_valued_friction(m, &friction, &place)) {
    sr_net_error(n, "'%s': the force at rest of '%s' is not a function of the motion, as a network needs it", name,
                 friction);
  } else if (switch_of_state(m)) {
    sr_net_error(n, "'%s': the formula of constraint '%s' switches with the state, which a network does not locate",
                 name, switch_of_state(m));
  } else if (m->nmassless > 0) {
    sr_net_error(
        n,
        "'%s': joint '%s' cannot be accelerated: nothing with mass or inertia moves with it; sr_lock_massless holds "
        "such joints where they start",
        name, first_massless(m));
  } else if (m->absolute && npoint > 0) {
    sr_net_error(n, "'%s': forces at points need the relative formulation", name);
  } else {
    return true;
  }
  return false;
}

// Names and units of signals while they are listed.
typedef struct List {
  srPool* pool;
  const char **name, **unit;
  int n;
} List;

// member NULL: the object alone.
static void put(List* list, const char* object, const char* member, const char* unit) {
  list->name[list->n] = member ? sr_pool_printf(list->pool, "%s.%s", object, member) : sr_pool_text(list->pool, object);
  list->unit[list->n++] = sr_pool_text(list->pool, unit ? unit : "");
}

static List new_list(srPool* pool, int count) {
  const size_t size = (size_t)(count + 1) * sizeof(const char*);
  return (List){.pool = pool, .name = sr_pool_alloc(pool, size), .unit = sr_pool_alloc(pool, size)};
}

static void put_coordinates(List* list, const char* kind, const char* const* name, const char* const* unit, int n) {
  for (int i = 0; i < n; ++i) put(list, kind, name[i], unit ? unit[i] : NULL);
}

static const char* force_unit(const char* unit) { return strcmp(unit, "m/s") == 0 ? "N" : "Nm"; }

static void list_outputs(List* list, const Multibody* b) {
  static const char* const member[POINT_OUT] = {"rx", "ry", "rz", "x",  "y",  "z",  "wx", "wy",
                                                "wz", "vx", "vy", "vz", "qw", "qx", "qy", "qz"};
  static const char* const unit[POINT_OUT] = {"",      "",    "",    "m",   "m", "m", "rad/s", "rad/s",
                                              "rad/s", "m/s", "m/s", "m/s", "",  "",  "",      ""};
  const srModel* m = b->m;
  put_coordinates(list, "q", m->q_name, m->q_unit, m->njq);
  put_coordinates(list, "v", m->v_name, m->v_unit, m->njv);
  for (int k = 0; k < b->npoint; ++k) {
    for (int i = 0; i < POINT_OUT; ++i) put(list, m->point_name[b->point[k]], member[i], unit[i]);
  }
}

static void list_inputs(List* list, const Multibody* b) {
  static const char* const member[POINT_IN] = {"mx", "my", "mz", "fx", "fy", "fz"};
  const srModel* m = b->m;
  for (int i = 0; i < m->njv; ++i) put(list, "f", m->v_name[i], force_unit(m->v_unit[i]));
  for (int k = 0; k < b->npoint; ++k) {
    for (int i = 0; i < POINT_IN; ++i) put(list, m->point_name[b->point[k]], member[i], i < 3 ? "Nm" : "N");
  }
}

static void list_states(List* list, const Multibody* b) {
  const srModel* m = b->m;
  put_coordinates(list, "q", m->q_name, m->q_unit, m->njq);
  put_coordinates(list, "v", m->v_name, m->v_unit, m->njv);
  for (int i = 0; i < m->ny; ++i) put(list, m->y_name[i], NULL, NULL);
}

// False: out of memory. States of free bodies in absolute coordinates have no names.
static bool name_signals(srNetwork* n, int i, const Multibody* b) {
  void (*const list_of[SR_SIGNALS])(List*, const Multibody*) = {list_inputs, list_outputs, list_states};
  jmp_buf out;
  if (setjmp(out) != 0) return false;
  n->pool.on_fail = &out;
  for (int signal = 0; signal < SR_SIGNALS; ++signal) {
    if (signal == SR_SIGNAL_STATE && (b->m->absolute || b->m->ny_slot > 0)) continue;
    List list = new_list(&n->pool, sr_network_signals(n, i, (srSignal)signal));
    list_of[signal](&list, b);
    n->component[i].signal_name[signal] = list.name;
    n->component[i].signal_unit[signal] = list.unit;
  }
  n->pool.on_fail = NULL;
  return true;
}

static int add(srNetwork* n, const char* name, Multibody* b) {
  const srModel* m = b->m;
  const int nx = m->nq + m->nv + m->ny;
  double* x0 = sr_pool_alloc(&n->pool, (size_t)(nx + 1) * sizeof *x0);
  if (!x0) return sr_net_no_memory(n);
  memcpy(x0, b->d->q, (size_t)m->nq * sizeof *x0);
  memcpy(x0 + m->nq, b->d->v, (size_t)m->nv * sizeof *x0);
  if (m->ny > 0) memcpy(x0 + m->nq + m->nv, b->d->y, (size_t)m->ny * sizeof *x0);
  const srAdmittance admittance = {.name = "multibody",
                                   .nx = nx,
                                   .nu = m->njv + POINT_IN * b->npoint,
                                   .nout = m->njq + m->njv + POINT_OUT * b->npoint,
                                   .x0 = x0,
                                   .rates = sr_multibody_rates,
                                   .motion = motion,
                                   .accepted = accepted};
  const int i = sr_network_admittance(n, name, &admittance, NULL, 0, b);
  if (i >= 0) {
    n->component[i].error_message = error_message;
    n->component[i].restart = restart;
  }
  return i < 0 || name_signals(n, i, b) ? i : sr_net_no_memory(n);
}

int sr_network_multibody(srNetwork* n, const char* name, const srModel* m, const srData* d, const char* const* points,
                         int npoint) {
  if (!sr_net_open(n) || !sr_net_good_name(n, name) || !possible(n, name, m, npoint)) return SR_REFUSED;
  Multibody* b = create(m, d, npoint);
  if (!b) return sr_net_no_memory(n);
  if (!sr_net_own(n, destroy, b)) return SR_REFUSED;
  for (int k = 0; k < npoint; ++k) {
    b->point[k] = sr_word_index(m->point_name, m->npoint, points[k]);
    if (b->point[k] >= 0) continue;
    sr_net_error(n, "'%s': the model has no point '%s'%s", name, points[k],
                 sr_pool_guess(&n->pool, sr_nearest_word(points[k], m->point_name, m->npoint)));
    return SR_REFUSED;
  }
  return add(n, name, b);
}

const srModel* sr_multibody_model(const srComponent* c) {
  return c->kind == SR_ADMITTANCE && c->admittance.rates == sr_multibody_rates ? ((const Multibody*)c->self)->m : NULL;
}

int sr_multibody_point(const srComponent* c, const char* name) {
  const Multibody* b = c->self;
  for (int k = 0; k < b->npoint; ++k) {
    if (strcmp(b->m->point_name[b->point[k]], name) == 0) return k;
  }
  return -1;
}
