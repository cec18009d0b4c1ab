// Fuzzer of the writers of URDF and MJCF: whatever is read and compiled, in any of the languages, is converted, and what was
// written must be read again, and compile. Refused may be what another language has no room for: trees that are too deep,
// numbers that are too large.
#include <sarrus/io.h>
#include <sarrus/model.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static bool is_excused(const srMessages* messages) {
  static const char* const reasons[] = {"too large", "deep", "more than"};
  for (int i = 0; i < sr_messages_count(messages); i++)
    for (int k = 0; k < 3; k++)
      if (strstr(sr_messages_get(messages, i)->text, reasons[k])) return true;
  return false;
}

static void fail(const srConversion* c, const srMessages* messages) {
  for (int i = 0; i < sr_messages_count(messages); i++) {
    char line[400];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    fprintf(stderr, "%s\n", line);
  }
  fprintf(stderr, "%s", c->text);
  abort();
}

static void write_and_read(const srSpec* spec, const char* format) {
  srConversion* c;
  srMessages* messages = sr_messages_create();
  srSpec* again = NULL;
  srModel* model = NULL;
  if (sr_convert(spec, format, NULL, NULL, &c) != SR_OK) abort();  // it compiled before
  const srLoadOptions options = {.base = c->base};
  srStatus status = sr_load_text(c->text, c->size, "again", NULL, &options, messages, &again);
  if (status == SR_OK) status = sr_compile(again, messages, &model);
  if (status != SR_OK && !is_excused(messages)) fail(c, messages);
  sr_model_destroy(model);
  srs_destroy(again);
  sr_messages_destroy(messages);
  sr_conversion_destroy(c);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  srSpec* spec;
  srModel* model = NULL;
  if (size > 20000 || sr_load_text((const char*)data, size, "fuzz", NULL, NULL, NULL, &spec) != SR_OK) return 0;
  const bool plugin = srs_count(spec, SR_ELEMENT_PLUGIN) > 0;  // no library is loaded here
  if (!plugin && sr_compile(spec, NULL, &model) == SR_OK) {
    write_and_read(spec, "urdf");
    write_and_read(spec, "mjcf");
  }
  sr_model_destroy(model);
  srs_destroy(spec);
  return 0;
}
