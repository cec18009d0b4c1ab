// sarrus compare --reference FILE: the rows of a result file are what all methods are compared with.
#include "compare.h"

// Its columns, by name: t, q, v, y as `sarrus run --out` writes them.
static bool take_columns(Compare* c, const srModel* m, const srResultTable* table, srTrajectory* out) {
  srColumns* columns = sr_columns_create(m);
  const int width = sr_trajectory_width(out);
  bool good = columns != NULL;
  for (int i = 0; good && i < width; i++) {
    const int column = sr_table_column(table, columns->names[i]);
    good = column >= 0;
    if (!good) cli_error(c->cli, "%s has no column '%s' of model '%s'", c->reference, columns->names[i], m->name);
    for (int k = 0; good && k < out->n; k++)
      out->sample[(size_t)k * (size_t)width + (size_t)i] = table->columns[column][k];
  }
  if (columns) sr_columns_destroy(columns);
  return good;
}

// Its rows become the times of comparison: they must be equidistant and begin and end with the run.
static bool fits_run(Compare* c, const srComparedModel* s, const srTrajectory* x) {
  const double step = (s->options.t_end - s->t0) / (x->n - 1);
  const int width = sr_trajectory_width(x);
  const double first = x->sample[0], last = x->sample[(size_t)(x->n - 1) * (size_t)width];
  if (fabs(first - s->t0) > 1e-6 * step || fabs(last - s->options.t_end) > 1e-6 * step) {
    cli_error(c->cli, "%s is of %.9g to %.9g s, the run of %.9g to %.9g s: give --t-end, or another reference",
              c->reference, first, last, s->t0, s->options.t_end);
    return false;
  }
  for (int k = 0; k < x->n; k++) {
    const double t = x->sample[(size_t)k * (size_t)width], wanted = s->t0 + k * step;
    if (fabs(t - wanted) <= 1e-6 * step) continue;
    cli_error(
        c->cli,
        "%s: row %d is at t = %.9g s, not at %.9g s: a reference has equidistant rows from the start to the end of "
        "the run",
        c->reference, k + 1, t, wanted);
    return false;
  }
  return true;
}

bool read_reference(Compare* c, srComparedModel* s) {
  srResultTable* table = NULL;
  if (sr_table_read(c->reference, c->cli->messages, &table) != SR_OK) return false;
  bool good = table->nrow >= 2;
  if (!good) cli_error(c->cli, "%s has fewer than two rows", c->reference);
  if (good) s->reference = sr_trajectory_create(s->m, table->nrow);
  good = good && s->reference && take_columns(c, s->m, table, s->reference) && fits_run(c, s, s->reference);
  if (good) {
    s->samples = s->reference->filled = table->nrow;
    snprintf(s->reference_of[0], sizeof s->reference_of[0], "%.95s", c->reference);
  }
  const double x = (double)NAN;
  s->reference_error = (srTrajectoryError){x, x, x, x, x, x, x};
  sr_table_destroy(table);
  return good;
}
