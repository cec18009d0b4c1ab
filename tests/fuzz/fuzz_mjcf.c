// Fuzzer of the reader of MJCF. What has no root is put into <mujoco>.
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char open[] = "<mujoco>", close[] = "</mujoco>";
  if (size > FUZZ_LONGEST) return 0;
  if (fuzz_has(data, size, "<mujoco")) {  // a whole file
    fuzz_reader((const char*)data, size, NULL);
    return 0;
  }
  char* text = malloc(size + sizeof open + sizeof close);
  memcpy(text, open, sizeof open - 1);
  if (size > 0) memcpy(text + sizeof open - 1, data, size);
  memcpy(text + sizeof open - 1 + size, close, sizeof close - 1);
  fuzz_reader(text, size + sizeof open + sizeof close - 2, NULL);
  free(text);
  return 0;
}
