// Octave and MATLAB: a file for each function, as both find them by the name of the file.
#include "symbolic/emit.h"

static const char* const calls[SR_OP_COUNT] = {
    [SR_OP_POW] = "power(%s, %s)", [SR_OP_SIN] = "sin(%s)",   [SR_OP_COS] = "cos(%s)",         [SR_OP_TAN] = "tan(%s)",
    [SR_OP_ASIN] = "asin(%s)",     [SR_OP_ACOS] = "acos(%s)", [SR_OP_ATAN2] = "atan2(%s, %s)", [SR_OP_EXP] = "exp(%s)",
    [SR_OP_LOG] = "log(%s)",       [SR_OP_SQRT] = "sqrt(%s)", [SR_OP_ABS] = "abs(%s)"};

static const srSyntax syntax = {.statement = "  %s = ",
                                .end = ";\n",
                                .comment = "  % ",
                                .output = "  %s",
                                .constant = {"", ""},
                                .base = 1,
                                .open = "(",
                                .close = ")",
                                .two = "(%d, %d)",
                                .call = calls};

static void function(srPool* pool, const srEmitUnit* unit, const srEmitFunction* f, srText* out) {
  sr_text_print(out, "function %s", f->nout > 1 ? "[" : "");
  for (int k = 0; k < f->nout; k++) sr_text_print(out, "%s%s", k > 0 ? ", " : "", f->out[k].name);
  sr_text_print(out, "%s = %s_%s(", f->nout > 1 ? "]" : "", unit->model, f->name);
  for (int k = 0; k < f->nin; k++) sr_text_print(out, "%s%s", k > 0 ? ", " : "", f->in[k].name);
  sr_text_print(out, ")\n");
  sr_emit_head(unit, &syntax, "% ", out);
  sr_emit_about(f, "% ", out);
  sr_emit_sines(pool, f, &syntax, "  %s = [", "", "];\n", out);
  for (int k = 0; k < f->nout; k++)
    sr_text_print(out, "  %s = zeros(%d, %d);\n", f->out[k].name, f->out[k].rows, f->out[k].columns);
  sr_emit_body(pool, f, &syntax, out);
  sr_text_print(out, "end\n");
}

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  for (int i = 0; i < unit->nfunction; i++) {
    to[i].name = sr_pool_printf(pool, "%s_%s.m", unit->model, unit->function[i].name);
    function(pool, unit, &unit->function[i], &to[i].text);
  }
  return unit->nfunction;
}

const srLanguage sr_language_octave = {"octave", write};
