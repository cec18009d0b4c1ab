// Contacts at rest: forces by statics, stuck friction as a stiffness, what slides or tips.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "messages.h"

static char said[2000];
static const double g = 9.81;

static srStatus balance(Loaded* x, srRest** rest) {
  srMessages* messages = sr_messages_create();
  srEquilibrium* e = NULL;
  *rest = NULL;
  srStatus status = sr_assemble(x->m, x->d, messages, NULL);
  if (status == SR_OK) status = sr_equilibrium_create(x->m, x->d, NULL, messages, &e);
  if (status == SR_OK) status = sr_rest_create(x->m, x->d, rest);
  sr_equilibrium_destroy(e);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

static srModes* modes_of(Loaded* x, srLinear** linear) {
  srMessages* messages = sr_messages_create();
  srModes* modes = NULL;
  ENSURE_EQUAL(sr_linearize(x->m, x->d, messages, linear), SR_OK);
  ENSURE_EQUAL(sr_modes_create(*linear, messages, &modes), SR_OK);
  sr_messages_destroy(messages);
  return modes;
}

static double away(const srModes* m, double complex lambda) {
  double best = (double)INFINITY;
  for (int i = 0; i < m->n; i++) best = fmin(best, cabs(m->mode[i].re + m->mode[i].im * (double complex)I - lambda));
  return best;
}

// ---- by statics -----------------------------------------------------------------------------------------------------------

static void check_tower(const char* text) {
  Loaded x = text ? open_text(text) : open_model("contact/tower-of-boxes", "n=4 lean=0.3");
  srRest* rest;
  ENSURE_EQUAL(balance(&x, &rest), SR_OK);
  int seen = 0;
  for (int i = 0; i < rest->n; i++) {
    const srRestContact* c = &rest->contact[i];
    if (c->status == SR_REST_OPEN) continue;
    const int upper = c->b[3] - '0';  // boxK/box
    ENSURE_NEAR(hypot(c->normal_force, c->friction_force), (4 - upper) * g, 1e-10);
    ENSURE(c->status == SR_REST_STICKS && c->unique && c->gap < 0);
    seen |= 1 << upper;
  }
  ENSURE_EQUAL(seen, 15);
  ENSURE_EQUAL(rest->closed, 4);
  ENSURE_EQUAL(rest->indeterminate, 0);
  sr_rest_destroy(rest);
  close_model(&x);
}

// Each box carries those above it: the resultant of a contact is their weight, however it leans.
TEST(rest_of_a_tower_has_the_weights_above) { check_tower(NULL); }

// The same as a contact set, whose pairs are made where boxes come near. It begins above the floor, with gaps.
TEST(rest_of_a_contact_set_makes_its_pairs) {
  check_tower(
      "<sarrus version='1'><ground><shape name='floor' type='plane' group='all'/></ground><repeat count='4' index='i'>"
      "<body name='box{i}'><joint name='box{i}' type='free' q='0.015*i 0 0.1*(i + 0.5) + 1e-4*(i + 1) 1 0 0 0'/>"
      "<inertial mass='1' inertia='2.7e-3 4.2e-3 5.2e-3'/><shape name='box' type='box' size='0.2 0.15 0.1' "
      "group='all'/></body></repeat>"
      "<contact a='all' b='all' most='40' normal='kelvin-voigt' K='1e5' D='300' mu-k='0.6' bristle-K='1e5' "
      "bristle-B='300'/></sarrus>");
}

static const char* slope_text(double angle, const char* friction) {
  static char text[900];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='%.17g 0 %.17g'/><ground><shape name='slope' type='plane'/></ground>"
           "<body name='box'><joint name='box' type='free' q='0 0 0.05 1 0 0 0'/><inertial mass='2' "
           "inertia='1e-2 1e-2 1e-2'/><shape name='box' type='box' size='0.4 0.3 0.1'/></body>"
           "<contact a='slope' b='box' normal='kelvin-voigt' K='1e5' D='100' %s/></sarrus>",
           g * sin(angle), -g * cos(angle), friction);
  return text;
}

// mu = 0.5 holds below 26.6 degrees.
TEST(rest_on_a_slope_has_the_friction_that_holds) {
  static const double angle[] = {0.1, 0.3, 0.45};
  for (int i = 0; i < 3; i++) {
    Loaded x = open_text(slope_text(angle[i], "mu-k='0.5' bristle-K='1e5' bristle-B='100'"));
    srRest* rest;
    ENSURE_EQUAL(balance(&x, &rest), SR_OK);
    ENSURE_EQUAL(rest->n, 1);
    ENSURE_NEAR(rest->contact[0].normal_force, 2 * g * cos(angle[i]), 1e-9);
    ENSURE_NEAR(rest->contact[0].friction_force, 2 * g * sin(angle[i]), 1e-9);
    ENSURE_EQUAL(rest->contact[0].status, SR_REST_STICKS);
    sr_rest_destroy(rest);
    close_model(&x);
  }
}

TEST(rest_on_a_slope_beyond_the_friction_angle_is_refused) {
  Loaded x = open_text(slope_text(0.5, "mu-k='0.5' bristle-K='1e5' bristle-B='100'"));
  srRest* rest;
  ENSURE_EQUAL(balance(&x, &rest), SR_FAILED);
  ENSURE(strstr(said, "no equilibrium was found") != NULL && strstr(said, "'ground/slope'") != NULL);
  ENSURE(strstr(said, "friction") != NULL);
  close_model(&x);
}

// ---- stuck friction as a stiffness ----------------------------------------------------------------------------------------

// A block on the floor whose bristles (K, Z = B + tau K) hold it, and a second mass on a spring k of the first: the two eigenvalues of
//   (m1 s^2 + Z s + K + k)(m2 s^2 + k) = k^2
TEST(modes_of_a_block_whose_friction_sticks) {
  const double m1 = 2, m2 = 0.5, K = 4e4, k = 900, Z = 3 + 1e-4 * K;
  Loaded x = open_text(
      "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><body name='slide'><joint name='x' "
      "type='prismatic' axis='1 0 0'/></body><body name='block' parent='slide'><joint name='z' type='prismatic' "
      "axis='0 0 "
      "1' q='0.1'/><inertial mass='2'/><shape name='ball' type='sphere' size='0.1'/></body><body name='rider' "
      "parent='block'><joint name='r' type='prismatic' axis='1 0 0' stiffness='900'/><inertial mass='0.5'/></body>"
      "<contact a='floor' b='ball' normal='kelvin-voigt' K='1e5' D='50' mu-k='0.4' bristle-K='4e4' "
      "bristle-B='3'/></sarrus>");
  srRest* rest;
  srLinear* l;
  ENSURE_EQUAL(balance(&x, &rest), SR_OK);
  ENSURE_NEAR(rest->contact[0].normal_force, 2.5 * g, 1e-10);
  srModes* m = modes_of(&x, &l);
  ENSURE_EQUAL(m->zeros, 0);
  ENSURE(l->K != NULL && l->nstate == 0);
  ENSURE_EQUAL(sr_modes_stability(m), SR_STABLE);
  int along = 0;
  for (int i = 0; i < m->n; i++) {
    const double complex s = m->mode[i].re + m->mode[i].im * (double complex)I;
    const double complex r = (m1 * s * s + Z * s + K + k) * (m2 * s * s + k) - k * k;
    if (cabs(r) <= 1e-9 * K * (k + m2 * cabs(s * s))) along++;
  }
  ENSURE_EQUAL(along, 4);
  const double c = 50 / (2 * 2.5);  // up and down: normal law alone
  ENSURE_SMALL(away(m, -c + sqrt(1e5 / 2.5 - c * c) * (double complex)I), 1e-8);
  sr_modes_destroy(m);
  sr_linear_destroy(l);
  sr_rest_destroy(rest);
  close_model(&x);
}

// Friction of a joint: its bristles hold a pendulum aside. s^2 J + s Z + K + m g l cos(q) = 0.
TEST(modes_of_a_joint_whose_friction_sticks) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 -9.81 0'/><body name='rod'><joint name='rod' type='revolute' q='0.3'/>"
      "<inertial mass='2' com='0 -0.5 0'/></body><friction joint='rod' law='kikuuwe' F='6' K='800' B='0.4'/></sarrus>");
  srRest* rest;
  srLinear* l;
  ENSURE_EQUAL(balance(&x, &rest), SR_OK);
  ENSURE_NEAR(x.d->y[0] * 800, -2 * g * 0.5 * sin(x.d->q[0]), 1e-10);
  ENSURE_NEAR(x.d->q[0] - 0.3, x.d->y[0], 1e-12);  // the bristle follows the joint from the start
  srModes* m = modes_of(&x, &l);
  const double J = 0.5, c = (0.4 + 1e-4 * 800) / (2 * J), K = 800 + 2 * g * 0.5 * cos(x.d->q[0]);
  ENSURE_EQUAL(m->n, 2);
  ENSURE_SMALL(away(m, -c + sqrt(K / J - c * c) * (double complex)I), 1e-9);
  sr_modes_destroy(m);
  sr_linear_destroy(l);
  sr_rest_destroy(rest);
  close_model(&x);
}

// ---- parked hexapod -------------------------------------------------------------------------------------------------------

// A small rotation in the axes of the torso, which is nearly upright, in those of the ground.
static void turn_torso(const double* q, const double* xi, double* out) {
  const double* p = q + 4;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = xi[i] + 2 * q[3] * (p[j] * xi[k] - p[k] * xi[j]);
  }
}

// Generalized force on the torso at a displacement xi and a velocity v of it, with bristles that follow the feet:  e += foot + turn x (0, 0, -R).
static void torso_force(Loaded* x, const double* q, const double* y, const double* xi, const double* v, double* out) {
  srFrameMotion foot;
  const srModel* m = x->m;
  double* all = calloc((size_t)m->nv + (size_t)m->nq + (size_t)m->ny + 8, sizeof *all);
  double *dxi = all, *moved = all + m->nv, *e = moved + m->nq, at[6][3];
  for (int side = 0; side < 2; side++) {
    if (side) memcpy(dxi, xi, 6 * sizeof *dxi);
    sr_retract(m, q, dxi, moved);
    memcpy(e, y, (size_t)m->ny * sizeof *e);
    memset(x->d->v, 0, (size_t)m->nv * sizeof *x->d->v);
    for (int i = 0; i < 6; i++) x->d->v[i] = side ? v[i] : 0;
    for (int k = 0; k < 6; k++) {
      char name[40];
      snprintf(name, sizeof name, "foot%d", k + 1);
      int body = 0;
      while (strcmp(m->body_name[body], name) != 0) body++;
      memcpy(x->d->q, moved, (size_t)m->nq * sizeof *moved);
      ENSURE_EQUAL(sr_evaluate(m, x->d, x->d->t, moved, x->d->v, e, SR_STAGE_VELOCITY), 0);
      sr_frame_motion(m, x->d, m->force[k].point[1], 0, &foot);
      if (!side) {
        memcpy(at[k], foot.position, sizeof at[k]);
      } else {
        double turn[3];
        turn_torso(q, xi, turn);
        e[m->force[k].y] += foot.position[0] - at[k][0] - turn[1] * 0.02;
        e[m->force[k].y + 1] += foot.position[1] - at[k][1] + turn[0] * 0.02;
      }
    }
  }
  ENSURE_EQUAL(sr_evaluate(m, x->d, x->d->t, moved, x->d->v, e, SR_STAGE_FORCE), 0);
  double* rnea = calloc((size_t)m->nv, sizeof *rnea);
  double* zero = calloc((size_t)m->nv, sizeof *zero);
  sr_rnea(m, x->d, x->d->q, x->d->v, zero, rnea);
  for (int i = 0; i < 6; i++) out[i] = x->d->f[i] - rnea[i];
  free(zero);
  free(rnea);
  free(all);
}

static void difference_matrix(Loaded* x, const double* q, const double* y, bool by_v, double* out) {
  for (int j = 0; j < 6; j++) {
    double plus[6], minus[6], xi[6] = {0}, v[6] = {0}, *change = by_v ? v : xi;
    const double h = 1e-7;
    change[j] = h;
    torso_force(x, q, y, xi, v, plus);
    change[j] = -h;
    torso_force(x, q, y, xi, v, minus);
    for (int i = 0; i < 6; i++) out[6 * i + j] = (minus[i] - plus[i]) / (2 * h);
  }
}

// Six feet: more than three forces need, and their compliance decides. Modes by its M, C, K, and these by differences of forces.
TEST(rest_and_modes_of_the_parked_hexapod) {
  Loaded x = open_model("paper1/hexapod", "walk=0 friction=1");
  srRest* rest;
  srLinear* l;
  double sum = 0, C[36], K[36], M[36], most = 0;
  ENSURE_EQUAL(balance(&x, &rest), SR_OK);
  ENSURE_EQUAL(rest->closed, 6);
  for (int i = 0; i < rest->n; i++) {
    ENSURE(rest->contact[i].status == SR_REST_STICKS && rest->contact[i].normal_force > 9);
    sum += rest->contact[i].normal_force;
  }
  ENSURE_NEAR(sum, (4 + 6 * 0.39) * g, 1e-8);
  srModes* m = modes_of(&x, &l);
  ENSURE(l->npos == 6 && l->nvel == 6 && l->nstate == 0 && l->K != NULL);
  ENSURE_EQUAL(sr_modes_stability(m), SR_STABLE);
  double* q = malloc((size_t)(x.m->nq + x.m->ny) * sizeof *q);
  double* y = q + x.m->nq;
  double* all = malloc((size_t)(x.m->nv * x.m->nv) * sizeof *all);
  memcpy(q, x.d->q, (size_t)x.m->nq * sizeof *q);
  memcpy(y, x.d->y, (size_t)x.m->ny * sizeof *y);
  sr_crba(x.m, x.d, q, all);
  for (int i = 0; i < 36; i++) M[i] = all[(i / 6) * x.m->nv + i % 6];
  difference_matrix(&x, q, y, false, K);
  difference_matrix(&x, q, y, true, C);
  for (int i = 0; i < 36; i++) {
    ENSURE_NEAR(l->M[i], M[i], 1e-12);
    ENSURE_SMALL(l->K[i] - K[i], 1e-7 * 2e5);  // differences of forces of 60 N over 1e-7 m
    ENSURE_SMALL(l->C[i] - C[i], 1e-6 * 6e4);
  }
  for (int k = 0; k < m->n; k++) {  // (s^2 M + s C + K) x = 0
    const srMode* mode = &m->mode[k];
    const double complex s = mode->re + mode->im * (double complex)I;
    double size = 0, remains = 0;
    for (int i = 0; i < 6; i++) {
      double complex left = 0;
      for (int j = 0; j < 6; j++) {
        const double complex z = mode->shape[j].modulus * cexp((double complex)I * mode->shape[j].phase);
        left += (s * s * M[6 * i + j] + s * C[6 * i + j] + K[6 * i + j]) * z;
        size = fmax(size, cabs(z) * fabs(K[6 * i + j]));
      }
      remains = fmax(remains, cabs(left));
    }
    most = fmax(most, remains / size);
  }
  ENSURE_SMALL(most, 1e-6);
  free(all);
  free(q);
  sr_modes_destroy(m);
  sr_linear_destroy(l);
  sr_rest_destroy(rest);
  close_model(&x);
}
