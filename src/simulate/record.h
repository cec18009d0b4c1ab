// A row of results.
#ifndef SR_SIMULATE_RECORD_H
#define SR_SIMULATE_RECORD_H

#include <sarrus/simulate.h>

int sr_column_count(const srModel* m);
// The row of d's state, which sr_forward has evaluated. The caller passes the energies, which it has anyway.
void sr_record(const srModel* m, const srData* d, double kinetic, double potential, double residual, double* row);

#endif
