// The files of `gen --project`: project.h has what depends on the model and is written anew every time; main.c, user.h, user.c and the Makefile are the user's from then on.
//
// The program is the classical Runge-Kutta method on `rates` of a tree. With constraint equations the independent coordinates are integrated, and in every evaluation the others follow from them: h(q) = 0 by Newton's method, J v + b = 0 (ROBOTRAN manual,
// section 3.3; Wehage and Haug 1982), accelerations by `accelred`.
#include "symbolic/project.h"

#include <math.h>
#include <sarrus/model.h>
#include <string.h>

#include "model/private.h"
#include "symbolic/reduced.h"
#include "symbolic/rows.h"

static bool is_closed(const srModel* m) { return m->ng > 0 || m->constrained; }

static int sensors_of(const srModel* m) {
  int n = 0;
  for (int i = 0; i < m->nsensor; i++) n += m->sensor[i].point >= 0;
  return n;
}

const char* sr_project_functions(const srModel* m, const char** why) {
  const bool sensors = sensors_of(m) > 0;
  *why = m->nv == 0             ? "nothing in it moves"
         : m->absolute          ? "it has absolute coordinates: take relative ones"
         : m->np < m->ng        ? "it has velocity equations, such as rolling, which leave positions free"
         : m->nmassless > 0     ? "it has joints that move no mass"
         : m->nevent > 0        ? "it has events: they are not part of generated code"
         : m->priv->nswitch > 0 ? "it has laws that jump: a run locates the jumps, a fixed step does not"
                                : NULL;
  if (*why != NULL) return NULL;
  if (is_closed(m)) return sensors ? "force,accelred,cons_hJ,qdot,sensor" : "force,accelred,cons_hJ,qdot";
  return sensors ? "rates,qdot,sensor" : "rates,qdot";
}

static const char main_text[] =
    "// Steps the model with the classical Runge-Kutta method and prints t, q, v as CSV. Arguments: end, step, "
    "interval of the rows, in seconds.\n"
    "// This file is yours: `sarrus gen --project` does not write it again. What depends on the model is in "
    "project.h.\n"
    "#include <math.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "\n"
    "#include \"project.h\"\n"
    "#include \"user.h\"\n"
    "\n"
    "typedef struct State {  // numbers alone\n"
    "  double q[NQ], v[NV], y[NY + 1], u[N_USER_STATES + 1];\n"
    "} State;\n"
    "enum { NUMBERS = sizeof(State) / sizeof(double) };\n"
    "\n"
    "static void normalise(double* q) {\n"
    "  for (int i = 0; i < NQUATERNION; i++) {\n"
    "    double *x = q + quaternion[i], size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);\n"
    "    for (int k = 0; k < 4; k++) x[k] /= size;\n"
    "  }\n"
    "}\n"
    "\n"
    "#if NSOLVED > 0\n"
    "// A x = b by Gauss with the largest pivot of each column; A by rows, b becomes x.\n"
    "static void solve(int n, double* A, double* b) {\n"
    "  for (int k = 0; k < n; k++) {\n"
    "    int best = k;\n"
    "    for (int i = k + 1; i < n; i++) best = fabs(A[i * n + k]) > fabs(A[best * n + k]) ? i : best;\n"
    "    for (int j = 0; j < n; j++) {\n"
    "      const double other = A[k * n + j];\n"
    "      A[k * n + j] = A[best * n + j], A[best * n + j] = other;\n"
    "    }\n"
    "    const double other = b[k];\n"
    "    b[k] = b[best], b[best] = other;\n"
    "    for (int i = k + 1; i < n; i++) {\n"
    "      const double factor = A[i * n + k] / A[k * n + k];\n"
    "      for (int j = k; j < n; j++) A[i * n + j] -= factor * A[k * n + j];\n"
    "      b[i] -= factor * b[k];\n"
    "    }\n"
    "  }\n"
    "  for (int k = n - 1; k >= 0; k--) {\n"
    "    for (int j = k + 1; j < n; j++) b[k] -= A[k * n + j] * b[j];\n"
    "    b[k] /= A[k * n + k];\n"
    "  }\n"
    "}\n"
    "\n"
    "// Dependent and driven positions and velocities from the independent ones.\n"
    "static void close_loops(double t, State* x) {\n"
    "  double h[NROW], J[NROW * NV], b[NROW], A[NSOLVED * NSOLVED], r[NSOLVED], motion[NMOTION + 1] = {0};\n"
    "  user_DrivenJoints(t, motion);\n"
    "  double largest = 1;\n"
    "  for (int k = 0; k < 30 && largest > 1e-13; k++) {\n"
    "    double dv[NV] = {0}, dq[NQ];\n"
    "    model_constraints(t, x->q, motion, h, J, b);\n"
    "    for (int i = 0; i < NSOLVED; i++) {\n"
    "      r[i] = -h[row[i]];\n"
    "      for (int j = 0; j < NSOLVED; j++) A[i * NSOLVED + j] = J[row[i] * NV + solved[j]];\n"
    "    }\n"
    "    solve(NSOLVED, A, r);\n"
    "    largest = 0;\n"
    "    for (int i = 0; i < NSOLVED; i++) dv[solved[i]] = r[i], largest = fmax(largest, fabs(r[i]));\n"
    "    model_qdot(x->q, dv, dq);\n"
    "    for (int i = 0; i < NQ; i++) x->q[i] += dq[i];\n"
    "    normalise(x->q);\n"
    "  }\n"
    "  model_constraints(t, x->q, motion, h, J, b);\n"
    "  for (int i = 0; i < NSOLVED; i++) x->v[solved[i]] = 0;\n"
    "  for (int i = 0; i < NSOLVED; i++) {\n"
    "    r[i] = -b[row[i]];\n"
    "    for (int j = 0; j < NV; j++) r[i] -= J[row[i] * NV + j] * x->v[j];\n"
    "    for (int j = 0; j < NSOLVED; j++) A[i * NSOLVED + j] = J[row[i] * NV + solved[j]];\n"
    "  }\n"
    "  solve(NSOLVED, A, r);\n"
    "  for (int i = 0; i < NSOLVED; i++) x->v[solved[i]] = r[i];\n"
    "}\n"
    "#else\n"
    "static void close_loops(double t, State* x) { (void)t, (void)x; }\n"
    "#endif\n"
    "\n";

static const char main_steps[] =
    "static void evaluate(double t, double stage, State* x, State* rate) {\n"
    "  double tau[NV] = {0}, motion[NMOTION + 1] = {0};\n"
    "  close_loops(t, x);\n"
    "  user_JointForces(t, x->q, x->v, x->y, x->u, tau);\n"
    "#if NSENSOR > 0\n"
    "  double p[3 * NSENSOR], R[9 * NSENSOR], v[3 * NSENSOR], w[3 * NSENSOR], J[6 * NSENSOR * NV];\n"
    "  model_sensors(x->q, x->v, p, R, v, w, J);\n"
    "  for (int i = 0; i < NSENSOR; i++) {\n"
    "    double f[6] = {0};\n"
    "    user_ExtForces(t, i, p + 3 * i, R + 9 * i, v + 3 * i, w + 3 * i, x->u, f, f + 3);\n"
    "    for (int k = 0; k < 6; k++)\n"
    "      for (int j = 0; j < NV; j++) tau[j] += J[(6 * i + k) * NV + j] * f[k];\n"
    "  }\n"
    "#endif\n"
    "  user_DrivenJoints(t, motion);\n"
    "  model_rates(t, x->q, x->v, x->y, tau, stage, motion, rate->v, rate->y);\n"
    "  model_qdot(x->q, x->v, rate->q);\n"
    "  user_Derivative(t, x->q, x->v, x->y, x->u, rate->u);\n"
    "}\n"
    "\n"
    "static void step(double t, double h, State* x) {\n"
    "  static const double ahead[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1}, length[] = {0.5, 0.5, 1, 1};\n"
    "  State at, slope, sum;\n"
    "  memset(&slope, 0, sizeof slope), memset(&sum, 0, sizeof sum);\n"
    "  for (int r = 0; r < 4; r++) {\n"
    "    for (int i = 0; i < NUMBERS; i++) ((double*)&at)[i] = ((double*)x)[i] + ahead[r] * h * ((double*)&slope)[i];\n"
    "    evaluate(t + ahead[r] * h, length[r] * h, &at, &slope);\n"
    "    for (int i = 0; i < NUMBERS; i++) ((double*)&sum)[i] += weight[r] * ((double*)&slope)[i];\n"
    "  }\n"
    "  for (int i = 0; i < NUMBERS; i++) ((double*)x)[i] += h / 6 * ((double*)&sum)[i];\n"
    "  normalise(x->q);\n"
    "  close_loops(t + h, x);\n"
    "}\n"
    "\n"
    "static void print(double t, const State* x) {\n"
    "  printf(\"%.17g\", t);\n"
    "  for (int i = 0; i < NQ; i++) printf(\",%.17g\", x->q[i]);\n"
    "  for (int i = 0; i < NV; i++) printf(\",%.17g\", x->v[i]);\n"
    "  printf(\"\\n\");\n"
    "}\n"
    "\n"
    "int main(int argc, char** argv) {\n"
    "  const double end = argc > 1 ? atof(argv[1]) : T_END, h = argc > 2 ? atof(argv[2]) : STEP;\n"
    "  const double every = argc > 3 ? atof(argv[3]) : EVERY;\n"
    "  if (!(end >= 0 && h > 0 && every > 0)) return fprintf(stderr, \"end, step and interval must be positive\\n\"), "
    "2;\n"
    "  const long steps = lround(end / h), rows = lround(every / h) > 0 ? lround(every / h) : 1;\n"
    "  State x;\n"
    "  memset(&x, 0, sizeof x);\n"
    "  memcpy(x.q, start_q, sizeof x.q), memcpy(x.v, start_v, sizeof x.v), memcpy(x.y, start_y, NY * sizeof *x.y);\n"
    "  user_Start(x.q, x.v, x.y, x.u);\n"
    "  close_loops(0, &x);\n"
    "  printf(\"%s\\n\", columns);\n"
    "  for (long k = 0; k <= steps; k++) {\n"
    "    if (k % rows == 0 || k == steps) print((double)k * h, &x);\n"
    "    if (k < steps) step((double)k * h, h, &x);\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

static const char user_header[] =
    "// What you add to the model. This file is yours: `sarrus gen --project` does not write it again.\n"
    "#ifndef USER_H\n"
    "#define USER_H\n"
    "\n"
    "enum { N_USER_STATES = 0 };  // states u of your own, with the rates of user_Derivative\n"
    "\n"
    "// The start, which the model has filled in already; u is 0.\n"
    "void user_Start(double* q, double* v, double* y, double* u);\n"
    "// Adds forces on the coordinates to tau, beside those of the model.\n"
    "void user_JointForces(double t, const double* q, const double* v, const double* y, const double* u, double* "
    "tau);\n"
    "// Force and moment at the origin of a frame sensor of the model, in the axes that it is measured in: on its "
    "body, and the opposite on what it is relative to.\n"
    "// p, R (by rows), v, w: what the sensor measures.\n"
    "void user_ExtForces(double t, int sensor, const double* p, const double* R, const double* v, const double* w, "
    "const double* u, double* force, double* moment);\n"
    "// Value, rate and second derivative of each driver whose motion the generated code does not have (NMOTION > 0).\n"
    "void user_DrivenJoints(double t, double* motion);\n"
    "// Rates of the states u.\n"
    "void user_Derivative(double t, const double* q, const double* v, const double* y, const double* u, double* du);\n"
    "\n"
    "#endif\n";

static const char user_text[] =
    "// What you add to the model: fill in what you need. This file is yours: `sarrus gen --project` does not write it "
    "again.\n"
    "// Coordinates are those at the head of project.h.\n"
    "#include \"user.h\"\n"
    "\n"
    "#include \"project.h\"\n"
    "\n"
    "void user_Start(double* q, double* v, double* y, double* u) {\n"
    "  (void)q, (void)v, (void)y, (void)u;\n"
    "}\n"
    "\n"
    "void user_JointForces(double t, const double* q, const double* v, const double* y, const double* u, double* tau) "
    "{\n"
    "  (void)t, (void)q, (void)v, (void)y, (void)u, (void)tau;  // such as tau[0] -= 2.0 * v[0];\n"
    "}\n"
    "\n"
    "void user_ExtForces(double t, int sensor, const double* p, const double* R, const double* v, const double* w, "
    "const double* u, double* force, double* moment) {\n"
    "  (void)t, (void)sensor, (void)p, (void)R, (void)v, (void)w, (void)u, (void)force, (void)moment;\n"
    "}\n"
    "\n"
    "void user_DrivenJoints(double t, double* motion) {\n"
    "  (void)t;\n"
    "  for (int i = 0; i < NMOTION; i++) motion[i] = start_motion[i];\n"
    "}\n"
    "\n"
    "void user_Derivative(double t, const double* q, const double* v, const double* y, const double* u, double* du) {\n"
    "  (void)t, (void)q, (void)v, (void)y, (void)u, (void)du;\n"
    "}\n";

static const char make_text[] =
    "# `make run` compiles and runs the model. This file is yours: `sarrus gen --project` does not write it again.\n"
    "CFLAGS ?= -O2\n"
    "%s: main.c user.c user.h project.h %s.c %s.h\n"
    "\t$(CC) -std=gnu99 -Wall -Wextra $(CFLAGS) -o $@ main.c user.c %s.c -lm\n\n"
    ".PHONY: run clean\n"
    "run: %s\n"
    "\t./%s > %s.csv\n\n"
    "clean:\n"
    "\trm -f %s %s.csv\n";

// ---- project.h ----------------------------------------------------------------------------------------------------------

static void numbers(srText* to, const char* name, const double* x, int n) {
  char text[SR_NUMBER_TEXT];
  sr_text_print(to, "static const double %s[] = {", name);
  for (int i = 0; i < (n > 0 ? n : 1); i++) {
    sr_number_text(n > 0 ? x[i] : 0, text, sizeof text);
    sr_text_print(to, "%s%s", i > 0 ? ", " : "", text);
  }
  sr_text_print(to, "};\n");
}

static void integers(srText* to, const char* name, const int* x, int n, const int* more, int nmore) {
  sr_text_print(to, "static const int %s[] = {", name);
  for (int i = 0; i < n + nmore; i++) sr_text_print(to, "%s%d", i > 0 ? ", " : "", i < n ? x[i] : more[i - n]);
  sr_text_print(to, n + nmore == 0 ? "0};\n" : "};\n");
}

static void calls(const srEmitUnit* unit, const srModel* m, bool motion, srText* to) {
  const char* n = unit->model;
  sr_text_print(
      to,
      "\nstatic inline void model_qdot(const double* q, const double* v, double* qdot) { %s_qdot(q, v, qdot); "
      "}\n\n"
      "static inline void model_rates(double t, const double* q, const double* v, const double* y, double* tau, "
      "double stage, const double* motion, double* a, double* ydot) {\n  (void)motion;\n",
      n);
  if (is_closed(m)) {
    sr_text_print(to,
                  "  double f[NV];\n  %s_force(&t, q, v, y, &stage, f, ydot);\n"
                  "  for (int i = 0; i < NV; i++) tau[i] += f[i];\n  %s_accelred(&t, q, v, tau, %sa);\n}\n",
                  n, n, motion ? "motion, " : "");
    sr_text_print(to,
                  "\nstatic inline void model_constraints(double t, const double* q, const double* motion, double* h, "
                  "double* J, double* b) {\n  (void)motion;\n  %s_cons_hJ(&t, q, %sh, J, b);\n}\n",
                  n, motion ? "motion, " : "");
  } else {
    sr_text_print(to, "  %s_rates(&t, q, v, y, tau, &stage, a, ydot);\n}\n", n);
  }
  if (sensors_of(m) > 0)
    sr_text_print(
        to,
        "\nstatic inline void model_sensors(const double* q, const double* v, double* p, double* R, double* u, "
        "double* w, double* J) {\n  double none[NV] = {0}, a[3 * NSENSOR], wd[3 * NSENSOR];\n"
        "  %s_sensor(q, v, none, p, R, u, w, J, a, wd);\n}\n",
        n);
}

static const char* quoted(srPool* pool, const char* name) {
  char* out = sr_pool_printf(pool, "%s", name);
  for (char* c = out; *c != 0; c++) {
    if (*c == '"' || *c == '\\' || *c == ',' || *c == '%' || (unsigned char)*c < 32) *c = '_';
  }
  return out;
}

static void header(srPool* pool, const srEmitUnit* unit, const srSymContext* context, const srData* d, srText* to) {
  const srModel* m = context->m;
  const srSymPartition* p = context->partition;
  const srRunSettings* run = sr_run_settings(m);
  const bool motion = sr_sym_motion_given(m);
  const int solved = p ? p->ndependent + p->ndriven : 0, nmotion = motion ? 3 * m->ndriver : 0;
  double* hold = sr_pool_alloc(pool, ((size_t)nmotion + 1) * sizeof *hold);
  for (int i = 0; i < nmotion / 3; i++) hold[3 * i] = d->q[m->driver[i].qdof];
  sr_text_print(to, "// %s as a program, generated by %s: written anew every time.\n", unit->title, unit->source);
  for (int i = 0; i < unit->nlegend; i++) {
    const srEmitEntry* e = &unit->legend[i];
    sr_text_print(to, "// %c[%d]  %s, %s\n", e->array, e->index, e->name, e->unit);
  }
  for (int i = 0, k = 0; i < m->nsensor; i++) {
    if (m->sensor[i].point >= 0) sr_text_print(to, "// sensor %d  %s\n", k++, sr_sym_comment(pool, m->sensor[i].name));
  }
  sr_text_print(to, "#ifndef PROJECT_H\n#define PROJECT_H\n\n#include \"%s.h\"\n\n", unit->model);
  sr_text_print(to,
                "#define NQ %d  // positions\n#define NV %d  // velocities\n#define NY %d  // states of the model\n"
                "#define NROW %d  // constraint equations\n#define NSOLVED %d  // coordinates that follow from them\n"
                "#define NQUATERNION %d\n#define NSENSOR %d  // sensors of frames\n#define NMOTION %d\n",
                m->nq, m->nv, m->ny, m->ng, solved, unit->nquaternion, sensors_of(m), nmotion);
  sr_text_print(to, "#define T_END %.17g  // s\n#define STEP %.17g\n#define EVERY %.17g  // of the rows\n\n",
                run->t_end, run->step, run->every > 0 ? run->every : run->t_end / 1000);
  numbers(to, "start_q", d->q, m->nq);
  numbers(to, "start_v", d->v, m->nv);
  numbers(to, "start_y", d->y, m->ny);
  numbers(to, "start_motion", hold, nmotion);
  integers(to, "quaternion", unit->quaternion, unit->nquaternion, NULL, 0);
  integers(to, "solved", p ? p->dependent : NULL, p ? p->ndependent : 0, p ? p->driven : NULL, p ? p->ndriven : 0);
  integers(to, "row", p ? p->row : NULL, p ? p->ndependent : 0, p ? p->driver : NULL, p ? p->ndriven : 0);
  sr_text_print(to, "static const char columns[] = \"t");
  for (int i = 0; i < m->nq; i++) sr_text_print(to, ",q.%s", quoted(pool, m->q_name[i]));
  for (int i = 0; i < m->nv; i++) sr_text_print(to, ",v.%s", quoted(pool, m->v_name[i]));
  sr_text_print(to, "\";\n");
  calls(unit, m, motion, to);
  sr_text_print(to, "\n#endif\n");
}

static void add(srEmitFile* to, int* n, const char* name, bool once, const char* text) {
  to[*n].name = name, to[*n].once = once;
  if (text) sr_text_print(&to[*n].text, "%s", text);
  (*n)++;
}

int sr_project_write(srPool* pool, const srEmitUnit* unit, const srSymContext* context, const srData* d, srEmitFile* to,
                     int n) {
  const char* m = unit->model;
  header(pool, unit, context, d, &to[n].text);
  add(to, &n, "project.h", false, NULL);
  sr_text_print(&to[n].text, "%s%s", main_text, main_steps);
  add(to, &n, "main.c", true, NULL);
  add(to, &n, "user.h", true, user_header);
  add(to, &n, "user.c", true, user_text);
  sr_text_print(&to[n].text, make_text, m, m, m, m, m, m, m, m, m);
  add(to, &n, "Makefile", true, NULL);
  return n;
}
