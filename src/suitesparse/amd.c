// An order of elimination by AMD of SuiteSparse: approximate minimum degree on a quotient graph.      Amestoy, Davis and Duff (2004), ACM TOMS algorithm 837
// It takes memory from the C library (klu.c), and returns it at once.
#include <amd.h>

#include "math/sparse.h"

static bool find(int n, const int* start, const int* neighbour, int* order) {
  return n == 0 || amd_order(n, start, neighbour, order, NULL, NULL) >= AMD_OK;
}

const srmOrder srm_amd = {.name = "amd", .find = find};
