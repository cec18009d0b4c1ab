// What the parts of `sarrus sweep` share.
//   cmd_sweep.c options and order of work | sweep_row.c one row: the verb called with its parameters | sweep_cells.c results by path |
//   sweep_pool.c worker processes | sweep_journal.c rows on the disk, restart | sweep_table.c table and reports | sweep_plot.c figures |
//   sweep_ranks.c processes of MPI (mpi/ranks.c). Which values a row has: <sarrus/sweep.h>.
#ifndef SARRUS_CLI_SWEEP_H
#define SARRUS_CLI_SWEEP_H

#include <stdint.h>
#include <time.h>

#include "cli.h"

// Paths of results, or names of columns.
typedef struct Paths {
  char** item;
  int n, room;
} Paths;
bool paths_add(Paths* paths, const char* text, size_t n);  // false: out of memory
bool paths_add_list(Paths* paths, const char* text);       // separated by commas, which no name holds
void paths_free(Paths* paths);

typedef struct Sweep {
  Cli* cli;
  // options
  const Verb* verb;   // of the rows
  const char* model;  // its argument
  char** inner;       // its options
  int ninner;
  TextList grids, randoms, results;
  double sample, seed, threads, timeout;  // or NOT_GIVEN
  const char *out, *svg;
  // what they mean
  srSweep* plan;
  long long rows;
  bool* placed;      // of each parameter: it is written {NAME} in the options, and no parameter of the model
  uint64_t content;  // hash of the files that rows read
  Paths wanted;      // results, as given or by default
  bool by_default;
  Paths columns;  // the same, each a single value
  int nworker;
} Sweep;

uint64_t hash_bytes(uint64_t hash, const void* bytes, size_t n);  // FNV-1a; begins with HASH_BEGIN
#define HASH_BEGIN 14695981039346656037ull

// ---------------------------------------------------------------------------------------------------------- sweep_row.c
typedef struct Row {
  int status;      // exit status
  InnerCall kept;  // its JSON
  srMessages* messages;
  char text[400];  // first error; else the first warning
  int warnings;
} Row;
void row_run(const Sweep* s, long long row, bool opening, Row* out);
void row_free(Row* row);
// The line of the journal and of the table: cells, status, warnings, message.
void row_line(const Sweep* s, const Row* row, srText* out);
void row_line_failed(const Sweep* s, const char* status, const char* message, srText* out);
void put_quoted(srText* out, const char* text, size_t n);  // as a cell of CSV

// -------------------------------------------------------------------------------------------------------- sweep_cells.c
// The single values under the wanted paths. False: reason has a sentence.
bool cells_expand(const srJsonTree* tree, const Paths* wanted, bool lenient, Paths* out, srText* reason);
void cells_put(const srJsonTree* tree, const Paths* columns, srText* out);  // "1.5,nan,"
const char* const* cells_default(const char* verb, int* n);                 // paths; NULL: not a verb of sweeps

// --------------------------------------------------------------------------------------------------------- sweep_pool.c
enum { AHEAD = 8 };  // most rows that a worker has been given: no other can take them, should the first take long
typedef struct Worker {
  int pid;  // 0: none
  int to, from;
  long long given[AHEAD];  // in this order
  int n;
  double started;  // the first of them
  bool late;       // ended for taking too long
  char* bytes;     // of replies
  size_t size, room;
} Worker;

typedef struct Pool {
  Sweep* sweep;
  Worker* worker;
  int n;
  long long* waiting;  // rows that no worker has: a queue from first on
  long long first, nwaiting, room;
  double mean;  // seconds of a row
  void (*done)(void* user, long long row, const char* line, size_t n);
  void* user;
} Pool;

bool pool_begin(Pool* pool, Sweep* s, int n);
// Runs a row for the columns of its results: 1 they are in *out, 0 the row failed, -1 a path is wrong, reported. 2: stopped.
int pool_probe(Pool* pool, long long row, Paths* out);
bool pool_set_columns(Pool* pool);                       // tells the workers; false: reported
long long pool_wants(const Pool* pool, double seconds);  // rows to be added, so that there is work for this time
bool pool_add(Pool* pool, long long row);
bool pool_step(Pool* pool, int milliseconds);  // gives rows out and takes results; false: no worker can be started
void pool_end(Pool* pool);

// ------------------------------------------------------------------------------------------------------ sweep_journal.c
typedef struct Journal {
  char* path;  // NULL: a nameless file
  int file;
  long long end;  // of what is written
  srText pending;
  long long* offset;  // of the line of each row; -1: not done
  int* length;
  long long rows, done, resumed;
  time_t synced;
} Journal;
void sweep_command(const Sweep* s, srText* out);  // what makes it the same sweep, as it would be typed
// Opens it, and reads the rows of a sweep that was stopped. False: reported. *columns is set where the journal has them.
bool journal_open(Journal* j, Sweep* s);
bool journal_begin(Journal* j, Sweep* s);  // writes the head with the columns; false: reported
bool journal_has(const Journal* j, long long row);
void journal_put(Journal* j, long long row, const char* line, size_t n);
bool journal_flush(Journal* j, Cli* cli);  // false: reported
bool journal_line(const Journal* j, long long row, srText* out);
void journal_close(Journal* j, bool remove);

// -------------------------------------------------------------------------------------------------------- sweep_table.c
typedef struct Outcome {
  long long failed, warned;
  double seconds;
  int ranks;
  const long long* by_rank;  // rows of each; NULL: there is one
  bool stopped;
  char first[500];  // message of the first row that failed, or else that warned
} Outcome;
bool table_write(Sweep* s, const Journal* j);  // --out; false: reported
void table_count(const Sweep* s, const Journal* j, Outcome* out);
void table_report(const Sweep* s, const Journal* j, const Outcome* outcome, srText* out);
// Numbers of a column, NaN where there is none; status: 0 ok. NULL: out of memory. *words: some value is a word.
double* table_numbers(const Sweep* s, const Journal* j, int column, bool* words);

bool plot_sweep(Sweep* s, const Journal* j);  // sweep_plot.c: --svg; false: reported

// -------------------------------------------------------------------------------------------------------- sweep_ranks.c
typedef struct Ranks Ranks;
int ranks_launched(int* rank);  // by mpirun: how many, 0 where they are not known; 1: not launched by it
// After pool_begin: processes are started before MPI is. *rank 0 leads the sweep. NULL: reported.
Ranks* ranks_begin(Sweep* s, int* rank, int* size);
void ranks_serve(Ranks* r, Pool* pool);  // of the others: rows until the first rank ends it
bool ranks_wait(Ranks* r, Pool* pool);   // until all others are there; false: reported, or stopped
void ranks_set_columns(Ranks* r, const Sweep* s);
void ranks_feed(Ranks* r, Pool* pool, long long (*next)(void* user), void* user);  // next: a row to do, -1 none
void ranks_take(Ranks* r, Pool* pool);                                             // results, to pool->done
const long long* ranks_rows(const Ranks* r, long long all);  // how many each rank has computed, of all of this call
void ranks_end(Ranks* r);

#endif
