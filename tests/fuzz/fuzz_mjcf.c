// Fuzzer of the reader of MJCF: text to spec, to a file of ours and back, to a compiled model. What has no root is put into
// <mujoco>. Nothing may crash, leak or hang, and what was read must survive writing.
#include <sarrus/io.h>
#include <sarrus/model.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void write_and_read(const srSpec* spec) {
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

static void try_text(const char* text, size_t size) {
  srMessages* messages = sr_messages_create();
  srSpec* spec;
  srModel* model = NULL;
  const srStatus status = sr_load_text(text, size, "fuzz", NULL, NULL, messages, &spec);
  if ((status == SR_OK) != (sr_messages_errors(messages) == 0) || (status == SR_OK) != (spec != NULL)) abort();
  if (spec) write_and_read(spec);
  if (spec && srs_count(spec, SR_ELEMENT_PLUGIN) == 0) sr_compile(spec, messages, &model);
  sr_model_destroy(model);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

static bool holds(const uint8_t* data, size_t size, const char* word, size_t n) {
  for (size_t i = 0; i + n <= size; i++)
    if (memcmp(data + i, word, n) == 0) return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char root[] = "<mujoco", open[] = "<mujoco>", close[] = "</mujoco>";
  if (size > 20000) return 0;
  if (holds(data, size, root, sizeof root - 1)) {  // a whole file
    try_text((const char*)data, size);
    return 0;
  }
  char* text = malloc(size + sizeof open + sizeof close);
  memcpy(text, open, sizeof open - 1);
  if (size > 0) memcpy(text + sizeof open - 1, data, size);
  memcpy(text + sizeof open - 1 + size, close, sizeof close - 1);
  try_text(text, size + sizeof open + sizeof close - 2);
  free(text);
  return 0;
}
