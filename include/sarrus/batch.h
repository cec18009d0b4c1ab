// Many copies of a model, stepped together by generated code in vector lanes and threads (docs/using/batch.md).
#ifndef SARRUS_BATCH_H
#define SARRUS_BATCH_H

#include <sarrus/model.h>
#include <sarrus/record.h>
#include <sarrus/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srBatch srBatch;  // of one model; one thread at a time

typedef struct srBatchOptions {
  int count;               // copies
  int threads;             // 0: 1. The results have the same bits for any number
  double step;             // s, of the classical Runge-Kutta method
  const char* parameters;  // "m1,k2": parameters of the model that every copy has its own values of; NULL: none
  const srSpec* spec;      // of the model, where there are such
} srBatchOptions;

// Every copy starts at the model's initial state. SR_INPUT, with a message: the model has what batches do not cover (named there), or its code
// cannot be compiled. The model must outlive the batch.
SR_API srStatus sr_batch_create(const srModel* m, const srBatchOptions* options, srMessages* messages, srBatch** out);
SR_API void sr_batch_destroy(srBatch* batch);

// "q.NAME=uniform:A:B", "v.NAME=normal:MEAN:DEVIATION", "tau.NAME=..." or "p.NAME=...", NAME one of options.parameters: starts are drawn anew by every sr_batch_reset; as sr_sweep_random, a value
// depends on the seed, the name and the number of the copy alone. SR_INPUT after a message.
SR_API srStatus sr_batch_random(srBatch* batch, const char* text, srMessages* messages);
// Copies to their start, t = 0, tau = 0; which: count flags, NULL: all.
SR_API srStatus sr_batch_reset(srBatch* batch, const unsigned char* which, unsigned long long seed);

// Numbers of all copies, copy by copy: q (nq), v (nv), tau (nv), t (1), states y (ny), parameters p in the order of the model file. States do not follow when parameters are set; those of
// the start are the ones of the model with these parameters.
typedef enum srBatchArray { SR_BATCH_Q, SR_BATCH_V, SR_BATCH_TAU, SR_BATCH_T, SR_BATCH_Y, SR_BATCH_P } srBatchArray;
SR_API int sr_batch_width(const srBatch* batch, srBatchArray which);  // numbers of a copy
SR_API void sr_batch_get(const srBatch* batch, srBatchArray which, double* out);
SR_API void sr_batch_set(srBatch* batch, srBatchArray which, const double* x);

// The state of one copy in a data of the model: for everything that a data has.
SR_API void sr_batch_put(const srBatch* batch, int copy, srData* d);
// The model of one copy, compiled with its parameters, for the caller to destroy. SR_INPUT after a message: there is none for these values.
SR_API srStatus sr_batch_model(const srBatch* batch, int copy, srMessages* messages, srModel** out);
// The row of one copy, of the columns that these patterns add (record.h), of its own model where copies have parameters. False: it cannot be evaluated.
SR_API bool sr_batch_row(const srBatch* batch, int copy, const char* const* record, int nrecord, double* out);
// The rows of all copies (record.h), one after the other, each with `width` numbers; d is used for it. NaN where a row cannot be evaluated. Of copies without parameters of their own.
SR_API void sr_batch_rows(const srBatch* batch, srRecording* recording, srData* d, int width, double* out);

// n steps of all copies, tau held. Nothing is allocated. Returns how many copies have a state that is not finite: they stay so until they are reset.
SR_API int sr_batch_step(srBatch* batch, int n);
SR_API const char* sr_batch_parameter(const srBatch* batch, int i);  // the name of parameter i
SR_API int sr_batch_count(const srBatch* batch);
SR_API int sr_batch_lanes(const srBatch* batch);  // copies in one vector

#ifdef __cplusplus
}
#endif
#endif
