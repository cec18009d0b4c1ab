// Partition of the coordinates: pivots and singular values against closed forms, the choice of the user, dead points, rolling, drivers.
#include <math.h>
#include <stdlib.h>
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

// ------------------------------------------------------------------------------------------------- a partition in runs
// From the initial state to t_end, with these independent coordinates ("a,b"; NULL: projection). Steps of 2e-4 where they are fixed.
static srStatus run_divided(Loaded* x, const char* method, const char* independent, double t_end, double rtol) {
  unsigned char mark[64] = {0};
  char list[100];
  srRunOptions options = sr_run_options(x->m);
  srMessages* messages = sr_messages_create();
  snprintf(list, sizeof list, "%s", independent ? independent : "");
  for (char* word = strtok(list, ","); word; word = strtok(NULL, ",")) ENSURE(sr_coordinates_named(x->m, word, mark));
  sr_data_reset(x->m, x->d);
  options.method = method;
  options.t_end = t_end;
  options.step = 2e-4;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  if (independent) options.stabilization = SR_STABILIZATION_PARTITION;
  if (independent) options.independent = mark;
  const srStatus status = sr_run(x->m, x->d, &options, messages, &x->result);
  messages_keep(messages, said, sizeof said);
  if (status != SR_OK) printf("%s by %s: %s %s\n", x->m->name, method, x->result.error_message, said);
  sr_messages_destroy(messages);
  return status;
}

static int count_events(const Loaded* x, const char* kind) {
  int n = 0;
  for (int i = 0; i < x->result.nevent; i++) n += strcmp(x->result.event[i].kind, kind) == 0;
  return n;
}

// Other independent coordinates than LU would take, with every method that solves constraints: the motion is that of dopri5 with projections at 1e-11. Errors are a
// few tolerances: 2 of methods with error control of order 5, 30 of the generalized-alpha methods, 100 of BDF (found: 0.1, 9, 9).
TEST(partition_of_the_user_moves_mechanisms_alike_by_every_method) {
  static const struct {
    const char *model, *independent;
  } cases[] = {{"four-bar", "crank"},
               {"six-bar-watt", "crank"},
               {"parallelogram", "crank0"},
               {"bennett-linkage", "theta3"},
               {"sarrus-linkage", "platform"},
               {"scissor-lift", "up1"},
               {"double-wishbone", "wheel,lower"},
               {"peaucellier", "crank"},
               {"cardan-trammel", "rod.x"}};
  static const struct {
    const char* method;
    double rtol, error;
  } methods[] = {{"rk4", 1e-9, 2e-9},   {"dopri5", 1e-9, 2e-9},       {"mdop5", 1e-9, 2e-9},
                 {"hem5", 1e-9, 2e-9},  {"phem56", 1e-9, 2e-9},       {"radau5", 1e-9, 2e-9},
                 {"auto", 1e-9, 2e-9},  {"genalpha-ggl", 1e-6, 3e-5}, {"genalpha-index3", 1e-6, 3e-5},
                 {"cvode", 1e-8, 1e-6}, {"ida", 1e-8, 1e-6}};
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    char file[64];
    double wanted[64];
    snprintf(file, sizeof file, "mechanisms/%s", cases[i].model);
    Loaded x = open_model(file, "");
    ENSURE_EQUAL(run_divided(&x, "dopri5", NULL, 0.05, 1e-11), SR_OK);
    memcpy(wanted, x.d->q, (size_t)x.m->nq * sizeof *wanted);
    for (int k = 0; k < (int)(sizeof methods / sizeof methods[0]); k++) {
      if (sri_method_find(methods[k].method)->absent) continue;
      ENSURE_EQUAL(run_divided(&x, methods[k].method, cases[i].independent, 0.05, methods[k].rtol), SR_OK);
      double error = 0;
      for (int j = 0; j < x.m->nq; j++) error = fmax(error, fabs(x.d->q[j] - wanted[j]));
      if (getenv("SARRUS_TEST_VERBOSE")) printf("  %-18s %-16s %.1e\n", cases[i].model, methods[k].method, error);
      ENSURE_SMALL(error, methods[k].error);
      ENSURE_EQUAL(count_events(&x, "partition"), 0);
      ENSURE_SMALL(x.result.violation_position,
                   1e-13);  // dependent coordinates follow from the others, whatever the method
      ENSURE_SMALL(x.result.violation_velocity, 1e-12);
    }
    close_model(&x);
  }
}

// The rates of explicit methods do not see the dependent coordinates but as a guess: errors there are gone after the first step, errors of independent ones stay.
TEST(partition_of_the_user_is_what_is_integrated) {
  Loaded x = open_model("mechanisms/four-bar", "");
  srAssembly assembly;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &assembly), SR_OK);
  srModelSystem user = {.m = x.m, .d = x.d};
  const srSystem system = sr_system(&user);
  const unsigned char first[3] = {1, 0, 0};
  double q[3], v[3], wanted[3];
  memcpy(q, x.d->q, sizeof q);
  memcpy(v, x.d->v, sizeof v);
  for (int moved = -1; moved < 3; moved++) {
    srIntegratorOptions o = sri_default_options();
    srIntegrator* integrator = NULL;
    double from[3];
    o.partition = true;
    o.independent = first;
    o.step = 1e-3;
    ENSURE_EQUAL(sri_create("rk4", &system, &o, NULL, &integrator), SR_OK);
    memcpy(from, q, sizeof from);
    if (moved >= 0) from[moved] += 1e-6;
    ENSURE_EQUAL(sri_start(integrator, 0, from, v, NULL), SR_OK);
    const unsigned char* dependent = sri_dependent(integrator);
    ENSURE(dependent[0] == 0 && dependent[1] == 1 && dependent[2] == 1);
    for (int k = 0; k < 20; k++) ENSURE_EQUAL(sri_step(integrator, 1), SR_OK);
    if (moved < 0) memcpy(wanted, sri_q(integrator), sizeof wanted);
    const double error = fabs(sri_q(integrator)[0] - wanted[0]);
    if (moved == 0) ENSURE(error > 5e-7);
    if (moved > 0) ENSURE_SMALL(error, 1e-14);
    sri_destroy(integrator);
  }
  close_model(&x);
}

// The rocker turns back where crank and coupler are in line, at t = 0.2371 s: another coordinate is independent before it, which is reported, and the motion goes on.
// By the closed form the position is singular where sin(q(coupler)) = 0.
TEST(partition_of_the_user_is_left_at_its_singular_position) {
  Loaded x = open_model("mechanisms/four-bar", "");
  static const char* const methods[] = {"rk4", "dopri5", "hem5", "radau5"};
  ENSURE_EQUAL(run_divided(&x, "dopri5", NULL, 0.2371, 1e-11), SR_OK);
  ENSURE_SMALL(sin(x.d->q[1]), 0.01);
  ENSURE_EQUAL(run_divided(&x, "dopri5", NULL, 0.5, 1e-11), SR_OK);
  const double wanted = x.d->q[0];
  for (int i = 0; i < 4; i++) {
    ENSURE_EQUAL(run_divided(&x, methods[i], "rocker", 0.5, 1e-9), SR_OK);
    ENSURE_NEAR(x.d->q[0], wanted, 1e-5);
    ENSURE_EQUAL(count_events(&x, "partition"), 1);
    ENSURE(x.result.event[0].t > 0.22 && x.result.event[0].t < 0.2371);
    ENSURE(strstr(x.result.event[0].reason, "'rocker' cannot be independent here") != NULL);
  }
  // Long steps jump over it: the step is made again with others.
  srRunOptions options = sr_run_options(x.m);
  const unsigned char rocker[3] = {0, 0, 1};
  sr_data_reset(x.m, x.d);
  options.method = "rk4";
  options.step = 4e-3;
  options.t_end = 0.5;
  options.stabilization = SR_STABILIZATION_PARTITION;
  options.independent = rocker;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  ENSURE_EQUAL(count_events(&x, "partition"), 1);
  ENSURE_NEAR(x.d->q[0], wanted, 0.05);
  close_model(&x);
}

// At a dead point to begin with: with others, and a warning.
TEST(partition_of_the_user_that_cannot_be_is_reported_at_the_start) {
  char text[1000];
  snprintf(text, sizeof text, crank, "0.5", "0.5");
  Loaded x = open_text(text);
  x.d->q[0] = asin(0.6);  // the rod is upright: 0.5 sin(a1) = 0.3
  x.d->q[1] = -acos(0.0) - x.d->q[0];
  srRunOptions options = sr_run_options(x.m);
  const unsigned char first[2] = {1, 0};
  srMessages* messages = sr_messages_create();
  options.method = "dopri5";
  options.t_end = 1e-3;
  options.stabilization = SR_STABILIZATION_PARTITION;
  options.independent = first;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, messages, &x.result), SR_OK);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  ENSURE(strstr(said, "the coordinate 'crank' is dependent: the partition requests that it be independent") != NULL);
  ENSURE_EQUAL(count_events(&x, "partition"), 1);
  ENSURE(x.result.event[0].t == 0);
  close_model(&x);
}
