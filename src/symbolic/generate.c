// Generated code: functions of a model, built on the graph in the cheapest frames, in the language that was asked for.
#include <sarrus/generate.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "symbolic/emit.h"
#include "symbolic/frames.h"

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
  srSymTree* plain;    // the model's own frames
  srSymTree* reduced;  // reframed and regrouped
} Work;

// ---- functions ----------------------------------------------------------------------------------------------------------

static srNode* leaves(srSymPass* x, srVarKind kind) {
  const int nv = x->tree->m->nv;
  srNode* out = sr_pool_alloc(x->tree->pool, ((size_t)nv + 1) * sizeof *out);
  for (int i = 0; i < nv; i++) out[i] = sr_graph_var(x->g, kind, i);
  return out;
}

static void build_invdyna(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_invdyna(x, leaves(x, SR_VAR_A), false, out);
}

static void lower_triangle(const srNode* M, int nv, srNode* out) {
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k <= i; k++) *out++ = M[i * nv + k];
  }
}

static void build_mass(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv;
  srNode* M = sr_pool_alloc(x->tree->pool, (size_t)(nv * nv + 1) * sizeof *M);
  (void)user;
  sr_sym_mass(x, M);
  lower_triangle(M, nv, out);
}

static void build_dirdyna(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv;
  (void)user;
  sr_sym_mass(x, out);
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k < i; k++) out[k * nv + i] = out[i * nv + k];
  }
  sr_sym_invdyna(x, NULL, false, out + nv * nv);
}

static void build_aba(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_aba(x, leaves(x, SR_VAR_TAU), out);
}

static void build_ltl(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_ltl(x, leaves(x, SR_VAR_TAU), out);
}

static void build_qdot(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_qdot(x, true, out);
}

static void build_dinvdyna(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv;
  (void)user;
  sr_sym_invdyna_derivatives(x, leaves(x, SR_VAR_A), out, out + nv * nv);
}

static void build_daccel(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv, n = nv * nv;
  (void)user;
  sr_sym_accel_derivatives(x, leaves(x, SR_VAR_TAU), out, out + nv, out + nv + n, out + nv + 2 * n);
}

enum { IN_Q = 1, IN_V = 2, IN_A = 4, IN_TAU = 8 };
enum {
  NOTHING,
  POSITIONS,
  VELOCITIES,
  MATRIX,
  TRIANGLE
};  // sizes nq, nv, nv x nv; of a triangle the entries below and on the diagonal

typedef struct Output {
  const char* name;
  int size;
  const char* about;
} Output;

typedef struct Kind {
  const char* name;
  const char* about;
  unsigned in;
  Output out[4];
  srSymBuild build[2];   // two ways: the cheaper one is taken
  srSymBuild frames;     // whose frames are taken; NULL: its own
  bool tree, on_demand;  // of models without constraints; not where all are wanted
} Kind;

static const Kind kinds[] = {
    {.name = "accel",
     .about = "Forward dynamics: a = M^-1 (tau - c).",
     .in = IN_Q | IN_V | IN_TAU,
     .out = {{"a", VELOCITIES, "accelerations dv/dt"}},
     .build = {build_aba, build_ltl},
     .tree = true},
    {.name = "invdyna",
     .about = "Inverse dynamics: tau = M a + c, c with gravity.",
     .in = IN_Q | IN_V | IN_A,
     .out = {{"tau", VELOCITIES, "forces on the coordinates"}},
     .build = {build_invdyna}},
    {.name = "dirdyna",
     .about = "Mass matrix M and bias c of M a + c = tau, c with gravity.",
     .in = IN_Q | IN_V,
     .out = {{"M", MATRIX, "mass matrix"}, {"c", VELOCITIES, "bias"}},
     .build = {build_dirdyna}},
    {.name = "mass",
     .about = "Mass matrix, below and on the diagonal; entries above are not written.",
     .in = IN_Q,
     .out = {{"M", TRIANGLE, "mass matrix"}},
     .build = {build_mass}},
    {.name = "qdot",
     .about = "Rates of positions, q' = H(q) v.",
     .in = IN_Q | IN_V,
     .out = {{"qdot", POSITIONS, "rates of positions"}},
     .build = {build_qdot}},
    {.name = "dinvdyna",
     .about = "Derivatives of the inverse dynamics, a held; by positions along the velocities: the change for q' = "
              "H(q) v with a unit velocity.",
     .in = IN_Q | IN_V | IN_A,
     .out = {{"tau_q", MATRIX, "dtau/dq"}, {"tau_v", MATRIX, "dtau/dv"}},
     .build = {build_dinvdyna},
     .frames = build_invdyna,
     .on_demand = true},
    {.name = "daccel",
     .about = "Forward dynamics and its derivatives, tau held; by positions along the velocities: the change for q' = "
              "H(q) v with a unit velocity.",
     .in = IN_Q | IN_V | IN_TAU,
     .out = {{"a", VELOCITIES, "accelerations dv/dt"},
             {"a_q", MATRIX, "da/dq"},
             {"a_v", MATRIX, "da/dv"},
             {"a_tau", MATRIX, "da/dtau, the inverse of M"}},
     .build = {build_daccel},
     .frames = build_ltl,
     .tree = true,
     .on_demand = true},
};

static int size_of(const srModel* m, int size) {
  const int nv = m->nv;
  return size == POSITIONS    ? m->nq
         : size == VELOCITIES ? nv
         : size == MATRIX     ? nv * nv
         : size == TRIANGLE   ? nv * (nv + 1) / 2
                              : 0;
}

static int outputs(const srModel* m, const Kind* k) {
  int n = 0;
  for (int i = 0; i < 4; i++) n += size_of(m, k->out[i].size);
  return n;
}

// Where each output is in the arrays, one after the other: a triangle is part of a matrix.
static const int* places(const Work* w, const Kind* k) {
  const int nv = w->m->nv;
  int at = 0, first = 0, *out = sr_pool_alloc(w->pool, ((size_t)outputs(w->m, k) + 1) * sizeof *out);
  for (int i = 0; i < 4; i++) {
    const int size = k->out[i].size, n = size_of(w->m, size);
    for (int r = 0; r < nv && size == TRIANGLE; r++) {
      for (int c = 0; c <= r; c++) out[at++] = first + r * nv + c;
    }
    for (int e = 0; e < n && size != TRIANGLE; e++) out[at++] = first + e;
    first += size == TRIANGLE ? nv * nv : n;
  }
  return out;
}

static void put_arrays(const Work* w, const Kind* k, srEmitFunction* f) {
  const int nq = w->m->nq, nv = w->m->nv;
  if (k->in & IN_Q) f->in[f->nin++] = (srEmitArray){"q", nq, 1, "positions"};
  if (k->in & IN_V) f->in[f->nin++] = (srEmitArray){"v", nv, 1, "velocities"};
  if (k->in & IN_A) f->in[f->nin++] = (srEmitArray){"a", nv, 1, "accelerations dv/dt"};
  if (k->in & IN_TAU) f->in[f->nin++] = (srEmitArray){"tau", nv, 1, "forces on the coordinates"};
  for (int i = 0; i < 4 && k->out[i].size != NOTHING; i++) {
    const Output* o = &k->out[i];
    const bool matrix = o->size == MATRIX || o->size == TRIANGLE;
    f->out[f->nout++] = (srEmitArray){o->name, o->size == POSITIONS ? nq : nv, matrix ? nv : 1, o->about};
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
  build(pass, NULL, out);
  if (f != NULL) f->note = pass->note, f->nnote = pass->nnote;
  return sr_code_create(w->pool, g, out, nout);
}

static void make(const Work* w, const Kind* k, srEmitFunction* f, srGeneratedFunction* shown) {
  const int nout = outputs(w->m, k);
  srSymTree* best = NULL;
  srSymBuild build = NULL;
  long least = 0;
  *f = (srEmitFunction){.name = k->name, .about = k->about, .place = places(w, k)};
  for (int i = 0; i < 2 && k->build[i] != NULL; i++) {
    srSymTree* tree = copy_of(w->pool, w->reduced);
    const int searched = k->frames ? w->m->nv : nout;
    const long price = sr_sym_choose_frames(tree, k->frames ? k->frames : k->build[i], NULL, searched);
    if (best != NULL && price >= least) continue;
    best = tree, build = k->build[i], least = price;
  }
  f->code = code_of(w, best, build, nout, f);
  f->operations = sr_code_count(w->pool, f->code);
  put_arrays(w, k, f);
  const srOperations before = sr_code_count(w->pool, code_of(w, w->plain, build, nout, NULL)), *o = &f->operations;
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

// ---- files --------------------------------------------------------------------------------------------------------------

static const char* identifier(srPool* pool, const char* name) {
  char* out = sr_pool_printf(pool, "%s%s", isalpha((unsigned char)name[0]) ? "" : "m_", name);
  for (char* c = out; *c != 0; c++) {
    if (!isalnum((unsigned char)*c)) *c = '_';
  }
  return out;
}

static const srEmitEntry* legend(const Work* w, int* n) {
  const srModel* m = w->m;
  srEmitEntry* out = sr_pool_alloc(w->pool, (size_t)(m->nq + m->nv + 1) * sizeof *out);
  for (int i = 0; i < m->nq; i++) out[(*n)++] = (srEmitEntry){'q', i, m->q_name[i], m->q_unit[i]};
  for (int i = 0; i < m->nv; i++) out[(*n)++] = (srEmitEntry){'v', i, m->v_name[i], m->v_unit[i]};
  return out;
}

static bool wanted(const char* what, const Kind* k) {
  const size_t n = strlen(k->name);
  for (const char* c = what; c != NULL && *c != 0; c += strcspn(c, ","), c += *c == ',') {
    if (strcspn(c, ",") == n && strncmp(c, k->name, n) == 0) return true;
  }
  return what == NULL && !k->on_demand;
}

static bool names_known(const Work* w) {
  const char* words[SR_COUNT(kinds)];
  for (int i = 0; i < SR_COUNT(kinds); i++) words[i] = kinds[i].name;
  for (const char* c = w->o->what; c != NULL && *c != 0; c += strcspn(c, ","), c += *c == ',') {
    const char* name = sr_pool_text_n(w->pool, c, strcspn(c, ","));
    bool known = false;
    for (int i = 0; i < SR_COUNT(kinds); i++) known = known || strcmp(name, kinds[i].name) == 0;
    if (known) continue;
    const char* meant = sr_nearest_word(name, words, SR_COUNT(kinds));
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "there is no function '%s' to generate; did you mean '%s'?", name, meant ? meant : kinds[0].name);
    return false;
  }
  return true;
}

static srStatus generate(Work* w) {
  const srLanguage* language = sr_language_find(w->o->language ? w->o->language : "c");
  if (language == NULL) {
    const char* words[8];
    const char* meant = sr_nearest_word(w->o->language, words, sr_language_words(words, 8));
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "no code is generated in the language '%s'; c, js, python, octave and cuda exist%s%s%s",
                    w->o->language, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    return SR_INPUT;
  }
  if (!names_known(w)) return SR_INPUT;
  const double snap = w->o->snap > 0 ? w->o->snap : 1e-13;
  srGenerated* shown = &w->memory->shown;
  srEmitFunction* f = sr_pool_alloc(w->pool, sizeof kinds / sizeof kinds[0] * sizeof *f);
  srGeneratedFunction* counts = sr_pool_alloc(w->pool, sizeof kinds / sizeof kinds[0] * sizeof *counts);
  w->plain = sr_sym_tree(w->pool, w->m, snap, &shown->snapped);
  w->reduced = copy_of(w->pool, w->plain);
  sr_sym_reframe(w->reduced, snap);
  sr_sym_regroup(w->reduced);
  double ignored = 0;
  sr_sym_snap(w->reduced, 1e-14, &ignored);
  for (int i = 0; i < SR_COUNT(kinds); i++) {
    if (!wanted(w->o->what, &kinds[i])) continue;
    if (kinds[i].tree && w->m->constrained) {
      if (w->o->what == NULL) continue;
      sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                      "%s is of trees, and the model has constraint equations: generate dirdyna or invdyna, of the "
                      "tree without them",
                      kinds[i].name);
      return SR_INPUT;
    }
    make(w, &kinds[i], &f[shown->nfunction], &counts[shown->nfunction]);
    shown->nfunction++;
  }
  srEmitUnit unit = {.model = identifier(w->pool, w->m->name),
                     .title = w->m->name,
                     .source = w->o->source ? w->o->source : "Sarrus " SR_VERSION_STRING,
                     .nfunction = shown->nfunction,
                     .function = f};
  unit.legend = legend(w, &unit.nlegend);
  unit.nq = w->m->nq, unit.nv = w->m->nv;
  for (int i = 0; i < SR_EMIT_FILES; i++) w->memory->file[i].text.pool = w->pool;
  shown->nfile = language->write(w->pool, &unit, w->memory->file);
  srGeneratedFile* files = sr_pool_alloc(w->pool, SR_EMIT_FILES * sizeof *files);
  for (int i = 0; i < shown->nfile; i++)
    files[i] = (srGeneratedFile){w->memory->file[i].name, w->memory->file[i].text.data, w->memory->file[i].text.n};
  shown->file = files, shown->function = counts;
  return SR_OK;
}

static srStatus in_pool(Work* w) {
  if (setjmp(w->memory->out_of_memory) != 0) return SR_MEMORY;
  w->pool->on_fail = &w->memory->out_of_memory;
  return generate(w);
}

srStatus sr_generate(const srModel* m, const srGenerateOptions* options, srMessages* messages, srGenerated** out) {
  *out = NULL;
  if (m->absolute) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "code is generated for relative coordinates alone");
    return SR_INPUT;
  }
  Memory* x = sr_alloc(sizeof *x);
  if (x == NULL) return SR_MEMORY;
  sr_pool_init(&x->pool);
  Work w = {.pool = &x->pool, .memory = x, .m = m, .o = options, .messages = messages};
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
