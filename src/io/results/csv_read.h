// Tables of numbers from CSV files, for motions and tables of two arguments.
#ifndef SR_IO_RESULTS_CSV_READ_H
#define SR_IO_RESULTS_CSV_READ_H

#include "base/base.h"

typedef struct srTable {
  double* values;  // nrow x ncolumn, by rows
  int nrow, ncolumn;
} srTable;

// Reads rows of numbers separated by commas, semicolons or blanks. Lines that begin with # and empty lines are
// skipped; the first other line may be a header. Errors go to messages with file and line; then false. The pool's
// on_fail must be set; text ends with a zero byte.
bool sr_csv_parse(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages, srTable* out);
// The same of a grid: no header, and the first field of the first row, its corner, may be anything and is 0.
bool sr_csv_parse_grid(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages,
                       srTable* out);

#endif
