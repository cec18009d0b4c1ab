// Fuzzer of xacro: an input that begins with '<' is a file, written out and read as a robot; any other is a formula.
// Nothing may crash, leak or hang.
#include <sarrus/io.h>
#include <sarrus/model.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/reader.h"
#include "io/xacro_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void read_file(const char* text, size_t size) {
  srMessages* messages = sr_messages_create();
  srSpec* spec;
  srModel* model = NULL;
  const srStatus status = sr_load_text(text, size, "fuzz", NULL, NULL, messages, &spec);
  if ((status == SR_OK) != (sr_messages_errors(messages) == 0) || (status == SR_OK) != (spec != NULL)) abort();
  if (spec && srs_count(spec, SR_ELEMENT_PLUGIN) == 0) sr_compile(spec, messages, &model);
  sr_model_destroy(model);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

static void evaluate(srReader* r, const char* text, size_t size) {
  jmp_buf no_memory;
  srXacroValue value;
  if (setjmp(no_memory) != 0) return;
  r->pool.on_fail = r->text.on_fail = &no_memory;
  sr_names_init(&r->ignored_names, &r->pool);
  const srImport how = {.base = "fixed"};
  srXacro x = {.r = r, .how = &how, .file = "fuzz"};
  sr_names_init(&x.macro_names, &r->pool);
  sr_names_init(&x.argument_names, &r->pool);
  sr_names_init(&x.said, &r->pool);
  x.global = sr_xacro_scope(&x, NULL);
  sr_xacro_set(&x, x.global, "a", sr_xacro_int(3), true, (srPlace){0});
  sr_xacro_set(&x, x.global, "b", sr_xacro_str("${a + 1}"), true, (srPlace){0});
  const char* formula = sr_pool_text_n(&r->pool, text, size);
  const bool good = sr_xacro_formula(&x, x.global, formula, (srPlace){0}, &value);
  if ((good == x.failed) || good != (sr_reader_errors(r) == 0)) abort();
  if (good) sr_xacro_print(&x, &value);
}

static void read_formula(const char* text, size_t size) {
  static const srLoadOptions none = {0};
  srReader r = {.options = &none, .messages = sr_messages_create()};
  evaluate(&r, text, size);
  sr_pool_free(&r.text);
  sr_pool_free(&r.pool);
  sr_messages_destroy(r.messages);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 20000) return 0;
  if (data[0] == '<')
    read_file((const char*)data, size);
  else
    read_formula((const char*)data, size);
  return 0;
}
