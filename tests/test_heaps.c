// Heaps of free bodies by time-stepping: what is promised of every step, the same bits for any number of threads, and the free motion and the contacts of bodies
// that are given by points.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/link.h"
#include "integrate/points.h"
#include "loading.h"
#include "math/vector3.h"
#include "model/instance.h"

#define LAW " restitution='0' normal='hunt-crossley' K='1e6' friction='threlfall' v0='0.01'"

static void run_with(Loaded* x, double t_end, double step, int threads, srSeeProblem* see, void* user) {
  srRunOptions o = sr_run_options(x->m);
  o.problem = see;
  o.user = user;
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.t_end = t_end;
  o.step = step;
  o.threads = threads;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  loading_print(messages);
  const int said = sr_messages_count(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(said, 0);  // every contact problem was solved
}

static void run(Loaded* x, double t_end, double step, int threads) { run_with(x, t_end, step, threads, NULL, NULL); }

static double speed_of(const Loaded* x, int body) {
  const double* v = x->d->v + 6 * body + 3;
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Speed that nine of ten do not exceed: without friction of rolling a ball on top of the others may roll on for seconds. All are in the bin, and none is above where the heap was
// dropped.
static double settled(const Loaded* x, double width, double height) {
  const int n = x->m->nv / 6;
  double* speed = malloc((size_t)n * sizeof *speed);
  for (int i = 0; i < n; i++) {
    const double* q = x->d->q + 7 * i;
    ENSURE(q[0] > 0 && q[0] < width && q[1] > 0 && q[1] < width && q[2] > 0 && q[2] < height);
    speed[i] = speed_of(x, i);
  }
  qsort(speed, (size_t)n, sizeof *speed, by_size);
  const double answer = speed[9 * n / 10];
  free(speed);
  return answer;
}

enum { SAMPLES = 100 };
typedef struct Rest {  // the speed of nine of ten balls, twenty times a second from a time on
  Loaded* x;
  double width, height, from, speed[SAMPLES];
  int n;
} Rest;

static void sample_rest(void* user, const srSolvedProblem* solved) {
  Rest* r = user;
  (void)solved;
  if (r->n < SAMPLES && r->x->d->t >= r->from + 0.05 * r->n) r->speed[r->n++] = settled(r->x, r->width, r->height);
}

// r = 50 mm, steps of 1/240 s: below 0.05 mm deep, residual below 1e-2 m/s in every step, and at rest below 0.05 mm/s. Now and then a ball that rolls on falls into another place and those near it move for
// some tenths of a second: at rest is the calmer half of the second half of the run, by its median.
static void drop_balls(const char* settings, int side, int layers, double t_end) {
  Loaded x = open_model("contact/heap-of-balls", settings);
  Rest rest = {.x = &x, .width = 0.12 * side, .height = 0.12 * layers, .from = 0.5 * t_end};
  ENSURE_EQUAL(x.m->nv, 6 * side * side * layers);
  run_with(&x, t_end, 1.0 / 240, 1, sample_rest, &rest);
  ENSURE_SMALL(x.result.penetration, 0.05e-3);
  ENSURE(x.result.complementarity > 0);
  ENSURE_SMALL(x.result.complementarity, 1e-2);
  ENSURE_EQUAL(x.result.unsolved, 0);
  ENSURE(x.result.sweeps > 0);
  (void)settled(&x, 0.12 * side, 0.12 * layers);
  ENSURE(rest.n >= 50);
  qsort(rest.speed, (size_t)rest.n, sizeof *rest.speed, by_size);
  ENSURE_SMALL(rest.speed[rest.n / 4], 0.05e-3);
  ENSURE_SMALL(rest.speed[rest.n / 2], 0.1e-3);  // and most of the time nothing much moves
  ENSURE_SMALL(energy_residual(&x), 1e-4);
  close_model(&x);
}

TEST(a_heap_of_125_balls_settles_and_stays) { drop_balls("", 5, 5, 6); }

// Sweeps over what rests change nothing, and half of their least number is enough (24).
TEST(a_heap_at_rest_takes_few_sweeps) {
  Loaded x = open_model("contact/heap-of-balls", "");
  run(&x, 6, 1.0 / 240, 1);
  double fewest = INFINITY;
  for (int t = 7; t <= 10; t++) {  // a ball that still rolls needs more
    run(&x, t, 1.0 / 240, 1);
    fewest = fmin(fewest, (double)x.result.sweeps / (double)x.result.stats.steps);
  }
  ENSURE(fewest >= 12);
  ENSURE(fewest < 20);
  close_model(&x);
}

// The last contacts of what lands are solved by sweeps without directions: with these to the end it takes 63 400 sweeps, in place of 52 000. Motions of heaps part by rounding, and their sweeps by a tenth: the sum of three.
TEST(sweeps_without_directions_solve_what_these_leave) {
  static const char* const jitter[] = {"0.005", "0.0045", "0.0055"};
  long sweeps = 0;
  for (int k = 0; k < 3; k++) {
    char settings[80];
    snprintf(settings, sizeof settings, "N=1728 side=12 mu=0.7 jitter=%s", jitter[k]);
    Loaded x = open_model("contact/heap-of-balls", settings);
    run(&x, 1, 1.0 / 240, 1);
    ENSURE(x.result.unsolved == 0);
    sweeps += x.result.sweeps;
    close_model(&x);
  }
  ENSURE(sweeps < 57000);
}

// What lands strikes others, which are then as fast: their ranges are those of what is near them, and the list of near pairs is made about once a step.
TEST(near_pairs_of_a_heap_that_lands_are_listed_once_a_step) {
  Loaded x = open_model("contact/heap-of-balls", "N=1000 side=10");
  run(&x, 0.25, 1.0 / 240, 1);
  const int before = x.d->instances->version;
  run(&x, 0.45, 1.0 / 240, 1);
  ENSURE(x.d->instances->version - before < 1.25 * (double)x.result.stats.steps);
  close_model(&x);
}

// How often are two shapes in the list?
static int times_near(const struct srInstances* list, int i, int j) {
  int n = 0;
  for (int k = 0; k < list->nnear; k++) {
    const srNear* near = &list->near[k];
    n += (near->a == i && near->b == j) || (near->a == j && near->b == i);
  }
  return n;
}

// Is the list that of all pairs, once each, with gaps below its range where the ranges of the two began?
static bool lists_all(const Loaded* x) {
  const struct srInstances* list = x->d->instances;
  const srCollider* c = x->m->collider;
  for (int i = 0; i < x->m->ncollider; i++) {
    for (int j = 0; j < i; j++) {
      const bool ground = x->m->point_link[c[j].point] == 0;
      if (x->m->point_link[c[i].point] == 0) continue;
      const double *a = list->origin + 3 * i, *b = list->origin + 3 * j, r[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
      const double* normal = list->built + 12 * j + 6;
      const double gap = ground ? srm_dot3(normal, r) - c[i].radius : sqrt(srm_dot3(r, r)) - c[i].radius - c[j].radius;
      const double range = list->skin + list->wider[i] + list->wider[j];
      if (fabs(gap - range) > 1e-12 && times_near(list, i, j) != (gap < range)) return false;
    }
  }
  return true;
}

// While balls land and roll, those that leave their ranges are listed anew, the others rarely.
TEST(near_pairs_listed_in_part_are_those_that_are_near) {
  Loaded x = open_model("contact/heap-of-balls", "");
  int again = 0;
  for (int k = 1; k <= 20; k++) {
    run(&x, 0.1 * k, 1.0 / 240, 1);
    again += x.d->instances->again;
    ENSURE(lists_all(&x));
  }
  ENSURE(again > 60);
  close_model(&x);
}

// Of heaps that land, all pairs together and some of them. capacity > 0: of the list, so that a member of a team has no room for what it finds.
static void compare_lists(double t, int capacity, int* count) {
  Loaded x[2];
  for (int k = 0; k < 2; k++) {
    x[k] = open_model("contact/heap-of-balls", "N=1000 side=10");
    if (capacity > 0) x[k].d->instances->most_near = capacity;
    run(&x[k], t, 1.0 / 240, k == 0 ? 1 : 3);
  }
  const struct srInstances *one = x[0].d->instances, *three = x[1].d->instances;
  ENSURE_EQUAL(one->nnear, three->nnear);
  ENSURE_EQUAL(one->version, three->version);
  for (int i = 0; i < one->nnear; i++)
    ENSURE(one->near[i].key == three->near[i].key && one->near[i].kind == three->near[i].kind);
  ENSURE(lists_all(&x[1]));
  *count = one->nnear;
  for (int k = 0; k < 2; k++) close_model(&x[k]);
}

TEST(near_pairs_are_in_the_same_order_for_any_number_of_threads) {
  int count;
  compare_lists(0.3, 0, &count);
  compare_lists(0.3, count + 40, &count);
  compare_lists(0.4, 0, &count);
}

TEST(heaps_of_1000_and_8000_balls_settle_and_stay) {
  if (!runner_long()) SKIP("takes minutes: ./test --long");
  drop_balls("N=1000 side=10", 10, 10, 6);
  drop_balls("N=8000 side=20", 20, 20, 8);
}

// An edge of 80 mm: below a thousandth of it.
static void drop_boxes(const char* settings, int side, int layers, double t_end, double step) {
  Loaded x = open_model("contact/heap-of-boxes", settings);
  run(&x, t_end, step, 1);
  ENSURE_SMALL(x.result.penetration, 0.08e-3);
  ENSURE_SMALL(x.result.complementarity, 1e-2);
  ENSURE_SMALL(settled(&x, 0.15 * side, 0.15 * layers), 0.05e-3);
  close_model(&x);
}

TEST(a_heap_of_boxes_settles_and_stays) { drop_boxes("N=12 side=2", 2, 3, 2, 1e-3); }

// They turn by 0.1 rad a step: other corners and edges than the nearest ones come first, by 0.36 mm where gaps are taken as linear in the motion of a step.
TEST(boxes_that_tumble_in_long_steps_stop_at_their_surfaces) { drop_boxes("N=12 side=2", 2, 3, 3, 1.0 / 240); }

TEST(a_heap_of_64_boxes_settles_and_stays) {
  if (!runner_long()) SKIP("takes ten seconds: ./test --long");
  drop_boxes("", 4, 4, 3, 1e-3);
  drop_boxes("", 4, 4, 3, 1.0 / 240);
}

// Problems that sweeps have not solved, and of these such as were solved from 0 then. In one island a step has one problem, or both.
typedef struct Again {
  long step;
  int failed, mended;
  bool open;
} Again;

static void see_again(void* user, const srSolvedProblem* solved) {
  Again* x = user;
  const bool second = x->open && solved->step == x->step;
  double start = 0;
  for (int i = 0; i < 3 * solved->problem->ncontact; i++) start += fabs(solved->problem->start[i]);
  if (second) ENSURE(start == 0);
  x->failed += !second && !solved->result->solved;
  x->mended += second && solved->result->solved;
  x->open = !second && !solved->result->solved;
  x->step = solved->step;
}

// A tower with a heavy ball on top: there are steps whose sweeps do not come to an end from the impulses of the step before, and do from 0.
TEST(sweeps_that_do_not_end_begin_again_from_0) {
  Again again = {0};
  for (int k = 4; k <= 8; k++) {
    char text[1600];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane' group='f'/>"
             "</ground><repeat count='40' index='i'><body name='b{i}'><joint name='b{i}' type='free' q='0 0 "
             "0.05+0.1*i 1 0 0 0'/><inertial mass='if(i &gt; 38.5, 1e%d, 1)' inertia='1e-3 1e-3 1e-3'/><shape "
             "name='s{i}' type='sphere' size='0.05' group='g'/></body></repeat><contact a='f' b='g' most='99' "
             "mu-k='0.3'" LAW "/><contact a='g' b='g' most='99' mu-k='0.3'" LAW "/></sarrus>",
             k);
    Loaded x = open_text(text);
    run_with(&x, 3e-3, 1e-3, 1, see_again, &again);
    ENSURE_EQUAL(x.result.unsolved, 0);
    close_model(&x);
  }
  ENSURE(again.failed >= 1);
  ENSURE_EQUAL(again.mended, again.failed);
}

// From 2000 contacts on the team works; until 0.4 s there are more.
TEST(a_heap_has_the_same_bits_for_any_number_of_threads) {
  Loaded one = open_model("contact/heap-of-balls", "N=1000 side=10"), more = one;
  run(&one, 0.4, 1.0 / 240, 1);
  for (int threads = 2; threads <= 3; threads++) {
    more = open_model("contact/heap-of-balls", "N=1000 side=10");
    run(&more, 0.4, 1.0 / 240, threads);
    ENSURE(memcmp(one.d->q, more.d->q, (size_t)one.m->nq * sizeof(double)) == 0);
    ENSURE(memcmp(one.d->v, more.d->v, (size_t)one.m->nv * sizeof(double)) == 0);
    close_model(&more);
  }
  close_model(&one);
}

// Motion that is known from the solution of a problem becomes velocities in the axes of bodies, whose centers of mass are beside their origins: the way back of sri_body_motion. Those of which nothing is known keep theirs.
TEST(known_motion_gives_the_velocities_that_it_is_of) {
  enum { BODIES = 11 };
  static _Alignas(32) double row[SRI_ROW * BODIES], motion[SRI_ROW * (BODIES + 1)], all[SRI_ROW * (BODIES + 1)];
  srFreeBody body[BODIES] = {{0}};
  double v[6 * BODIES], found[6 * BODIES];
  int number[BODIES];
  unsigned char known[BODIES];
  for (int i = 0; i < BODIES; i++) {
    const double c = cos(0.7 * i), s = sin(0.7 * i), R[9] = {c, -0.6 * s, 0.8 * s, s, 0.6 * c, -0.8 * c, 0, 0.8, 0.6};
    body[i] = (srFreeBody){.first = 6 * i, .mass = 1 + i, .com = {0.1 * i, 0.2 - 0.03 * i, 0.05}};
    memcpy(body[i].rotation, R, sizeof R);
    for (int k = 0; k < 6; k++) v[6 * i + k] = sin(1 + 7.0 * i + k);
    number[i] = BODIES - 1 - i;
    known[i] = i % 5 != 2;
  }
  sri_body_motion(body, 0, BODIES, v, all);
  for (int i = 0; i < BODIES; i++) {  // linear part first
    memcpy(row + SRI_ROW * number[i], all + SRI_ROW * i + 4, 4 * sizeof *row);
    memcpy(row + SRI_ROW * number[i] + 4, all + SRI_ROW * i, 4 * sizeof *row);
  }
  for (int k = 0; k < 6 * BODIES; k++) found[k] = 100;
  const srStepMotion problem = {.row = row, .number = number, .known = known};
  sri_body_known(body, 0, 8, &problem, found, motion);
  sri_body_known(body, 8, BODIES, &problem, found, motion);
  for (int k = 0; k < 6 * BODIES; k++) ENSURE_NEAR(found[k], known[k / 6] ? v[k] : 100, 1e-14);
  for (int k = 0; k < SRI_ROW * BODIES; k++) ENSURE(motion[k] == (known[k / SRI_ROW] ? all[k] : 0));
}

// Velocities are in axes that turn with the body: it flies straight all the same, z = z0 + v t - g h^2 n (n + 1)/2 after n steps, and keeps its velocity.
// Slow and fast spins: a series and closed forms; a quaternion of length 0.
TEST(free_links_drift_side_by_side_with_the_bits_of_one_by_one) {
  Loaded x = open_model("contact/heap-of-balls", "N=7");
  const srModel* m = x.m;
  const size_t nq = (size_t)m->nq * sizeof(double), nv = (size_t)m->nv * sizeof(double);
  double *q = malloc(nq), *move = malloc(nv), *v[2] = {malloc(nv), malloc(nv)}, *out[2] = {malloc(nq), malloc(nq)};
  memcpy(q, x.d->q, nq);
  for (int i = 1; i < m->nlink; i++) {
    for (int k = 3; k < 7; k++) q[m->link_q[i] + k] = i == 3 ? 0 : sin(5 * i + k);
    for (int k = 0; k < 6; k++) move[m->link_v[i] + k] = (i % 3 == 2 && k < 3 ? 300 : 1) * cos(3 * i + 7 * k);
  }
  for (int k = 0; k < 2; k++) memcpy(v[k], move, nv);
  sr_drift_links(m, 1, m->nlink, q, 1e-2, move, v[0], out[0]);
  for (int i = 1; i < m->nlink; i++) sr_drift_links(m, i, i + 1, q, 1e-2, move, v[1], out[1]);
  ENSURE(memcmp(out[0], out[1], nq) == 0 && memcmp(v[0], v[1], nv) == 0);
  double* all[] = {q, move, v[0], v[1], out[0], out[1]};
  for (int k = 0; k < 6; k++) free(all[k]);
  close_model(&x);
}

TEST(a_spinning_body_flies_straight) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -10'/><ground><shape name='floor' type='plane'/></ground><body "
      "name='b'>"
      "<joint name='b' type='free' q='0 0 100 1 0 0 0' v='3 -20 7 2 1 0.5'/><inertial mass='2' com='0 0 0' "
      "inertia='0.1 0.1 0.1'/><shape name='s' type='sphere' size='0.1'/></body>"
      "<contact a='floor' b='s' mu-k='0.5'" LAW "/></sarrus>");
  run(&x, 1, 1e-2, 1);
  ENSURE_NEAR(x.d->q[0], 2, 1e-11);
  ENSURE_NEAR(x.d->q[1], 1, 1e-11);
  ENSURE_NEAR(x.d->q[2], 100 + 0.5 - 10 * 1e-4 * 100 * 101 / 2, 1e-11);
  ENSURE_NEAR(speed_of(&x, 0), sqrt(4 + 1 + 9.5 * 9.5), 1e-11);
  close_model(&x);
}

// Contacts by points, and by rows where a slider far away keeps the model from being free bodies alone: the same motion. The center of mass is not the origin.
TEST(contacts_by_points_are_those_by_rows) {
  double q[2][14];
  for (int k = 0; k < 2; k++) {
    char text[1600];
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane' "
        "surface-velocity='0.3 0.1 0'/>"
        "</ground><body name='a'><joint name='a' type='free' q='0 0 0.12 0.9 0.1 0.2 0.3' v='1 2 3 1 0.5 0'/>"
        "<inertial mass='2' com='0.01 0.02 -0.01' inertia='0.01 0.02 0.015 0.001 -0.002 0.003'/>"
        "<shape name='s' type='box' size='0.2 0.15 0.1' group='g'/></body>"
        "<body name='b'><joint name='b' type='free' q='0.05 0.02 0.3 1 0 0 0'/><inertial mass='0.5' com='0 0 0.01' "
        "inertia='5e-4 5e-4 5e-4'/><shape name='t' type='sphere' size='0.05' group='g'/></body>%s"
        "<contact a='floor' b='g' most='20' mu-k='0.4'" LAW "/><contact a='g' b='g' most='20' mu-k='0.4'" LAW
        "/></sarrus>",
        k == 0 ? ""
               : "<body name='far'><joint name='far' type='prismatic' axis='1 0 0' q='9'/><inertial mass='1' "
                 "com='0 0 0' inertia='1 1 1'/></body>");
    Loaded x = open_text(text);
    run(&x, 0.25, 1e-3, 1);
    ENSURE(x.result.impacts > 2);
    memcpy(q[k], x.d->q, sizeof q[k]);
    close_model(&x);
  }
  for (int i = 0; i < 14; i++) ENSURE_NEAR(q[0][i], q[1][i], 1e-6);
}

// Two balls that strike each other off center and spin, with friction: what one gains the other loses. Angular momentum about the origin is kept where the impulse acts at one point of both.
TEST(balls_that_strike_each_other_keep_their_momentum) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/>"
      "<body name='a'><joint name='a' type='free' q='0 0 0 1 0 0 0' v='5 -9 30 1 0.1 0.2'/><inertial mass='2' "
      "inertia='0.004 0.004 0.004'/><shape name='s' type='sphere' size='0.05' group='g'/></body>"
      "<body name='b'><joint name='b' type='free' q='0.2 0.03 0.01 1 0 0 0' v='-20 4 10 -3 0 0'/><inertial mass='0.5' "
      "inertia='3e-4 3e-4 3e-4'/><shape name='t' type='sphere' size='0.04' group='g'/></body>"
      "<contact a='g' b='g' most='20' mu-k='0.5'" LAW "/></sarrus>");
  const double mass[2] = {2, 0.5}, J[2] = {0.004, 3e-4};
  double before[6], spin[2];
  for (int k = 0; k < 2; k++) {
    double sum[6] = {0};
    if (k == 1) run(&x, 0.1, 1e-4, 1);
    for (int i = 0; i < 2; i++) {
      const double *q = x.d->q + 7 * i, *e = q + 3, *v = x.d->v + 6 * i;
      double R[3][3] = {
          {1 - 2 * (e[2] * e[2] + e[3] * e[3]), 2 * (e[1] * e[2] - e[0] * e[3]), 2 * (e[1] * e[3] + e[0] * e[2])},
          {2 * (e[1] * e[2] + e[0] * e[3]), 1 - 2 * (e[1] * e[1] + e[3] * e[3]), 2 * (e[2] * e[3] - e[0] * e[1])},
          {2 * (e[1] * e[3] - e[0] * e[2]), 2 * (e[2] * e[3] + e[0] * e[1]), 1 - 2 * (e[1] * e[1] + e[2] * e[2])}};
      double u[3], w[3];
      for (int j = 0; j < 3; j++) {
        u[j] = R[j][0] * v[3] + R[j][1] * v[4] + R[j][2] * v[5];
        w[j] = R[j][0] * v[0] + R[j][1] * v[1] + R[j][2] * v[2];
      }
      for (int j = 0; j < 3; j++) {
        const int m = (j + 1) % 3, n = (j + 2) % 3;
        sum[j] += mass[i] * u[j];
        sum[3 + j] += J[i] * w[j] + mass[i] * (q[m] * u[n] - q[n] * u[m]);
      }
      if (i == 0) spin[k] = w[2];
    }
    for (int j = 0; j < 6; j++) {
      if (k == 0) before[j] = sum[j];
      if (k == 1) ENSURE_NEAR(sum[j], before[j], j < 3 ? 1e-9 : 1e-5);  // points are those before a step of 1e-4 s
    }
  }
  ENSURE(x.result.impacts == 1);
  ENSURE(fabs(spin[1] - spin[0]) > 0.1);  // friction has acted
  close_model(&x);
}

// Steps of 20 mm: the list of near pairs covers the whole step, not its start alone. The ball stops at the wall, and the two at each other.
TEST(what_moves_far_in_a_step_stops_at_the_surface) {
  const double h = 1.0 / 240;
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><ground><shape name='wall' type='plane' rpy='0 pi/2 0' "
      "group='walls'/></ground><repeat count='3' index='i'><body name='b{i}'><joint name='b{i}' type='free' "
      "q='0.15+0.4*i 0 0 1 0 0 0' v='0 0 0 5*(i-1) 0 0'/><inertial mass='1' inertia='1e-3 1e-3 1e-3'/>"
      "<shape name='s{i}' type='sphere' size='0.05' group='g'/></body></repeat>"
      "<body name='c'><joint name='c' type='free' q='1.35 0 0 1 0 0 0' v='0 0 0 -5 0 0'/><inertial mass='1' "
      "inertia='1e-3 1e-3 1e-3'/><shape name='t' type='sphere' size='0.05' group='g'/></body>"
      "<contact a='walls' b='g' most='20' mu-k='0'" LAW "/><contact a='g' b='g' most='20' mu-k='0'" LAW "/></sarrus>");
  run(&x, 0.1, h, 1);
  const double wall = x.d->q[0] - 0.05, apart = x.d->q[7 * 3] - x.d->q[7 * 2] - 0.1;  // an impact is up to h early
  ENSURE_SMALL(x.result.penetration, 1e-9);
  ENSURE(wall > -1e-9 && wall < 5 * h && apart > -1e-9 && apart < 10 * h);
  ENSURE_SMALL(speed_of(&x, 2) + speed_of(&x, 3), 1e-9);
  close_model(&x);
}

// A heavy ball strikes the short arm of a lever: within the step the long one, at rest before, would go 0.2 m, and stops at the ceiling 0.1 m above.
TEST(what_an_impact_moves_far_in_its_step_stops_at_the_surface) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><ground><shape name='ceiling' type='plane' at='0 0 0.15' "
      "rpy='pi 0 0' group='walls'/></ground><body name='lever'><joint name='j' type='revolute' axis='0 1 0'/>"
      "<inertial mass='0.1' inertia='0.01 0.01 0.01'/><shape name='tip' at='1 0 0' type='sphere' size='0.05' "
      "group='g'/>"
      "<shape name='pad' at='-0.1 0 0' type='sphere' size='0.05' group='pads'/></body>"
      "<body name='b'><joint name='b' type='free' q='-0.1 0 0.11 1 0 0 0' v='0 0 0 0 0 -5'/><inertial mass='100' "
      "inertia='1 1 1'/><shape name='s' type='sphere' size='0.05' group='balls'/></body>"
      "<contact a='walls' b='g' most='20' mu-k='0'" LAW "/><contact a='pads' b='balls' most='20' mu-k='0'" LAW
      "/></sarrus>");
  run(&x, 1.0 / 240, 1.0 / 240, 1);
  // The gap is linear in the angle: the tip is at 0.1 rad, sin(0.1) high.
  ENSURE_NEAR(x.d->q[0], -0.1, 1e-6);
  close_model(&x);
}
