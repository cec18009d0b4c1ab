// ODE: QuickStep with its default of 20 iterations, hard contacts with Coulomb friction (pyramid), hash space.
#include <ode/ode.h>

#include <cmath>
#include <vector>

#include "../balls.h"
#include "../common.h"

namespace {

struct World {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  double mu;
  bool last_tenth;
  BallsResult* result;
};

void near_callback(void* user, dGeomID a, dGeomID b) {
  World* w = static_cast<World*>(user);
  dContact contact[4];
  if (!dGeomGetBody(a) && !dGeomGetBody(b)) return;
  const int n = dCollide(a, b, 4, &contact[0].geom, sizeof(dContact));
  for (int i = 0; i < n; i++) {
    balls_depth(w->result, w->last_tenth, contact[i].geom.depth);
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = w->mu;
    dJointAttach(dJointCreateContact(w->world, w->contacts, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
  }
}

}  // namespace

bool balls_ode(const BallsScene* scene, double t_end, double dt, BallsResult* result) {
  *result = BallsResult{};
  dInitODE2(0);
  dRandSetSeed(0);  // the order of constraints: the same motion every time
  World w = {dWorldCreate(), dHashSpaceCreate(nullptr), dJointGroupCreate(0), scene->mu, false, result};
  dWorldSetGravity(w.world, 0, 0, -scene->gravity);
  const double width = scene->width, wall[5][4] = {
                                         {0, 0, 1, 0}, {1, 0, 0, 0}, {-1, 0, 0, -width}, {0, 1, 0, 0}, {0, -1, 0, -width}};
  for (const auto& p : wall) dCreatePlane(w.space, p[0], p[1], p[2], p[3]);
  std::vector<dBodyID> body;
  for (int i = 0; i < scene->n; i++) {
    dBodyID b = dBodyCreate(w.world);
    dMass mass;
    dMassSetSphereTotal(&mass, scene->mass, scene->radius);
    dBodySetMass(b, &mass);
    dBodySetPosition(b, scene->centre[3 * i], scene->centre[3 * i + 1], scene->centre[3 * i + 2]);
    dGeomSetBody(dCreateSphere(w.space, scene->radius), b);
    body.push_back(b);
  }
  const double start = bench_cpu_seconds();
  const long steps = std::lround(t_end / dt);
  for (long k = 0; k < steps; k++) {
    w.last_tenth = k >= steps - steps / 10;
    dSpaceCollide(w.space, &w, near_callback);
    dWorldQuickStep(w.world, dt);
    dJointGroupEmpty(w.contacts);
  }
  result->seconds = bench_cpu_seconds() - start;
  result->steps = steps;
  for (dBodyID b : body) {
    const dReal *x = dBodyGetPosition(b), *v = dBodyGetLinearVel(b);
    result->speed += std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / scene->n;
    result->lost += balls_outside(scene, x);
  }
  dJointGroupDestroy(w.contacts);
  dSpaceDestroy(w.space);
  dWorldDestroy(w.world);
  dCloseODE();
  return true;
}
