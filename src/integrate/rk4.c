// Classical Runge-Kutta with a fixed step T, order 4, with the stage lengths of Kikuuwe et al. (modular friction, eq. 21):
//   xi_r = F(x + T_{r-1} xi_{r-1}, t + T_{r-1}; T_r)   r = 1..4,   {T_0 .. T_4} = {0, T/2, T/2, T, T}
//   x_1  = x + T/6 (xi_1 + 2 xi_2 + 2 xi_3 + xi_4)
// T_r reaches the force elements as tau. An element whose force depends on tau (friction with memory) is then integrated
// to first order only while it sticks: its damping contains tau, hence T.
//
// Between the steps: cubic Hermite. The rates at the new state that it needs are the first stage of the next step.
#include "integrate/rk4.h"

#include "integrate/fixed.h"

static const double stage_tau[] = {1.0 / 2, 1.0 / 2, 1.0, 1.0};

const srTableau sri_rk4_tableau = {
    .stages = 4,
    .c = {0.0, 1.0 / 2, 1.0 / 2, 1.0},
    .a = {{0.0}, {1.0 / 2}, {0.0, 1.0 / 2}, {0.0, 0.0, 1.0}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}},
    .tau = stage_tau,
};

static size_t room(const srSystem* system, int n) {
  (void)system;
  return sri_rk_room(&sri_rk4_tableau, n);
}

static void init(srIntegrator* integrator) {
  srFixed* work = integrator->work;
  sri_rk_init(integrator, &work->rk, &sri_rk4_tableau);
  work->closes = true;
}

static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  const srRungeKutta* rk = &((const srFixed*)integrator->work)->rk;
  sri_hermite(integrator, rk->k[0], rk->k[rk->tableau->stages], theta, first, count, out);
}

const srIntegratorOps sri_rk4_ops = {
    .method = {.name = "rk4",
               .order = 4,
               .adaptive = false,
               .baumgarte = true,
               .partitions = true,
               .about = "classical Runge-Kutta, fixed step; passes the stage length to friction with memory"},
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
