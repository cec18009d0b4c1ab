// Partition of the coordinates: pivots and singular values against closed forms, the choice of the user, dead points, rolling, drivers.
#include <math.h>
#include <string.h>

#include "loading.h"
#include "math/pivots.h"
#include "math/singular.h"
#include "messages.h"

static char said[2000];

static srStatus divide(Loaded* x, const char* independent, bool by_rows, srCoordinatePartition** out) {
  unsigned char mark[256] = {0};
  srMessages* messages = sr_messages_create();
  if (independent) ENSURE(sr_coordinates_named(x->m, independent, mark));
  const srPartitionOptions options = {.independent = independent ? mark : NULL, .by_rows = by_rows};
  const srStatus status = sr_partition_create(x->m, x->d, &options, messages, out);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

// Singular values of a product of known ones: A = diag(3, 1e-9) turned by two rotations.
TEST(partition_singular_values_keep_small_ones) {
  const double a = 0.3, b = 1.1, s1 = 3, s2 = 1e-9;
  double A[6] = {cos(a) * s1 * cos(b) - sin(a) * s2 * sin(b),
                 -cos(a) * s1 * sin(b) - sin(a) * s2 * cos(b),
                 sin(a) * s1 * cos(b) + cos(a) * s2 * sin(b),
                 -sin(a) * s1 * sin(b) + cos(a) * s2 * cos(b),
                 0,
                 0};
  double s[2];
  ENSURE(srm_singular_values(3, 2, A, s));
  ENSURE_NEAR(s[0], s1, 1e-14);
  ENSURE_NEAR(s[1], s2, 2e-16 * s1);  // the entries themselves have that much rounding
  double graded[9] = {1, 0, 0, 0, 1e-20, 0, 0, 0, 5};
  double g[3];
  ENSURE(srm_singular_values(3, 3, graded, g));
  ENSURE_NEAR(g[0], 5, 1e-15);
  ENSURE_NEAR(g[2], 1e-20, 1e-34);
  double bad[1] = {NAN};
  ENSURE(!srm_singular_values(1, 1, bad, s));
}

// Row 2 is row 0 plus row 1; column 2 has the largest entry and must not be a pivot.
TEST(partition_pivots_full_and_by_rows) {
  const double rows[12] = {0.6, 0, 0.8, 0, 0, 1, 0, 0, 0.6, 1, 0.8, 0};
  for (int by_rows = 0; by_rows < 2; by_rows++) {
    double A[12];
    int row[3], column[4], first;
    const signed char role[4] = {0, 0, SRM_NEVER, 0};
    memcpy(A, rows, sizeof A);
    srmPivots p = {.nrow = 3, .ncol = 4, .A = A, .role = role, .by_rows = by_rows, .row = row, .column = column};
    ENSURE_EQUAL(srm_pivots_choose(&p, 3, &first), 2);
    ENSURE_EQUAL(first, 2);
    ENSURE_EQUAL(column[0] + column[1], 1);  // columns 0 and 1
    if (by_rows) ENSURE_EQUAL(row[2], 2);    // in their order: the last one is redundant
    if (by_rows) ENSURE_NEAR(p.smallest, 0.6, 1e-15);
  }
}

// A crank with l1 sin(a1) + l2 sin(a2) = 0, a2 = q1 + q2. The angle of the rod q2 depends on q1 by l2 cos(a2), q1 on q2 by l1 cos(a1) + l2 cos(a2):
// that is 0 where the slider is over the crank's bearing, with l1 = l2 alone; q2 cannot follow from q1 where cos(a2) = 0.
static const char crank[] =
    "<sarrus version='1'><body name='crank'><joint name='crank' type='revolute' q='1.5707963267948966'/><inertial "
    "mass='1' "
    "inertia='1 1 1'/></body><body name='rod' parent='crank'><joint name='rod' type='revolute' at='%s 0 0' "
    "q='-3.1415926535897931'/><inertial mass='1' inertia='1 1 1'/></body>"
    "<constraint name='level' expr='%s*sin(q(crank)) + 0.3*sin(q(crank) + q(rod))'/></sarrus>";

TEST(partition_respects_the_choice_and_refuses_a_dead_point) {
  char text[1000];
  srCoordinatePartition* p;
  snprintf(text, sizeof text, crank, "0.3", "0.3");
  Loaded x = open_text(text);
  ENSURE_EQUAL(divide(&x, NULL, false, &p), SR_OK);
  ENSURE_EQUAL(p->nindependent, 1);
  sr_partition_destroy(p);
  x.d->q[0] = 0.5;
  x.d->q[1] = -1.0;  // a1 = 0.5, a2 = -0.5
  ENSURE_EQUAL(divide(&x, "crank", false, &p), SR_OK);
  ENSURE_EQUAL(p->nindependent, 1);
  ENSURE_EQUAL(p->independent[0], 0);
  ENSURE_EQUAL(p->dependent[0], 1);
  ENSURE_NEAR(p->condition, 1, 1e-15);
  sr_partition_destroy(p);
  ENSURE_EQUAL(divide(&x, "rod", true, &p), SR_OK);
  ENSURE_EQUAL(p->independent[0], 1);
  sr_partition_destroy(p);
  close_model(&x);

  snprintf(text, sizeof text, crank, "0.5", "0.5");
  x = open_text(text);
  const double a1 = asin(0.6);  // the rod is upright: 0.5 sin(a1) = 0.3
  x.d->q[0] = a1;
  x.d->q[1] = -acos(0.0) - a1;
  ENSURE_EQUAL(divide(&x, "crank", false, &p), SR_FAILED);
  ENSURE(p == NULL);
  ENSURE(strstr(said, "'crank' cannot be independent at this position") != NULL);
  ENSURE(strstr(said, "level") != NULL);
  ENSURE_EQUAL(divide(&x, "rod", false, &p), SR_OK);
  sr_partition_destroy(p);
  close_model(&x);
}

// Two rows over three angles with G_v = [[1, c], [0, 1]] after scaling: condition by the closed form of a 2 x 2 matrix.
TEST(partition_condition_by_closed_form) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='a'><joint name='a' type='prismatic' axis='1 0 0'/><inertial "
      "mass='1'/></body><body name='b'>"
      "<joint name='b' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body><body name='c'><joint name='c' "
      "type='prismatic' axis='1 0 0'/><inertial mass='1'/></body><constraint name='one' expr='3*q(a) + 4*q(b) + q(c)'/>"
      "<constraint name='two' expr='q(b) + 2*q(c)'/></sarrus>");
  srCoordinatePartition* p;
  ENSURE_EQUAL(divide(&x, "c", false, &p), SR_OK);
  ENSURE_EQUAL(p->ndependent, 2);
  ENSURE_EQUAL(p->dof_position, 1);
  // [[3 4] [0 1]] with rows of length 1: [[.6 .8] [0 1]]; columns of length 1: (1, 0) and (.8, 1)/sqrt(1.64). The cosine of their angle gives it.
  const double cosine = 0.8 / sqrt(1.64);
  ENSURE_NEAR(p->condition, sqrt((1 + cosine) / (1 - cosine)), 1e-13);
  sr_partition_destroy(p);
  close_model(&x);
}

TEST(partition_of_a_rolling_disc_has_more_positions_than_velocities) {
  Loaded x = open_model("mechanisms/rolling-disc", "");
  srCoordinatePartition* p;
  ENSURE_EQUAL(divide(&x, NULL, false, &p), SR_OK);
  ENSURE_EQUAL(p->dof_position, 5);
  ENSURE_EQUAL(p->dof_velocity, 3);
  ENSURE_EQUAL(p->rank->rank_undriven, 3);
  sr_partition_destroy(p);
  ENSURE_EQUAL(divide(&x, "disc", false, &p), SR_INPUT);  // all six components
  ENSURE(strstr(said, "6 coordinates are to be independent, and 'rolling-disc' has 3 degrees of freedom") != NULL);
  close_model(&x);
}

// Two drivers on a loop with one degree of freedom contradict each other.
TEST(partition_names_drivers_that_are_not_independent) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='a'><joint name='a' type='prismatic' axis='1 0 0'/><inertial "
      "mass='1'/></body><body name='b'>"
      "<joint name='b' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body><constraint name='gear' expr='q(a) - "
      "2*q(b)'/><driver joint='a' motion='2*t'/><driver joint='b' motion='t'/></sarrus>");
  srCoordinatePartition* p;
  ENSURE_EQUAL(divide(&x, NULL, false, &p), SR_FAILED);
  ENSURE(strstr(said, "the driven coordinates 'a', 'b' cannot be independent of each other") != NULL);
  ENSURE(strstr(said, "gear") != NULL);
  close_model(&x);
}
