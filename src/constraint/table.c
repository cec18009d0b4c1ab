// The kinds of closures by their words.
#include "model/closure.h"

#define SR_CLOSURE_ROW(NAME, kind, word) {word, &sr_closure_##kind},
const srClosureWord sr_closure_words[] = {SR_CLOSURE_LIST(SR_CLOSURE_ROW)};
#undef SR_CLOSURE_ROW
const int sr_closure_word_count = (int)(sizeof sr_closure_words / sizeof sr_closure_words[0]);
