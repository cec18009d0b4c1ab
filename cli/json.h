// Files of numbers in JSON.
#ifndef SARRUS_CLI_JSON_H
#define SARRUS_CLI_JSON_H

#include <sarrus/sarrus.h>

// Reads the numbers and arrays of numbers under known keys of the top object; everything else is checked and
// skipped.
typedef struct JsonWanted {
  const char* key;
  bool list;  // an array of numbers; else one number
  double* x;  // result, NULL when the key is not there; to be freed
  int n;
  bool words;  // a text, or an array of texts, instead of numbers
  char*
      text;  // they, each with its 0, one after the other; NULL when the key is not there; to be freed. Escapes stay as written
} JsonWanted;

// size bytes of text. False: error states where and what; what was found so far must still be freed.
bool json_read(const char* text, size_t size, JsonWanted* wanted, int n, srJsonError* error);

#endif
