// Where the HDF5 library is missing: its functions remain, and report it.
#include "io/results/table.h"

static srStatus refuse(const char* path, srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path},
                  "this is HDF5, and the program was built without its library: take CSV (another name), or build with "
                  "libhdf5-dev");
  return SR_IO;
}

srStatus sr_hdf5_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                        const char* const* units, srMessages* messages, srHdf5** out) {
  (void)provenance, (void)ncolumn, (void)names, (void)units;
  *out = NULL;
  return refuse(path, messages);
}

srStatus sr_hdf5_row(srHdf5* file, const double* row) {
  (void)file, (void)row;
  return SR_IO;
}

srStatus sr_hdf5_close(srHdf5* file, srMessages* messages) {
  (void)file, (void)messages;
  return SR_IO;
}

void sr_hdf5_discard(srHdf5* file) { (void)file; }

srStatus sr_hdf5_read(const char* path, srMessages* messages, srResultTable** out) {
  *out = NULL;
  return refuse(path, messages);
}
