// Rows of a run, gathered in memory that doubles as it fills: no call into the host for every row. The time reached and the
// wish to stop pass between two threads: the one that runs, and the one that waits for it.
#include <string.h>

#include "access/type.h"
#include "base/base.h"

struct srRowStore {
  double* rows;
  size_t ncolumn, nrow, room;
  bool lost;
  double t;  // reached; atomic
  int stop;  // atomic
};

srRowStore* sr_row_store_create(int ncolumn) {
  srRowStore* x = ncolumn > 0 ? sr_alloc(sizeof *x) : NULL;
  if (x) x->ncolumn = (size_t)ncolumn;
  return x;
}

void sr_row_store_destroy(srRowStore* store) {
  if (!store) return;
  sr_free(store->rows);
  sr_free(store);
}

static bool grow(srRowStore* x) {
  const size_t room = x->room ? 2 * x->room : 1024, row = x->ncolumn * sizeof *x->rows;
  if (room > SIZE_MAX / row) return false;
  double* rows = sr_alloc(room * row);
  if (!rows) return false;
  if (x->nrow) memcpy(rows, x->rows, x->nrow * row);
  sr_free(x->rows);
  x->rows = rows;
  x->room = room;
  return true;
}

int sr_row_store_add(void* store, const double* row) {
  srRowStore* x = store;
  if (x->nrow == x->room && !grow(x)) {
    x->lost = true;
    return 1;
  }
  memcpy(x->rows + x->nrow++ * x->ncolumn, row, x->ncolumn * sizeof *row);
  return 0;
}

const double* sr_row_store_rows(const srRowStore* store, long* nrow) {
  *nrow = (long)store->nrow;
  return store->rows;
}

bool sr_row_store_complete(const srRowStore* store) { return !store->lost; }

int sr_row_store_progress(void* store, double t, double t_end) {
  srRowStore* x = store;
  (void)t_end;
  __atomic_store(&x->t, &t, __ATOMIC_RELAXED);
  return __atomic_load_n(&x->stop, __ATOMIC_RELAXED);
}

double sr_row_store_time(const srRowStore* store) {
  double t;
  __atomic_load(&store->t, &t, __ATOMIC_RELAXED);
  return t;
}

int sr_row_store_stopped(void* store) { return __atomic_load_n(&((srRowStore*)store)->stop, __ATOMIC_RELAXED); }
void sr_row_store_stop(srRowStore* store) { __atomic_store_n(&store->stop, 1, __ATOMIC_RELAXED); }
