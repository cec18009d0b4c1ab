// What a run records on request: names of columns resolved once, values at each row. src/record/kinds.h has the table of kinds.
#ifndef SR_RECORD_RECORDER_H
#define SR_RECORD_RECORDER_H

#include <sarrus/constraint.h>
#include <sarrus/record.h>

#include "model/private.h"

struct srQuantityKind;

// Members of one object, in the axes of one frame: adjacent columns.
typedef struct srRecordGroup {
  const struct srQuantityKind* kind;
  int index;  // of the object
  int frame;  // point whose axes its vectors have; -1: the kind has no vectors
  int n;
  const int* member;  // n
  int meter;          // of its member that is an integral, among the recorder's; -1: none
} srRecordGroup;

typedef struct srRecorder {
  const srModel* m;
  srPool pool;
  int n;  // columns
  const char** names;
  const char** units;
  int ngroup;
  const srRecordGroup* group;
  srStage stage;  // that the values need; SR_STAGE_NONE without columns
  int nmeter;
  const srMeter* meter;  // nmeter: powers that the run integrates for them
  int first_meter;       // of all that it integrates
  // At the row in work:
  srData* d;
  const double* w;  // work of the accounts of the energy balance, then of the meters; NULL: unknown, outside of a run
  double* acceleration;  // njv, of the joint coordinates
  double* reaction;      // njoint x 6, as sr_reactions
  bool has_acceleration, has_reaction;
  int reaction_answer;
} srRecorder;

// Resolves the requests, in their order; a column that was requested before, or that is one of `known`, is not repeated. Errors (nothing has this
// name, two columns of one name) go to messages. *out is NULL unless SR_OK.
srStatus sr_recorder_create(const srModel* m, const srRecordRequest* requests, int nrequest, const char* const* known,
                            int nknown, srMessages* messages, srRecorder** out);
void sr_recorder_destroy(srRecorder* r);

// The columns (r->n) at d's state, evaluated up to r->stage; NaN where one is undefined. Allocates nothing. Overwrites d->work, link_wrench.
void sr_recorder_row(srRecorder* r, srData* d, const double* w, double* out);

// Shared by kinds, once a row.
const double* sr_recorder_accelerations(srRecorder* r);
const double* sr_recorder_reactions(srRecorder* r);                        // NULL: they are undefined
double sr_recorder_work(const srRecorder* r, const srRecordGroup* group);  // of the meter of a group

#endif
