// Fuzzer of the URDF reader: text to spec with both bases, to our format and back, to a compiled model. Nothing may crash,
// leak or hang, and what was read must survive writing.
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

static void read_with(const char* text, size_t size, const char* base) {
  srMessages* messages = sr_messages_create();
  srSpec* spec;
  srModel* model = NULL;
  const srStatus status = sr_load_text(text, size, "fuzz", NULL, &(srLoadOptions){.base = base}, messages, &spec);
  if ((status == SR_OK) != (sr_messages_errors(messages) == 0) || (status == SR_OK) != (spec != NULL)) abort();
  if (spec) {
    write_and_read(spec);
    sr_compile(spec, messages, &model);
  }
  sr_model_destroy(model);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char root[] = "<robot";
  if (size > 20000) return 0;
  // Without the root it would be another reader that is fuzzed.
  size_t at = 0;
  while (at + sizeof root - 1 <= size && memcmp(data + at, root, sizeof root - 1) != 0) at++;
  if (at + sizeof root - 1 > size) return -1;  // not kept
  read_with((const char*)data, size, size % 2 ? "fixed" : "floating");
  return 0;
}
