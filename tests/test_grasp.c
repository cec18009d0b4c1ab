// What grippers and feet hold by friction, in time-stepping: it must stay where it is. Bound: the largest residual of the contact problems, 5e-10 m/s, times 10 s; Newton's method leaves 1e-12 m/s at the most of what rests.
#include <math.h>
#include <string.h>

#include "loading.h"

typedef struct Rows {
  int n, width;
  double first[80], last[80];
  double t_first;
} Rows;

static int keep_row(void* user, const double* row) {
  Rows* x = user;
  if (row[0] < x->t_first - 1e-9) return 0;
  memcpy(x->n++ == 0 ? x->first : x->last, row, (size_t)x->width * sizeof *row);
  return 0;
}

// Largest change of a coordinate from t0 to 10 s later; last: time and coordinates at the end.
static double creep(const char* model, double t0, double step, double last[80]) {
  Loaded x = open_model(model, "");
  Rows rows = {.width = 1 + x.m->nq, .t_first = t0};
  ENSURE(rows.width <= 80);
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.step = step;
  o.t_end = t0 + 10;
  o.every = 1;
  o.row = keep_row;
  o.user = &rows;
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
  ENSURE_EQUAL(x.result.unsolved, 0);
  ENSURE_EQUAL(rows.n, 11);
  double most = 0;
  for (int i = 1; i < rows.width; i++) most = fmax(most, fabs(rows.last[i] - rows.first[i]));
  memcpy(last, rows.last, sizeof rows.last);
  close_model(&x);
  return most;
}

// Lifted by 0.1 m, with its centre of mass 8 mm beside the line between the pads; upright to the tolerance of the contact problems over the 1.4 s until it hangs.
TEST(a_mug_held_by_a_gripper_does_not_creep) {
  double q[80];
  ENSURE(creep("nonsmooth/gripper-mug", 3, 1e-3, q) < 1e-11);
  ENSURE_NEAR(q[3], 0.045 + 0.1, 1e-8);
  for (int k = 5; k < 7; k++) ENSURE_NEAR(q[k], 0, 1e-8);
}

TEST(a_block_held_by_fingers_that_follow_each_other_does_not_creep) {
  double q[80];
  ENSURE(creep("robots/gripper-lift", 3, 1e-3, q) < 1e-11);
}

TEST(a_quadruped_at_rest_does_not_creep) {
  double q[80];
  ENSURE(creep("robots/quadruped-stand", 14, 1e-3, q) < 1e-11);
}
