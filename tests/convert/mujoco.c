// MuJoCo reads what `sarrus convert` has written: mass matrix and bias at random states are compared with those of Sarrus.
//   mujoco FOLDER FORMAT TOLERANCE MODEL...    files are written to FOLDER; status 1 where a difference is larger
// MuJoCo finds the principal axes of an inertia by iteration, so that with products of
// inertia 1e-10 is what can be expected, without them rounding.
// A free joint of MuJoCo has the velocity in the ground's axes first, then the angular velocity in the body's: that of Sarrus is the
// other way round, in the body's axes:  v' = T v,  M = T^T M' T,  c = T^T (c' + M' T. v).
#include <math.h>
#include <mujoco/mujoco.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long seed = 1;
static double number(double size) {  // -size ... size
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  return size * (2 * ((double)(seed >> 11) * 0x1p-53) - 1);
}

typedef struct Both {
  srModel* m;
  srData* d;
  mjModel* mm;
  mjData* md;
  double *T, *drift;  // nv x nv; T. v
} Both;

static void die(const char* what, const char* reason) {
  printf("%s: %s\n", what, reason);
  exit(1);
}

static void open_both(Both* b, const char* path, const char* format, const char* folder) {
  char file[1024], error[1000] = "";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srConversion* c = NULL;
  snprintf(file, sizeof file, "%s/mujoco-in.%s", folder, format);
  if (sr_load(path, NULL, messages, &spec) != SR_OK || sr_compile(spec, messages, &b->m) != SR_OK ||
      sr_save_as(spec, format, file, messages, &c) != SR_OK)
    die(path, "is not converted");
  b->d = sr_data_create(b->m);
  b->mm = mj_loadXML(file, NULL, error, sizeof error);
  if (!b->mm) die(path, error);
  b->md = mj_makeData(b->mm);
  if (b->mm->nv != b->m->nv) die(path, "another number of velocities");
  b->T = calloc((size_t)(b->m->nv * b->m->nv), sizeof *b->T);
  b->drift = calloc((size_t)b->m->nv, sizeof *b->drift);
  sr_conversion_destroy(c);
  sr_messages_destroy(messages);
  srs_destroy(spec);
}

static void close_both(Both* b) {
  sr_data_destroy(b->d);
  sr_model_destroy(b->m);
  mj_deleteData(b->md);
  mj_deleteModel(b->mm);
  free(b->T);
  free(b->drift);
}

static void free_state(Both* b, int j, int qa, int va) {
  const srModel* m = b->m;
  const int iq = m->joint_q[j], iv = m->joint_v[j], nv = m->nv;
  double* q = b->d->q + iq;
  const double* v = b->d->v + iv;
  double R[9], cross[3] = {v[1] * v[5] - v[2] * v[4], v[2] * v[3] - v[0] * v[5], v[0] * v[4] - v[1] * v[3]};
  mju_copy(b->md->qpos + qa, q, 7);
  mju_quat2Mat(R, q + 3);
  for (int i = 0; i < 3; i++) {
    b->T[(va + 3 + i) * nv + iv + i] = 1;
    for (int k = 0; k < 3; k++) b->T[(va + i) * nv + iv + 3 + k] = R[3 * i + k];
    b->drift[va + i] = R[3 * i] * cross[0] + R[3 * i + 1] * cross[1] + R[3 * i + 2] * cross[2];
  }
}

static void set_state(Both* b) {
  const srModel* m = b->m;
  const int nv = m->nv;
  mju_zero(b->T, nv * nv);
  mju_zero(b->drift, nv);
  for (int i = 0; i < m->nq; i++) b->d->q[i] = number(1.5);
  for (int i = 0; i < nv; i++) b->d->v[i] = number(2);
  sr_normalize(m, b->d->q);
  for (int j = 0; j < m->njoint; j++) {
    if (m->joint_nv[j] == 0) continue;
    const int parts = m->joint_type[j] == SR_JOINT_BALL || m->joint_type[j] == SR_JOINT_FREE ? 1 : m->joint_nv[j];
    for (int k = 0; k < parts; k++) {
      const char* name = parts == 1 ? m->joint_name[j] : m->v_name[m->joint_v[j] + k];
      const int joint = mj_name2id(b->mm, mjOBJ_JOINT, name);
      if (joint < 0) die(name, "is no joint of MuJoCo");
      const int qa = b->mm->jnt_qposadr[joint], va = b->mm->jnt_dofadr[joint];
      if (m->joint_type[j] == SR_JOINT_FREE) {
        free_state(b, j, qa, va);
        continue;
      }
      const int ball = m->joint_type[j] == SR_JOINT_BALL;
      mju_copy(b->md->qpos + qa, b->d->q + m->joint_q[j] + k, ball ? 4 : 1);
      for (int i = 0; i < (ball ? 3 : 1); i++) b->T[(va + i) * nv + m->joint_v[j] + k + i] = 1;
    }
  }
  mju_mulMatVec(b->md->qvel, b->T, b->d->v, nv, nv);
}

// Largest difference, relative.
static double compare(Both* b, int armature) {
  const int nv = b->m->nv;
  double* x = calloc((size_t)(4 * nv * nv + 4 * nv), sizeof *x);
  double *M = x, *full = M + nv * nv, *half = full + nv * nv, *theirs = half + nv * nv;
  double *c = theirs + nv * nv, *bias = c + nv, *back = bias + nv, *zero = back + nv;
  set_state(b);
  sr_crba(b->m, b->d, b->d->q, M);
  for (int i = 0; i < nv && armature; i++) M[i * nv + i] += b->m->dof_armature[i];
  sr_rnea(b->m, b->d, b->d->q, b->d->v, zero, c);
  mj_forward(b->mm, b->md);
  mj_fullM(b->mm, full, b->md->qM);
  mju_mulMatMat(half, full, b->T, nv, nv, nv);
  mju_mulMatTMat(theirs, b->T, half, nv, nv, nv);
  mju_mulMatVec(bias, full, b->drift, nv, nv);
  mju_addTo(bias, b->md->qfrc_bias, nv);
  mju_mulMatTVec(back, b->T, bias, nv, nv);
  double most = 0, large = 1, force = 1;
  for (int i = 0; i < nv * nv; i++) large = fmax(large, fabs(M[i]));
  for (int i = 0; i < nv; i++) force = fmax(force, fabs(c[i]));
  for (int i = 0; i < nv * nv; i++) most = fmax(most, fabs(M[i] - theirs[i]) / large);
  for (int i = 0; i < nv; i++) most = fmax(most, fabs(c[i] - back[i]) / force);
  free(x);
  return most;
}

int main(int argc, char** argv) {
  double most = 0;
  const char* format = argc > 2 ? argv[2] : "";
  const int mjcf = strcmp(format, "mjcf") == 0;
  const double tolerance = argc > 3 ? atof(argv[3]) : 0;
  for (int i = 4; i < argc; i++) {
    Both b = {0};
    open_both(&b, argv[i], format, argv[1]);
    if (!mjcf) mju_copy3(b.mm->opt.gravity, b.m->gravity);  // URDF has no gravity, and no armature for MuJoCo
    for (int k = 0; k < 5; k++) {
      const double x = compare(&b, mjcf);
      if (!(x <= tolerance)) printf("%s as %s: %g\n", argv[i], format, x);
      most = x <= most ? most : x;
    }
    close_both(&b);
  }
  printf("%d models as %s to %.2g\n", argc - 4, format, most);
  return argc < 5 || !(most <= tolerance);
}
