// A result table as a page: its columns q.* are the positions of the model that its first line names, "# sarrus 0.2.0; model NAME (FILE); ...; set A=1,B=2".
#define _GNU_SOURCE
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Result {
  Cli* cli;
  Model* m;
  const char* path;
  char line[4096];  // provenance; "": none
  char file[4096];  // the model
  srResultTable* table;
  srPage* page;
} Result;

// ---- which model -----------------------------------------------------------------------------------------------------------------------
static void read_line(Result* r) {
  FILE* file = fopen(r->path, "r");
  if (!file) return;
  if (!fgets(r->line, sizeof r->line, file) || strncmp(r->line, "# sarrus ", 9) != 0) r->line[0] = 0;
  r->line[strcspn(r->line, "\r\n")] = 0;
  fclose(file);
}

// "(FILE)" of the line, as it was given to `run`, or beside the result.
static bool find_model(Result* r, const char* of) {
  const char *begin = strstr(r->line, " ("), *end = begin ? strstr(begin, "); ") : NULL;
  if (of) return snprintf(r->file, sizeof r->file, "%s", of), true;
  if (!end) {
    cli_error(r->cli, "'%s' does not say which model it is of: add --model MODEL", r->path);
    return false;
  }
  const int n = (int)(end - begin - 2);
  snprintf(r->file, sizeof r->file, "%.*s", n, begin + 2);
  if (access(r->file, R_OK) == 0) return true;
  const char* slash = strrchr(r->path, '/');
  if (slash && r->file[0] != '/')
    snprintf(r->file, sizeof r->file, "%.*s%.*s", (int)(slash - r->path + 1), r->path, n, begin + 2);
  if (access(r->file, R_OK) == 0) return true;
  cli_error(r->cli, "'%s' is of the model '%.*s', which is not there: add --model MODEL", r->path, n, begin + 2);
  return false;
}

// The settings of the run, unless others are given: NAME=VALUE,... ; values have no commas outside of the calls of functions, so a comma before NAME= parts them.
static const char* setting_end(const char* p) {
  int depth = 0;
  for (; *p && (*p != ',' || depth > 0); p++) depth += (*p == '(') - (*p == ')');
  return p;
}

static bool take_settings(Result* r) {
  Settings* out = &r->m->settings;
  const char* set = strstr(r->line, "; set ");
  if (!set || out->n > 0) return true;
  for (const char *p = set + 6, *end; *p; p = *end ? end + 1 : end) {
    end = setting_end(p);
    char* text = strndup(p, (size_t)(end - p));
    char* equals = text ? strchr(text, '=') : NULL;
    srSetting* more = equals ? realloc(out->item, (size_t)(out->n + 1) * sizeof *more) : NULL;
    if (!more) {
      free(text);
      return text != NULL && !equals;
    }
    *equals = 0;
    out->item = more;
    more[out->n++] = (srSetting){text, equals + 1};  // one block, which settings_free frees
  }
  return true;
}

// ---- rows ----------------------------------------------------------------------------------------------------------------------------------
static bool has_positions(const Result* r) {
  const srModel* m = r->m->model;
  char name[300];
  for (int i = 0; i < m->nq; i++) {
    snprintf(name, sizeof name, "q.%s", m->q_name[i]);
    if (sr_table_column(r->table, name) >= 0) continue;
    cli_error(r->cli, "'%s' has no column '%s': positions of '%s' cannot be shown without it", r->path, name, r->file);
    return false;
  }
  if (sr_table_column(r->table, "t") >= 0) return true;
  cli_error(r->cli, "'%s' has no column 't'", r->path);
  return false;
}

// Columns of the page that are in the table; the others are unknown.
static int* places_of(const Result* r, const srColumns* columns) {
  int* place = calloc((size_t)columns->count + 1, sizeof *place);
  for (int i = 0; place && i < columns->count; i++) place[i] = sr_table_column(r->table, columns->names[i]);
  return place;
}

static bool put_rows(const Result* r, const srColumns* columns, const int* place) {
  const srModel* m = r->m->model;
  srData* d = r->m->data;
  double* row = calloc((size_t)columns->count + 1, sizeof *row);
  bool good = row != NULL;
  double last = -HUGE_VAL;
  int shown = 0;
  for (int k = 0; k < r->table->nrow && good; k++) {
    for (int i = 0; i < columns->count; i++) row[i] = place[i] >= 0 ? r->table->columns[place[i]][k] : (double)NAN;
    d->t = row[0];
    for (int i = 0; i < m->nq; i++) d->q[i] = row[1 + i];  // behind t
    d->stage = SR_STAGE_NONE;
    bool finite = isfinite(d->t);
    for (int i = 0; i < m->nq; i++) finite = finite && isfinite(d->q[i]);
    if (!finite) {
      cli_warning(r->cli, "row %d of '%s' has no position and is left out", k + 1, r->path);
      continue;
    }
    if (d->t < last) {
      cli_error(
          r->cli,
          "row %d of '%s' is at %g s, earlier than the row before: the rows of a motion must follow each other in time",
          k + 1, r->path, d->t);
      free(row);
      return false;
    }
    last = d->t;
    shown++;
    good = sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION) == 0 && sr_page_row(r->page, d, row) == SR_OK;
  }
  if (!good)
    cli_error(r->cli, "the rows of '%s' cannot be shown: out of memory, or positions without meaning", r->path);
  free(row);
  if (good && shown == 0) {
    cli_error(r->cli, "no row of '%s' has positions: there is nothing to show", r->path);
    return false;
  }
  return good;
}

static bool put_table(Result* r) {
  int n = 0;
  srColumns* columns = NULL;
  if (sr_page_create(r->m->model, NULL, 0, r->cli->messages, &r->page) != SR_OK) return false;
  const char* const* record = sr_page_record(r->page, &n);
  if (sr_record_columns_create(r->m->model, record, n, r->cli->messages, &columns) != SR_OK) return false;
  int* place = places_of(r, columns);
  const bool good = place && put_rows(r, columns, place);
  free(place);
  sr_columns_destroy(columns);
  return good;
}

// ---- the page --------------------------------------------------------------------------------------------------------------------------------
// Pages are written to files: this one nobody else can read.
static bool read_page(Result* r, const char* front, srText* page) {
  char name[] = "/tmp/sarrus-view-XXXXXX", path[64];
  if (!mkdtemp(name)) return cli_error(r->cli, "no folder can be made in /tmp"), false;
  snprintf(path, sizeof path, "%s/page.html", name);
  const srPageDef def = {.front = front, .file = r->file, .provenance = r->line[0] ? r->line + 2 : NULL};
  bool good = sr_page_write(r->page, &def, path, r->cli->messages, NULL) == SR_OK;
  FILE* file = good ? fopen(path, "rb") : NULL;
  char part[1 << 14];
  for (size_t k; file && (k = fread(part, 1, sizeof part, file)) > 0;) sr_text_add(page, part, k);
  good = file && !page->failed && page->n > 0;
  if (file) fclose(file);
  unlink(path);
  rmdir(name);
  return good;
}

static bool show(Result* r, const char* front, srText* page) {
  return has_positions(r) && put_table(r) && read_page(r, front, page);
}

int view_result(Cli* cli, Model* m, const char* of, const char* front, srText* page) {
  Result r = {.cli = cli, .m = m, .path = m->path};
  if (sr_table_read(r.path, cli->messages, &r.table) != SR_OK)
    return cli_refuse(cli, EXIT_INPUT);  // missing, or a pipe: opened here, not below
  read_line(&r);
  if (!find_model(&r, of) || !take_settings(&r)) {
    sr_table_destroy(r.table);
    return cli_refuse(cli, EXIT_INPUT);
  }
  m->path = r.file;
  const int status = model_open(cli, m);
  const bool good = status == EXIT_DONE && show(&r, front, page);
  sr_table_destroy(r.table);
  sr_page_destroy(r.page);
  m->path = r.path;
  if (status != EXIT_DONE) return status;
  return good ? EXIT_DONE : cli_refuse(cli, EXIT_INPUT);
}
