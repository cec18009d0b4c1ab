// Fuzzer of xacro: an input that begins with '<' is a file, written out and read as a robot; any other is a formula.
// Nothing may crash, leak or hang.
#include "fuzz_xacro.h"

static void use_formula(srXacro* x, char* text) {
  srXacroValue value;
  sr_xacro_set(x, x->global, "a", sr_xacro_int(3), true, (srPlace){0});
  sr_xacro_set(x, x->global, "b", sr_xacro_str("${a + 1}"), true, (srPlace){0});
  const bool good = sr_xacro_formula(x, x->global, text, (srPlace){0}, &value);
  if (good == x->failed || good != (sr_reader_errors(x->r) == 0)) abort();
  if (good) sr_xacro_print(x, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > FUZZ_LONGEST) return 0;
  if (data[0] == '<')
    fuzz_reader((const char*)data, size, NULL);
  else
    fuzz_xacro((const char*)data, size, use_formula);
  return 0;
}
