// Parts of a live session:  live.c requests | read.c their members | answer.c answers | open.c models and their description | load.c load, parameter, check | save.c | state.c rows and
// history | move.c what moves the model | pull.c a spring to a point in space | settle.c options | run.c whole runs, reports | modes.c
#ifndef SR_LIVE_INTERNAL_H
#define SR_LIVE_INTERNAL_H

#include <sarrus/live.h>
#include <sarrus/simulate.h>

#include "base/base.h"
#include "page/page.h"

#define SR_LIVE_ARRAYS 16
#define SR_LIVE_HISTORY 1024  // rows that one can go back to

// ---- answer.c ----------------------------------------------------------------------------------------------------------------
typedef struct srLiveArray {
  const char *name, *type;
  size_t at, n;
} srLiveArray;

typedef struct srLiveAnswer {
  srText text;
  srJson json;
  srText bytes;  // the arrays
  srLiveArray array[SR_LIVE_ARRAYS];
  int narray;
} srLiveAnswer;

void sr_live_answer_begin(srLiveAnswer* a, const srJsonTree* tree, bool good);
// An array of n numbers of this type: "f32", "f64", "u32", "u8".
void sr_live_put_array(srLiveAnswer* a, const char* name, const char* type, const void* x, size_t n);
void sr_live_put_messages(srLiveAnswer* a, const srMessages* messages);
// The bytes to out; SR_MEMORY: something ran out of memory on the way.
srStatus sr_live_answer_end(srLiveAnswer* a, srText* out);
void sr_live_answer_free(srLiveAnswer* a);

// ---- read.c ------------------------------------------------------------------------------------------------------------------
typedef struct srRequest {
  srLive* live;
  srJsonTree tree;
  const char* word;  // of its "do"
  srPool pool;       // texts of its members
  srMessages* messages;
  srText error;  // a sentence; empty: none, or those of the messages
  srLiveAnswer answer;
} srRequest;

bool sr_request_fail(srRequest* r, const char* format, ...) SR_PRINTF(2, 3);  // returns false
bool sr_request_has(const srRequest* r, const char* key);
// Each returns false after an error. A member that is not there leaves *out as it is, unless it is required.
typedef enum srMember { SR_MEMBER_OPTIONAL, SR_MEMBER_REQUIRED } srMember;
bool sr_request_number(srRequest* r, const char* key, srMember need, double least, double most, double* out);
bool sr_request_whole(srRequest* r, const char* key, srMember need, long least, long most, long* out);
bool sr_request_text(srRequest* r, const char* key, srMember need, const char** out, size_t* n);
bool sr_request_vector(srRequest* r, const char* key, srMember need, double out[3]);
bool sr_request_word(srRequest* r, const char* key, const char* const* words, int n, int* out);

// ---- open.c ------------------------------------------------------------------------------------------------------------------
typedef struct srLiveSource {
  char *text, *file;
  size_t n;
  bool of_path;        // file is a path in the folder of the session
  srSetting* setting;  // both texts of each are owned
  int nsetting;
} srLiveSource;
bool sr_live_source_copy(const srLiveSource* from, srLiveSource* to);  // false: out of memory
bool sr_live_source_set(srLiveSource* source, const char* name, const char* value);
void sr_live_source_free(srLiveSource* source);

typedef struct srLiveModel {
  srSpec* spec;
  srModel* m;
  srData* d;
  srPageWish wish;
  srColumns* columns;
  srRecording* recording;
} srLiveModel;
// Reads, compiles, closes the loops. SR_INPUT or SR_FAILED with messages: out is empty.
srStatus sr_live_open(srLive* live, const srLiveSource* source, srMessages* messages, srLiveModel* out);
void sr_live_close(srLiveModel* x);
void sr_live_describe(const srLive* live, srLiveAnswer* a);
void sr_live_put_methods(srJson* json);
void sr_live_put_elements(srJson* json, const srSpec* spec);
// A file inside of the folder of the session, links resolved. False: the request has failed.
bool sr_live_read_file(srRequest* r, const char* path, srText* out);

// ---- the session -------------------------------------------------------------------------------------------------------------
typedef struct srLivePast {
  long serial;
  size_t n;
  double* x;  // n: t, q, v, y, z, then contact instances
} srLivePast;

typedef struct srLivePull {
  bool on;
  int body;
  double at[3], to[3];
  double stiffness, damping;  // N/m, Ns/m
  double force[3];            // of the last step, N
  double* jacobian;           // 6 x nv
} srLivePull;

typedef struct srLiveRows {
  int n;
  long first;  // serial of the first one
  srText t, columns, poses;
  bool failed;
} srLiveRows;

struct srLive {
  srLiveOptions options;
  _Atomic int stop;
  srLiveSource source;
  srLiveModel model;  // m NULL: none was loaded
  srRunOptions run;
  double every;        // s between rows
  int steps_a_row;     // of the stepper
  int steps;           // since the last row
  srStepper* stepper;  // NULL: not begun
  long serial;         // of the last row
  double t_row;
  srLivePast past[SR_LIVE_HISTORY];  // by serial % SR_LIVE_HISTORY
  float *pose, *column;              // of the last row; its columns
  double* row;
  srLivePull pull;
  unsigned long long stamp;  // of the files of the model when it was read
  double t_from, deadline;   // of the request in progress
  char why[512];             // it cannot go on
};

// ---- state.c
bool sr_live_make_room(srLive* live);  // for rows of the model; false: out of memory
void sr_live_free_rows(srLive* live);
void sr_live_forget(srLive* live, long serial);  // rows behind this one, which is the last
// The row of the present state: with energies since the start where the stepper has it. As a new one, or in place of the last.
void sr_live_add_row(srLive* live, srLiveRows* rows, bool stepped, bool fresh);
void sr_live_put_rows(srLive* live, srLiveAnswer* a, srLiveRows* rows);
void sr_live_put_arrays(srLiveAnswer* a, srLiveRows* rows, const double* q, const double* v, const srModel* m);
bool sr_live_go_back(srLive* live, long serial);  // false: that row is not kept
void sr_live_state_changed(srLive* live);         // by other means than steps

// ---- settle.c
void sr_live_default_options(srLive* live);
void sr_live_fit_rows(srLive* live);  // every, to the steps
void sr_live_put_run(const srLive* live, srJson* json);
bool sr_live_read_options(srRequest* r, srRunOptions* o, double* every);
const char* sr_live_contact_word(srContactMode mode);
bool sr_live_begin(srLive* live, srMessages* messages);  // the stepper is there; false: reported

// ---- pull.c
void sr_live_pull(srLive* live);          // puts its force into tau of the data
double sr_live_hold(const srLive* live);  // s: time between two changes of the force

int sr_live_stops(void* live);  // asked to by sr_live_stop

// ---- what requests do: false after an error
bool sr_do_hello(srRequest* r);
bool sr_do_load(srRequest* r);
bool sr_do_parameter(srRequest* r);
bool sr_do_check(srRequest* r);
bool sr_do_save(srRequest* r);
bool sr_do_changed(srRequest* r);
bool sr_do_pose(srRequest* r);
bool sr_do_options(srRequest* r);
bool sr_do_advance(srRequest* r);
bool sr_do_step(srRequest* r);
bool sr_do_back(srRequest* r);
bool sr_do_restart(srRequest* r);
bool sr_do_run(srRequest* r);
bool sr_do_report(srRequest* r);
bool sr_do_modes(srRequest* r);
bool sr_do_pull(srRequest* r);
bool sr_do_release(srRequest* r);

#endif
