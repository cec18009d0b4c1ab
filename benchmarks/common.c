#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void print_messages(const srMessages* messages) {
  for (int i = 0; i < sr_messages_count(messages); i++) {
    char line[1024];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    fprintf(stderr, "%s\n", line);
  }
}

srModel* bench_load(const char* path, const srSetting* settings, int nsetting, double* load_s, double* compile_s) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* model = NULL;
  double t0 = bench_seconds();
  srStatus status = sr_load(path, &(srLoadOptions){.settings = settings, .nsetting = nsetting}, messages, &spec);
  double t1 = bench_seconds();
  if (status == SR_OK) status = sr_compile(spec, messages, &model);
  double t2 = bench_seconds();
  if (status != SR_OK) print_messages(messages);
  if (load_s) *load_s = t1 - t0;
  if (compile_s) *compile_s = t2 - t1;
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return model;
}

srModel* bench_compile(srSpec* spec) {
  srMessages* messages = sr_messages_create();
  srModel* model = NULL;
  if (sr_compile(spec, messages, &model) != SR_OK) print_messages(messages);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return model;
}

// A phalanx on `parent`, and its coupling with the gripper of the hand.
static void add_phalanx(srSpec* spec, const char* name, const char* parent, int hand, double x, bool tied) {
  const bool first = strncmp(parent, "hand", 4) == 0;
  const double axis[3] = {1, 0, 0}, at[3] = {x, 0.01, first ? -0.11 : -0.04}, com[3] = {0, 0.002, -0.02};
  const double inertia[3] = {9e-6, 9e-6, 3e-6};
  char gripper[16];
  snprintf(gripper, sizeof gripper, "gripper%d", hand);
  const int body = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text(name), .parent = sr_text(parent)});
  srs_add_joint(spec, body,
                &(srJointDef){.type = sr_text("revolute"),
                              .axis = sr_numbers(axis, 3),
                              .at = sr_numbers(at, 3),
                              .armature = sr_number(0.002)});
  srs_add_inertial(
      spec, body,
      &(srInertialDef){.mass = sr_number(0.05), .com = sr_numbers(com, 3), .inertia = sr_numbers(inertia, 3)});
  if (!tied) return;
  srs_add_coupling(spec, SR_NO_OWNER,
                   &(srCouplingDef){.joint = sr_text(name), .to = sr_text(gripper), .ratio = sr_number(0.8)});
}

void bench_add_fingers(srSpec* spec, bool tied) {
  for (int i = 0; i < 12; i++) {
    const int hand = i / 6, finger = i / 3;
    char name[16], parent[16];
    snprintf(name, sizeof name, "phalanx%d", i);
    snprintf(parent, sizeof parent, i % 3 == 0 ? "hand%d" : "phalanx%d", i % 3 == 0 ? hand : i - 1);
    add_phalanx(spec, name, parent, hand, i % 3 == 0 ? 0.02 * (finger - 1.5) : 0, tied);
  }
}

double bench_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_random(uint64_t* seed, double low, double high) {
  // splitmix64: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators
  uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return low + (high - low) * (double)(z >> 11) * 0x1p-53;
}

static void random_quaternion(uint64_t* seed, double* q) {
  double n;
  do {
    n = 0;
    for (int k = 0; k < 4; k++) {
      q[k] = bench_random(seed, -1, 1);
      n += q[k] * q[k];
    }
  } while (n < 0.01 || n > 1);
  for (int k = 0; k < 4; k++) q[k] /= sqrt(n);
}

void bench_random_state(const srModel* m, uint64_t* seed, double* q, double* v, double* a, double* tau) {
  const double pi = 3.14159265358979323846;
  for (int i = 1; i < m->nlink; i++) {
    double* at = q + m->link_q[i];
    switch (m->link_type[i]) {
      case SR_LINK_REVOLUTE:
      case SR_LINK_HELICAL: at[0] = bench_random(seed, -pi, pi); break;
      case SR_LINK_PRISMATIC: at[0] = bench_random(seed, -1, 1); break;
      case SR_LINK_BALL: random_quaternion(seed, at); break;
      case SR_LINK_FREE:
        for (int k = 0; k < 3; k++) at[k] = bench_random(seed, -1, 1);
        random_quaternion(seed, at + 3);
        break;
      default: break;
    }
  }
  for (int i = 0; i < m->nv; i++) {
    v[i] = bench_random(seed, -2, 2);
    a[i] = bench_random(seed, -5, 5);
    tau[i] = bench_random(seed, -10, 10);
  }
}

BenchArguments bench_arguments(int argc, char** argv) {
  BenchArguments a = {.note = ""};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0) {
      a.quick = true;
    } else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc) {
      a.csv = argv[++i];
    } else if (strcmp(argv[i], "--note") == 0 && i + 1 < argc) {
      a.note = argv[++i];
    } else if (a.npath < (int)(sizeof a.path / sizeof a.path[0])) {
      a.path[a.npath++] = argv[i];
    }
  }
  return a;
}
