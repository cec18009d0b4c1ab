// JavaScript: one module (ES6) of functions that write to arrays.
#include "symbolic/emit.h"

static const char* const calls[SR_OP_COUNT] = {[SR_OP_POW] = "Math.pow(%s, %s)",
                                               [SR_OP_SIN] = "Math.sin(%s)",
                                               [SR_OP_COS] = "Math.cos(%s)",
                                               [SR_OP_TAN] = "Math.tan(%s)",
                                               [SR_OP_ASIN] = "Math.asin(%s)",
                                               [SR_OP_ACOS] = "Math.acos(%s)",
                                               [SR_OP_ATAN2] = "Math.atan2(%s, %s)",
                                               [SR_OP_EXP] = "Math.exp(%s)",
                                               [SR_OP_LOG] = "Math.log(%s)",
                                               [SR_OP_SQRT] = "Math.sqrt(%s)",
                                               [SR_OP_ABS] = "Math.abs(%s)",
                                               [SR_OP_MIN] = "Math.min(%s, %s)",
                                               [SR_OP_MAX] = "Math.max(%s, %s)",
                                               [SR_OP_SIGN] = "Math.sign(%s)",
                                               [SR_OP_STEP] = "(%s >= 0 ? 1 : 0)",
                                               [SR_OP_FLOOR] = "Math.floor(%s)",
                                               [SR_OP_LT] = "(%s < %s ? 1 : 0)",
                                               [SR_OP_LE] = "(%s <= %s ? 1 : 0)",
                                               [SR_OP_EQ] = "(%s === %s ? 1 : 0)",
                                               [SR_OP_IF] = "(%s !== 0 ? %s : %s)",
                                               [SR_OP_STRIBECK] = "stribeck(%s, %s, %s)",
                                               [SR_OP_LOOKUP] = "entry(%t, %s)"};

static const char lookup_text[] =
    "\nfunction entry(table, at) {\n"
    "  return table[at >= 0 ? Math.min(at, table.length - 1) : 0];\n"
    "}\n";

// The x >= 0 with x + a exp(-x^delta) = b, as srm_stribeck_root.
static const char stribeck_text[] =
    "\nfunction stribeck(a, b, delta) {\n"
    "  let low = b - a, high = b, x = low;\n"
    "  if (!(b > a)) return 0;\n"
    "  for (let i = 0; i < 60 && a > 0; i++) {\n"
    "    const power = Math.pow(x, delta), fall = a * Math.exp(-power), residual = x + fall - b;\n"
    "    if (residual > 0) high = x; else low = x;\n"
    "    let next = x - residual / (1 - (x > 0 ? delta * power / x * fall : 0));\n"
    "    if (!(next >= low && next <= high)) next = 0.5 * (low + high);\n"
    "    if (Math.abs(next - x) <= 1e-15 * high) return next;\n"
    "    x = next;\n"
    "  }\n"
    "  return x;\n"
    "}\n";

static const srFoldText folds = {.some = "\n// @: is there anything to do?\nfunction fold&_some(index, arg, some) {\n",
                                 .some_end = "  return some[0];\n}\n",
                                 .step = "\nfunction fold&_step(index, arg, state, next) {\n",
                                 .step_end = "}\n",
                                 .loop =
                                     "\nfunction fold&(arg) {\n"
                                     "  let state = new Float64Array($), next = new Float64Array($);\n"
                                     "  for (let i = 0; i < %0 * %1 * %2 * %3; i++) {\n"
                                     "    const index = [Math.floor(i / (%1 * %2 * %3)), Math.floor(i / (%2 * %3)) % "
                                     "%1, Math.floor(i / %3) % %2, i % %3];\n"
                                     "    if (fold&_some(index, arg, [0]) === 0) continue;\n"
                                     "    fold&_step(index, arg, state, next);\n"
                                     "    [state, next] = [next, state];\n"
                                     "  }\n"
                                     "  return state;\n"
                                     "}\n"};

static const srSyntax syntax = {.statement = "  const %s = ",
                                .end = ";\n",
                                .comment = "  // ",
                                .output = "  %s",
                                .constant = {"", ""},
                                .open = "[",
                                .close = "]",
                                .call = calls,
                                .fold = "  const @ = fold&([",
                                .fold_end = "]);\n",
                                .registers = 13};

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  srText* out = &to[0].text;
  to[0].name = sr_pool_printf(pool, "%s.mjs", unit->model);
  sr_emit_head(unit, &syntax, "// ", out);
  if (sr_emit_uses(unit, SR_OP_STRIBECK)) sr_text_print(out, "%s", stribeck_text);
  sr_emit_tables(unit, lookup_text, "const table%d = [", "];\n", out);
  sr_emit_folds(pool, unit, &folds, &syntax, out);
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
