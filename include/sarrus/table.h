// Tables of results in memory: read by io.h, compared by report.h.
#ifndef SARRUS_TABLE_H
#define SARRUS_TABLE_H

#include <sarrus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// By columns.
typedef struct srResultTable {
  int ncolumn, nrow;
  const char** names;  // (ncolumn); c1, c2, ... where the file has none
  const char** units;  // (ncolumn); "" where none is given
  double** columns;    // (ncolumn) x (nrow); NaN where a field is empty
} srResultTable;

SR_API int sr_table_column(const srResultTable* table, const char* name);  // its index, or -1

#ifdef __cplusplus
}
#endif
#endif
