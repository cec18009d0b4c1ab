// KDL: fixed base, revolute and prismatic joints, written as kdl_parser writes them (axis and origin in the parent's
// frame). Chains have all calls; trees have inverse dynamics alone.
//
//   forward   ChainFdSolver_RNE (composite rigid bodies and a dense solve)
//   inverse   ChainIdSolver_RNE, TreeIdSolver_RNE
//   mass      ChainDynParam::JntToMass
#include <cstdio>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/tree.hpp>
#include <kdl/treeidsolver_recursive_newton_euler.hpp>
#include <memory>
#include <string>

#include "coordinates.h"
#include "peer.h"

namespace {

using namespace bench;

struct State {
  KDL::JntArray q, v, a, tau;
};

struct Kdl {
  const srModel* model = nullptr;
  bool is_chain = true;
  KDL::Chain chain;
  KDL::Tree tree{"ground"};
  std::unique_ptr<KDL::ChainFdSolver_RNE> chain_forward;
  std::unique_ptr<KDL::ChainIdSolver_RNE> chain_inverse;
  std::unique_ptr<KDL::ChainDynParam> chain_mass;
  std::unique_ptr<KDL::TreeIdSolver_RNE> tree_inverse;
  KDL::Wrenches no_wrenches;
  KDL::WrenchMap no_wrench_map;
  std::vector<int> order;  // of KDL's coordinates: velocity index of the model
  std::vector<State> states;
  KDL::JntArray out;
  KDL::JntSpaceInertiaMatrix M;
};

std::string segment_name(int link) { return link == 0 ? "ground" : "L" + std::to_string(link); }

KDL::Segment segment(const srModel* model, int link) {
  const Pose x = link_tree(model, link);
  const auto& r = x.rotation.at;
  const KDL::Vector origin(x.origin[0], x.origin[1], x.origin[2]), axis(r[0][2], r[1][2], r[2][2]);
  const KDL::Frame tip(KDL::Rotation(r[0][0], r[0][1], r[0][2], r[1][0], r[1][1], r[1][2], r[2][0], r[2][1], r[2][2]),
                       origin);
  const auto type = model->link_type[link] == SR_LINK_REVOLUTE ? KDL::Joint::RotAxis : KDL::Joint::TransAxis;
  const Inertia I = link_inertia(model, link);
  const auto& J = I.about_com.at;
  const KDL::RigidBodyInertia inertia(I.mass, KDL::Vector(I.com[0], I.com[1], I.com[2]),
                                      KDL::RotationalInertia(J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2]));
  return KDL::Segment(segment_name(link), KDL::Joint(segment_name(link), origin, axis, type), tip, inertia);
}

bool supported(const srModel* model, char* reason, size_t size) {
  for (int i = 1; i < model->nlink; i++) {
    const int type = model->link_type[i];
    if (type != SR_LINK_REVOLUTE && type != SR_LINK_PRISMATIC) {
      snprintf(reason, size, "KDL has no %s joint", link_word(type));
      return false;
    }
  }
  return true;
}

void build_chain(Kdl* s, const KDL::Vector& gravity) {
  for (int i = 1; i < s->model->nlink; i++) {
    s->chain.addSegment(segment(s->model, i));
    s->order.push_back(s->model->link_v[i]);
  }
  s->chain_forward = std::make_unique<KDL::ChainFdSolver_RNE>(s->chain, gravity);
  s->chain_inverse = std::make_unique<KDL::ChainIdSolver_RNE>(s->chain, gravity);
  s->chain_mass = std::make_unique<KDL::ChainDynParam>(s->chain, gravity);
  s->no_wrenches.assign(s->chain.getNrOfSegments(), KDL::Wrench::Zero());
}

void build_tree(Kdl* s, const KDL::Vector& gravity) {
  s->order.resize(s->model->nv);
  for (int i = 1; i < s->model->nlink; i++) {
    s->tree.addSegment(segment(s->model, i), segment_name(s->model->link_parent[i]));
    s->order[s->tree.getSegment(segment_name(i))->second.q_nr] = s->model->link_v[i];
  }
  s->tree_inverse = std::make_unique<KDL::TreeIdSolver_RNE>(s->tree, gravity);
}

void destroy(void* self) { delete static_cast<Kdl*>(self); }

void* create(const srModel* model, int nstate, char* reason, size_t size) {
  if (!supported(model, reason, size)) return nullptr;
  auto s = std::make_unique<Kdl>();
  s->model = model;
  for (int i = 1; i < model->nlink; i++) s->is_chain = s->is_chain && model->link_parent[i] == i - 1;
  const KDL::Vector gravity(model->gravity[0], model->gravity[1], model->gravity[2]);
  if (s->is_chain)
    build_chain(s.get(), gravity);
  else
    build_tree(s.get(), gravity);
  s->states.resize(nstate);
  s->out.resize(model->nv);
  s->M.resize(model->nv);
  return s.release();
}

bool offers(const void* self, PeerCall call) {
  return static_cast<const Kdl*>(self)->is_chain || call == PEER_INVERSE || call == PEER_EMPTY;
}

KDL::JntArray array(const Kdl* s, const double* x, const int* map) {
  KDL::JntArray y(s->model->nv);
  for (int i = 0; i < s->model->nv; i++) y(i) = x[map ? map[s->order[i]] : s->order[i]];
  return y;
}

void set_state(void* self, int state, const double* q, const double* v, const double* a, const double* tau) {
  Kdl* s = static_cast<Kdl*>(self);
  std::vector<int> q_of_v(s->model->nv);
  for (int i = 1; i < s->model->nlink; i++) q_of_v[s->model->link_v[i]] = s->model->link_q[i];
  s->states[state] = {array(s, q, q_of_v.data()), array(s, v, nullptr), array(s, a, nullptr), array(s, tau, nullptr)};
}

void call(void* self, PeerCall what, int state) {
  if (what == PEER_EMPTY) return;
  Kdl* s = static_cast<Kdl*>(self);
  State& x = s->states[state];
  if (what == PEER_FORWARD) s->chain_forward->CartToJnt(x.q, x.v, x.tau, s->no_wrenches, s->out);
  if (what == PEER_MASS) s->chain_mass->JntToMass(x.q, s->M);
  if (what == PEER_INVERSE && s->is_chain) s->chain_inverse->CartToJnt(x.q, x.v, x.a, s->no_wrenches, s->out);
  if (what == PEER_INVERSE && !s->is_chain) s->tree_inverse->CartToJnt(x.q, x.v, x.a, s->no_wrench_map, s->out);
}

void result(void* self, PeerCall what, int, double* out) {
  Kdl* s = static_cast<Kdl*>(self);
  const int n = s->model->nv;
  for (int i = 0; i < n; i++) {
    if (what != PEER_MASS) out[s->order[i]] = s->out(i);
    if (what == PEER_MASS)
      for (int j = 0; j < n; j++) out[s->order[i] * n + s->order[j]] = s->M(i, j);
  }
}

const char* version() { return KDL_VERSION_STRING; }

}  // namespace

extern "C" const PeerKind peer_kdl = {"kdl", version, create, destroy, offers, set_state, call, result};
