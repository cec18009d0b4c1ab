// Fuzzer of xacro's load_yaml: nothing may crash, leak or hang, and what is read can be printed.
#include <stdlib.h>

#include "fuzz_reader.h"
#include "io/reader.h"
#include "io/xacro_parts.h"

static void read_yaml(srReader* r, const char* text, size_t size) {
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
  const bool good = sr_xacro_yaml_text(&x, sr_pool_text_n(&r->pool, text, size), "fuzz.yaml", &value);
  if (good == x.failed) abort();
  if (good) sr_xacro_print(&x, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const srLoadOptions none = {0};
  if (size > FUZZ_LONGEST) return 0;
  srReader r = {.options = &none, .messages = sr_messages_create()};
  read_yaml(&r, (const char*)data, size);
  sr_pool_free(&r.text);
  sr_pool_free(&r.pool);
  sr_messages_destroy(r.messages);
  return 0;
}
