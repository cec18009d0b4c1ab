// The module sarrus-mpi.so: all that Sarrus calls of MPI. It is not linked with MPI either: who loads it has loaded that.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../ranks.h"

enum { TAG = 7 };

typedef struct Sent {
  struct Sent* next;
  MPI_Request request;
  char bytes[];
} Sent;

static Sent* sent;

// Frees what has arrived; true: all of it has.
static bool clear_sent(bool wait) {
  for (Sent** p = &sent; *p;) {
    int done = 1;
    Sent* s = *p;
    if (wait)
      MPI_Wait(&s->request, MPI_STATUS_IGNORE);
    else
      MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    if (done) {
      *p = s->next;
      free(s);
    } else {
      p = &s->next;
    }
  }
  return !sent;
}

static bool ranks_begin(int* rank, int* size) {
  int there = 0;
  if (MPI_Initialized(&there) != MPI_SUCCESS || (!there && MPI_Init(NULL, NULL) != MPI_SUCCESS)) return false;
  return MPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS && MPI_Comm_size(MPI_COMM_WORLD, size) == MPI_SUCCESS;
}

static bool ranks_send(int to, const void* bytes, int n) {
  Sent* s = malloc(sizeof *s + (size_t)n);
  if (!s) return false;
  memcpy(s->bytes, bytes, (size_t)n);
  (void)clear_sent(false);
  if (MPI_Isend(s->bytes, n, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &s->request) != MPI_SUCCESS) return free(s), false;
  s->next = sent;
  sent = s;
  return true;
}

static int ranks_receive(int* from, char** bytes) {
  int there = 0, n = 0;
  MPI_Status status;
  (void)clear_sent(false);
  if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there) return -1;
  MPI_Get_count(&status, MPI_BYTE, &n);
  *bytes = malloc((size_t)n + 1);
  if (!*bytes) return -1;
  *from = status.MPI_SOURCE;
  MPI_Recv(*bytes, n, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return n;
}

static void ranks_end(void) {
  (void)clear_sent(true);
  MPI_Finalize();
}

extern const RanksDoor sarrus_ranks;
const RanksDoor sarrus_ranks = {ranks_begin, ranks_send, ranks_receive, ranks_end};
