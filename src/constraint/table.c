// The kinds of closures by their words.
#include <string.h>

#include "constraint/closure.h"

#define SR_CLOSURE_ROW(NAME, kind, word) {word, &sr_closure_##kind},
const srClosureWord sr_closure_words[] = {SR_CLOSURE_LIST(SR_CLOSURE_ROW)};
#undef SR_CLOSURE_ROW
const int sr_closure_word_count = (int)(sizeof sr_closure_words / sizeof sr_closure_words[0]);

const srClosureWord* sr_closure_find(const char* word) {
  for (int i = 0; i < sr_closure_word_count; i++)
    if (strcmp(sr_closure_words[i].word, word) == 0) return &sr_closure_words[i];
  return NULL;
}
