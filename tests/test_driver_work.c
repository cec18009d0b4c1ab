// Work in the energy balance of a run, against closed forms.
#include <math.h>

#include "loading.h"

// A rod of 2 kg, its centre 0.5 m from a hinge that turns it by 0.3 t^3 rad about y: ten turns and more in steps that have no error. The work of the driver is the kinetic energy
// (J + m l^2) w^2/2, w = 0.9 t^2, and the height -l sin(angle). A damper of 0.2 Nms takes the integral of 0.2 w^2, 0.2 0.81 t^5/5, which the driver supplies: the balance alone does not show it.
TEST(work_of_a_driver_is_as_accurate_as_the_run) {
  static const char* const names[] = {"dopri5", "mdop5", "hem5", "phem56", "radau5", "auto"};
  const double t = 5, w = 0.9 * t * t, angle = 0.3 * t * t * t, heat = 0.2 * 0.81 * pow(t, 5) / 5;
  const double energy = 0.5 * (0.1 + 2 * 0.25) * w * w - 2 * 9.81 * 0.5 * sin(angle);
  for (int k = 0; k < 6; k++) {
    for (int tight = 0; tight < 2; tight++) {
      Loaded x = open_text(
          "<sarrus version='1'><option gravity='0 0 -9.81'/><body name='b'><joint name='x' type='revolute' axis='0 1 "
          "0' "
          "damping='0.2'/><inertial mass='2' com='0.5 0 0' inertia='0.1 0.1 0.1'/></body><driver joint='x' "
          "motion='0.3*t^3'/></sarrus>");
      srRunOptions o = sr_run_options(x.m);
      o.method = names[k];
      o.t_end = t;
      o.rtol = tight != 0 ? 1e-8 : 1e-6;
      o.atol = 1e-3 * o.rtol;
      ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
      const srEnergy* e = &x.result.energy;
      const double allowed =
          10 * o.rtol * (energy + heat);  // some hundred steps, whose errors are below the bound and of any sign
      ENSURE_NEAR(e->work[SR_ACCOUNT_DRIVER], energy + heat, allowed);
      ENSURE_SMALL(e->residual, allowed);
      ENSURE(x.result.stats.steps < (tight != 0 ? 2000 : 700));
      close_model(&x);
    }
  }
}
