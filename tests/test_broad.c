// Broad phase: the tree of boxes and the grid against all pairs, boxes that are nowhere or everywhere, fat boxes, cost that stays linear.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "collide/boxes.h"
#include "collide/broad.h"
#include "collide/cells.h"
#include "heap.h"
#include "runner.h"

static double random_number(unsigned long* seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (double)(*seed >> 11) * 0x1p-53;
}

// Balls thrown into a cube that they fill by 0.35, radii 1 .. ratio with number ~ r^-3; or somewhere else.
typedef enum Where { CUBE, ONE_PLACE, FAR_OUT, TWO_PLACES, OUTLIER, LINE } Where;

typedef struct Scene {
  int n;
  double *centre, *radius, *low, *high;
} Scene;

static Scene throw_balls(int n, double ratio, Where where, unsigned long seed) {
  Scene x = {.n = n, .centre = malloc((size_t)(10 * n + 1) * sizeof(double))};
  x.low = x.centre + 3 * n;
  x.high = x.low + 3 * n;
  x.radius = x.high + 3 * n;
  double volume = 0;
  for (int i = 0; i < n; i++) {
    x.radius[i] = 1 / sqrt(1 - (1 - 1 / (ratio * ratio)) * random_number(&seed));
    volume += 4.19 * pow(x.radius[i], 3);
  }
  for (int i = 0; i < 3 * n; i++) {
    double* c = &x.centre[i];
    *c = cbrt(volume / 0.35) * random_number(&seed);
    if (where == ONE_PLACE) *c = 0.25;
    if (where == FAR_OUT) *c += 1e8;
    if (where == TWO_PLACES && i / 3 % 3 == 0) *c += 1e8;
    if (where == OUTLIER && i / 3 == n / 2) *c = 1e8;
    if (where == LINE && i % 3 > 0) *c = 0;
  }
  for (int i = 0; i < 3 * n; i++) {
    x.low[i] = x.centre[i] - x.radius[i / 3];
    x.high[i] = x.centre[i] + x.radius[i / 3];
  }
  return x;
}

typedef struct Found {
  int n, calls, last[2];
  unsigned long hash;   // of the pairs in their order
  unsigned char* pair;  // n x n, or NULL
} Found;

static bool take(void* user, int i, int j) {
  Found* found = user;
  ENSURE(i > j && j >= 0 && i < found->n);
  found->calls++;
  found->hash = (found->hash ^ ((unsigned long)i * 65537 + (unsigned long)j)) * 1099511628211ul;
  if (found->pair != NULL) found->pair[i * found->n + j]++;
  return true;
}

// Largest distance of two boxes along an axis; negative: they overlap.
static double apart(const Scene* x, int i, int j) {
  double most = -HUGE_VAL;
  for (int k = 0; k < 3; k++) {
    most = fmax(most, fmax(x->low[3 * i + k] - x->high[3 * j + k], x->low[3 * j + k] - x->high[3 * i + k]));
  }
  return most;
}

// Exactly the pairs of boxes nearer than margin, but for the rounding to single precision: 4 ulp of the distance from the origin of the tree.
static void check_boxes(const Scene* x, double margin, double rounding) {
  const srBoxes boxes = {.n = x->n, .low = x->low, .high = x->high};
  srBoxTree* tree = sr_boxes_create(x->n);
  Found found = {.n = x->n, .pair = calloc((size_t)(x->n * x->n + 1), 1)};
  sr_boxes_build(tree, &boxes, margin);
  (void)sr_boxes_pairs(tree, take, &found);
  for (int i = 0; i < x->n; i++) {
    for (int j = 0; j < i; j++) {
      const double d = apart(x, i, j) - margin;
      ENSURE(found.pair[i * x->n + j] == 1 || d > 0);
      ENSURE(found.pair[i * x->n + j] == 0 || d < rounding);
    }
  }
  free(found.pair);
  sr_boxes_destroy(tree);
}

static void check_balls(const Scene* x, double margin) {
  const srBalls balls = {.n = x->n, .centre = x->centre, .radius = x->radius};
  srBroad* broad = sr_broad_create(x->n);
  Found found = {.n = x->n, .pair = calloc((size_t)(x->n * x->n + 1), 1)};
  (void)sr_broad_pairs(broad, &balls, margin, take, &found);
  for (int i = 0; i < x->n; i++) {
    for (int j = 0; j < i; j++) ENSURE_EQUAL(found.pair[i * x->n + j], sr_balls_near(&balls, margin, i, j));
  }
  free(found.pair);
  sr_broad_destroy(broad);
}

TEST(boxes_and_balls_that_are_near_are_found_whatever_their_sizes_and_places) {
  static const Where where[] = {CUBE, ONE_PLACE, FAR_OUT, TWO_PLACES, OUTLIER, LINE};
  for (int k = 0; k < SR_COUNT(where); k++) {
    for (int wide = 0; wide < 3; wide++) {
      for (int n = 0; n < 300; n = 2 * n + 1 + 60 * (n > 60)) {
        Scene x = throw_balls(n, wide == 0 ? 1 : wide == 1 ? 3 : 100, where[k], 5 + (unsigned long)n);
        const double margin = wide * 0.1, far = where[k] == TWO_PLACES || where[k] == OUTLIER ? 1e8 : 300;
        check_boxes(&x, margin, 4 * 0x1p-23 * far);
        check_balls(&x, margin);
        free(x.centre);
      }
    }
  }
}

// Sizes and places of hundreds of decades, some of them equal, and margins as well: whatever the builder meets.
TEST(the_tree_of_boxes_takes_any_numbers) {
  unsigned long seed = 99;
  const int rounds = runner_long() ? 3000 : 150;
  for (int round = 0; round < rounds; round++) {
    const int n = 1 + (int)(60 * random_number(&seed));
    const double decades = 300 * pow(random_number(&seed), 4);
    Scene x = throw_balls(n, 1, CUBE, 1 + (unsigned long)round);
    for (int i = 0; i < 3 * n; i++) {
      const double c = (random_number(&seed) - 0.5) * pow(10, decades * (random_number(&seed) - 0.8));
      const double h = random_number(&seed) * pow(10, decades * (random_number(&seed) - 0.8));
      x.low[i] = random_number(&seed) < 0.1 ? 0 : c - h;
      x.high[i] = fmax(x.low[i], c + h);
    }
    check_boxes(&x, round % 3 == 0 ? 0 : random_number(&seed), HUGE_VAL);
    free(x.centre);
  }
}

TEST(unbounded_boxes_are_near_all_that_they_reach_and_boxes_that_are_nowhere_near_nothing) {
  const double inf = HUGE_VAL, nan = (double)NAN;
  // A floor, a box on it, one above it, everything, three that are nowhere, an empty one, a half space x > 2, a box there.
  const double low[] = {-inf, -inf, -inf, 0, 0, -1, 0,   0, 5, -inf, -inf, -inf, nan, 0, 0,
                        inf,  0,    0,    0, 0, 0,  1.5, 1, 1, 2,    -5,   -5,   3,   0, 9};
  const double high[] = {inf, inf, 0, 1, 1,   1, 1,   1, 6, inf, inf, inf, 1, 1, 1,
                         inf, 1,   1, 1, nan, 1, 1.2, 3, 3, inf, 5,   20,  4, 1, 10};
  enum { N = 10 };
  const Scene x = {.n = N, .low = (double*)low, .high = (double*)high};
  const srBoxes boxes = {.n = N, .low = low, .high = high};
  srBoxTree* tree = sr_boxes_create(N);
  unsigned char pair[N * N] = {0};
  Found found = {.n = N, .pair = pair};
  sr_boxes_build(tree, &boxes, 0);
  ENSURE(sr_boxes_pairs(tree, take, &found) > 0);
  static const int expected[][2] = {{1, 0}, {3, 0}, {3, 1}, {3, 2}, {8, 0}, {8, 3}, {9, 3}, {9, 8}};
  for (int k = 0; k < SR_COUNT(expected); k++) {
    ENSURE_EQUAL(pair[N * expected[k][0] + expected[k][1]], 1);
    ENSURE(apart(&x, expected[k][0], expected[k][1]) <= 0);
  }
  ENSURE_EQUAL(found.calls, SR_COUNT(expected));
  sr_boxes_destroy(tree);
}

// ---- fat boxes --------------------------------------------------------------------------------------------------------

// Moves box i by d along y.
static void shift(Scene* x, int i, double d) {
  x->low[3 * i + 1] += d;
  x->high[3 * i + 1] += d;
}

TEST(the_tree_stays_while_every_box_is_within_its_fat_box) {
  enum { N = 200 };
  Scene x = throw_balls(N, 3, CUBE, 3);
  const srBoxes boxes = {.n = N, .low = x.low, .high = x.high}, fewer = {.n = N - 1, .low = x.low, .high = x.high};
  srBoxTree* tree = sr_boxes_create(N);
  unsigned char* pair = calloc(N * N, 1);
  Found found = {.n = N, .pair = pair}, again = {.n = N};
  ENSURE(sr_boxes_update(tree, &boxes, 0.2));
  (void)sr_boxes_pairs(tree, take, &found);
  for (int i = 0; i < N; i++) shift(&x, i, i % 2 ? 0.0999 : -0.0999);
  ENSURE(!sr_boxes_update(tree, &boxes, 0.2));
  (void)sr_boxes_pairs(tree, take, &again);
  ENSURE(again.calls == found.calls && again.hash == found.hash);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) ENSURE(pair[i * N + j] || apart(&x, i, j) > 0);
  }
  shift(&x, N - 1, 0.001);  // beyond its fat box
  ENSURE(sr_boxes_update(tree, &boxes, 0.2) && !sr_boxes_update(tree, &boxes, 0.2));
  x.low[4] = (double)NAN;  // nowhere: still in no new pair
  ENSURE(!sr_boxes_update(tree, &boxes, 0.2));
  ENSURE(sr_boxes_update(tree, &boxes, 0.1));  // another margin
  x.low[4] = x.high[4] - 1;                    // and back
  ENSURE(sr_boxes_update(tree, &boxes, 0.1));
  ENSURE(sr_boxes_update(tree, &fewer, 0.1));
  free(pair);
  free(x.centre);
  sr_boxes_destroy(tree);
}

// ---- order, memory, cost ----------------------------------------------------------------------------------------------

TEST(the_order_of_the_pairs_depends_on_the_balls_alone) {
  Scene x = throw_balls(500, 1, CUBE, 21), y = throw_balls(500, 100, CUBE, 22);
  const srBalls similar = {.n = 500, .centre = x.centre, .radius = x.radius},
                mixed = {.n = 500, .centre = y.centre, .radius = y.radius};
  srBroad *used = sr_broad_create(500), *fresh = sr_broad_create(900);
  Found a[4] = {{.n = 500}, {.n = 500}, {.n = 500}, {.n = 500}};
  (void)sr_broad_pairs(used, &similar, 0, take, &a[0]);
  (void)sr_broad_pairs(used, &mixed, 0, take, &a[1]);
  (void)sr_broad_pairs(fresh, &mixed, 0, take, &a[2]);
  (void)sr_broad_pairs(fresh, &similar, 0, take, &a[3]);
  ENSURE(a[0].hash == a[3].hash && a[1].hash == a[2].hash && a[0].calls > 400 && a[1].calls > 100);
  sr_broad_destroy(used);
  sr_broad_destroy(fresh);
  free(x.centre);
  free(y.centre);
}

TEST(the_broad_phase_allocates_when_it_is_created_and_leaks_nothing) {
  Heap heap = {.fail_at = 1};
  sr_set_allocator(heap_allocator, &heap);
  srBroad* broad;
  while ((broad = sr_broad_create(100)) == NULL) {
    ENSURE(heap.live == 0 && heap.fail_at < 10);
    heap.calls = 0;
    heap.fail_at++;
  }
  const long calls = heap.calls;
  for (int k = 0; k < 2; k++) {
    Scene x = throw_balls(100, k ? 100 : 1, CUBE, 4);
    const srBalls balls = {.n = 100, .centre = x.centre, .radius = x.radius};
    Found found = {.n = 100};
    (void)sr_broad_pairs(broad, &balls, 0.1, take, &found);
    free(x.centre);
  }
  ENSURE_EQUAL(heap.calls, calls);
  sr_broad_destroy(broad);
  ENSURE_EQUAL(heap.live, 0);
  sr_set_allocator(NULL, NULL);
}

// Tests of boxes or distances for each ball, of the order of its neighbours.
static void check_cost(int n, double ratio, Where where) {
  Scene x = throw_balls(n, ratio, where, 1);
  const srBalls balls = {.n = n, .centre = x.centre, .radius = x.radius};
  srBroad* broad = sr_broad_create(n);
  Found found = {.n = n};
  const long tested = sr_broad_pairs(broad, &balls, 0, take, &found);
  ENSURE(tested < 60l * n && found.calls > n / 10);
  sr_broad_destroy(broad);
  free(x.centre);
}

// Grid and tree, by number: tests/check_scaling.sh counts the instructions of these.
TEST(the_broad_phase_of_1000_similar_balls_is_linear) { check_cost(1000, 1, CUBE); }
TEST(the_broad_phase_of_10000_similar_balls_is_linear) { check_cost(10000, 1, CUBE); }
TEST(the_broad_phase_of_100000_similar_balls_is_linear) { check_cost(100000, 1, CUBE); }
TEST(the_broad_phase_of_1000_mixed_balls_is_linear) { check_cost(1000, 100, CUBE); }
TEST(the_broad_phase_of_10000_mixed_balls_is_linear) { check_cost(10000, 100, CUBE); }
TEST(the_broad_phase_of_100000_mixed_balls_is_linear) { check_cost(100000, 100, CUBE); }

TEST(a_few_balls_far_out_do_not_make_the_broad_phase_slow) {
  check_cost(10000, 1, OUTLIER);
  check_cost(10000, 100, OUTLIER);
  check_cost(10000, 1, FAR_OUT);
}

// ---- cells ------------------------------------------------------------------------------------------------------------

static void count_visit(void* user, int i) { ++((int*)user)[i]; }

// Are all balls within `reach` of each ball visited, and none twice?
static bool cells_visit(const srCells* cells, const Scene* s, double reach, int* visits) {
  for (int i = 0; i < s->n; i++) {
    const double* a = s->centre + 3 * i;
    memset(visits, 0, (size_t)s->n * sizeof *visits);
    sr_cells_near(cells, a, reach, count_visit, visits);
    for (int k = 0; k < s->n; k++) {
      const double* b = s->centre + 3 * k;
      const double far = fmax(fmax(fabs(a[0] - b[0]), fabs(a[1] - b[1])), fabs(a[2] - b[2]));
      if (visits[k] > 1 || (far <= reach && visits[k] == 0)) return false;
    }
  }
  return true;
}

TEST(cells_visit_what_is_near_once_wherever_balls_have_moved) {
  static const Where where[] = {CUBE, ONE_PLACE, FAR_OUT, TWO_PLACES, OUTLIER, LINE};
  int* visits = malloc(300 * sizeof *visits);
  for (int w = 0; w < SR_COUNT(where); w++) {
    Scene s = throw_balls(300, 2, where[w], 88172645463325252UL);
    srCells* cells = sr_cells_create(s.n);
    unsigned long seed = 7;
    sr_cells_clear(cells, 2.5);
    for (int i = 0; i < s.n; i++) sr_cells_put(cells, i, s.centre + 3 * i);
    ENSURE(cells_visit(cells, &s, 2, visits));
    for (int k = 0; k < 3 * s.n; k++) {  // one after the other goes elsewhere
      const int i = (int)(random_number(&seed) * s.n);
      for (int j = 0; j < 3; j++) s.centre[3 * i + j] += 6 * random_number(&seed) - 3;
      sr_cells_put(cells, i, s.centre + 3 * i);
    }
    ENSURE(cells_visit(cells, &s, 2, visits));
    ENSURE(cells_visit(cells, &s, 9, visits));
    sr_cells_clear(cells, 1);
    memset(visits, 0, 300 * sizeof *visits);
    sr_cells_near(cells, s.centre, 10, count_visit, visits);
    for (int i = 0; i < s.n; i++) ENSURE_EQUAL(visits[i], 0);
    sr_cells_destroy(cells);
    free(s.centre);
  }
  free(visits);
}

// Few cells and many balls: those of one place of the table are distinguished. Few balls and many cells: each is visited once.
TEST(cells_leave_out_what_is_in_other_cells) {
  srCells* cells = sr_cells_create(1000);
  int *visits = calloc(1000, sizeof *visits), seen = 0;
  sr_cells_clear(cells, 1);
  for (int i = 0; i < 1000; i++) sr_cells_put(cells, i, (const double[]){i + 0.5, 0.5, 0.5});
  sr_cells_near(cells, (const double[]){500.5, 0.5, 0.5}, 0.9, count_visit, visits);
  for (int i = 0; i < 1000; i++) seen += visits[i];
  ENSURE_EQUAL(seen, 3);
  ENSURE(visits[499] == 1 && visits[500] == 1 && visits[501] == 1);
  free(visits);
  sr_cells_destroy(cells);
}
