// Fuzzer of the reader of our own model files.
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size <= FUZZ_LONGEST) fuzz_reader((const char*)data, size, NULL);
  return 0;
}
