// Fuzzer of the reader of STL files.
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return fuzz_mesh(sr_stl_read, data, size); }
