// Simbody. One mobilized body for every link; massless ones inside a chain are allowed.
//
//   forward   realize to Dynamics, calcAccelerationIgnoringConstraints with the forces of gravity
//   inverse   realize to Velocity, calcResidualForceIgnoringConstraints with the forces of gravity
//   mass      realize to Position, calcM
// Compile without -DNDEBUG: the packaged library is built with checks on, and the headers must agree with it.
#include <Simbody.h>

#include <cstdio>
#include <memory>

#include "coordinates.h"
#include "peer.h"

namespace {

using namespace bench;
using SimTK::MobilizedBody;

struct State {
  Coordinates coordinates;
  SimTK::Vector q, u, udot, tau;
};

struct Simbody {
  const srModel* model = nullptr;
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  std::unique_ptr<SimTK::Force::Gravity> gravity;
  SimTK::State state;
  std::vector<SimTK::MobilizedBodyIndex> bodies;
  std::vector<Place> places;
  std::vector<State> states;
  SimTK::Vector no_forces, out;
  SimTK::Vector_<SimTK::SpatialVec> accelerations;
  SimTK::Matrix M;
};

SimTK::Transform transform(const Pose& p) {
  SimTK::Mat33 r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r(i, j) = p.rotation.at[i][j];
  return SimTK::Transform(SimTK::Rotation(r, true), SimTK::Vec3(p.origin[0], p.origin[1], p.origin[2]));
}

SimTK::MassProperties mass_properties(const srModel* model, int link) {
  const Inertia I = link_inertia(model, link);
  const auto& J = I.about_origin.at;
  return SimTK::MassProperties(I.mass, SimTK::Vec3(I.com[0], I.com[1], I.com[2]),
                               SimTK::Inertia(J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2]));
}

SimTK::MobilizedBodyIndex add_link(Simbody* s, int link) {
  const srModel* model = s->model;
  MobilizedBody& parent = s->matter.updMobilizedBody(s->bodies[model->link_parent[link]]);
  const SimTK::Body::Rigid body(mass_properties(model, link));
  const SimTK::Transform fixed = transform(link_tree(model, link)), none;
  const SimTK::Transform x_to_z(SimTK::Rotation(-SimTK::Pi / 2, SimTK::YAxis));  // a slider runs along x
  switch (model->link_type[link]) {
    case SR_LINK_REVOLUTE: return MobilizedBody::Pin(parent, fixed, body, none).getMobilizedBodyIndex();
    case SR_LINK_PRISMATIC: return MobilizedBody::Slider(parent, fixed * x_to_z, body, x_to_z).getMobilizedBodyIndex();
    case SR_LINK_HELICAL:
      return MobilizedBody::Screw(parent, fixed, body, none, model->link_pitch[link]).getMobilizedBodyIndex();
    case SR_LINK_BALL: return MobilizedBody::Ball(parent, fixed, body, none).getMobilizedBodyIndex();
    default: return MobilizedBody::Free(parent, fixed, body, none).getMobilizedBodyIndex();
  }
}

Place place_of(const Simbody* s, int link) {
  const MobilizedBody& body = s->matter.getMobilizedBody(s->bodies[link]);
  Place p;
  p.link = link;
  p.position = p.quaternion = body.getFirstQIndex(s->state);
  p.angular = body.getFirstUIndex(s->state);
  p.angular_in_parent = true;
  if (s->model->link_type[link] == SR_LINK_FREE) {  // quaternion, position; angular, linear, both in the fixed frame
    p.position = p.quaternion + 4;
    p.linear = p.angular + 3;
  }
  return p;
}

void destroy(void* self) { delete static_cast<Simbody*>(self); }

void* create(const srModel* model, int nstate, char* reason, size_t size) try {
  auto s = std::make_unique<Simbody>();
  s->model = model;
  s->gravity = std::make_unique<SimTK::Force::Gravity>(
      s->forces, s->matter, SimTK::Vec3(model->gravity[0], model->gravity[1], model->gravity[2]));
  s->bodies.push_back(s->matter.getGround().getMobilizedBodyIndex());
  for (int i = 1; i < model->nlink; i++) s->bodies.push_back(add_link(s.get(), i));
  s->state = s->system.realizeTopology();
  s->system.realizeModel(s->state);
  for (int i = 1; i < model->nlink; i++) s->places.push_back(place_of(s.get(), i));
  s->states.resize(nstate);
  s->no_forces.resize(model->nv);
  s->no_forces = 0;
  s->M.resize(model->nv, model->nv);
  return s.release();
} catch (const std::exception& e) {
  snprintf(reason, size, "%s", e.what());
  return nullptr;
}

bool offers(const void*, PeerCall) { return true; }

SimTK::Vector vector(const Numbers& x) { return SimTK::Vector(static_cast<int>(x.size()), x.data()); }

void set_state(void* self, int state, const double* q, const double* v, const double* a, const double* tau) {
  Simbody* s = static_cast<Simbody*>(self);
  State& x = s->states[state];
  x.coordinates.set(s->model, s->places, s->state.getNQ(), q, v);
  x.q = vector(x.coordinates.q());
  x.u = vector(x.coordinates.velocity(v));
  x.udot = vector(x.coordinates.acceleration(a));
  x.tau = vector(x.coordinates.force(tau));
}

void call(void* self, PeerCall what, int state) {
  if (what == PEER_EMPTY) return;
  Simbody* s = static_cast<Simbody*>(self);
  const State& x = s->states[state];
  s->state.updQ() = x.q;  // also invalidates what was computed for the state before
  if (what == PEER_FORWARD) {
    s->state.updU() = x.u;
    s->system.realize(s->state, SimTK::Stage::Dynamics);
    s->matter.calcAccelerationIgnoringConstraints(s->state, x.tau, s->gravity->getBodyForces(s->state), s->out,
                                                  s->accelerations);
  }
  if (what == PEER_INVERSE) {
    s->state.updU() = x.u;
    s->system.realize(s->state, SimTK::Stage::Velocity);
    s->matter.calcResidualForceIgnoringConstraints(s->state, s->no_forces, s->gravity->getBodyForces(s->state), x.udot,
                                                   s->out);
  }
  if (what == PEER_MASS) {
    s->system.realize(s->state, SimTK::Stage::Position);
    s->matter.calcM(s->state, s->M);
  }
}

void result(void* self, PeerCall what, int state, double* out) {
  Simbody* s = static_cast<Simbody*>(self);
  const Coordinates& c = s->states[state].coordinates;
  const int n = s->model->nv;
  Numbers x;
  if (what == PEER_MASS)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) x.push_back(s->M(i, j));
  else
    for (int i = 0; i < n; i++) x.push_back(s->out[i]);
  if (what == PEER_FORWARD) c.acceleration_back(x.data(), out);
  if (what == PEER_INVERSE) c.force_back(x.data(), out);
  if (what == PEER_MASS) c.mass_back(x.data(), out);
}

const char* version() {
  static char text[32];
  int major, minor, build;
  SimTK_version_simbody(&major, &minor, &build);
  snprintf(text, sizeof text, "%d.%d.%d", major, minor, build);
  return text;
}

}  // namespace

extern "C" const PeerKind peer_simbody = {"simbody", version, create, destroy, offers, set_state, call, result};
