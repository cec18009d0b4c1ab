// Patterns of names: * stands for any letters, ? for one.
#include <sarrus/base.h>

bool sr_pattern_fits(const char* pattern, const char* text) {
  const char *star = NULL, *again = NULL;  // the last * and where its letters end so far
  while (*text) {
    if (*pattern == '*') {
      star = pattern++;
      again = text;
    } else if (*pattern == '?' || *pattern == *text) {
      pattern++;
      text++;
    } else if (star) {
      pattern = star + 1;
      text = ++again;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == 0;
}
