// Formulas: text to graph, by recursive descent, a function for each line of the grammar.
//   formula  = compare end
//   compare  = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//   sum      = product { ("+" | "-") product }
//   product  = unary { ("*" | "/") unary }
//   unary    = ("-" | "+") unary | power
//   power    = primary [ "^" unary ]                  so that -2^2 = -4, 2^-1 = 0.5 and 2^3^2 = 2^9
//   primary  = number | name | name "(" [ argument { "," argument } ] ")" | "(" compare ")"
// The first error ends the formula. Nesting and length are bounded: a formula comes from a file, and a file from
// anywhere.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/graph.h"

#define MAX_DEPTH 200
#define MAX_LENGTH 65536
#define WORD 80     // longest piece of the formula that a message quotes
#define REASON 256  // longest sentence of a resolver

typedef struct Parser {
  srGraph* graph;
  const srResolver* resolver;
  const char* text;
  srPlace place;
  srMessages* messages;
  int pos;
  int last, last_end;  // the token before pos
  int depth;
} Parser;

// Built-in functions: plain operations, and those that are made of several.
enum { F_ATAN = SR_OP_COUNT, F_MOD, F_RANDOM };

typedef struct Builtin {
  const char* name;
  int op, least, most;  // number of arguments; most 0: any
} Builtin;

static const Builtin builtins[] = {
    {"sin", SR_OP_SIN, 1, 1},   {"cos", SR_OP_COS, 1, 1},     {"tan", SR_OP_TAN, 1, 1},     {"asin", SR_OP_ASIN, 1, 1},
    {"acos", SR_OP_ACOS, 1, 1}, {"atan", F_ATAN, 1, 1},       {"atan2", SR_OP_ATAN2, 2, 2}, {"exp", SR_OP_EXP, 1, 1},
    {"log", SR_OP_LOG, 1, 1},   {"sqrt", SR_OP_SQRT, 1, 1},   {"abs", SR_OP_ABS, 1, 1},     {"min", SR_OP_MIN, 2, 0},
    {"max", SR_OP_MAX, 2, 0},   {"pow", SR_OP_POW, 2, 2},     {"sign", SR_OP_SIGN, 1, 1},   {"step", SR_OP_STEP, 1, 1},
    {"if", SR_OP_IF, 3, 3},     {"floor", SR_OP_FLOOR, 1, 1}, {"mod", F_MOD, 2, 2},         {"random", F_RANDOM, 1, 1},
};

static srNode parse_compare(Parser* p);
static srNode parse_unary(Parser* p);

static const Builtin* find_builtin(const char* name) {
  for (int i = 0; i < SR_COUNT(builtins); i++)
    if (strcmp(builtins[i].name, name) == 0) return &builtins[i];
  return NULL;
}

bool sr_is_builtin(const char* name) { return find_builtin(name) != NULL; }

// ----------------------------------------------------------------------------------------------------- characters

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name(char c) { return is_name_start(c) || is_digit(c); }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static char peek(Parser* p) {
  while (is_space(p->text[p->pos])) p->pos++;
  return p->text[p->pos];
}

// Takes n characters as one token.
static void take(Parser* p, int n) {
  p->last = p->pos;
  p->pos += n;
  p->last_end = p->pos;
}

static bool accept(Parser* p, char c) {
  if (peek(p) != c) return false;
  take(p, 1);
  return true;
}

// The end of the token that begins at pos: a name, a number, or one (UTF-8) character.
static int token_end(const Parser* p, int pos) {
  const char* at = p->text + pos;
  double value;
  const char* end = sr_number_read(at, &value);
  if (end) return (int)(end - p->text);
  if (is_name_start(*at)) {
    while (is_name(*at)) at++;
  } else if (*at) {
    at++;
    while (((unsigned char)*at & 0xC0) == 0x80) at++;
  }
  return (int)(at - p->text);
}

// ---------------------------------------------------------------------------------------------------------- errors

static srPlace place_of(const Parser* p, int pos) {
  srPlace place = p->place;
  for (int i = 0; i < pos; i++) {
    const bool newline = p->text[i] == '\n';
    if (((unsigned char)p->text[i] & 0xC0) == 0x80) continue;  // columns count characters, not bytes
    if (newline && place.line > 0) place.line++;
    if (place.column > 0) place.column = newline ? 1 : place.column + 1;
  }
  return place;
}

SR_PRINTF(3, 4)
static srNode fail(Parser* p, int pos, const char* format, ...) {
  char sentence[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  sr_messages_add(p->messages, SR_SEVERITY_ERROR, place_of(p, pos), "%s", sentence);
  return SR_NO_NODE;
}

// text[begin, end) in quotes, cut when long.
static const char* quote(const Parser* p, int begin, int end, char buffer[WORD]) {
  int n = end - begin;
  if (n > WORD - 8) {
    n = WORD - 8;
    while (n > 0 && ((unsigned char)p->text[begin + n] & 0xC0) == 0x80) n--;  // whole characters only
    snprintf(buffer, WORD, "'%.*s...'", n, p->text + begin);
  } else {
    snprintf(buffer, WORD, "'%.*s'", n, p->text + begin);
  }
  return buffer;
}

// "expected WHAT after 'x', found 'y'" at the next token.
static srNode fail_expected(Parser* p, const char* what) {
  char after[WORD], found[WORD];
  const char* next = "the end of the formula";
  if (peek(p) != '\0') next = quote(p, p->pos, token_end(p, p->pos), found);
  if (p->last_end == 0) return fail(p, p->pos, "expected %s, found %s", what, next);
  return fail(p, p->pos, "expected %s after %s, found %s", what, quote(p, p->last, p->last_end, after), next);
}

// All words that may appear where an unknown one was.
static const char* nearest(const Parser* p, const char* name) {
  const srGraph* g = p->graph;
  const srResolver* r = p->resolver;
  int nknown = r && r->known ? r->nknown : 0, n = 0;
  size_t most = (size_t)(SR_COUNT(builtins) + 1 + nknown + g->nparam + g->nfunction + g->nfunction2);
  const char** words = sr_pool_alloc(g->pool, most * sizeof *words);
  for (int i = 0; i < nknown; i++) words[n++] = r->known[i];
  if (!r || !r->name)
    for (int i = 0; i < g->nparam; i++) words[n++] = g->params[i];
  for (int i = 0; i < g->nfunction; i++)
    if (g->functions[i].name) words[n++] = g->functions[i].name;
  for (int i = 0; i < g->nfunction2; i++)
    if (g->functions2[i].name) words[n++] = g->functions2[i].name;
  words[n++] = "pi";
  for (int i = 0; i < SR_COUNT(builtins); i++) words[n++] = builtins[i].name;
  return sr_nearest_word(name, words, n);
}

// SI units of one letter: no constants, as models name their parameters so.
static bool is_si_letter(const char* name) { return name[0] && !name[1] && strchr("msNJW", name[0]); }

// what: "name" or "function".
static srNode fail_unknown(Parser* p, int pos, const char* what, const char* name) {
  const char* near = nearest(p, name);
  if (!near && is_si_letter(name))
    return fail(p, pos, "unknown %s '%s'; if the unit %s is meant, omit it: numbers are in SI units", what, name, name);
  return fail(p, pos, "unknown %s '%.80s'%s", what, name,
              sr_pool_guess(p->graph->pool, near && strcmp(near, name) != 0 ? near : NULL));
}

static bool enter(Parser* p, int pos) {
  if (p->depth < MAX_DEPTH) {
    p->depth++;
    return true;
  }
  fail(p, pos, "the formula is nested more than %d levels deep", MAX_DEPTH);
  return false;
}

// ----------------------------------------------------------------------------------------------------------- calls

static srNode op1(Parser* p, srOp op, srNode a) { return sr_graph_op(p->graph, op, a, SR_NO_NODE, SR_NO_NODE); }
static srNode op2(Parser* p, srOp op, srNode a, srNode b) { return sr_graph_op(p->graph, op, a, b, SR_NO_NODE); }

// A fixed number in [0,1) for every number: splitmix64 (Steele, Lea, Flood 2014) of its bits, 53 of them kept.
static double random_of(double n) {
  uint64_t z;
  n = n == 0 ? 0 : n;  // -0 is 0
  memcpy(&z, &n, sizeof z);
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53;
}

static srNode fail_count(Parser* p, int pos, const char* name, int least, int most, int got) {
  if (most == 0) return fail(p, pos, "%s takes %d or more arguments, got %d", name, least, got);
  return fail(p, pos, "%s takes %d argument%s, got %d", name, most, most == 1 ? "" : "s", got);
}

static srNode call_builtin(Parser* p, int pos, const Builtin* f, const srNode* arg, int narg) {
  if (narg < f->least || (f->most > 0 && narg > f->most)) return fail_count(p, pos, f->name, f->least, f->most, narg);
  srNode x = arg[0];
  double n;
  switch (f->op) {
    case F_ATAN: return op2(p, SR_OP_ATAN2, x, sr_graph_const(p->graph, 1));
    case F_MOD:  // a - b*floor(a/b): the sign of b
      return op2(p, SR_OP_SUB, x, op2(p, SR_OP_MUL, arg[1], op1(p, SR_OP_FLOOR, op2(p, SR_OP_DIV, x, arg[1]))));
    case F_RANDOM:
      if (!sr_graph_constant(p->graph, x, &n)) return fail(p, pos, "the argument of random must be a constant");
      return sr_graph_const(p->graph, random_of(n));
    case SR_OP_IF: return sr_graph_op(p->graph, SR_OP_IF, arg[0], arg[1], arg[2]);
    default: break;
  }
  if (narg == 1) return op1(p, (srOp)f->op, x);
  for (int i = 1; i < narg; i++) x = op2(p, (srOp)f->op, x, arg[i]);
  return x;
}

static bool is_raw(const Parser* p, const char* name) {
  const char* const* raw = p->resolver ? p->resolver->raw_calls : NULL;
  for (; raw && *raw; raw++)
    if (strcmp(*raw, name) == 0) return true;
  return false;
}

// Hands a call to the resolver.
static srNode resolve_call(Parser* p, int pos, const srCall* call) {
  char reason[REASON] = "";
  const srResolver* r = p->resolver;
  if (r && r->call) {
    srNode node = r->call(r->user, p->graph, call, reason, sizeof reason);
    if (node != SR_NO_NODE) return node;
    if (reason[0]) return fail(p, pos, "%s", reason);
  }
  bool name_known = strcmp(call->name, "pi") == 0;
  if (r && r->name)
    name_known = name_known || r->name(r->user, p->graph, call->name, reason, sizeof reason) != SR_NO_NODE;
  if (name_known)
    return fail(p, pos, "'%.80s' is not a function; to multiply write %.80s*(...)", call->name, call->name);
  return fail_unknown(p, pos, "function", call->name);
}

// The text of one raw argument, up to a comma or the closing parenthesis; parentheses inside must match.
static const char* raw_argument(Parser* p) {
  peek(p);
  int begin = p->pos, open = 0;
  for (char c; (c = p->text[p->pos]) != '\0' && (open > 0 || (c != ',' && c != ')')); p->pos++)
    open += (c == '(') - (c == ')');
  int end = p->pos;
  while (end > begin && is_space(p->text[end - 1])) end--;
  if (end > begin) {
    p->last = begin;
    p->last_end = end;
  }
  return sr_pool_text_n(p->graph->pool, p->text + begin, (size_t)(end - begin));
}

static srNode parse_raw_call(Parser* p, int pos, const char* name) {
  const char** raw = NULL;
  int narg = 0, capacity = 0;
  take(p, 1);
  if (accept(p, ')')) return resolve_call(p, pos, &(srCall){name, 0, raw, NULL});
  do {
    const char* text = raw_argument(p);
    if (text[0] == '\0') return fail_expected(p, "an argument");
    SR_PUSH(p->graph->pool, raw, narg, capacity) = text;
  } while (accept(p, ','));
  if (!accept(p, ')')) return fail_expected(p, "',' or ')'");
  return resolve_call(p, pos, &(srCall){name, narg, raw, NULL});
}

// Arguments in parentheses, nodes; the number of them, or -1 after an error.
static int parse_arguments(Parser* p, srNode** arg) {
  int narg = 0, capacity = 0;
  take(p, 1);
  *arg = NULL;
  if (accept(p, ')')) return 0;
  do {
    srNode x = parse_compare(p);
    if (x == SR_NO_NODE) return -1;
    SR_PUSH(p->graph->pool, *arg, narg, capacity) = x;
  } while (accept(p, ','));
  if (accept(p, ')')) return narg;
  fail_expected(p, "',' or ')'");
  return -1;
}

static srNode parse_call(Parser* p, int pos, const char* name) {
  const Builtin* builtin = find_builtin(name);
  int function;
  srNode* arg;
  if (!builtin && is_raw(p, name)) return parse_raw_call(p, pos, name);
  if (!enter(p, p->pos)) return SR_NO_NODE;
  int narg = parse_arguments(p, &arg);
  p->depth--;
  if (narg < 0) return SR_NO_NODE;
  if (builtin) return call_builtin(p, pos, builtin, arg, narg);
  if (sr_graph_find_function2(p->graph, name, &function))
    return narg == 2 ? sr_graph_call2(p->graph, function, arg[0], arg[1]) : fail_count(p, pos, name, 2, 2, narg);
  if (!sr_graph_find_function(p->graph, name, &function)) return resolve_call(p, pos, &(srCall){name, narg, NULL, arg});
  if (narg != 1) return fail_count(p, pos, name, 1, 1, narg);
  return sr_graph_call(p->graph, function, arg[0]);
}

// --------------------------------------------------------------------------------------------------------- grammar

static srNode resolve_name(Parser* p, int pos, const char* name) {
  char reason[REASON] = "";
  const srResolver* r = p->resolver;
  srNode node;
  if (strcmp(name, "pi") == 0) return sr_graph_const(p->graph, 3.14159265358979323846);
  if (find_builtin(name) || sr_graph_find_function(p->graph, name, NULL) ||
      sr_graph_find_function2(p->graph, name, NULL))
    return fail(p, pos, "'%.80s' is a function: expected '(' after it", name);
  if (r && r->name) {
    node = r->name(r->user, p->graph, name, reason, sizeof reason);
  } else {
    node = sr_graph_find_param(p->graph, name);
  }
  if (node != SR_NO_NODE) return node;
  if (reason[0]) return fail(p, pos, "%s", reason);
  double unit;
  return sr_unit(name, &unit) ? sr_graph_const(p->graph, unit) : fail_unknown(p, pos, "name", name);
}

static srNode parse_name(Parser* p) {
  int pos = p->pos;
  take(p, token_end(p, pos) - pos);
  const char* name = sr_pool_text_n(p->graph->pool, p->text + pos, (size_t)(p->pos - pos));
  return peek(p) == '(' ? parse_call(p, pos, name) : resolve_name(p, pos, name);
}

static srNode parse_number(Parser* p) {
  double value;
  char word[WORD];
  int pos = p->pos;
  const char* end = sr_number_read(p->text + pos, &value);
  take(p, (int)(end - p->text) - pos);
  if (!isfinite(value)) return fail(p, pos, "the number %s is too large", quote(p, pos, p->pos, word));
  return sr_graph_const(p->graph, value);
}

static srNode parse_primary(Parser* p) {
  char c = peek(p);
  if (is_name_start(c)) return parse_name(p);
  if (is_digit(c) || (c == '.' && is_digit(p->text[p->pos + 1]))) return parse_number(p);
  if (c == '*' && p->last_end > 0 && p->text[p->last] == '*') return fail(p, p->pos, "a power is written ^, not **");
  if (c != '(') return fail_expected(p, "a number, a name or '('");
  if (!enter(p, p->pos)) return SR_NO_NODE;
  take(p, 1);
  srNode x = parse_compare(p);
  p->depth--;
  if (x == SR_NO_NODE || accept(p, ')')) return x;
  return fail_expected(p, "')'");
}

static srNode parse_power(Parser* p) {
  srNode base = parse_primary(p);
  if (base == SR_NO_NODE || !accept(p, '^')) return base;
  if (!enter(p, p->last)) return SR_NO_NODE;
  srNode exponent = parse_unary(p);
  p->depth--;
  return exponent == SR_NO_NODE ? exponent : op2(p, SR_OP_POW, base, exponent);
}

static srNode parse_unary(Parser* p) {
  char c = peek(p);
  if (c != '-' && c != '+') return parse_power(p);
  if (!enter(p, p->pos)) return SR_NO_NODE;
  take(p, 1);
  srNode x = parse_unary(p);
  p->depth--;
  return x == SR_NO_NODE || c == '+' ? x : op1(p, SR_OP_NEG, x);
}

static srNode parse_product(Parser* p) {
  srNode x = parse_unary(p);
  for (char c; x != SR_NO_NODE && ((c = peek(p)) == '*' || c == '/');) {
    take(p, 1);
    srNode y = parse_unary(p);
    x = y == SR_NO_NODE ? y : op2(p, c == '*' ? SR_OP_MUL : SR_OP_DIV, x, y);
  }
  return x;
}

static srNode parse_sum(Parser* p) {
  srNode x = parse_product(p);
  for (char c; x != SR_NO_NODE && ((c = peek(p)) == '+' || c == '-');) {
    take(p, 1);
    srNode y = parse_product(p);
    x = y == SR_NO_NODE ? y : op2(p, c == '+' ? SR_OP_ADD : SR_OP_SUB, x, y);
  }
  return x;
}

// The length of the comparison operator at pos, or 0.
static int comparison(Parser* p) {
  char c = peek(p);
  bool equals = c != '\0' && p->text[p->pos + 1] == '=';
  if (c == '<' || c == '>') return equals ? 2 : 1;
  return (c == '=' || c == '!') && equals ? 2 : 0;
}

static srNode parse_compare(Parser* p) {
  srNode a = parse_sum(p);
  int n = a == SR_NO_NODE ? 0 : comparison(p);
  if (n == 0) return a;
  const char* symbol = p->text + p->pos;
  take(p, n);
  srNode b = parse_sum(p);
  if (b == SR_NO_NODE) return b;
  if (comparison(p)) return fail(p, p->pos, "comparisons do not chain: write (a < b)*(b < c) for a < b < c");
  if (*symbol == '<') return op2(p, n == 2 ? SR_OP_LE : SR_OP_LT, a, b);
  if (*symbol == '>') return op2(p, n == 2 ? SR_OP_LE : SR_OP_LT, b, a);
  srNode equal = op2(p, SR_OP_EQ, a, b);
  return *symbol == '=' ? equal : op2(p, SR_OP_SUB, sr_graph_const(p->graph, 1), equal);
}

// Does the name of a unit begin at pos?
static bool is_unit(const Parser* p) {
  double value;
  const int end = token_end(p, p->pos);
  return sr_unit(sr_pool_text_n(p->graph->pool, p->text + p->pos, (size_t)(end - p->pos)), &value);
}

// The remainder after a whole formula.
static srNode fail_rest(Parser* p) {
  char before[WORD], found[WORD];
  char c = peek(p);
  quote(p, p->pos, token_end(p, p->pos), found);
  if (c == ')') return fail(p, p->pos, "')' without a '(' before it");
  if (c == '=') return fail(p, p->pos, "'=' is not an operator; a comparison is written ==");
  if (c == ',') return fail(p, p->pos, "',' is outside of a call; decimals are written with a point");
  quote(p, p->last, p->last_end, before);
  if (is_unit(p))
    return fail(p, p->pos, "expected an operator between %s and %s: a unit is a factor, 30*deg", before, found);
  if (is_name(c) || c == '.' || c == '(')
    return fail(p, p->pos, "expected an operator between %s and %s", before, found);
  return fail(p, p->pos, "expected an operator after %s, found %s", before, found);
}

srNode sr_parse(srGraph* graph, const char* text, const srResolver* resolver, srPlace place, srMessages* messages) {
  Parser p = {.graph = graph, .resolver = resolver, .text = text, .place = place, .messages = messages};
  if (strlen(text) > MAX_LENGTH) return fail(&p, 0, "the formula is longer than %d characters", MAX_LENGTH);
  if (peek(&p) == '\0') return fail(&p, 0, "expected a formula, found nothing");
  srNode node = parse_compare(&p);
  return node == SR_NO_NODE || peek(&p) == '\0' ? node : fail_rest(&p);
}
