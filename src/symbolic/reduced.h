// Equations reduced to independent coordinates, with pivots that are fixed when the code is generated.
#ifndef SR_SYMBOLIC_REDUCED_H
#define SR_SYMBOLIC_REDUCED_H

#include "symbolic/tree.h"

// Pivot k of LU is at equation row[k] and coordinate dependent[k]; equations that are not listed are redundant, or those of drivers.
typedef struct srSymPartition {
  int nindependent, ndependent, ndriven;
  const int *independent, *driven;  // coordinates, ascending
  const int *dependent, *row;       // ndependent, in the order of pivots
  const int* driver;                // ndriven: row of the driver
} srSymPartition;

// Pivots at the state of d, whose constraint matrix is known; independent: nv, as srPartitionOptions; NULL: LU chooses. tree: whose rows have the zeros.
srStatus sr_sym_partition(const srSymTree* tree, srData* d, const unsigned char* independent, srMessages* messages,
                          srSymPartition** out);

// Accelerations of all coordinates for the forces tau.
void sr_sym_accelred(srSymPass* pass, const srSymPartition* partition, const srNode* tau, srNode* a);
// Forces on independent and driven coordinates that give accelerations a beside known forces tau; 0 of dependent ones.
void sr_sym_invdynared(srSymPass* pass, const srSymPartition* partition, const srNode* a, const srNode* tau, srNode* Q);

#endif
