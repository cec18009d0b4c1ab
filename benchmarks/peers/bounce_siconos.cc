// Siconos: EventDriven with LSODAR, and TimeStepping with Moreau-Jean's method (theta = 1/2), an LCP each.
#include <SiconosKernel.hpp>

#include <exception>

#include "../bounce.h"
#include "../common.h"

namespace {

SP::NonSmoothDynamicalSystem make_system(const Bounce* x, SP::LagrangianDS* out) {
  SP::SiconosVector q(new SiconosVector(1)), v(new SiconosVector(1)), weight(new SiconosVector(1));
  SP::SimpleMatrix mass(new SimpleMatrix(1, 1)), normal(new SimpleMatrix(1, 1));
  (*q)(0) = x->height;
  (*v)(0) = 0;
  (*weight)(0) = -x->gravity;
  (*mass)(0, 0) = (*normal)(0, 0) = 1;
  SP::LagrangianLinearTIDS ball(new LagrangianLinearTIDS(q, v, mass));
  ball->setFExtPtr(weight);
  SP::NonSmoothLaw law(new NewtonImpactNSL(x->restitution));
  SP::Relation relation(new LagrangianLinearTIR(normal));
  SP::Interaction contact(new Interaction(law, relation));
  SP::NonSmoothDynamicalSystem system(new NonSmoothDynamicalSystem(0, x->t_end));
  system->insertDynamicalSystem(ball);
  system->link(contact, ball);
  *out = ball;
  return system;
}

void run_events(SP::NonSmoothDynamicalSystem system, const Bounce* x, double tolerance) {
  SP::TimeDiscretisation times(new TimeDiscretisation(0, x->t_end / 10));
  SP::LsodarOSI integrator(new LsodarOSI());
  SP::OneStepNSProblem impact(new LCP()), acceleration(new LCP());
  SP::EventDriven simulation(new EventDriven(system, times));
  simulation->insertIntegrator(integrator);
  simulation->insertNonSmoothProblem(impact, SICONOS_OSNSP_ED_IMPACT);
  simulation->insertNonSmoothProblem(acceleration, SICONOS_OSNSP_ED_SMOOTH_ACC);
  simulation->initialize();
  integrator->setTol(1, tolerance, tolerance * 1e-2);
  while (simulation->hasNextEvent()) {
    simulation->advanceToEvent();
    simulation->processEvents();
  }
}

long run_steps(SP::NonSmoothDynamicalSystem system, double step) {
  SP::TimeDiscretisation times(new TimeDiscretisation(0, step));
  SP::MoreauJeanOSI integrator(new MoreauJeanOSI(0.5));
  SP::OneStepNSProblem problem(new LCP());
  SP::TimeStepping simulation(new TimeStepping(system, times, integrator, problem));
  long n = 0;
  for (; simulation->hasNextEvent(); ++n) {
    simulation->computeOneStep();
    simulation->nextStep();
  }
  return n;
}

}  // namespace

bool bounce_siconos(const Bounce* x, bool events, double setting, BounceResult* out) {
  const double start = bench_cpu_seconds();
  try {
    SP::LagrangianDS ball;
    SP::NonSmoothDynamicalSystem system = make_system(x, &ball);
    out->steps = -1;
    if (events) {
      run_events(system, x, setting);
    } else {
      out->steps = run_steps(system, setting);
    }
    out->q[0] = (*ball->q())(0);
  } catch (const std::exception&) {
    return false;
  }
  out->seconds = bench_cpu_seconds() - start;
  return true;
}
