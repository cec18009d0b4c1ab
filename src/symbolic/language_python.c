// Python with numpy: functions that return arrays. Inputs may have further dimensions, one state for each entry of them: q[0] is then an array, and all of them are computed at once.
#include "symbolic/emit.h"

static const char* const calls[SR_OP_COUNT] = {
    [SR_OP_POW] = "np.power(%s, %s)",     [SR_OP_SIN] = "np.sin(%s)",     [SR_OP_COS] = "np.cos(%s)",
    [SR_OP_TAN] = "np.tan(%s)",           [SR_OP_ASIN] = "np.arcsin(%s)", [SR_OP_ACOS] = "np.arccos(%s)",
    [SR_OP_ATAN2] = "np.arctan2(%s, %s)", [SR_OP_EXP] = "np.exp(%s)",     [SR_OP_LOG] = "np.log(%s)",
    [SR_OP_SQRT] = "np.sqrt(%s)",         [SR_OP_ABS] = "np.abs(%s)"};

static const srSyntax syntax = {.statement = "    %s = ",
                                .end = "\n",
                                .comment = "    # ",
                                .output = "    %s",
                                .constant = {"", ""},
                                .open = "[",
                                .close = "]",
                                .two = "[%d, %d]",
                                .call = calls};

static void function(srPool* pool, const srEmitFunction* f, srText* out) {
  sr_text_print(out, "\n\ndef %s(", f->name);
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
  for (int i = 0; i < unit->nfunction; i++) function(pool, &unit->function[i], out);
  return 1;
}

const srLanguage sr_language_python = {"python", write};
