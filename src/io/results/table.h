// Result tables of either kind, CSV and HDF5: what their readers and writers share.
#ifndef SR_IO_RESULTS_TABLE_H
#define SR_IO_RESULTS_TABLE_H

#include <sarrus/io.h>

#include "base/file.h"

// A table that was read, and its memory: the columns have their own, all else is in the pool.
typedef struct srTableMemory {
  srResultTable seen;  // first: what the caller has
  srPool pool;
  int capacity;  // rows of each column
} srTableMemory;

// csv.c
void sr_csv_discard(srCsv* csv);

// hdf5.c, or hdf5_without.c where the library is not there.
typedef struct srHdf5 srHdf5;
srStatus sr_hdf5_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                        const char* const* units, srMessages* messages, srHdf5** out);
srStatus sr_hdf5_row(srHdf5* file, const double* row);
srStatus sr_hdf5_close(srHdf5* file, srMessages* messages);
void sr_hdf5_discard(srHdf5* file);
srStatus sr_hdf5_read(const char* path, srMessages* messages, srResultTable** out);

#endif
