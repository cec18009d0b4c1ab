// Tables of results from CSV files, by columns, with names and units: what sr_csv_create writes, and what other
// programs write. The file is read in pieces, so that only the numbers take memory. Errors are reported by file:line:column, up to a
// bound. (csv_read.c reads motions: there a gap is an error, here it is a gap.)
#include <errno.h>
#include <float.h>
#include <math.h>
#include <sarrus/io.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "expr/expr.h"
#include "io/results/table.h"

#define PIECE ((size_t)1 << 18)
#define LONGEST_LINE ((size_t)1 << 26)
#define MOST_ROWS 500000000
#define MAX_ERRORS 20

typedef srTableMemory Table;

typedef struct Reader {
  Table* table;
  const char* file;
  srMessages* messages;
  int line, errors;
  char separator;  // ',' ';' or a tab; ' ' for any blanks; 0: not known yet
  bool by_run;     // written by `run`: every line ends
  bool last;       // piece of the file
  bool unended;    // this line has no end: the program that wrote it may have been stopped
  bool memory;     // ran out
} Reader;

static void fail(Reader* r, int column, const char* what, const char* at, size_t n) {
  r->errors++;
  if (n > 40) n = 40;
  sr_messages_add(r->messages, SR_SEVERITY_ERROR, (srPlace){r->file, r->line, column}, n ? "%s, found '%.*s'" : "%s",
                  what, (int)n, at);
}

// -------------------------------------------------------------------------------------------------------------- fields
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool ends_field(const Reader* r, char c) { return r->separator == ' ' ? is_blank(c) : c == r->separator; }

static const char* skip_blanks(const Reader* r, const char* p, const char* end) {
  while (p < end && is_blank(*p) && (r->separator == ' ' || !ends_field(r, *p))) p++;
  return p;
}

// End of the field at p; quotes may hold separators.
static const char* field_end(const Reader* r, const char* p, const char* end) {
  bool quoted = false;
  for (; p < end && (quoted || !ends_field(r, *p)); p++)
    if (*p == '"') quoted = !quoted;
  return p;
}

// Behind the separator; NULL when the line ended.
static const char* next_field(const Reader* r, const char* p, const char* end) {
  if (r->separator == ' ') p = skip_blanks(r, p, end);
  if (p == end) return NULL;
  return r->separator == ' ' ? p : p + 1;
}

// Semicolons and tabs come before commas: with them a comma is a decimal one.
static char guess_separator(const char* line, const char* end) {
  const char* kinds = ";\t,";
  for (const char* kind = kinds; *kind; kind++) {
    bool quoted = false;
    for (const char* p = line; p < end; p++) {
      if (*p == '"') quoted = !quoted;
      if (*p == *kind && !quoted) return *kind;
    }
  }
  return ' ';
}

// ------------------------------------------------------------------------------------------------------------- numbers
// Digits and a power of ten of a plain number at p, at most 19 of them. NULL: it is not that plain.
static const char* plain_digits(const char* p, uint64_t* digits, int* exponent) {
  int n = 0;
  *digits = 0;
  *exponent = 0;
  const char* begin = p;
  for (; *p >= '0' && *p <= '9'; p++) *digits = 10 * *digits + (uint64_t)(*p - '0'), n += *digits != 0;
  const char* point = p;
  if (*p == '.')
    for (p++; *p >= '0' && *p <= '9'; p++)
      *digits = 10 * *digits + (uint64_t)(*p - '0'), n += *digits != 0, --*exponent;
  if (n > 19 || p - begin > 60 || p == begin || (p == begin + 1 && point == begin)) return NULL;
  if (*p != 'e' && *p != 'E') return p;
  const bool minus = *++p == '-';
  if (*p == '-' || *p == '+') p++;
  int e = 0;
  const char* first = p;
  for (; *p >= '0' && *p <= '9' && p - first < 4; p++) e = 10 * e + (*p - '0');
  if (p == first || (*p >= '0' && *p <= '9')) return NULL;
  *exponent += minus ? -e : e;
  return p;
}

// Digits and power to the nearest double, where one operation of an extended number settles it: both operands are
// exact, and so the true value is within one part in 2^63 of the result. When both ends of that give the same double, it is
// the one. False: sr_number_read decides.
static bool round_plain(uint64_t digits, int exponent, double* value) {
#if LDBL_MANT_DIG >= 64
  static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                       1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                       1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  if (exponent < -27 || exponent > 27) return false;
  const long double x = exponent < 0 ? (long double)digits / powers[-exponent] : (long double)digits * powers[exponent];
  const double low = (double)(x - x * 0x1p-63L), high = (double)(x + x * 0x1p-63L);
  *value = low;
  return low == high;
#else
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (exponent < -22 || exponent > 22 || digits > (uint64_t)1 << 53) return false;
  *value = exponent < 0 ? (double)digits / powers[-exponent] : (double)digits * powers[exponent];
  return true;
#endif
}

static bool is_word(const char* p, size_t n, const char* word) {
  if (strlen(word) != n) return false;
  for (size_t i = 0; i < n; i++)
    if ((p[i] | 32) != word[i]) return false;
  return true;
}

// The number in p .. end; nothing at all is NaN, a gap. False: it is no number.
static bool read_number(const char* p, const char* end, double* value) {
  *value = (double)NAN;
  while (end > p && is_blank(end[-1])) end--;
  if (end - p >= 2 && *p == '"' && end[-1] == '"') p++, end--;
  if (p == end) return true;
  const bool minus = *p == '-';
  if (*p == '-' || *p == '+') p++;
  uint64_t digits;
  int exponent;
  const char* behind = plain_digits(p, &digits, &exponent);
  if (!behind || !round_plain(digits, exponent, value)) behind = sr_number_read(p, value);
  const size_t n = (size_t)(end - p);
  if (behind != end) {
    *value = is_word(p, n, "inf") || is_word(p, n, "infinity") ? (double)INFINITY : (double)NAN;
    if (!isinf(*value) && !is_word(p, n, "nan") && !is_word(p, n, "na")) return false;
  }
  if (minus) *value = -*value;
  return true;
}

// The same, with decimal commas where those do not separate.
static bool read_field(const Reader* r, const char* p, const char* end, double* value) {
  const char* comma = r->separator == ',' ? NULL : memchr(p, ',', (size_t)(end - p));
  char copy[80];
  const size_t n = (size_t)(end - p);
  if (!comma || n >= sizeof copy) return read_number(p, end, value);
  memcpy(copy, p, n);
  copy[n] = 0;
  copy[comma - p] = '.';
  return read_number(copy, copy + n, value);
}

// -------------------------------------------------------------------------------------------------------------- header
// The first line is a header when none of its fields is a number: a mistyped number makes no header of a row.
static bool is_header(const Reader* r, const char* line, const char* end) {
  for (const char* p = skip_blanks(r, line, end); p; p = skip_blanks(r, p, end)) {
    const char* behind = field_end(r, p, end);
    double value;
    if (behind > p && read_field(r, p, behind, &value)) return false;
    p = next_field(r, behind, end);
    if (!p) break;
  }
  return true;
}

// A name without its quotes; two of them mean one.
static char* unquoted(srPool* pool, const char* p, const char* end) {
  while (end > p && is_blank(end[-1])) end--;
  char* text = sr_pool_text_n(pool, p, (size_t)(end - p));
  if (end - p < 2 || *p != '"' || end[-1] != '"') return text;
  char* to = text;
  for (p++, end--; p < end; p++) {
    if (*p == '"' && p + 1 < end && p[1] == '"') p++;
    *to++ = *p;
  }
  *to = 0;
  return text;
}

// "name [unit]" or "name (unit)" to its two parts.
static const char* cut_unit(srPool* pool, char* name) {
  const size_t n = strlen(name);
  const char closing = n > 2 ? name[n - 1] : 0;
  char* open = closing == ']' ? strrchr(name, '[') : closing == ')' ? strrchr(name, '(') : NULL;
  if (!open || open == name || (closing == ')' && open[-1] != ' ')) return "";
  const char* unit = sr_pool_text_n(pool, open + 1, (size_t)(name + n - 1 - open - 1));
  do *open-- = 0;
  while (open > name && *open == ' ');
  return unit;
}

static int count_fields(const Reader* r, const char* line, const char* end) {
  int n = 0;
  for (const char* p = skip_blanks(r, line, end); p; n++) p = next_field(r, field_end(r, p, end), end);
  return n;
}

static void take_header(Reader* r, const char* line, const char* end, bool named) {
  srResultTable* t = &r->table->seen;
  srPool* pool = &r->table->pool;
  t->ncolumn = count_fields(r, line, end);
  t->names = sr_pool_alloc(pool, (size_t)t->ncolumn * sizeof *t->names);
  t->units = sr_pool_alloc(pool, (size_t)t->ncolumn * sizeof *t->units);
  t->columns = sr_pool_alloc(pool, (size_t)t->ncolumn * sizeof *t->columns);
  const char* p = line;
  for (int i = 0; i < t->ncolumn; i++) {
    p = skip_blanks(r, p, end);
    const char* behind = field_end(r, p, end);
    char* name = named ? unquoted(pool, p, behind) : "";
    t->units[i] = named ? cut_unit(pool, name) : "";
    t->names[i] = *name ? name : sr_pool_printf(pool, "c%d", i + 1);
    p = next_field(r, behind, end);
  }
}

// ---------------------------------------------------------------------------------------------------------------- rows
static bool grow(Table* t) {
  const int larger = t->capacity ? 2 * t->capacity : 1024;
  for (int i = 0; i < t->seen.ncolumn; i++) {
    double* column = t->seen.nrow < MOST_ROWS ? sr_alloc((size_t)larger * sizeof *column) : NULL;
    if (!column) return false;
    if (t->seen.nrow > 0) memcpy(column, t->seen.columns[i], (size_t)t->seen.nrow * sizeof *column);
    sr_free(t->seen.columns[i]);
    t->seen.columns[i] = column;
  }
  t->capacity = larger;
  return true;
}

// The last line of a program that was stopped may end anywhere: what is before it is whole.
static bool is_cut(Reader* r, const char* line, const char* end) {
  if (!r->unended || r->table->seen.nrow == 0) return false;
  if (!r->by_run && count_fields(r, line, end) >= r->table->seen.ncolumn) return false;
  sr_messages_add(r->messages, SR_SEVERITY_WARNING, (srPlace){r->file, r->line, 1},
                  "the last line is cut off, and left out");
  return true;
}

// Words between quotes: columns of sweeps and comparisons have them. They are gaps.
static bool is_words(const char* p, const char* end) {
  while (end > p && is_blank(end[-1])) end--;
  return end - p >= 2 && *p == '"' && end[-1] == '"';
}

static void take_row(Reader* r, const char* line, const char* end) {
  srResultTable* t = &r->table->seen;
  if (is_cut(r, line, end)) return;
  if (t->nrow == r->table->capacity && !grow(r->table)) {
    r->memory = true;
    return;
  }
  const char* p = skip_blanks(r, line, end);
  for (int i = 0; i < t->ncolumn; i++) {
    const char* behind = field_end(r, p, end);
    const int column = (int)(p - line) + 1;
    if (!read_field(r, p, behind, &t->columns[i][t->nrow]) && !is_words(p, behind)) {
      fail(r, column, "expected a number", p, (size_t)(behind - p));
      return;
    }
    p = next_field(r, behind, end);
    if (!p && i + 1 < t->ncolumn) {
      char text[80];
      snprintf(text, sizeof text, "the line has %d values; there are %d columns", i + 1, t->ncolumn);
      fail(r, (int)(end - line) + 1, text, "", 0);
      return;
    }
    if (p) p = skip_blanks(r, p, end);
  }
  if (p) {
    fail(r, (int)(p - line) + 1, "the line has more values than there are columns", p,
         (size_t)(field_end(r, p, end) - p));
    return;
  }
  t->nrow++;
}

// One line, zero-terminated where it ends.
static void take_line(Reader* r, const char* line, const char* end) {
  r->line++;
  if (r->line == 1 && end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) line += 3;  // byte order mark
  if (r->line == 1) r->by_run = strncmp(line, "# sarrus ", 9) == 0;
  const char* first = line;
  while (first < end && is_blank(*first)) first++;
  if (first == end || *first == '#') return;
  if (r->table->seen.ncolumn > 0) {
    take_row(r, line, end);
    return;
  }
  r->separator = guess_separator(line, end);
  if (r->separator == ' ')
    while (end > line && is_blank(end[-1])) end--;
  const bool header = is_header(r, line, end);
  take_header(r, line, end, header);
  if (!header) take_row(r, line, end);
}

// ---------------------------------------------------------------------------------------------------------------- file
typedef struct Buffer {
  char* data;
  size_t n, capacity;
} Buffer;

static bool fill(Buffer* b, FILE* file, bool* last) {
  if (b->n + PIECE + 1 > b->capacity) {
    const size_t larger = 2 * b->capacity + PIECE + 1;
    char* data = larger < LONGEST_LINE ? sr_alloc(larger) : NULL;
    if (!data) return false;
    if (b->n > 0) memcpy(data, b->data, b->n);
    sr_free(b->data);
    b->data = data;
    b->capacity = larger;
  }
  const size_t got = fread(b->data + b->n, 1, PIECE, file);
  b->n += got;
  *last = got == 0;
  return true;
}

// End of the line at p, NULL: it is not there yet. In the header quotes may hold line ends, but not without end: a quote may also be an
// inch.
static char* line_end(const Reader* r, char* p, char* stop) {
  char* plain = memchr(p, '\n', (size_t)(stop - p));
  if (r->table->seen.ncolumn > 0 || *p == '#') return plain;
  bool quoted = false;
  for (char* q = p; q < stop && (size_t)(q - p) < PIECE; q++) {
    if (*q == '"') quoted = !quoted;
    if (*q == '\n' && !quoted) return q;
  }
  return r->last || (size_t)(stop - p) >= PIECE ? plain : NULL;
}

static int count_line_ends(const char* p, const char* end) {
  int n = 0;
  for (; p < end; p++) n += *p == '\n';
  return n;
}

// Takes the lines that are whole; the rest moves to the front.
static void take_lines(Reader* r, Buffer* b, bool last) {
  r->last = last;
  char *line = b->data, *stop = b->data + b->n;
  while (line < stop && r->errors < MAX_ERRORS && !r->memory) {
    char* end = line_end(r, line, stop);
    if (!end && !last) break;
    char* next = end ? end + 1 : stop;
    r->unended = !end;
    if (!end) end = stop;
    if (end > line && end[-1] == '\r') end--;
    *end = 0;
    const int inside = count_line_ends(line, end);
    take_line(r, line, end);
    r->line += inside;
    line = next;
  }
  b->n = (size_t)(stop - line);
  if (b->n > 0) memmove(b->data, line, b->n);
}

static srStatus read_all(Reader* r, FILE* file, Buffer* b) {
  for (bool last = false; !last && r->errors < MAX_ERRORS && !r->memory;) {
    if (!fill(b, file, &last)) return SR_MEMORY;
    take_lines(r, b, last);
  }
  if (r->memory) return SR_MEMORY;
  if (ferror(file)) {
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, (srPlace){.file = r->file}, "cannot be read: %s", strerror(errno));
    return SR_IO;
  }
  if (r->errors == 0 && r->table->seen.nrow == 0) {
    r->errors++;
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, (srPlace){.file = r->file}, "holds no row of numbers");
  }
  return r->errors == 0 ? SR_OK : SR_INPUT;
}

srStatus sr_csv_read(const char* path, srMessages* messages, srResultTable** out) {
  *out = NULL;
  srReason reason;
  FILE* file = sr_file_open(path, &reason);
  if (!file) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path}, "%s", reason.text);
    return SR_IO;
  }
  errno = 0;
  Table* table = sr_alloc(sizeof *table);
  Buffer* buffer = sr_alloc(sizeof *buffer);
  srStatus status = SR_MEMORY;
  jmp_buf on_fail;
  if (table && buffer && setjmp(on_fail) == 0) {
    sr_pool_init(&table->pool);
    table->pool.on_fail = &on_fail;
    Reader r = {.table = table, .file = path, .messages = messages};
    const srStatus result = read_all(&r, file, buffer);
    table->pool.on_fail = NULL;
    if (result == SR_OK) *out = &table->seen;
    status = result;
  }
  fclose(file);
  if (buffer) sr_free(buffer->data);
  sr_free(buffer);
  if (!*out && table) sr_table_destroy(&table->seen);
  return status;
}
