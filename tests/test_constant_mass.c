// Tests of src/model/compile_constant_mass.c: M and bias of trees of slides beside the recursions, and where they are not constant.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "constraint/constraint.h"
#include "loading.h"
#include "model/private.h"
#include "random_tree.h"
#include "runner.h"
#include "system/system.h"

#define HEAD "<sarrus version='1'><option gravity='1.5 -2 -9.81'/>"

// Slides along oblique axes that carry each other, one with a mass off its axis and an armature, and links that turn about their centres of mass.
static const char* const slides = HEAD
    "<body name='a'><joint name='a' type='prismatic' axis='1 0.4 -0.3' armature='0.7'/><inertial mass='2' com='0.1 0.2 "
    "0.3'/></body>"
    "<body name='b' parent='a'><joint name='b' type='prismatic' axis='0.2 1 0.5' at='0 0.5 0' rpy='0.3 -0.2 "
    "0.9'/></body>"
    "<body name='c' parent='b'><joint name='c' type='revolute' axis='0 0 1' rpy='-1 0.4 0.2'/><inertial mass='1.3' "
    "com='0 0 0.2' inertia='0.03 0.04 0.05'/></body>"
    "<body name='d' parent='b'><joint name='d' type='prismatic' axis='0 1 1'/><inertial mass='0.4'/></body>"
    "<body name='e'><joint name='e' type='prismatic' axis='0 0 1'/><inertial mass='3'/></body>"
    "<body name='f'><joint name='f' type='revolute' axis='1 0 0' armature='0.1'/><inertial mass='1' inertia='0.2 0.3 "
    "0.4'/></body></sarrus>";

TEST(accelerations_with_a_constant_mass_matrix_are_those_of_the_recursion) {
  Loaded x = open_text(slides);
  Random r = {77};

  ENSURE_EQUAL(x.m->nv, 6);
  ENSURE(x.m->priv->constant_mass != NULL);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 6; ++i) {
      x.d->q[i] = random_in(&r, -2, 2);
      x.d->v[i] = random_in(&r, -3, 3);
      x.d->tau[i] = random_in(&r, -5, 5);
    }
    ENSURE_EQUAL(sr_evaluate_rates(x.m, x.d, 0, NULL, NULL, NULL, SR_TAU_ELEMENT), 0);
    double M[36], c[6];
    const double zero[6] = {0};
    sr_crba(x.m, x.d, x.d->q, M);
    sr_rnea(x.m, x.d, x.d->q, x.d->v, zero, c);
    for (int i = 0; i < 6; ++i) {
      double sum = c[i] - x.d->tau[i] + x.m->dof_armature[i] * x.d->a[i];
      for (int k = 0; k < 6; ++k) sum += M[6 * i + k] * x.d->a[k];
      ENSURE_SMALL(sum, 1e-12);
    }
  }
  close_model(&x);
}

// M by its pattern or dense, and f, of the callback, beside those of the recursions.
static void compare_dynamics(const Loaded* x) {
  const srModel* m = x->m;
  const int n = m->nv;
  double M[36] = {0}, f[6], ydot[16], crba[36], c[6], spread[36] = {0};
  const double v[6] = {1, -2, 3, 0.5, 1, -1}, q[6] = {0.3, 0.1, -2, 1, 0.7, 0.2}, zero[6] = {0};
  ENSURE(n <= 6 && m->ny <= 16 && m->priv->constant_mass != NULL);
  srModelSystem user = {.m = m, .d = x->d};
  const srSystem system = sr_system(&user);
  ENSURE_EQUAL(system.dynamics(system.user, 0, q, v, x->d->y, SR_TAU_ELEMENT, M, f, ydot, NULL), 0);
  double force[6];
  memcpy(force, x->d->f, (size_t)n * sizeof *force);
  for (int i = 0; i < n && system.M_sparsity != NULL; ++i) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; ++k) spread[n * i + m->M_column[k]] = M[k];
  }
  sr_crba(m, x->d, q, crba);
  sr_rnea(m, x->d, q, v, zero, c);
  for (int i = 0; i < n; ++i) {
    crba[n * i + i] += m->dof_armature[i];
    ENSURE_NEAR(f[i], force[i] - c[i], 1e-13);
    for (int k = 0; k < n; ++k)
      ENSURE_NEAR((system.M_sparsity != NULL ? spread : M)[n * i + k], crba[n * i + k], 1e-14);
  }
}

TEST(methods_get_the_constant_mass_matrix_and_bias) {
  Loaded x = open_text(slides);
  for (int i = 0; i < 6; ++i) x.d->tau[i] = i - 2.5;
  compare_dynamics(&x);
  ENSURE(x.m->priv->constant_mass->is_all);
  close_model(&x);
}

// With its coupling as a constraint equation, M is stored by its pattern.
TEST(a_coupled_mechanism_has_the_constant_mass_matrix_of_its_tree) {
  Loaded x = open_model("nonsmooth/woodpecker", "");
  compare_dynamics(&x);
  ENSURE(!x.m->priv->constant_mass->is_all);
  close_model(&x);
}

static bool is_constant(const char* bodies) {
  char text[2000];
  (void)snprintf(text, sizeof text, HEAD "%s</sarrus>", bodies);
  Loaded x = open_text(text);
  const bool constant = x.m->priv->constant_mass != NULL && x.m->priv->constant_mass->is_all;
  close_model(&x);
  return constant;
}

#define SLIDE "<body name='a'><joint name='a' type='prismatic' axis='1 0 0'/><inertial mass='2'/></body>"

TEST(the_mass_matrix_is_not_constant_where_something_turns_off_its_centre_of_mass_or_carries_another_body) {
  ENSURE(is_constant(SLIDE));
  ENSURE(is_constant(
      "<body name='a'><joint name='a' type='planar' axis='0 1 0'/><inertial mass='2' inertia='1 1 1'/></body>"));
  ENSURE(
      !is_constant("<body name='a'><joint name='a' type='planar' axis='0 1 0'/><inertial mass='2' com='0.1 0 0' "
                   "inertia='1 1 1'/></body>"));
  ENSURE(
      !is_constant("<body name='a'><joint name='a' type='revolute' axis='0 1 0'/><inertial mass='2' com='0.1 0 0' "
                   "inertia='1 1 1'/></body>"));
  ENSURE(
      !is_constant("<body name='a'><joint name='a' type='revolute' axis='0 1 0'/><inertial mass='2' inertia='1 1 "
                   "1'/></body><body name='b' parent='a'><joint name='b' type='prismatic' axis='1 0 0'/><inertial "
                   "mass='1'/></body>"));
  ENSURE(!is_constant("<body name='a'><joint name='a' type='free'/><inertial mass='2' inertia='1 1 1'/></body>"));
}

TEST(a_driven_coordinate_a_coupling_or_a_closure_takes_the_recursion) {
  ENSURE(!is_constant(SLIDE "<driver joint='a' motion='sin(t)'/>"));
  ENSURE(!is_constant(SLIDE "<body name='b'><joint name='b' type='prismatic' axis='1 0 0'/><inertial mass='2'/></body>"
                            "<coupling joint='a' to='b' ratio='2'/>"));
}

// 16 coordinates are; 17 are not, for M would be dense.
TEST(the_mass_matrix_of_many_coordinates_is_left_to_the_recursion) {
  for (int n = 16; n <= 17; ++n) {
    char text[4000] = HEAD;
    for (int i = 0; i < n; ++i) {
      const size_t used = strlen(text);
      (void)snprintf(text + used, sizeof text - used,
                     "<body name='b%d'><joint name='b%d' type='prismatic' axis='0 0 1'/><inertial mass='1'/></body>", i,
                     i);
    }
    (void)strcat(text, "</sarrus>");
    Loaded x = open_text(text);
    ENSURE_EQUAL(x.m->priv->constant_mass != NULL, n == 16);
    close_model(&x);
  }
}
