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
  bool words;  // a text, or an array of texts, instead of numbers
  char*
      text;  // they, each with its 0, one after the other; NULL when the key is not there; to be freed. Escapes stay as written
} JsonWanted;

typedef struct JsonError {
  int line, column;
  char text[160];
} JsonError;

// All values of a text, in the order in which they begin; a value comes before its members.
typedef struct JsonNode {
  const char *key, *text;  // within the text that was read, quotes and escapes as written; key NULL: it has none
  int nkey, n;             // their lengths
  int end;                 // the node behind the last member
} JsonNode;

typedef struct JsonTree {
  JsonNode* node;  // node[0] is the whole
  int n, room;
} JsonTree;

bool json_read_tree(const char* text, size_t size, JsonTree* out);  // false: no JSON, or no memory
void json_tree_free(JsonTree* tree);

// size bytes of text. False: error_message states where and what; what was found so far must still be freed.
bool json_read(const char* text, size_t size, JsonWanted* wanted, int n, JsonError* error_message);

#endif
