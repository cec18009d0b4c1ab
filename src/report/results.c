// Compare, of results that were stored: column by column against the first of them.
#include <math.h>
#include <string.h>

#include "report/report.h"

#define SAME_TIME 1e-9  // of the span: rows that are meant to be at one time

// The row of `times` at t, or -1 and *first of the four rows around it; -2: t is outside.
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
  return high >= low ? high - low : (double)NAN;
}

static void compare_column(const srTableDifference* p, int ca, int cb, int ta, int tb, double same,
                           srColumnDifference* d) {
  const double *times = p->first->columns[ta], *xa = p->first->columns[ca], *xb = p->second->columns[cb];
  double sum = 0;
  for (int i = 0; i < p->second->nrow; i++) {
    int first = 0;
    const double t = p->second->columns[tb][i];
    const int row = row_at(times, p->first->nrow, t, same, &first);
    if (row == -2) continue;
    const double x = row >= 0 ? xa[row] : lagrange(times + first, xa + first, t);
    if (isnan(xb[i]) && isnan(x)) continue;
    const double e = fabs(xb[i] - x);
    if (d->n == 0 || e > d->most || (isnan(e) && !isnan(d->most))) d->most = e, d->at = t;
    sum += e * e;
    d->n++;
  }
  d->rms = d->n > 0 ? sqrt(sum / d->n) : (double)NAN;
  if (d->n == 0) d->most = d->at = (double)NAN;
  d->range = range_of(xa, p->first->nrow);
}

static bool rises(srMessages* messages, const char* file, const srResultTable* t, int column) {
  for (int i = 1; i < t->nrow && column >= 0; i++) {
    if (t->columns[column][i] > t->columns[column][i - 1]) continue;
    sr_report_error(messages, "%s: the time of row %d, %.9g s, is not after the row before", file, i + 1,
                    t->columns[column][i]);
    return false;
  }
  if (column < 0) sr_report_error(messages, "%s has no column t", file);
  return column >= 0;
}

// Metres and millimetres are not subtracted. A file without units gives no information.
static bool same_units(srMessages* messages, const srTableDifference* p) {
  bool good = true;
  for (int i = 0; i < p->ncolumn; i++) {
    const srColumnDifference* d = &p->column[i];
    if (!*d->unit || !*d->unit_of_first || strcmp(d->unit, d->unit_of_first) == 0) continue;
    sr_report_error(messages, "column %s is in %s in %s, and in %s in %s", d->name, d->unit_of_first, p->first_file,
                    d->unit, p->file);
    good = false;
  }
  return good;
}

// Fills the columns that both have. False: reported in messages.
static bool compare(srMessages* messages, srTableDifference* p) {
  const int ta = sr_table_column(p->first, "t"), tb = sr_table_column(p->second, "t");
  if (!rises(messages, p->first_file, p->first, ta) || !rises(messages, p->file, p->second, tb)) return false;
  const double same = SAME_TIME * (p->first->columns[ta][p->first->nrow - 1] - p->first->columns[ta][0]);
  for (int i = 0; i < p->second->nrow; i++) {
    int first;
    const int row = row_at(p->first->columns[ta], p->first->nrow, p->second->columns[tb][i], same, &first);
    p->nrow += row != -2;
    p->outside += row == -2;
    p->between += row == -1;
  }
  for (int cb = 0; cb < p->second->ncolumn; cb++) {
    const int ca = sr_table_column(p->first, p->second->names[cb]);
    if (cb == tb) continue;
    if (ca < 0) {
      p->missing[0]++;
      continue;
    }
    srColumnDifference* d = &p->column[p->ncolumn++];
    *d = (srColumnDifference){
        .name = p->second->names[cb], .unit = p->second->units[cb], .unit_of_first = p->first->units[ca]};
    compare_column(p, ca, cb, ta, tb, same, d);
  }
  for (int ca = 0; ca < p->first->ncolumn; ca++) p->missing[1] += sr_table_column(p->second, p->first->names[ca]) < 0;
  if (p->nrow > 0 && p->ncolumn > 0) return same_units(messages, p);
  sr_report_error(messages, "%s and %s have no %s in common", p->first_file, p->file,
                  p->nrow > 0 ? "column but the time" : "time");
  return false;
}

srStatus sr_table_difference_create(const srResultTable* first, const char* first_file, const srResultTable* second,
                                    const char* file, srMessages* messages, srTableDifference** out) {
  srTableDifference* p = sr_alloc(sizeof *p);
  srColumnDifference* column = sr_alloc((size_t)(second->ncolumn + 1) * sizeof *column);
  *out = NULL;
  if (!p || !column) {
    sr_free(p), sr_free(column);
    return SR_MEMORY;
  }
  *p = (srTableDifference){.file = file, .first_file = first_file, .first = first, .second = second, .column = column};
  if (compare(messages, p)) {
    *out = p;
    return SR_OK;
  }
  sr_table_difference_destroy(p);
  return SR_INPUT;
}

void sr_table_difference_destroy(srTableDifference* difference) {
  if (difference) sr_free(difference->column);
  sr_free(difference);
}

static void show_difference(srText* out, const srTableDifference* p) {
  const char *first = p->first_file, *file = p->file;
  sr_text_print(out, "%s against %s: %d rows\n", file, first, p->nrow);
  if (p->between > 0) sr_show_line(out, "interpolated", "%d rows are between rows of %s", p->between, first);
  if (p->outside > 0) sr_show_line(out, "not compared", "%d rows outside of the time of %s", p->outside, first);
  for (int k = 0; k < 2; k++)
    if (p->missing[k] > 0)
      sr_show_line(out, "not compared", "%d columns that %s does not have", p->missing[k], k ? file : first);
  sr_text_print(out, "  %-30s %12s %12s %12s %12s  %s\n", "column", "largest", "at t", "rms", "range", "unit");
  for (int i = 0; i < p->ncolumn; i++) {
    const srColumnDifference* d = &p->column[i];
    sr_text_print(out, "  %-30s %12.4g %12.6g %12.4g %12.4g  %s\n", d->name, d->most, d->at, d->rms, d->range, d->unit);
  }
}

static void put_difference(srJson* json, const srTableDifference* p) {
  sr_json_object(json, NULL);
  sr_json_text(json, "file", p->file);
  sr_json_int(json, "rows", p->nrow);
  sr_json_int(json, "interpolated", p->between);
  sr_json_int(json, "outside", p->outside);
  sr_json_int(json, "missing", p->missing[0] + p->missing[1]);
  sr_json_array(json, "columns");
  for (int i = 0; i < p->ncolumn; i++) {
    const srColumnDifference* d = &p->column[i];
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

void sr_report_table_differences(const char* first_file, const srTableDifference* const* differences, int n,
                                 srReportForm form, srText* out) {
  if (form == SR_REPORT_TEXT) {
    for (int i = 0; i < n; i++) show_difference(out, differences[i]);
    return;
  }
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "reference", first_file);
  sr_json_array(&json, "results");
  for (int i = 0; i < n; i++) put_difference(&json, differences[i]);
  sr_json_array_end(&json);
  sr_json_end(&json);
}
