// Texts of model files: blanks, endings, and lists of words written "a|b|c".
#ifndef SR_IO_TEXT_H
#define SR_IO_TEXT_H

#include "base/base.h"

bool sr_text_is_blank(char c);                        // as XML has them: ' ', tab and line ends
bool sr_text_is(const char* text, const char* word);  // false where there is no text
bool sr_text_ends_with(const char* text, const char* end);

// Place of a word in "a|b|c", from 0; -1: it is not there.
int sr_text_place_among(const char* word, const char* list);
bool sr_text_is_among(const char* word, const char* list);
// The words of "a|b|c" behind the n that are there, `most` at the most; returns how many there are then.
int sr_text_split(srPool* pool, const char* list, const char** words, int n, int most);
// "a, b or c" of n words, at least one.
const char* sr_text_alternatives(srPool* pool, const char* const* words, int n);

#endif
