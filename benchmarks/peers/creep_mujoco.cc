// MuJoCo on a body that friction holds: spheres of a free body on planes, or between a plane and the face of a box that
// slides (MuJoCo's planes cannot move). Its contacts are soft also along the surface: there they are dampers without a
// spring, so every load moves them, by design. How slowly is a matter of settings.
#include <mujoco/mujoco.h>
#include <unistd.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "../common.h"
#include "../creep.h"
#include "coordinates.h"

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

Pose point_pose(const srModel* m, int point) {
  const double* x = m->point_pose + 16 * point;
  Pose p;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) p.rotation.at[i][j] = x[4 * j + i];
    p.origin[i] = x[12 + i];
  }
  return p;
}

std::string place(const Pose& p) {
  double quat[4];
  quaternion_of(p.rotation, quat);
  return print("pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'", p.origin[0], p.origin[1], p.origin[2], quat[0],
               quat[1], quat[2], quat[3]);
}

std::string geom(const srSurfaceLaws* contact, int side, bool moves, Pose p) {
  const double thick = 0.05;  // m, half of it
  std::string shape = "type='plane' size='1 1 1'";
  if (std::isfinite(contact->radius[side])) {
    shape = print("type='sphere' size='%.17g'", contact->radius[side]);
  } else if (moves) {  // the plane is the face of the box on its positive side
    for (int k = 0; k < 3; k++) p.origin[k] -= thick * p.rotation.at[k][2];
    shape = print("type='box' size='10 10 %.17g'", thick);
  }
  return "<geom " + shape + " " + place(p) + print(" friction='%.17g 0 0'/>\n", contact->slip.k);
}

// The shapes of a link. One that several contacts share is written once.
std::string geoms(const srModel* m, int link) {
  std::string text;
  for (int i = 0; i < m->nforce; i++)
    for (int side = 0; m->force[i].contact && side < 2; side++) {
      const int point = m->force[i].point[side];
      if (m->point_link[point] != link) continue;
      const std::string one = geom(m->force[i].contact, side, link > 0, point_pose(m, point));
      if (text.find(one) == std::string::npos) text += one;
    }
  return text;
}

std::string body_text(const srModel* m, int link) {
  const Inertia I = link_inertia(m, link);
  double axes[4], J[3];
  quaternion_of(principal_axes(I.about_com, J), axes);
  for (double& j : J) j = std::fmax(j, 1e-6);  // of the pad, which never turns
  std::string text = print("<body name='L%d' ", link) + place(link_tree(m, link)) + ">\n";
  if (m->link_type[link] == SR_LINK_FREE)
    text += "<freejoint/>\n";
  else
    text += "<joint type='slide' axis='0 0 1'/>\n";
  text += print(
      "<inertial mass='%.17g' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' "
      "diaginertia='%.17g %.17g %.17g'/>\n",
      I.mass, I.com[0], I.com[1], I.com[2], axes[0], axes[1], axes[2], axes[3], J[0], J[1], J[2]);
  return text + geoms(m, link) + "</body>\n";
}

std::string mjcf(const CreepMujoco* s, const CreepScene* scene) {
  const srModel* m = scene->m;
  const double dt = CREEP_PERIOD / s->steps;
  std::string text = "<mujoco><compiler angle='radian' inertiafromgeom='false' boundmass='0' boundinertia='0'/>\n";
  text += print("<option gravity='%.17g %.17g %.17g' timestep='%.17g' cone='%s' ", m->gravity[0], m->gravity[1],
                m->gravity[2], dt, s->elliptic ? "elliptic" : "pyramidal");
  if (s->impratio > 0) text += print("impratio='%.17g' ", s->impratio);
  if (s->noslip > 0) text += print("noslip_iterations='%d' noslip_tolerance='0' ", s->noslip);
  text += "/>\n<default><geom condim='3' ";
  if (s->solref > 0) text += print("solref='%.17g 1' ", s->solref * dt);
  if (s->solimp > 0) text += print("solimp='%.17g %.17g 0.001' ", s->solimp, s->solimp);
  text += "/></default>\n<worldbody>\n" + geoms(m, 0);
  for (int i = 1; i < m->nlink; i++) text += body_text(m, i);
  return text + "</worldbody></mujoco>\n";
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

int body_of(const mjModel* model, int link) { return mj_name2id(model, mjOBJ_BODY, print("L%d", link).c_str()); }

void start(const mjModel* model, mjData* d, const srModel* m) {
  for (int i = 1; i < m->nlink; i++) {
    const int joint = model->body_jntadr[body_of(model, i)];
    memcpy(d->qpos + model->jnt_qposadr[joint], m->q0 + m->link_q[i],
           (m->link_type[i] == SR_LINK_FREE ? 7 : 1) * sizeof(double));
  }
}

void put_load(const CreepScene* scene, double along, mjtNum* wrench) {  // force, then moment about the body's centre
  for (int k = 0; k < 3; k++) wrench[k] = along * scene->down[k];
  mju_cross(wrench + 3, scene->lever, wrench);
}

// The load of a step is that at its middle: so the mean over a step is right to the second order.
void simulate(const mjModel* model, mjData* d, const CreepMujoco* s, const CreepScene* scene, int periods,
              CreepResult* out) {
  const int body = body_of(model, scene->body);
  const double omega = 2 * mjPI / s->steps;
  if (scene->pad) d->qfrc_applied[model->body_dofadr[body_of(model, scene->pad)]] = -scene->normal_force;
  for (int k = 1; k <= periods; k++) {
    for (int i = 0; i < s->steps; i++) {
      put_load(scene, scene->load * std::sin(omega * (i + 0.5)), d->xfrc_applied + 6 * body);
      mj_step(model, d);
    }
    const mjtNum* q = d->qpos + model->jnt_qposadr[model->body_jntadr[body]];
    creep_sample(out, k, mju_dot3(q, scene->down));
  }
  out->steps = static_cast<long>(periods) * s->steps;
}

}  // namespace

extern "C" bool creep_mujoco(const CreepMujoco* setting, const CreepScene* scene, int periods, CreepResult* out) {
  mjModel* model = load(mjcf(setting, scene), out->reason, sizeof out->reason);
  mjData* d = model ? mj_makeData(model) : nullptr;
  if (!d) return false;
  start(model, d, scene->m);
  const double begin = bench_cpu_seconds();
  simulate(model, d, setting, scene, periods, out);
  out->seconds = bench_cpu_seconds() - begin;
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
