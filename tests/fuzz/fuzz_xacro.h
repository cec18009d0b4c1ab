// What the fuzzers of xacro's parts share: a reader and its scope, empty, that end with the input.
#ifndef SR_FUZZ_XACRO_H
#define SR_FUZZ_XACRO_H

#include "fuzz_reader.h"
#include "io/xacro/parts.h"
#include "io/xml/reader.h"

typedef void (*FuzzUse)(srXacro* x, char* text);  // text may be taken apart

static void fuzz_guarded(srReader* r, const char* text, size_t size, FuzzUse use) {
  jmp_buf no_memory;
  if (setjmp(no_memory) != 0) return;
  r->pool.on_fail = r->text.on_fail = &no_memory;
  sr_names_init(&r->ignored_names, &r->pool);
  const srImport how = {.base = "fixed"};
  srXacro x = {.r = r, .how = &how, .file = "fuzz"};
  sr_names_init(&x.macro_names, &r->pool);
  sr_names_init(&x.argument_names, &r->pool);
  sr_names_init(&x.said, &r->pool);
  x.global = sr_xacro_scope(&x, NULL);
  use(&x, sr_pool_text_n(&r->pool, text, size));
}

static inline void fuzz_xacro(const char* text, size_t size, FuzzUse use) {
  static const srLoadOptions none = {0};
  srReader r = {.options = &none, .messages = sr_messages_create()};
  fuzz_guarded(&r, text, size, use);
  sr_pool_free(&r.text);
  sr_pool_free(&r.pool);
  sr_messages_destroy(r.messages);
}

#endif
