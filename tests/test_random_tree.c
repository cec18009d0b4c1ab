// The generator of random models, and that it covers what it promises.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/joint.h"
#include "random_tree.h"
#include "runner.h"

static uint64_t random_bits(Random* r) {  // splitmix64 (Steele, Lea, Flood 2014)
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double random_in(Random* r, double low, double high) {
  return low + (high - low) * ((double)(random_bits(r) >> 11) * 0x1p-53);
}

int random_below(Random* r, int n) { return (int)(random_bits(r) % (uint64_t)n); }

static srAttr random3(Random* r, double size, double* store) {
  for (int i = 0; i < 3; i++) store[i] = random_in(r, -size, size);
  return sr_numbers(store, 3);
}

// Second moments of a cloud of points: every inertia that a body can have comes from one.
static srAttr random_inertia(Random* r, double store[6]) {
  double second[3][3] = {{0}};
  for (int point = 0; point < 4; point++) {
    const double p[3] = {random_in(r, -0.3, 0.3), random_in(r, -0.3, 0.3), random_in(r, -0.3, 0.3)};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) second[i][j] += p[i] * p[j];
  }
  const double trace = second[0][0] + second[1][1] + second[2][2];
  for (int i = 0; i < 3; i++) store[i] = trace - second[i][i];
  store[3] = -second[0][1];
  store[4] = -second[0][2];
  store[5] = -second[1][2];
  return sr_numbers(store, 6);
}

static void add_inertial(Random* r, srSpec* spec, int body) {
  double com[3], rpy[3], inertia[6];
  srs_add_inertial(spec, body,
                   &(srInertialDef){.mass = sr_number(random_in(r, 0.2, 2)),
                                    .com = random3(r, 0.4, com),
                                    .inertia = random_inertia(r, inertia),
                                    .rpy = random3(r, 1, rpy)});
}

static void add_joint(Random* r, srSpec* spec, int body, srJointType type, const RandomTree* options) {
  double axis[3], axis2[3], at[3], rpy[3];
  srJointDef joint = {.type = sr_text(sr_joint_word(type)),
                      .axis = random3(r, 1, axis),
                      .at = random3(r, 0.6, at),
                      .rpy = random3(r, 2, rpy)};
  const char* uses = sr_joint_kind(type)->uses ? sr_joint_kind(type)->uses : "";
  if (strstr(uses, "|axis2|")) {
    joint.axis2 = random3(r, 1, axis2);
    axis2[0] += axis[1], axis2[1] -= axis[0];  // away from the first axis
  }
  if (strstr(uses, "|pitch|")) joint.pitch = sr_number(random_in(r, -0.5, 0.5));
  const bool coordinates = type != SR_JOINT_WELD;
  if (options->armature && coordinates && random_below(r, 2)) joint.armature = sr_number(random_in(r, 0.01, 1));
  srs_add_joint(spec, body, &joint);
  const bool scalar = coordinates && type != SR_JOINT_BALL && type != SR_JOINT_FREE;
  if (options->drivers && scalar && random_below(r, 3) == 0) {
    char name[24];
    snprintf(name, sizeof name, "b%d", body + 1);
    srs_add_driver(spec, SR_NO_OWNER, &(srDriverDef){.joint = sr_text(name), .motion = sr_text("0.3*sin(2*t)")});
  }
}

srSpec* random_tree_spec(Random* r, const RandomTree* options) {
  srSpec* spec = srs_create();
  bool massless_parent = false;
  for (int i = 0; i < options->nbody; i++) {
    char name[24], parent[24] = "ground";
    snprintf(name, sizeof name, "b%d", i + 1);
    const int above = massless_parent ? i : random_below(r, i + 1);  // 0 the ground
    if (above > 0 || (options->free_root && i > 0)) snprintf(parent, sizeof parent, "b%d", above > 0 ? above : 1);
    const int body = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text(name), .parent = sr_text(parent)});

    // A body without mass has one coordinate or none, and a child that it feels.
    const bool massless = !options->no_massless && i > 0 && i + 1 < options->nbody && !massless_parent &&  //
                          random_below(r, 8) == 0;
    srJointType type = (srJointType)random_below(r, SR_JOINT_TYPES);
    if (massless || massless_parent) type = random_below(r, 3) ? SR_JOINT_REVOLUTE : SR_JOINT_WELD;
    if (options->free_root && i == 0) type = SR_JOINT_FREE;
    add_joint(r, spec, body, type, options);
    if (!massless) add_inertial(r, spec, body);
    double at[3], rpy[3];
    srs_add_point(spec, body,
                  &(srPointDef){.name = sr_text("p"), .at = random3(r, 0.5, at), .rpy = random3(r, 2, rpy)});
    massless_parent = massless;
  }
  double gravity[3];
  srs_add_option(spec, SR_NO_OWNER, &(srOptionDef){.gravity = random3(r, 10, gravity)});
  return spec;
}

srModel* random_tree(Random* r, const RandomTree* options) {
  srSpec* spec = random_tree_spec(r, options);
  srMessages* messages = sr_messages_create();
  srModel* model = NULL;
  if (sr_compile(spec, messages, &model) != SR_OK) {
    for (int i = 0; i < sr_messages_count(messages); i++)
      fprintf(stderr, "random tree: %s\n", sr_messages_get(messages, i)->text);
  }
  sr_messages_destroy(messages);
  srs_destroy(spec);
  ENSURE(model != NULL);
  return model;
}

void random_state(Random* r, const srModel* m, srData* d) {
  for (int i = 0; i < m->nq; i++) d->q[i] = random_in(r, -1.5, 1.5);
  for (int i = 1; i < m->nlink; i++) {
    const int type = m->link_type[i];
    if (type == SR_LINK_REVOLUTE || type == SR_LINK_HELICAL) d->q[m->link_q[i]] = random_in(r, -4, 4);
  }
  for (int i = 0; i < m->nv; i++) {
    d->v[i] = random_in(r, -2, 2);
    d->a[i] = random_in(r, -3, 3);
    d->tau[i] = random_in(r, -5, 5);
  }
  for (int i = 0; i < 3 * m->ndriver; i++) d->motion[i] = random_in(r, -3, 3);
  d->stage = SR_STAGE_NONE;
}

TEST(a_few_random_trees_show_every_joint_type_massless_bodies_and_welds) {
  Random r = {1};
  int seen[SR_JOINT_TYPES] = {0}, massless = 0;
  for (int k = 0; k < 20; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 30});
    ENSURE_EQUAL(m->nbody, 30);
    for (int j = 0; j < m->njoint; j++) seen[m->joint_type[j]]++;
    for (int b = 1; b <= m->nbody; b++) massless += m->body_mass[b] == 0;
    sr_model_destroy(m);
  }
  for (int type = 0; type < SR_JOINT_TYPES; type++) ENSURE(seen[type] > 0);
  ENSURE(massless > 0);
}
