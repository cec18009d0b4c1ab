// Tables of numbers from CSV files. All errors are reported, up to a bound: one per line.
#include "io/results/csv_read.h"

#include <math.h>
#include <string.h>

#include "expr/expr.h"

#define MAX_ERRORS 20

typedef struct Reader {
  srPool* pool;
  const char* file;
  srMessages* messages;
  int line, errors, capacity, count;  // count of values
  bool corner;                        // the next line has one: the first of a grid
  srTable* table;
} Reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static const char* skip_blanks(const char* p, const char* end) {
  while (p < end && is_blank(*p)) p++;
  return p;
}

static void fail(Reader* r, const char* line, const char* p, const char* end) {
  size_t n = 0;
  while (p + n < end && n < 40 && !is_blank(p[n]) && p[n] != ',' && p[n] != ';') n++;
  const srPlace place = {r->file, r->line, (int)(p - line) + 1};
  r->errors++;
  if (n == 0)
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, place, "expected a number, found nothing");
  else
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, place, "expected a number, found '%.*s'", (int)n, p);
}

// One number with its sign at p; NULL: none, or not finite.
static const char* read_value(const char* p, const char* end, double* value) {
  const char* behind = sr_number_read_signed(p, value);
  if (!behind || behind > end || !isfinite(*value)) return NULL;
  return behind == end || is_blank(*behind) || *behind == ',' || *behind == ';' ? behind : NULL;
}

// Behind the corner of a grid, which ends at a separator, or at a blank.
static const char* skip_corner(const char* p, const char* end) {
  while (p < end && !is_blank(*p) && *p != ',' && *p != ';') p++;
  return p;
}

// The values of one line; returns their number, or -1 after an error.
static int read_line(Reader* r, const char* line, const char* end) {
  int n = 0;
  for (const char* p = skip_blanks(line, end);;) {
    double value = 0;
    const char* behind = p < end ? read_value(p, end, &value) : NULL;
    if (r->corner && !behind) behind = skip_corner(p, end);
    r->corner = false;
    if (!behind) {
      fail(r, line, p, end);
      return -1;
    }
    SR_PUSH(r->pool, r->table->values, r->count, r->capacity) = value;
    n++;
    p = skip_blanks(behind, end);
    if (p == end) return n;
    if (*p == ',' || *p == ';') p = skip_blanks(p + 1, end);
  }
}

// The first line is a header when a number begins none of its fields (between commas or semicolons): a mistyped number
// makes no header of a row. A grid has none: its first row would be taken for the axis.
static bool is_header(const Reader* r, const char* line, const char* end) {
  if (r->table->ncolumn > 0 || r->errors > 0 || r->corner) return false;
  for (const char* p = line; p < end; p++) {
    double value;
    p = skip_blanks(p, end);
    if (p < end && read_value(p, end, &value)) return false;
    while (p < end && *p != ',' && *p != ';') p++;
  }
  return true;
}

static void take_line(Reader* r, const char* line, const char* end) {
  const int before = r->count;
  const int n = read_line(r, line, end);
  srTable* table = r->table;
  if (table->ncolumn == 0 && n > 0) table->ncolumn = n;
  if (n > 0 && n != table->ncolumn) {
    r->errors++;
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, (srPlace){r->file, r->line, 1},
                    "%d values; the lines before have %d", n, table->ncolumn);
  }
  if (n == table->ncolumn)
    table->nrow++;
  else
    r->count = before;
}

static bool parse(srPool* pool, const char* text, size_t size, const char* file, bool grid, srMessages* messages,
                  srTable* out) {
  *out = (srTable){0};
  Reader r = {.pool = pool, .file = file, .messages = messages, .table = out, .corner = grid};
  bool header = false;
  const bool mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;  // byte order mark
  for (const char *line = text + (mark ? 3 : 0), *last = text + size; line < last && r.errors < MAX_ERRORS;) {
    const char* end = memchr(line, '\n', (size_t)(last - line));
    if (!end) end = last;
    r.line++;
    const char* p = skip_blanks(line, end);
    if (p < end && *p != '#') {
      if (!header && is_header(&r, line, end))
        header = true;
      else
        take_line(&r, line, end);
    }
    line = end < last ? end + 1 : last;
  }
  if (r.errors == 0 && out->nrow == 0)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){file, 0, 0}, "holds no row of numbers"), r.errors++;
  return r.errors == 0;
}

bool sr_csv_parse(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages, srTable* out) {
  return parse(pool, text, size, file, false, messages, out);
}

bool sr_csv_parse_grid(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages,
                       srTable* out) {
  return parse(pool, text, size, file, true, messages, out);
}
