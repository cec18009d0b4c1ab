// Result tables: written in the format given by the name, read in the format found in the content.
#include "io/results/table.h"

#include <stdio.h>
#include <string.h>

#include "io/text.h"

struct srTableWriter {
  srCsv* csv;  // one of the two
  srHdf5* hdf5;
};

srStatus sr_table_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                         const char* const* units, srMessages* messages, srTableWriter** out) {
  *out = NULL;
  if (!sr_output_fits(path, SR_CONTENT_TABLE, messages)) return SR_INPUT;
  srTableWriter* table = sr_alloc(sizeof *table);
  if (!table) return SR_MEMORY;
  const srStatus status = sr_text_ends_with(path, ".h5") || sr_text_ends_with(path, ".hdf5")
                              ? sr_hdf5_create(path, provenance, ncolumn, names, units, messages, &table->hdf5)
                              : sr_csv_create(path, provenance, ncolumn, names, units, messages, &table->csv);
  if (status == SR_OK)
    *out = table;
  else
    sr_free(table);
  return status;
}

srStatus sr_table_row(srTableWriter* table, const double* row) {
  return table->csv ? sr_csv_row(table->csv, row) : sr_hdf5_row(table->hdf5, row);
}

srStatus sr_table_close(srTableWriter* table, srMessages* messages) {
  if (!table) return SR_OK;
  const srStatus status = table->csv ? sr_csv_close(table->csv, messages) : sr_hdf5_close(table->hdf5, messages);
  sr_free(table);
  return status;
}

void sr_table_discard(srTableWriter* table) {
  if (!table) return;
  if (table->csv)
    sr_csv_discard(table->csv);
  else
    sr_hdf5_discard(table->hdf5);
  sr_free(table);
}

// The signature may be at 0, 512, 1024, 2048, ...: later positions are for files with a user block in front.
static bool is_hdf5(const char* path) {
  static const char signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  srReason reason;
  FILE* file = sr_file_open(path, &reason);
  bool found = false;
  for (long at = 0; file && !found && at < (1L << 20); at = at ? 2 * at : 512) {
    char head[8];
    if (fseek(file, at, SEEK_SET) != 0 || fread(head, 1, 8, file) != 8) break;
    found = memcmp(head, signature, 8) == 0;
  }
  if (file) fclose(file);
  return found;
}

srStatus sr_table_read(const char* path, srMessages* messages, srResultTable** out) {
  return is_hdf5(path) ? sr_hdf5_read(path, messages, out) : sr_csv_read(path, messages, out);
}

void sr_table_destroy(srResultTable* table) {
  if (!table) return;
  srTableMemory* memory = (srTableMemory*)table;
  for (int i = 0; i < table->ncolumn && table->columns; i++) sr_free(table->columns[i]);
  sr_pool_free(&memory->pool);
  sr_free(memory);
}
