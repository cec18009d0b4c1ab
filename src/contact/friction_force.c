// The laws of friction and normal force as elements call them: limits times the normal force, and derivatives.
#include <math.h>
#include <string.h>

#include "contact/element.h"
#include "contact/friction_graph.h"
#include "contact/normal_graph.h"

// ---- friction -----------------------------------------------------------------------------------------------------------

static srFrictionIn input(const srDryFriction* x, const double* v, const double* e, double N, double tau) {
  return (srFrictionIn){
      .n = x->n, .v = v, .e = e, .tau = tau, .Fs = x->s * N, .Fk = x->k * N, .D = x->p.D * N, .p = &x->p};
}

int sr_friction_force(const srDryFriction* x, const double* v, const double* e, double N, double tau,
                      srFrictionForce* out, double* edot) {
  const srFrictionIn in = input(x, v, e, N, tau);
  srFrictionOut answer = {.f = out->f, .edot = edot};
  const int status = x->law->evaluate(&in, &answer);
  out->dissipation = answer.dissipation;
  out->sticks = answer.sticks;
  return status;
}

double sr_friction_force_energy(const srDryFriction* x, const double* v, const double* e, double tau) {
  const srFrictionIn in = input(x, v, e, 1, tau);
  return x->law->energy != NULL ? x->law->energy(&in) : 0;
}

// ---- its derivatives ----------------------------------------------------------------------------------------------------
// Built-in laws have them exactly, from their definition on the expression graph. Those of plugins are C code: differences of
// the fourth order, with steps that fit the law's own scales, since bristles are short compared with a metre.

static const double weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, at[4] = {-2, -1, 1, 2};

// Changes of v, e and N that change the force by its limit.
static void scales(const srDryFriction* x, const double* v, const double* e, double N, double tau, double out[3]) {
  const double limit = x->s * N + 1e-12, Z = x->p.B + tau * x->p.K;
  double speed = 0, length = 0;
  for (int i = 0; i < x->n; i++) speed = hypot(speed, v[i]);
  for (int i = 0; i < x->ne; i++) length = fmax(length, fabs(e[i]));
  out[0] = speed + (x->ne == 0 ? x->p.v0 : Z > 0 ? limit / Z : 1e-3);
  out[1] = length + limit / x->p.K;
  out[2] = N;
}

static int differences(const srDryFriction* x, const double* v, const double* e, double N, double tau,
                       double* jacobian) {
  const int rows = x->n + x->ne, columns = rows + 1;
  double in[SR_FRICTION_FORCE_MOST + 1], edot[SR_FRICTION_FORCE_MOST], scale[3];
  scales(x, v, e, N, tau, scale);
  memcpy(in, v, (size_t)x->n * sizeof *in);
  if (x->ne > 0) memcpy(in + x->n, e, (size_t)x->ne * sizeof *in);
  in[rows] = N;
  memset(jacobian, 0, (size_t)(rows * columns) * sizeof *jacobian);
  for (int j = 0; j < columns; j++) {
    const double value = in[j], h = 1e-4 * scale[j < x->n ? 0 : j < rows ? 1 : 2];
    for (int i = 0; i < 4 && h > 0; i++) {
      srFrictionForce out;
      in[j] = value + at[i] * h;
      const int answer = sr_friction_force(x, in, in + x->n, in[rows], tau, &out, edot);
      if (answer != 0) return answer;
      for (int r = 0; r < rows; r++)
        jacobian[r * columns + j] += weight[i] / h * (r < x->n ? out.f[r] : edot[r - x->n]);
    }
    in[j] = value;
  }
  return 0;
}

int sr_friction_force_jacobian(const srDryFriction* x, const double* v, const double* e, double N, double tau,
                               double* jacobian) {
  if (x->derivative == NULL) return differences(x, v, e, N, tau, jacobian);
  double argument[SR_FRICTION_FORCE_MOST + SR_FRICTION_ARGUMENTS], work[SR_FRICTION_FORCE_WORK];
  SR_ASSERT(sr_program_work(x->derivative) <= SR_FRICTION_FORCE_WORK);
  sr_friction_arguments(x, v, e, N, tau, argument);
  // Without a limit the force is zero at any v and e. At v = e = 0 a law that holds is within its limit, 0, and would have the derivatives of
  // sticking there: those at some slip are the right ones.
  if (!(N > 0)) argument[0] += 1;
  sr_program_evaluate(x->derivative, &(srInputs){.arg = argument}, work, jacobian);
  return 0;
}

// ---- normal force -------------------------------------------------------------------------------------------------------

// A located contact stays open until its event, so that the motion is smooth up to it.
static bool is_open(const double* z) { return z != NULL && z[SR_Z_CLOSED] == 0; }

// The largest approach velocity since the contact closed: the run records it after each step, the present one may be larger. At a state
// outside a run it is unknown: the present velocity is used.
static double first_speed(const srSurfaceLaws* c, double ddot, const double* z) {
  return z != NULL && z[SR_Z_SPEED] > 0 ? fmax(z[SR_Z_SPEED], ddot) : fmax(c->p.floor, fabs(ddot));
}

int sr_normal_force(const srSurfaceLaws* c, double d, double ddot, const double* z, srNormalOut* out) {
  *out = (srNormalOut){0};
  if (d <= 0 || is_open(z)) return 0;
  const srNormalIn in = {.d = d, .ddot = ddot, .ddot0 = first_speed(c, ddot, z), .p = &c->p};
  return c->law->evaluate(&in, out);
}

static int normal_force_differences(const srSurfaceLaws* c, double d, double ddot, const double* z,
                                    double jacobian[2]) {
  const double h[2] = {1e-4 * d, 1e-4 * (fabs(ddot) + c->p.floor)};  // not out of the contact
  for (int j = 0; j < 2; j++) {
    for (int i = 0; i < 4; i++) {
      srNormalOut out;
      const int answer = sr_normal_force(c, d + (j == 0) * at[i] * h[0], ddot + (j == 1) * at[i] * h[1], z, &out);
      if (answer != 0) return answer;
      jacobian[j] += weight[i] / h[j] * out.f;
    }
  }
  return 0;
}

int sr_normal_force_jacobian(const srSurfaceLaws* c, double d, double ddot, const double* z, double jacobian[2]) {
  jacobian[0] = jacobian[1] = 0;
  if (d <= 0 || is_open(z)) return 0;
  if (c->derivative == NULL) return normal_force_differences(c, d, ddot, z, jacobian);
  double argument[SR_NORMAL_ARGUMENTS], work[SR_PRESS_WORK];
  SR_ASSERT(sr_program_work(c->derivative) <= SR_PRESS_WORK);
  sr_normal_arguments(&c->p, d, ddot, z != NULL ? z[SR_Z_SPEED] : 0, argument);
  sr_program_evaluate(c->derivative, &(srInputs){.arg = argument}, work, jacobian);
  return 0;
}

double sr_normal_force_energy(const srSurfaceLaws* c, double d, const double* z) {
  if (d <= 0 || is_open(z) || c->law->energy == NULL) return 0;
  const srNormalIn in = {.d = d, .ddot0 = c->p.floor, .p = &c->p};
  return c->law->energy(&in);
}
