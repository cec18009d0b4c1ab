// Generated code in a benchmark: compiled with the flags of `run --generated` for a processor that is named, and loaded.
#ifndef SARRUS_BENCH_CODE_H
#define SARRUS_BENCH_CODE_H

#include <sarrus/sarrus.h>
#include <stdbool.h>

typedef struct BenchCode {
  void* library;
  char stem[256];  // of the names of its functions
} BenchCode;
bool bench_code_load(const srGenerated* g, const char* march, BenchCode* code, char* reason, size_t size);
bool bench_code_find(const BenchCode* code, const char* name, void* function);  // function: address of a pointer to it
void bench_code_close(BenchCode* code);

#endif
