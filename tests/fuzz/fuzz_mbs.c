// Fuzzer of the ROBOTRAN reader.
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > FUZZ_LONGEST) return 0;
  if (!fuzz_has(data, size, "<mbsDescR7")) return -1;  // not kept
  fuzz_reader((const char*)data, size, NULL);
  return 0;
}
