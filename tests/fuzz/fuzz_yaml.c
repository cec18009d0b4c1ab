// Fuzzer of xacro's load_yaml: nothing may crash, leak or hang, and what is read can be printed.
#include "fuzz_xacro.h"

static void use_yaml(srXacro* x, char* text) {
  srXacroValue value;
  const bool good = sr_xacro_yaml_text(x, text, "fuzz.yaml", &value);
  if (good == x->failed) abort();
  if (good) sr_xacro_print(x, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size <= FUZZ_LONGEST) fuzz_xacro((const char*)data, size, use_yaml);
  return 0;
}
