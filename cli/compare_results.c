// sarrus compare RESULT RESULT...: results that were stored, column by column, against the first of them.
//   at the times of the file compared that lie within the first one's, and the others are counted; where the first has no
//   row at a time, its columns are taken from the cubic through the four rows around (Lagrange), which is said
// A number in one file where the other has none is a difference that is no number, and the largest.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "plot_columns.h"

#define SAME_TIME 1e-9  // of the span: rows that are meant to be at one time

typedef struct Difference {
  const char *name, *unit;
  const char* unit_of_first;
  double most, rms, at, range;  // at: time of the largest; range: of the column in the first file
  int n;                        // rows compared
} Difference;

typedef struct Pair {
  const srResultTable *a, *b;  // the first file, and the one that is compared with it
  Difference* column;
  int ncolumn, nrow;
  int missing[2];  // columns that a, b has not
  int outside;     // rows of b before the first or after the last of a
  int between;     // rows of b between those of a
} Pair;

// The row of `times` at t, or -1 and *first of the four rows around it; -2: t lies outside.
static int row_at(const double* times, int n, double t, double same, int* first) {
  int low = 0, high = n - 1;
  if (n < 1 || t < times[0] - same || t > times[n - 1] + same) return -2;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (times[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  if (fabs(times[low] - t) <= same) return low;
  if (fabs(times[high] - t) <= same) return high;
  *first = low - 1 < 0 ? 0 : low - 1;
  if (*first + 4 > n) *first = n - 4;
  return *first < 0 ? -2 : -1;
}

static double lagrange(const double* times, const double* x, double t) {
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    double weight = 1;
    for (int k = 0; k < 4; k++)
      if (k != i) weight *= (t - times[k]) / (times[i] - times[k]);
    sum += weight * x[i];
  }
  return sum;
}

static double range_of(const double* x, int n) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int i = 0; i < n; i++) {
    low = fmin(low, x[i]);
    high = fmax(high, x[i]);
  }
  return high >= low ? high - low : NOT_GIVEN;
}

static void compare_column(const Pair* p, int ca, int cb, int ta, int tb, double same, Difference* d) {
  const double *times = p->a->columns[ta], *xa = p->a->columns[ca], *xb = p->b->columns[cb];
  double sum = 0;
  for (int i = 0; i < p->b->nrow; i++) {
    int first = 0;
    const double t = p->b->columns[tb][i];
    const int row = row_at(times, p->a->nrow, t, same, &first);
    if (row == -2) continue;
    const double x = row >= 0 ? xa[row] : lagrange(times + first, xa + first, t);
    if (isnan(xb[i]) && isnan(x)) continue;
    const double e = fabs(xb[i] - x);
    if (d->n == 0 || e > d->most || (isnan(e) && !isnan(d->most))) d->most = e, d->at = t;
    sum += e * e;
    d->n++;
  }
  d->rms = d->n > 0 ? sqrt(sum / d->n) : NOT_GIVEN;
  if (d->n == 0) d->most = d->at = NOT_GIVEN;
  d->range = range_of(xa, p->a->nrow);
}

static bool rises(Cli* cli, const char* file, const srResultTable* t, int column) {
  for (int i = 1; i < t->nrow && column >= 0; i++) {
    if (t->columns[column][i] > t->columns[column][i - 1]) continue;
    cli_error(cli, "%s: the time of row %d, %.9g s, does not lie after the row before", file, i + 1,
              t->columns[column][i]);
    return false;
  }
  if (column < 0) cli_error(cli, "%s has no column t", file);
  return column >= 0;
}

// Metres and millimetres are not subtracted. A file without units says nothing.
static bool same_units(Cli* cli, const char* const* files, const Pair* p) {
  bool good = true;
  for (int i = 0; i < p->ncolumn; i++) {
    const Difference* d = &p->column[i];
    if (!*d->unit || !*d->unit_of_first || strcmp(d->unit, d->unit_of_first) == 0) continue;
    cli_error(cli, "column %s is in %s in %s, and in %s in %s", d->name, d->unit_of_first, files[0], d->unit, files[1]);
    good = false;
  }
  return good;
}

// Fills the columns that both have. False: messages say why.
static bool compare_pair(Cli* cli, const char* const* files, Pair* p) {
  const int ta = table_column(p->a, "t"), tb = table_column(p->b, "t");
  if (!rises(cli, files[0], p->a, ta) || !rises(cli, files[1], p->b, tb)) return false;
  p->column = calloc((size_t)p->b->ncolumn, sizeof *p->column);
  if (!p->column) return cli_error(cli, "out of memory"), false;
  const double same = SAME_TIME * (p->a->columns[ta][p->a->nrow - 1] - p->a->columns[ta][0]);
  for (int i = 0; i < p->b->nrow; i++) {
    int first;
    const int row = row_at(p->a->columns[ta], p->a->nrow, p->b->columns[tb][i], same, &first);
    p->nrow += row != -2;
    p->outside += row == -2;
    p->between += row == -1;
  }
  for (int cb = 0; cb < p->b->ncolumn; cb++) {
    const int ca = table_column(p->a, p->b->names[cb]);
    if (cb == tb) continue;
    if (ca < 0) {
      p->missing[0]++;
      continue;
    }
    Difference* d = &p->column[p->ncolumn++];
    *d = (Difference){.name = p->b->names[cb], .unit = p->b->units[cb], .unit_of_first = p->a->units[ca]};
    compare_column(p, ca, cb, ta, tb, same, d);
  }
  for (int ca = 0; ca < p->a->ncolumn; ca++) p->missing[1] += table_column(p->b, p->a->names[ca]) < 0;
  if (p->nrow > 0 && p->ncolumn > 0) return same_units(cli, files, p);
  cli_error(cli, "%s and %s have no %s in common", files[0], files[1], p->nrow > 0 ? "column but the time" : "time");
  return false;
}

static void print_pair(const char* first, const char* file, const Pair* p) {
  report_heading("%s against %s: %d rows", file, first, p->nrow);
  if (p->between > 0) report_line("interpolated", "%d rows lie between rows of %s", p->between, first);
  if (p->outside > 0) report_line("not compared", "%d rows outside of the time of %s", p->outside, first);
  for (int k = 0; k < 2; k++)
    if (p->missing[k] > 0)
      report_line("not compared", "%d columns that %s does not have", p->missing[k], k ? file : first);
  printf("  %-30s %12s %12s %12s %12s  %s\n", "column", "largest", "at t", "rms", "range", "unit");
  for (int i = 0; i < p->ncolumn; i++) {
    const Difference* d = &p->column[i];
    printf("  %-30s %12.4g %12.6g %12.4g %12.4g  %s\n", d->name, d->most, d->at, d->rms, d->range, d->unit);
  }
}

static void put_pair(srJson* json, const char* file, const Pair* p) {
  sr_json_object(json, NULL);
  sr_json_text(json, "file", file);
  sr_json_int(json, "rows", p->nrow);
  sr_json_int(json, "interpolated", p->between);
  sr_json_int(json, "outside", p->outside);
  sr_json_int(json, "missing", p->missing[0] + p->missing[1]);
  sr_json_array(json, "columns");
  for (int i = 0; i < p->ncolumn; i++) {
    const Difference* d = &p->column[i];
    sr_json_object(json, NULL);
    sr_json_text(json, "name", d->name);
    sr_json_text(json, "unit", d->unit);
    sr_json_number(json, "largest", d->most);
    sr_json_number(json, "at", d->at);
    sr_json_number(json, "rms", d->rms);
    sr_json_number(json, "range", d->range);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_object_end(json);
}

static void print_all(Cli* cli, const TextList* files, const Pair* pairs) {
  cli_show(cli);
  if (!cli->json) {
    for (int i = 1; i < files->n; i++) print_pair(files->item[0], files->item[i], &pairs[i]);
    return;
  }
  srText text = {0};
  srJson json = sr_json_begin(&text);
  sr_json_text(&json, "reference", files->item[0]);
  sr_json_array(&json, "results");
  for (int i = 1; i < files->n; i++) put_pair(&json, files->item[i], &pairs[i]);
  sr_json_array_end(&json);
  sr_json_end(&json);
  cli_print(&text);
}

int compare_results(Cli* cli, const TextList* files) {
  srResultTable** tables = calloc((size_t)files->n, sizeof(srResultTable*));
  Pair* pairs = calloc((size_t)files->n, sizeof *pairs);
  bool good = tables && pairs && files->n > 1;
  if (files->n < 2) cli_error(cli, "compare needs two or more result files, or models");
  for (int i = 0; i < files->n && good; i++) good = sr_table_read(files->item[i], cli->messages, &tables[i]) == SR_OK;
  for (int i = 1; i < files->n && good; i++) {
    pairs[i] = (Pair){.a = tables[0], .b = tables[i]};
    good = compare_pair(cli, (const char*[]){files->item[0], files->item[i]}, &pairs[i]);
  }
  const int status = good ? EXIT_DONE : cli_refuse(cli, EXIT_INPUT);
  if (good) print_all(cli, files, pairs);
  for (int i = 0; i < files->n; i++) {
    if (tables) sr_table_destroy(tables[i]);
    if (pairs) free(pairs[i].column);
  }
  free(tables);
  free(pairs);
  return status;
}
