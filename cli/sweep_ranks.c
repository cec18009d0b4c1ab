// A sweep over processes of MPI. Rank 0 leads: it has the journal, gives numbers of rows to the others and takes their lines, and has workers of its own.
// Each rank has started its workers before MPI begins, and no worker calls MPI: a row that crashes ends neither the rank nor the sweep.
//   from 0   MESSAGE_COLUMNS names with zeros between them; MESSAGE_ROWS numbers; MESSAGE_END
//   to 0     MESSAGE_HELLO Hello; MESSAGE_LINES of {row, n, n bytes}
// No call waits for a message: a rank that waits leaves the processor to its workers.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"
#include "sweep.h"

#ifndef SARRUS_MPI_SONAME  // found when this was built (cmake/mpi.cmake)
#define SARRUS_MPI_SONAME ""
#define SARRUS_MPI_FOLDER ""
#endif

enum { MESSAGE_COLUMNS = 1, MESSAGE_ROWS, MESSAGE_END, MESSAGE_HELLO, MESSAGE_LINES };
enum { PAUSE = 2 };        // ms between looks at the messages
enum { MOST_GIVEN = 50 };  // rows for each worker of a rank: no other rank can take them

typedef struct Hello {
  uint64_t content;  // hash of the files of its model
  int workers;
} Hello;

struct Ranks {
  const RanksDoor* door;
  int rank, size;
  int* workers;      // of each rank; 0: not heard of
  long long* given;  // rows that it has
  long long* taken;  // rows that came from it
  srText lines;      // to be sent
};

// ------------------------------------------------------------------------------------------------------------------ starting
static const char* first_set(const char* const* names, int n) {
  for (int i = 0; i < n; i++)
    if (getenv(names[i])) return getenv(names[i]);
  return NULL;
}

// mpirun tells its processes by variables: Open MPI, MPICH and its relatives, MVAPICH, PMIx (which does not say how many).
int ranks_launched(int* rank) {
  static const char* const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
  static const char* const own[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK"};
  const char *size = first_set(sizes, 3), *number = first_set(own, 4);
  *rank = number ? atoi(number) : 0;
  if (size) return atoi(size) > 1 ? atoi(size) : 1;
  return getenv("PMIX_RANK") ? 0 : 1;
}

// Beside the program, in a build; else where it is installed.
static void* open_module(void) {
  static const char* const places[] = {"/" RANKS_MODULE, "/" SARRUS_MPI_FOLDER "/" RANKS_MODULE};
  char program[PROGRAM_FOLDER_SIZE], path[PROGRAM_FOLDER_SIZE + 300];
  void* module = NULL;
  const bool known = program_folder(program);
  for (int i = 0; known && !module && i < 2; i++) {
    snprintf(path, sizeof path, "%s%s", program, places[i]);
    if (access(path, R_OK) == 0) module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return module;
}

// MPI looks for its own parts in the program: it is loaded for all.
static const RanksDoor* open_door(Cli* cli) {
  if (!*SARRUS_MPI_SONAME) {
    cli_error(cli,
              "mpirun has started this program, which was built without MPI (Debian: apt install libopenmpi-dev, and "
              "build again)");
    return NULL;
  }
  void* mpi = dlopen(SARRUS_MPI_SONAME, RTLD_NOW | RTLD_GLOBAL);
  void* module = mpi ? open_module() : NULL;
  const RanksDoor* door = module ? dlsym(module, RANKS_SYMBOL) : NULL;
  if (!door)
    cli_error(cli, "mpirun has started this program, and %s could not be loaded: %s",
              mpi ? RANKS_MODULE : SARRUS_MPI_SONAME, dlerror());
  return door;
}

static bool send(Ranks* r, int to, int kind, const void* bytes, size_t n) {
  srText message = {0};
  sr_text_add(&message, (const char*)&kind, sizeof kind);
  if (n > 0) sr_text_add(&message, bytes, n);
  const bool good = !message.failed && r->door->send(to, message.data, (int)message.n);
  sr_text_free(&message);
  return good;
}

Ranks* ranks_begin(Sweep* s, int* rank, int* size) {
  const RanksDoor* door = open_door(s->cli);
  Ranks* r = door ? calloc(1, sizeof *r) : NULL;
  if (!r) return NULL;
  r->door = door;
  if (!door->begin(&r->rank, &r->size)) return cli_error(s->cli, "MPI could not be started"), free(r), NULL;
  r->workers = calloc((size_t)r->size, sizeof *r->workers);
  r->given = calloc((size_t)r->size, sizeof *r->given);
  r->taken = calloc((size_t)r->size, sizeof *r->taken);
  const Hello hello = {s->content, s->nworker};
  if (!r->workers || !r->given || !r->taken || (r->rank > 0 && !send(r, 0, MESSAGE_HELLO, &hello, sizeof hello))) {
    cli_error(s->cli, "out of memory");
    return ranks_end(r), NULL;
  }
  *rank = r->rank;
  *size = r->size;
  return r;
}

void ranks_end(Ranks* r) {
  if (!r) return;
  for (int i = 1; r->rank == 0 && i < r->size; i++) (void)send(r, i, MESSAGE_END, NULL, 0);
  r->door->end();
  free(r->workers);
  free(r->given);
  free(r->taken);
  sr_text_free(&r->lines);
  free(r);
}

// ----------------------------------------------------------------------------------------------------------------- messages
static int receive(Ranks* r, int* from, char** bytes, size_t* n) {
  int kind = 0;
  const int length = r->door->receive(from, bytes);
  if (length < (int)sizeof kind) return 0;
  memcpy(&kind, *bytes, sizeof kind);
  *n = (size_t)length - sizeof kind;
  memmove(*bytes, *bytes + sizeof kind, *n);
  return kind;
}

// ------------------------------------------------------------------------------------------------------------- ranks that serve
static void keep_line(void* user, long long row, const char* line, size_t n) {
  Ranks* r = user;
  const int length = (int)n;
  sr_text_add(&r->lines, (const char*)&row, sizeof row);
  sr_text_add(&r->lines, (const char*)&length, sizeof length);
  sr_text_add(&r->lines, line, n);
}

// False: the sweep is over.
static bool obey(Pool* pool, int kind, const char* bytes, size_t n) {
  if (kind == MESSAGE_COLUMNS) {
    for (const char* p = bytes; p < bytes + n; p += strlen(p) + 1)
      if (!paths_add(&pool->sweep->columns, p, strlen(p))) return false;
    return pool_set_columns(pool);
  }
  for (size_t i = 0; kind == MESSAGE_ROWS && i + sizeof(long long) <= n; i += sizeof(long long)) {
    long long row;
    memcpy(&row, bytes + i, sizeof row);
    if (!pool_add(pool, row)) return false;
  }
  return kind != MESSAGE_END;
}

void ranks_serve(Ranks* r, Pool* pool) {
  pool->done = keep_line;
  pool->user = r;
  stop_watch();  // rank 0 decides what a signal means
  for (bool goes_on = true; goes_on;) {
    char* bytes = NULL;
    size_t n;
    int from;
    for (int kind; goes_on && (kind = receive(r, &from, &bytes, &n)) != 0; free(bytes), bytes = NULL)
      goes_on = obey(pool, kind, bytes, n);
    if (!pool_step(pool,
                   PAUSE)) {  // mpirun ends the sweep when one of its processes does not end well; the journal stays
      fprintf(stderr, "sarrus: error: rank %d: no process could be started for the rows\n", r->rank);
      _exit(EXIT_FAILED);
    }
    if (r->lines.n > 0) goes_on = send(r, 0, MESSAGE_LINES, r->lines.data, r->lines.n) && goes_on;
    sr_text_free(&r->lines);
  }
  stop_end();
}

// ------------------------------------------------------------------------------------------------------------- the one that leads
bool ranks_wait(Ranks* r, Pool* pool) {
  for (int heard = 1; heard < r->size;) {
    char* bytes = NULL;
    size_t n;
    int from;
    if (stop_asked()) return cli_error(pool->sweep->cli, "stopped by the user before all ranks were there"), false;
    if (receive(r, &from, &bytes, &n) != MESSAGE_HELLO) {
      if (!pool_step(pool, PAUSE)) return false;
      continue;
    }
    Hello hello = {0};
    if (n == sizeof hello) memcpy(&hello, bytes, n);
    free(bytes);
    if (hello.content != pool->sweep->content)
      return cli_error(pool->sweep->cli, "rank %d reads other files than rank 0: all ranks need the same model", from),
             false;
    r->workers[from] = hello.workers;
    heard++;
  }
  return true;
}

void ranks_set_columns(Ranks* r, const Sweep* s) {
  srText names = {0};
  for (int i = 0; i < s->columns.n; i++) sr_text_add(&names, s->columns.item[i], strlen(s->columns.item[i]) + 1);
  for (int i = 1; i < r->size; i++) (void)send(r, i, MESSAGE_COLUMNS, names.data, names.n);
  sr_text_free(&names);
}

// Each rank has rows for some time of its workers: a message takes as long as many short rows.
void ranks_feed(Ranks* r, Pool* pool, long long (*next)(void* user), void* user) {
  const double seconds = 0.1;
  const long long each = 2 + (pool->mean > 0 ? (long long)fmin(seconds / pool->mean, MOST_GIVEN) : 0);
  for (int i = 1; i < r->size; i++) {
    srText rows = {0};
    const long long most = each * r->workers[i];
    if (r->given[i] > most / 2) continue;
    while (r->given[i] < most) {
      const long long row = next(user);
      if (row < 0) break;
      sr_text_add(&rows, (const char*)&row, sizeof row);
      r->given[i]++;
    }
    if (rows.n > 0) (void)send(r, i, MESSAGE_ROWS, rows.data, rows.n);
    sr_text_free(&rows);
  }
}

void ranks_take(Ranks* r, Pool* pool) {
  char* bytes = NULL;
  size_t n;
  int from;
  for (; receive(r, &from, &bytes, &n) == MESSAGE_LINES; free(bytes), bytes = NULL) {
    for (size_t i = 0; i + sizeof(long long) + sizeof(int) <= n;) {
      long long row;
      int length;
      memcpy(&row, bytes + i, sizeof row);
      memcpy(&length, bytes + i + sizeof row, sizeof length);
      i += sizeof row + sizeof length;
      pool->done(pool->user, row, bytes + i, (size_t)length);
      i += (size_t)length;
      r->given[from]--;
      r->taken[from]++;
    }
  }
  free(bytes);
}

const long long* ranks_rows(const Ranks* r, long long all) {
  if (!r) return NULL;
  r->taken[0] = all;
  for (int i = 1; i < r->size; i++) r->taken[0] -= r->taken[i];
  return r->taken;
}
