// Modes as motions: displacements by shape, amplitude and phase; loops closed; velocities; what is refused.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "constraint/constraint.h"
#include "loading.h"
#include "messages.h"

static const double pi = 3.14159265358979323846;

typedef struct Found {
  Loaded x;
  srLinear* l;
  srModes* m;
  srData* d;
} Found;

static Found find(const char* file, const char* settings) {
  Found f = {.x = open_model(file, settings)};
  srMessages* messages = sr_messages_create();
  srEquilibrium* e;
  ENSURE_EQUAL(sr_assemble(f.x.m, f.x.d, messages, NULL), SR_OK);
  ENSURE_EQUAL(sr_equilibrium_create(f.x.m, f.x.d, NULL, messages, &e), SR_OK);
  ENSURE_EQUAL(sr_linearize(f.x.m, f.x.d, messages, &f.l), SR_OK);
  ENSURE_EQUAL(sr_modes_create(f.l, messages, &f.m), SR_OK);
  sr_equilibrium_destroy(e);
  sr_messages_destroy(messages);
  f.d = sr_data_create(f.x.m);
  return f;
}

static void drop(Found* f) {
  sr_data_destroy(f->d);
  sr_modes_destroy(f->m);
  sr_linear_destroy(f->l);
  close_model(&f->x);
}

static void put(Found* f, const srMode* mode, double amplitude, double phase) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_mode_state(f->l, mode, f->x.d, amplitude, phase, messages, f->d);
  loading_print(messages);
  ENSURE_EQUAL(status, SR_OK);
  sr_messages_destroy(messages);
}

// Independent coordinates have the displacement of the shape, all others to second order of the amplitude; loops are closed at any.
TEST(shapes_of_a_suspension_close_its_loops) {
  Found f = find("mechanisms/five-rod-suspension", "");
  const srModel* m = f.x.m;
  double* xi = calloc((size_t)m->nv, sizeof *xi);
  int seen = 0;
  for (int k = 0; k < f.m->n; k++) {
    const srMode* mode = &f.m->mode[k];
    if (!(mode->im > 0)) continue;
    ENSURE_NEAR(sr_mode_period(mode), 2 * pi / mode->im, 1e-12);
    for (int i = 0; i < 4; i++) {
      const double phase = 2 * pi * (i + 0.3) / 4, A = i % 2 == 0 ? 0.05 : 1e-4;
      put(&f, mode, A, phase);
      sr_difference(m, f.x.d->q, f.d->q, xi);
      for (int j = 0; j < m->nv; j++)
        ENSURE_SMALL(xi[j] - A * mode->shape[j].modulus * cos(mode->shape[j].phase + phase), 30 * A * A);
      for (int j = 0; j < f.l->npos; j++) {
        const srModeEntry z = mode->shape[f.l->position[j]];
        ENSURE_NEAR(xi[f.l->position[j]], A * z.modulus * cos(z.phase + phase), 1e-14);
      }
      ENSURE_EQUAL(sr_evaluate(m, f.d, f.d->t, NULL, NULL, NULL, SR_STAGE_POSITION), 0);
      ENSURE_EQUAL(sr_constraints(m, f.d), 0);
      for (int j = 0; j < m->np; j++) ENSURE_SMALL(f.d->g[j], 1e-11);
      seen++;
    }
  }
  ENSURE_EQUAL(seen, 8);
  free(xi);
  drop(&f);
}

// Velocities are those of the positions over the period.
TEST(shapes_have_the_velocities_of_their_motion) {
  Found f = find("mechanisms/five-rod-suspension", "");
  const srModel* m = f.x.m;
  const srMode* mode = NULL;
  for (int k = 0; k < f.m->n && mode == NULL; k++) mode = f.m->mode[k].im > 0 ? &f.m->mode[k] : NULL;
  const double A = 1e-5, h = 1e-4, phase = 0.8, T = sr_mode_period(mode);
  double *before = calloc((size_t)(m->nq + m->nv), sizeof *before), *rate = before + m->nq;
  put(&f, mode, A, phase - h);
  memcpy(before, f.d->q, (size_t)m->nq * sizeof *before);
  put(&f, mode, A, phase + h);
  sr_difference(m, before, f.d->q, rate);
  put(&f, mode, A, phase);
  for (int j = 0; j < m->nv; j++)
    ENSURE_SMALL(rate[j] / (2 * h) * 2 * pi / T - f.d->v[j], 1e-3 * A * 2 * pi / T);  // loops: of second order in A
  free(before);
  drop(&f);
}

// A mode that does not oscillate takes a second; too large an amplitude for the loops is refused with a sentence.
TEST(shapes_that_cannot_be_shown_are_refused) {
  Found f = find("mechanisms/double-wishbone", "");
  srMessages* messages = sr_messages_create();
  char said[1200];
  int failed = 0;
  srMode still = f.m->mode[0];
  still.im = 0;
  ENSURE_NEAR(sr_mode_period(&still), 1, 0);
  for (int i = 0; i < 8; i++)  // the links are too short for 2 rad
    failed += sr_mode_state(f.l, &f.m->mode[f.m->n - 1], f.x.d, 2, 2 * pi * i / 8, messages, f.d) == SR_FAILED;
  messages_keep(messages, said, sizeof said);
  ENSURE(failed > 0 && failed < 8);
  ENSURE(strstr(said, "the loops cannot be closed") != NULL);
  sr_messages_destroy(messages);
  drop(&f);
}
