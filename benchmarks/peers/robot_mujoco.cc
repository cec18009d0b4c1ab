// MuJoCo on its own file: the integrator, solver and contact parameters that the file has, or its defaults; the step alone is set.
#include <mujoco/mujoco.h>

#include <cmath>
#include <cstdio>

#include "../common.h"
#include "../robots.h"

bool robot_mujoco(const char* path, double t_end, double dt, RobotResult* result, char reason[256]) {
  *result = RobotResult{};
  mjModel* m = mj_loadXML(path, nullptr, reason, 256);
  if (!m) return false;
  mjData* d = mj_makeData(m);
  m->opt.timestep = dt;
  const long steps = std::lround(t_end / dt), last = steps - steps / 4;
  double from[2] = {0, 0};
  const double start = bench_cpu_seconds();
  for (long k = 0; k < steps; k++) {
    if (k == last) from[0] = d->qpos[0], from[1] = d->qpos[1];
    mj_step(m, d);
    for (int i = 0; i < d->ncon; i++) {
      const double depth = -d->contact[i].dist;
      if (depth > result->deepest) result->deepest = depth;
      if (k >= last && depth > result->resting) result->resting = depth;
    }
  }
  result->seconds = bench_cpu_seconds() - start;
  result->drift = std::hypot(d->qpos[0] - from[0], d->qpos[1] - from[1]);
  mj_deleteData(d);
  mj_deleteModel(m);
  return true;
}
