// Kinematics of a driven mechanism: its motion follows from time alone, and the driving forces from the motion.       Rodrigues da Silva et al. (2024), section 2.1
//
//   q(t + h) = q (+) (h v + h^2/2 a)     start of Newton's method for the dependent coordinates (dependent.c)
//
// A step is halved until nothing moves by more than MOVE, Newton converges, and corrects the start by a part of the motion alone: so the branch is kept. Where det G_v changes its
// sign a singular position was passed, found by bisection. Where a wanted time is such a position itself, its values are extrapolated from just before it.
#include <math.h>
#include <sarrus/analysis.h>
#include <stdio.h>
#include <string.h>

#include "analysis/dependent.h"
#include "base/base.h"
#include "constraint/constraint.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "record/columns.h"
#include "system/system.h"

#define MOVE 0.1       // rad or m in one step
#define CORRECTED 0.3  // of the motion of the step
#define SMALLEST 1e-9  // step, of the interval that is wanted
#define NEAR                                                                                                           \
  1e-4  // rad or m from a singular position: from here on values are extrapolated; the error of velocities is its square
#define BISECTIONS 40  // for the time of a singular position
#define SINGULAR 1e-5  // pivot of scaled equations: below it rounding of positions shows in the velocities
#define LEFT 1e-6      // of the time: more is no extrapolation
#define MOST_STEPS 1000000

typedef struct Mark {
  double t, square;
} Mark;

typedef struct Driven {
  srDriven shown;  // first: what the caller sees
  srDependent* dependent;
  double *q, *v, *a, *dx;  // of the last step; nq, nv, nv, nv
  double* force;           // nv
  double* way;             // ndriver: positions of the drivers at the last step
  double* memory;
  unsigned char* fixed;  // nv
  int* held;
  double determinant;  // at d's position
  int contradicted;    // equation that the others do not allow, -1: none
  Mark mark, farther;  // squares of the determinant at earlier steps: each at most a quarter of the one before
  double t;            // of the last step
} Driven;

// ---- a position -----------------------------------------------------------------------------------------------------------

static void put_motion(const Driven* x) {
  const srModel* m = x->shown.m;
  srData* d = x->shown.d;
  sr_driver_motion(m, d);
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) {
    d->q[m->driver[i].qdof] = d->motion[3 * i];
    d->v[m->driver[i].dof] = d->motion[3 * i + 1];
  }
}

static double largest(const double* x, int n) {
  double most = 0.0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(x[i]));
  return most;
}

// Largest motion of a coordinate of the start at t + h, which is put into d, or of a driver: those of absolute coordinates are in no coordinate.
static double predict(Driven* x, double h) {
  const srModel* m = x->shown.m;
  srData* d = x->shown.d;
  for (int i = 0; i < m->nv; ++i) {
    x->dx[i] = h * (x->v[i] + 0.5 * h * x->a[i]);
    d->v[i] = x->v[i] + h * x->a[i];
  }
  sr_retract(m, x->q, x->dx, d->q);
  d->t = x->t + h;
  put_motion(x);
  sr_difference(m, x->q, d->q, x->dx);
  double most = largest(x->dx, m->nv);
  for (int i = 0; i < m->ndriver; ++i) most = fmax(most, fabs(d->motion[3 * i] - x->way[i]));
  return most;
}

// Velocities and accelerations at d's position; false: singular.
static bool rates(Driven* x, double* a) {
  const srModel* m = x->shown.m;
  srData* d = x->shown.d;
  put_motion(x);
  for (int i = 0; i < x->shown.nheld; ++i) d->v[x->held[i]] = 0.0;
  if (fabs(sr_dependent_determinant(x->dependent)) < SINGULAR) return false;
  sr_dependent_velocities(x->dependent);

  memset(a, 0, (size_t)m->nv * sizeof *a);
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) a[m->driver[i].dof] = d->motion[3 * i + 2];
  x->determinant = sr_dependent_determinant(x->dependent);

  return sr_dependent_accelerations(x->dependent, a);
}

static void keep(Driven* x) {
  const srModel* m = x->shown.m;
  memcpy(x->q, x->shown.d->q, (size_t)m->nq * sizeof *x->q);
  memcpy(x->v, x->shown.d->v, (size_t)m->nv * sizeof *x->v);
  for (int i = 0; i < m->ndriver; ++i) x->way[i] = x->shown.d->motion[3 * i];
  x->t = x->shown.d->t;
}

static void put_back(Driven* x) {
  const srModel* m = x->shown.m;
  memcpy(x->shown.d->q, x->q, (size_t)m->nq * sizeof *x->q);
  memcpy(x->shown.d->v, x->v, (size_t)m->nv * sizeof *x->v);
  x->shown.d->t = x->t;
}

// One step of length h from the kept state; false: too long, and d holds nothing of use. a: of the new state, in x->force for now.
static bool try_step(Driven* x, double h) {
  double corrected;
  const double moved = predict(x, h);
  if (!(moved <= MOVE) || !sr_dependent_positions(x->dependent, &corrected)) return false;
  return corrected <= CORRECTED * moved + 1e-7 && rates(x, x->force);
}

// Equations that depend on others are not solved: do they hold? If not, drivers contradict each other or the loops.
static void find_contradiction(Driven* x) {
  if (x->contradicted < 0) x->contradicted = sr_dependent_broken(x->dependent);
}

static void note_violations(Driven* x) {
  srDriven* s = &x->shown;
  const srModel* m = s->m;
  srData* d = s->d;
  s->violation_position = fmax(s->violation_position, largest(d->g, m->np));
  find_contradiction(x);
  for (int i = 0; i < m->ng; ++i) {
    double v = d->b[i], a = -d->gamma[i];
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      v += d->G[k] * d->v[m->G_index[k]];
      a += d->G[k] * x->a[m->G_index[k]];
    }
    s->violation_velocity = fmax(s->violation_velocity, fabs(v));
    s->violation_acceleration = fmax(s->violation_acceleration, fabs(a));
  }
}

static void mark_determinant(Driven* x) {
  const Mark now = {x->t, x->determinant * x->determinant};
  if (now.square > x->mark.square) {
    x->mark = x->farther = now;
  } else if (now.square <= 0.25 * x->mark.square) {
    x->farther = x->mark;
    x->mark = now;
  }
}

static void accept(Driven* x) {
  memcpy(x->a, x->force, (size_t)x->shown.m->nv * sizeof *x->a);
  keep(x);
  sr_measurement_accept(x->shown.m, x->shown.d);  // turns of joints in absolute coordinates
  mark_determinant(x);
  ++x->shown.steps;
}

// ---- singular positions -----------------------------------------------------------------------------------------------------

static void note_singular(Driven* x, double t, const char* reason) {
  srDriven* s = &x->shown;
  if (s->nsingular > 0 && s->nsingular <= SR_SINGULARS &&
      fabs(s->singular[s->nsingular - 1].t - t) <= 1e-9 * (1 + fabs(t)))
    return;
  if (s->nsingular < SR_SINGULARS) {
    s->singular[s->nsingular].t = t;
    (void)snprintf(s->singular[s->nsingular].reason, sizeof s->singular[0].reason, "%s", reason);
  }
  ++s->nsingular;
}

// Time within h of the kept state at which det G_v is 0; below is its value there, above at the end. Close to it no step succeeds: a line through both ends is left.
static double singular_time(Driven* x, double h, double below, double above) {
  double low = 0.0, high = h;
  for (int k = 0; k < BISECTIONS; ++k) {
    const double middle = 0.5 * (low + high);
    if (!try_step(x, middle)) break;
    if ((x->determinant > 0) == (below > 0)) {
      low = middle;
      below = x->determinant;
    } else {
      high = middle;
      above = x->determinant;
    }
  }
  return x->t + low + (high - low) * below / (below - above);
}

// After a step of length h that has succeeded: was a singular position passed? Leaves the step as it is.
static void monitor(Driven* x, double h, double before) {
  if (!(before * x->determinant < 0.0)) return;
  const double t = singular_time(x, h, before, x->determinant);
  note_singular(x, t, "the determinant of the dependent coordinates changes its sign: branches meet here");
  (void)try_step(x, h);
}

// The end of the range, just after the last step: two branches meet there, and det G_v falls with the root of the time that is left.
static double end_of_range(const Driven* x) {
  const double square = x->determinant * x->determinant, span = x->t - x->farther.t;
  const double left = x->farther.square > square ? span * square / (x->farther.square - square) : 0.0;
  return left < LEFT * (fabs(span) + fabs(x->t)) ? x->t + left : x->t;
}

// ---- steps ------------------------------------------------------------------------------------------------------------------

// At t itself the position is singular: values from just before it.
static void extrapolate(Driven* x, double t) {
  const double h = t - x->t;
  (void)predict(x, h);
  memcpy(x->force, x->a, (size_t)x->shown.m->nv * sizeof *x->force);
  (void)sr_evaluate(x->shown.m, x->shown.d, x->shown.d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  accept(x);
  note_singular(x, t, "the dependent coordinates are not determined here; values are extrapolated from just before");
}

static bool advance(Driven* x, double t) {
  const double whole = t - x->t;
  double h = whole;
  for (long k = 0; x->t != t; ++k) {
    const double before = x->determinant;
    const bool last = x->t + h >= t || t - x->t - h < 1e-12 * fabs(whole);
    if (last) h = t - x->t;
    if (k == MOST_STEPS || sr_stop_requested(x->shown.d)) return false;
    if (try_step(x, h)) {
      monitor(x, h, before);
      if (last) x->shown.d->t = t;
      accept(x);
      note_violations(x);
      if (x->contradicted >= 0) return false;
      h = 2.0 * h;
    } else if (last && predict(x, h) <= NEAR) {
      extrapolate(x, t);
    } else if (h <= SMALLEST * whole) {
      return false;
    } else {
      h *= 0.5;
      ++x->shown.halvings;
    }
  }
  return true;
}

// ---- evaluation ---------------------------------------------------------------------------------------------------------------

// Forces, multipliers and frames at the kept state: d as an evaluation to its last stage leaves it.
static bool evaluate(Driven* x) {
  srDriven* s = &x->shown;
  const srModel* m = s->m;
  srData* d = s->d;
  put_back(x);
  if (!sr_dependent_put(x->dependent) || sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_FORCE) != 0) return false;
  sr_required_force(m, d, x->a, x->force);
  if (!sr_dependent_forces(x->dependent, x->force, d->lambda)) return false;
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) d->lambda[m->row_driver + i] = x->force[m->driver[i].dof];
  for (int i = 0; i < s->nheld; ++i) s->held_force[i] = x->force[x->held[i]];
  memcpy(d->a, x->a, (size_t)m->nv * sizeof *d->a);
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  sr_driver_power(m, d);
  sr_acceleration(m, d);
  d->stage = SR_STAGE_FRAMES;
  return true;
}

srStatus sr_driven_move(srDriven* shown, double t) {
  Driven* x = (Driven*)(void*)shown;
  const bool arrived = advance(x, t);
  put_back(x);
  memcpy(shown->d->a, x->a, (size_t)shown->m->nv * sizeof *x->a);
  shown->iterations = sr_dependent_iterations(x->dependent);
  if (arrived) return SR_OK;
  const double end = end_of_range(x);
  if (sr_stop_requested(shown->d)) {
    (void)snprintf(shown->error_message, sizeof shown->error_message, "stopped at t = %.9g s", x->t);
    return SR_FAILED;
  }
  if (x->contradicted >= 0) {
    (void)snprintf(shown->error_message, sizeof shown->error_message,
                   "the drivers contradict the constraints: at t = %.6g s %.80s is off by %.3g", x->t,
                   shown->m->row[x->contradicted].name, fabs(shown->d->g[x->contradicted]));
    return SR_FAILED;
  }
  (void)snprintf(shown->error_message, sizeof shown->error_message,
                 "the drivers cannot move the mechanism beyond t = %.9g s: its loops have no position there (a dead "
                 "point, or the end of its range)",
                 end);
  note_singular(x, end, "the loops cannot be closed beyond this position");
  return SR_FAILED;
}

srStatus sr_driven_evaluate(srDriven* shown) {
  if (evaluate((Driven*)(void*)shown)) return SR_OK;
  if (shown->error_message[0] == 0)
    (void)snprintf(shown->error_message, sizeof shown->error_message, "no forces at t = %.9g s: %s", shown->d->t,
                   shown->d->error_message);
  return SR_FAILED;
}

// ---- creation -----------------------------------------------------------------------------------------------------------------

static srStatus refuse(const srModel* m, int row, srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, m->row[row].place,
                  "%s relates coordinates that are driven: the drivers are not independent of each other at this "
                  "position",
                  m->row[row].name);
  return SR_FAILED;
}

static srStatus refuse_free(const srModel* m, int n, srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "'%s' has %d degree%s of freedom that no driver moves. In joint coordinates (--formulation relative) "
                  "they can be held",
                  m->name, n, n == 1 ? "" : "s");
  return SR_INPUT;
}

static srStatus refuse_rolling(const srModel* m, srMessages* messages) {
  sr_messages_add(
      messages, SR_SEVERITY_ERROR, m->row[m->np].place,
      "%s holds for velocities alone: positions follow from the path, not from time. Use `run` with the same drivers",
      m->row[m->np].name);
  return SR_INPUT;
}

static bool allocate(Driven* x) {
  const size_t nq = (size_t)x->shown.m->nq, nv = (size_t)x->shown.m->nv;
  unsigned char* bytes;
  const srPart parts[] = {{&x->q, nq},
                          {&x->v, nv},
                          {&x->a, nv},
                          {&x->dx, nv},
                          {&x->force, nv},
                          {&x->way, (size_t)x->shown.m->ndriver},
                          {&x->shown.held_force, nv}};
  if (!sr_take_parts(parts, SR_COUNT(parts), nv * (sizeof(int) + 1) + sizeof(int), &x->memory, &bytes)) return false;
  x->held = (int*)(void*)bytes;
  x->fixed = bytes + nv * sizeof(int);
  x->shown.held = x->held;
  return true;
}

// Independent coordinates that no driver moves.
static void hold(Driven* x) {
  const srModel* m = x->shown.m;
  const int* column = sr_dependent_columns(x->dependent);
  memset(x->fixed, 1, (size_t)m->nv);
  for (int i = 0; i < sr_dependent_count(x->dependent); ++i) x->fixed[column[i]] = 0;
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) x->fixed[m->driver[i].dof] = 0;
  for (int i = 0; i < m->nv; ++i) {
    if (x->fixed[i] != 0) x->held[x->shown.nheld++] = i;
  }
}

static bool choose(Driven* x, const unsigned char* fixed, int* row) {
  const srModel* m = x->shown.m;
  srData* d = x->shown.d;
  *row = -1;
  sr_dependent_destroy(x->dependent);
  x->dependent = sr_dependent_create(m, d, fixed);
  if (x->dependent == NULL) return false;
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  sr_driver_motion(m, d);
  return sr_constraints(m, d) == 0 && sr_dependent_choose(x->dependent, row);
}

static void warn_held(const Driven* x, srMessages* messages) {
  const srDriven* s = &x->shown;
  char text[400] = "", name[256];
  size_t used = 0;
  for (int i = 0; i < s->nheld && used + 40 < sizeof text; ++i) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "",
                             i < 8 ? sr_coordinate_name(s->m, s->held[i], name, sizeof name) : "...");
    if (i == 8) break;
  }
  if (s->nheld == 0) return;
  sr_messages_add(messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "%d coordinate%s that no driver moves %s held at the start: %s", s->nheld, s->nheld == 1 ? "" : "s",
                  s->nheld == 1 ? "is" : "are", text);
}

static srStatus create(Driven* x, srMessages* messages) {
  const srModel* m = x->shown.m;
  int row = -1;
  if (!allocate(x)) return SR_MEMORY;
  if (m->ng > m->np) return refuse_rolling(m, messages);
  if (!choose(x, NULL, &row)) return row >= 0 ? refuse(m, row, messages) : SR_MEMORY;
  hold(x);
  if (m->absolute && x->shown.nheld > 0) return refuse_free(m, x->shown.nheld, messages);
  if (x->shown.nheld > 0 && !choose(x, x->fixed, &row)) return row >= 0 ? refuse(m, row, messages) : SR_MEMORY;
  warn_held(x, messages);
  double corrected;
  put_motion(x);
  if (!sr_dependent_positions(x->dependent, &corrected) || !rates(x, x->a)) {
    memset(x->a, 0, (size_t)m->nv * sizeof *x->a);
    note_singular(x, x->shown.d->t, "the start is a singular position: accelerations are not determined");
  }
  keep(x);
  memcpy(x->shown.d->a, x->a, (size_t)m->nv * sizeof *x->a);
  return SR_OK;
}

srStatus sr_driven_create(const srModel* m, srData* d, srMessages* messages, srDriven** out) {
  Driven* x = sr_alloc(sizeof *x);
  *out = NULL;
  if (x != NULL) {
    x->shown.m = m;
    x->shown.d = d;
    x->contradicted = -1;
  }
  const srStatus status = x != NULL ? create(x, messages) : SR_MEMORY;
  if (status == SR_MEMORY)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the kinematics");
  if (status == SR_OK)
    *out = &x->shown;
  else if (x != NULL)
    sr_driven_destroy(&x->shown);
  return status;
}

void sr_driven_destroy(srDriven* shown) {
  Driven* x = (Driven*)(void*)shown;
  if (x == NULL) return;
  sr_dependent_destroy(x->dependent);
  sr_free(x->memory);
  sr_free(x);
}

// ---- over time ----------------------------------------------------------------------------------------------------------------

static bool hand_out(srDriven* x, const srKinematicOptions* o, srRecording* recording, double* row, long* rows) {
  if (o->row == NULL) return true;
  srRowEnergy energy = {.residual = (double)NAN};
  sr_energy(x->m, x->d, &energy.kinetic, &energy.potential);
  sr_record(recording, x->d, &energy, row);
  ++*rows;
  return o->row(o->user, row) == 0;
}

static srStatus move_and_show(srDriven* x, double t, const srKinematicOptions* o, srRecording* recording, double* row,
                              long* rows, bool* goes_on) {
  srStatus status = sr_driven_move(x, t);
  if (status == SR_OK && o->row != NULL) status = sr_driven_evaluate(x);
  if (status == SR_OK)
    *goes_on = hand_out(x, o, recording, row, rows) && (o->progress == NULL || o->progress(o->user, t, o->t_end) == 0);
  return status;
}

static srStatus run(srDriven* x, const srKinematicOptions* o, srRecording* recording, double* row, long* rows) {
  const double t0 = x->d->t, every = o->every > 0 ? o->every : (o->t_end - t0) / 1000;
  srStatus status = sr_driven_evaluate(x);
  bool goes_on = status == SR_OK && hand_out(x, o, recording, row, rows);
  for (long k = 1; status == SR_OK && goes_on && x->d->t < o->t_end; ++k) {
    const double at = t0 + (double)k * every, t = at > o->t_end - 1e-9 * every ? o->t_end : at;
    status = move_and_show(x, t, o, recording, row, rows, &goes_on);
  }
  const srStatus evaluated = sr_driven_evaluate(x);  // at the end, or where it stopped
  return status != SR_OK ? status : evaluated;
}

srStatus sr_driven_run(srDriven* x, const srKinematicOptions* o, srMessages* messages, long* rows) {
  srRecording* recording = NULL;
  *rows = 0;
  srStatus status = sr_recording_create(x->m, o->record, o->nrecord, messages, &recording);
  double* row = status == SR_OK ? sr_alloc(((size_t)recording->ncolumn + 1) * sizeof *row) : NULL;
  if (status == SR_OK && row == NULL) status = SR_MEMORY;
  if (status == SR_OK) status = run(x, o, recording, row, rows);
  if (status == SR_MEMORY) sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the rows");
  sr_free(row);
  sr_recording_destroy(recording);
  return status;
}
