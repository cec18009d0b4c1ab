// Numbers of links as functions of parameters: formulas of the model file, put together as the compiler does (compile_tree.c, compile_inertia.c).
//
//   link of a joint   p = R at + t        (R, t): the parent's body in its link; of a welded body t' = R at + t
//   inertia           h = m c,  J = R J R^T + m (c.c 1 - c c^T)   with c = R com + t, summed over the bodies of a link
//
// Masses, centres of mass, inertias, origins of joints, armatures and gravity may depend on them. Rotations, pitches and what is made of shapes stay numbers. The model is compiled again for other values of each parameter, and every number of the tree
// must be the one of its formula: what a formula here does not know of is refused, never ignored.
#include "symbolic/symbols.h"

#include <math.h>
#include <string.h>

#include "expr/graph.h"
#include "math/pose.h"
#include "model/elimination.h"
#include "model/list.h"
#include "symbolic/code.h"

#define FIELD(Def, member) ((int)(offsetof(Def, member) / sizeof(srAttr)))
#define SAME 1e-10  // of the size of a vector or matrix

typedef struct Work {
  srPool* pool;
  const srSpec* spec;
  const srModel* m;
  srMessages* messages;
  srMessages* ignored;
  srSymSymbols* out;
  srGraph* g;
  bool* keep;  // parameters of the spec
  bool elements;
  const char** fault;  // of kept parameters: why elements forbid it, or NULL
  bool* enters;        // ... do elements depend on it?
} Work;

// ---- formulas -----------------------------------------------------------------------------------------------------------

static srNode resolve(void* user, srGraph* g, const char* name, char* reason, size_t size) {
  const int node = sr_names_find(&((Work*)user)->out->names, name);
  (void)g, (void)reason, (void)size;
  return node < 0 ? SR_NO_NODE : node;
}

// Does generated code have all operations of this formula?
static bool is_known(const srGraph* g, srNode node) {
  static const srOp known[] = {SR_OP_CONST, SR_OP_PARAM, SR_OP_ADD, SR_OP_SUB, SR_OP_NEG,  SR_OP_MUL,
                               SR_OP_DIV,   SR_OP_POW,   SR_OP_SIN, SR_OP_COS, SR_OP_TAN,  SR_OP_ASIN,
                               SR_OP_ACOS,  SR_OP_ATAN2, SR_OP_EXP, SR_OP_LOG, SR_OP_SQRT, SR_OP_ABS};
  const srGraphNode* x = &g->nodes[node];
  bool good = (x->depends & SR_DEPENDS_PARAM) == 0;
  for (int i = 0; i < SR_COUNT(known); i++) good = good || x->op == known[i];
  for (int k = 0; k < sr_op_arity(x->op); k++) good = good && is_known(g, x->child[k]);
  return good;
}

// Nodes of an attribute; how many, 0: it is not given, or has what is not known here, and out is as it was.
static int nodes_of(Work* w, srElementKind kind, int i, int field, srNode* out, int most) {
  const srAttr* attr = (const srAttr*)srs_get(w->spec, kind, i) + field;
  const srResolver resolver = {.user = w, .name = resolve};
  srListItem single = {attr->text, 0, attr->place}, *items = &single;
  if (!sr_given(*attr)) return 0;
  const bool one = most == 1 && attr->text != NULL;
  const int n = one ? 1 : sr_split_list(w->pool, attr, &items);
  srNode node[6];
  SR_ASSERT(most <= 6);
  if (n > most) return 0;
  for (int k = 0; k < n; k++) {
    node[k] = items[k].text ? sr_parse(w->g, items[k].text, &resolver, items[k].place, w->ignored)
                            : srx_number(w->g, items[k].number);
    if (node[k] == SR_NO_NODE || !is_known(w->g, node[k])) return 0;
  }
  memcpy(out, node, (size_t)n * sizeof *out);
  return n;
}

static bool depends(const Work* w, srNode node) { return (w->g->nodes[node].depends & SR_DEPENDS_PARAM) != 0; }
static bool depend(const Work* w, const srNode* node, int n) {
  bool any = false;
  for (int i = 0; i < n; i++) any = any || depends(w, node[i]);
  return any;
}
static double value_of(const Work* w, srNode node) {
  double x = 0;
  (void)sr_graph_constant(w->g, node, &x);
  return x;
}

static const char* parameter_name(const Work* w, int i) {
  return ((const srParameterDef*)srs_get(w->spec, SR_ELEMENT_PARAMETER, i))->name.text;
}

static void put_parameters(Work* w) {
  const int n = srs_count(w->spec, SR_ELEMENT_PARAMETER);
  const char** name = sr_pool_alloc(w->pool, ((size_t)n + 1) * sizeof *name);
  double* value = sr_pool_alloc(w->pool, ((size_t)n + 1) * sizeof *value);
  sr_names_init(&w->out->names, w->pool);
  for (int i = 0; i < n; i++) {
    srNode node;
    if (nodes_of(w, SR_ELEMENT_PARAMETER, i, FIELD(srParameterDef, value), &node, 1) != 1) continue;
    if (w->keep[i]) {
      name[w->out->n] = sr_pool_text(w->pool, parameter_name(w, i));
      value[w->out->n] = value_of(w, node);
      node = sr_graph_param(w->g, name[w->out->n], value[w->out->n]);
      w->out->n++;
    }
    (void)sr_names_put(&w->out->names, parameter_name(w, i), node);
  }
  w->out->name = name, w->out->value = value;
}

// ---- places and inertia -------------------------------------------------------------------------------------------------

static void numbers_of(const Work* w, const double* x, int n, srNode* out) {
  for (int i = 0; i < n; i++) out[i] = srx_number(w->g, x[i]);
}

static void rotation_of(const double* pose, double* R) {  // by rows
  for (int i = 0; i < 9; i++) R[i] = pose[4 * (i % 3) + i / 3];
}

static srVec turned(srGraph* g, const double* R, srVec x) {
  srVec out;
  for (int i = 0; i < 3; i++) {
    const srNode row[3] = {srx_number(g, R[3 * i]), srx_number(g, R[3 * i + 1]), srx_number(g, R[3 * i + 2])};
    out.x[i] = srx_dot(g, 3, row, x.x);
  }
  return out;
}

static srMat turned_tensor(srGraph* g, const double* R, srMat J) {
  srMat half, out;
  for (int i = 0; i < 3; i++) {
    const srVec row = turned(g, R, (srVec){{J.x[3 * i], J.x[3 * i + 1], J.x[3 * i + 2]}});  // of J R^T
    for (int k = 0; k < 3; k++) half.x[3 * i + k] = row.x[k];
  }
  for (int k = 0; k < 3; k++) {
    const srVec column = turned(g, R, (srVec){{half.x[k], half.x[3 + k], half.x[6 + k]}});
    for (int i = 0; i <= k; i++) out.x[3 * i + k] = out.x[3 * k + i] = column.x[i];
  }
  return out;
}

// J + 2 (p.k) 1 - p k^T - k p^T
static srMat moved(srGraph* g, srMat J, srVec p, srVec k) {
  const srNode twice = srx_mul(g, srx_number(g, 2), srx_dot3(g, p, k));
  for (int i = 0; i < 9; i++) {
    const int r = i / 3, c = i % 3;
    const srNode both = srx_add(g, srx_mul(g, p.x[r], k.x[c]), srx_mul(g, k.x[r], p.x[c]));
    J.x[i] = srx_sub(g, r == c ? srx_add(g, J.x[i], twice) : J.x[i], both);
  }
  return J;
}

static int element_of(const Work* w, srElementKind kind, const char* body) {
  for (int i = 0; i < srs_count(w->spec, kind); i++) {
    const int owner = srs_owner(w->spec, kind, i);
    if (owner < 0) continue;
    const char* name = ((const srBodyDef*)srs_get(w->spec, SR_ELEMENT_BODY, owner))->name.text;
    if (name != NULL && strcmp(name, body) == 0) return i;
  }
  return -1;
}

// Where body b is in its link, t; its first link, and armatures.
static void put_joint(Work* w, int b, srVec* t) {
  const srModel* m = w->m;
  const int joint = m->body_joint[b], element = element_of(w, SR_ELEMENT_JOINT, m->body_name[b]);
  const int parent = m->body_parent[b];
  double R[9];
  srVec at = srx_zero(w->g);
  srNode armature;
  if (element >= 0) (void)nodes_of(w, SR_ELEMENT_JOINT, element, FIELD(srJointDef, at), at.x, 3);
  rotation_of(m->point_pose + 16 * parent, R);
  const srVec p = srx_plus(w->g, t[parent], turned(w->g, R, at));
  int first = 0;
  for (int i = m->nlink - 1; i > 0; i--) first = m->link_joint[i] == joint ? i : first;
  if (first == 0 && depend(w, p.x, 3))
    t[b] = p;
  else
    numbers_of(w, m->point_pose + 16 * b + 12, 3, t[b].x);
  if (first > 0 && depend(w, p.x, 3)) w->out->p[first] = p;
  if (element < 0 || nodes_of(w, SR_ELEMENT_JOINT, element, FIELD(srJointDef, armature), &armature, 1) != 1) return;
  for (int k = 0; k < m->joint_nv[joint] && depends(w, armature); k++)
    w->out->armature[m->joint_v[joint] + k] = armature;
}

typedef struct Inertia {
  srNode x[13];  // mass, h, J
} Inertia;

// What <inertial> adds to the link: false where no parameter enters it.
static bool inertia_of(Work* w, int b, srVec t, Inertia* out) {
  srGraph* g = w->g;
  const int i = element_of(w, SR_ELEMENT_INERTIAL, w->m->body_name[b]);
  srNode mass = srx_number(g, 0), given[6], turn[4];
  srVec com = srx_zero(g);
  double pose[16], R[9], x[4];
  if (i < 0) return false;
  for (int k = 0; k < 6; k++) given[k] = srx_number(g, 0);
  (void)nodes_of(w, SR_ELEMENT_INERTIAL, i, FIELD(srInertialDef, mass), &mass, 1);
  (void)nodes_of(w, SR_ELEMENT_INERTIAL, i, FIELD(srInertialDef, com), com.x, 3);
  (void)nodes_of(w, SR_ELEMENT_INERTIAL, i, FIELD(srInertialDef, inertia), given, 6);
  if (!depends(w, mass) && !depend(w, com.x, 3) && !depend(w, given, 6) && !depend(w, t.x, 3)) return false;
  srMat J = {{given[0], given[3], given[4], given[3], given[1], given[5], given[4], given[5], given[2]}};
  srm_pose_identity(pose);
  if (nodes_of(w, SR_ELEMENT_INERTIAL, i, FIELD(srInertialDef, rot), turn, 4) == 4) {
    double size = 0;
    for (int k = 0; k < 4; k++) x[k] = value_of(w, turn[k]), size += x[k] * x[k];
    for (int k = 0; k < 4; k++) x[k] /= sqrt(size);
    srm_pose_from_quaternion(x, pose);
  } else if (nodes_of(w, SR_ELEMENT_INERTIAL, i, FIELD(srInertialDef, rpy), turn, 3) == 3) {
    for (int k = 0; k < 3; k++) x[k] = value_of(w, turn[k]);
    srm_pose_from_rpy(x, pose);
  }
  rotation_of(pose, R);
  J = turned_tensor(g, R, J);
  rotation_of(w->m->point_pose + 16 * b, R);
  const srVec c = srx_plus(g, t, turned(g, R, com)), h = srx_times(g, mass, c);
  J = moved(g, turned_tensor(g, R, J), c, srx_times(g, srx_number(g, 0.5), h));
  out->x[0] = mass;
  memcpy(out->x + 1, h.x, sizeof h.x), memcpy(out->x + 4, J.x, sizeof J.x);
  return true;
}

// The number less what the formulas give for it, which is often all of it.
static srNode with_rest(const Work* w, double number, double size, srNode formula) {
  const double rest = number - value_of(w, formula);
  return fabs(rest) <= 1e-12 * size ? formula : srx_add(w->g, srx_number(w->g, rest), formula);
}

static void put_inertia(Work* w, const srVec* t) {
  const srModel* m = w->m;
  srSymSymbols* out = w->out;
  for (int i = 1; i < m->nlink; i++) {
    const double* I = m->link_inertia + 16 * i;
    double number[13] = {I[15], I[12], I[13], I[14]}, size[13];
    srNode x[13];
    bool any = false;
    for (int k = 0; k < 9; k++) number[4 + k] = I[4 * (k % 3) + k / 3];
    for (int k = 0; k < 13; k++) {
      const int from = k == 0 ? 0 : k < 4 ? 1 : 4, to = k == 0 ? 1 : k < 4 ? 4 : 13;
      size[k] = 0;
      for (int j = from; j < to; j++) size[k] = fmax(size[k], fabs(number[j]));
      x[k] = srx_number(w->g, 0);
    }
    for (int b = 1; b <= m->nbody; b++) {
      Inertia body;
      if (m->body_link[b] != i || !inertia_of(w, b, t[b], &body)) continue;
      any = true;
      for (int k = 0; k < 13; k++) x[k] = srx_add(w->g, x[k], body.x[k]);
    }
    for (int k = 0; k < 13; k++)
      x[k] = any && depends(w, x[k]) ? with_rest(w, number[k], size[k], x[k]) : srx_number(w->g, number[k]);
    out->mass[i] = x[0];
    memcpy(out->h[i].x, x + 1, sizeof out->h[i].x), memcpy(out->J[i].x, x + 4, sizeof out->J[i].x);
  }
}

static void put_all(Work* w) {
  const srModel* m = w->m;
  const size_t n = (size_t)m->nlink, nv = (size_t)m->nv + 1;
  srVec* t = sr_pool_alloc(w->pool, ((size_t)m->nbody + 1) * sizeof *t);
  srSymSymbols* out = sr_pool_alloc(w->pool, sizeof *out);
  *out = (srSymSymbols){.g = sr_graph_create(w->pool)};
  w->out = out, w->g = out->g;
  put_parameters(w);
  out->p = sr_pool_alloc(w->pool, n * sizeof *out->p), out->h = sr_pool_alloc(w->pool, n * sizeof *out->h);
  out->J = sr_pool_alloc(w->pool, n * sizeof *out->J), out->mass = sr_pool_alloc(w->pool, n * sizeof *out->mass);
  out->armature = sr_pool_alloc(w->pool, nv * sizeof *out->armature);
  numbers_of(w, m->gravity, 3, out->gravity.x);
  numbers_of(w, sr_sym_armature(m), m->nv, out->armature);
  out->mass[0] = srx_number(w->g, 0), out->p[0] = out->h[0] = srx_zero(w->g);
  for (int k = 0; k < 9; k++) out->J[0].x[k] = srx_number(w->g, 0);
  for (int i = 1; i < m->nlink; i++) numbers_of(w, m->link_tree + 16 * i + 12, 3, out->p[i].x);
  srVec gravity;
  if (srs_count(w->spec, SR_ELEMENT_OPTION) > 0 &&
      nodes_of(w, SR_ELEMENT_OPTION, 0, FIELD(srOptionDef, gravity), gravity.x, 3) == 3 && depend(w, gravity.x, 3))
    out->gravity = gravity;
  t[0] = srx_zero(w->g);
  for (int b = 1; b <= m->nbody; b++) put_joint(w, b, t);
  put_inertia(w, t);
}

// ---- compared with the model for other values ---------------------------------------------------------------------------

enum { ROTATION = 0, PLACE = 9, PITCH = 12, MASS = 13, FIRST = 14, TENSOR = 17, ENTRIES = 26 };  // of a link

static const char* what_is(int entry) {
  return entry < PLACE    ? "the orientation"
         : entry < PITCH  ? "the position"
         : entry == PITCH ? "the pitch"
                          : "the inertia";
}

// All numbers of the tree: of links, armatures, gravity.
static void numbers_of_model(const srModel* m, double* out) {
  for (int i = 1; i < m->nlink; i++) {
    double* x = out + ENTRIES * i;
    const double* I = m->link_inertia + 16 * i;
    rotation_of(m->link_tree + 16 * i, x);
    memcpy(x + PLACE, m->link_tree + 16 * i + 12, 3 * sizeof *x);
    x[PITCH] = m->link_pitch[i], x[MASS] = I[15];
    memcpy(x + FIRST, I + 12, 3 * sizeof *x);
    rotation_of(I, x + TENSOR);
  }
  memcpy(out + ENTRIES * m->nlink, sr_sym_armature(m), (size_t)m->nv * sizeof *out);
  memcpy(out + ENTRIES * m->nlink + m->nv, m->gravity, 3 * sizeof *out);
}

static const srCode* code_of_symbols(const Work* w) {
  const srModel* m = w->m;
  const srSymSymbols* s = w->out;
  const int n = ENTRIES * m->nlink + m->nv + 3;
  srNode* root = sr_pool_alloc(w->pool, (size_t)n * sizeof *root);
  double* number = sr_pool_alloc(w->pool, (size_t)n * sizeof *number);
  numbers_of_model(m, number);
  numbers_of(w, number, n, root);
  for (int i = 1; i < m->nlink; i++) {
    srNode* x = root + ENTRIES * i;
    memcpy(x + PLACE, s->p[i].x, sizeof s->p[i].x), memcpy(x + FIRST, s->h[i].x, sizeof s->h[i].x);
    x[MASS] = s->mass[i];
    memcpy(x + TENSOR, s->J[i].x, sizeof s->J[i].x);
  }
  for (int k = 0; k < m->nv; k++) root[ENTRIES * m->nlink + k] = s->armature[k];
  for (int k = 0; k < 3; k++) root[n - 3 + k] = s->gravity.x[k];
  return sr_code_create(w->pool, w->g, root, n);
}

// The first entry that differs; -1: none.
static int first_difference(const Work* w, const double* x, const double* y) {
  const int links = ENTRIES * w->m->nlink, n = links + w->m->nv + 3;
  double length = 1e-300;
  for (int i = ENTRIES; i < links; i++) {
    if (i % ENTRIES >= PLACE && i % ENTRIES < PITCH) length = fmax(length, fabs(y[i]));
  }
  for (int i = ENTRIES; i < n; i++) {
    const int e = i % ENTRIES, first = i - e;
    double size = fabs(y[i]);
    if (i < links && e < PLACE) size = 1;
    if (i < links && e >= PLACE && e < PITCH) size = length;
    if (i < links && e >= FIRST && e < TENSOR) size = fmax(size, y[first + MASS] * length);
    for (int k = TENSOR; k < ENTRIES && i < links && e >= TENSOR; k++) size = fmax(size, fabs(y[first + k]));
    if (!(fabs(x[i] - y[i]) <= SAME * size)) return i;
  }
  return -1;
}

// The model with these values of the kept parameters; NULL: there is none.
static srModel* model_with(const Work* w, const double* p) {
  srSpec* spec = srs_copy(w->spec);
  srModel* m = NULL;
  bool good = spec != NULL;
  for (int i = 0, kept = 0; i < srs_count(w->spec, SR_ELEMENT_PARAMETER) && good; i++) {
    if (w->keep[i]) good = srs_set(spec, SR_ELEMENT_PARAMETER, i, FIELD(srParameterDef, value), sr_number(p[kept++]));
  }
  if (good) (void)sr_compile(spec, w->ignored, &m);
  srs_destroy(spec);
  return m;
}

// The model with the parameter changed a little; p: values of all. NULL: there is none.
static srModel* model_near(const Work* w, int kept, double* p) {
  static const double factor[] = {1.03125, 0.96875, 1.0009765625, 0.9990234375};
  srModel* m = NULL;
  memcpy(p, w->out->value, (size_t)w->out->n * sizeof *p);
  for (int i = 0; i < SR_COUNT(factor) && m == NULL; i++) {
    p[kept] = w->out->value[kept] != 0 ? w->out->value[kept] * factor[i] : factor[i] - 1;
    m = model_with(w, p);
  }
  return m;
}

// ---- force elements -----------------------------------------------------------------------------------------------------

static bool same_place(srPlace a, srPlace b) {
  return a.line == b.line && a.column == b.column &&
         (a.file == b.file || (a.file && b.file && strcmp(a.file, b.file) == 0));
}

// srSymFormulas
static int formulas_at(void* user, srPlace place, srNode* out, int most) {
  Work* w = user;
  int n = 0;
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++) {
    for (int i = 0; i < srs_count(w->spec, (srElementKind)kind); i++) {
      const bool parameter = kind == SR_ELEMENT_PARAMETER;
      if (!parameter && !same_place(place, srs_place(w->spec, (srElementKind)kind, i))) continue;
      for (int f = 0; f < srs_element((srElementKind)kind)->nfield && n + 6 <= most; f++) {
        int more = nodes_of(w, (srElementKind)kind, i, f, out + n, 1);
        if (more == 0) more = nodes_of(w, (srElementKind)kind, i, f, out + n, 6);
        for (int k = 0, first = n; k < more; k++) {
          if (depends(w, out[first + k])) out[n++] = out[first + k];
        }
      }
    }
  }
  return n;
}

static void put_elements(Work* w) {
  const size_t n = (size_t)w->out->n + 1;
  srSymOther* other = sr_pool_alloc(w->pool, n * sizeof *other);
  w->fault = sr_pool_alloc(w->pool, n * sizeof *w->fault), w->enters = sr_pool_alloc(w->pool, n * sizeof *w->enters);
  bool all = true;
  for (int k = 0; k < w->out->n; k++) {
    other[k].p = sr_pool_alloc(w->pool, n * sizeof *other[k].p);
    other[k].m = model_near(w, k, other[k].p);
    if (other[k].m == NULL) w->fault[k] = "the model cannot be compiled for values near its own", all = false;
  }
  if (all) sr_sym_element_symbols(w->pool, w->m, w->out, w->out->n, other, formulas_at, w, w->fault, w->enters);
  for (int k = 0; k < w->out->n; k++) sr_model_destroy(other[k].m);
}

static bool same_couplings(const struct srElimination* a, const struct srElimination* b) {
  if (a == NULL || b == NULL || a->ntie != b->ntie) return a == b;
  for (int i = 0; i < a->ntie; i++) {
    if (a->tie[i].ratio != b->tie[i].ratio || a->tie[i].offset != b->tie[i].offset) return false;
  }
  return true;
}

typedef enum Verdict { FINE, NOTHING, REFUSED } Verdict;

// Does the parameter do what its formulas say, near its value?
static Verdict judge(Work* w, const srCode* code, int kept, bool tell) {
  const srModel* m = w->m;
  const int n = ENTRIES * m->nlink + m->nv + 3;
  double *now = sr_pool_alloc(w->pool, 3 * (size_t)n * sizeof *now), *then = now + n, *formula = then + n,
         *work = sr_pool_alloc(w->pool, (size_t)code->work * sizeof *work),
         *p = sr_pool_alloc(w->pool, ((size_t)w->out->n + 1) * sizeof *p);
  const double* input[SR_VAR_KINDS + 1] = {[SR_VAR_KINDS] = p};
  const char *name = w->out->name[kept], *what = NULL, *where = "";
  numbers_of_model(m, now);
  srModel* other = model_near(w, kept, p);
  if (other == NULL) {
    what = "the model cannot be compiled for values near its own";
  } else if (other->nlink != m->nlink || other->nv != m->nv || other->nbody != m->nbody) {
    what = "the tree of joints depends on it";
  } else {
    numbers_of_model(other, then);
    sr_code_evaluate(code, input, work, formula);
    const int at = first_difference(w, formula, then);
    if (at >= ENTRIES * m->nlink + m->nv)
      what = "gravity depends on it in a way that is not known here";
    else if (at >= ENTRIES * m->nlink)
      what = "an armature depends on it in a way that is not known here";
    else if (at >= 0)
      what = sr_pool_printf(w->pool, "%s of", what_is(at % ENTRIES)), where = m->body_name[m->link_body[at / ENTRIES]];
    if (what == NULL && w->elements) what = w->fault[kept];
    if (what == NULL && w->elements && !same_couplings(m->elimination, other->elimination))
      what = "the ratio or offset of a coupling depends on it, which stays a number";
    if (what == NULL && first_difference(w, now, then) < 0 && !(w->elements && w->enters[kept])) {
      sr_model_destroy(other);
      if (tell)
        sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0},
                        "the parameter '%s' does not enter the equations that are generated", name);
      return NOTHING;
    }
  }
  sr_model_destroy(other);
  if (what == NULL) return FINE;
  sr_messages_add(w->messages, tell ? SR_SEVERITY_ERROR : SR_SEVERITY_NOTE, (srPlace){0},
                  *where ? "the parameter '%s' cannot be an argument: %s '%s' depends on it, which stays a number"
                         : "the parameter '%s' cannot be an argument: %s%s",
                  name, what, where);
  return REFUSED;
}

// Numbers that stay are those of the tree, snapped.
static void settle(Work* w, const srSymTree* tree) {
  srSymSymbols* s = w->out;
  for (int i = 1; i < tree->n; i++) {
    const srSymLink* l = &tree->link[i];
    if (!depends(w, s->mass[i])) s->mass[i] = srx_number(w->g, l->mass);
    for (int k = 0; k < 3; k++) {
      if (!depends(w, s->p[i].x[k])) s->p[i].x[k] = srx_number(w->g, l->p[k]);
      if (!depends(w, s->h[i].x[k])) s->h[i].x[k] = srx_number(w->g, l->h[k]);
    }
    for (int k = 0; k < 9; k++) {
      if (!depends(w, s->J[i].x[k])) s->J[i].x[k] = srx_number(w->g, l->J[k]);
    }
  }
}

// ---- which ---------------------------------------------------------------------------------------------------------------

static bool choose(Work* w, const char* names) {
  const int n = srs_count(w->spec, SR_ELEMENT_PARAMETER);
  const char** words = sr_pool_alloc(w->pool, ((size_t)n + 1) * sizeof *words);
  w->keep = sr_pool_alloc(w->pool, ((size_t)n + 1) * sizeof *w->keep);
  for (int i = 0; i < n; i++) words[i] = parameter_name(w, i);
  for (const char* c = names; *c != 0; c += strcspn(c, ","), c += *c == ',') {
    const char* name = sr_pool_text_n(w->pool, c, strcspn(c, ","));
    bool known = false;
    for (int i = 0; i < n; i++) {
      const bool same = words[i] != NULL && strcmp(name, words[i]) == 0;
      known = known || same, w->keep[i] = w->keep[i] || same;
    }
    if (known) continue;
    const char* meant = n > 0 ? sr_nearest_word(name, words, n) : NULL;
    sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0}, "the model has no parameter '%s'%s%s%s", name,
                    meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    return false;
  }
  return true;
}

// Judges all that are kept; `all`: those that cannot stay are dropped, else they are errors.
static bool examine(Work* w, bool all, bool* changed) {
  const srCode* code = code_of_symbols(w);
  const int n = srs_count(w->spec, SR_ELEMENT_PARAMETER);
  bool good = true, *dropped = sr_pool_alloc(w->pool, ((size_t)n + 1) * sizeof *dropped);
  int kept = 0;
  *changed = false;
  for (int i = 0; i < n; i++) {
    if (!w->keep[i]) continue;
    if (judge(w, code, kept++, !all) == FINE) continue;
    good = all, dropped[i] = *changed = true;
  }
  for (int i = 0; i < n; i++) w->keep[i] = w->keep[i] && !dropped[i];
  return good;
}

srSymSymbols* sr_sym_symbols(const srSymTree* tree, const srSpec* spec, const char* names, bool elements,
                             srMessages* messages) {
  srPool* pool = tree->pool;
  Work w = {.pool = pool,
            .spec = spec,
            .m = tree->m,
            .messages = messages,
            .ignored = sr_messages_create(),
            .elements = elements};
  const bool all = strcmp(names, "all") == 0;
  bool changed = false, good = w.ignored != NULL;
  if (good && all) {
    const int n = srs_count(spec, SR_ELEMENT_PARAMETER);
    w.keep = sr_pool_alloc(pool, ((size_t)n + 1) * sizeof *w.keep);
    for (int i = 0; i < n; i++) w.keep[i] = true;
  } else if (good) {
    good = choose(&w, names);
  }
  do {  // what is dropped is a formula of others again, which may turn frames by it
    if (good) put_all(&w);
    if (good && elements) put_elements(&w);
    if (good) good = examine(&w, all, &changed);
  } while (good && changed);
  if (good && w.out->n == 0) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "the model has no parameter that can be an argument");
    good = false;
  }
  if (good) settle(&w, tree);
  sr_messages_destroy(w.ignored);
  return good ? w.out : NULL;
}

// ---- on graphs ------------------------------------------------------------------------------------------------------------

srNode* sr_sym_bring(srGraph* g, srPool* pool, const srSymSymbols* s) {
  srNode* map = sr_pool_alloc(pool, ((size_t)s->g->n + 1) * sizeof *map);
  for (int i = 0; i < s->n; i++) (void)sr_graph_param(g, s->name[i], s->value[i]);
  for (int i = 0; i < s->g->n; i++) {
    const srGraphNode* x = &s->g->nodes[i];
    srNode child[3] = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE};
    for (int k = 0; k < sr_op_arity(x->op); k++) child[k] = map[x->child[k]];
    if (x->op == SR_OP_CONST)
      map[i] = sr_graph_const(g, x->value);
    else if (x->op == SR_OP_PARAM)
      map[i] = sr_graph_param(g, s->name[x->index], s->value[x->index]);
    else
      map[i] = sr_graph_op(g, x->op, child[0], child[1], child[2]);
  }
  return map;
}

static void add_to(const srSymTree* tree, int parent, int i, srNode mass, srVec h, srMat J) {
  srSymSymbols* s = tree->symbols;
  srGraph* g = s->g;
  const double* Q = tree->link[i].Q;
  const srVec p = s->p[i], Qh = turned(g, Q, h), half = srx_times(g, srx_mul(g, srx_number(g, 0.5), mass), p);
  s->J[parent] = srx_mat_plus(g, s->J[parent], moved(g, turned_tensor(g, Q, J), p, srx_plus(g, Qh, half)));
  s->h[parent] = srx_plus(g, s->h[parent], srx_plus(g, Qh, srx_times(g, mass, p)));
  s->mass[parent] = srx_add(g, s->mass[parent], mass);
}

static void* copy_of(srPool* pool, const void* x, size_t bytes) {
  void* out = sr_pool_alloc(pool, bytes);
  memcpy(out, x, bytes);
  return out;
}

void sr_sym_regroup_symbols(srSymTree* tree) {
  const size_t n = (size_t)tree->n;
  srSymSymbols* s = copy_of(tree->pool, tree->symbols, sizeof *s);
  s->mass = copy_of(tree->pool, s->mass, n * sizeof *s->mass), s->h = copy_of(tree->pool, s->h, n * sizeof *s->h);
  s->J = copy_of(tree->pool, s->J, n * sizeof *s->J);
  tree->symbols = s;
  srGraph* g = s->g;
  const srNode zero = srx_number(g, 0);
  const srVec none = srx_zero(g);
  const srMat empty = {{zero, zero, zero, zero, zero, zero, zero, zero, zero}};
  for (int i = tree->n - 1; i > 0; i--) {
    const srSymLink* l = &tree->link[i];
    const srNode Jyy = s->J[i].x[4];
    if (l->type == SR_LINK_REVOLUTE) {
      const srMat J = {{Jyy, zero, zero, zero, Jyy, zero, zero, zero, zero}};
      if (l->parent > 0) add_to(tree, l->parent, i, s->mass[i], (srVec){{zero, zero, s->h[i].x[2]}}, J);
      s->mass[i] = s->h[i].x[2] = s->J[i].x[4] = zero;
      s->J[i].x[0] = srx_sub(g, s->J[i].x[0], Jyy);
    } else if (l->type == SR_LINK_PRISMATIC) {
      if (l->parent > 0) add_to(tree, l->parent, i, zero, none, s->J[i]);
      s->J[i] = empty;
    } else if (l->type == SR_LINK_BALL) {
      if (l->parent > 0) add_to(tree, l->parent, i, s->mass[i], none, empty);
      s->mass[i] = zero;
    }
  }
}
