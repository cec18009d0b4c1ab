// An order of points in space in which points that follow each other are near each other.
#ifndef SR_MATH_SPACE_ORDER_H
#define SR_MATH_SPACE_ORDER_H

// order (n): numbers of the points `at` (4 numbers each, the fourth of no meaning, aligned to 32 bytes), cell by cell; those of a cell keep their order. key: room for n numbers. A point that is
// not a number is in any cell.
void srm_space_order(int n, const double* at, int* key, int* order);

#endif
