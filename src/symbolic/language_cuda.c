// CUDA: device functions, kernels that evaluate them for many states at once, and one that steps many copies by the classical Runge-Kutta method. Arrays of kernels are structures of arrays: entry k of copy i is at k*n + i. Float by
// -DSR_FLOAT. Values that find no register are in shared memory (room.c), which NAME_FUNCTION_launch asks for. Literals have the type of the numbers; sines and cosines are polynomials without branches, for angles below 1e4 (float) and 1e5 rad. 1/x, of pivots, is the hardware's
// approximation and Newton steps, to rounding (-DSR_DIVIDE: a division); other divisions and roots are those of the compiler.
#include <string.h>

#include "symbolic/emit.h"
#include "symbolic/lanes.h"

static const char prologue[] =
    "#ifdef SR_FLOAT\n"
    "typedef float sr_real;\n"
    "#else\n"
    "typedef double sr_real;\n"
    "#endif\n"
    "#define R(x) ((sr_real)(x))\n"
    "#ifndef SR_BLOCKS  // resident blocks of 128 threads that registers are kept for\n"
    "#define SR_BLOCKS 2\n"
    "#endif\n"
    "#ifndef SR_ROOM  // values a thread in shared memory, at most: two blocks of 128 threads have 220 kB; 0: none\n"
    "#define SR_ROOM (864 / (int)sizeof(sr_real))\n"
    "#endif\n"
    "#define SR_SLOTS(n) ((n) < SR_ROOM ? (n) : SR_ROOM)\n"
    "#define SR_PUT(slot, x) if ((slot) < SR_ROOM) room[(slot) * 128] = x\n"
    "#define SR_GET(slot, x) ((slot) < SR_ROOM ? room[(slot) * 128] : x)\n\n"
    "// Entry k of one state in arrays of n: at k*n.\n"
    "template <class T>\n"
    "struct sr_column {\n"
    "  T* at;\n"
    "  int n;\n"
    "  __device__ __forceinline__ T& operator[](int k) const { return at[(size_t)k * n]; }\n"
    "};\n\n"
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
    "}\n"
    "static __device__ __forceinline__ sr_real sr_sin(sr_real x) {\n"
    "  sr_real sine, cosine;\n"
    "  sr_sincos(x, &sine, &cosine);\n"
    "  return sine;\n"
    "}\n"
    "static __device__ __forceinline__ sr_real sr_cos(sr_real x) {\n"
    "  sr_real sine, cosine;\n"
    "  sr_sincos(x, &sine, &cosine);\n"
    "  return cosine;\n"
    "}\n"
    "static __device__ __forceinline__ sr_real sr_sign(sr_real x) { return x > R(0.0) ? R(1.0) : x < R(0.0) ? R(-1.0) "
    ": "
    "x; }\n"
    "// The x >= 0 with x + a exp(-x^delta) = b.\n"
    "static __device__ sr_real sr_stribeck(sr_real a, sr_real b, sr_real delta) {\n"
    "  sr_real low = b - a, high = b, x = low;\n"
    "  if (!(b > a)) return R(0.0);\n"
    "  for (int i = 0; i < 60 && a > R(0.0); i++) {\n"
    "    const sr_real power = pow(x, delta), fall = a * exp(-power), residual = x + fall - b;\n"
    "    if (residual > R(0.0)) high = x; else low = x;\n"
    "    sr_real next = x - residual / (R(1.0) - (x > R(0.0) ? delta * power / x * fall : R(0.0)));\n"
    "    if (!(next >= low && next <= high)) next = R(0.5) * (low + high);\n"
    "    if (fabs(next - x) <= (sizeof x == 4 ? R(1e-7) : R(1e-15)) * high) return next;\n"
    "    x = next;\n"
    "  }\n"
    "  return x;\n"
    "}\n";

// Of numbers that are not 0, infinite or denormal; a division on the processor.
static const char inverse[] =
    "static __device__ __forceinline__ sr_real sr_inverse(sr_real x) {\n"
    "#if !defined(__CUDA_ARCH__) || defined(SR_DIVIDE)\n"
    "  return R(1.0) / x;\n"
    "#elif defined(SR_FLOAT)\n"
    "  float r;\n"
    "  asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));\n"
    "  return fmaf(fmaf(-x, r, 1.0f), r, r);\n"
    "#else\n"
    "  double r;\n"
    "  asm(\"rcp.approx.ftz.f64 %0, %1;\" : \"=d\"(r) : \"d\"(x));\n"
    "  r = fma(fma(-x, r, 1.0), r, r);\n"
    "  return fma(fma(-x, r, 1.0), r, r);\n"
    "#endif\n"
    "}\n";

// Where limbs are in lanes.
static const char lane_prologue[] =
    "\n"
    "#ifndef SR_LANE_BLOCKS  // the same of kernels with limbs in lanes\n"
    "#define SR_LANE_BLOCKS 2\n"
    "#endif\n"
    "// Lanes that a copy of n has, at most; crowded: one thread has too few registers for all of it. -DSR_IN_LANES=K: "
    "K.\n"
    "static inline int sr_lanes_of(int n, bool crowded) {\n"
    "#ifdef SR_IN_LANES\n"
    "  return SR_IN_LANES;\n"
    "#else\n"
    "  return n < 16384 ? 4 : n < 32768 || crowded ? 2 : 1;\n"
    "#endif\n"
    "}\n"
    "// Entry k of one state, of the limbs of a lane: at INDEX(k, lane)*n.\n"
    "template <class T, int (*INDEX)(int, int)>\n"
    "struct sr_lane_column {\n"
    "  T* at;\n"
    "  int n, lane;\n"
    "  __device__ __forceinline__ T& operator[](int k) const { return at[(size_t)INDEX(k, lane) * n]; }\n"
    "};\n"
    "// Numbers in which lanes differ: entry k at k*LANES.\n"
    "template <int LANES>\n"
    "struct sr_lane_constant {\n"
    "  const sr_real* at;\n"
    "  __device__ __forceinline__ sr_real operator[](int k) const { return at[k * LANES]; }\n"
    "};\n"
    "template <int LANES>\n"
    "static __device__ __forceinline__ sr_real sr_sum(sr_real x) {\n"
    "#pragma unroll\n"
    "  for (int k = 1; k < LANES; k *= 2) x += __shfl_xor_sync(0xffffffffu, x, k);\n"
    "  return x;\n"
    "}\n";

static const char* const calls[SR_OP_COUNT] = {[SR_OP_POW] = "pow(%s, %s)",
                                               [SR_OP_SIN] = "sr_sin(%s)",
                                               [SR_OP_COS] = "sr_cos(%s)",
                                               [SR_OP_TAN] = "tan(%s)",
                                               [SR_OP_ASIN] = "asin(%s)",
                                               [SR_OP_ACOS] = "acos(%s)",
                                               [SR_OP_ATAN2] = "atan2(%s, %s)",
                                               [SR_OP_EXP] = "exp(%s)",
                                               [SR_OP_LOG] = "log(%s)",
                                               [SR_OP_SQRT] = "sqrt(%s)",
                                               [SR_OP_ABS] = "fabs(%s)",
                                               [SR_OP_MIN] = "fmin(%s, %s)",
                                               [SR_OP_MAX] = "fmax(%s, %s)",
                                               [SR_OP_SIGN] = "sr_sign(%s)",
                                               [SR_OP_STEP] = "(%s >= R(0.0) ? R(1.0) : R(0.0))",
                                               [SR_OP_FLOOR] = "floor(%s)",
                                               [SR_OP_LT] = "(%s < %s ? R(1.0) : R(0.0))",
                                               [SR_OP_LE] = "(%s <= %s ? R(1.0) : R(0.0))",
                                               [SR_OP_EQ] = "(%s == %s ? R(1.0) : R(0.0))",
                                               [SR_OP_IF] = "(%s != R(0.0) ? %s : %s)",
                                               [SR_OP_STRIBECK] = "sr_stribeck(%s, %s, %s)",
                                               [SR_OP_LOOKUP] = "sr_entry(%t, %s)",
                                               [SR_OP_FUNCTION] = "sr_sum<LANES>(%s)"};

static const char lookup_text[] =
    "template <int n>\n"
    "static __device__ __forceinline__ sr_real sr_entry(const sr_real (&table)[n], sr_real at) {\n"
    "  return table[at >= R(0.0) ? at < R(1.0) * (n - 1) ? (int)at : n - 1 : 0];\n"
    "}\n";

static const srFoldText folds = {
    .some =
        "\n// @: is there anything to do?\n"
        "static __device__ __forceinline__ void fold&_some(const sr_real* index, const sr_real* arg, sr_real* some) "
        "{\n",
    .some_end = "}\n",
    .step =
        "\nstatic __device__ __forceinline__ void fold&_step(const sr_real* index, const sr_real* arg, const sr_real* "
        "state, sr_real* next) {\n",
    .step_end = "}\n",
    .loop =
        "\nstatic __device__ void fold&(const sr_real* arg, sr_real* state) {\n"
        "  sr_real next[$], some[1];\n"
        "  for (int k = 0; k < $; k++) state[k] = R(0.0);\n"
        "  for (int i = 0; i < %0 * %1 * %2 * %3; i++) {\n"
        "    const sr_real index[4] = {R(i / (%1 * %2 * %3)), R(i / (%2 * %3) % %1), R(i / %3 % %2), R(i % %3)};\n"
        "    fold&_some(index, arg, some);\n"
        "    if (some[0] == R(0.0)) continue;\n"
        "    fold&_step(index, arg, state, next);\n"
        "    for (int k = 0; k < $; k++) state[k] = next[k];\n"
        "  }\n"
        "}\n"};

#define REGISTERS 200  // of numbers in float; half as many in double
static const srSyntax syntax = {.statement = "  const sr_real %s = ",
                                .end = ";\n",
                                .comment = "  // ",
                                .output = "  %s",
                                .constant = {"", ""},
                                .number = {"R(", ")"},
                                .pointers = true,
                                .open = "[",
                                .close = "]",
                                .call = calls,
                                .inverse = "sr_inverse",
                                .fold = "  const sr_real @_arg[] = {",
                                .fold_end = "};\n  sr_real @[$];\n  fold&(@_arg, @);\n",
                                .registers = REGISTERS,
                                .put = "  SR_PUT(%d, %s);\n",
                                .get = "  const sr_real %s = SR_GET(%d, %s);\n"};

static void arguments(const srEmitFunction* f, srText* out) {
  for (int k = 0; k < f->nin; k++) sr_text_print(out, "const sr_real* %s, ", f->in[k].name);
  for (int k = 0; k < f->nout; k++) sr_text_print(out, "%ssr_real* %s", k > 0 ? ", " : "", f->out[k].name);
}

static void names(const srEmitFunction* f, const char* format, srText* out) {  // separator, type, name
  for (int k = 0; k < f->nin; k++) sr_text_print(out, format, k > 0 ? ", " : "", "const sr_real", f->in[k].name);
  for (int k = 0; k < f->nout; k++) sr_text_print(out, format, k + f->nin > 0 ? ", " : "", "sr_real", f->out[k].name);
}

// The same with limbs in lanes; `in`: which number of lanes, -1: one thread a state.
static const srEmitFunction* variant(const srEmitFunction* f, int in) { return in < 0 ? f : f->in_lanes[in]; }
static int lanes_of(int in) { return in < 0 ? 1 : 2 << in; }

// Sines are statements like all others, where they are used: all of them at the beginning would fill the registers.
static void device_function(srPool* pool, const srEmitUnit* unit, const srEmitFunction* whole, int in, srText* out) {
  const srEmitFunction* f = variant(whole, in);
  srCode code = *f->code;
  srEmitFunction apart = *f;
  srText body = {.pool = pool};
  code.unpacked = true;
  apart.code = &code;
  const int slots = sr_emit_body(pool, &apart, &syntax, &body), lanes = lanes_of(in);
  sr_text_print(out, "\n");
  sr_emit_about(f, "// ", out);
  if (in >= 0) sr_text_print(out, "// Of one of %d lanes: the base, and limbs of its own.\n", lanes);
  sr_text_print(out, "enum { %s_%s_room = SR_SLOTS(%d) };  // values a thread in shared memory\n", unit->model, f->name,
                slots);
  if (in >= 0) {
    sr_text_print(out, "static __constant__ sr_real %s_%s_constants[%d] = {", unit->model, f->name,
                  f->nconstant * lanes + 1);
    for (int k = 0; k < f->nconstant * lanes; k++) sr_text_print(out, "R(%.17g), ", f->constant[k]);
    sr_text_print(out, "0};\n");
  }
  sr_text_print(out, "template <%s", in < 0 ? "class In, class Out" : "int LANES");
  for (int k = 0; in >= 0 && k < f->nin + f->nout; k++) sr_text_print(out, ", class T%d", k);
  sr_text_print(out, ">\nstatic __device__ __forceinline__ void %s_%s(", unit->model, f->name);
  for (int k = 0; k < f->nin + f->nout; k++) {
    const char* name = k < f->nin ? f->in[k].name : f->out[k - f->nin].name;
    sr_text_print(out, k > 0 ? ", " : "");
    if (in < 0)
      sr_text_print(out, "%s %s", k < f->nin ? "In" : "Out", name);
    else
      sr_text_print(out, "T%d %s", k, name);
  }
  sr_text_print(out, in < 0 ? ") {\n" : ", sr_lane_constant<LANES> p) {\n");
  if (slots > 0)
    sr_text_print(out,
                  "  extern __shared__ double sr_shared[];\n"
                  "  volatile sr_real* const room = (volatile sr_real*)sr_shared + threadIdx.x;\n  (void)room;\n");
  sr_text_add(out, body.data, body.n);
  sr_text_print(out, "}\n");
}

// ---- lanes --------------------------------------------------------------------------------------------------------------

static void index_function(const char* model, char letter, int n, int count, const int* list, srText* out) {
  sr_text_print(out, "static __device__ __forceinline__ int %s_lanes%d_%c(int k, int lane) {\n  switch (k) {\n", model,
                n, letter);
  for (int k = 0; k < count; k++) {
    const int first = list[k], stride = list[count + k] - first;
    bool linear = true;
    for (int l = 0; l < n; l++) linear = linear && list[l * count + k] == first + l * stride;
    if (linear && stride == 0 && first == k) continue;
    sr_text_print(out, "    case %d: return ", k);
    for (int l = 0; !linear && l < n - 1; l++) sr_text_print(out, "lane == %d ? %d : ", l, list[l * count + k]);
    if (linear && stride != 0)
      sr_text_print(out, "%d + %d * lane;\n", first, stride);
    else
      sr_text_print(out, "%d;\n", list[(n - 1) * count + k]);
  }
  sr_text_print(out, "    default: return k;\n  }\n}\n");
}

static void index_functions(const srEmitUnit* unit, int in, srText* out) {
  const srSymLanes* l = unit->lanes[in];
  sr_text_print(out, "\n// Where entry k of a lane is among those of the model.\n");
  index_function(unit->model, 'q', l->n, l->nq, l->q, out);
  index_function(unit->model, 'v', l->n, l->nv, l->v, out);
  index_function(unit->model, 'y', l->n, l->ny, l->y, out);
}

// Which copy and lane a thread has. Threads beyond the last copy repeat it, as sums over lanes need whole warps.
static void place_of(const char* model, const srEmitFunction* f, int in, srText* out) {
  const int lanes = lanes_of(in);
  if (in < 0) {
    sr_text_print(out, "  const int i = blockIdx.x * 128 + threadIdx.x;\n  if (i >= n) return;\n");
    return;
  }
  sr_text_print(out,
                "  const int thread = blockIdx.x * 128 + threadIdx.x, lane = thread %% %d, last = n - 1, "
                "i = thread / %d < n ? thread / %d : last;\n"
                "  static __shared__ sr_real constants[%d];\n"
                "  for (int k = threadIdx.x; k < %d; k += blockDim.x) constants[k] = %s_%s_constants[k];\n"
                "  __syncthreads();\n"
                "  const sr_lane_constant<%d> p = {constants + lane};\n",
                lanes, lanes, lanes, f->nconstant * lanes + 1, f->nconstant * lanes, model, f->name, lanes);
}

// ---- kernels ------------------------------------------------------------------------------------------------------------

// Kernels with values in shared memory need it at their launch, more than is given without asking.
static void launch(const srEmitUnit* unit, const char* name, const char* room, int lanes, const char* passed,
                   srText* out) {
  const char* m = unit->model;
  sr_text_print(out,
                "  {\n"
                "    const int bytes = %s_%s_room * 128 * (int)sizeof(sr_real);\n"
                "    cudaError_t failed = cudaSuccess;\n"
                "    if (bytes > 0) failed = cudaFuncSetAttribute(%s_%s_kernel, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);\n",
                m, room, m, name);
  sr_text_print(out,
                "    if (bytes > 0 && failed == cudaSuccess) failed = cudaFuncSetAttribute(%s_%s_kernel, "
                "cudaFuncAttributePreferredSharedMemoryCarveout, 100);\n"
                "    if (failed != cudaSuccess) return failed;\n",
                m, name);
  sr_text_print(out, "    %s_%s_kernel<<<(unsigned)(((size_t)n * %d + 127) / 128), 128, bytes, stream>>>(n, %s);\n", m,
                name, lanes, passed);
  sr_text_print(out, "    return cudaGetLastError();\n  }\n");
}

// Does one thread have too few registers, of which `held` values have some all the time?
static bool is_crowded(srPool* pool, const srEmitFunction* f, int registers, int held) {
  srCode code = *f->code;
  code.unpacked = true;
  return registers <= held || sr_code_order(pool, &code, registers - held).price > 0;
}

// f: what the kernels compute; name, of theirs; held: values that a copy keeps beside it.
static void launches(srPool* pool, const srEmitUnit* unit, const srEmitFunction* f, const char* name, int held,
                     const char* parameters, const char* passed, srText* out) {
  // In float lanes of a full chip gain the quadruped a twentieth and cost the humanoid two fifths.
  const char* crowded = is_crowded(pool, f, REGISTERS / 2, held) ? "sizeof(sr_real) == 8" : "false";
  sr_text_print(out, "#ifdef __CUDACC__\nstatic inline cudaError_t %s_%s_launch(int n, %s, cudaStream_t stream) {\n",
                unit->model, name, parameters);
  sr_text_print(out, "  if (n <= 0) return cudaSuccess;\n");
  for (int in = SR_EMIT_LANES - 1; in >= 0; in--) {
    if (f->in_lanes[in] == NULL) continue;
    sr_text_print(out, "  if (sr_lanes_of(n, %s) >= %d)\n", crowded, lanes_of(in));
    launch(unit, sr_pool_printf(pool, "%s_lanes%d", name, lanes_of(in)), f->in_lanes[in]->name, lanes_of(in), passed,
           out);
  }
  launch(unit, name, f->name, 1, passed, out);
  sr_text_print(out, "}\n#endif\n");
}

// Which of q, v, y an array goes with; NULL: none.
static const char* index_of(const char* array) {
  const char* name = strcmp(array, "a") == 0 || strcmp(array, "tau") == 0 ? "v"
                     : strcmp(array, "ydot") == 0                         ? "y"
                     : strcmp(array, "qdot") == 0                         ? "q"
                                                                          : array;
  return strcmp(name, "t") == 0 || strcmp(name, "stage") == 0 ? NULL : name;
}

static void kernel(const srEmitUnit* unit, const srEmitFunction* whole, int in, srText* out) {
  const srEmitFunction* f = variant(whole, in);
  const char* m = unit->model;
  sr_text_print(out, "\n// %s of n states.\n__global__ void __launch_bounds__(128, %s) %s_%s_kernel(int n, ",
                whole->name, in < 0 ? "SR_BLOCKS" : "SR_LANE_BLOCKS", m, f->name);
  names(f, "%s%s* __restrict__ %s", out);
  sr_text_print(out, ") {\n");
  place_of(m, f, in, out);
  sr_text_print(out, "  %s_%s", m, f->name);
  if (in < 0) {
    sr_text_print(out, "(");
    names(f, "%ssr_column<%s>{%s + i, n}", out);
    sr_text_print(out, ");\n}\n");
    return;
  }
  sr_text_print(out, "<%d>(", lanes_of(in));
  for (int k = 0; k < f->nin + f->nout; k++) {
    const char *name = k < f->nin ? f->in[k].name : f->out[k - f->nin].name, *index = index_of(name);
    const char* type = k < f->nin ? "const sr_real" : "sr_real";
    if (index == NULL)
      sr_text_print(out, "sr_column<%s>{%s + i, n}, ", type, name);
    else
      sr_text_print(out, "sr_lane_column<%s, %s_lanes%d_%s>{%s + i, n, lane}, ", type, m, lanes_of(in), index, name);
  }
  sr_text_print(out, "p);\n}\n");
}

// Lanes repeat what is of the base: that may be two fifths more in all.
static bool is_shorter(const srEmitFunction* lane, int lanes, const srEmitFunction* whole) {
  const srOperations *a = &lane->operations, *b = &whole->operations;
  return 5 * lanes * (a->add + a->mul) <= 7 * (b->add + b->mul);
}

static void kernels(srPool* pool, const srEmitUnit* unit, const srEmitFunction* whole, srText* out) {
  srEmitFunction own = *whole, *f = &own;
  for (int in = 0; in < SR_EMIT_LANES; in++) {
    if (own.in_lanes[in] != NULL && !is_shorter(own.in_lanes[in], lanes_of(in), whole)) own.in_lanes[in] = NULL;
  }
  for (int in = -1; in < SR_EMIT_LANES; in++) {
    if (variant(f, in) != NULL) kernel(unit, f, in, out);
  }
  srText parameters = {.pool = pool}, passed = {.pool = pool};
  arguments(f, &parameters);
  names(f, "%s%.0s%s", &passed);
  launches(pool, unit, f, f->name, 0, parameters.data, passed.data, out);
}

// ---- steps --------------------------------------------------------------------------------------------------------------

// What a step has of positions, velocities and states: `text` for each, with its letter; # is where entry k of the copy is among those of the model.
static void each(const srEmitUnit* unit, bool states, int in, const char* text, srText* out) {
  static const char letters[] = {'q', 'v', 'y'};
  for (int i = 0; i < (states ? 3 : 2); i++) {
    sr_text_print(out, "#pragma unroll\n");
    for (const char* c = text; *c != 0; c++) {
      if (*c == '#' && in >= 0)
        sr_text_print(out, "(size_t)%s_lanes%d_%c(k, lane) * n + i", unit->model, lanes_of(in), letters[i]);
      else if (*c == '#')
        sr_text_print(out, "(size_t)k * n + i");
      else
        sr_text_add(out, *c == '@' ? &letters[i] : c, 1);
    }
  }
}

static void normalised(const srEmitUnit* unit, int in, srText* out) {
  for (int i = 0; i < unit->nquaternion; i++) {
    int k = unit->quaternion[i];
    if (in >= 0) {
      const srSymLanes* l = unit->lanes[in];
      int local = 0;
      while (local < l->nq && l->q[local] != k) local++;
      if (local == l->nq) continue;  // of a limb of another lane
      k = local;
    }
    sr_text_print(
        out,
        "    {  // unit quaternion\n"
        "      const sr_real s = R(1.0) / sqrt(q0[%d] * q0[%d] + q0[%d] * q0[%d] + q0[%d] * q0[%d] + q0[%d] * "
        "q0[%d]);\n"
        "      q0[%d] *= s, q0[%d] *= s, q0[%d] *= s, q0[%d] *= s;\n"
        "    }\n",
        k, k, k + 1, k + 1, k + 2, k + 2, k + 3, k + 3, k, k + 1, k + 2, k + 3);
  }
}

// The stages are a loop: unrolled, their code would not fit in the instruction cache. states: with the force elements, their states and the time.
static void stepping(const srEmitUnit* unit, bool states, const srEmitFunction* whole, const srEmitFunction* qdot,
                     int in, srText* out) {
  const char* m = unit->model;
  const srEmitFunction *f = variant(whole, in), *rate = variant(qdot, in);
  const srSymLanes* lanes = in < 0 ? NULL : unit->lanes[in];
  sr_text_print(out, "\n// Steps of length h of n copies by the classical Runge-Kutta method, with constant tau%s.\n",
                states ? " and all force elements; t: time at the start" : "");
  sr_text_print(out, "__global__ void __launch_bounds__(128, %s) %s_rk4", in < 0 ? "SR_BLOCKS" : "SR_LANE_BLOCKS", m);
  if (lanes) sr_text_print(out, "_lanes%d", lanes->n);
  sr_text_print(out, "_kernel(int n, int steps, sr_real h, %ssr_real* q, sr_real* v, %sconst sr_real* tau) {\n",
                states ? "sr_real t, " : "", states ? "sr_real* y, " : "");
  sr_text_print(out, "  enum { nq = %d, nv = %d, ny = %d };\n", lanes ? lanes->nq : unit->nq,
                lanes ? lanes->nv : unit->nv, lanes ? lanes->ny : unit->ny);
  place_of(m, f, in, out);
  sr_text_print(out, "  sr_real q0[nq], v0[nv]%s;\n", states ? ", y0[ny > 0 ? ny : 1]" : "");
  each(unit, states, in, "  for (int k = 0; k < n@; k++) @0[k] = @[#];\n", out);
  sr_text_print(out,
                "#pragma unroll 1\n  for (int s = 0; s < steps; s++) {\n"
                "    sr_real qs[nq], vs[nv], qe[nq], ve[nv]%s;\n",
                states ? ", ys[ny > 0 ? ny : 1], ye[ny > 0 ? ny : 1]" : "");
  each(unit, states, in, "    for (int k = 0; k < n@; k++) @s[k] = @e[k] = @0[k];\n", out);
  sr_text_print(out,
                "#pragma unroll 1\n    for (int stage = 0; stage < 4; stage++) {\n"
                "      const sr_real weight = (stage == 0 || stage == 3 ? R(1.0) / R(6.0) : R(1.0) / R(3.0)) * h, "
                "ahead = (stage == 2 ? R(1.0) : R(0.5)) * h;\n"
                "      sr_real tau_[nv], dq[nq], dv[nv]%s;\n"
                "#pragma unroll\n      for (int k = 0; k < nv; k++) tau_[k] = tau[",
                states ? ", dy[ny > 0 ? ny : 1]" : "");
  if (lanes)
    sr_text_print(out, "(size_t)%s_lanes%d_v(k, lane) * n + i];\n", m, lanes->n);
  else
    sr_text_print(out, "(size_t)k * n + i];\n");
  if (states)
    sr_text_print(
        out,
        "      const sr_real at = t + (R(1.0) * s + (stage == 0 ? R(0.0) : stage == 3 ? R(1.0) : R(0.5))) * h, "
        "length = (stage < 2 ? R(0.5) : R(1.0)) * h;\n");
  const char* before = states ? "&at, " : "";
  const char* after = states ? "qs, vs, ys, tau_, &length, dv, dy" : "qs, vs, tau_, dv";
  if (lanes) {
    sr_text_print(out, "      %s_%s<%d>(%s%s, p);\n", m, f->name, lanes->n, before, after);
    sr_text_print(out, "      %s_%s<%d>(qs, vs, dq, p);\n", m, rate->name, lanes->n);
  } else {
    sr_text_print(out, "      %s_%s<const sr_real*, sr_real*>(%s%s);\n", m, f->name, before, after);
    sr_text_print(out, "      %s_%s<const sr_real*, sr_real*>(qs, vs, dq);\n", m, rate->name);
  }
  each(unit, states, in, "      for (int k = 0; k < n@; k++) @e[k] += weight * d@[k], @s[k] = @0[k] + ahead * d@[k];\n",
       out);
  sr_text_print(out, "    }\n");
  each(unit, states, in, "    for (int k = 0; k < n@; k++) @0[k] = @e[k];\n", out);
  normalised(unit, in, out);
  sr_text_print(out, "  }\n");
  if (lanes) sr_text_print(out, "  if (thread / %d >= n) return;\n", lanes->n);
  each(unit, states, in, "  for (int k = 0; k < n@; k++) @[#] = @0[k];\n", out);
  sr_text_print(out, "}\n");
}

static const srEmitFunction* find(const srEmitUnit* unit, const char* name) {
  for (int i = 0; i < unit->nfunction; i++) {
    if (strcmp(unit->function[i].name, name) == 0) return &unit->function[i];
  }
  return NULL;
}

static void steps(srPool* pool, const srEmitUnit* unit, srText* out) {
  const bool states = find(unit, "rates") != NULL;
  const srEmitFunction *qdot = find(unit, "qdot"), *f = states ? find(unit, "rates") : find(unit, "accel");
  if (qdot == NULL || f == NULL) return;
  srEmitFunction both = *f;  // in lanes where both are
  for (int in = -1; in < SR_EMIT_LANES; in++) {
    if (in >= 0 && (variant(qdot, in) == NULL || (variant(f, in) && !is_shorter(variant(f, in), lanes_of(in), f))))
      both.in_lanes[in] = NULL;
    if (variant(&both, in) != NULL) stepping(unit, states, &both, qdot, in, out);
  }
  launches(pool, unit, &both, "rk4", 2 * (unit->nq + unit->nv + unit->ny),
           states ? "int steps, sr_real h, sr_real t, sr_real* q, sr_real* v, sr_real* y, const sr_real* tau"
                  : "int steps, sr_real h, sr_real* q, sr_real* v, const sr_real* tau",
           states ? "steps, h, t, q, v, y, tau" : "steps, h, q, v, tau", out);
}

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  srText* out = &to[0].text;
  to[0].name = sr_pool_printf(pool, "%s.cu", unit->model);
  sr_emit_head(unit, &syntax, "// ", out);
  sr_text_print(out, "\nenum { %s_nq = %d, %s_nv = %d, %s_ny = %d };\n\n%s%s", unit->model, unit->nq, unit->model,
                unit->nv, unit->model, unit->ny, prologue, inverse);
  sr_emit_tables(unit, lookup_text, "static __device__ const sr_real table%d[%d] = {", "};\n", out);
  sr_emit_folds(pool, unit, &folds, &syntax, out);
  if (unit->lanes[0] != NULL || unit->lanes[1] != NULL) sr_text_print(out, "%s", lane_prologue);
  for (int in = -1; in < SR_EMIT_LANES; in++) {
    if (in >= 0 && unit->lanes[in] != NULL) index_functions(unit, in, out);
    for (int i = 0; i < unit->nfunction; i++) {
      if (variant(&unit->function[i], in) != NULL) device_function(pool, unit, &unit->function[i], in, out);
    }
  }
  for (int i = 0; i < unit->nfunction; i++) kernels(pool, unit, &unit->function[i], out);
  steps(pool, unit, out);
  return 1;
}

const srLanguage sr_language_cuda = {"cuda", write};
