// Derivatives of force laws in the space of their own port.
//
//   built-in laws         exactly, from their definition on the expression graph
//   formulas              0: they depend on the whole state, and are differentiated with it
//   friction, contact     src/contact
//   any other law (plugins, C code)   differences of the fourth order, at most 2 x 6 + k directions
#include <math.h>
#include <string.h>

#include "force/derivative.h"
#include "force/laws.h"
#include "force/ports.h"
#include "math/pose.h"

enum { MOST = 12 };

// ---- rotation vectors ---------------------------------------------------------------------------------------------------

static void cross_matrix(const double* a, double* A) {
  const double rows[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  memcpy(A, rows, sizeof rows);
}

void sr_rotation_jacobian(const double* theta, double* A) {
  double T[9];
  cross_matrix(theta, T);
  const double c = sr_rotation_factor(srm_dot3(theta, theta));
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double twice = 0;
      for (int k = 0; k < 3; k++) twice += T[3 * i + k] * T[3 * k + j];
      A[3 * i + j] = (i == j) - 0.5 * T[3 * i + j] + c * twice;
    }
  }
}

// ---- on the graph -------------------------------------------------------------------------------------------------------

typedef struct Row {
  const srImpedance* law;
  void (*define)(srImpedanceGraph* x);
} Row;

static const Row definitions[] = {
#define LAW_ROW(law) {&sr_law_##law, sr_law_##law##_graph},
#define FORMULA_ROW(law)
    SR_LAW_LIST(LAW_ROW, FORMULA_ROW)
#undef LAW_ROW
#undef FORMULA_ROW
};

bool sr_law_graph(const srImpedance* law, srGraph* g, srImpedanceGraph* x) {
  const int n = sr_port_width(law->port);
  *x = (srImpedanceGraph){.g = g};
  for (int i = 0; i < n; i++) {
    x->x[i] = sr_graph_var(g, SR_VAR_Q, i);
    x->xdot[i] = sr_graph_var(g, SR_VAR_V, i);
  }
  SR_ASSERT(law->ny <= SR_LAW_STATES);
  for (int i = 0; i < law->ny; i++) x->y[i] = sr_graph_var(g, SR_VAR_STATE, i);
  for (int i = 0; i < law->np && i < SR_COUNT(x->p); i++) x->p[i] = sr_graph_var(g, SR_VAR_ARG, i);
  for (int i = 0; i < SR_COUNT(definitions); i++) {
    if (definitions[i].law != law) continue;
    definitions[i].define(x);
    return true;
  }
  return false;
}

const srProgram* sr_law_derivative(srPool* pool, const srImpedance* law) {
  srImpedanceGraph x;
  srGraph* g = sr_graph_create(pool);
  if (!sr_law_graph(law, g, &x)) return NULL;
  const int n = sr_port_width(law->port), k = law->ny, columns = 2 * n + k;
  srNode by[(6 + SR_LAW_STATES) * (MOST + SR_LAW_STATES)];
  for (int r = 0; r < n + k; r++) {
    const srNode row = r < n ? x.f[r] : x.ydot[r - n];
    for (int j = 0; j < columns; j++)
      by[columns * r + j] = sr_graph_derive(g, row, j < n ? x.x[j] : j < 2 * n ? x.xdot[j - n] : x.y[j - 2 * n]);
  }
  return sr_program_create(pool, g, by, (n + k) * columns);
}

// ---- differences --------------------------------------------------------------------------------------------------------

typedef struct Sample {
  int n, k;     // width, states
  double* in;   // x, x', y
  double* out;  // f, y'
} Sample;

static int evaluate(const srForceElement* element, const srImpedanceIn* in, const Sample* s) {
  srImpedanceIn moved = *in;
  moved.x = s->in;
  moved.xdot = s->in + s->n;
  moved.y = s->in + 2 * s->n;
  srImpedanceOut out = {.f = s->out, .ydot = s->out + s->n};
  memset(s->out, 0, (size_t)(s->n + s->k) * sizeof *s->out);
  return element->law->evaluate(&moved, &out);
}

static int difference(const srForceElement* element, const srImpedanceIn* in, const Sample* s, double* J) {
  static const double weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
  const int columns = 2 * s->n + s->k, rows = s->n + s->k;
  for (int j = 0; j < columns; j++) {
    const double x = s->in[j], h = 1e-4 * (fabs(x) + 1e-2);
    for (int i = 0; i < 4; i++) {
      s->in[j] = x + at[i] * h;
      const int answer = evaluate(element, in, s);
      if (answer != 0) return answer;
      for (int r = 0; r < rows; r++) J[r * columns + j] += weight[i] / h * s->out[r];
    }
    s->in[j] = x;
  }
  return 0;
}

int sr_law_jacobian_work(const srForceElement* element, const srProgram* derivative) {
  const int differences = 3 * MOST + 2 * element->ny, graph = derivative ? sr_program_work(derivative) : 0;
  return differences > graph ? differences : graph;
}

int sr_law_jacobian(const srForceElement* element, const srProgram* derivative, const srImpedanceIn* in, double* work,
                    double* J) {
  const Sample s = {sr_port_width(element->law->port), element->ny, work, work + 2 * MOST + element->ny};
  const int n = s.n, k = s.k;
  memset(J, 0, (size_t)((n + k) * (2 * n + k)) * sizeof *J);
  if (element->jacobian != NULL) return element->jacobian(in, J);
  if (element->formula >= 0) return 0;
  if (derivative != NULL) {
    sr_program_evaluate(derivative, &(srInputs){.q = in->x, .v = in->xdot, .state = in->y, .arg = in->p}, work, J);
    return 0;
  }
  memcpy(s.in, in->x, (size_t)n * sizeof *s.in);
  memcpy(s.in + n, in->xdot, (size_t)n * sizeof *s.in);
  if (k > 0) memcpy(s.in + 2 * n, in->y, (size_t)k * sizeof *s.in);
  return difference(element, in, &s, J);
}
