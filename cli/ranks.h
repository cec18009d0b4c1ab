// Processes of MPI as the module mpi/ranks.c offers them. The program is not linked with MPI: it loads the module where mpirun has started it.
#ifndef SARRUS_CLI_RANKS_H
#define SARRUS_CLI_RANKS_H

#include <stdbool.h>

typedef struct RanksDoor {
  bool (*begin)(int* rank, int* size);
  // Messages of n bytes in the order of sending. Neither call waits: what is sent is copied.
  bool (*send)(int to, const void* bytes, int n);
  int (*receive)(int* from, char** bytes);  // length, -1: there is none; *bytes is to be freed
  void (*end)(void);                        // when all that was sent has arrived
} RanksDoor;

#define RANKS_SYMBOL "sarrus_ranks"  // const RanksDoor
#define RANKS_MODULE "sarrus-mpi.so"

#endif
