// Texts that grow in memory, and JSON written into them: the building blocks of reports (report.h). No function fails: a text
// that ran out of memory sets `failed`, and accepts nothing more.
#ifndef SARRUS_TEXT_H
#define SARRUS_TEXT_H

#include <sarrus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// All zero: an empty one.
typedef struct srText {
  char* data;  // n bytes and a zero behind them; NULL: nothing was added
  size_t n, capacity;
  bool failed;          // out of memory: the text is cut
  struct srPool* pool;  // memory of the library's own texts; NULL: the heap
} srText;

SR_API void sr_text_add(srText* text, const char* bytes, size_t n);
SR_API void sr_text_print(srText* text, const char* format, ...) SR_PRINTF(2, 3);
// "file:line:column: error: ..."; without a file it begins with "sarrus".
SR_API void sr_text_message(srText* text, const srMessage* message);
SR_API void sr_text_free(srText* text);  // empty again

// Frees a text that a function has returned.
SR_API void sr_free_text(char* text);

// -------------------------------------------------------------------------------------------------------------- JSON
// RFC 8259, numbers with 17 digits, NaN and infinities as null. Every call writes at once. Values inside an object have a
// key, those inside an array have none (NULL). Members of the top object are on lines of their own.
#define SR_JSON_DEPTH 16
typedef struct srJson {
  srText* out;
  int depth;
  bool filled[SR_JSON_DEPTH];  // at each depth: something was written, a comma comes next
} srJson;

SR_API srJson sr_json_begin(srText* out);  // opens the one object
SR_API void sr_json_end(srJson* json);     // closes it, with a newline
SR_API void sr_json_object(srJson* json, const char* key);
SR_API void sr_json_object_end(srJson* json);
SR_API void sr_json_array(srJson* json, const char* key);
SR_API void sr_json_array_end(srJson* json);
SR_API void sr_json_text(srJson* json, const char* key, const char* text);  // NULL: null
SR_API void sr_json_bool(srJson* json, const char* key, bool value);
SR_API void sr_json_int(srJson* json, const char* key, long long value);
SR_API void sr_json_number(srJson* json, const char* key, double value);
SR_API void sr_json_numbers(srJson* json, const char* key, const double* x, int n);
SR_API void sr_json_matrix(srJson* json, const char* key, const double* x, int rows, int columns);  // array of rows
SR_API void sr_json_raw(srJson* json, const char* key, const char* value);  // a value that is JSON already
// The messages of that severity, as texts; none where messages is NULL.
SR_API void sr_json_messages(srJson* json, const char* key, const srMessages* messages, srSeverity severity);
SR_API void sr_json_warnings(srJson* json, const srMessages* messages);  // "warnings": [...], "notes": [...]

// ------------------------------------------------------------------------------------------------------- reading JSON
// All values of a text, in the order in which they begin; a value comes before its members.
typedef struct srJsonNode {
  const char *key, *text;  // within the text that was read, quotes and escapes as written; key NULL: it has none
  int nkey, n;             // their lengths
  int end;                 // the node behind the last member
} srJsonNode;
typedef struct srJsonTree {
  srJsonNode* node;  // node[0] is the whole
  int n, room;
} srJsonTree;
typedef struct srJsonError {
  int line, column;
  char text[160];
} srJsonError;
// RFC 8259; nested 64 deep at the most. False: what and where is in error, which may be NULL; the tree is to be freed in any case.
SR_API bool sr_json_read(const char* text, size_t size, srJsonTree* out, srJsonError* error);
SR_API void sr_json_tree_free(srJsonTree* tree);
SR_API int sr_json_member(const srJsonTree* tree, int at, const char* key);  // of an object; -1: there is none
SR_API bool sr_json_node_number(const srJsonNode* node, double* out);        // false: it is none
// Adds the text with its escapes resolved. False: it is none, or holds half a pair of surrogates or a zero.
SR_API bool sr_json_node_text(const srJsonNode* node, srText* out);

#ifdef __cplusplus
}
#endif
#endif
