// Readers and writers: model files to srSpec and back, result tables to CSV.
#ifndef SARRUS_IO_H
#define SARRUS_IO_H

#include <sarrus/base.h>
#include <sarrus/nonsmooth.h>
#include <sarrus/spec.h>
#include <sarrus/table.h>
#include <sarrus/text.h>

#ifdef __cplusplus
extern "C" {
#endif

// Options for reading. All zero: the defaults.
typedef struct srLoadOptions {
  const srSetting* settings;
  int nsetting;
  const char* base;             // URDF: "fixed" (default) or "floating", a free joint named root
  const char* const* packages;  // where package://NAME/... is searched: "NAME=FOLDER", or a folder that holds packages
  int npackage;
  // Shared libraries that the model names (<plugin>) are executed only where this is true. A library must be, links resolved,
  // in one of these folders; without any, in the folder of the model.
  bool plugins;
  const char* const* plugin_folders;
  int nplugin_folder;
} srLoadOptions;

// Reads a model file: Sarrus's own, URDF, MJCF or ROBOTRAN, recognised by its root element. All errors go to messages
// (file:line:column), not only the first; then SR_INPUT. A setting whose name is no parameter of the model is an error.
// options may be NULL. *out is NULL unless SR_OK.
SR_API srStatus sr_load(const char* path, const srLoadOptions* options, srMessages* messages, srSpec** out);
// The same from memory; messages use name for the file. Files that it refers to are refused unless folder is given.
SR_API srStatus sr_load_text(const char* text, size_t size, const char* name, const char* folder,
                             const srLoadOptions* options, srMessages* messages, srSpec** out);

// Writes a spec as a model file: `<repeat>` and `<include>` expanded, formulas as they were written. Reading it again
// gives the same model.
SR_API srStatus sr_save(const srSpec* spec, const char* path, srMessages* messages);
// The same into memory, to be freed with sr_free_text (text.h).
SR_API char* sr_save_text(const srSpec* spec, size_t* size);

// A contact problem from a file, checked (docs/using/contact-problems.md). Errors go to messages: SR_INPUT, or SR_IO when the file cannot be
// read. *out is NULL unless SR_OK.
SR_API srStatus sr_contact_problem_load(const char* path, srMessages* messages, srContactProblem** out);
// The same from memory; messages use name for the file.
SR_API srStatus sr_contact_problem_parse(const char* text, size_t n, const char* name, srMessages* messages,
                                         srContactProblem** out);
// The text of such a file, with the start values. Reading it gives the same numbers, bit for bit.
SR_API void sr_contact_problem_text(const srContactProblem* problem, srText* out);

// A surface of triangles from an STL, OBJ or DAE file, by its extension. Coincident corners are one vertex;
// triangles are counterclockwise seen from outside when the file keeps that rule. docs/robots/meshes.md
typedef struct srTriangles {
  int nvertex, ntriangle;
  double* vertex;  // nvertex x 3, in the unit of the file; of DAE in metres
  int* triangle;   // ntriangle x 3, from 0
} srTriangles;
// Errors go to messages with line and column, or with the byte of a binary file: SR_INPUT; SR_IO when the file cannot
// be read. *out is NULL unless SR_OK.
SR_API srStatus sr_mesh_read(const char* path, srMessages* messages, srTriangles** out);
SR_API void sr_mesh_destroy(srTriangles* triangles);

// Features that the other format cannot express, one entry each.
typedef enum srLossEffect {
  SR_LOSS_NOTHING,  // names, pictures, settings: the machine is the same
  SR_LOSS_START,    // the initial state
  SR_LOSS_MOTION,   // the equations of motion
} srLossEffect;
typedef struct srLost {
  const char* what;    // "'stiffness' of joint 'knee'"
  const char* reason;  // a sentence's end: what became of it, or that there is no word for it
  srPlace place;       // in the file that was read
  srLossEffect effect;
} srLost;
typedef struct srConversion {
  const char* format;  // "sarrus", "urdf", "mjcf"
  const char* text;    // the new file
  size_t size;
  const char* base;  // URDF: how it has to be read, "fixed" or "floating"; else NULL
  int nlost;
  const srLost* lost;
  struct srConversionPrivate* priv;
} srConversion;
// A spec converted to a format: "sarrus", "urdf" or "mjcf" (docs/robots/convert.md). folder: where the new file will be, for
// the paths of meshes; NULL: the working folder. The spec must compile; its errors go to messages, then SR_INPUT. *out is
// NULL unless SR_OK.
SR_API srStatus sr_convert(const srSpec* spec, const char* format, const char* folder, srMessages* messages,
                           srConversion** out);
SR_API void sr_conversion_destroy(srConversion* conversion);
// The same, written to a file. *out, which may be NULL, lists what was lost.
SR_API srStatus sr_save_as(const srSpec* spec, const char* format, const char* path, srMessages* messages,
                           srConversion** out);

// Result table as CSV: one provenance line (# ...), one header line (name [unit], ...), then rows with 17 digits.
typedef struct srCsv srCsv;
SR_API srStatus sr_csv_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                              const char* const* units, srMessages* messages, srCsv** out);
SR_API srStatus sr_csv_row(srCsv* csv, const double* row);       // allocates nothing
SR_API srStatus sr_csv_close(srCsv* csv, srMessages* messages);  // SR_FAILED: a full disk; srOutput states what remains

// A result table being written: CSV, or HDF5 where the name ends in .h5 or .hdf5 (docs/using/results.md). HDF5 is
// available when the library was built with it; else SR_IO, and a message. The HDF5 library is not thread-safe: one at a
// time.
typedef struct srTableWriter srTableWriter;
SR_API srStatus sr_table_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                                const char* const* units, srMessages* messages, srTableWriter** out);
SR_API srStatus sr_table_row(srTableWriter* table, const double* row);  // rows are kept as they come: a run may stop
SR_API srStatus sr_table_close(srTableWriter* table, srMessages* messages);  // as sr_csv_close
SR_API void sr_table_discard(srTableWriter* table);                          // the file stays what it was

// A result table written as above, or by another program; CSV and HDF5 are recognised by content. Errors go to messages with
// file, line and column: SR_INPUT; SR_IO when the file cannot be read. *out is NULL unless SR_OK.
//   CSV    fields separated by commas, semicolons, tabs or blanks; with the last three a comma may be the decimal point;
//          units as "name [unit]" or "name (unit)"; lines that begin with # are skipped
//   HDF5   a dataset `table`, rows x columns, with `names` and `units`; or data sets of one dimension and one length
SR_API srStatus sr_table_read(const char* path, srMessages* messages, srResultTable** out);
SR_API srStatus sr_csv_read(const char* path, srMessages* messages, srResultTable** out);  // CSV alone
SR_API void sr_table_destroy(srResultTable* table);

#ifdef __cplusplus
}
#endif
#endif
