// MuJoCo on mechanisms with loops: a hinge for every link, equality `connect` for every closure. These are soft: the
// acceleration of a row is that of a damped spring of time constant `solref`, here twice the step, which is the stiffest
// that MuJoCo allows, with the largest impedance (0.9999). Without other constraints the problem of a step is quadratic:
// one iteration of Newton's method solves it.
#include <mujoco/mujoco.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../common.h"
#include "coordinates.h"
#include "loop.h"

namespace {

using namespace bench;

std::string print(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

void body_text(const LoopMechanism* x, int link, std::string& text) {
  const srModel* m = x->m;
  const Pose pose = link_tree(m, link);
  const Inertia I = link_inertia(m, link);
  double quat[4], axes[4], J[3];
  quaternion_of(pose.rotation, quat);
  quaternion_of(principal_axes(I.about_com, J), axes);
  for (double& j : J) j = std::fmax(j, 1e-6 * (J[0] + J[1] + J[2]));  // a thin rod about its axis, which never turns
  text += print("<body name='L%d' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>\n", link, pose.origin[0],
                pose.origin[1], pose.origin[2], quat[0], quat[1], quat[2], quat[3]);
  text += print("<joint name='L%d' type='hinge' axis='0 0 1'/>\n", link);
  text += print(
      "<inertial mass='%.17g' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' "
      "diaginertia='%.17g %.17g %.17g'/>\n",
      I.mass, I.com[0], I.com[1], I.com[2], axes[0], axes[1], axes[2], axes[3], J[0], J[1], J[2]);
  for (int i = 0; i < x->nspring; i++)
    for (int point : {x->spring[i].a, x->spring[i].b}) {
      const double* at = m->point_pose + 16 * point + 12;
      if (m->point_link[point] == link)
        text += print("<site name='P%d' pos='%.17g %.17g %.17g'/>\n", point, at[0], at[1], at[2]);
    }
  for (int i = link + 1; i < m->nlink; i++)
    if (m->link_parent[i] == link) body_text(x, i, text);
  text += "</body>\n";
}

std::string mjcf(const LoopMechanism* x, double dt) {
  const srModel* m = x->m;
  std::string text = "<mujoco><compiler angle='radian' inertiafromgeom='false' boundmass='0' boundinertia='0'/>\n";
  text += print("<option gravity='%.17g %.17g %.17g' timestep='%.17g' integrator='RK4' solver='Newton' ", m->gravity[0],
                m->gravity[1], m->gravity[2], dt);
  text += "iterations='1'/>\n<size nstack='4000000'/>\n<worldbody>\n";
  for (int i = 0; i < x->nspring; i++)
    for (int point : {x->spring[i].a, x->spring[i].b}) {
      const double* at = m->point_pose + 16 * point + 12;
      if (m->point_link[point] == 0)
        text += print("<site name='P%d' pos='%.17g %.17g %.17g'/>\n", point, at[0], at[1], at[2]);
    }
  for (int i = 1; i < m->nlink; i++)
    if (m->link_parent[i] == 0) body_text(x, i, text);
  text += "</worldbody>\n<tendon>\n";
  for (int i = 0; i < x->nspring; i++)
    text += print("<spatial stiffness='%.17g' springlength='%.17g'><site site='P%d'/><site site='P%d'/></spatial>\n",
                  x->spring[i].stiffness, x->spring[i].length, x->spring[i].a, x->spring[i].b);
  text += "</tendon>\n<equality>\n";
  for (int i = 0; i < m->nclosure; i++) {
    const int *point = m->closure[i].point, a = m->point_link[point[0]], b = m->point_link[point[1]];
    text += print("<connect body1='L%d' body2='L%d' anchor='0 0 0' solref='%.17g 1' solimp='0.9999 0.9999 1'/>\n", a, b,
                  2 * dt);
  }
  return text + "</equality></mujoco>\n";
}

mjModel* load(const std::string& text, char* reason, size_t size) {
  char path[] = "/tmp/sarrus-bench-XXXXXX.xml";
  const int file = mkstemps(path, 4);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    snprintf(reason, size, "cannot write %s", path);
    return nullptr;
  }
  close(file);
  mjModel* model = mj_loadXML(path, nullptr, reason, static_cast<int>(size));
  unlink(path);
  return model;
}

// Both anchors: MuJoCo would compute the second from the position where all angles are 0, in which loops may be open.
void put_anchors(mjModel* model, const srModel* m) {
  for (int i = 0; i < m->nclosure; i++)
    for (int side = 0; side < 2; side++)
      memcpy(model->eq_data + mjNEQDATA * i + 3 * side, m->point_pose + 16 * m->closure[i].point[side] + 12,
             3 * sizeof(double));
}

bool run(const LoopMethod*, const LoopMechanism* x, double dt, LoopResult* out) {
  const srModel* m = x->m;
  mjModel* model = load(mjcf(x, dt), out->reason, sizeof out->reason);
  mjData* d = model ? mj_makeData(model) : nullptr;
  if (!d) return false;
  put_anchors(model, m);
  std::vector<int> at(m->nlink);
  for (int i = 1; i < m->nlink; i++) {
    at[i] = model->jnt_qposadr[mj_name2id(model, mjOBJ_JOINT, print("L%d", i).c_str())];
    d->qpos[at[i]] = m->q0[m->link_q[i]];
    d->qvel[at[i]] = m->v0[m->link_v[i]];
  }
  for (int i = 0; i < x->nmotor; i++) d->qfrc_applied[at[m->dof_link[x->motor[i].dof]]] = x->motor[i].torque;
  out->steps = std::lround(x->t_end / dt);
  const double start = bench_cpu_seconds();
  for (long i = 0; i < out->steps; i++) mj_step(model, d);
  out->seconds = bench_cpu_seconds() - start;
  for (int i = 1; i < m->nlink; i++) {
    out->q[m->link_q[i]] = d->qpos[at[i]];
    out->v[m->link_v[i]] = d->qvel[at[i]];
  }
  bool good = true;
  for (int w = 0; w < mjNWARNING; w++)
    if (d->warning[w].number > 0) {
      snprintf(out->reason, sizeof out->reason, "%s", mju_warningText(w, d->warning[w].lastinfo));
      good = false;
    }
  mj_deleteData(d);
  mj_deleteModel(model);
  return good;
}

}  // namespace

extern "C" const LoopMethod loop_mujoco_rk4 = {"mujoco", "rk4", "step", run};
