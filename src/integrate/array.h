// Vectors and matrices of the callbacks: what several methods do with them.
#ifndef SR_INTEGRATE_ARRAY_H
#define SR_INTEGRATE_ARRAY_H

#include "integrate/explicit.h"
#include "math/sparse.h"

double sri_largest(int n, const double* a);                                // |a|; 0 where n is
double sri_largest_of(const unsigned char* rows, int n, const double* a);  // over the rows that are not 0
bool sri_all_finite(int n, const double* a);
void sri_copy(double* to, const double* from, int n);  // from may be NULL where n is 0

// Numbers in M and in G as the callbacks write them.
size_t sri_mass_count(const srSystem* s);
size_t sri_rows_count(const srSystem* s);
// out = M x
void sri_mass_times(const srSystem* s, const double* M, const double* x, double* out);
// out = q (+) dxi: by `retract`, or by H(q) dxi. Outcomes as in explicit.h.
int sri_retract(const srSystem* s, const double* q, const double* dxi, double* out);

// The contacts of the system at q, followed by its clamps.
int sri_list(const srSystem* s, double t, const double* q, srUnilateral* out, int* count);
int sri_list_chosen(const srSystem* s, double t, const double* q, const srContactChoice* choice, srUnilateral* out,
                    int* count);  // all clamps, whatever the choice is
// Rows of a unilateral contact: W_k v; out += W_k^T x; is row k 0?
double sri_contact_row_times(const srUnilateral* contact, int k, const double* v);
void sri_contact_row_add(const srUnilateral* contact, int k, double x, double* out);
bool sri_contact_row_is_zero(const srUnilateral* contact, int k);

#endif
