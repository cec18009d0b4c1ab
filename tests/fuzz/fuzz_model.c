// Fuzzer of the model reader: text to spec, to text and back, to a compiled model. Nothing may crash, leak or hang, and
// what was read must survive writing.
#include <sarrus/io.h>
#include <sarrus/model.h>
#include <stdint.h>
#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 20000) return 0;
  srMessages* messages = sr_messages_create();
  srSpec* spec;
  srModel* model = NULL;
  const srStatus status = sr_load_text((const char*)data, size, "fuzz", NULL, NULL, messages, &spec);
  if ((status == SR_OK) != (sr_messages_errors(messages) == 0) || (status == SR_OK) != (spec != NULL)) abort();
  if (spec) write_and_read(spec);
  if (spec && srs_count(spec, SR_ELEMENT_PLUGIN) == 0) sr_compile(spec, messages, &model);  // no library is loaded here
  sr_model_destroy(model);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return 0;
}
