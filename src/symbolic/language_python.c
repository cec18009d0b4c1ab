// Python with numpy: functions that return arrays. Inputs may have further dimensions, one state for each entry of them: q[0] is then an array, and all of them are computed at once.
#include "symbolic/emit.h"

static const char* const calls[SR_OP_COUNT] = {[SR_OP_POW] = "np.power(%s, %s)",
                                               [SR_OP_SIN] = "np.sin(%s)",
                                               [SR_OP_COS] = "np.cos(%s)",
                                               [SR_OP_TAN] = "np.tan(%s)",
                                               [SR_OP_ASIN] = "np.arcsin(%s)",
                                               [SR_OP_ACOS] = "np.arccos(%s)",
                                               [SR_OP_ATAN2] = "np.arctan2(%s, %s)",
                                               [SR_OP_EXP] = "np.exp(%s)",
                                               [SR_OP_LOG] = "np.log(%s)",
                                               [SR_OP_SQRT] = "np.sqrt(%s)",
                                               [SR_OP_ABS] = "np.abs(%s)",
                                               [SR_OP_MIN] = "np.minimum(%s, %s)",
                                               [SR_OP_MAX] = "np.maximum(%s, %s)",
                                               [SR_OP_SIGN] = "np.sign(%s)",
                                               [SR_OP_STEP] = "1.0*(%s >= 0)",
                                               [SR_OP_FLOOR] = "np.floor(%s)",
                                               [SR_OP_LT] = "1.0*(%s < %s)",
                                               [SR_OP_LE] = "1.0*(%s <= %s)",
                                               [SR_OP_EQ] = "1.0*(%s == %s)",
                                               [SR_OP_IF] = "np.where(%s != 0, %s, %s)",
                                               [SR_OP_STRIBECK] = "stribeck(%s, %s, %s)",
                                               [SR_OP_LOOKUP] = "entry(%t, %s)"};

static const char lookup_text[] =
    "\n\ndef entry(table, at):\n"
    "    return table[np.clip(np.nan_to_num(at), 0, len(table) - 1).astype(int)]\n\n\n";

// The x >= 0 with x + a exp(-x^delta) = b, as srm_stribeck_root; of all states at once.
static const char stribeck_text[] =
    "\n\ndef stribeck(a, b, delta):\n"
    "    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))\n"
    "    low, high = np.maximum(b - a, 0), np.maximum(b, 0)\n"
    "    x = low.copy()\n"
    "    for _ in range(60):\n"
    "        power = np.power(x, delta)\n"
    "        fall = a*np.exp(-power)\n"
    "        residual = x + fall - b\n"
    "        high, low = np.where(residual > 0, x, high), np.where(residual > 0, low, x)\n"
    "        step = x - residual/(1 - np.where(x > 0, delta*power/np.where(x > 0, x, 1)*fall, 0))\n"
    "        after = np.where((step >= low) & (step <= high), step, 0.5*(low + high))\n"
    "        done = np.all(np.abs(after - x) <= 1e-15*high)\n"
    "        x = after\n"
    "        if done: break\n"
    "    return np.where(b > a, x, 0.0)\n";

static const srFoldText folds = {
    .some = "\n\n# @: is there anything to do?\ndef fold&_some(index, arg):\n    some = [0.0]\n",
    .some_end = "    return np.any(some[0])\n",
    .step = "\n\ndef fold&_step(index, arg, state):\n    next = [0.0]*$\n",
    .step_end = "    return next\n",
    .loop =
        "\n\ndef fold&(arg):\n"
        "    state = [0.0]*$\n"
        "    for index in np.ndindex(%0, %1, %2, %3):\n"
        "        if fold&_some(index, arg): state = fold&_step(index, arg, state)\n"
        "    return state\n"};

static const srSyntax syntax = {.statement = "    %s = ",
                                .end = "\n",
                                .comment = "    # ",
                                .output = "    %s",
                                .constant = {"", ""},
                                .open = "[",
                                .close = "]",
                                .two = "[%d, %d]",
                                .call = calls,
                                .fold = "    @ = fold&([",
                                .fold_end = "])\n",
                                .registers = 13};

static void function(srPool* pool, const srEmitFunction* f, srText* out) {
  if (sr_emit_has(f, SR_OP_IF))
    sr_text_print(out, "\n\n# What a select does not take may be no number.\n@np.errstate(all='ignore')\n");
  else
    sr_text_print(out, "\n\n");
  sr_text_print(out, "def %s(", f->name);
  for (int k = 0; k < f->nin; k++) sr_text_print(out, "%s%s", k > 0 ? ", " : "", f->in[k].name);
  sr_text_print(out, "):\n");
  sr_emit_about(f, "    # ", out);
  sr_emit_sines(pool, f, &syntax, "    %s = [", "np.", "]\n", out);
  for (int k = 0; k < f->nout; k++) {
    const srEmitArray* a = &f->out[k];
    sr_text_print(out, "    %s = np.zeros((%d,", a->name, a->rows);
    if (a->columns > 1) sr_text_print(out, " %d", a->columns);
    sr_text_print(out, ") + np.shape(q)[1:])\n");
  }
  sr_emit_body(pool, f, &syntax, out);
  sr_text_print(out, "    return ");
  for (int k = 0; k < f->nout; k++) sr_text_print(out, "%s%s", k > 0 ? ", " : "", f->out[k].name);
  sr_text_print(out, "\n");
}

static int write(srPool* pool, const srEmitUnit* unit, srEmitFile* to) {
  srText* out = &to[0].text;
  to[0].name = sr_pool_printf(pool, "%s.py", unit->model);
  sr_emit_head(unit, &syntax, "# ", out);
  sr_text_print(out, "import numpy as np\n");
  if (sr_emit_uses(unit, SR_OP_STRIBECK)) sr_text_print(out, "%s", stribeck_text);
  sr_emit_tables(unit, lookup_text, "table%d = np.array([", "])\n", out);
  sr_emit_folds(pool, unit, &folds, &syntax, out);
  for (int i = 0; i < unit->nfunction; i++) function(pool, &unit->function[i], out);
  return 1;
}

const srLanguage sr_language_python = {"python", write};
