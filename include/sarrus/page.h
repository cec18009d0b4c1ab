// Pages: one HTML file with a model, the motion of its bodies, the columns of a run and its report, which a browser shows without any
// network (docs/using/page.md). The front end, which is the same for all pages, is a file that the build makes in page/.
//
//   sr_page_create(m, NULL, 0, messages, &page);
//   options.record = sr_page_record(page, &options.nrecord);
//   options.row = take_row;                                         // calls sr_page_row(page, d, row)
//   sr_run(m, d, &options, messages, &result);
//   sr_page_write(page, &(srPageDef){.front = "page.html", .report = json}, "out.html", messages, NULL);
#ifndef SARRUS_PAGE_H
#define SARRUS_PAGE_H

#include <sarrus/modes.h>
#include <sarrus/simulate.h>
#include <sarrus/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srPage srPage;

// For a run of m, which must outlive it. record: columns that the user requests (n), as in srRunOptions; the page adds forces of contacts
// and springs, where there are not too many to be seen. SR_INPUT: nothing has a requested name. *out is NULL unless SR_OK.
SR_API srStatus sr_page_create(const srModel* m, const char* const* record, int n, srMessages* messages, srPage** out);
SR_API void sr_page_destroy(srPage* page);
// Requests for srRunOptions.record: those of the user, whose columns are the first ones, then those of the page.
SR_API const char* const* sr_page_record(const srPage* page, int* n);
// Keeps a row of the run and the poses of all bodies at d's state. SR_MEMORY: the row is lost.
SR_API srStatus sr_page_row(srPage* page, const srData* d, const double* row);

// Of a table of results that a run of m has written, in relative coordinates: its columns alone, which begin with t and the coordinates q.NAME of m (else
// SR_INPUT). The rows go in one by one: bodies are placed by their coordinates, d is a scratch.
SR_API srStatus sr_page_create_table(const srModel* m, const srColumns* columns, srMessages* messages, srPage** out);
SR_API srStatus sr_page_table_row(srPage* page, srData* d, const double* row);

// Modes of small motions, which the page shows one by one: each mode is followed by the poses of SR_PAGE_PHASES phases of its period, 2 pi k / SR_PAGE_PHASES,
// at states d of sr_mode_state with this amplitude. index: of the mode in reports. A page of modes has the state that they are about as its only row.
#define SR_PAGE_PHASES 32
SR_API srStatus sr_page_mode(srPage* page, const srMode* mode, int index, double amplitude);
SR_API srStatus sr_page_phase(srPage* page, srData* d);

typedef struct srPageDef {
  const char* front;         // file of the front end
  const srModel* described;  // the model in relative coordinates, where the run has other ones; NULL: that of the run
  const char* file;          // of the model, for people; NULL: unknown
  const char* report;        // JSON of sr_report_run
  const char* provenance;    // line of sr_report_run_provenance
  const char* stability;     // of modes: a word
  const char* options;       // how the page opens, as behind ? of its address: "embed=1&theme=dark"; NULL
} srPageDef;
// SR_IO: a file cannot be opened; SR_INPUT: front is no front end; SR_FAILED: the page could not be written to its end. size (may be
// NULL): its bytes.
SR_API srStatus sr_page_write(const srPage* page, const srPageDef* def, const char* path, srMessages* messages,
                              size_t* size);

// The bodies with their shapes and their motion as glTF 2.0 in one binary file (.glb), for other programs: docs/using/page.md. described: as in srPageDef.
// Returns as sr_page_write; SR_INPUT: more than such a file can hold.
SR_API srStatus sr_page_write_glb(const srPage* page, const srModel* described, const char* path, srMessages* messages,
                                  size_t* size);
// The page of a live session (live.h) into memory: the front end with the block `live`, a JSON text, and no data. connect: the addresses that it may
// connect to, as its security policy names them. Returns as sr_page_write.
SR_API srStatus sr_page_live(const char* front, const char* live, const char* connect, srMessages* messages,
                             srText* out);

#ifdef __cplusplus
}
#endif
#endif
