// Siconos: the slider-crank with clearance as a LagrangianDS over the absolute angles of crank, rod and slider; four corners against the guide, without friction.
#include <SiconosKernel.hpp>

#include <cmath>
#include <exception>

#include "../bounce.h"
#include "../common.h"

namespace {

// M q'' + gyro(q, q') = p, with the weight in gyro.
class SliderCrank : public LagrangianDS {
 public:
  SliderCrank(SP::SiconosVector q, SP::SiconosVector v, const Crank* x) : LagrangianDS(q, v), x(x) {
    _mass.reset(new SimpleMatrix(3, 3));
    _fGyr.reset(new SiconosVector(3));
    coupling = (x->m2 / 2 + x->m3) * x->l1 * x->l2;
    fill(*q);
  }
  void computeMass() override { fill(*_q[0]); }
  void computeMass(SP::SiconosVector position) override { fill(*position); }
  void computeFGyr() override { gyro(*_q[0], *_q[1]); }
  void computeFGyr(SP::SiconosVector position, SP::SiconosVector velocity) override { gyro(*position, *velocity); }

 private:
  const Crank* x;
  double coupling;

  void fill(const SiconosVector& q) {
    SiconosMatrix& M = *_mass;
    M.zero();
    M(0, 0) = x->J1 + x->m1 * x->l1 * x->l1 / 4 + (x->m2 + x->m3) * x->l1 * x->l1;
    M(1, 1) = x->J2 + x->m2 * x->l2 * x->l2 / 4 + x->m3 * x->l2 * x->l2;
    M(2, 2) = x->J3;
    M(0, 1) = M(1, 0) = coupling * std::cos(q(0) - q(1));
  }

  void gyro(const SiconosVector& q, const SiconosVector& v) {
    const double s = coupling * std::sin(q(0) - q(1));
    (*_fGyr)(0) = s * v(1) * v(1) + x->gravity * (x->m1 / 2 + x->m2 + x->m3) * x->l1 * std::cos(q(0));
    (*_fGyr)(1) = -s * v(0) * v(0) + x->gravity * (x->m2 / 2 + x->m3) * x->l2 * std::cos(q(1));
    (*_fGyr)(2) = 0;
  }
};

// Gap of the corner (along, across) of the slider: side is 1 at the upper plane of the guide, -1 at the lower one.
class Corner : public LagrangianScleronomousR {
 public:
  Corner(const Crank* x, double along, double side) : x(x), along(along), side(side) {
    _jachq.reset(new SimpleMatrix(1, 3));
  }
  void computeh(const BlockVector& q, BlockVector& z, SiconosVector& y) override {
    (void)z;
    const double height = x->l1 * std::sin(q.getValue(0)) + x->l2 * std::sin(q.getValue(1)) +
                          along * std::sin(q.getValue(2)) + side * x->b * std::cos(q.getValue(2));
    y.setValue(0, x->b + x->c - side * height);
  }
  void computeJachq(const BlockVector& q, BlockVector& z) override {
    (void)z;
    SiconosMatrix& J = *_jachq;
    J(0, 0) = -side * x->l1 * std::cos(q.getValue(0));
    J(0, 1) = -side * x->l2 * std::cos(q.getValue(1));
    J(0, 2) = -side * (along * std::cos(q.getValue(2)) - side * x->b * std::sin(q.getValue(2)));
  }

 private:
  const Crank* x;
  double along, side;
};

}  // namespace

bool crank_siconos(const Crank* x, double step, BounceResult* out) {
  const double start = bench_cpu_seconds();
  try {
    SP::SiconosVector q(new SiconosVector(3)), v(new SiconosVector(3));
    for (int i = 0; i < 3; ++i) (*v)(i) = x->speed[i];
    std::shared_ptr<SliderCrank> crank(new SliderCrank(q, v, x));
    SP::NonSmoothLaw law(new NewtonImpactNSL(x->restitution));
    SP::NonSmoothDynamicalSystem system(new NonSmoothDynamicalSystem(0, x->t_end));
    system->insertDynamicalSystem(crank);
    for (int k = 0; k < 4; ++k) {
      SP::Relation corner(new Corner(x, k % 2 == 0 ? -x->a : x->a, k < 2 ? 1 : -1));
      system->link(SP::Interaction(new Interaction(law, corner)), crank);
    }
    SP::TimeDiscretisation times(new TimeDiscretisation(0, step));
    SP::MoreauJeanOSI integrator(new MoreauJeanOSI(0.5));
    SP::OneStepNSProblem problem(new LCP());
    SP::TimeStepping simulation(new TimeStepping(system, times, integrator, problem));
    simulation->setNewtonTolerance(1e-10);
    simulation->setNewtonMaxIteration(20);
    for (out->steps = 0; simulation->hasNextEvent(); ++out->steps) {
      simulation->advanceToEvent();
      simulation->processEvents();
    }
    for (int i = 0; i < 3; ++i) out->q[i] = (*crank->q())(i);
  } catch (const std::exception&) {
    return false;
  }
  out->seconds = bench_cpu_seconds() - start;
  return true;
}
