// A small reader of JSON, for files of numbers.
#ifndef SARRUS_CLI_JSON_H
#define SARRUS_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>

// Reads the numbers and arrays of numbers under known keys of the top object; everything else is checked and
// skipped.
typedef struct JsonWanted {
  const char* key;
  bool list;  // an array of numbers; else one number
  double* x;  // result, NULL when the key is not there; to be freed
  int n;
} JsonWanted;

typedef struct JsonError {
  int line, column;
  char text[160];
} JsonError;

// size bytes of text. False: error_message states where and what; what was found so far must still be freed.
bool json_read(const char* text, size_t size, JsonWanted* wanted, int n, JsonError* error_message);

#endif
