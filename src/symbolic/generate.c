// Generated code: functions of a model, built on the graph in the cheapest frames, in the language that was asked for.
#include <sarrus/analysis.h>
#include <sarrus/generate.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/link.h"
#include "symbolic/emit.h"
#include "symbolic/function.h"
#include "symbolic/lanes.h"
#include "symbolic/project.h"
#include "symbolic/reduced.h"

typedef struct Memory {
  srGenerated shown;  // first: what the caller sees
  srPool pool;
  jmp_buf out_of_memory;
  srEmitFile file[SR_EMIT_FILES];
} Memory;

typedef struct Work {
  srPool* pool;
  Memory* memory;
  const srModel* m;
  const srGenerateOptions* o;
  srMessages* messages;
  srSymContext context;
  srStatus refused;                        // the partition
  srSymTree* plain;                        // the model's own frames
  srSymTree* reduced;                      // reframed and regrouped
  const srSymLanes* lanes[SR_EMIT_LANES];  // limbs in lanes; NULL: none
} Work;

// ---- functions ----------------------------------------------------------------------------------------------------------

static int rows_of(const Work* w, const srSymArray* a) { return a->rows ? a->rows(&w->context) : 0; }
static int columns_of(const Work* w, const srSymArray* a) { return a->columns ? a->columns(&w->context) : 1; }

// Where each output is in the arrays, one after the other: a triangle is part of a matrix.
static const int* places(const Work* w, const srSymFunction* k) {
  int at = 0, first = 0, *out = sr_pool_alloc(w->pool, ((size_t)sr_sym_outputs(k, &w->context) + 1) * sizeof *out);
  for (int i = 0; i < SR_SYM_OUTPUTS; i++) {
    const int rows = rows_of(w, &k->out[i]), columns = columns_of(w, &k->out[i]);
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < (k->out[i].triangle ? r + 1 : columns); c++) out[at++] = first + r * columns + c;
    }
    first += rows * columns;
  }
  return out;
}

static srEmitArray array_of(const Work* w, const srSymArray* a) {
  return (srEmitArray){a->name, a->rows ? rows_of(w, a) : 1, columns_of(w, a), a->about};
}

static void put_arrays(const Work* w, const srSymFunction* k, srEmitFunction* f) {
  for (int i = 0; i < sr_sym_ninput; i++) {
    const srSymArray* a = &sr_sym_inputs[i].array;
    if (!(k->in & SR_SYM_IN(sr_sym_inputs[i].kind)) || (sr_sym_inputs[i].optional && rows_of(w, a) == 0)) continue;
    f->in[f->nin++] = array_of(w, a);
  }
  if (w->context.symbols) f->in[f->nin++] = (srEmitArray){"p", w->context.symbols->n, 1, "parameters of the model"};
  for (int i = 0; i < SR_SYM_OUTPUTS && k->out[i].rows != NULL; i++) {
    if (columns_of(w, &k->out[i]) > 0) f->out[f->nout++] = array_of(w, &k->out[i]);
  }
}

static srSymTree* copy_of(srPool* pool, const srSymTree* tree) {
  srSymTree* out = sr_pool_alloc(pool, sizeof *out);
  *out = *tree;
  out->link = sr_pool_alloc(pool, (size_t)tree->n * sizeof *out->link);
  memcpy(out->link, tree->link, (size_t)tree->n * sizeof *out->link);
  return out;
}

static const srCode* code_of(const Work* w, srSymTree* tree, srSymBuild build, int nout, srEmitFunction* f) {
  srGraph* g = sr_graph_create(w->pool);
  srNode* out = sr_pool_alloc(w->pool, ((size_t)nout + 1) * sizeof *out);
  srSymPass* pass = sr_sym_pass(g, w->pool, tree);
  build(pass, &w->context, out);
  if (f != NULL) f->note = pass->note, f->nnote = pass->nnote;
  return sr_code_create(w->pool, g, out, nout);
}

// ---- limbs in lanes -----------------------------------------------------------------------------------------------------

static const int* locals_of(const srSymLanes* l, srSymCount count, int* n, int* base) {
  if (count == sr_count_q) return *n = l->nq, *base = l->base_q, l->q;
  if (count == sr_count_v) return *n = l->nv, *base = l->base_v, l->v;
  return *n = l->ny, *base = l->base_y, l->y;
}

static int rows_in_lane(const srSymLanes* l, const srSymArray* a) {
  int n = 0, base;
  if (a->rows == NULL) return 1;
  (void)locals_of(l, a->rows, &n, &base);
  return n;
}

// Outputs of one lane, array by array: where they are among those of the build, in the arrays, and whether they are of the base alone. Of a triangle the entries of the lane's own, below and on the diagonal of the model. Returns how many.
typedef struct Locals {
  int n, *output, *place;
  bool* of_base;
} Locals;

static void put_locals(const Work* w, const srSymFunction* k, const srSymLanes* l, int lane, Locals* to) {
  static const int zero[8] = {0};
  int at = 0, first = 0, first_place = 0;
  for (int i = 0; i < SR_SYM_OUTPUTS && k->out[i].rows != NULL; i++) {
    const srSymArray* a = &k->out[i];
    const int rows = rows_of(w, a), columns = columns_of(w, a);
    int nr, base_r, nc = 1, base_c = 1;
    const int *row = locals_of(l, a->rows, &nr, &base_r),
              *column = a->columns ? locals_of(l, a->columns, &nc, &base_c) : zero;
    for (int r = 0; r < nr; r++) {
      for (int c = 0; c < (a->triangle ? r + 1 : nc); c++, at++) {
        const int x = row[lane * nr + r], y = a->columns ? column[lane * nc + c] : 0;
        const int below = a->triangle && x < y ? y : x, left = a->triangle && x < y ? x : y;
        to->output[at] = first + (a->triangle ? below * (below + 1) / 2 + left : below * columns + left);
        to->place[at] = first_place + below * columns + left;
        to->of_base[at] = r < base_r && c < base_c;
      }
    }
    first += a->triangle ? rows * (rows + 1) / 2 : rows * columns;
    first_place += rows * columns;
  }
  to->n = at;
}

static Locals all_locals(const Work* w, const srSymFunction* k, const srSymLanes* l) {
  const size_t most = ((size_t)sr_sym_outputs(k, &w->context) + 1) * (size_t)l->n;
  Locals all = {.output = sr_pool_alloc(w->pool, most * sizeof *all.output),
                .place = sr_pool_alloc(w->pool, most * sizeof *all.place),
                .of_base = sr_pool_alloc(w->pool, most)};
  for (int lane = 0; lane < l->n; lane++) {
    Locals own = {.output = all.output + lane * all.n, .place = all.place + lane * all.n, .of_base = all.of_base};
    put_locals(w, k, l, lane, &own);
    all.n = own.n;
  }
  return all;
}

// The equations of one lane; NULL: limbs differ in more than numbers.
static srEmitFunction* in_lanes(const Work* w, const srSymFunction* k, const srEmitFunction* whole,
                                const srSymLanes* lanes) {
  srSymTree* tree = copy_of(w->pool, w->reduced);
  srEmitFunction* f = sr_pool_alloc(w->pool, sizeof *f);
  const int nout = sr_sym_outputs(k, &w->context);
  const Locals local = all_locals(w, k, lanes);
  *f = *whole;
  f->name = sr_pool_printf(w->pool, "%s_lanes%d", k->name, lanes->n);
  f->nlocal = local.n, f->lane_place = local.place, f->of_base = local.of_base;
  tree->lanes = lanes;
  (void)sr_sym_choose_frames(tree, k->build[0], &w->context, nout);
  const srSymZipped* z =
      sr_sym_zip(w->pool, tree, k->build[0], &w->context, nout, local.n, local.output, local.of_base);
  if (z == NULL) return NULL;
  f->code = z->code, f->note = z->note, f->nnote = z->nnote;
  f->nconstant = z->nconstant, f->constant = z->constant;
  f->operations = sr_code_count(w->pool, f->code);
  return f;
}

// Of a GPU: arrays are those of the lane.
static srEmitFunction* in_threads(const Work* w, const srSymFunction* k, const srEmitFunction* whole,
                                  const srSymLanes* lanes) {
  srEmitFunction* f = in_lanes(w, k, whole, lanes);
  if (f == NULL) return NULL;
  int* place = sr_pool_alloc(w->pool, ((size_t)f->nlocal + 1) * sizeof *place);
  for (int i = 0; i < f->nlocal; i++) place[i] = i;
  for (int i = 0; i < f->nout; i++) f->out[i].rows = rows_in_lane(lanes, &k->out[i]);
  for (int i = 0, at = 0; i < sr_sym_ninput; i++) {
    if (k->in & SR_SYM_IN(sr_sym_inputs[i].kind)) f->in[at++].rows = rows_in_lane(lanes, &sr_sym_inputs[i].array);
  }
  f->place = place;
  return f;
}

static void make_lanes(Work* w, srEmitFunction* f, const srSymFunction* const* made, int n) {
  for (int i = 0; i < SR_EMIT_LANES; i++) {
    w->lanes[i] = sr_sym_lanes(w->pool, w->reduced, 2 << i, true);
    for (int k = 0; k < n && w->lanes[i] != NULL; k++) {
      if (made[k]->in_lanes) f[k].in_lanes[i] = in_threads(w, made[k], &f[k], w->lanes[i]);
    }
  }
}

// Of C, where operations are those that vectors have: a vector of the numbers of all lanes is one value.
static bool is_arithmetic(const srCode* code) {
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    if (v->uses > 0 &&
        !(v->op == SR_OP_CONST || v->op == SR_OP_PARAM || v->op == SR_OP_VAR || v->op == SR_OP_ADD ||
          v->op == SR_OP_MUL || v->op == SR_OP_DIV || v->op == SR_OP_FUNCTION || sr_code_is_packed(code, i)))
      return false;
  }
  return true;
}

static bool is_shorter(const srOperations* lane, const srOperations* whole) {
  return 10 * (lane->add + lane->mul) <= 9 * (whole->add + whole->mul);
}

// Are the constraint equations couplings within limbs and within the base alone?
static bool eliminates(const Work* w, const srSymLanes* lanes) {
  return w->m->elimination != NULL && w->m->ndriver == 0 && sr_sym_couplings_stay(w->reduced, lanes);
}

static srEmitFunction* in_vector(const Work* w, const srSymFunction* k, const srEmitFunction* whole,
                                 const srSymLanes* lanes) {
  if (!k->in_vector || (k->partitioned && w->m->constrained && !eliminates(w, lanes))) return NULL;
  srEmitFunction* own = in_lanes(w, k, whole, lanes);
  if (own == NULL || !is_arithmetic(own->code) || !is_shorter(&own->operations, &whole->operations)) return NULL;
  own->lanes = lanes, own->nall = whole->code->nout;
  return own;
}

static srStatus make_vectors(const Work* w, srEmitFunction* f, const srSymFunction* const* made, int n,
                             srGeneratedFunction* shown) {
  int found = 0;
  for (int i = 0; i < SR_EMIT_LANES && w->context.symbols == NULL; i++) {
    const int number = 2 << i;
    const srSymLanes* lanes = w->o->limbs == number || w->o->limbs == SR_LIMBS_FEWEST
                                  ? sr_sym_lanes(w->pool, w->reduced, number, false)
                                  : NULL;
    for (int k = 0; k < n && lanes != NULL; k++) {
      srEmitFunction *own = in_vector(w, made[k], &f[k], lanes), **other = &f[k].in_lanes[0];
      if (own == NULL) continue;
      if (i > 0 && *other != NULL && sr_sym_price(&(*other)->operations) <= sr_sym_price(&own->operations)) continue;
      *other = NULL, f[k].in_lanes[i] = own, shown[k].lanes = number, found++;
    }
  }
  if (found > 0 || w->o->limbs == SR_LIMBS_FEWEST) return SR_OK;
  sr_messages_add(
      w->messages, SR_SEVERITY_ERROR, (srPlace){0},
      "no function that was asked for has limbs in %d lanes: limbs of the same joints on one body, as many as "
      "fill them, in accel (of trees and couplings), invdyna, dirdyna, mass or bias, and no parameters as arguments; "
      "leave "
      "--limbs out",
      w->o->limbs);
  return SR_INPUT;
}

// ---- functions ----------------------------------------------------------------------------------------------------------

#define DEEP 250  // pairs of coordinates for each one, of about as many operations as an articulated body has

// Is the second way, by factors of M, longer in any frames? They have an operation for every pair of coordinates on each path to the ground: of long chains these alone are more than the articulated bodies.
static bool is_deep(const srModel* m, srPool* pool) {
  long *depth = sr_pool_alloc(pool, (size_t)m->nlink * sizeof *depth), pairs = 0;
  for (int i = 1; i < m->nlink; i++) {
    depth[i] = depth[m->link_parent[i]];
    for (int k = 0; k < sr_link_nv[m->link_type[i]]; k++) pairs += depth[i] * (depth[i] + 1) / 2, depth[i]++;
  }
  return pairs > (long)DEEP * m->nv;
}

static void make(const Work* w, const srSymFunction* k, srEmitFunction* f, srGeneratedFunction* shown) {
  const int nout = sr_sym_outputs(k, &w->context);
  srSymTree* best = NULL;
  srSymBuild build = NULL;
  long least = 0;
  *f = (srEmitFunction){.name = k->name, .about = k->about, .place = places(w, k)};
  if (k->parameters == SR_SYM_BASE_PARAMETERS)
    f->parameter = w->context.base->base, f->nparameter = w->context.base->nbase;
  if (k->parameters == SR_SYM_BODY_PARAMETERS)
    f->parameter = w->context.base->body, f->nparameter = w->context.base->nbody_parameter;
  const int ways = w->m->constrained || is_deep(w->m, w->pool) ? 1 : 2;
  for (int i = 0; i < ways && k->build[i] != NULL; i++) {
    srSymTree* tree = copy_of(w->pool, w->reduced);
    tree->own_axes = k->own_axes;
    const int searched = k->frames ? w->m->nv : nout;
    const long price = sr_sym_choose_frames(tree, k->frames ? k->frames : k->build[i], &w->context, searched);
    if (best != NULL && price >= least) continue;
    best = tree, build = k->build[i], least = price;
  }
  f->code = code_of(w, best, build, nout, f);
  f->operations = sr_code_count(w->pool, f->code);
  put_arrays(w, k, f);
  w->plain->own_axes = k->own_axes;
  const srOperations before = sr_code_count(w->pool, code_of(w, w->plain, build, nout, NULL)), *o = &f->operations;
  // The model's own frames may be the best ones where inertia does not enter. Columns of parameters are those of the reduced tree.
  if (k->parameters == SR_SYM_NO_PARAMETERS && sr_sym_price(&before) < sr_sym_price(o))
    f->code = code_of(w, w->plain, build, nout, f), f->operations = before;
  *shown = (srGeneratedFunction){.name = k->name,
                                 .add = o->add,
                                 .mul = o->mul,
                                 .div = o->div,
                                 .angle = o->angle,
                                 .other = o->other,
                                 .fused = o->fused,
                                 .add_before = before.add,
                                 .mul_before = before.mul,
                                 .div_before = before.div,
                                 .angle_before = before.angle};
}

// Free bodies without mass: nothing but the number 0 is left of a pivot.
static bool divides_by_zero(const srCode* code) {
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    if (v->uses == 0 || v->op != SR_OP_DIV) continue;
    const srCodeValue* by = &code->value[SR_REF_VALUE(v->child[1])];
    if (by->op == SR_OP_CONST && by->number == 0) return true;
  }
  return false;
}

// ---- files --------------------------------------------------------------------------------------------------------------

// Words of the languages, modules that the code itself or numpy needs, and those inside of the interpreter of Python, which are found before a file, cannot be names of modules, files and functions.
static const char* const reserved[] = {
    "abc",         "all",        "clean",       "main",      "Makefile", "project",   "run",          "user",
    "and",         "argparse",   "array",       "as",        "assert",   "ast",       "async",        "atexit",
    "auto",        "await",      "base64",      "binascii",  "bisect",   "bool",      "break",        "builtins",
    "bz2",         "case",       "catch",       "char",      "class",    "cmath",     "codecs",       "collections",
    "const",       "contextlib", "contextvars", "continue",  "copy",     "copyreg",   "ctypes",       "dataclasses",
    "datetime",    "decimal",    "def",         "default",   "del",      "delete",    "difflib",      "dis",
    "do",          "double",     "elif",        "else",      "elseif",   "encodings", "end",          "enum",
    "errno",       "except",     "export",      "extern",    "False",    "false",     "faulthandler", "fcntl",
    "finally",     "float",      "fnmatch",     "for",       "from",     "function",  "functools",    "gc",
    "genericpath", "gettext",    "global",      "goto",      "grp",      "hashlib",   "heapq",        "hmac",
    "if",          "import",     "importlib",   "in",        "inline",   "inspect",   "int",          "io",
    "ipaddress",   "is",         "itertools",   "json",      "keyword",  "lambda",    "linecache",    "long",
    "lzma",        "marshal",    "math",        "new",       "None",     "nonlocal",  "not",          "ntpath",
    "null",        "numbers",    "numpy",       "opcode",    "operator", "or",        "os",           "otherwise",
    "parfor",      "pass",       "pathlib",     "pickle",    "platform", "posix",     "posixpath",    "pprint",
    "private",     "public",     "pwd",         "pyexpat",   "raise",    "random",    "re",           "register",
    "reprlib",     "restrict",   "return",      "runpy",     "secrets",  "select",    "short",        "shutil",
    "signal",      "signed",     "site",        "sizeof",    "spwd",     "stat",      "static",       "string",
    "struct",      "subprocess", "super",       "switch",    "sys",      "sysconfig", "syslog",       "tempfile",
    "textwrap",    "this",       "threading",   "throw",     "time",     "token",     "tokenize",     "traceback",
    "True",        "true",       "try",         "typedef",   "types",    "typing",    "unicodedata",  "union",
    "unittest",    "unsigned",   "until",       "urllib",    "var",      "void",      "volatile",     "warnings",
    "weakref",     "while",      "with",        "xxsubtype", "yield",    "zipimport", "zlib"};

static const char* identifier(srPool* pool, const char* name) {
  for (int i = 0; i < SR_COUNT(reserved); i++) {
    if (strcmp(name, reserved[i]) == 0) return sr_pool_printf(pool, "m_%s", name);
  }
  char* out = sr_pool_printf(pool, "%s%s", isalpha((unsigned char)name[0]) ? "" : "m_", name);
  for (char* c = out; *c != 0; c++) {
    if (!isalnum((unsigned char)*c)) *c = '_';
  }
  return out;
}

// Of free bodies: position and quaternion; angular velocity and velocity, in the axes of the body.
static srEmitEntry free_position(const Work* w, int i) {
  static const char* const part[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  const char* name = sr_pool_printf(w->pool, "%s.%s", w->m->body_name[w->m->link_body[1 + i / 7]], part[i % 7]);
  return (srEmitEntry){'q', i, sr_sym_comment(w->pool, name), i % 7 < 3 ? "m" : "1"};
}

static srEmitEntry free_velocity(const Work* w, int i) {
  char name[256];
  return (srEmitEntry){'v', i, sr_sym_comment(w->pool, sr_coordinate_name(w->m, i, name, sizeof name)),
                       i % 6 < 3 ? "rad/s" : "m/s"};
}

static const srEmitEntry* legend(const Work* w, int* n) {
  const srModel* m = w->m;
  const srSymSymbols* s = w->context.symbols;
  srEmitEntry* out = sr_pool_alloc(w->pool, (size_t)(m->nq + m->nv + sr_count_p(&w->context) + 1) * sizeof *out);
  for (int i = 0; i < m->nq; i++)
    out[(*n)++] =
        m->absolute ? free_position(w, i) : (srEmitEntry){'q', i, sr_sym_comment(w->pool, m->q_name[i]), m->q_unit[i]};
  for (int i = 0; i < m->nv; i++)
    out[(*n)++] =
        m->absolute ? free_velocity(w, i) : (srEmitEntry){'v', i, sr_sym_comment(w->pool, m->v_name[i]), m->v_unit[i]};
  for (int i = 0; i < sr_count_p(&w->context); i++)
    out[(*n)++] = (srEmitEntry){'p', i, sr_sym_comment(w->pool, s->name[i]),
                                sr_pool_printf(w->pool, "%.10g in the model", s->value[i])};
  return out;
}

static const int* quaternions(const Work* w, int* n) {
  const srModel* m = w->m;
  int* out = sr_pool_alloc(w->pool, (size_t)m->nlink * sizeof *out);
  for (int i = 1; i < m->nlink; i++) {
    if (m->link_type[i] == SR_LINK_BALL) out[(*n)++] = m->link_q[i];
    if (m->link_type[i] == SR_LINK_FREE) out[(*n)++] = m->link_q[i] + 3;
  }
  return out;
}

static bool wanted(const char* what, const srSymFunction* k) {
  const size_t n = strlen(k->name);
  for (const char* c = what; c != NULL && *c != 0; c += strcspn(c, ","), c += *c == ',') {
    if (strcspn(c, ",") == n && strncmp(c, k->name, n) == 0) return true;
  }
  return what == NULL && !k->on_demand;
}

static bool names_known(const Work* w) {
  const char** words = sr_pool_alloc(w->pool, (size_t)sr_sym_nfunction * sizeof *words);
  for (int i = 0; i < sr_sym_nfunction; i++) words[i] = sr_sym_functions[i]->name;
  for (const char* c = w->o->what; c != NULL && *c != 0; c += strcspn(c, ","), c += *c == ',') {
    const char* name = sr_pool_text_n(w->pool, c, strcspn(c, ","));
    bool known = false;
    for (int i = 0; i < sr_sym_nfunction; i++) known = known || strcmp(name, words[i]) == 0;
    if (known) continue;
    const char* meant = sr_nearest_word(name, words, sr_sym_nfunction);
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "there is no function '%s' to generate; did you mean '%s'?", name, meant ? meant : words[0]);
    return false;
  }
  return true;
}

// Independent and dependent coordinates where the model is assembled, or at the position of the options. Reported where a function was asked for.
static srStatus partition(Work* w) {
  if (w->context.partition != NULL || w->refused != SR_OK) return w->refused;
  srData* d = sr_data_create(w->m);
  srMessages* messages = w->o->what != NULL ? w->messages : sr_messages_create();
  if (d == NULL || messages == NULL) return SR_MEMORY;
  srSymPartition* found = NULL;
  if (w->o->q != NULL)
    memcpy(d->q, w->o->q, (size_t)w->m->nq * sizeof *d->q), d->t = w->o->t;
  else
    w->refused = sr_assemble(w->m, d, messages, &(srAssembly){0});
  if (w->refused == SR_OK) w->refused = sr_sym_partition(w->plain, d, w->o->independent, messages, &found);
  if (messages != w->messages) sr_messages_destroy(messages);
  sr_data_destroy(d);
  w->context.partition = found;
  return w->refused;
}

static srStatus write_project(Work* w, const srEmitUnit* unit) {
  srData* d = sr_data_create(w->m);
  if (d == NULL) return SR_MEMORY;
  const srStatus status = sr_assemble(w->m, d, w->messages, &(srAssembly){0});
  if (status == SR_OK)
    w->memory->shown.nfile = sr_project_write(w->pool, unit, &w->context, d, w->memory->file, w->memory->shown.nfile);
  sr_data_destroy(d);
  return status;
}

// The language; NULL: the options do not go together, which is reported.
static const srLanguage* check_options(Work* w) {
  const srLanguage* language = sr_language_find(w->o->language ? w->o->language : "c");
  if (language == NULL) {
    const char* words[8];
    const char* meant = sr_nearest_word(w->o->language, words, sr_language_words(words, 8));
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "no code is generated in the language '%s'; c, js, python, octave and cuda exist%s%s%s",
                    w->o->language, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    return NULL;
  }
  if (!names_known(w)) return NULL;
  if (w->o->parameters != NULL && (w->o->spec == NULL || strcmp(language->word, "cuda") == 0)) {
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    w->o->spec ? "parameters are no arguments of CUDA kernels: choose another language"
                               : "parameters as arguments need the spec of the model");
    return NULL;
  }
  if (w->o->limbs != 0 &&
      (strcmp(language->word, "c") != 0 || (w->o->limbs != 2 && w->o->limbs != 4 && w->o->limbs != SR_LIMBS_FEWEST))) {
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "limbs in lanes of a vector are of C alone, and 2 or 4: leave --limbs out");
    return NULL;
  }
  return language;
}

// The tree as it is, and with its frames and inertias reduced; with parameters that stay symbols, or without.
static bool make_trees(Work* w) {
  const double snap = w->o->snap > 0 ? w->o->snap : 1e-13;
  w->plain = sr_sym_tree(w->pool, w->m, snap, &w->memory->shown.snapped);
  w->reduced = copy_of(w->pool, w->plain);
  if (w->o->parameters == NULL) {
    double ignored = 0;
    sr_sym_reframe(w->reduced, snap);
    sr_sym_regroup(w->reduced);
    sr_sym_snap(w->reduced, 1e-14, &ignored);
    return true;
  }
  bool elements = false;
  for (int i = 0; i < sr_sym_nfunction; i++)
    elements = elements || (sr_sym_functions[i]->elements && wanted(w->o->what, sr_sym_functions[i]));
  w->plain->symbols = sr_sym_symbols(w->plain, w->o->spec, w->o->parameters, elements, w->messages);
  if (w->plain->symbols == NULL) return false;
  w->context.symbols = w->reduced->symbols = w->plain->symbols;
  sr_sym_regroup_symbols(w->reduced);
  return true;
}

// What is generated: an entry of each array for every function.
typedef struct Made {
  srEmitFunction* f;
  const srSymFunction** of;
  srGeneratedFunction* counts;
  int n;
} Made;

// One of them. Those that the model does not have are left out where all are wanted, and refused where they are named.
static srStatus make_one(Work* w, const srSymFunction* k, Made* made) {
  const char* missing = k->missing ? k->missing(&w->context) : NULL;
  const bool loops = k->partitioned && k->partitioned(&w->context);
  // Places of closures and ratios stay numbers.
  if (w->context.symbols && (!k->parametric || (k->partitioned && w->m->constrained)))
    missing = "has no parameters as arguments: generate it without --parameters";
  if (missing != NULL && w->o->what == NULL) return SR_OK;
  if (missing != NULL) {
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0}, "%s %s", k->name, missing);
    return SR_INPUT;
  }
  if (k->prepare) k->prepare(&w->context, w->pool, w->reduced);
  if (loops) {
    const srStatus status = partition(w);
    if (status != SR_OK) return status == SR_MEMORY || w->o->what != NULL ? status : SR_OK;
  }
  make(w, k, &made->f[made->n], &made->counts[made->n]);
  const bool wrong = divides_by_zero(made->f[made->n].code);
  if (wrong && w->o->what == NULL) return SR_OK;
  if (wrong) {
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "%s divides by inertia, and some joints move nothing with mass: lock them", k->name);
    return SR_INPUT;
  }
  made->of[made->n++] = k;
  return SR_OK;
}

static srStatus make_functions(Work* w, const srLanguage* language, Made* made) {
  const size_t most = (size_t)sr_sym_nfunction;
  made->f = sr_pool_alloc(w->pool, most * sizeof *made->f);
  made->of = sr_pool_alloc(w->pool, most * sizeof *made->of);
  made->counts = sr_pool_alloc(w->pool, most * sizeof *made->counts);
  for (int i = 0; i < sr_sym_nfunction; i++) {
    const srStatus status = wanted(w->o->what, sr_sym_functions[i]) ? make_one(w, sr_sym_functions[i], made) : SR_OK;
    if (status != SR_OK) return status;
  }
  if (strcmp(language->word, "cuda") == 0 && !w->m->constrained) make_lanes(w, made->f, made->of, made->n);
  return w->o->limbs != 0 ? make_vectors(w, made->f, made->of, made->n, made->counts) : SR_OK;
}

static srStatus write_files(Work* w, const srLanguage* language, const Made* made) {
  srEmitUnit unit = {.model = identifier(w->pool, w->m->name),
                     .title = sr_sym_comment(w->pool, w->m->name),
                     .source = w->o->source ? sr_sym_comment(w->pool, w->o->source) : "Sarrus " SR_VERSION_STRING,
                     .nfunction = made->n,
                     .function = made->f};
  sr_emit_collect_folds(w->pool, &unit, made->f);
  sr_emit_collect_tables(w->pool, &unit, made->f);
  unit.legend = legend(w, &unit.nlegend);
  unit.nq = w->m->nq, unit.nv = w->m->nv, unit.ny = w->m->ny;
  unit.quaternion = quaternions(w, &unit.nquaternion);
  memcpy(unit.lanes, w->lanes, sizeof unit.lanes);
  for (int i = 0; i < SR_EMIT_FILES; i++) w->memory->file[i].text.pool = w->pool;
  w->memory->shown.nfile = language->write(w->pool, &unit, w->memory->file);
  return w->o->project ? write_project(w, &unit) : SR_OK;
}

static void show(Work* w, const Made* made) {
  srGenerated* shown = &w->memory->shown;
  srGeneratedFile* files = sr_pool_alloc(w->pool, SR_EMIT_FILES * sizeof *files);
  for (int i = 0; i < shown->nfile; i++)
    files[i] = (srGeneratedFile){w->memory->file[i].name, w->memory->file[i].text.data, w->memory->file[i].text.n,
                                 w->memory->file[i].once};
  shown->file = files;
  shown->function = made->counts, shown->nfunction = made->n;
  shown->nargument = sr_count_p(&w->context);
  srGeneratedParameter* argument = sr_pool_alloc(w->pool, ((size_t)shown->nargument + 1) * sizeof *argument);
  for (int i = 0; i < shown->nargument; i++)
    argument[i] = (srGeneratedParameter){.name = w->context.symbols->name[i], .value = w->context.symbols->value[i]};
  shown->argument = argument;
  if (w->context.base != NULL) {
    const srSymBase* base = w->context.base;
    shown->nbase = base->nbase, shown->base = base->base;
    shown->nbody_parameter = base->nbody_parameter, shown->body_parameter = base->body;
  }
}

static srStatus generate(Work* w) {
  Made made = {0};
  const srLanguage* language = check_options(w);
  if (language == NULL || !make_trees(w)) return SR_INPUT;
  srStatus status = make_functions(w, language, &made);
  if (status == SR_OK) status = write_files(w, language, &made);
  if (status == SR_OK) show(w, &made);
  return status;
}

static srStatus in_pool(Work* w) {
  if (setjmp(w->memory->out_of_memory) != 0) return SR_MEMORY;
  w->pool->on_fail = &w->memory->out_of_memory;
  return generate(w);
}

srStatus sr_generate(const srModel* m, const srGenerateOptions* options, srMessages* messages, srGenerated** out) {
  *out = NULL;
  if (m->formulation == SR_FORMULATION_PENALTY) {
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, (srPlace){0},
        "no code is generated for the penalty formulation: its joints are springs; take relative or absolute");
    return SR_INPUT;
  }
  Memory* x = sr_alloc(sizeof *x);
  if (x == NULL) return SR_MEMORY;
  sr_pool_init(&x->pool);
  Work w = {.pool = &x->pool,
            .memory = x,
            .m = m,
            .o = options,
            .messages = messages,
            .context = {.m = m, .options = options, .pool = &x->pool}};
  srGenerateOptions project = *options;
  if (options->project) {
    const char* why;
    project.what = sr_project_functions(m, &why), project.language = "c", project.parameters = NULL;
    w.o = w.context.options = &project;
    if (project.what == NULL) {
      sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "there is no project for the model '%s': %s", m->name,
                      why);
      sr_generated_destroy(&x->shown);
      return SR_INPUT;
    }
  }
  const srStatus status = in_pool(&w);
  x->pool.on_fail = NULL;
  if (status == SR_OK)
    *out = &x->shown;
  else
    sr_generated_destroy(&x->shown);
  return status;
}

void sr_generated_destroy(srGenerated* generated) {
  if (generated == NULL) return;
  Memory* x = (Memory*)(void*)generated;
  sr_pool_free(&x->pool);
  sr_free(x);
}
