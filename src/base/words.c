// The nearest word, for "did you mean ...": Damerau-Levenshtein distance in its form of optimal string alignment.
//   d(i,j) = min( d(i-1,j) + 1, d(i,j-1) + 1, d(i-1,j-1) + [a_i != b_j], d(i-2,j-2) + 1 if a_i a_i-1 = b_j-1 b_j )
// Upper and lower case count as equal: who writes Revolute means revolute.
#include <ctype.h>
#include <string.h>

#include "base/base.h"

#define LONGEST 63  // no word of Sarrus is longer; longer ones have no neighbour

static int lower(char c) { return tolower((unsigned char)c); }

static int smaller(int a, int b) { return a < b ? a : b; }

static int distance(const char* a, int na, const char* b, int nb) {
  int rows[3][LONGEST + 1];
  int *before = rows[0], *previous = rows[1], *current = rows[2];
  for (int j = 0; j <= nb; j++) previous[j] = j;

  for (int i = 1; i <= na; i++) {
    current[0] = i;
    for (int j = 1; j <= nb; j++) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      int d = smaller(previous[j], current[j - 1]) + 1;
      d = smaller(d, previous[j - 1] + !same);
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        d = smaller(d, before[j - 2] + 1);
      current[j] = d;
    }
    int* oldest = before;
    before = previous, previous = current, current = oldest;
  }
  return previous[nb];
}

const char* sr_nearest_word(const char* word, const char* const* words, int nword) {
  const size_t length = strlen(word);
  if (length > LONGEST) return NULL;

  const char* nearest = NULL;
  int best = LONGEST + 1;
  for (int i = 0; i < nword; i++) {
    const size_t n = words[i] ? strlen(words[i]) : LONGEST + 1;
    if (n > LONGEST) continue;
    const int d = distance(word, (int)length, words[i], (int)n);
    const int longer = (int)(length > n ? length : n);
    if (3 * d <= longer && d < best) best = d, nearest = words[i];
  }
  return nearest;
}

const char* sr_pool_guess(srPool* pool, const char* nearest) {
  const char* guess = nearest ? sr_pool_printf(pool, "; did you mean '%.60s'?", nearest) : NULL;
  return guess ? guess : "";  // out of memory: no guess
}

int sr_word_index(const char* const* words, int n, const char* word) {
  for (int i = 0; i < n; i++) {
    if (words[i] && strcmp(words[i], word) == 0) return i;
  }
  return -1;
}
