// Fuzzer of the URDF reader, with both bases.
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > FUZZ_LONGEST) return 0;
  if (!fuzz_has(data, size, "<robot")) return -1;  // not kept
  fuzz_reader((const char*)data, size, size % 2 ? "fixed" : "floating");
  return 0;
}
