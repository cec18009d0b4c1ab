// C99: a header and a source without other files. The type of numbers is chosen when it is compiled: double; float by -DSR_FLOAT; lanes, several states at once in one vector of the compiler (GCC, Clang), by -DSR_LANES=8.
// Sines and cosines of all angles are computed at once, by the polynomials of fdlibm (Sun Microsystems 1993) on |r| <= pi/4.
#include "symbolic/emit.h"

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
    "// k. Large angles are left to libm.\n"
    "#if defined(__GNUC__) && !defined(SR_FLOAT)\n"
    "#ifdef SR_LANES\n"
    "typedef sr_real sr_pack;\n"
    "#else\n"
    "typedef double sr_pack __attribute__((vector_size(32)));\n"
    "#endif\n"
    "typedef long long sr_bits __attribute__((vector_size(sizeof(sr_pack))));\n"
    "static inline int sr_any(const sr_bits* x) {\n"
    "#if defined(__AVX__) && !defined(SR_LANES)\n"
    "  return __builtin_ia32_movmskpd256((sr_pack)*x) != 0;\n"
    "#else\n"
    "  long long any = 0;\n"
    "  for (unsigned i = 0; i < sizeof *x / sizeof any; i++) any |= (*x)[i];\n"
    "  return any != 0;\n"
    "#endif\n"
    "}\n"
    "static inline void sr_sincos_pack(const sr_pack* angles, sr_pack* sine, sr_pack* cosine) {\n"
    "  const sr_pack x = *angles;\n"
    "  const sr_pack shifted = x * 6.36619772367581382433e-01 + 6755399441055744.0, k = shifted - 6755399441055744.0;\n"
    "  const sr_bits n = (sr_bits)shifted;\n"
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
    "  const sr_bits swap = (sin_r ^ cos_r) & -(n & 1);\n"
    "  *sine = (sr_pack)(sin_r ^ swap ^ (n >> 1 << 63));\n"
    "  *cosine = (sr_pack)(cos_r ^ swap ^ ((n + 1) >> 1 << 63));\n"
    "  const sr_bits large = (sr_bits)(x * x > 1e10);\n"
    "  if (__builtin_expect(sr_any(&large), 0))\n"
    "    for (unsigned i = 0; i < sizeof x / sizeof(double); i++) (*sine)[i] = sin(x[i]), (*cosine)[i] = cos(x[i]);\n"
    "}\n"
    "#ifdef SR_LANES\n"
    "#define SR_SINCOS(n, at, a, b, c, d)                                                               \\\n"
    "  do {                                                                                             \\\n"
    "    const sr_real x_[4] = {a, b, c, d};                                                            \\\n"
    "    for (int i_ = 0; i_ < n; i_++) sr_sincos_pack(x_ + i_, sine + at + i_, cosine + at + i_);      \\\n"
    "  } while (0)\n"
    "#else\n"
    "#define SR_SINCOS(n, at, a, b, c, d)                                                               \\\n"
    "  do {                                                                                             \\\n"
    "    const sr_pack x_ = {a, b, c, d};                                                               \\\n"
    "    sr_pack sine_, cosine_;                                                                        \\\n"
    "    sr_sincos_pack(&x_, &sine_, &cosine_);                                                         \\\n"
    "    memcpy(sine + at, &sine_, sizeof sine_);                                                       \\\n"
    "    memcpy(cosine + at, &cosine_, sizeof cosine_);                                                 \\\n"
    "  } while (0)\n"
    "#endif\n"
    "#else\n"
    "#define SR_SINCOS(n, at, a, b, c, d)                                                               \\\n"
    "  do {                                                                                             \\\n"
    "    const sr_real x_[4] = {a, b, c, d};                                                            \\\n"
    "    for (unsigned i_ = 0; i_ < n * sizeof *x_ / sizeof(sr_number); i_++) {                         \\\n"
    "      const sr_number angle_ = ((const sr_number*)x_)[i_];                                         \\\n"
    "      ((sr_number*)(sine + at))[i_] = sizeof angle_ == 4 ? sinf((float)angle_) : sin(angle_);      \\\n"
    "      ((sr_number*)(cosine + at))[i_] = sizeof angle_ == 4 ? cosf((float)angle_) : cos(angle_);    \\\n"
    "    }                                                                                              \\\n"
    "  } while (0)\n"
    "#endif\n";

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
    "#else\n"
    "#define SR_EACH(f, x) ((sr_number)f(x))\n"
    "#define SR_EACH2(f, x, y) ((sr_number)f(x, y))\n"
    "#endif\n";

static const char* const calls[SR_OP_COUNT] = {
    [SR_OP_POW] = "SR_EACH2(pow, %s, %s)",     [SR_OP_SIN] = "SR_EACH(sin, %s)",   [SR_OP_COS] = "SR_EACH(cos, %s)",
    [SR_OP_TAN] = "SR_EACH(tan, %s)",          [SR_OP_ASIN] = "SR_EACH(asin, %s)", [SR_OP_ACOS] = "SR_EACH(acos, %s)",
    [SR_OP_ATAN2] = "SR_EACH2(atan2, %s, %s)", [SR_OP_EXP] = "SR_EACH(exp, %s)",   [SR_OP_LOG] = "SR_EACH(log, %s)",
    [SR_OP_SQRT] = "SR_EACH(sqrt, %s)",        [SR_OP_ABS] = "SR_EACH(fabs, %s)"};

static const srSyntax syntax = {.statement = "  const sr_real %s = ",
                                .end = ";\n",
                                .comment = "  // ",
                                .output = "  %s",
                                .constant = {"(sr_real){0} + ", ""},
                                .open = "[",
                                .close = "]",
                                .call = calls};

static void declaration(const srEmitUnit* unit, const srEmitFunction* f, srText* to) {
  sr_text_print(to, "void %s_%s(", unit->model, f->name);
  for (int i = 0; i < f->nin; i++) sr_text_print(to, "%sconst sr_real* %s", i > 0 ? ", " : "", f->in[i].name);
  for (int i = 0; i < f->nout; i++) sr_text_print(to, "%ssr_real* %s", i + f->nin > 0 ? ", " : "", f->out[i].name);
  sr_text_print(to, ")");
}

static void angles(srPool* pool, const srEmitFunction* f, srText* to) {
  int* list;
  const int n = sr_emit_angles(pool, f, &list);
  if (n == 0) return;
  sr_text_print(to, "  sr_real sine[%d], cosine[%d];\n  const sr_real none = {0};\n  (void)none;\n", (n + 3) / 4 * 4,
                (n + 3) / 4 * 4);
  for (int i = 0; i < n; i += 4) {
    sr_text_print(to, "  SR_SINCOS(%d, %d", n - i < 4 ? n - i : 4, i);
    for (int k = i; k < i + 4; k++) {
      sr_text_print(to, ", ");
      if (k < n)
        sr_emit_angle(pool, f, &syntax, list[k], to);
      else
        sr_text_print(to, "none");
    }
    sr_text_print(to, ");\n");
  }
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
  sr_text_print(c, "#include \"%s.h\"\n\n#include <math.h>\n#include <string.h>\n\n%s%s", unit->model, sincos_text,
                each_text);
  for (int i = 0; i < unit->nfunction; i++) {
    const srEmitFunction* f = &unit->function[i];
    sr_text_print(h, "\n");
    sr_emit_about(f, "// ", h);
    declaration(unit, f, h);
    sr_text_print(h, ";\n");
    sr_text_print(c, "\n// %s\n", f->about);
    declaration(unit, f, c);
    sr_text_print(c, " {\n");
    for (int k = 0; k < f->nin; k++) sr_text_print(c, "  (void)%s;\n", f->in[k].name);
    angles(pool, f, c);
    sr_emit_body(pool, f, &syntax, c);
    sr_text_print(c, "}\n");
  }
  sr_text_print(h, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
  return 2;
}

const srLanguage sr_language_c = {"c", write};
