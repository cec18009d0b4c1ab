// Access for language bindings (docs/using/python.md): arrays of a model and of a data by name, structs by the offsets of their
// members, enumerations as lists of words, result rows collected in memory. No binding has to copy a struct of these headers by hand.
#ifndef SARRUS_ACCESS_H
#define SARRUS_ACCESS_H

#include <sarrus/base.h>
#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum srType {
  SR_TYPE_DOUBLE,
  SR_TYPE_INT,  // enumerations too
  SR_TYPE_LONG,
  SR_TYPE_BOOL,
  SR_TYPE_TEXT,     // const char*
  SR_TYPE_CHARS,    // char in place, ended by 0
  SR_TYPE_POINTER,  // to anything else, or a function
  SR_TYPE_BYTES,    // structs in place
} srType;

// Where values are stored. The memory belongs to the model or the data, and is valid as long as its owner.
typedef struct srArray {
  void* data;  // NULL where there are none
  srType type;
  int ndim;       // 0: one value; 1; 2: rows
  int shape[2];   // 1 beyond ndim
  int stride[2];  // bytes from one to the next
  bool writable;  // by the caller; the rest is what the library computes
} srArray;

// By member name: "nq", "body_mass", "q0". Arrays of structs are accessed member by member: "sensor_point" is the `point`
// of every srSensor. False: no such name.
SR_API bool sr_model_array(const srModel* m, const char* name, srArray* out);
SR_API const char* sr_model_array_name(int i);  // NULL: i is beyond the last
// "vertex" or "triangle" of a mesh. False: no such name, or no such mesh.
SR_API bool sr_mesh_array(const srModel* m, int mesh, const char* name, srArray* out);
// The arrays of SR_DATA_FIELDS and "t", "stage", "rank", ... "error_message". jq, jv, jf of a relative model are q, v, f.
SR_API bool sr_data_array(const srModel* m, srData* d, const char* name, srArray* out);
SR_API const char* sr_data_array_name(int i);

// Members of the structs that functions take or return, grouped by struct. The first entry of a struct has the
// name "" and its size. Members of nested structs are "energy.kinetic".
typedef struct srMember {
  const char* of;  // "srRunOptions"
  const char* name;
  srType type;
  int offset, size;  // bytes; of several in place their size together
} srMember;
SR_API const srMember* sr_layout(int i);  // NULL: i is beyond the last

// Word i of a list in the order of its enumeration: joint, method, control, family, tangent, stabilization, formulation,
// account, status, shape, use. NULL: no such list, or i is beyond the last.
SR_API const char* sr_word(const char* list, int i);

// Result rows in memory: pass sr_row_store_add, sr_row_store_progress and the store as srRunOptions.row, progress and user.
// A host can then run in one thread, and from another read the time reached and stop the run, without callbacks.
typedef struct srRowStore srRowStore;
SR_API srRowStore* sr_row_store_create(int ncolumn);  // NULL when out of memory
SR_API void sr_row_store_destroy(srRowStore* store);
SR_API int sr_row_store_add(void* store, const double* row);                  // nonzero: out of memory
SR_API const double* sr_row_store_rows(const srRowStore* store, long* nrow);  // nrow x ncolumn; NULL: none
SR_API bool sr_row_store_complete(const srRowStore* store);                   // no row was lost
SR_API int sr_row_store_progress(void* store, double t, double t_end);        // nonzero: to be stopped
SR_API double sr_row_store_time(const srRowStore* store);  // reached at the last progress, 0 before; from any thread
SR_API void sr_row_store_stop(srRowStore* store);          // from any thread
SR_API int sr_row_store_stopped(void* store);              // nonzero: to be stopped; for srData.stop, srTrialWatch.stop

#ifdef __cplusplus
}
#endif
#endif
