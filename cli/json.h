// JSON: a streaming writer (17 digits, NaN and infinities as null) and a small reader for files of numbers.
#ifndef SARRUS_CLI_JSON_H
#define SARRUS_CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

// ------------------------------------------------------------------------------------------------------------ writer
// Values inside an object have a key, those inside an array have none (NULL).
typedef struct Json {
  FILE* out;
  int depth;
  bool filled[16];  // at each depth: something was written, a comma comes next
} Json;

Json json_begin(FILE* out);  // opens the one object
void json_end(Json* json);   // closes it, with a newline
void json_object(Json* json, const char* key);
void json_object_end(Json* json);
void json_array(Json* json, const char* key);
void json_array_end(Json* json);
void json_text(Json* json, const char* key, const char* text);  // NULL: null
void json_bool(Json* json, const char* key, bool value);
void json_int(Json* json, const char* key, long long value);
void json_number(Json* json, const char* key, double value);
void json_numbers(Json* json, const char* key, const double* x, int n);
void json_matrix(Json* json, const char* key, const double* x, int rows, int columns);  // array of rows

// ------------------------------------------------------------------------------------------------------------ reader
// Reads the numbers and arrays of numbers that stand under known keys of the top object; everything else is checked and
// skipped.
typedef struct JsonWanted {
  const char* key;
  bool list;  // an array of numbers; else one number
  double* x;  // result, NULL when the key is not there; to be freed
  int n;
} JsonWanted;

typedef struct JsonTrouble {
  int line, column;
  char text[160];
} JsonTrouble;

// size bytes of text. False: trouble says where and why; what was found so far is to be freed all the same.
bool json_read(const char* text, size_t size, JsonWanted* wanted, int n, JsonTrouble* trouble);

#endif
