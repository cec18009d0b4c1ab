// Bullet: its discrete world with sequential impulses, 10 iterations, restitution 0.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <memory>
#include <vector>

#include "../balls.h"
#include "../common.h"

namespace {

using Shape = std::unique_ptr<btCollisionShape>;
using Body = std::unique_ptr<btRigidBody>;

Body make_body(btCollisionShape* shape, double mass, const btVector3& at, double mu) {
  btVector3 inertia(0, 0, 0);
  if (mass > 0) shape->calculateLocalInertia(mass, inertia);
  btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
  info.m_startWorldTransform.setIdentity();
  info.m_startWorldTransform.setOrigin(at);
  info.m_friction = std::sqrt(mu);  // of two bodies Bullet takes the product
  auto body = std::make_unique<btRigidBody>(info);
  body->setActivationState(DISABLE_DEACTIVATION);
  return body;
}

void find_depth(btDispatcher& dispatcher, bool last_tenth, BallsResult* result) {
  for (int i = 0; i < dispatcher.getNumManifolds(); i++) {
    const btPersistentManifold* m = dispatcher.getManifoldByIndexInternal(i);
    for (int k = 0; k < m->getNumContacts(); k++) balls_depth(result, last_tenth, -m->getContactPoint(k).getDistance());
  }
}

}  // namespace

bool balls_bullet(const BallsScene* scene, double t_end, double dt, BallsResult* result) {
  *result = BallsResult{};
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad, &solver, &configuration);
  world.setGravity(btVector3(0, 0, -scene->gravity));
  std::vector<Shape> shapes;
  std::vector<Body> bodies;
  const double width = scene->width, wall[5][4] = {
                                         {0, 0, 1, 0}, {1, 0, 0, 0}, {-1, 0, 0, -width}, {0, 1, 0, 0}, {0, -1, 0, -width}};
  for (const auto& p : wall) {
    shapes.push_back(std::make_unique<btStaticPlaneShape>(btVector3(p[0], p[1], p[2]), p[3]));
    bodies.push_back(make_body(shapes.back().get(), 0, btVector3(0, 0, 0), scene->mu));
  }
  shapes.push_back(std::make_unique<btSphereShape>(scene->radius));
  for (int i = 0; i < scene->n; i++) {
    const double* x = scene->centre + 3 * i;
    bodies.push_back(make_body(shapes.back().get(), scene->mass, btVector3(x[0], x[1], x[2]), scene->mu));
  }
  for (const Body& body : bodies) world.addRigidBody(body.get());
  const double start = bench_cpu_seconds();
  const long steps = std::lround(t_end / dt);
  for (long k = 0; k < steps; k++) {
    world.stepSimulation(dt, 0);
    find_depth(dispatcher, k >= steps - steps / 10, result);
  }
  result->seconds = bench_cpu_seconds() - start;
  result->steps = steps;
  for (size_t i = 5; i < bodies.size(); i++) {
    const btVector3 &x = bodies[i]->getWorldTransform().getOrigin(), &v = bodies[i]->getLinearVelocity();
    const double at[3] = {x[0], x[1], x[2]};
    result->speed += v.length() / scene->n;
    result->lost += balls_outside(scene, at);
  }
  for (const Body& body : bodies) world.removeRigidBody(body.get());
  return true;
}
