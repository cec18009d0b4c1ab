// Contacts as instances: the broad phase against all pairs, cost that grows with what is near, the same motion as with an element for
// every pair, slots and states that come and go.
#include <math.h>
#include <stdlib.h>

#include "collide/broad.h"
#include "collide/pair.h"
#include "force/instances.h"
#include "heap.h"
#include "loading.h"

// ---- broad phase --------------------------------------------------------------------------------------------------------------

static double random_number(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) / 16777216.0;
}

typedef struct Found {
  int n;
  unsigned char* pair;  // n x n
} Found;

static bool take_pair(void* user, int i, int j) {
  Found* found = user;
  ENSURE(i > j);
  found->pair[i * found->n + j]++;
  return true;
}

// Radii of three decades, clusters, balls far out, and two at the same place.
TEST(the_broad_phase_finds_exactly_the_pairs_that_are_near) {
  enum { N = 300 };
  unsigned seed = 7;
  for (int round = 0; round < 6; round++) {
    double centre[3 * N], radius[N];
    const double spread = round % 2 ? 1 : 0.1, margin = round == 0 ? 0 : 0.02 * round;
    for (int i = 0; i < N; i++) {
      radius[i] = round < 2 ? 0.03 : pow(10, -3 * random_number(&seed));
      if (round == 5) radius[i] = ldexp(1, -(i % 60));  // sizes of 60 octaves
      for (int k = 0; k < 3; k++) centre[3 * i + k] = spread * (random_number(&seed) - 0.5) + (i % 50 == 7 ? 1e3 : 0);
    }
    memcpy(centre + 3, centre, 3 * sizeof *centre);
    srBroad* broad = sr_broad_create(N);
    Found found = {.n = N, .pair = calloc(N * N, 1)};
    const srBalls balls = {.n = N, .centre = centre, .radius = radius};
    (void)sr_broad_pairs(broad, &balls, margin, take_pair, &found);
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < i; j++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) r2 += pow(centre[3 * i + k] - centre[3 * j + k], 2);
        const double reach = radius[i] + radius[j] + margin;
        ENSURE_EQUAL(found.pair[i * N + j], r2 < reach * reach);
      }
    }
    free(found.pair);
    sr_broad_destroy(broad);
  }
}

static bool stop_at_once(void* user, int i, int j) {
  (void)i, (void)j;
  ++*(int*)user;
  return false;
}

TEST(the_broad_phase_ends_when_it_is_stopped_and_leaves_out_what_is_nowhere) {
  const double centre[] = {0, 0, 0, 0.1, 0, 0, (double)NAN, 0, 0, 0, HUGE_VAL, 0, 0, 0.1, 0},
               radius[] = {1, 1, 1, 1, 1};
  srBroad* broad = sr_broad_create(5);
  int calls = 0;
  const srBalls balls = {.n = 5, .centre = centre, .radius = radius};
  (void)sr_broad_pairs(broad, &balls, 0, stop_at_once, &calls);
  ENSURE_EQUAL(calls, 1);
  Found found = {.n = 5, .pair = calloc(25, 1)};
  (void)sr_broad_pairs(broad, &balls, 0, take_pair, &found);
  int n = 0;
  for (int i = 0; i < 25; i++) n += found.pair[i];
  ENSURE_EQUAL(n, 3);
  free(found.pair);
  sr_broad_destroy(broad);
}

TEST(pairs_of_shapes_are_found_in_either_order) {
  bool swap;
  ENSURE(sr_pair_find(SR_KIND_PLANE, SR_KIND_SPHERE, &swap) == &sr_pair_plane_sphere && !swap);
  ENSURE(sr_pair_find(SR_KIND_SPHERE, SR_KIND_PLANE, &swap) == &sr_pair_plane_sphere && swap);
  ENSURE(sr_pair_find(SR_KIND_SPHERE, SR_KIND_HOLLOW, &swap) == &sr_pair_hollow_sphere && swap);
  ENSURE(sr_pair_find(SR_KIND_PLANE, SR_KIND_PLANE, &swap) == NULL);
  ENSURE(sr_pair_find(SR_KIND_NONE, SR_KIND_SPHERE, &swap) == NULL);
  ENSURE(!sr_pair_hollow_sphere.fits(-0.1, 0.1) && sr_pair_hollow_sphere.fits(-0.2, 0.1));
}

// ---- cost ---------------------------------------------------------------------------------------------------------------------

static Loaded spheres(int n, const char* more) {
  char settings[100];
  snprintf(settings, sizeof settings, "n=%d %s", n, more);
  return open_model("../benchmarks/spheres", settings);
}

// Counts, not seconds: room, distances measured, near pairs and instances of a sphere do not grow with their number.
TEST(the_cost_of_many_spheres_on_a_floor_is_linear) {
  static const int sizes[] = {250, 500, 1000, 2000};
  for (int k = 0; k < 4; k++) {
    const int n = sizes[k];
    Loaded x = spheres(n, "");
    const struct srInstances* list = x.d->instances;
    ENSURE_EQUAL(x.m->nforce, 0);
    ENSURE_EQUAL(x.m->ncontact, n + n * (n - 1) / 2);
    ENSURE(x.m->ninstance <= 6 * n && x.m->ny <= 18 * n && list->most_near <= 20 * n);
    ENSURE_EQUAL(sr_forward(x.m, x.d, -1), 0);
    ENSURE_EQUAL(list->nused, n);  // on the floor, none on another
    ENSURE(list->tested <= 30 * n && list->nnear <= 6 * n);
    const long tested = list->tested;
    const int version = list->version;
    for (int i = 0; i < 10; i++) {
      x.d->q[7 * i] += 1e-4;
      ENSURE_EQUAL(sr_forward(x.m, x.d, -1), 0);
    }
    ENSURE(list->tested == tested && list->version == version);  // the list still holds
    ENSURE_NEAR(x.d->a[5], 1e5 * 1e-4 - 9.81, 1e-9);
    x.d->q[0] += 1;  // into others
    ENSURE_EQUAL(sr_forward(x.m, x.d, -1), 0);
    ENSURE(list->version > version);
    close_model(&x);
  }
}

TEST(a_run_of_many_spheres_measures_few_distances) {
  Loaded x = spheres(300, "height=0.06");
  srRunOptions options = sr_run_options(x.m);
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  ENSURE_EQUAL(x.result.impacts, 300);
  ENSURE_NEAR(x.result.event[0].t, sqrt(2 * 0.01 / 9.81), 1e-7);
  ENSURE_EQUAL(x.d->instances->nused, 300);
  ENSURE(x.d->instances->tested < 30l * 300 * x.result.stats.steps);
  close_model(&x);
}

// ---- a heap -------------------------------------------------------------------------------------------------------------------

// Without friction the floor carries the weight: the depths of its contacts times K add up to it.
TEST(balls_settle_in_a_bin_and_the_floor_carries_their_weight) {
  Loaded x = open_model("contact/balls-in-bin", "side=1 layers=5 mu=0 K=1e6 D=1e3");
  srRunOptions options = sr_run_options(x.m);
  options.step = 1e-4;
  options.t_end = 1.5;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  double depth = 0, deepest = 0;
  for (int i = 0; i < 5; i++) {
    const double* q = x.d->q + 7 * i;
    for (int k = 0; k < 3; k++) ENSURE(q[k] > 0.0499 && (k == 2 || q[k] < 0.0701));
    depth += fmax(0, 0.05 - q[2]);
    deepest = fmax(deepest, 0.05 - q[2]);
    ENSURE_SMALL(x.d->v[6 * i + 5], 1e-4);
  }
  ENSURE_NEAR(1e6 * depth, 5 * 0.5 * 9.81, 0.01);
  ENSURE(x.result.penetration > deepest && x.result.penetration < 1e-3);
  close_model(&x);
}

// 8 balls as the model has them.
TEST(stiff_balls_in_a_bin_interpenetrate_by_less_than_a_tenth_of_a_millimetre) {
  Loaded x = open_model("contact/balls-in-bin", "");
  srRunOptions options = sr_run_options(x.m);
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  ENSURE(x.result.impacts > 8 && x.result.penetration > 0 && x.result.penetration < 1e-4);
  for (int i = 0; i < 8; i++) {
    const double* q = x.d->q + 7 * i;
    for (int k = 0; k < 3; k++) ENSURE(q[k] > 0.0499 && (k == 2 || q[k] < 0.1901));
  }
  close_model(&x);
}

// ---- the same motion ----------------------------------------------------------------------------------------------------------

// Balls of different sizes in a box; instances 0: an element for every pair.
static const char* box(const char* law, int most) {
  static char text[4000];
  char room[40] = "";
  if (most > 0) snprintf(room, sizeof room, "most=\"%d\"", most);
  snprintf(text, sizeof text,
           "<sarrus version='1' name='box'>"
           "<ground><shape name='floor' type='plane' group='walls'/>"
           "<shape name='left' type='plane' at='-0.2 0 0' rpy='0 pi/2 0' group='walls'/>"
           "<shape name='right' type='plane' at='0.2 0 0' rpy='0 -pi/2 0' group='walls'/>"
           "<shape name='front' type='plane' at='0 -0.2 0' rpy='-pi/2 0 0' group='walls'/>"
           "<shape name='back' type='plane' at='0 0.2 0' rpy='pi/2 0 0' group='walls'/></ground>"
           "<repeat count='8' index='i'><body name='s{i}' parent='ground'>"
           "<joint name='j{i}' type='free' q='0.11*(mod(i, 2)-0.5)+0.003*i 0.11*(mod(floor(i/2),2)-0.5)-0.004*i "
           "0.0601+0.12*floor(i/4) 1 0 0 0' v='i -i 1 0.3*i-1 0.2-0.1*i 0'/>"
           "<inertial mass='0.1' com='0 0 0' inertia='1e-4 1e-4 1e-4'/>"
           "<shape name='b{i}' type='sphere' size='0.05-0.001*i' group='balls'/></body></repeat>"
           "<contact a='walls' b='balls' %s mu-k='0.3' bristle-K='1e4' bristle-B='1' %s/>"
           "<contact a='balls' b='balls' %s mu-k='0.3' bristle-K='1e4' bristle-B='1' mu-roll='0.001' %s/></sarrus>",
           law, room, law, room);
  return text;
}

static const char *const damped = "normal='kelvin-voigt' K='1e4' D='5'", *const bouncing = "K='1e5' restitution='0.6'";

static void run_box(Loaded* x, const char* law, int most, const char* method, double rtol, double t_end) {
  *x = open_text(box(law, most));
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.step = 1e-4;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  options.t_end = t_end;
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, NULL, &x->result), SR_OK);
}

static double apart(const Loaded* a, const Loaded* b) {
  double most = 0;
  for (int i = 0; i < a->m->nq; i++) most = fmax(most, fabs(a->d->q[i] - b->d->q[i]));
  return most;
}

// Up to the first parting the arithmetic is the same to the last bit: touches, bristles, slots.
TEST(instances_move_as_elements_do_by_steps_of_fixed_length) {
  Loaded a, b;
  run_box(&a, damped, 0, "rk4", 1e-10, 0.06);
  run_box(&b, damped, 40, "rk4", 1e-10, 0.06);
  ENSURE(a.m->nforce == 68 && b.m->nforce == 0 && b.m->nset == 2);
  ENSURE(a.result.impacts >= 4);
  ENSURE_EQUAL(a.result.impacts, b.result.impacts);
  ENSURE(apart(&a, &b) == 0);
  close_model(&a);
  close_model(&b);
}

// In free fall the gap is a parabola until it closes; the force within the last step changes its end a little.
TEST(steps_of_fixed_length_report_when_and_how_fast_a_contact_closed) {
  for (int k = 0; k < 2; k++) {
    char text[600];
    snprintf(text, sizeof text,
             "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>"
             "<body name='s'><joint type='free' q='0 0 0.06 1 0 0 0'/><inertial mass='0.1' inertia='1e-4 1e-4 1e-4'/>"
             "<shape name='b' type='sphere' size='0.05'/></body>"
             "<contact a='floor' b='b' normal='kelvin-voigt' K='1e3' D='0.1' friction='none' %s/></sarrus>",
             k == 0 ? "" : "most='2'");
    Loaded x = open_text(text);
    srRunOptions options = sr_run_options(x.m);
    options.method = "rk4";
    options.step = 1e-3;
    options.t_end = 0.05;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    ENSURE_EQUAL(x.result.impacts, 1);
    ENSURE_NEAR(x.result.event[0].t, sqrt(2 * 0.01 / 9.81), 1e-6);
    ENSURE(strstr(sr_run_event_reason(&x.result.event[0], text), "with 0.44") != NULL);  // sqrt(2 g h) = 0.443 m/s
    ENSURE_NEAR(x.result.penetration, 0.05 - x.d->q[2], 1e-9);                           // it is still going down
    close_model(&x);
  }
}

// Later, by the errors of the method: 3.4e-6 m were seen at most, amplified by the impacts.
TEST(instances_move_as_elements_do_where_contacts_are_located) {
  const char* laws[] = {damped, bouncing};
  for (int k = 0; k < 2; k++) {
    Loaded a, b;
    run_box(&a, laws[k], 0, "dopri5", 1e-10, 0.2);
    run_box(&b, laws[k], 40, "dopri5", 1e-10, 0.2);
    ENSURE(a.result.impacts > 20);
    ENSURE_EQUAL(a.result.impacts, b.result.impacts);
    ENSURE_EQUAL(a.result.clamps, b.result.clamps);
    ENSURE_SMALL(apart(&a, &b), 1e-5);
    ENSURE_SMALL(b.result.energy.residual, 1e-6);
    for (int i = 0; i < a.result.nevent; i++) {
      ENSURE_NEAR(a.result.event[i].t, b.result.event[i].t, 1e-5);
      ENSURE_TEXT(a.result.event[i].a, b.result.event[i].a);
      ENSURE_TEXT(a.result.event[i].b, b.result.event[i].b);
    }
    close_model(&a);
    close_model(&b);
  }
}

// ---- implicit methods -----------------------------------------------------------------------------------------------------

// As elements with an explicit method at tight tolerances, over several touches.
TEST(implicit_methods_move_instances_as_elements) {
  static const struct {
    const char* method;
    double rtol, bound;
  } cases[] = {{"radau5", 1e-5, 1e-5}, {"cvode", 1e-5, 1e-5}, {"ida", 1e-5, 1e-5}, {"genalpha-ggl", 1e-3, 1e-3}};
  Loaded a;
  run_box(&a, damped, 0, "dopri5", 1e-8, 0.055);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Loaded b;
    if (sri_method_find(cases[k].method)->absent) continue;
    run_box(&b, damped, 12, cases[k].method, cases[k].rtol, 0.055);
    ENSURE(a.result.impacts >= 4 && b.result.stats.tangents > 0);
    ENSURE_EQUAL(a.result.impacts, b.result.impacts);
    ENSURE_SMALL(apart(&a, &b), cases[k].bound);
    close_model(&b);
  }
  close_model(&a);
}

// More unknowns than a dense matrix allows. While the same spheres touch, steps allocate nothing.
TEST(implicit_steps_of_many_spheres_allocate_nothing_while_the_same_ones_touch) {
  Loaded x = spheres(150, "");
  ENSURE(x.m->nv + x.m->ny > 3000);
  srModelSystem user = {.m = x.m, .d = x.d, .tangent = sr_tangent_create(x.m)};
  ENSURE(user.tangent != NULL);
  const srSystem system = sr_system(&user);
  static const char* const methods[] = {"radau5", "genalpha-ggl"};
  for (int k = 0; k < 2; k++) {
    srIntegrator* integrator = NULL;
    srIntegratorOptions options = sri_default_options();
    options.step = 1e-4;
    options.control = SR_CONTROL_FIXED;
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(sri_create(methods[k], &system, &options, NULL, &integrator), SR_OK);
    ENSURE_EQUAL(sri_start(integrator, 0, x.d->q, x.d->v, x.d->y), SR_OK);
    ENSURE_EQUAL(sri_step(integrator, 1), SR_OK);
    ENSURE_EQUAL(x.d->instances->nused, 150);
    Heap heap = {0};
    sr_set_allocator(heap_allocator, &heap);
    for (int i = 0; i < 2; i++) ENSURE_EQUAL(sri_step(integrator, 1), SR_OK);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(heap.calls, 0);
    ENSURE_EQUAL(x.d->instances->nused, 150);
    sri_destroy(integrator);
  }
  sr_tangent_destroy(user.tangent);
  close_model(&x);
}

// Overdamped: the fast rate D/m = 1e4 1/s bounds explicit steps to 0.33 ms, and nothing moves.
TEST(auto_goes_on_with_an_implicit_method_where_the_contacts_of_a_set_are_stiff) {
  static const char* const methods[] = {"auto", "cvode", "ida"};
  for (int k = 0; k < 3; k++) {
    if (sri_method_find(methods[k])->absent) continue;
    Loaded x = open_text(
        "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><repeat count='110' index='i'>"
        "<body name='s{i}'><joint name='j{i}' type='prismatic' axis='0 0 1' at='i 0 0' q='0.0501+1e-5*mod(i,2)'/>"
        "<inertial mass='1' com='0 0 0' inertia='1 1 1'/>"
        "<shape name='b{i}' type='sphere' size='0.05' group='balls'/></body>"
        "</repeat><contact a='floor' b='balls' normal='kelvin-voigt' K='1e6' D='1e4' friction='none'/></sarrus>");
    ENSURE(x.m->nset == 1 && x.m->nforce == 0);
    srRunOptions options = sr_run_options(x.m);
    options.method = methods[k];
    options.t_end = 1;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    ENSURE(x.result.impacts >= 110 && (k > 0 || x.result.stats.switches > 0));
    ENSURE(x.result.stats.steps < 1500);                           // explicit: 3000
    ENSURE(x.result.stats.iterations < 2 * x.result.stats.steps);  // the matrix is exact
    for (int i = 0; i < 110; i++) ENSURE_NEAR(x.d->q[i], 0.05 - 9.81e-6, 1e-8);
    close_model(&x);
  }
}

// ---- slots --------------------------------------------------------------------------------------------------------------------

// A ball that is thrown, lands and rolls: one slot, taken while it touches, with its bristles; free and 0 in flight.
TEST(an_instance_keeps_its_slot_and_states_as_long_as_it_touches) {
  Loaded x = open_text(
      "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><body name='s'>"
      "<joint name='j' type='free' q='0 0 0.1 1 0 0 0' v='0 0 0 1 0 0'/>"
      "<inertial mass='1' com='0 0 0' inertia='1e-3 1e-3 1e-3'/><shape name='b' type='sphere' size='0.05'/></body>"
      "<contact a='floor' b='b' normal='kelvin-voigt' K='1e4' D='20' mu-k='0.3' most='1'/></sarrus>");
  srRunOptions options = sr_run_options(x.m);
  ENSURE(x.m->ny == 2 && x.m->ny_slot == 2 && x.m->ninstance == 1);
  const struct srInstances* list = x.d->instances;
  int before = 0, changes = 0;
  for (int k = 1; k <= 60; k++) {
    options.t_end = 0.01 * k;
    options.method = "dopri5";
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    const bool touches = x.d->q[2] < 0.05;
    ENSURE_EQUAL(list->nused, touches);
    ENSURE((hypot(x.d->y[0], x.d->y[1]) > 0) == touches);
    changes += list->nused != before;
    before = list->nused;
  }
  ENSURE(changes >= 3);  // contact, flight, contact again
  // Angular momentum about the floor: 5/7 of the speed, and 2/7 of the slip.
  srFrameMotion motion;
  sr_frame_motion(x.m, x.d, sr_point_find(x.m, "s"), 0, &motion);
  const double slip = motion.velocity[0] - 0.05 * motion.angular_velocity[1];
  ENSURE_NEAR(motion.velocity[0], 5.0 / 7 + 2.0 / 7 * slip, 1e-2);  // the arm is that of the sphere, not of the dent
  close_model(&x);
}

TEST(more_contacts_than_the_capacity_end_a_run_with_a_message) {
  Loaded x = open_text(box(damped, 2));
  srRunOptions options = sr_run_options(x.m);
  options.t_end = 0.2;
  for (int k = 0; k < 2; k++) {
    options.method = k == 0 ? "dopri5" : "rk4";
    options.step = 1e-4;
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_FAILED);
    ENSURE(strstr(x.result.error_message,
                  "more than 2 pairs of the contact 'balls on walls' are in contact at the same time"));
    ENSURE(x.result.t > 0.04 && x.result.t < 0.06);
  }
  close_model(&x);
}

TEST(instances_as_numbers_take_a_run_up_where_it_was) {
  Loaded a, b, c;
  run_box(&a, bouncing, 40, "dopri5", 1e-10, 0.11);
  const int n = sr_instance_numbers(a.m, a.d, NULL);
  double numbers[200];
  ENSURE(n >= 6 && n <= 200);
  ENSURE_EQUAL(sr_instance_numbers(a.m, a.d, numbers), n);
  run_box(&b, bouncing, 40, "dopri5", 1e-10, 0);
  memcpy(b.d->q, a.d->q, (size_t)a.m->nq * sizeof(double));
  memcpy(b.d->v, a.d->v, (size_t)a.m->nv * sizeof(double));
  b.d->t = a.d->t;
  ENSURE(sr_put_instances(b.m, b.d, numbers, n));
  ENSURE_EQUAL(b.d->instances->nused, a.d->instances->nused);
  srRunOptions options = sr_run_options(b.m);
  options.method = "dopri5";
  options.rtol = 1e-10;
  options.atol = 1e-12;
  options.t_end = 0.2;
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &b.result), SR_OK);
  run_box(&c, bouncing, 40, "dopri5", 1e-10, 0.2);
  ENSURE_SMALL(apart(&b, &c), 1e-6);
  double wrong[200];
  for (int k = 0; k < 4; k++) {  // a slot, a shape, a length that do not fit
    memcpy(wrong, numbers, sizeof wrong);
    if (k == 0) wrong[0] = 1000;
    if (k == 1) wrong[1] = 1000;
    if (k == 2) wrong[2] = 0.5;
    ENSURE(!sr_put_instances(b.m, b.d, wrong, k == 3 ? n - 1 : n));
    ENSURE_EQUAL(b.d->instances->nused, 0);
  }
  close_model(&a);
  close_model(&b);
  close_model(&c);
}

TEST(a_copy_of_the_data_has_instances_of_its_own) {
  Loaded a;
  run_box(&a, damped, 40, "dopri5", 1e-10, 0.11);
  srData* d = sr_data_create(a.m);
  sr_data_copy(a.m, a.d, d);
  ENSURE(d->instances->nused > 0);
  ENSURE_EQUAL(d->instances->nused, a.d->instances->nused);
  ENSURE_EQUAL(sr_forward(a.m, a.d, -1), 0);
  double expected[48];
  memcpy(expected, a.d->a, sizeof expected);
  sr_data_reset(a.m, a.d);
  ENSURE_EQUAL(sr_forward(a.m, d, -1), 0);
  for (int i = 0; i < a.m->nv; i++) ENSURE(d->a[i] == expected[i]);
  sr_data_destroy(d);
  close_model(&a);
}

// ---- where nothing is near ------------------------------------------------------------------------------------------------------

// A small fast ball hits one of many that rest, after a long flight: steps that accuracy would let pass both.
TEST(a_fast_ball_does_not_pass_through_another) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><repeat count='12' index='i'><body name='s{i}'>"
      "<joint name='j{i}' type='free' q='0.5*i 0.001*i 0 1 0 0 0' v='0 0 0 if(i, 0, 1000) 0 0'/>"
      "<inertial mass='1' com='0 0 0' inertia='1e-5 1e-5 1e-5'/>"
      "<shape name='b{i}' type='sphere' size='0.01' group='balls'/></body></repeat>"
      "<contact a='balls' b='balls' normal='kelvin-voigt' K='1e9' D='100' friction='none'/></sarrus>");
  ENSURE_EQUAL(x.m->nset, 1);
  srRunOptions options = sr_run_options(x.m);
  options.method = "dopri5";
  options.rtol = 1e-9;
  options.t_end = 0.01;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  ENSURE(x.result.impacts >= 1);
  ENSURE_NEAR(x.result.event[0].t, (0.5 - sqrt(0.02 * 0.02 - 1e-6)) / 1000, 1e-9);
  ENSURE_SMALL(x.result.energy.residual / x.result.energy.kinetic0, 1e-5);
  close_model(&x);
}

// A plate that turns about a distant axis meets balls that rest: the plane moves, they do not.
TEST(a_moving_plane_finds_balls_that_rest) {
  double t[2];
  for (int k = 0; k < 2; k++) {
    char text[1500];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 0'/><body name='plate'>"
             "<joint name='hinge' type='revolute' axis='0 1 0' v='-2'/>"
             "<inertial mass='1' com='0 0 0' inertia='1 1 1'/><shape name='top' type='plane'/></body>"
             "<repeat count='3' index='i'><body name='s{i}'><joint name='j{i}' type='free' q='2+i 0 0.9 1 0 0 0'/>"
             "<inertial mass='1e-3' com='0 0 0' inertia='1e-6 1e-6 1e-6'/>"
             "<shape name='b{i}' type='sphere' size='0.02' group='balls'/></body></repeat>"
             "<contact a='top' b='balls' normal='kelvin-voigt' K='1e3' D='1' friction='none' %s/></sarrus>",
             k == 0 ? "" : "most='3'");
    Loaded x = open_text(text);
    srRunOptions options = sr_run_options(x.m);
    options.method = "dopri5";
    options.t_end = 0.3;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    ENSURE(x.result.impacts >= 1);
    ENSURE_TEXT(x.result.event[0].b, "s2/b2");
    t[k] = x.result.event[0].t;
    close_model(&x);
  }
  // The far ball first: gap = 4 sin(-2 t)... + 0.9 cos(2 t) - 0.02 = 0
  double a = 0, b = 0.3;
  for (int i = 0; i < 60; i++) {
    const double m = 0.5 * (a + b);
    *(0.9 * cos(2 * m) - 4 * sin(2 * m) - 0.02 > 0 ? &a : &b) = m;
  }
  ENSURE_NEAR(t[0], a, 1e-9);
  ENSURE_NEAR(t[1], a, 1e-9);
}

TEST(many_shapes_with_errors_are_refused_once) {
  static const struct {
    const char *contact, *expected;
  } wrong[] = {
      {"<contact a='balls' b='balls' most='0' K='1' restitution='1' friction='none'/>", "'most' counts pairs"},
      {"<contact a='balls' b='balls' most='2.5' K='1' restitution='1' friction='none'/>", "'most' counts pairs"},
      {"<contact a='balls' b='balls' K='1' restitution='1'/>", "needs 'mu-s' or 'mu-k'"},
      {"<contact a='balls' b='balls' restitution='1' friction='none'/>", "needs 'K', or 'E'"},
      {"<contact a='balls' b='box' restitution='1' friction='none' most='3'/>", "needs 'K': Hertz's stiffness"},
      {"<contact a='balls' b='shell' K='1' restitution='1' friction='none' most='3'/>", "is not in this version"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    char text[1500];
    snprintf(text, sizeof text,
             "<sarrus version='1'><ground><shape name='box' type='box' size='1 1 1'/>"
             "<shape name='shell' type='sphere' size='-0.04'/></ground><repeat count='20' index='i'><body name='s{i}'>"
             "<inertial mass='1' com='0 0 0' inertia='1 1 1'/>"
             "<shape name='b{i}' type='sphere' size='0.05' group='balls'/></body></repeat>%s</sarrus>",
             wrong[k].contact);
    srMessages* messages = sr_messages_create();
    srSpec* spec = NULL;
    srModel* m = NULL;
    ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
    ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_INPUT);
    ENSURE_EQUAL(sr_messages_errors(messages), 1);
    char line[400];
    sr_message_format(sr_messages_get(messages, 0), line, sizeof line);
    if (!strstr(line, wrong[k].expected)) printf("  %s\n", line);
    ENSURE(strstr(line, wrong[k].expected));
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
}
