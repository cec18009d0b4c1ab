// Two matrices of one pattern, summed entry by entry in an order that does not depend on the numbers. The same code runs three
// times: it counts its entries, records their positions (from which the pattern is made), and from then on adds numbers.
#ifndef SR_MATH_ENTRIES_H
#define SR_MATH_ENTRIES_H

#include <stddef.h>

typedef struct srmEntries {
  size_t next;       // the present entry
  int* pair;         // row and column of each entry, where they are recorded; NULL: counted only, or added
  const int* place;  // of each entry in A and B; NULL: nothing is added
  double *A, *B;
} srmEntries;

static inline void srm_entry(srmEntries* e, int row, int column, double a, double b) {
  const size_t i = e->next++;
  if (e->place) {
    e->A[e->place[i]] += a;
    e->B[e->place[i]] += b;
  } else if (e->pair) {
    e->pair[2 * i] = row;
    e->pair[2 * i + 1] = column;
  }
}

#endif
