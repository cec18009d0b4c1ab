// JavaScript: one module (ES6) of functions that write to arrays.
#include "symbolic/emit.h"

static const char* const calls[SR_OP_COUNT] = {
    [SR_OP_POW] = "Math.pow(%s, %s)",     [SR_OP_SIN] = "Math.sin(%s)",   [SR_OP_COS] = "Math.cos(%s)",
    [SR_OP_TAN] = "Math.tan(%s)",         [SR_OP_ASIN] = "Math.asin(%s)", [SR_OP_ACOS] = "Math.acos(%s)",
    [SR_OP_ATAN2] = "Math.atan2(%s, %s)", [SR_OP_EXP] = "Math.exp(%s)",   [SR_OP_LOG] = "Math.log(%s)",
    [SR_OP_SQRT] = "Math.sqrt(%s)",       [SR_OP_ABS] = "Math.abs(%s)"};

static const srSyntax syntax = {.statement = "  const %s = ",
                                .end = ";\n",
                                .comment = "  // ",
                                .output = "  %s",
                                .constant = {"", ""},
                                .open = "[",
                                .close = "]",
                                .call = calls};

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  srText* out = &to[0].text;
  to[0].name = sr_pool_printf(pool, "%s.mjs", unit->model);
  sr_emit_head(unit, &syntax, "// ", out);
  for (int i = 0; i < unit->nfunction; i++) {
    const srEmitFunction* f = &unit->function[i];
    sr_text_print(out, "\n");
    sr_emit_about(f, "// ", out);
    sr_text_print(out, "export function %s(", f->name);
    for (int k = 0; k < f->nin; k++) sr_text_print(out, "%s, ", f->in[k].name);
    for (int k = 0; k < f->nout; k++) sr_text_print(out, "%s%s", k > 0 ? ", " : "", f->out[k].name);
    sr_text_print(out, ") {\n");
    sr_emit_sines(pool, f, &syntax, "  const %s = [", "Math.", "];\n", out);
    sr_emit_body(pool, f, &syntax, out);
    sr_text_print(out, "}\n");
  }
  return 1;
}

const srLanguage sr_language_js = {"js", write};
