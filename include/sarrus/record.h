// Columns of the rows of a run, and quantities that it records on request: accelerations, reactions, forces of elements (docs/using/record.md).
#ifndef SARRUS_RECORD_H
#define SARRUS_RECORD_H

#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// Columns of a result row:
//   t; q.NAME; v.NAME; states by name; driver.NAME, the driving forces; lambda.NAME of a coupling or formula, lambda.NAME.k of
//   equation k of a closure; sensors: NAME of a formula, of a frame NAME.x .y .z
//   .vx .vy .vz .wx .wy .wz; kinetic, potential, residual (of the energy balance so far); then those on request: of the model's <record>,
//   and of srRunOptions.record
typedef struct srColumns {
  int count;
  const char* const* names;
  const char* const* units;  // "" where there is none
} srColumns;
SR_API srColumns* sr_columns_create(const srModel* m);  // of a run whose options request none; NULL when out of memory
// Of a run whose options request these (n), names or patterns. SR_INPUT: nothing has such a name. *out is NULL unless SR_OK.
SR_API srStatus sr_record_columns_create(const srModel* m, const char* const* record, int n, srMessages* messages,
                                         srColumns** out);
SR_API void sr_columns_destroy(srColumns* columns);

// Rows of single states, outside of a run: names are resolved once, for any data of the model, in one thread at a time. The model must outlive it.
typedef struct srRecording srRecording;
// record: n names or patterns. SR_INPUT: nothing has such a name. *out is NULL unless SR_OK.
SR_API srStatus sr_recording_create(const srModel* m, const char* const* record, int n, srMessages* messages,
                                    srRecording** out);
SR_API void sr_recording_destroy(srRecording* x);
// Evaluates d at its own state and writes its row: the columns of sr_record_columns_create with the same requests. What only a run integrates
// (residual, work) is NaN. Allocates nothing. Returns as sr_evaluate.
SR_API int sr_recording_row(srRecording* x, srData* d, double* row);

// An object whose quantities can be recorded.
typedef struct srRecordable {
  const char *form, *about;   // of its kind: "reaction(NAME)", and a line about it
  const char* object;         // "reaction(crankpin)"
  int n;                      // quantities
  const char* const* member;  // n; the column is object.member, or object where its only member is ""
  const char* const* unit;    // n
} srRecordable;
// All objects of a model, kind by kind; x is valid during the call. SR_MEMORY: out of memory.
SR_API srStatus sr_recordable_each(const srModel* m, void (*take)(void* user, const srRecordable* x), void* user);

// A power that a run integrates in addition to those of the energy balance.
typedef struct srMeter {
  int element;  // force element, or nforce + contact set; -1: see driver
  int driver;   // -1: none
} srMeter;

#ifdef __cplusplus
}
#endif
#endif
