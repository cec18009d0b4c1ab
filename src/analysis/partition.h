// Independent and dependent coordinates, and the dependent ones from the others.
#ifndef SR_ANALYSIS_PARTITION_H
#define SR_ANALYSIS_PARTITION_H

#include <sarrus/analysis.h>

#include "math/dense.h"

typedef struct srPartitioning srPartitioning;
srPartitioning* sr_partitioning_create(const srModel* m);  // NULL: out of memory
void sr_partitioning_destroy(srPartitioning* p);
void sr_partitioning_choose(srPartitioning* p, const srData* d);  // by d->G
// Warnings for joints whose `nature` the choice could not follow.
void sr_partitioning_tell(const srPartitioning* p, srMessages* messages);
int sr_partitioning_rank(const srPartitioning* p);
int sr_partitioning_dependent(const srPartitioning* p, int k);  // velocity coordinate, k < rank
// Dependent coordinates and velocities of d->q and d->v; dx: scratch (nv). > 0: no solution from here. *smallest: least pivot.
int sr_partitioning_solve(srPartitioning* p, srData* d, double* dx, double* smallest);
// Takes a new partition when the pivots have become small; true when it did.
bool sr_partitioning_update(srPartitioning* p, const srData* d, double smallest);

#endif
