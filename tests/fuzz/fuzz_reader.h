// What the fuzzers of model readers share: text to spec, to a native file and back, to a compiled model. Nothing may crash,
// leak or hang, and what was read must survive writing.
#ifndef SR_FUZZ_READER_H
#define SR_FUZZ_READER_H

#include <sarrus/io.h>
#include <sarrus/model.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { FUZZ_LONGEST = 20000 };

static void fuzz_write_and_read(const srSpec* spec) {
  size_t size;
  srSpec* again;
  char* text = sr_save_text(spec, &size);
  if (!text) abort();
  if (sr_load_text(text, size, "again", NULL, NULL, NULL, &again) != SR_OK) abort();
  for (int k = 0; k < SR_ELEMENT_KINDS; k++)
    if (srs_count(spec, (srElementKind)k) != srs_count(again, (srElementKind)k)) abort();
  srs_destroy(again);
  sr_free_text(text);
}

// base: for URDF, else NULL.
static inline void fuzz_reader(const char* text, size_t size, const char* base) {
  srMessages* messages = sr_messages_create();
  srSpec* spec;
  srModel* model = NULL;
  const srStatus status = sr_load_text(text, size, "fuzz", NULL, &(srLoadOptions){.base = base}, messages, &spec);
  if ((status == SR_OK) != (sr_messages_errors(messages) == 0) || (status == SR_OK) != (spec != NULL)) abort();
  if (spec) fuzz_write_and_read(spec);
  if (spec && srs_count(spec, SR_ELEMENT_PLUGIN) == 0) sr_compile(spec, messages, &model);  // no library is loaded here
  sr_model_destroy(model);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

// Without its root another reader than the one meant would be fuzzed.
static inline bool fuzz_has(const uint8_t* data, size_t size, const char* root) {
  const size_t n = strlen(root);
  for (size_t i = 0; i + n <= size; i++)
    if (memcmp(data + i, root, n) == 0) return true;
  return false;
}

#endif
