// Statements of straight-line code, in the syntax of a language.
//
// A value that is used once and is a sum or a product is written where it is used; every other one is a statement. In sums products come last: a + b + c*d - e*f compiles to one addition and two fused multiply-adds.
#include "symbolic/emit.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "symbolic/lanes.h"

// Of limbs in lanes of a vector: numbers of all lanes, n x lanes.
typedef struct Numbers {
  int n, nvalue, capacity;
  double* value;
} Numbers;

typedef struct Print {
  srPool* pool;
  const srEmitFunction* f;
  const srSyntax* syntax;
  srText* to;
  const int* angle;  // of values: which packed angle it is
  int* version;      // of values: how often they were read again
  int lane;          // of limbs in lanes of a vector: its number alone; EVERY: all of them
  Numbers* numbers;
} Print;

enum { EVERY = -1 };

static const srCodeValue* value_of(const Print* p, srRef ref) { return &p->f->code->value[SR_REF_VALUE(ref)]; }

static void number(const Print* p, double x) {
  char text[SR_NUMBER_TEXT];
  sr_number_text(x, text, sizeof text);
  const char *const *around = p->syntax->number, *point = strpbrk(text, ".eni") == NULL ? ".0" : "";
  sr_text_print(p->to, "%s%s%s%s", around[0] ? around[0] : "", text, point, around[1] ? around[1] : "");
}

// The entry of the table of numbers with these in its lanes; stride 0: the same in all.
static void numbers(const Print* p, const double* x, int stride) {
  const int lanes = p->f->lanes->n;
  Numbers* all = p->numbers;
  int k = 0;
  for (bool found = false; k < all->n && !found; k += !found) {
    found = true;
    for (int l = 0; l < lanes; l++) found = found && all->value[k * lanes + l] == x[stride * l];
  }
  if (k == all->n) {
    for (int l = 0; l < lanes; l++) SR_PUSH(p->pool, all->value, all->nvalue, all->capacity) = x[stride * l];
    all->n++;
  }
  sr_text_print(p->to, "number%s%d%s", p->syntax->open, k, p->syntax->close);
}

static void put_numbers(const Print* p, srText* to) {
  const int lanes = p->f->lanes->n;
  const Print out = {p->pool, p->f, p->syntax, to, NULL, NULL, 0, NULL};
  if (p->numbers->n == 0) return;
  sr_text_print(to, "%s", p->syntax->numbers);
  for (int k = 0; k < p->numbers->nvalue; k++) {
    sr_text_print(to, k % lanes != 0 ? ", " : k == 0 ? "{" : k % (4 * lanes) == 0 ? "},\n    {" : "}, {");
    number(&out, p->numbers->value[k]);
  }
  sr_text_print(to, "}};\n%s", p->syntax->unknown);
}

// Of limbs in lanes of a vector: the entry of a lane.
static int entry(const Print* p, const srCodeValue* v, int lane) {
  const srSymLanes* l = p->f->lanes;
  if (l == NULL) return v->index;
  return v->kind == SR_VAR_Q ? l->q[lane * l->nq + v->index] : l->v[lane * l->nv + v->index];
}

static void input_of(const Print* p, const srCodeValue* v, int lane) {
  static const char* const arrays[SR_VAR_KINDS] = {"t",      "q", "v",   "y",     "sensor", "arg",
                                                   "record", "a", "tau", "stage", "motion"};
  if (p->f->in_fold) {
    sr_text_print(p->to, "%s%s%d%s",
                  v->kind == SR_VAR_TIME  ? "index"
                  : v->kind == SR_VAR_ARG ? "arg"
                                          : "state",
                  p->syntax->open, v->index + p->syntax->base, p->syntax->close);
    return;
  }
  if (v->op == SR_OP_PARAM && p->f->lanes != NULL)
    number(p, p->f->constant[v->index * p->f->lanes->n + lane]);
  else if (v->op == SR_OP_PARAM)
    sr_text_print(p->to, "p%s%d%s", p->syntax->open, v->index + p->syntax->base, p->syntax->close);
  else if ((v->kind == SR_VAR_TIME || v->kind == SR_VAR_STAGE) && !p->syntax->pointers)
    sr_text_print(p->to, "%s", arrays[v->kind]);
  else
    sr_text_print(p->to, "%s%s%d%s", arrays[v->kind], p->syntax->open, entry(p, v, lane) + p->syntax->base,
                  p->syntax->close);
}

static void input(const Print* p, const srCodeValue* v) {
  if (p->f->lanes == NULL || p->lane != EVERY) {
    input_of(p, v, p->lane);
    return;
  }
  if (v->op == SR_OP_PARAM) {
    numbers(p, p->f->constant + v->index * p->f->lanes->n, 1);
    return;
  }
  for (int l = 0; l < p->f->lanes->n; l++) {
    sr_text_print(p->to, l == 0 ? p->syntax->vector : ", ");
    input_of(p, v, l);
  }
  sr_text_print(p->to, "})");
}

static const char* name_of(int value, int version, char* text, size_t size) {
  (void)snprintf(text, size, version > 0 ? "x%d_%d" : "x%d", value, version);
  return text;
}

static void name(const Print* p, int value) {
  char text[32];
  sr_text_print(p->to, "%s", name_of(value, p->version ? p->version[value] : 0, text, sizeof text));
}

static void expression(const Print* p, srRef ref, int level);  // level 0: a sum; 1: a factor

// A number where other values are expected.
static void argument(const Print* p, srRef ref, int level) {
  const bool constant = value_of(p, ref)->op == SR_OP_CONST;
  if (constant) sr_text_print(p->to, "%s", p->syntax->constant[0]);
  expression(p, ref, constant || level > 0);
  if (constant) sr_text_print(p->to, "%s", p->syntax->constant[1]);
}

static void operation(const Print* p, const srCodeValue* v) {
  const char* format = p->syntax->call[v->op];
  int k = 0;
  SR_ASSERT(format != NULL);
  for (const char* c = format; *c != 0; c++) {
    if (*c != '%') {
      sr_text_add(p->to, c, 1);
    } else if (c[1] == 't') {
      sr_text_print(p->to, "table%d", p->f->table[v->index]);
      ++c;
    } else {
      ++c;
      argument(p, v->child[k++], *c == 'f');
    }
  }
}

static void sum(const Print* p, int value) {
  const srTerms t = sr_code_terms(p->pool, p->f->code, value);
  for (int i = 0; i < t.n; i++) {
    const char* sign = SR_REF_MINUS(t.term[i]) ? (i == 0 ? "-" : " - ") : (i == 0 ? "" : " + ");
    sr_text_print(p->to, "%s", sign);
    expression(p, t.term[i] & ~1, 1);
  }
}

static void product(const Print* p, const srCodeValue* v) {
  expression(p, v->child[0], 1);
  sr_text_print(p->to, "*");
  expression(p, v->child[1], 1);
}

static bool is_one(const srCodeValue* v) { return v->op == SR_OP_CONST && v->number == 1; }

static void arguments(const Print* p, srRef pass, int n) {
  const srCodeValue* v = value_of(p, pass);
  if (n == 0) return;
  arguments(p, v->child[1], n - 1);
  if (n > 1) sr_text_print(p->to, ", ");
  argument(p, v->child[0], 0);
}

// The statement that runs a loop: what it leaves has the name of its value.
static void fold(const Print* p, int value) {
  const srCodeValue* v = &p->f->code->value[value];
  const srFold* of = p->f->code->fold[v->index];
  char text[32];
  name_of(value, 0, text, sizeof text);
  sr_emit_fold_text(of, p->f->fold[v->index], text, p->syntax->fold, p->to);
  arguments(p, v->child[0], of->narg);
  sr_emit_fold_text(of, p->f->fold[v->index], text, p->syntax->fold_end, p->to);
}

// The value itself, not its name.
static void definition(const Print* p, int value, int level) {
  const srCodeValue* v = &p->f->code->value[value];
  if (v->op == SR_OP_PART) {
    name(p, SR_REF_VALUE(v->child[0]));
    sr_text_print(p->to, "%s%d%s", p->syntax->open, v->index + p->syntax->base, p->syntax->close);
  } else if (sr_code_is_sum(v)) {
    if (level > 0) sr_text_print(p->to, "(");
    sum(p, value);
    if (level > 0) sr_text_print(p->to, ")");
  } else if (v->op == SR_OP_MUL) {
    product(p, v);
  } else if (v->op == SR_OP_DIV && p->syntax->inverse && is_one(value_of(p, v->child[0]))) {
    sr_text_print(p->to, "%s(", p->syntax->inverse);
    expression(p, v->child[1], 0);
    sr_text_print(p->to, ")");
  } else if (v->op == SR_OP_DIV) {
    if (level > 0) sr_text_print(p->to, "(");
    expression(p, v->child[0], 1);
    sr_text_print(p->to, "/");
    if (value_of(p, v->child[1])->op == SR_OP_MUL && sr_code_is_inline(p->f->code, SR_REF_VALUE(v->child[1]))) {
      sr_text_print(p->to, "(");
      expression(p, v->child[1], 0);
      sr_text_print(p->to, ")");
    } else {
      expression(p, v->child[1], 1);
    }
    if (level > 0) sr_text_print(p->to, ")");
  } else {
    operation(p, v);
  }
}

static void expression(const Print* p, srRef ref, int level) {
  const srCodeValue* v = value_of(p, ref);
  if (SR_REF_MINUS(ref)) {
    if (level > 0) sr_text_print(p->to, "(");
    sr_text_print(p->to, "-");
    expression(p, ref ^ 1, 1);
    if (level > 0) sr_text_print(p->to, ")");
    return;
  }
  if (v->op == SR_OP_CONST && p->numbers != NULL)
    numbers(p, &v->number, 0);
  else if (v->op == SR_OP_CONST)
    number(p, v->number);
  else if (v->op == SR_OP_VAR || v->op == SR_OP_PARAM)
    input(p, v);
  else if (sr_code_is_packed(p->f->code, SR_REF_VALUE(ref)) && p->f->lanes != NULL)
    sr_text_print(p->to, p->syntax->angle, v->op == SR_OP_SIN ? "sine" : "cosine", p->angle[SR_REF_VALUE(v->child[0])]);
  else if (sr_code_is_packed(p->f->code, SR_REF_VALUE(ref)))
    sr_text_print(p->to, "%s%s%d%s", v->op == SR_OP_SIN ? "sine" : "cosine", p->syntax->open,
                  p->angle[SR_REF_VALUE(v->child[0])] + p->syntax->base, p->syntax->close);
  else if (sr_code_is_inline(p->f->code, SR_REF_VALUE(ref)))
    definition(p, SR_REF_VALUE(ref), level);
  else
    name(p, SR_REF_VALUE(ref));
}

static void angle_terms(const Print* p, srRef ref, bool first) {
  const srCodeValue* v = value_of(p, ref);
  if (v->op == SR_OP_ADD) {
    angle_terms(p, v->child[0] ^ SR_REF_MINUS(ref), first);
    angle_terms(p, v->child[1] ^ SR_REF_MINUS(ref), false);
    return;
  }
  sr_text_print(p->to, "%s", SR_REF_MINUS(ref) ? (first ? "-" : " - ") : (first ? "" : " + "));
  expression(p, ref & ~1, 1);
}

void sr_emit_angle(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, int value, int lane, srText* to) {
  const Print p = {pool, f, syntax, to, NULL, NULL, lane, NULL};
  angle_terms(&p, 2 * value, true);
}

int sr_emit_angles(srPool* pool, const srEmitFunction* f, int** angles) {
  const srCode* code = f->code;
  unsigned char* is = sr_pool_alloc(pool, (size_t)code->n + 1);
  int n = 0, *list = sr_pool_alloc(pool, ((size_t)code->n + 1) * sizeof *list);
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    if (v->uses == 0 || (v->op != SR_OP_SIN && v->op != SR_OP_COS)) continue;
    const int argument = SR_REF_VALUE(v->child[0]);
    if (code->value[argument].bare && !is[argument]) is[argument] = 1, list[n++] = argument;
  }
  *angles = list;
  return n;
}

const unsigned char* sr_emit_turns(srPool* pool, const srEmitFunction* f, int nq) {
  const srCode* code = f->code;
  unsigned char *turns = sr_pool_alloc(pool, (size_t)nq + 1), *in_angle = sr_pool_alloc(pool, (size_t)code->n + 1),
                *elsewhere = sr_pool_alloc(pool, (size_t)code->n + 1);
  for (int i = 0; i < code->nout; i++) elsewhere[SR_REF_VALUE(code->out[i])] = 1;
  for (int i = code->n - 1; i >= 0; i--) {
    const srCodeValue* v = &code->value[i];
    const bool packed = sr_code_is_packed(code, i), angle = packed || (v->op == SR_OP_ADD && in_angle[i]);
    for (int k = 0; v->uses > 0 && k < sr_op_arity(v->op); k++) {
      const int child = SR_REF_VALUE(v->child[k]);
      in_angle[child] |= angle;
      elsewhere[child] |= !packed && (!angle || elsewhere[i]);
    }
  }
  bool any = false;
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    if (!in_angle[i] || v->op == SR_OP_ADD || v->op == SR_OP_CONST) continue;
    if (v->op != SR_OP_VAR || v->kind != SR_VAR_Q || elsewhere[i]) return NULL;
    turns[v->index] = any = true;
  }
  return any ? turns : NULL;
}

// The entry of an array of outputs.
static void place(const Print* p, int at) {
  const srEmitFunction* f = p->f;
  int array = 0;
  while (at >= f->out[array].rows * f->out[array].columns) at -= f->out[array].rows * f->out[array].columns, array++;
  const srEmitArray* a = &f->out[array];
  sr_text_print(p->to, p->syntax->output, a->name);
  if (a->columns > 1 && p->syntax->two)
    sr_text_print(p->to, p->syntax->two, at / a->columns + p->syntax->base, at % a->columns + p->syntax->base);
  else
    sr_text_print(p->to, "%s%d%s", p->syntax->open, at + p->syntax->base, p->syntax->close);
}

// Of limbs in lanes of a vector: each lane to its place, what is of the base once.
static void outputs(const Print* p, int i) {
  const srEmitFunction* f = p->f;
  const srRef ref = f->code->out[i];
  const bool constant = value_of(p, ref)->op == SR_OP_CONST;
  const Print scalar = {p->pool, f, p->syntax, p->to, NULL, NULL, 0, NULL};
  char name[32];
  (void)snprintf(name, sizeof name, "out%d", i);
  if (!constant) {
    sr_text_print(p->to, p->syntax->statement, name);
    expression(p, ref, 0);
    sr_text_print(p->to, "%s", p->syntax->end);
  }
  for (int l = 0; l < (f->of_base[i] ? 1 : f->lanes->n); l++) {
    place(p, f->lane_place[l * f->nlocal + i]);
    sr_text_print(p->to, " = ");
    if (constant)
      expression(&scalar, ref, 0);
    else
      sr_text_print(p->to, "%s[%d]", name, l);
    sr_text_print(p->to, "%s", p->syntax->end);
  }
}

void sr_emit_rest(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, srText* to) {
  const Print p = {pool, f, syntax, to, NULL, NULL, 0, NULL};
  const int last = f->nall > 0 ? f->place[f->nall - 1] : 0;
  unsigned char* written = sr_pool_alloc(pool, (size_t)last + 1);
  for (int k = 0; k < f->nlocal * f->lanes->n; k++) written[f->lane_place[k]] = 1;
  for (int k = 0; k < f->nall; k++) {
    if (written[f->place[k]]) continue;
    place(&p, f->place[k]);
    sr_text_print(to, " = 0%s", syntax->end);
  }
}

static void output(const Print* p, int i) {
  const srEmitFunction* f = p->f;
  place(p, f->place[i]);
  const srCodeValue* v = value_of(p, f->code->out[i]);
  sr_text_print(p->to, " = ");
  if (v->op == SR_OP_CONST) {
    sr_text_print(p->to, "%s", p->syntax->constant[0]);
    expression(p, f->code->out[i], 0);
    sr_text_print(p->to, "%s", p->syntax->constant[1]);
  } else {
    expression(p, f->code->out[i], 0);
  }
  sr_text_print(p->to, "%s", p->syntax->end);
}

// The last one that is not behind the node.
static const srSymNote* note_of(const srEmitFunction* f, srNode node) {
  int low = 0, high = f->nnote;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (f->note[middle].node <= node)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? &f->note[low - 1] : NULL;
}

#define HELD 150      // values in registers, where others have room
#define ALL 230       // at most
#define SLOTS 216     // in float, of two blocks of 128 threads: all of the shared memory of a multiprocessor
#define IN_CACHE 200  // values a thread that the compiler stores at little cost

// Room for values that find no register, where they are too many for the cache; what there is too little room for is left to the compiler.
static srRoom room_for(srPool* pool, const srCode* code, const srOrder* order) {
  int held = HELD;
  if (sr_code_has_folds(code)) return (srRoom){0};  // what they leave is in memory
  if (sr_code_room(pool, code, order, ALL).n < IN_CACHE) return (srRoom){0};
  srRoom room = sr_code_room(pool, code, order, held);
  while (room.n > SLOTS) room = sr_code_room(pool, code, order, held += 10);
  return room;
}

static void wait_or_return(const Print* p, const srRoom* room, int t) {
  char first[32], text[32];
  for (int k = 0; k < room->put[t].n; k++) {
    const int v = room->put[t].value[k];
    sr_text_print(p->to, p->syntax->put, room->slot[v], name_of(v, p->version[v], text, sizeof text));
  }
  for (int k = 0; k < room->read[t].n; k++) {
    const int v = room->read[t].value[k];
    name_of(v, 0, first, sizeof first);
    sr_text_print(p->to, p->syntax->get, name_of(v, ++p->version[v], text, sizeof text), room->slot[v], first);
  }
}

int sr_emit_body(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, srText* to) {
  const srCode* code = f->code;
  int *list, *angle = sr_pool_alloc(pool, ((size_t)code->n + 1) * sizeof *angle);
  const int nangle = sr_emit_angles(pool, f, &list);
  for (int i = 0; i < nangle; i++) angle[list[i]] = i;
  Numbers numbers = {0};
  srText vectors = {.pool = pool};
  const Print p = {pool,
                   f,
                   syntax,
                   f->lanes ? &vectors : to,
                   angle,
                   sr_pool_alloc(pool, ((size_t)code->n + 1) * sizeof(int)),
                   f->lanes ? EVERY : 0,
                   f->lanes ? &numbers : NULL};
  const srOrder order = sr_code_order(pool, code, syntax->registers);
  const srRoom room = syntax->put ? room_for(pool, code, &order) : (srRoom){0};
  const srSymNote* noted = NULL;
  for (int t = 0; t < order.n; t++) {
    const int i = order.item[t];
    if (room.n > 0) wait_or_return(&p, &room, t);
    if (i < 0) {
      if (f->lanes != NULL)
        outputs(&p, -1 - i);
      else
        output(&p, -1 - i);
      continue;
    }
    const srSymNote* note = note_of(f, code->value[i].node);
    if (note != NULL && note != noted) sr_text_print(p.to, "%s%s\n", syntax->comment, note->text);
    noted = note;
    if (code->value[i].op == SR_OP_FOLD) {
      fold(&p, i);
      continue;
    }
    char text[32];
    sr_text_print(p.to, syntax->statement, name_of(i, 0, text, sizeof text));
    definition(&p, i, 0);
    sr_text_print(p.to, "%s", syntax->end);
  }
  if (f->lanes != NULL) put_numbers(&p, to), sr_text_add(to, vectors.data, vectors.n);
  return room.n;
}

// ---- what all languages state ---------------------------------------------------------------------------------------------

void sr_emit_head(const srEmitUnit* unit, const srSyntax* syntax, const char* comment, srText* to) {
  sr_text_print(to, "%sEquations of motion of %s, generated by %s. SI units.\n", comment, unit->title, unit->source);
  for (int i = 0; i < unit->nlegend; i++) {
    const srEmitEntry* e = &unit->legend[i];
    sr_text_print(to, "%s%c%s%d%s  %s, %s\n", comment, e->array, syntax->open, e->index + syntax->base, syntax->close,
                  e->name, e->unit);
  }
}

static bool has(const srCode* code, srOp op) {
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    if (v->uses == 0) continue;
    if (v->op == op) return true;
    if (v->op == SR_OP_FOLD && (has(code->fold[v->index]->some, op) || has(code->fold[v->index]->step, op)))
      return true;
  }
  return false;
}

bool sr_emit_has(const srEmitFunction* f, srOp op) { return has(f->code, op); }
bool sr_code_has_folds(const srCode* code) { return has(code, SR_OP_FOLD); }

bool sr_emit_uses(const srEmitUnit* unit, srOp op) {
  for (int i = 0; i < unit->nfunction; i++) {
    if (sr_emit_has(&unit->function[i], op)) return true;
  }
  return false;
}

static void array(const srEmitArray* a, const char* comment, srText* to) {
  if (a->columns > 1)
    sr_text_print(to, "%s  %s[%d*%d]  %s, by rows\n", comment, a->name, a->rows, a->columns, a->about);
  else
    sr_text_print(to, "%s  %s[%d]  %s\n", comment, a->name, a->rows, a->about);
}

// A column and its parameter: its value, and the sum that a base parameter is.
static void parameter(const srGeneratedParameter* p, int column, const char* comment, srText* to) {
  sr_text_print(to, "%s  column %d: %s, %.10g", comment, column, p->name, p->value);
  for (int i = 0; i < p->nterm; i++) {
    const double c = p->term[i].coefficient;
    if (i > 0 && i % 8 == 0) sr_text_print(to, "\n%s   ", comment);
    sr_text_print(to, i == 0 ? (c < 0 ? " = -" : " = ") : c < 0 ? " - " : " + ");
    if (fabs(fabs(c) - 1) > 1e-12) sr_text_print(to, "%.10g ", fabs(c));
    sr_text_print(to, "%s", p->term[i].parameter);
  }
  sr_text_print(to, "\n");
}

void sr_emit_about(const srEmitFunction* f, const char* comment, srText* to) {
  const srOperations* o = &f->operations;
  sr_text_print(to, "%s%s\n", comment, f->about);
  for (int i = 0; i < f->nin; i++) array(&f->in[i], comment, to);
  for (int i = 0; i < f->nout; i++) array(&f->out[i], comment, to);
  sr_text_print(to, "%s%ld additions, %ld multiplications, %ld divisions, sines and cosines of %ld angles.\n", comment,
                o->add, o->mul, o->div, o->angle);
  for (int i = 0; i < f->nparameter; i++) parameter(&f->parameter[i], i, comment, to);
}

void sr_emit_sines(srPool* pool, const srEmitFunction* f, const srSyntax* syntax, const char* open, const char* prefix,
                   const char* close, srText* to) {
  int* list;
  const int n = sr_emit_angles(pool, f, &list);
  for (int k = 0; k < 2 && n > 0; k++) {
    sr_text_print(to, open, k == 0 ? "sine" : "cosine");
    for (int i = 0; i < n; i++) {
      sr_text_print(to, "%s%s%s(", i > 0 ? ", " : "", prefix, k == 0 ? "sin" : "cos");
      sr_emit_angle(pool, f, syntax, list[i], 0, to);
      sr_text_print(to, ")");
    }
    sr_text_print(to, "%s", close);
  }
}
