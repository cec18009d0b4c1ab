// The table of a sweep, its rows in order, and the reports on it.
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

// ------------------------------------------------------------------------------------------------------------------- lines
// Cell k of a line; quotes are part of it.
static const char* cell_at(const char* line, size_t size, int k, size_t* n) {
  const char *p = line, *end = line + size;
  for (;; k--) {
    const char* begin = p;
    bool quoted = false;
    for (; p < end && (quoted || *p != ','); p++) quoted = quoted != (*p == '"');
    if (k == 0 || p == end) return *n = k == 0 ? (size_t)(p - begin) : 0, begin;
    p++;
  }
}

static bool is_ok(const Sweep* s, const srText* line) {
  size_t n;
  const char* status = cell_at(line->data, line->n, s->columns.n, &n);
  return n == 4 && memcmp(status, "\"ok\"", 4) == 0;
}

// Text of a cell without its quotes.
static void put_plain(const char* cell, size_t n, srText* out) {
  for (size_t i = 0; i < n; i++) {
    if (cell[i] == '"' && (i == 0 || i == n - 1)) continue;
    if (cell[i] == '"') i++;
    sr_text_add(out, cell + i, 1);
  }
}

void table_count(const Sweep* s, const Journal* j, Outcome* out) {
  srText line = {0};
  for (long long i = 0; i < s->rows; i++, sr_text_free(&line)) {
    size_t n;
    if (!journal_line(j, i, &line)) continue;
    const bool failed = !is_ok(s, &line), warned = *cell_at(line.data, line.n, s->columns.n + 1, &n) != '0';
    const bool first = failed ? out->failed == 0 : warned && out->warned == 0 && out->failed == 0;
    out->failed += failed;
    out->warned += warned;
    if (!first) continue;
    srText text = {0};
    const char* message = cell_at(line.data, line.n, s->columns.n + 2, &n);
    put_plain(message, n, &text);
    snprintf(out->first, sizeof out->first, "row %lld: %s", i, text.data ? text.data : "");
    sr_text_free(&text);
  }
}

double* table_numbers(const Sweep* s, const Journal* j, int column, bool* words) {
  double* x = malloc((size_t)s->rows * sizeof *x);
  srText line = {0};
  *words = false;
  for (long long i = 0; x && i < s->rows; i++, sr_text_free(&line)) {
    size_t n;
    x[i] = (double)NAN;
    if (!journal_line(j, i, &line)) continue;
    const char* cell = cell_at(line.data, line.n, column, &n);
    *words = *words || *cell == '"';
    if (n > 0 && *cell != '"') x[i] = strtod(cell, NULL);
  }
  return x;
}

// ------------------------------------------------------------------------------------------------------------------- table
// As in all tables (docs/using/results.md): what could be taken for a unit at the end of a name is followed by an empty one.
static void put_name(srText* out, const char* name) {
  srText cell = {0};
  const char last = *name ? name[strlen(name) - 1] : 0;
  sr_text_print(&cell, "%s%s", name, last == ']' || last == ')' ? " []" : "");
  if (strpbrk(name, ",\"\n;\t") || *name == '#' || *name == ' ')
    put_quoted(out, cell.data, cell.n);
  else
    sr_text_add(out, cell.data, cell.n);
  sr_text_add(out, ",", 1);
  sr_text_free(&cell);
}

static void put_head(const Sweep* s, srText* out) {
  sr_text_print(out, "# sarrus sweep ");
  sweep_command(s, out);
  sr_text_print(out, ", version %s\nrow,", sr_version());
  for (int k = 0; k < sr_sweep_count(s->plan); k++) put_name(out, sr_sweep_name(s->plan, k));
  for (int i = 0; i < s->columns.n; i++) put_name(out, s->columns.item[i]);
  sr_text_print(out, "status,warnings,message\n");
}

static void put_parameters(const Sweep* s, long long row, srText* out) {
  for (int k = 0; k < sr_sweep_count(s->plan); k++) {
    srText value = {0};
    sr_sweep_text(s->plan, row, k, &value);
    if (sr_sweep_is_words(s->plan, k))
      put_quoted(out, value.data ? value.data : "", value.n);
    else
      sr_text_add(out, value.data ? value.data : "", value.n);
    sr_text_add(out, ",", 1);
    sr_text_free(&value);
  }
}

bool table_write(Sweep* s, const Journal* j) {
  srOutput* output;
  srText text = {0};
  if (sr_output_create(s->out, s->cli->messages, &output) != SR_OK) return false;
  put_head(s, &text);
  bool good = true;
  for (long long i = 0; i < s->rows && good; i++) {
    if (text.n > 0) fwrite(text.data, 1, text.n, sr_output_stream(output));
    good = !text.failed;
    sr_text_free(&text);
    if (!journal_has(j, i)) continue;
    sr_text_print(&text, "%lld,", i);
    put_parameters(s, i, &text);
    good = journal_line(j, i, &text) && good;
    sr_text_add(&text, "\n", 1);
  }
  good = good && !text.failed;
  if (text.n > 0) fwrite(text.data, 1, text.n, sr_output_stream(output));
  sr_text_free(&text);
  if (!good)
    return sr_output_discard(output), cli_error(s->cli, "the rows of the sweep could not be read again"), false;
  return sr_output_close(output, s->cli->messages) == SR_OK;
}

// ------------------------------------------------------------------------------------------------------------------ reports
static void put_json_cell(srJson* json, const char* cell, size_t n) {
  if (n > 0 && *cell == '"') {
    srText text = {0};
    put_plain(cell, n, &text);
    sr_json_text(json, NULL, text.data ? text.data : "");
    sr_text_free(&text);
  } else {
    sr_json_number(json, NULL, n > 0 ? strtod(cell, NULL) : (double)NAN);
  }
}

// A cell of all rows; null in those that are not done.
static void put_column(const Sweep* s, const Journal* j, srJson* json, const char* key, int column) {
  srText line = {0};
  sr_json_array(json, key);
  for (long long i = 0; i < s->rows; i++, sr_text_free(&line)) {
    size_t n = 0;
    const char* cell = journal_line(j, i, &line) ? cell_at(line.data, line.n, column, &n) : "";
    put_json_cell(json, cell, n);
  }
  sr_json_array_end(json);
}

static void put_parameter(const Sweep* s, srJson* json, int k) {
  sr_json_array(json, sr_sweep_name(s->plan, k));
  for (long long i = 0; i < s->rows; i++) {
    srText value = {0};
    if (sr_sweep_is_words(s->plan, k)) {
      sr_sweep_text(s->plan, i, k, &value);
      sr_json_text(json, NULL, value.data);
      sr_text_free(&value);
    } else {
      sr_json_number(json, NULL, sr_sweep_number(s->plan, i, k));
    }
  }
  sr_json_array_end(json);
}

static void put_json(const Sweep* s, const Journal* j, const Outcome* o, srText* out) {
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "verb", s->verb->name);
  sr_json_text(&json, "model", s->model);
  sr_json_int(&json, "rows", s->rows);
  sr_json_int(&json, "done", j->done);
  sr_json_int(&json, "failed", o->failed);
  sr_json_int(&json, "resumed", j->resumed);
  sr_json_object(&json, "parameters");
  for (int k = 0; k < sr_sweep_count(s->plan); k++) put_parameter(s, &json, k);
  sr_json_object_end(&json);
  sr_json_object(&json, "results");
  for (int i = 0; i < s->columns.n; i++) put_column(s, j, &json, s->columns.item[i], i);
  sr_json_object_end(&json);
  put_column(s, j, &json, "status", s->columns.n);
  put_column(s, j, &json, "message", s->columns.n + 2);
  if (!isnan(s->sample)) sr_json_int(&json, "seed", isnan(s->seed) ? 0 : (long long)s->seed);
  sr_json_text(&json, "out", s->out);
  sr_json_int(&json, "threads", s->nworker);
  sr_json_int(&json, "ranks", o->ranks);
  if (o->by_rank) {
    sr_json_array(&json, "rows_by_rank");
    for (int i = 0; i < o->ranks; i++) sr_json_int(&json, NULL, o->by_rank[i]);
    sr_json_array_end(&json);
  }
  sr_json_number(&json, "seconds", o->seconds);
  sr_json_warnings(&json, s->cli->messages);
  sr_json_end(&json);
}

// Least and largest value of each column, with their rows. One pass: a table may be longer than the memory.
typedef struct Range {
  double least, most;
  long long least_row, most_row;
  bool words;
} Range;

static void find_ranges(const Sweep* s, const Journal* j, Range* range, int n) {
  srText line = {0};
  for (int c = 0; c < n; c++) range[c] = (Range){.least_row = -1, .most_row = -1};
  for (long long i = 0; i < s->rows; i++, sr_text_free(&line)) {
    if (!journal_line(j, i, &line)) continue;
    for (int c = 0; c < n; c++) {
      size_t size;
      Range* r = &range[c];
      const char* cell = cell_at(line.data, line.n, c, &size);
      r->words = r->words || *cell == '"';
      const double x = *cell == '"' ? (double)NAN : strtod(cell, NULL);
      if (isnan(x)) continue;
      if (r->least_row < 0 || x < r->least) r->least = x, r->least_row = i;
      if (r->most_row < 0 || x > r->most) r->most = x, r->most_row = i;
    }
  }
}

static void show_ranges(const Sweep* s, const Journal* j, int n, srText* out) {
  Range* range = calloc((size_t)n + 1, sizeof *range);
  if (!range) return;
  find_ranges(s, j, range, n);
  sr_text_print(out, "  %-28s %15s %9s %15s %9s\n", "result", "least", "row", "largest", "row");
  for (int c = 0; c < n; c++) {
    const Range* r = &range[c];
    if (r->least_row >= 0)
      sr_text_print(out, "  %-28s %15.8g %9lld %15.8g %9lld\n", s->columns.item[c], r->least, r->least_row, r->most,
                    r->most_row);
    else
      sr_text_print(out, "  %-28s %15s\n", s->columns.item[c], r->words ? "words" : "no number");
  }
  free(range);
}

static void show_rows(const Sweep* s, const Journal* j, srText* out) {
  srText line = {0};
  for (int k = 0; k < sr_sweep_count(s->plan); k++) sr_text_print(out, " %14s", sr_sweep_name(s->plan, k));
  for (int c = 0; c < s->columns.n; c++) sr_text_print(out, " %16s", s->columns.item[c]);
  sr_text_print(out, "\n");
  for (long long i = 0; i < s->rows; i++, sr_text_free(&line)) {
    if (!journal_line(j, i, &line)) continue;
    for (int k = 0; k < sr_sweep_count(s->plan); k++) {
      srText value = {0};
      sr_sweep_text(s->plan, i, k, &value);
      if (sr_sweep_is_words(s->plan, k))
        sr_text_print(out, " %14s", value.data ? value.data : "");
      else
        sr_text_print(out, " %14.8g", sr_sweep_number(s->plan, i, k));
      sr_text_free(&value);
    }
    for (int c = 0; c <= s->columns.n + 2 && (c < s->columns.n || !is_ok(s, &line)); c++) {
      size_t n;
      const char* cell = cell_at(line.data, line.n, c, &n);
      srText text = {0};
      put_plain(cell, n, &text);
      if (c == s->columns.n + 1)
        ;  // warnings
      else if (n > 0 && *cell != '"')
        sr_text_print(out, " %16.9g", strtod(cell, NULL));
      else
        sr_text_print(out, c < s->columns.n ? " %16s" : "  %s", text.data ? text.data : "");
      sr_text_free(&text);
    }
    sr_text_print(out, "\n");
  }
}

static void show(const Sweep* s, const Journal* j, const Outcome* o, srText* out) {
  enum { SHOWN_ROWS = 60, SHOWN_COLUMNS = 6, SHOWN_RANGES = 20 };
  sr_text_print(out, "sweep of %s over %s: %lld row%s", s->verb->name, s->model, s->rows, s->rows == 1 ? "" : "s");
  if (j->done < s->rows) sr_text_print(out, ", %lld of them done", j->done);
  if (j->resumed > 0) sr_text_print(out, ", %lld taken from the journal", j->resumed);
  sr_text_print(out, ", %lld failed, %.3g s", o->failed, o->seconds);
  if (o->ranks > 1) sr_text_print(out, ", %d ranks", o->ranks);
  sr_text_print(out, "\n");
  if (!s->out && s->rows <= SHOWN_ROWS && s->columns.n <= SHOWN_COLUMNS) {
    show_rows(s, j, out);
    return;
  }
  show_ranges(s, j, s->cli->verbose || s->columns.n < SHOWN_RANGES ? s->columns.n : SHOWN_RANGES, out);
  if (s->columns.n > SHOWN_RANGES && !s->cli->verbose)
    sr_text_print(out, "  ... and %d more; --verbose prints them\n", s->columns.n - SHOWN_RANGES);
  if (s->out) sr_text_print(out, "table %s\n", output_is_stdout(s->out) ? "on standard output" : s->out);
}

void table_report(const Sweep* s, const Journal* j, const Outcome* outcome, srText* out) {
  if (s->cli->json)
    put_json(s, j, outcome, out);
  else
    show(s, j, outcome, out);
}
