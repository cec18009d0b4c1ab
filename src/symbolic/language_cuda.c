// CUDA: device functions, kernels that evaluate them for many states at once, and one that steps many copies by the classical Runge-Kutta method. Arrays of kernels are structures of arrays: entry k of copy i is at k*n + i. Float by
// -DSR_FLOAT. Literals have the type of the numbers; sines and cosines are polynomials without branches, for angles below 1e4 (float) and 1e5 rad. Divisions and roots are those of the compiler.
#include <string.h>

#include "symbolic/emit.h"

static const char prologue[] =
    "#ifdef SR_FLOAT\n"
    "typedef float sr_real;\n"
    "#else\n"
    "typedef double sr_real;\n"
    "#endif\n"
    "#define R(x) ((sr_real)(x))\n"
    "#ifndef SR_BLOCKS  // resident blocks of 128 threads that registers are kept for\n"
    "#define SR_BLOCKS 2\n"
    "#endif\n\n"
    "// x = k pi/2 + r, polynomials of r (fdlibm), exchanged for odd k.\n"
    "static __device__ __forceinline__ void sr_sincos(sr_real x, sr_real* sine, sr_real* cosine) {\n"
    "#ifdef SR_FLOAT\n"
    "  const float k = rintf(x * 0.636619772f);\n"
    "  const int n = (int)k;\n"
    "  float r = fmaf(k, -1.57079637e+00f, x);\n"
    "  r = fmaf(k, 4.37113883e-08f, r);\n"
    "  const float z = r * r;\n"
    "  const float s = fmaf(z * r, fmaf(z, fmaf(z, fmaf(z, 2.71831149e-06f, -1.98393348e-04f), 8.33332939e-03f), "
    "-1.66666666e-01f), r);\n"
    "  const float c = fmaf(z, fmaf(z, fmaf(z, fmaf(z, 2.43904488e-05f, -1.38867638e-03f), 4.16666233e-02f), "
    "-4.99999997e-01f), 1.0f);\n"
    "#else\n"
    "  const double k = rint(x * 6.36619772367581382433e-01);\n"
    "  const int n = (int)k;\n"
    "  double r = fma(k, -1.57079632679489655800e+00, x);\n"
    "  r = fma(k, -6.12323399573676603587e-17, r);\n"
    "  const double z = r * r;\n"
    "  const double s = fma(z * r, fma(z, fma(z, fma(z, fma(z, fma(z, 1.58969099521155010221e-10, "
    "-2.50507602534068634195e-08), 2.75573137070700676789e-06), -1.98412698298579493134e-04), "
    "8.33333333332248946124e-03), -1.66666666666666324348e-01), r);\n"
    "  const double c = fma(z * z, fma(z, fma(z, fma(z, fma(z, fma(z, -1.13596475577881948265e-11, "
    "2.08757232129817482790e-09), -2.75573143513906633035e-07), 2.48015872894767294178e-05), "
    "-1.38888888888741095749e-03), 4.16666666666666019037e-02), fma(z, -0.5, 1.0));\n"
    "#endif\n"
    "  const sr_real a = n & 1 ? c : s, b = n & 1 ? s : c;\n"
    "  *sine = n & 2 ? -a : a;\n"
    "  *cosine = (n + 1) & 2 ? -b : b;\n"
    "}\n";

static const char* const calls[SR_OP_COUNT] = {
    [SR_OP_POW] = "pow(%s, %s)", [SR_OP_SIN] = "sin(%s)",   [SR_OP_COS] = "cos(%s)",         [SR_OP_TAN] = "tan(%s)",
    [SR_OP_ASIN] = "asin(%s)",   [SR_OP_ACOS] = "acos(%s)", [SR_OP_ATAN2] = "atan2(%s, %s)", [SR_OP_EXP] = "exp(%s)",
    [SR_OP_LOG] = "log(%s)",     [SR_OP_SQRT] = "sqrt(%s)", [SR_OP_ABS] = "fabs(%s)"};

static const srSyntax syntax = {.statement = "  const sr_real %s = ",
                                .end = ";\n",
                                .comment = "  // ",
                                .output = "  %s",
                                .constant = {"", ""},
                                .number = {"R(", ")"},
                                .open = "[",
                                .close = "]",
                                .call = calls};

static void arguments(const srEmitFunction* f, srText* out) {
  for (int k = 0; k < f->nin; k++) sr_text_print(out, "const sr_real* %s, ", f->in[k].name);
  for (int k = 0; k < f->nout; k++) sr_text_print(out, "%ssr_real* %s", k > 0 ? ", " : "", f->out[k].name);
}

static void device_function(srPool* pool, const srEmitUnit* unit, const srEmitFunction* f, srText* out) {
  int* list;
  const int n = sr_emit_angles(pool, f, &list);
  sr_text_print(out, "\n");
  sr_emit_about(f, "// ", out);
  sr_text_print(out, "static __device__ __forceinline__ void %s_%s(", unit->model, f->name);
  arguments(f, out);
  sr_text_print(out, ") {\n");
  if (n > 0) sr_text_print(out, "  sr_real sine[%d], cosine[%d];\n", n, n);
  for (int i = 0; i < n; i++) {
    sr_text_print(out, "  sr_sincos(");
    sr_emit_angle(pool, f, &syntax, list[i], out);
    sr_text_print(out, ", &sine[%d], &cosine[%d]);\n", i, i);
  }
  sr_emit_body(pool, f, &syntax, out);
  sr_text_print(out, "}\n");
}

static void copy(const srEmitArray* a, bool in, srText* out) {
  const int n = a->rows * a->columns;
  if (in)
    sr_text_print(out, "  sr_real %s_[%d];\n#pragma unroll\n  for (int k = 0; k < %d; k++) %s_[k] = %s[k * n + i];\n",
                  a->name, n, n, a->name, a->name);
  else
    sr_text_print(out, "#pragma unroll\n  for (int k = 0; k < %d; k++) %s[k * n + i] = %s_[k];\n", n, a->name, a->name);
}

static void kernel(const srEmitUnit* unit, const srEmitFunction* f, srText* out) {
  sr_text_print(out, "\n// %s of n states.\n__global__ void __launch_bounds__(128, SR_BLOCKS) %s_%s_kernel(int n, ",
                f->name, unit->model, f->name);
  arguments(f, out);
  sr_text_print(out, ") {\n  const int i = blockIdx.x * 128 + threadIdx.x;\n  if (i >= n) return;\n");
  for (int k = 0; k < f->nin; k++) copy(&f->in[k], true, out);
  for (int k = 0; k < f->nout; k++)
    sr_text_print(out, "  sr_real %s_[%d]%s;\n", f->out[k].name, f->out[k].rows * f->out[k].columns,
                  f->out[k].columns > 1 ? " = {0}" : "");
  sr_text_print(out, "  %s_%s(", unit->model, f->name);
  for (int k = 0; k < f->nin; k++) sr_text_print(out, "%s_, ", f->in[k].name);
  for (int k = 0; k < f->nout; k++) sr_text_print(out, "%s%s_", k > 0 ? ", " : "", f->out[k].name);
  sr_text_print(out, ");\n");
  for (int k = 0; k < f->nout; k++) copy(&f->out[k], false, out);
  sr_text_print(out, "}\n");
}

// The stages are a loop: unrolled, their code would not fit in the instruction cache.
static void stepping(const srEmitUnit* unit, int nq, int nv, srText* out) {
  const char* m = unit->model;
  sr_text_print(out, "\n// Steps of length h of n copies by the classical Runge-Kutta method, with constant tau.\n");
  sr_text_print(out,
                "__global__ void __launch_bounds__(128, SR_BLOCKS) %s_rk4_kernel(int n, int steps, sr_real h, sr_real* "
                "q, sr_real* v, const sr_real* tau) {\n",
                m);
  sr_text_print(
      out, "  enum { nq = %d, nv = %d };\n  const int i = blockIdx.x * 128 + threadIdx.x;\n  if (i >= n) return;\n", nq,
      nv);
  sr_text_print(out,
                "  sr_real q0[nq], v0[nv], tau_[nv];\n"
                "#pragma unroll\n  for (int k = 0; k < nq; k++) q0[k] = q[k * n + i];\n"
                "#pragma unroll\n  for (int k = 0; k < nv; k++) v0[k] = v[k * n + i], tau_[k] = tau[k * n + i];\n"
                "#pragma unroll 1\n  for (int s = 0; s < steps; s++) {\n"
                "    sr_real qs[nq], vs[nv], qe[nq], ve[nv];\n"
                "#pragma unroll\n    for (int k = 0; k < nq; k++) qs[k] = qe[k] = q0[k];\n"
                "#pragma unroll\n    for (int k = 0; k < nv; k++) vs[k] = ve[k] = v0[k];\n"
                "#pragma unroll 1\n    for (int stage = 0; stage < 4; stage++) {\n"
                "      const sr_real weight = (stage == 0 || stage == 3 ? R(1.0) / R(6.0) : R(1.0) / R(3.0)) * h, "
                "ahead = (stage == 2 ? R(1.0) : R(0.5)) * h;\n"
                "      sr_real dq[nq], dv[nv];\n");
  sr_text_print(out, "      %s_accel(qs, vs, tau_, dv);\n      %s_qdot(qs, vs, dq);\n", m, m);
  sr_text_print(
      out,
      "#pragma unroll\n      for (int k = 0; k < nq; k++) qe[k] += weight * dq[k], qs[k] = q0[k] + ahead * dq[k];\n"
      "#pragma unroll\n      for (int k = 0; k < nv; k++) ve[k] += weight * dv[k], vs[k] = v0[k] + ahead * dv[k];\n"
      "    }\n"
      "#pragma unroll\n    for (int k = 0; k < nq; k++) q0[k] = qe[k];\n"
      "#pragma unroll\n    for (int k = 0; k < nv; k++) v0[k] = ve[k];\n"
      "  }\n"
      "#pragma unroll\n  for (int k = 0; k < nq; k++) q[k * n + i] = q0[k];\n"
      "#pragma unroll\n  for (int k = 0; k < nv; k++) v[k * n + i] = v0[k];\n}\n");
}

static const srEmitFunction* find(const srEmitUnit* unit, const char* name) {
  for (int i = 0; i < unit->nfunction; i++) {
    if (strcmp(unit->function[i].name, name) == 0) return &unit->function[i];
  }
  return NULL;
}

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  srText* out = &to[0].text;
  to[0].name = sr_pool_printf(pool, "%s.cu", unit->model);
  sr_emit_head(unit, &syntax, "// ", out);
  sr_text_print(out, "\nenum { %s_nq = %d, %s_nv = %d };\n\n%s", unit->model, unit->nq, unit->model, unit->nv,
                prologue);
  for (int i = 0; i < unit->nfunction; i++) device_function(pool, unit, &unit->function[i], out);
  for (int i = 0; i < unit->nfunction; i++) kernel(unit, &unit->function[i], out);
  const srEmitFunction *accel = find(unit, "accel"), *qdot = find(unit, "qdot");
  if (accel != NULL && qdot != NULL) stepping(unit, unit->nq, unit->nv, out);
  return 1;
}

const srLanguage sr_language_cuda = {"cuda", write};
