// The C compiler of the system: $CC, else cc.
#ifndef SR_GENERATED_COMPILER_H
#define SR_GENERATED_COMPILER_H

#include "base/file.h"
#include "generated/sha256.h"

enum { SR_COMPILER_WORDS = 32 };
typedef struct srCompilerCall {
  char words[1024];
  char* argument[SR_COMPILER_WORDS + 16];  // NULL at the end
  int n;
} srCompilerCall;

// The compiler with the flags of generated code: `large` code is optimized less, else that takes minutes. lanes 0: one state at a time.
// False: there is none.
bool sr_compiler_find(srCompilerCall* c, bool large, int lanes, srReason* reason);
// What the code depends on besides its text: compiler, flags and processor.
void sr_compiler_hash(const srCompilerCall* c, srSha256* to);
// Compiles work/source to work/code.so. False: *reason has the first line that the compiler has written.
bool sr_compiler_run(const srCompilerCall* c, const char* work, const char* source, srReason* reason);

#endif
