// The languages of generated code.
#include <string.h>

#include "symbolic/emit.h"

extern const srLanguage sr_language_c, sr_language_js, sr_language_python, sr_language_octave, sr_language_cuda;
static const srLanguage* const languages[] = {&sr_language_c, &sr_language_js, &sr_language_python, &sr_language_octave,
                                              &sr_language_cuda};

const srLanguage* sr_language_find(const char* word) {
  for (int i = 0; i < SR_COUNT(languages); i++) {
    if (strcmp(languages[i]->word, word) == 0) return languages[i];
  }
  return NULL;
}

int sr_language_words(const char** words, int capacity) {
  int n = 0;
  for (; n < SR_COUNT(languages) && n < capacity; n++) words[n] = languages[n]->word;
  return n;
}
