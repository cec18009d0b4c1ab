// Plans of parameter values (sweep.h). Row i has, with the samples j = i mod n and the point p = i / n of the grid,
//   grid      x = a + (b - a) k/(N - 1), or a (b/a)^(k/(N - 1)), with k the digit of p in the mixed radix of the grids, the last one fastest
//   uniform   x = a + (b - a) u          loguniform   x = a (b/a)^u
//   normal    x = m + s sqrt(-2 ln u) cos(2 pi w)                                   (Box and Muller 1958)
// where u, w in (0, 1) are a hash of seed, name and j (math/philox.c): no row needs another.
#include <ctype.h>
#include <math.h>
#include <sarrus/sweep.h>
#include <string.h>

#include "base/base.h"
#include "expr/expr.h"
#include "math/philox.h"

#define LONGEST_NAME 120
#define MOST_VALUES 2000000000  // that are read; the rows have a bound of their own
#define PI 3.14159265358979323846

typedef enum Kind { GRID_EVEN, GRID_LOG, GRID_LIST, UNIFORM, LOGUNIFORM, NORMAL } Kind;

typedef struct Parameter {
  const char* name;
  Kind kind;
  double a, b;         // ends; mean and deviation
  int n;               // values of a grid
  const char** words;  // of a list, as given
  double* numbers;     // of a list; NaN: a word
  bool has_words;
} Parameter;

struct srSweep {
  srPool pool;
  Parameter* parameter;
  int n, capacity;
  long long points, samples;  // rows = points x samples
  unsigned long long seed;
};

static const srPlace here = {0};

srStatus sr_sweep_create(srSweep** out) {
  *out = sr_alloc(sizeof **out);
  if (!*out) return SR_MEMORY;
  sr_pool_init(&(*out)->pool);
  (*out)->points = (*out)->samples = 1;
  return SR_OK;
}

void sr_sweep_destroy(srSweep* sweep) {
  if (!sweep) return;
  sr_pool_free(&sweep->pool);
  sr_free(sweep);
}

// ------------------------------------------------------------------------------------------------------------- reading
static bool parse_number(srPool* pool, const char* text, srMessages* messages, double* value) {
  const srResolver none = {0};
  jmp_buf no_memory;
  if (setjmp(no_memory) != 0) return false;
  pool->on_fail = &no_memory;
  srGraph* graph = sr_graph_create(pool);
  const srNode node = sr_parse(graph, text, &none, here, messages);
  return node != SR_NO_NODE && sr_graph_constant(graph, node, value) && isfinite(*value);
}

// A number, or a formula of numbers. A word without a digit is none, but for pi: units are words, too.
static bool read_number(const char* text, double* value) {
  bool digit = strstr(text, "pi") != NULL;
  for (const char* p = text; *p; p++) digit = digit || isdigit((unsigned char)*p);
  if (!digit) return false;
  srPool pool;
  sr_pool_init(&pool);
  srMessages* messages = sr_messages_create();
  const bool good = messages && parse_number(&pool, text, messages, value);
  sr_messages_destroy(messages);
  sr_pool_free(&pool);
  return good;
}

// The parts between separators that are not in parentheses, trimmed. Returns their number.
static int split(srPool* pool, const char* text, char separator, const char*** out) {
  int n = 0, capacity = 0, depth = 0;
  const char* begin = text;
  *out = NULL;
  for (const char* p = text;; p++) {
    depth += (*p == '(') - (*p == ')');
    if (*p && !(*p == separator && depth <= 0)) continue;
    const char* end = p;
    while (begin < end && *begin == ' ') begin++;
    while (end > begin && end[-1] == ' ') end--;
    SR_PUSH(pool, *out, n, capacity) = sr_pool_text_n(pool, begin, (size_t)(end - begin));
    if (!*p) return n;
    begin = p + 1;
  }
}

static bool read_whole(const char* text, int least, int most, int* value) {
  double x;
  const char* end = sr_number_read_signed(text, &x);
  if (!end || *end || !(x >= least && x <= most) || x != floor(x)) return false;
  *value = (int)x;
  return true;
}

// Before the equals sign, into p->name; returns what is behind it. NULL: there is none, or it is there already.
static const char* read_name(srSweep* s, const char* text, Parameter* p, srMessages* messages) {
  const char* equals = strchr(text, '=');
  const size_t n = equals ? (size_t)(equals - text) : 0;
  if (n == 0 || n > LONGEST_NAME || equals[1] == 0) return NULL;
  p->name = sr_pool_text_n(&s->pool, text, n);
  for (int i = 0; i < s->n; i++) {
    if (strcmp(s->parameter[i].name, p->name) != 0) continue;
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "the parameter '%s' is swept twice", p->name);
    return "";
  }
  return equals + 1;
}

static bool read_grid(const char** part, int n, Parameter* p) {
  p->kind = n == 4 ? GRID_LOG : GRID_EVEN;
  if (n < 3 || n > 4 || (n == 4 && strcmp(part[3], "log") != 0)) return false;
  if (!read_number(part[0], &p->a) || !read_number(part[1], &p->b)) return false;
  return read_whole(part[2], 2, MOST_VALUES, &p->n) && (p->kind == GRID_EVEN || (p->a != 0 && p->b / p->a > 0));
}

static bool read_list(srPool* pool, const char* text, Parameter* p) {
  p->kind = GRID_LIST;
  p->n = split(pool, text, ',', &p->words);
  p->numbers = sr_pool_alloc(pool, (size_t)p->n * sizeof *p->numbers);
  for (int i = 0; i < p->n; i++) {
    if (!*p->words[i]) return false;
    if (!read_number(p->words[i], &p->numbers[i])) p->numbers[i] = (double)NAN, p->has_words = true;
  }
  return true;
}

// Adds the parameter where the rows stay within the bound.
static srStatus add(srSweep* s, const Parameter* p, long long points, long long samples, srMessages* messages) {
  if ((double)points * (double)samples > SR_SWEEP_MOST_ROWS) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, here,
                    "%.15g rows are more than the %d that a table may have: take fewer values or samples",
                    (double)points * (double)samples, SR_SWEEP_MOST_ROWS);
    return SR_INPUT;
  }
  if (p) SR_PUSH(&s->pool, s->parameter, s->n, s->capacity) = *p;
  s->points = points;
  s->samples = samples;
  return SR_OK;
}

static srStatus take_grid(srSweep* s, const char* text, srMessages* messages) {
  Parameter p = {0};
  const char** part;
  const char* rest = read_name(s, text, &p, messages);
  if (rest && !*rest) return SR_INPUT;
  const int n = rest ? split(&s->pool, rest, ':', &part) : 0;
  if (rest && (n == 1 ? read_list(&s->pool, rest, &p) : read_grid(part, n, &p)))
    return add(s, &p, s->points * p.n, s->samples, messages);
  sr_messages_add(messages, SR_SEVERITY_ERROR, here,
                  "--sweep expects NAME=FROM:TO:N with two numbers and at least 2 values, such as speed=0:10:101, "
                  "FROM:TO:N:log with two numbers of one sign, or values NAME=1,2,5; not '%s'",
                  text);
  return SR_INPUT;
}

static srStatus take_random(srSweep* s, const char* text, srMessages* messages) {
  static const char* const laws[] = {"uniform", "loguniform", "normal"};
  Parameter p = {0};
  const char** part;
  const char* rest = read_name(s, text, &p, messages);
  if (rest && !*rest) return SR_INPUT;
  const int n = rest ? split(&s->pool, rest, ':', &part) : 0;
  const int law = n == 3 ? sr_word_index(laws, SR_COUNT(laws), part[0]) : -1;
  p.kind = (Kind)(UNIFORM + law);
  if (law >= 0 && read_number(part[1], &p.a) && read_number(part[2], &p.b) &&
      (p.kind == NORMAL ? p.b >= 0 : p.b >= p.a) && (p.kind != LOGUNIFORM || p.a > 0))
    return add(s, &p, s->points, s->samples, messages);
  sr_messages_add(messages, SR_SEVERITY_ERROR, here,
                  "--random expects NAME=uniform:LOW:HIGH, NAME=loguniform:LOW:HIGH with LOW > 0, or "
                  "NAME=normal:MEAN:DEVIATION, not '%s'",
                  text);
  return SR_INPUT;
}

static srStatus guarded(srSweep* s, const char* text, srMessages* messages,
                        srStatus (*take)(srSweep*, const char*, srMessages*)) {
  jmp_buf no_memory;
  if (setjmp(no_memory) != 0) return SR_MEMORY;
  s->pool.on_fail = &no_memory;
  const srStatus status = take(s, text, messages);
  s->pool.on_fail = NULL;
  return status;
}

srStatus sr_sweep_grid(srSweep* s, const char* text, srMessages* messages) {
  return guarded(s, text, messages, take_grid);
}

srStatus sr_sweep_random(srSweep* s, const char* text, srMessages* messages) {
  return guarded(s, text, messages, take_random);
}

srStatus sr_sweep_sample(srSweep* s, long long n, unsigned long long seed, srMessages* messages) {
  if (n < 1) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "a sample has at least one row, not %lld", n);
    return SR_INPUT;
  }
  s->seed = seed;
  return add(s, NULL, s->points, n, messages);
}

// -------------------------------------------------------------------------------------------------------------- values
long long sr_sweep_rows(const srSweep* s) { return s->n > 0 ? s->points * s->samples : 0; }

int sr_sweep_count(const srSweep* s) { return s->n; }

const char* sr_sweep_name(const srSweep* s, int parameter) { return s->parameter[parameter].name; }

int sr_sweep_values(const srSweep* s, int parameter) { return s->parameter[parameter].n; }

bool sr_sweep_is_words(const srSweep* s, int parameter) { return s->parameter[parameter].has_words; }

bool sr_sweep_is_log(const srSweep* s, int parameter) {
  const Parameter* p = &s->parameter[parameter];
  return (p->kind == GRID_LOG || p->kind == LOGUNIFORM) && p->a > 0;
}

int sr_sweep_place(const srSweep* s, long long row, int parameter) {
  if (s->parameter[parameter].n == 0) return -1;
  long long point = row / s->samples;
  for (int i = s->n - 1; i > parameter; i--)
    if (s->parameter[i].n > 0) point /= s->parameter[i].n;
  return (int)(point % s->parameter[parameter].n);
}

static double random_value(const srSweep* s, const Parameter* p, unsigned long long sample) {
  uint64_t name = 14695981039346656037ull;  // FNV-1a
  for (const char* c = p->name; *c; c++) name = (name ^ (unsigned char)*c) * 1099511628211ull;
  const uint32_t counter[4] = {(uint32_t)sample, (uint32_t)(sample >> 32), (uint32_t)name, (uint32_t)(name >> 32)};
  const uint32_t key[2] = {(uint32_t)s->seed, (uint32_t)(s->seed >> 32)};
  uint32_t x[4];
  srm_philox(counter, key, x);
  const double u = srm_unit_interval(x[0], x[1]), w = srm_unit_interval(x[2], x[3]);
  switch (p->kind) {
    case NORMAL: return p->a + p->b * sqrt(-2 * log(u)) * cos(2 * PI * w);
    case LOGUNIFORM: return p->a * pow(p->b / p->a, u);
    default: return p->a + (p->b - p->a) * u;
  }
}

double sr_sweep_number(const srSweep* s, long long row, int parameter) {
  const Parameter* p = &s->parameter[parameter];
  if (p->n == 0) return random_value(s, p, (unsigned long long)(row % s->samples));
  const int k = sr_sweep_place(s, row, parameter);
  if (p->kind == GRID_LIST) return p->numbers[k];
  if (k == p->n - 1) return p->b;  // not off by rounding
  return p->kind == GRID_LOG ? p->a * pow(p->b / p->a, (double)k / (p->n - 1)) : p->a + (p->b - p->a) * k / (p->n - 1);
}

void sr_sweep_text(const srSweep* s, long long row, int parameter, srText* out) {
  const Parameter* p = &s->parameter[parameter];
  if (p->has_words) {
    const char* word = p->words[sr_sweep_place(s, row, parameter)];
    sr_text_add(out, word, strlen(word));
    return;
  }
  char number[40];
  sr_text_add(out, number, sr_number_print(sr_sweep_number(s, row, parameter), 17, number, sizeof number));
}
