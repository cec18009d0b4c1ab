// Tables z(x, y) on a rectangular grid as functions for formulas.
#ifndef SR_EXPR_TABLE2_H
#define SR_EXPR_TABLE2_H

#include <sarrus/function.h>

#include "base/base.h"
#include "expr/expr.h"
#include "math/spline2.h"

typedef struct srTable2 {
  int nx, ny;
  const double *x, *y;  // in increasing order
  const double* z;      // nx x ny: at the first x for all y, then at the second, ...
  bool cubic;           // else linear
  srmSplineEnds ends
      [2];  // of x and of y: how the spline ends, and what is beyond (natural: along the end tangent; clamped: holds;
            // periodic: repeats)
} srTable2;

// Are the n values of an axis finite and in increasing order? False with a sentence in reason. name: "x" or "y".
bool sr_table2_axis(const double* x, int n, const char* name, char* reason, size_t size);
// The function, in pool; axes have passed sr_table2_axis. False with a sentence in reason when the values do not allow it.
bool sr_table2(srPool* pool, const srTable2* table, srFunction2* out, char* reason, size_t size);

// What a table made above consists of. False: it is another function.
typedef struct srTableView {
  const srPiecewise2* pieces;
  srmSplineEnds ends[2];
} srTableView;
bool sr_table2_view(const srFunction2* table, srTableView* out);

// The corners of a table made above (expr.h), in pool. False: it has none.
bool sr_table2_parts(srPool* pool, const srFunction2* table, srTableParts* out);

#endif
