// Networks of components from files (root <network>): read, checked, stepped and reported. docs/using/network.md
//
//   srNetworkFile* f = NULL;
//   if (sr_network_load("turntable.xml", NULL, messages, &f) == SR_OK && sr_network_ready(f->network, 1) == SR_OK)
//     sr_network_step(f->network, 1e-4);
//   sr_network_file_destroy(f);
#ifndef SARRUS_NETFILE_H
#define SARRUS_NETFILE_H

#include <sarrus/io.h>
#include <sarrus/network.h>
#include <sarrus/record.h>
#include <sarrus/report.h>

#ifdef __cplusplus
extern "C" {
#endif

// The methods of a network, as words: "rk4" (sr_network_step) and "euler" (sr_network_euler).
SR_API int sr_network_method_count(void);
SR_API const char* sr_network_method(int i);

typedef struct srNetworkOptions {
  const char* method;
  double t_end, step;         // s
  double every;               // s between rows; 0: a thousandth of the time
  int threads;                // >= 1
  const char* const* record;  // names or patterns of columns, behind those of <record>
  int nrecord;
  void* user;
  int (*row)(void* user, const double* row);            // nonzero: stop. NULL: no rows
  int (*progress)(void* user, double t, double t_end);  // nonzero: stop; may be NULL
} srNetworkOptions;

typedef struct srNetworkFile {
  const char* name;
  srNetwork* network;        // to be made ready; its first components are those of the file, in their order, ...
  int ncomponent;            // ... so many; behind them come the maps of terminals
  srNetworkOptions options;  // of <run>
  int nfile;
  const char* const* file;  // all that were read
  struct srNetworkFilePrivate* priv;
} srNetworkFile;

// Is the root of the file <network>? False also where it cannot be read.
SR_API bool sr_is_network(const char* path);
// Reads a network and the models it names. All errors go to messages, which must outlive *out: SR_INPUT; SR_IO where the file
// cannot be read. options may be NULL; `base` is refused. *out is NULL unless SR_OK.
SR_API srStatus sr_network_load(const char* path, const srLoadOptions* options, srMessages* messages,
                                srNetworkFile** out);
// The same from memory; messages use name for the file. Files that it refers to are refused unless folder is given.
SR_API srStatus sr_network_load_text(const char* text, size_t size, const char* name, const char* folder,
                                     const srLoadOptions* options, srMessages* messages, srNetworkFile** out);
SR_API void sr_network_file_destroy(srNetworkFile* file);

// Columns of a row: t; COMPONENT.SIGNAL of all outputs of admittances; then those of <record> and of `record` (nrecord): outputs
// COMPONENT.SIGNAL, input(COMPONENT).SIGNAL, state(COMPONENT).SIGNAL. SR_INPUT: nothing has such a name. *out is NULL unless SR_OK.
SR_API srStatus sr_network_columns_create(const srNetworkFile* file, const char* const* record, int nrecord,
                                          srMessages* messages, srColumns** out);
SR_API void sr_network_columns_destroy(srColumns* columns);
// All names that srNetworkOptions.record takes.
SR_API void sr_report_network_signals(const srNetworkFile* file, srReportForm form, srText* out);

typedef struct srNetworkResult {
  double t;
  long steps, evaluations, rows;
  double seconds;
  char error_message[256];  // why it stopped early; "": it did not
} srNetworkResult;
// Makes the network ready and steps it to t_end; the last step may be shorter. Rows are at the ends of steps. SR_INPUT: in messages.
// SR_FAILED: result has the reason, and the network the last good state. May be called once.
SR_API srStatus sr_network_run(srNetworkFile* file, const srNetworkOptions* options, srMessages* messages,
                               srNetworkResult* result);

// After sr_network_ready.
SR_API void sr_report_network_check(const srNetworkFile* file, const srMessages* messages, srReportForm form,
                                    srText* out);
typedef struct srNetworkRunReport {
  const srNetworkFile* file;
  const srNetworkOptions* options;
  const srNetworkResult* result;
  const char* path;            // of the file, for people
  const char* out;             // file of the rows; NULL: none
  int columns;                 // of it
  const char* error_message;   // why the run stopped early; NULL: it did not
  const srMessages* messages;  // warnings and notes of the JSON; NULL: none
  bool verbose;                // text: everything
} srNetworkRunReport;
SR_API void sr_report_network_run(const srNetworkRunReport* run, srReportForm form, srText* out);

#ifdef __cplusplus
}
#endif
#endif
