// MuJoCo. The model is written as MJCF text: one body for every link with mass, each with the joints of the massless links
// before it (MuJoCo refuses moving bodies without mass). No geometry, contact, damping or armature.
//
//   forward   kinematics, comPos, crb, factorM, comVel, rne, solveM      (mj_forward without what this model lacks)
//   inverse   kinematics, comPos, comVel, rne with accelerations
//   mass      kinematics, comPos, crb, fullM
#include <mujoco/mujoco.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "coordinates.h"
#include "peer.h"

namespace {

using namespace bench;

struct State {
  Coordinates coordinates;
  Numbers v, a, tau;
};

struct MuJoCo {
  const srModel* model = nullptr;
  mjModel* m = nullptr;
  mjData* d = nullptr;
  std::vector<Place> places;
  std::vector<State> states;
  Numbers out, rhs;
};

std::string print(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

// Joint of one link, in the frame of the body that ends its run of links; x: pose of that frame in the link's at q = 0.
std::string joint_text(const srModel* model, int link, const Pose& x) {
  if (model->link_type[link] == SR_LINK_FREE) return print("<freejoint name='L%d'/>\n", link);
  const char* type = model->link_type[link] == SR_LINK_REVOLUTE    ? "hinge"
                     : model->link_type[link] == SR_LINK_PRISMATIC ? "slide"
                                                                   : "ball";
  const Matrix3 back = transpose(x.rotation);
  double at[3];
  times(back, x.origin, at);
  return print("<joint name='L%d' type='%s' pos='%.17g %.17g %.17g' axis='%.17g %.17g %.17g'/>\n", link, type, -at[0],
               -at[1], -at[2], back.at[0][2], back.at[1][2], back.at[2][2]);
}

// Principal axes are given, not the full tensor: MuJoCo's own diagonalisation costs up to 1e-8.
std::string inertial_text(const srModel* model, int link) {
  const Inertia I = link_inertia(model, link);
  double J[3], quat[4];
  quaternion_of(principal_axes(I.about_com, J), quat);
  return print(
      "<inertial mass='%.17g' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' "
      "diaginertia='%.17g %.17g %.17g'/>\n",
      I.mass, I.com[0], I.com[1], I.com[2], quat[0], quat[1], quat[2], quat[3], J[0], J[1], J[2]);
}

int only_child(const srModel* model, int link) {  // -1: none or several
  int child = -1;
  for (int i = link + 1; i < model->nlink; i++)
    if (model->link_parent[i] == link) {
      if (child >= 0) return -1;
      child = i;
    }
  return child;
}

void body_text(const srModel* model, int first, std::string& text) {
  std::vector<int> run = {first};  // massless links, then the one that ends the run
  while (is_massless(model, run.back()) && only_child(model, run.back()) >= 0)
    run.push_back(only_child(model, run.back()));
  std::string joints;
  Pose x;  // of the last frame in the frame of the link at hand
  for (size_t i = run.size(); i-- > 0;) {
    joints = joint_text(model, run[i], x) + joints;
    x = product(link_tree(model, run[i]), x);
  }
  double quat[4];
  quaternion_of(x.rotation, quat);
  text += print("<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>\n", x.origin[0], x.origin[1],
                x.origin[2], quat[0], quat[1], quat[2], quat[3]);
  text += joints + inertial_text(model, run.back());
  for (int i = run.back() + 1; i < model->nlink; i++)
    if (model->link_parent[i] == run.back()) body_text(model, i, text);
  text += "</body>\n";
}

bool supported(const srModel* model, char* reason, size_t size) {
  for (int i = 1; i < model->nlink; i++) {
    const int type = model->link_type[i];
    if (type == SR_LINK_HELICAL || (type == SR_LINK_FREE && model->link_parent[i] != 0)) {
      snprintf(reason, size, "MuJoCo has no %s joint here", link_word(type));
      return false;
    }
  }
  return true;
}

mjModel* load(const std::string& text, char* reason, size_t size) {
  char path[] = "/tmp/sarrus-bench-XXXXXX.xml";
  const int file = mkstemps(path, 4);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    snprintf(reason, size, "cannot write %s", path);
    return nullptr;
  }
  close(file);
  mjModel* m = mj_loadXML(path, nullptr, reason, static_cast<int>(size));
  unlink(path);
  return m;
}

void destroy(void* self) {
  MuJoCo* s = static_cast<MuJoCo*>(self);
  if (s->d) mj_deleteData(s->d);
  if (s->m) mj_deleteModel(s->m);
  delete s;
}

Place place_of(const mjModel* m, const srModel* model, int link) {
  const int joint = mj_name2id(m, mjOBJ_JOINT, print("L%d", link).c_str());
  const int q = m->jnt_qposadr[joint], v = m->jnt_dofadr[joint];
  Place p;
  p.link = link;
  p.position = q;
  p.quaternion = q;
  p.angular = v;
  if (model->link_type[link] == SR_LINK_FREE) {  // position, quaternion; linear in world axes, angular in body axes
    p.quaternion = q + 3;
    p.linear = v;
    p.angular = v + 3;
    p.base = link_tree(model, link);
  }
  return p;
}

void* create(const srModel* model, int nstate, char* reason, size_t size) {
  if (!supported(model, reason, size)) return nullptr;
  std::string text = "<mujoco><compiler angle='radian' inertiafromgeom='false'/>\n";
  text += print("<option gravity='%.17g %.17g %.17g'/>\n<worldbody>\n", model->gravity[0], model->gravity[1],
                model->gravity[2]);
  for (int i = 1; i < model->nlink; i++)
    if (model->link_parent[i] == 0) body_text(model, i, text);
  text += "</worldbody></mujoco>\n";
  MuJoCo* s = new MuJoCo;
  s->model = model;
  s->m = load(text, reason, size);
  if (s->m) s->d = mj_makeData(s->m);
  if (!s->d || s->m->nv != model->nv) {
    destroy(s);
    return nullptr;
  }
  for (int i = 1; i < model->nlink; i++) s->places.push_back(place_of(s->m, model, i));
  s->states.resize(nstate);
  s->out.resize(model->nv * model->nv + 1);
  s->rhs.resize(model->nv);
  return s;
}

bool offers(const void*, PeerCall) { return true; }

void set_state(void* self, int state, const double* q, const double* v, const double* a, const double* tau) {
  MuJoCo* s = static_cast<MuJoCo*>(self);
  State& x = s->states[state];
  x.coordinates.set(s->model, s->places, s->m->nq, q, v);
  x.v = x.coordinates.velocity(v);
  x.a = x.coordinates.acceleration(a);
  x.tau = x.coordinates.force(tau);
}

void forward(MuJoCo* s, const State& x) {
  const mjModel* m = s->m;
  mjData* d = s->d;
  std::memcpy(d->qvel, x.v.data(), m->nv * sizeof(double));
  mj_kinematics(m, d);
  mj_comPos(m, d);
  mj_crb(m, d);
  mj_factorM(m, d);
  mj_comVel(m, d);
  mj_rne(m, d, 0, d->qfrc_bias);
  for (int i = 0; i < m->nv; i++) s->rhs[i] = x.tau[i] - d->qfrc_bias[i];
  mj_solveM(m, d, s->out.data(), s->rhs.data(), 1);
}

void inverse(MuJoCo* s, const State& x) {
  const mjModel* m = s->m;
  mjData* d = s->d;
  std::memcpy(d->qvel, x.v.data(), m->nv * sizeof(double));
  std::memcpy(d->qacc, x.a.data(), m->nv * sizeof(double));
  mj_kinematics(m, d);
  mj_comPos(m, d);
  mj_comVel(m, d);
  mj_rne(m, d, 1, s->out.data());
}

void mass(MuJoCo* s) {
  mj_kinematics(s->m, s->d);
  mj_comPos(s->m, s->d);
  mj_crb(s->m, s->d);
  mj_fullM(s->m, s->out.data(), s->d->qM);
}

void call(void* self, PeerCall what, int state) {
  if (what == PEER_EMPTY) return;
  MuJoCo* s = static_cast<MuJoCo*>(self);
  const State& x = s->states[state];
  std::memcpy(s->d->qpos, x.coordinates.q().data(), s->m->nq * sizeof(double));
  if (what == PEER_FORWARD) forward(s, x);
  if (what == PEER_INVERSE) inverse(s, x);
  if (what == PEER_MASS) mass(s);
}

void result(void* self, PeerCall what, int state, double* out) {
  MuJoCo* s = static_cast<MuJoCo*>(self);
  const Coordinates& c = s->states[state].coordinates;
  if (what == PEER_FORWARD) c.acceleration_back(s->out.data(), out);
  if (what == PEER_INVERSE) c.force_back(s->out.data(), out);
  if (what == PEER_MASS) c.mass_back(s->out.data(), out);
}

const char* version() { return mj_versionString(); }

}  // namespace

extern "C" const PeerKind peer_mujoco = {"mujoco", version, create, destroy, offers, set_state, call, result};
