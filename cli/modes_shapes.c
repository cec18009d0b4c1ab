// sarrus modes --shapes DIR: each mode as a motion over one period, a result file as run --out writes it. --page FILE.html: all of them
// in one page.
#include <math.h>
#include <stdlib.h>

#include "modes.h"

#define ROWS 60        // of a period, and the first one again
#define AMPLITUDE 0.1  // rad or m

typedef struct Shapes {
  const ModesCall* x;
  const srLinear* linear;
  const srData* at;
  srData* d;
  srColumns* columns;
  srRecording* recording;
  double* row;
} Shapes;

static bool moves(const Shapes* s, const srMode* mode) {
  for (int i = 0; i < s->linear->m->njv; i++) {
    if (mode->shape[i].modulus > 0) return true;
  }
  return false;
}

static bool write_rows(const Shapes* s, const srMode* mode, srTableWriter* table) {
  const double A = isnan(s->x->amplitude) ? AMPLITUDE : s->x->amplitude, period = sr_mode_period(mode);
  for (int i = 0; i <= ROWS; i++) {
    const double part = (double)i / ROWS;
    if (sr_mode_state(s->linear, mode, s->at, A, 2 * acos(-1.0) * part, s->x->cli->messages, s->d) != SR_OK)
      return false;
    if (sr_recording_row(s->recording, s->d, s->row) != 0) {
      cli_error(s->x->cli, "the forces of a mode at %g Hz are not defined at an amplitude of %g: %s", mode->frequency,
                A, s->d->error_message);
      return false;
    }
    s->row[0] = part * period;
    if (sr_table_row(table, s->row) != SR_OK) return false;
  }
  return true;
}

// mode-K.csv, K its index in the report.
static bool write_mode(const Shapes* s, const srMode* mode, int k) {
  char path[4200], line[600];
  srTableWriter* table = NULL;
  snprintf(path, sizeof path, "%s/mode-%d.csv", s->x->shapes, k);
  snprintf(line, sizeof line, "sarrus modes %s, mode %d: re %.9g, im %.9g, %.9g Hz", s->x->m.path, k, mode->re,
           mode->im, mode->frequency);
  if (!model_is_safe(s->x->cli, &s->x->m, path) ||
      sr_table_create(path, line, s->columns->count, s->columns->names, s->columns->units, s->x->cli->messages,
                      &table) != SR_OK)
    return false;
  const bool good = write_rows(s, mode, table);
  return sr_table_close(table, s->x->cli->messages) == SR_OK && good;
}

bool shapes_write(const ModesCall* x, const srLinear* linear, const srModes* modes, const srData* data) {
  Shapes s = {.x = x, .linear = linear, .at = data, .d = sr_data_create(linear->m)};
  bool good = sr_record_columns_create(linear->m, NULL, 0, x->cli->messages, &s.columns) == SR_OK &&
              sr_recording_create(linear->m, NULL, 0, x->cli->messages, &s.recording) == SR_OK;
  if (good) s.row = calloc((size_t)s.columns->count + 1, sizeof *s.row);
  good = good && s.row && s.d;
  for (int k = 0; k < modes->n && good; k++) {
    if (modes->mode[k].im >= 0 && moves(&s, &modes->mode[k])) good = write_mode(&s, &modes->mode[k], k);
  }
  free(s.row);
  sr_recording_destroy(s.recording);
  sr_columns_destroy(s.columns);
  sr_data_destroy(s.d);
  return good;
}

// ---------------------------------------------------------------------------------------------------------------- page
// Loops may not close at the amplitude: then half of it, and so on. The page scales shapes anyway.
static bool page_mode(const Shapes* s, srPage* page, const srMode* mode, int k) {
  enum { HALVES = 8 };
  double A = isnan(s->x->amplitude) ? AMPLITUDE : s->x->amplitude;
  srMessages* quiet = sr_messages_create();
  const double whole = 2 * acos(-1.0);
  bool good = false;
  for (int half = 0; half < HALVES && !good && quiet; half++, A = good ? A : A / 2) {
    good = true;
    for (int i = 0; i < SR_PAGE_PHASES && good; i++)
      good = sr_mode_state(s->linear, mode, s->at, A, whole * i / SR_PAGE_PHASES,
                           half + 1 < HALVES ? quiet : s->x->cli->messages, s->d) == SR_OK;
  }
  sr_messages_destroy(quiet);
  good = good && sr_page_mode(page, mode, k, A) == SR_OK;
  for (int i = 0; i < SR_PAGE_PHASES && good; i++)
    good = sr_mode_state(s->linear, mode, s->at, A, whole * i / SR_PAGE_PHASES, s->x->cli->messages, s->d) == SR_OK &&
           sr_page_phase(page, s->d) == SR_OK;
  return good;
}

// The state that the modes are about: the only row of the page.
static bool page_row(const Shapes* s, srPage* page, srData* at) {
  int n = 0;
  const char* const* names = sr_page_record(page, &n);
  srRecording* recording = NULL;
  srColumns* columns = NULL;
  double* row = NULL;
  bool good = sr_record_columns_create(s->linear->m, names, n, s->x->cli->messages, &columns) == SR_OK &&
              sr_recording_create(s->linear->m, names, n, s->x->cli->messages, &recording) == SR_OK;
  if (good) row = calloc((size_t)columns->count + 1, sizeof *row);
  good = good && row && sr_recording_row(recording, at, row) == 0 && sr_page_row(page, at, row) == SR_OK;
  free(row);
  sr_recording_destroy(recording);
  sr_columns_destroy(columns);
  return good;
}

bool shapes_page(ModesCall* x, const srLinear* linear, const srModes* modes, srData* data) {
  Shapes s = {.x = x, .linear = linear, .at = data, .d = sr_data_create(linear->m)};
  char line[600];
  if (!x->page.path) return true;
  bool good = s.d && model_is_safe(x->cli, &x->m, x->page.path) &&
              sr_page_create(linear->m, NULL, 0, x->cli->messages, &x->page.page) == SR_OK &&
              page_row(&s, x->page.page, data);
  for (int k = 0; k < modes->n && good; k++) {
    if (modes->mode[k].im >= 0 && moves(&s, &modes->mode[k])) good = page_mode(&s, x->page.page, &modes->mode[k], k);
  }
  x->page.stability = sr_stability_word(sr_modes_stability(modes));
  snprintf(line, sizeof line, "sarrus modes %s", x->m.path);
  good = good && page_write(x->cli, &x->page, &x->m, NULL, line);
  sr_data_destroy(s.d);
  return good;
}
