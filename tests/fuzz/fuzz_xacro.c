// Fuzzer of xacro: an input that begins with '<' is a file, written out and read as a robot; any other is a formula.
// Nothing may crash, leak or hang.
#include "fuzz_reader.h"
#include "io/reader.h"
#include "io/xacro_parts.h"

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
  if (size == 0 || size > FUZZ_LONGEST) return 0;
  if (data[0] == '<')
    fuzz_reader((const char*)data, size, NULL);
  else
    read_formula((const char*)data, size);
  return 0;
}
