// Octave and MATLAB: a file for each function, as both find them by the name of the file.
#include "symbolic/emit.h"

static const char* const calls[SR_OP_COUNT] = {
    [SR_OP_POW] = "power(%s, %s)",   [SR_OP_SIN] = "sin(%s)",           [SR_OP_COS] = "cos(%s)",
    [SR_OP_TAN] = "tan(%s)",         [SR_OP_ASIN] = "asin(%s)",         [SR_OP_ACOS] = "acos(%s)",
    [SR_OP_ATAN2] = "atan2(%s, %s)", [SR_OP_EXP] = "exp(%s)",           [SR_OP_LOG] = "log(%s)",
    [SR_OP_SQRT] = "sqrt(%s)",       [SR_OP_ABS] = "abs(%s)",           [SR_OP_MIN] = "min(%s, %s)",
    [SR_OP_MAX] = "max(%s, %s)",     [SR_OP_SIGN] = "sign(%s)",         [SR_OP_STEP] = "double(%s >= 0)",
    [SR_OP_FLOOR] = "floor(%s)",     [SR_OP_LT] = "double(%s < %s)",    [SR_OP_LE] = "double(%s <= %s)",
    [SR_OP_EQ] = "double(%s == %s)", [SR_OP_IF] = "choose(%s, %s, %s)", [SR_OP_STRIBECK] = "stribeck(%s, %s, %s)",
    [SR_OP_LOOKUP] = "entry(%t, %s)"};

static const char lookup_text[] =
    "\nfunction x = entry(table, at)\n"
    "  x = table(1 + min(max(at, 0), numel(table) - 1));\n"
    "end\n";

static const char choose_text[] =
    "\nfunction x = choose(c, a, b)\n"
    "  if c ~= 0\n"
    "    x = a;\n"
    "  else\n"
    "    x = b;\n"
    "  end\n"
    "end\n";

// The x >= 0 with x + a exp(-x^delta) = b, as srm_stribeck_root.
static const char stribeck_text[] =
    "\nfunction x = stribeck(a, b, delta)\n"
    "  x = max(b - a, 0); low = x; high = b;\n"
    "  for i = 1:60\n"
    "    if ~(b > a && a > 0), break; end\n"
    "    power = x^delta; fall = a*exp(-power); residual = x + fall - b;\n"
    "    if residual > 0, high = x; else low = x; end\n"
    "    slope = 1;\n"
    "    if x > 0, slope = 1 - delta*power/x*fall; end\n"
    "    after = x - residual/slope;\n"
    "    if ~(after >= low && after <= high), after = 0.5*(low + high); end\n"
    "    done = abs(after - x) <= 1e-15*high; x = after;\n"
    "    if done, break; end\n"
    "  end\n"
    "end\n";

static const srFoldText folds = {
    .table = "  table%d = [",
    .table_end = "];\n",
    .some = "\n% @: is there anything to do?\nfunction some = fold&_some(index, arg)\n  some = 0;\n",
    .some_end = "end\n",
    .step = "\nfunction next = fold&_step(index, arg, state)\n  next = zeros(1, $);\n",
    .step_end = "end\n",
    .loop =
        "\nfunction state = fold&(arg)\n"
        "  state = zeros(1, $);\n"
        "  for i = 0:%0 * %1 * %2 * %3 - 1\n"
        "    index = [floor(i / (%1 * %2 * %3)), mod(floor(i / (%2 * %3)), %1), mod(floor(i / %3), %2), mod(i, %3)];\n"
        "    if fold&_some(index, arg) ~= 0\n"
        "      state = fold&_step(index, arg, state);\n"
        "    end\n"
        "  end\n"
        "end\n"};

static const srSyntax syntax = {.statement = "  %s = ",
                                .end = ";\n",
                                .comment = "  % ",
                                .output = "  %s",
                                .constant = {"", ""},
                                .base = 1,
                                .open = "(",
                                .close = ")",
                                .two = "(%d, %d)",
                                .call = calls,
                                .fold = "  @ = fold&([",
                                .fold_end = "]);\n",
                                .registers = 13};

static void function(srPool* pool, const srEmitUnit* unit, const srEmitFunction* f, srText* out) {
  sr_text_print(out, "function %s", f->nout > 1 ? "[" : "");
  for (int k = 0; k < f->nout; k++) sr_text_print(out, "%s%s", k > 0 ? ", " : "", f->out[k].name);
  sr_text_print(out, "%s = %s_%s(", f->nout > 1 ? "]" : "", unit->model, f->name);
  for (int k = 0; k < f->nin; k++) sr_text_print(out, "%s%s", k > 0 ? ", " : "", f->in[k].name);
  sr_text_print(out, ")\n");
  sr_emit_head(unit, &syntax, "% ", out);
  sr_emit_about(f, "% ", out);
  sr_emit_sines(pool, f, &syntax, "  %s = [", "", "];\n", out);
  for (int k = 0; k < unit->ntable; k++) {
    if (sr_emit_uses_table(f, k)) sr_emit_table(unit, k, "  table%d = [", "];\n", out);
  }
  for (int k = 0; k < f->nout; k++)
    sr_text_print(out, "  %s = zeros(%d, %d);\n", f->out[k].name, f->out[k].rows, f->out[k].columns);
  sr_emit_body(pool, f, &syntax, out);
  sr_text_print(out, "end\n");
  for (int k = 0; k < unit->nfold; k++) {
    if (sr_emit_uses_fold(unit, f, k)) sr_emit_fold(pool, unit, k, &folds, &syntax, out);
  }
  if (sr_emit_has(f, SR_OP_IF)) sr_text_print(out, "%s", choose_text);
  if (sr_emit_has(f, SR_OP_STRIBECK)) sr_text_print(out, "%s", stribeck_text);
  if (sr_emit_has(f, SR_OP_LOOKUP)) sr_text_print(out, "%s", lookup_text);
}

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  for (int i = 0; i < unit->nfunction; i++) {
    to[i].name = sr_pool_printf(pool, "%s_%s.m", unit->model, unit->function[i].name);
    function(pool, unit, &unit->function[i], &to[i].text);
  }
  return unit->nfunction;
}

const srLanguage sr_language_octave = {"octave", write};
