// Simbody on mechanisms with loops: a pin for every link; a point is held to another by two planes of the first body (two
// rows a loop), or by a ball (three rows, one of them redundant in the plane). The planes are faster.
#include <Simbody.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "../common.h"
#include "coordinates.h"
#include "loop.h"

namespace {

using namespace bench;
using SimTK::Constraint;
using SimTK::MobilizedBody;
using SimTK::Vec3;

struct Mechanism {
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  std::vector<SimTK::MobilizedBodyIndex> bodies;
};

SimTK::Transform transform(const Pose& p) {
  SimTK::Mat33 r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r(i, j) = p.rotation.at[i][j];
  return SimTK::Transform(SimTK::Rotation(r, true), Vec3(p.origin[0], p.origin[1], p.origin[2]));
}

void add_link(Mechanism* s, const srModel* m, int link) {
  MobilizedBody& parent = s->matter.updMobilizedBody(s->bodies[m->link_parent[link]]);
  const Inertia I = link_inertia(m, link);
  const auto& J = I.about_origin.at;
  const SimTK::Body::Rigid body(
      SimTK::MassProperties(I.mass, Vec3(I.com[0], I.com[1], I.com[2]),
                            SimTK::Inertia(J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2])));
  const SimTK::Transform fixed = transform(link_tree(m, link));
  s->bodies.push_back(MobilizedBody::Pin(parent, fixed, body, SimTK::Transform()).getMobilizedBodyIndex());
}

Vec3 point_in_link(const srModel* m, int point) {
  const double* x = m->point_pose + 16 * point + 12;
  return Vec3(x[0], x[1], x[2]);
}

void add_closure(Mechanism* s, const srModel* m, const srClosure* c, bool ball) {
  MobilizedBody& a = s->matter.updMobilizedBody(s->bodies[m->point_link[c->point[0]]]);
  MobilizedBody& b = s->matter.updMobilizedBody(s->bodies[m->point_link[c->point[1]]]);
  const Vec3 at_a = point_in_link(m, c->point[0]), at_b = point_in_link(m, c->point[1]);
  if (ball) {
    Constraint::Ball(a, at_a, b, at_b);
    return;
  }
  Constraint::PointInPlane(a, SimTK::UnitVec3(1, 0, 0), at_a[0], b, at_b);
  Constraint::PointInPlane(a, SimTK::UnitVec3(0, 1, 0), at_a[1], b, at_b);
}

void build(Mechanism* s, const LoopMechanism* x, bool ball) {
  const srModel* m = x->m;
  s->bodies.push_back(s->matter.getGround().getMobilizedBodyIndex());
  for (int i = 1; i < m->nlink; i++) add_link(s, m, i);
  for (int i = 0; i < m->nclosure; i++) add_closure(s, m, &m->closure[i], ball);
  const Vec3 g(m->gravity[0], m->gravity[1], m->gravity[2]);
  if (g.norm() > 0) SimTK::Force::Gravity(s->forces, s->matter, g);
  for (int i = 0; i < x->nspring; i++) {
    const LoopSpring* p = &x->spring[i];
    SimTK::Force::TwoPointLinearSpring(
        s->forces, s->matter.updMobilizedBody(s->bodies[m->point_link[p->a]]), point_in_link(m, p->a),
        s->matter.updMobilizedBody(s->bodies[m->point_link[p->b]]), point_in_link(m, p->b), p->stiffness, p->length);
  }
  for (int i = 0; i < x->nmotor; i++)
    SimTK::Force::MobilityConstantForce(s->forces, s->matter.updMobilizedBody(s->bodies[m->dof_link[x->motor[i].dof]]),
                                        0, x->motor[i].torque);
}

std::unique_ptr<SimTK::Integrator> integrator(const char* name, const SimTK::System& system) {
  if (strstr(name, "cpodes")) return std::make_unique<SimTK::CPodesIntegrator>(system, SimTK::CPodes::BDF);
  if (strstr(name, "fehlberg")) return std::make_unique<SimTK::RungeKuttaFeldbergIntegrator>(system);
  return std::make_unique<SimTK::RungeKuttaMersonIntegrator>(system);
}

bool run(const LoopMethod* method, const LoopMechanism* x, double accuracy, LoopResult* out) try {
  const srModel* m = x->m;
  Mechanism s;
  build(&s, x, strstr(method->name, "ball") != nullptr);
  SimTK::State state = s.system.realizeTopology();
  s.system.realizeModel(state);
  for (int i = 1; i < m->nlink; i++) {
    const MobilizedBody& body = s.matter.getMobilizedBody(s.bodies[i]);
    body.setOneQ(state, 0, m->q0[m->link_q[i]]);
    body.setOneU(state, 0, m->v0[m->link_v[i]]);
  }
  const auto integ = integrator(method->name, s.system);
  integ->setAccuracy(accuracy);
  integ->setInternalStepLimit(1000000);  // CPodes would write a message at every 500
  integ->setFinalTime(x->t_end);
  const double start = bench_cpu_seconds();
  integ->initialize(state);
  while (integ->getTime() < x->t_end && integ->stepTo(x->t_end) != SimTK::Integrator::EndOfSimulation) continue;
  out->seconds = bench_cpu_seconds() - start;
  out->steps = integ->getNumStepsTaken();
  for (int i = 1; i < m->nlink; i++) {
    const MobilizedBody& body = s.matter.getMobilizedBody(s.bodies[i]);
    out->q[m->link_q[i]] = body.getOneQ(integ->getState(), 0);
    out->v[m->link_v[i]] = body.getOneU(integ->getState(), 0);
  }
  return true;
} catch (const std::exception& e) {
  snprintf(out->reason, sizeof out->reason, "%s", e.what());
  return false;
}

}  // namespace

extern "C" {
const LoopMethod loop_simbody_merson = {"simbody", "merson", "accuracy", run};
const LoopMethod loop_simbody_merson_ball = {"simbody", "merson, ball", "accuracy", run};
const LoopMethod loop_simbody_fehlberg = {"simbody", "fehlberg", "accuracy", run};
const LoopMethod loop_simbody_cpodes = {"simbody", "cpodes", "accuracy", run};
}
