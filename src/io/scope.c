// Parameters and indices while a model file is read: their values, and their replacement in attributes.
//   name="link{i+1}"       {formula}: its value, as a whole number where it is one
//   at="i*0.1 0 0"         an index as a word of a formula: its number, in parentheses when negative
#include "io/scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORMULAS_PER_GRAPH 4096  // then a new graph is begun, so that a long repeat does not keep every formula

void sr_scope_init(srScope* scope, srPool* pool, srMessages* messages) {
  *scope = (srScope){.pool = pool, .messages = messages};
  sr_names_init(&scope->names, pool);
  sr_names_init(&scope->later, pool);
  sr_pool_init(&scope->scratch);
  scope->scratch.on_fail = pool->on_fail;
}

void sr_scope_free(srScope* scope) {
  sr_pool_free(&scope->scratch);
  scope->graph = NULL;
}

const double* sr_scope_parameter(const srScope* scope, const char* name) {
  const int i = sr_names_find(&scope->names, name);
  return i < 0 ? NULL : &scope->values[i];
}

void sr_scope_define(srScope* scope, const char* name, double value) {
  if (!sr_names_put(&scope->names, name, scope->n)) return;
  int n = scope->n;
  SR_PUSH(scope->pool, scope->values, n, scope->values_capacity) = value;
  SR_PUSH(scope->pool, scope->words, scope->n, scope->words_capacity) = name;
}

static int find_index(const srScope* scope, const char* name, size_t n) {
  for (int i = scope->nindex - 1; i >= 0; i--)
    if (strlen(scope->indices[i].name) == n && memcmp(scope->indices[i].name, name, n) == 0) return i;
  return -1;
}

bool sr_scope_is_index(const srScope* scope, const char* name) { return find_index(scope, name, strlen(name)) >= 0; }

// ----------------------------------------------------------------------------------------------------------- values
static srNode resolve(void* user, srGraph* graph, const char* name, char* reason, size_t size) {
  const srScope* scope = user;
  const int index = find_index(scope, name, strlen(name));
  if (index >= 0) return sr_graph_const(graph, (double)scope->indices[index].value);
  const double* value = sr_scope_parameter(scope, name);
  if (value) return sr_graph_const(graph, *value);
  if (sr_names_find(&scope->later, name) >= 0)
    snprintf(reason, size, "parameter '%.60s' is not defined yet; only parameters defined before can be used", name);
  return SR_NO_NODE;
}

static srGraph* fresh_graph(srScope* scope) {
  if (scope->graph && scope->parsed < FORMULAS_PER_GRAPH) return scope->graph;
  sr_pool_free(&scope->scratch);
  scope->parsed = 0;
  scope->graph = NULL;
  return scope->graph = sr_graph_create(&scope->scratch);
}

bool sr_scope_value(srScope* scope, const char* text, srPlace place, double* value) {
  srGraph* graph = fresh_graph(scope);
  const srResolver resolver = {.user = scope, .name = resolve, .known = scope->words, .nknown = scope->n};
  scope->parsed++;
  const srNode node = sr_parse(graph, text, &resolver, place, scope->messages);
  if (node == SR_NO_NODE) return false;
  if (sr_graph_constant(graph, node, value) && isfinite(*value)) return true;
  sr_messages_add(scope->messages, SR_SEVERITY_ERROR, place, "the value of '%.200s' is not a finite number", text);
  return false;
}

// The indices of a <repeat> are the file's own.
bool sr_scope_setting(srScope* scope, const char* text, srPlace place, double* value) {
  const int nindex = scope->nindex;
  scope->nindex = 0;
  const bool good = sr_scope_value(scope, text, place, value);
  scope->nindex = nindex;
  return good;
}

bool sr_scope_whole(srScope* scope, const char* text, srPlace place, const char* what, long long lowest,
                    long long highest, long long* value) {
  double x;
  if (!sr_scope_value(scope, text, place, &x)) return false;
  if (x == floor(x) && x >= (double)lowest && x <= (double)highest) {
    *value = (long long)x;
    return true;
  }
  char number[SR_NUMBER_TEXT];
  sr_number_text(x, number, sizeof number);
  sr_messages_add(scope->messages, SR_SEVERITY_ERROR, place, "%s is %s; it must be a whole number from %lld to %lld",
                  what, number, lowest, highest);
  return false;
}

// ------------------------------------------------------------------------------------------------------ replacement
typedef struct Buffer {
  srPool* pool;
  char* text;
  int n, capacity;
} Buffer;

static void append(Buffer* b, const char* text, size_t n) {
  for (size_t i = 0; i < n; i++) SR_PUSH(b->pool, b->text, b->n, b->capacity) = text[i];
}

static srPlace moved(srPlace place, size_t n) {
  if (place.column > 0) place.column += (int)n;
  return place;
}

// Text of a number in a name: whole where it is whole.
static const char* number_text(double value, char out[SR_NUMBER_TEXT]) {
  if (value == floor(value) && fabs(value) < 1e15)
    snprintf(out, SR_NUMBER_TEXT, "%lld", (long long)value);
  else
    sr_number_text(value, out, SR_NUMBER_TEXT);
  return out;
}

// {formula} at p; returns what follows it, or NULL after an error.
static const char* fill_brace(srScope* scope, Buffer* b, const char* p, srPlace place) {
  const char* end = strpbrk(p + 1, "{}");
  if (!end || *end == '{') {
    sr_messages_add(scope->messages, SR_SEVERITY_ERROR, place, "'{' without a '}' behind it");
    return NULL;
  }
  char number[SR_NUMBER_TEXT];
  double value;
  const int index = find_index(scope, p + 1, (size_t)(end - p - 1));
  if (index >= 0) {
    value = (double)scope->indices[index].value;
  } else {
    const char* formula = sr_pool_text_n(b->pool, p + 1, (size_t)(end - p - 1));
    if (!sr_scope_value(scope, formula, moved(place, 1), &value)) return NULL;
  }
  number_text(value, number);
  append(b, number, strlen(number));
  return end + 1;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t word_length(const char* p) {
  size_t n = 0;
  while (is_letter(p[n]) || is_digit(p[n])) n++;
  return n;
}

// Length of a number, so that the e of 1e3 is not taken for a name; 0: none begins here.
static size_t number_length(const char* p) {
  double value;
  const char* end = is_digit(*p) || *p == '.' ? sr_number_read(p, &value) : NULL;
  return end ? (size_t)(end - p) : 0;
}

static bool is_call(const char* p) {
  while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
  return *p == '(';
}

// A word of a formula: an index becomes its number, everything else stays.
static void fill_word(const srScope* scope, Buffer* b, const char* p, size_t n) {
  const int index = is_call(p + n) ? -1 : find_index(scope, p, n);
  if (index < 0) {
    append(b, p, n);
    return;
  }
  char number[40];
  const long long value = scope->indices[index].value;
  const int length = snprintf(number, sizeof number, value < 0 ? "(%lld)" : "%lld", value);
  append(b, number, (size_t)length);
}

const char* sr_scope_fill(srScope* scope, srPool* pool, const char* text, srPlace place, bool is_formula) {
  const bool words = is_formula && scope->nindex > 0;
  if (!words && !strpbrk(text, "{}")) return text;
  Buffer b = {.pool = pool};
  for (const char* p = text; *p;) {
    const srPlace here = moved(place, (size_t)(p - text));
    const size_t number = words ? number_length(p) : 0;
    const size_t word = words && number == 0 ? word_length(p) : 0;
    if (*p == '{') {
      p = fill_brace(scope, &b, p, here);
      if (!p) return NULL;
    } else if (*p == '}') {
      sr_messages_add(scope->messages, SR_SEVERITY_ERROR, here, "'}' without a '{' before it");
      return NULL;
    } else if (word > 0) {
      fill_word(scope, &b, p, word);
      p += word;
    } else {
      append(&b, p, number > 0 ? number : 1);
      p += number > 0 ? number : 1;
    }
  }
  append(&b, "", 1);
  return b.text;
}
