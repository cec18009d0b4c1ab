// Parametric surfaces of a model: x(u, v) by formulas on the expression graph, with exact first and second derivatives.
//
// A parameter is periodic where x and its derivatives agree at the two ends of its range. Poles, folds and places without a normal: collide/smooth.h.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "math/vector3.h"
#include "model/compile.h"
#include "model/spec.h"

#define WORK 4096    // numbers of a program, on the stack while it is evaluated
#define CLOSES 1e-9  // of the size: ends nearer than this are one
#define SAMPLES 7

typedef struct Surface {
  const srProgram* program;  // x, x_u, x_v, x_uu, x_uv, x_vv: three each
  srSmooth smooth;
} Surface;

static void evaluate(const void* self, const double at[2], srSmoothPoint* out) {
  const Surface* s = self;
  double work[WORK], value[18];
  sr_program_evaluate(s->program, &(srInputs){.arg = at}, work, value);
  memcpy(out->x, value, sizeof out->x);
  memcpy(out->first, value + 3, sizeof out->first);
  memcpy(out->second, value + 9, sizeof out->second);
}

static bool read_formulas(srCompiler* c, int i, Surface* out) {
  const int field[3] = {SR_FIELD(srShapeDef, x), SR_FIELD(srShapeDef, y), SR_FIELD(srShapeDef, z)};
  const srNode u = sr_graph_var(c->graph, SR_VAR_ARG, 0), v = sr_graph_var(c->graph, SR_VAR_ARG, 1);
  srNode root[18];
  bool good = true;
  for (int k = 0; k < 3; k++) {
    root[k] = sr_c_surface_law(c, i, field[k]);
    if (root[k] == SR_NO_NODE) {
      good = false;
      continue;
    }
    root[3 + k] = sr_graph_derive(c->graph, root[k], u);
    root[6 + k] = sr_graph_derive(c->graph, root[k], v);
    root[9 + k] = sr_graph_derive(c->graph, root[3 + k], u);
    root[12 + k] = sr_graph_derive(c->graph, root[3 + k], v);
    root[15 + k] = sr_graph_derive(c->graph, root[6 + k], v);
  }
  if (!good) return false;
  out->program = sr_program_create(c->pool, c->graph, root, 18);
  if (sr_program_work(out->program) <= WORK) return true;
  sr_c_error(
      c, srs_place(c->spec, SR_ELEMENT_SHAPE, i),
      "the formulas of this surface are too long: with their derivatives they have %d operations, at most %d fit",
      sr_program_work(out->program), WORK);
  return false;
}

static bool read_range(srCompiler* c, int i, int field, srSmooth* out, int k) {
  const char* word = srs_element(SR_ELEMENT_SHAPE)->fields[field].word;
  double range[2];
  const int n = sr_c_numbers(c, SR_ELEMENT_SHAPE, i, field, range, 2);
  if (n == 0) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_SHAPE, i), "a surface needs the range of %s: %s=\"FROM TO\"", word,
               word);
  }
  if (n != 2) return false;
  out->low[k] = range[0];
  out->high[k] = range[1];
  if (range[1] > range[0]) return true;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_SHAPE, i, field),
             "the range of %s is empty: %g to %g; write the smaller one first", word, range[0], range[1]);
  return false;
}

static double apart(const double* a, const double* b) {
  double most = 0;
  for (int k = 0; k < 18; k++) most = fmax(most, fabs(a[k] - b[k]) / (1 + fabs(a[k])));
  return most;
}

static bool is_periodic(const srSmooth* s, int k) {
  for (int i = 0; i < SAMPLES; i++) {
    double low[2], high[2];
    srSmoothPoint a, b;
    low[k] = s->low[k];
    high[k] = s->high[k];
    low[1 - k] = high[1 - k] = s->low[1 - k] + (i + 0.5) / SAMPLES * (s->high[1 - k] - s->low[1 - k]);
    s->at(s->self, low, &a);
    s->at(s->self, high, &b);
    if (!(apart((const double*)&a, (const double*)&b) <= CLOSES)) return false;
  }
  return true;
}

bool sr_c_smooth_surface(srCompiler* c, int i, srCollisionShape* out) {
  Surface* s = sr_pool_alloc(c->pool, sizeof *s);
  srSmooth* smooth = &s->smooth;
  const char* normal = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, normal));
  bool good = read_formulas(c, i, s);
  good &= read_range(c, i, SR_FIELD(srShapeDef, u), smooth, 0);
  good &= read_range(c, i, SR_FIELD(srShapeDef, v), smooth, 1);
  if (!good) return false;
  smooth->at = evaluate;
  smooth->self = s;
  smooth->inward = normal && strcmp(normal, "inward") == 0;
  for (int k = 0; k < 2; k++) smooth->periodic[k] = is_periodic(smooth, k);
  double place[2];
  const srSmoothFault fault = sr_smooth_prepare(smooth, place);
  if (fault != SR_SMOOTH_GOOD) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_SHAPE, i),
               "this surface %s, at u = %.6g, v = %.6g; take ranges of u and v without that place, or other parameters",
               sr_smooth_fault_texts[fault], place[0], place[1]);
    return false;
  }
  out->convex.kind = SR_KIND_SMOOTH;
  out->smooth = sr_smooth_tree_create(c->pool, smooth);
  out->size = smooth->size;
  out->reach = smooth->size + srm_norm3(smooth->centre);
  return true;
}
