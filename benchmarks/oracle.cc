// Sarrus compared with every other engine of this build: mass matrix, bias forces and accelerations of the arms, of the
// humanoid and of random trees, at random states. Two engines agree when the largest difference is below 1e-9 of the
// largest number. Exit status: 0 all agree, 1 some do not.
//
//   bench-oracle MODEL.xml ...
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common.h"
#include "peers/peer.h"

namespace {

constexpr int kStates = 20;
constexpr double kTolerance = 1e-9;

using Numbers = std::vector<double>;

struct States {
  std::vector<Numbers> q, v, a, tau;
};

States random_states(const srModel* m, uint64_t seed) {
  States s;
  for (int i = 0; i < kStates; i++) {
    Numbers q(m->nq + 1), v(m->nv + 1), a(m->nv + 1), tau(m->nv + 1);
    bench_random_state(m, &seed, q.data(), v.data(), a.data(), tau.data());
    s.q.push_back(q);
    s.v.push_back(v);
    s.a.push_back(Numbers(m->nv + 1, 0.0));  // inverse dynamics without acceleration: the bias
    s.tau.push_back(tau);
  }
  return s;
}

// What a peer gives for one call, at all states. Empty when it does not offer the call.
std::vector<Numbers> results(const PeerKind* kind, void* peer, const srModel* m, PeerCall call) {
  std::vector<Numbers> all;
  if (!kind->offers(peer, call)) return all;
  for (int i = 0; i < kStates; i++) {
    Numbers out(call == PEER_MASS ? m->nv * m->nv : m->nv);
    peer_compute(kind, peer, call, i, out.data());
    all.push_back(out);
  }
  return all;
}

// Largest difference over all states, each relative to the largest number of that state.
double difference(const std::vector<Numbers>& x, const std::vector<Numbers>& y) {
  double worst = 0;
  for (size_t i = 0; i < x.size(); i++) {
    double most = 0, off = 0;
    for (size_t k = 0; k < x[i].size(); k++) {
      most = std::fmax(most, std::fabs(x[i][k]));
      const double d = std::fabs(x[i][k] - y[i][k]);
      off = d > off || std::isnan(d) ? (std::isnan(d) ? HUGE_VAL : d) : off;
    }
    worst = std::fmax(worst, most > 0 ? off / most : off);
  }
  return worst;
}

struct Loaded {
  const PeerKind* kind;
  void* peer;
  std::vector<Numbers> mass, bias, acceleration;
};

Loaded load(const PeerKind* kind, void* peer, const srModel* m, const States& s) {
  for (int i = 0; i < kStates; i++)
    kind->set_state(peer, i, s.q[i].data(), s.v[i].data(), s.a[i].data(), s.tau[i].data());
  return {kind, peer, results(kind, peer, m, PEER_MASS), results(kind, peer, m, PEER_INVERSE),
          results(kind, peer, m, PEER_FORWARD)};
}

bool print_difference(const std::vector<Numbers>& x, const std::vector<Numbers>& y) {
  if (y.empty()) {
    printf(" %12s", "-");
    return true;
  }
  const double d = difference(x, y);
  printf(" %12.1e", d);
  return d <= kTolerance;
}

// Compares every peer with the first one that has the model. Returns how many disagree.
int compare(const char* name, const srModel* m, int* compared) {
  const States states = random_states(m, 1);
  std::vector<Loaded> peers;
  int bad = 0;
  for (int k = 0; k < peer_kind_count; k++) {
    char reason[512] = "";
    void* peer = peer_kinds[k]->create(m, kStates, reason, sizeof reason);
    if (!peer) {
      printf("%-22s %4d %-10s not compared: %s\n", name, m->nv, peer_kinds[k]->name, reason);
      bad += k == 0;
      continue;
    }
    peers.push_back(load(peer_kinds[k], peer, m, states));
    if (peers.size() == 1) continue;
    const Loaded &one = peers.front(), &other = peers.back();
    printf("%-22s %4d %-10s", name, m->nv, other.kind->name);
    bool ok = print_difference(one.mass, other.mass);
    ok &= print_difference(one.bias, other.bias);
    ok &= print_difference(one.acceleration, other.acceleration);
    printf("%s\n", ok ? "" : "  DISAGREES");
    bad += !ok;
    ++*compared;
  }
  for (const Loaded& p : peers) p.kind->destroy(p.peer);
  return bad;
}

srAttr numbers(const Numbers& x) { return sr_numbers(x.data(), static_cast<int>(x.size())); }

Numbers random_numbers(uint64_t* seed, int n, double low, double high) {
  Numbers x;
  for (int i = 0; i < n; i++) x.push_back(bench_random(seed, low, high));
  return x;
}

// Body number i of a random tree: a full inertia, offsets and tilted axes, nothing zero.
void add_random_body(srSpec* spec, int i, const char* type, const std::string& parent, uint64_t* seed) {
  const std::string name = "b" + std::to_string(i);
  srBodyDef body = {};
  body.name = sr_text(name.c_str());
  if (!parent.empty()) body.parent = sr_text(parent.c_str());
  const int owner = srs_add_body(spec, SR_NO_OWNER, &body);

  srJointDef joint = {};
  const Numbers at = random_numbers(seed, 3, -0.5, 0.5), axis = random_numbers(seed, 3, 0.2, 1),
                across = random_numbers(seed, 3, 0.2, 1), rpy = random_numbers(seed, 3, -3, 3);
  const Numbers axis2 = {-across[0], across[1], -across[2]};
  joint.type = sr_text(type);
  joint.at = numbers(at);
  joint.rpy = numbers(rpy);
  if (std::strcmp(type, "ball") != 0 && std::strcmp(type, "free") != 0) joint.axis = numbers(axis);
  if (std::strcmp(type, "universal") == 0) joint.axis2 = numbers(axis2);
  if (std::strcmp(type, "helical") == 0) joint.pitch = sr_number(0.1);
  srs_add_joint(spec, owner, &joint);

  srInertialDef inertial = {};
  const Numbers com = random_numbers(seed, 3, -0.3, 0.3), turn = random_numbers(seed, 3, -3, 3);
  const double x = bench_random(seed, 0.02, 0.1), y = bench_random(seed, 0.02, 0.1), z = bench_random(seed, 0.02, 0.1);
  const Numbers inertia = {y + z, x + z, x + y};  // of a distribution of mass: the triangle inequality holds
  inertial.mass = sr_number(bench_random(seed, 0.5, 3));
  inertial.com = numbers(com);
  inertial.inertia = numbers(inertia);
  inertial.rpy = numbers(turn);
  srs_add_inertial(spec, owner, &inertial);
}

// root: type of the first joint; types: those of the others, in turn.
srModel* random_tree(const char* root, const std::vector<const char*>& types, int n, uint64_t seed) {
  srSpec* spec = srs_create();
  srModelDef model = {};
  model.version = sr_text("1");
  srs_add_model(spec, SR_NO_OWNER, &model);
  srOptionDef option = {};
  const Numbers gravity = {1.5, -2.5, -9};
  option.gravity = numbers(gravity);
  srs_add_option(spec, SR_NO_OWNER, &option);
  add_random_body(spec, 0, root, "", &seed);
  for (int i = 1; i < n; i++) {
    const int parent = static_cast<int>(bench_random(&seed, std::fmax(0, i - 4), i));  // branches, but deep
    add_random_body(spec, i, types[(i - 1) % types.size()], "b" + std::to_string(parent), &seed);
  }
  return bench_compile(spec);
}

int compare_and_destroy(const char* name, srModel* m, int* compared) {
  if (!m) return 1;
  const int bad = compare(name, m, compared);
  sr_model_destroy(m);
  return bad;
}

}  // namespace

int main(int argc, char** argv) {
  int bad = 0, compared = 0;
  printf("largest difference from %s, relative; tolerance %.0e, %d states\n", peer_kinds[0]->name, kTolerance, kStates);
  printf("%-22s %4s %-10s %12s %12s %12s\n", "model", "dof", "engine", "mass matrix", "bias", "acceleration");
  for (int i = 1; i < argc; i++) {
    const char* slash = std::strrchr(argv[i], '/');
    bad +=
        compare_and_destroy(slash ? slash + 1 : argv[i], bench_load(argv[i], nullptr, 0, nullptr, nullptr), &compared);
  }
  bad += compare_and_destroy("fixed tree", random_tree("revolute", {"prismatic", "revolute", "revolute"}, 12, 2),
                             &compared);
  bad += compare_and_destroy("floating tree", random_tree("free", {"revolute", "prismatic", "ball", "revolute"}, 20, 3),
                             &compared);
  bad += compare_and_destroy("tree of all joints",
                             random_tree("free", {"helical", "cylindrical", "universal", "planar", "ball"}, 12, 4),
                             &compared);
  printf("%d comparisons, %d disagree\n", compared, bad);
  return bad ? 1 : 0;
}
