// C99: a header and a source without other files. The type of numbers is chosen when it is compiled: double; float by -DSR_FLOAT; lanes, several states at once in one vector of the compiler (GCC, Clang), by -DSR_LANES=8.
// Sines and cosines of all angles are computed at once, by the polynomials of fdlibm (Sun Microsystems 1993) on |r| <= pi/4.
#include <string.h>

#include "symbolic/emit.h"
#include "symbolic/lanes.h"

static const char real_type[] =
    "#ifndef SR_GENERATED_REAL  // double; -DSR_FLOAT: float; -DSR_LANES=8: eight states at once\n"
    "#define SR_GENERATED_REAL\n"
    "#ifdef SR_FLOAT\n"
    "typedef float sr_number;\n"
    "#else\n"
    "typedef double sr_number;\n"
    "#endif\n"
    "#ifdef SR_LANES\n"
    "typedef sr_number sr_real __attribute__((vector_size(SR_LANES * sizeof(sr_number))));\n"
    "#else\n"
    "typedef sr_number sr_real;\n"
    "#endif\n"
    "#endif\n";

static const char sincos_text[] =
    "// Sines and cosines of n <= 4 angles, within 2.5 units in the last place: x = k pi/2 + r, polynomials of r, "
    "exchanged for odd\n"
    "// k. Angles beyond 1e5 rad are found by SR_LARGE, and are left to libm.\n"
    "#if defined(__GNUC__) && !defined(SR_FLOAT)\n"
    "#ifdef SR_LANES\n"
    "typedef sr_real sr_pack;\n"
    "#else\n"
    "typedef double sr_pack __attribute__((vector_size(32)));\n"
    "#endif\n"
    "typedef long long sr_bits __attribute__((vector_size(sizeof(sr_pack))));\n"
    "#if defined(__AVX__) && !defined(SR_LANES)\n"
    "#include <immintrin.h>\n"
    "#define SR_CHOOSE(odd, a, b) ((sr_bits)_mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)(odd)))\n"
    "#define SR_ANY(x) (_mm256_movemask_pd((__m256d)*(x)) != 0)\n"
    "#else\n"
    "#define SR_CHOOSE(odd, a, b) ((b) ^ (((a) ^ (b)) & ((odd) >> 63)))\n"
    "static inline int SR_ANY(const sr_bits* x) {\n"
    "  long long any = 0;\n"
    "  for (unsigned i = 0; i < sizeof *x / sizeof any; i++) any |= (*x)[i];\n"
    "  return any != 0;\n"
    "}\n"
    "#endif\n"
    "#define SR_SIGN (-0x7fffffffffffffffLL - 1)\n"
    "static inline __attribute__((always_inline)) void sr_sincos_pack(const sr_pack* angles, sr_real* sine, sr_real* "
    "cosine) {\n"
    "  const sr_pack x = *angles;\n"
    "  const sr_pack shifted = x * 6.36619772367581382433e-01 + 6755399441055744.0, k = shifted - 6755399441055744.0;\n"
    "  const sr_pack r = x - k * 1.57079632673412561417e+00 - k * 6.07710050630396597660e-11 - k * "
    "2.02226624871116645580e-21;\n"
    "  const sr_pack z = r * r;\n"
    "  const sr_pack s = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * "
    "(-1.98412698298579493134e-04 +\n"
    "                    z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * "
    "1.58969099521155010221e-10))));\n"
    "  const sr_pack c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * "
    "(2.48015872894767294178e-05 +\n"
    "                    z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * "
    "1.13596475577881948265e-11))));\n"
    "  const sr_bits sin_r = (sr_bits)(r + z * r * s), cos_r = (sr_bits)(1 - 0.5 * z + z * z * c);\n"
    "  const sr_bits half = (sr_bits)shifted << 62, odd = (sr_bits)shifted << 63;\n"
    "  const sr_bits sin_x = SR_CHOOSE(odd, cos_r, sin_r) ^ (half & SR_SIGN),\n"
    "                cos_x = SR_CHOOSE(odd, sin_r, cos_r) ^ ((half ^ odd) & SR_SIGN);\n"
    "  memcpy(sine, &sin_x, sizeof sin_x);\n"
    "  memcpy(cosine, &cos_x, sizeof cos_x);\n"
    "}\n"
    "static inline int sr_large(const sr_pack* square) {\n"
    "  const sr_bits large = (sr_bits)(*square > 1e10);\n"
    "  return SR_ANY(&large);\n"
    "}\n"
    "#ifdef SR_LANES\n"
    "#define SR_SINCOS(n, at, a, b, c, d)                                                               \\\n"
    "  const sr_real x_##at[4] = {a, b, c, d};                                                          \\\n"
    "  const sr_pack square_##at = x_##at[0] * x_##at[0] + x_##at[1] * x_##at[1] + x_##at[2] * x_##at[2] + x_##at[3] * "
    "x_##at[3]; \\\n"
    "  for (int i_ = 0; i_ < n; i_++) sr_sincos_pack(x_##at + i_, sine + at + i_, cosine + at + i_)\n"
    "#else\n"
    "#define SR_SINCOS(n, at, a, b, c, d)                                                               \\\n"
    "  const sr_pack x_##at = {a, b, c, d}, square_##at = x_##at * x_##at;                              \\\n"
    "  sr_sincos_pack(&x_##at, sine + at, cosine + at)\n"
    "#endif\n"
    "#define SR_LARGE(squares) __extension__({ const sr_pack squares_ = squares; __builtin_expect(sr_large(&squares_), "
    "0); })\n"
    "#define SR_COLD static __attribute__((noinline, cold, unused))\n"
    "#else\n"
    "#define SR_SINCOS SR_SINCOS_LIBM\n"
    "#define SR_LARGE(squares) 0\n"
    "#define SR_COLD static\n"
    "#endif\n"
    "#define SR_SINCOS_LIBM(n, at, a, b, c, d)                                                          \\\n"
    "  do {                                                                                             \\\n"
    "    const sr_real x_[4] = {a, b, c, d};                                                            \\\n"
    "    sr_sincos_libm(n * (int)(sizeof(sr_real) / sizeof(sr_number)), (const sr_number*)x_, (sr_number*)(sine + at), "
    "(sr_number*)(cosine + at)); \\\n"
    "  } while (0)\n"
    "SR_COLD void sr_sincos_libm(int n, const sr_number* x, sr_number* sine, sr_number* cosine) {\n"
    "  for (int i = 0; i < n; i++) {\n"
    "    sine[i] = sizeof *x == 4 ? sinf((float)x[i]) : sin(x[i]);\n"
    "    cosine[i] = sizeof *x == 4 ? cosf((float)x[i]) : cos(x[i]);\n"
    "  }\n"
    "}\n";

// Functions of libm, of every lane.
static const char each_text[] =
    "#ifdef SR_LANES\n"
    "#define SR_EACH(f, x)                                                                              \\\n"
    "  __extension__({                                                                                  \\\n"
    "    sr_real x_ = (x);                                                                              \\\n"
    "    for (int i_ = 0; i_ < SR_LANES; i_++) x_[i_] = (sr_number)f(x_[i_]);                           \\\n"
    "    x_;                                                                                            \\\n"
    "  })\n"
    "#define SR_EACH2(f, x, y)                                                                          \\\n"
    "  __extension__({                                                                                  \\\n"
    "    sr_real x_ = (x), y_ = (y);                                                                    \\\n"
    "    for (int i_ = 0; i_ < SR_LANES; i_++) x_[i_] = (sr_number)f(x_[i_], y_[i_]);                   \\\n"
    "    x_;                                                                                            \\\n"
    "  })\n"
    "#define SR_EACH3(f, x, y, z)                                                                       \\\n"
    "  __extension__({                                                                                  \\\n"
    "    sr_real x_ = (x), y_ = (y), z_ = (z);                                                          \\\n"
    "    for (int i_ = 0; i_ < SR_LANES; i_++) x_[i_] = (sr_number)f(x_[i_], y_[i_], z_[i_]);           \\\n"
    "    x_;                                                                                            \\\n"
    "  })\n"
    "#else\n"
    "#define SR_EACH(f, x) ((sr_number)f(x))\n"
    "#define SR_EACH2(f, x, y) ((sr_number)f(x, y))\n"
    "#define SR_EACH3(f, x, y, z) ((sr_number)f(x, y, z))\n"
    "#endif\n";

// Comparisons are 1 or 0, as numbers. A select takes a where the condition is not 0; of lanes both are computed.
static const char select_text[] =
    "#ifdef SR_LANES\n"
    "typedef __typeof__((sr_real){0} < (sr_real){0}) sr_mask;\n"
    "#define SR_CHOSEN(mask, a, b)                                                                      \\\n"
    "  __extension__({                                                                                  \\\n"
    "    const sr_real a_ = (a), b_ = (b);                                                              \\\n"
    "    const sr_mask mask_ = (mask);                                                                  \\\n"
    "    (sr_real)(((sr_mask)a_ & mask_) | ((sr_mask)b_ & ~mask_));                                     \\\n"
    "  })\n"
    "#define SR_ONE(mask) SR_CHOSEN(mask, (sr_real){0} + 1, (sr_real){0})\n"
    "#define SR_IF(c, a, b) SR_CHOSEN((c) != 0, a, b)\n"
    "#define SR_MIN(a, b) SR_CHOSEN(a_ <= b_, a, b)\n"
    "#define SR_MAX(a, b) SR_CHOSEN(a_ >= b_, a, b)\n"
    "#else\n"
    "#define SR_ONE(c) ((sr_number)(c))\n"
    "#define SR_IF(c, a, b) ((c) != 0 ? (a) : (b))\n"
    "static inline sr_number SR_MIN(sr_number a, sr_number b) { return a <= b ? a : b; }\n"
    "static inline sr_number SR_MAX(sr_number a, sr_number b) { return a >= b ? a : b; }\n"
    "#endif\n"
    "static inline sr_number sr_sign(double x) { return (sr_number)(x > 0 ? 1 : x < 0 ? -1 : x); }\n";

// The x >= 0 with x + a exp(-x^delta) = b, as srm_stribeck_root.
static const char stribeck_text[] =
    "static sr_number sr_stribeck(double a, double b, double delta) {\n"
    "  double low = b - a, high = b, x = low;\n"
    "  if (!(b > a)) return 0;\n"
    "  for (int i = 0; i < 60 && a > 0; i++) {\n"
    "    const double power = pow(x, delta), fall = a * exp(-power), residual = x + fall - b;\n"
    "    if (residual > 0) high = x; else low = x;\n"
    "    double next = x - residual / (1 - (x > 0 ? delta * power / x * fall : 0));\n"
    "    if (!(next >= low && next <= high)) next = 0.5 * (low + high);\n"
    "    if (fabs(next - x) <= 1e-15 * high) return (sr_number)next;\n"
    "    x = next;\n"
    "  }\n"
    "  return (sr_number)x;\n"
    "}\n";

static const char lookup_text[] =
    "static inline sr_number sr_entry(const sr_number* table, int n, sr_number at) {\n"
    "  return table[at >= 0 ? at < n - 1 ? (int)at : n - 1 : 0];\n"
    "}\n"
    "#define SR_ENTRY(table, at) sr_entry(table, (int)(sizeof table / sizeof *table), at)\n"
    "#ifdef SR_LANES\n"
    "#define SR_LOOKUP(table, x)                                                                        \\\n"
    "  __extension__({                                                                                  \\\n"
    "    sr_real x_ = (x);                                                                              \\\n"
    "    for (int i_ = 0; i_ < SR_LANES; i_++) x_[i_] = SR_ENTRY(table, x_[i_]);                        \\\n"
    "    x_;                                                                                            \\\n"
    "  })\n"
    "#else\n"
    "#define SR_LOOKUP(table, x) SR_ENTRY(table, x)\n"
    "#endif\n";

static const char* const calls[SR_OP_COUNT] = {[SR_OP_POW] = "SR_EACH2(pow, %s, %s)",
                                               [SR_OP_SIN] = "SR_EACH(sin, %s)",
                                               [SR_OP_COS] = "SR_EACH(cos, %s)",
                                               [SR_OP_TAN] = "SR_EACH(tan, %s)",
                                               [SR_OP_ASIN] = "SR_EACH(asin, %s)",
                                               [SR_OP_ACOS] = "SR_EACH(acos, %s)",
                                               [SR_OP_ATAN2] = "SR_EACH2(atan2, %s, %s)",
                                               [SR_OP_EXP] = "SR_EACH(exp, %s)",
                                               [SR_OP_LOG] = "SR_EACH(log, %s)",
                                               [SR_OP_SQRT] = "SR_EACH(sqrt, %s)",
                                               [SR_OP_ABS] = "SR_EACH(fabs, %s)",
                                               [SR_OP_MIN] = "SR_MIN(%s, %s)",
                                               [SR_OP_MAX] = "SR_MAX(%s, %s)",
                                               [SR_OP_SIGN] = "SR_EACH(sr_sign, %s)",
                                               [SR_OP_STEP] = "SR_ONE(%s >= 0)",
                                               [SR_OP_FLOOR] = "SR_EACH(floor, %s)",
                                               [SR_OP_LT] = "SR_ONE(%s < %s)",
                                               [SR_OP_LE] = "SR_ONE(%s <= %s)",
                                               [SR_OP_EQ] = "SR_ONE(%s == %s)",
                                               [SR_OP_IF] = "SR_IF(%s, %s, %s)",
                                               [SR_OP_STRIBECK] = "SR_EACH3(sr_stribeck, %s, %s, %s)",
                                               [SR_OP_LOOKUP] = "SR_LOOKUP(%t, %s)"};

// Steps that have nothing to do in any lane are left out.
static const char some_text[] =
    "#ifdef SR_LANES\n"
    "static inline int SR_SOME(sr_real x) {\n"
    "  int some = 0;\n"
    "  for (int i = 0; i < SR_LANES; i++) some |= x[i] != 0;\n"
    "  return some;\n"
    "}\n"
    "#else\n"
    "#define SR_SOME(x) ((x) != 0)\n"
    "#endif\n";

static const srFoldText folds = {
    .some =
        "\n// @: is there anything to do?\n"
        "static inline void fold&_some(const sr_real* restrict index, const sr_real* restrict arg, sr_real* restrict "
        "some) {\n"
        "  (void)index;\n  (void)arg;\n",
    .some_end = "}\n",
    .step =
        "\nstatic void fold&_step(const sr_real* restrict index, const sr_real* restrict arg, const sr_real* restrict "
        "state, sr_real* restrict next) {\n"
        "  (void)index;\n  (void)arg;\n  (void)state;\n",
    .step_end = "}\n",
    .loop =
        "\nstatic void fold&(const sr_real* restrict arg, sr_real* restrict state) {\n"
        "  sr_real next[$], some[1];\n"
        "  for (int k = 0; k < $; k++) state[k] = (sr_real){0};\n"
        "  for (int i = 0; i < %0 * %1 * %2 * %3; i++) {\n"
        "    const sr_real index[4] = {(sr_real){0} + (sr_number)(i / (%1 * %2 * %3)), (sr_real){0} + (sr_number)(i / "
        "(%2 * %3) % %1),\n"
        "                              (sr_real){0} + (sr_number)(i / %3 % %2), (sr_real){0} + (sr_number)(i % %3)};\n"
        "    fold&_some(index, arg, some);\n"
        "    if (!SR_SOME(some[0])) continue;\n"
        "    fold&_step(index, arg, state, next);\n"
        "    memcpy(state, next, sizeof next);\n"
        "  }\n"
        "}\n"};

static const srSyntax syntax = {.statement = "  const sr_real %s = ",
                                .end = ";\n",
                                .comment = "  // ",
                                .output = "  %s",
                                .constant = {"((sr_real){0} + ", ")"},
                                .pointers = true,
                                .open = "[",
                                .close = "]",
                                .call = calls,
                                .fold = "  const sr_real @_arg[] = {",
                                .fold_end = "};\n  sr_real @[$];\n  fold&(@_arg, @);\n",
                                .registers = 13};  // of 16: some are for the terms of a statement

// Limbs in lanes of a vector: every value is that of all lanes.
#define IN_LANES(lanes)                                                                                                \
  {                                                                                                                    \
    .statement = "  const sr_limbs" lanes " %s = ", .end = ";\n", .comment = "  // ", .output = "  %s",                \
    .constant = {"", ""}, .open = "[", .close = "]",                                                                   \
    .call = (const char* const[SR_OP_COUNT]){[SR_OP_FUNCTION] = "SR_SUM" lanes "(%s)"},                                \
    .vector = "((sr_limbs" lanes "){", .angle = "SR_LIMBS" lanes "(%s, %d)",                                           \
    .numbers = "  static const sr_limbs" lanes " numbers[] = {\n    ",                                                 \
    .unknown = "  const sr_limbs" lanes "* number = numbers;\n  SR_UNKNOWN(number);\n", .registers = 13                \
  }
static const srSyntax in_two = IN_LANES("2"), in_four = IN_LANES("4");

static const char limbs_text[] =
    "// Limbs of the same kind in the lanes of a vector: sines of all lanes one after the other, sums over the lanes.\n"
    "#if defined(__GNUC__) && !defined(SR_FLOAT) && !defined(SR_LANES)\n"
    "#define SR_IN_VECTORS\n"
    "typedef double sr_limbs2 __attribute__((vector_size(16), may_alias));\n"
    "typedef double sr_limbs4 __attribute__((vector_size(32), may_alias));\n"
    "// GCC makes an instruction of each number that it knows; one of a table is an operand in memory.\n"
    "#define SR_UNKNOWN(table) __asm__(\"\" : \"+r\"(table))\n"
    "#define SR_LIMBS2(x, i) (*(const sr_limbs2*)((x) + 2 * (i)))\n"
    "#define SR_LIMBS4(x, i) (*(const sr_limbs4*)((x) + 4 * (i)))\n"
    "#define SR_SUM2(x)                                                                                 \\\n"
    "  __extension__({                                                                                  \\\n"
    "    const sr_limbs2 x_ = (x);                                                                      \\\n"
    "    x_ + (sr_limbs2){x_[1], x_[0]};                                                                \\\n"
    "  })\n"
    "#define SR_SUM4(x)                                                                                 \\\n"
    "  __extension__({                                                                                  \\\n"
    "    const sr_limbs4 x_ = (x), y_ = x_ + (sr_limbs4){x_[2], x_[3], x_[0], x_[1]};                   \\\n"
    "    y_ + (sr_limbs4){y_[1], y_[0], y_[3], y_[2]};                                                  \\\n"
    "  })\n"
    "#endif\n";

static void declaration(const srEmitUnit* unit, const srEmitFunction* f, const char* restricted, const char* more,
                        srText* to) {
  sr_text_print(to, "void %s_%s%s(", unit->model, f->name, more);
  for (int i = 0; i < f->nin; i++)
    sr_text_print(to, "%sconst sr_real*%s %s", i > 0 ? ", " : "", restricted, f->in[i].name);
  for (int i = 0; i < f->nout; i++)
    sr_text_print(to, "%ssr_real*%s %s", i + f->nin > 0 ? ", " : "", restricted, f->out[i].name);
  sr_text_print(to, ")");
}

static void call(const srEmitUnit* unit, const srEmitFunction* f, const char* more, const char* q, srText* to) {
  sr_text_print(to, "  %s_%s%s(", unit->model, f->name, more);
  for (int i = 0; i < f->nin; i++)
    sr_text_print(to, "%s%s", i > 0 ? ", " : "", strcmp(f->in[i].name, "q") == 0 ? q : f->in[i].name);
  for (int i = 0; i < f->nout; i++) sr_text_print(to, "%s%s", i + f->nin > 0 ? ", " : "", f->out[i].name);
  sr_text_print(to, ");\n");
}

// Angles one after the other, of limbs in lanes of a vector each of all lanes.
static void packs(srPool* pool, const srEmitFunction* f, const int* list, int n, const char* before, srText* to) {
  const int lanes = f->lanes ? f->lanes->n : 1, all = n * lanes;
  for (int i = 0; i < all; i += 4) {
    sr_text_print(to, "%s(%d, %d", before, all - i < 4 ? all - i : 4, i);
    for (int k = i; k < i + 4; k++) {
      sr_text_print(to, ", ");
      if (k < all)
        sr_emit_angle(pool, f, &syntax, list[k / lanes], k % lanes, to);
      else
        sr_text_print(to, "none");
    }
    sr_text_print(to, ");\n");
  }
}

// Large angles: where q is used in angles alone, the function is called again with angles of one turn. That call is the last thing that is done, and costs the others no registers.
// Limbs in lanes of a vector leave them to the whole.
static void angles(srPool* pool, const srEmitUnit* unit, const srEmitFunction* f, const srEmitFunction* whole,
                   srText* to) {
  int* list;
  const int n = sr_emit_angles(pool, f, &list), all = f->lanes ? n * f->lanes->n : n, room = (all + 3) / 4 * 4;
  if (n == 0) return;
  sr_text_print(to, "  sr_real sine[%d]%s, cosine[%d]%s;\n  const sr_real none = {0};\n  (void)none;\n", room,
                f->lanes ? " __attribute__((aligned(32)))" : "", room, f->lanes ? " __attribute__((aligned(32)))" : "");
  packs(pool, f, list, n, "  SR_SINCOS", to);
  sr_text_print(to, "  if (SR_LARGE(");
  for (int i = 0; i < all; i += 4) sr_text_print(to, "%ssquare_%d", i > 0 ? " + " : "", i);
  sr_text_print(to, ")) {\n");
  if (f->lanes != NULL || sr_emit_turns(pool, f, unit->nq) != NULL) {
    sr_text_print(to, "  ");
    call(unit, whole, f->lanes ? "" : "_large", "q", to);
    sr_text_print(to, "    return;\n");
  } else {
    packs(pool, f, list, n, "    SR_SINCOS_LIBM", to);
  }
  sr_text_print(to, "  }\n");
}

static void large(srPool* pool, const srEmitUnit* unit, const srEmitFunction* f, bool body, srText* to) {
  const unsigned char* turns = sr_emit_turns(pool, f, unit->nq);
  if (turns == NULL) return;
  sr_text_print(to, "\nSR_COLD ");
  declaration(unit, f, "", "_large", to);
  sr_text_print(to, body ? " {\n  sr_real one_turn[%d];\n  memcpy(one_turn, q, sizeof one_turn);\n" : ";", unit->nq);
  for (int i = 0; i < unit->nq && body; i++) {
    if (turns[i])
      sr_text_print(to, "  one_turn[%d] = SR_EACH2(atan2, SR_EACH(sin, q[%d]), SR_EACH(cos, q[%d]));\n", i, i, i);
  }
  if (body) call(unit, f, "", "one_turn", to);
  sr_text_print(to, body ? "}\n" : "");
}

// The same with limbs in lanes of a vector; what has no such vectors calls the whole.
static void limbs(srPool* pool, const srEmitUnit* unit, const srEmitFunction* whole, const srEmitFunction* f, srText* h,
                  srText* c) {
  if (f == NULL) return;
  sr_text_print(h, "\n");
  sr_emit_about(f, "// ", h);
  sr_text_print(h, "// Limbs of the same kind are in %d lanes of a vector.\n", f->lanes->n);
  declaration(unit, f, "", "", h);
  sr_text_print(h, ";\n");
  sr_text_print(c, "\n// %s\n// Limbs in %d lanes.\n", f->about, f->lanes->n);
  declaration(unit, f, " restrict", "", c);
  sr_text_print(c, " {\n#ifdef SR_IN_VECTORS\n");
  for (int k = 0; k < f->nin; k++) sr_text_print(c, "  (void)%s;\n", f->in[k].name);
  angles(pool, unit, f, whole, c);
  sr_emit_rest(pool, f, &syntax, c);
  sr_emit_body(pool, f, f->lanes->n == 2 ? &in_two : &in_four, c);
  sr_text_print(c, "#else\n");
  call(unit, whole, "", "q", c);
  sr_text_print(c, "#endif\n}\n");
}

static bool has_limbs(const srEmitUnit* unit) {
  for (int i = 0; i < unit->nfunction; i++) {
    for (int in = 0; in < SR_EMIT_LANES; in++) {
      if (unit->function[i].in_lanes[in] != NULL) return true;
    }
  }
  return false;
}

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  srText *h = &to[0].text, *c = &to[1].text;
  to[0].name = sr_pool_printf(pool, "%s.h", unit->model), to[1].name = sr_pool_printf(pool, "%s.c", unit->model);
  sr_emit_head(unit, &syntax, "// ", h);
  sr_text_print(h, "#ifndef SR_GENERATED_%s\n#define SR_GENERATED_%s\n\n%s\n", unit->model, unit->model, real_type);
  sr_text_print(h, "enum { %s_nq = %d, %s_nv = %d };  // sizes of q and v\n\n", unit->model, unit->nq, unit->model,
                unit->nv);
  sr_text_print(h, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  sr_text_print(c, "// Equations of motion of %s, generated by %s.\n", unit->title, unit->source);
  sr_text_print(c, "#include \"%s.h\"\n\n#include <math.h>\n#include <string.h>\n\n%s%s%s", unit->model, sincos_text,
                each_text, select_text);
  if (has_limbs(unit)) sr_text_print(c, "%s", limbs_text);
  if (sr_emit_uses(unit, SR_OP_STRIBECK)) sr_text_print(c, "%s", stribeck_text);
  sr_emit_tables(unit, lookup_text, "static const sr_number table%d[%d] = {", "};\n", c);
  if (unit->nfold > 0) sr_text_print(c, "%s", some_text);
  sr_emit_folds(pool, unit, &folds, &syntax, c);
  for (int i = 0; i < unit->nfunction; i++) {
    const srEmitFunction* f = &unit->function[i];
    sr_text_print(h, "\n");
    sr_emit_about(f, "// ", h);
    declaration(unit, f, "", "", h);
    sr_text_print(h, ";\n");
    large(pool, unit, f, false, c);
    sr_text_print(c, "\n// %s\n", f->about);
    declaration(unit, f, " restrict", "", c);
    sr_text_print(c, " {\n");
    for (int k = 0; k < f->nin; k++) sr_text_print(c, "  (void)%s;\n", f->in[k].name);
    for (int k = 0; k < f->nout; k++) {
      if (f->out[k].rows == 0) sr_text_print(c, "  (void)%s;\n", f->out[k].name);
    }
    angles(pool, unit, f, f, c);
    sr_emit_body(pool, f, &syntax, c);
    sr_text_print(c, "}\n");
    large(pool, unit, f, true, c);
    for (int in = 0; in < SR_EMIT_LANES; in++) limbs(pool, unit, f, f->in_lanes[in], h, c);
  }
  sr_text_print(h, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
  return 2;
}

const srLanguage sr_language_c = {"c", write};
