// Rows of results: the columns of every run, and those on request.
#ifndef SR_RECORD_COLUMNS_H
#define SR_RECORD_COLUMNS_H

#include "record/late.h"
#include "record/recorder.h"

// What a run records, resolved once.
struct srRecording {
  const srModel* m;
  srRecorder* recorder;  // columns on request: of the model's <record>, then of the options
  srLate* late;          // sensors of recorded quantities; NULL: there are none
  int ncolumn;           // of a row
  srStage stage;         // that a row needs
  int nmeter;
  srMeter* meter;  // nmeter: powers to be integrated for recorder and late
};

// The row of d's state, evaluated up to x->stage. w: the work of the accounts of the energy balance, then of the meters.
typedef struct srRowEnergy {
  double kinetic, potential, residual;
  const double* w;
} srRowEnergy;
void sr_record(srRecording* x, srData* d, const srRowEnergy* energy, double* row);

// Warns of recorded reactions that are not unique at d's state. Evaluates it to the velocity stage, and overwrites what follows from it.
void sr_recording_warn(const srRecording* x, srData* d, srMessages* messages);

// Are the names of <record> and of record() in sensors those of columns? For the compiler.
srStatus sr_record_check(const srModel* m, srMessages* messages);

#endif
