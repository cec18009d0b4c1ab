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
// The messages of that severity, as texts; none where messages is NULL.
SR_API void sr_json_messages(srJson* json, const char* key, const srMessages* messages, srSeverity severity);
SR_API void sr_json_warnings(srJson* json, const srMessages* messages);  // "warnings": [...], "notes": [...]

#ifdef __cplusplus
}
#endif
#endif
