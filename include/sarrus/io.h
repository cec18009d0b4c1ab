// Readers and writers: model files to srSpec and back, result tables to CSV.
#ifndef SARRUS_IO_H
#define SARRUS_IO_H

#include <sarrus/base.h>
#include <sarrus/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

// --set NAME=VALUE: overrides the value of a parameter of the model file. The value may be a formula of numbers.
typedef struct srSetting {
  const char* name;
  const char* value;
} srSetting;

// Reads a model file. All errors go to messages (file:line:column), not only the first; then SR_INPUT. A setting whose
// name is no parameter of the model is an error. *out is NULL unless SR_OK.
SR_API srStatus sr_load(const char* path, const srSetting* settings, int nsetting, srMessages* messages, srSpec** out);
// The same from memory; name stands for the file in messages. Includes and CSV files are refused unless folder is given.
SR_API srStatus sr_load_text(const char* text, size_t size, const char* name, const char* folder,
                             const srSetting* settings, int nsetting, srMessages* messages, srSpec** out);

// Writes a spec as a model file: `<repeat>` and `<include>` expanded, formulas as they were written. Reading it again
// gives the same model.
SR_API srStatus sr_save(const srSpec* spec, const char* path, srMessages* messages);
// The same into memory, to be freed with sr_free_text.
SR_API char* sr_save_text(const srSpec* spec, size_t* size);
SR_API void sr_free_text(char* text);

// Result table as CSV: one provenance line (# ...), one header line (name [unit], ...), then rows with 17 digits.
typedef struct srCsv srCsv;
SR_API srStatus sr_csv_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                              const char* const* units, srMessages* messages, srCsv** out);
SR_API srStatus sr_csv_row(srCsv* csv, const double* row);  // allocates nothing
SR_API srStatus sr_csv_close(srCsv* csv);                   // flushes; reports a full disk

// A table of results, by columns: one that was written as above, or by another program. Fields are separated by commas,
// semicolons, tabs or blanks; beside the last three a comma may be the decimal point. Lines that begin with # are left
// out.
typedef struct srCsvTable {
  int ncolumn, nrow;
  const char** names;  // (ncolumn); c1, c2, ... where the file has no line of names
  const char** units;  // (ncolumn); "" where none is given as "name [unit]" or "name (unit)"
  double** columns;    // (ncolumn) x (nrow); NaN where a field is empty
} srCsvTable;
// Errors go to messages with file, line and column: SR_INPUT; SR_IO when the file cannot be read. *out is NULL unless
// SR_OK.
SR_API srStatus sr_csv_read(const char* path, srMessages* messages, srCsvTable** out);
SR_API void sr_csv_table_destroy(srCsvTable* table);

#ifdef __cplusplus
}
#endif
#endif
