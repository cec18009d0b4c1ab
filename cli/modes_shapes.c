// sarrus modes --shapes DIR: each mode as a motion over one period, a result file as run --out writes it.
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
