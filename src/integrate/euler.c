// Explicit Euler with a fixed step, order 1.
//   x_1 = x_0 + h F(t_0, x_0)
// Between the steps the state is linear in t, which is of the same order and costs no evaluation.
#include "integrate/fixed.h"

static const srTableau tableau = {.stages = 1, .c = {0.0}, .a = {{0.0}, {1.0}}};

static size_t room(const srSystem* system, int n) {
  (void)system;
  return sri_rk_room(&tableau, n);
}

static void init(srIntegrator* integrator) {
  srFixed* work = integrator->work;
  sri_rk_init(integrator, &work->rk, &tableau);
  work->closes = false;
}

static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  for (int i = 0; i < count; ++i) {
    const double x0 = integrator->x_before[first + i];
    out[i] = x0 + theta * (integrator->x[first + i] - x0);
  }
}

const srIntegratorOps sri_euler_ops = {
    .method = {.name = "euler",
               .order = 1,
               .adaptive = false,
               .baumgarte = true,
               .partitions = true,
               .about = "explicit Euler, fixed step"},
    .needs = SRI_NEEDS(rates),
    .index1 = true,
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srFixed),
    .room = room,
    .init = init,
    .start = sri_fixed_start,
    .step = sri_fixed_step,
    .interpolate = interpolate,
};
