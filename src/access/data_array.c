// Members of srData by name: every array of SR_DATA_FIELDS, and the scalar members.
#include <string.h>

#include "access/type.h"
#include "model/private.h"

// X(member, written by the caller)
#define VALUES(X)                                                                                                      \
  X(t, true)                                                                                                           \
  X(stage, false)                                                                                                      \
  X(rank, false)                                                                                                       \
  X(row_residual, false)                                                                                               \
  X(soft_energy, false)

// Arrays that a caller gives; all others are results or scratch.
static const char* const given[] = {"q", "v", "a", "y", "z", "tau", "jq", "jv"};

// Arrays with rows, and the numbers in one.
static const struct {
  const char* name;
  int width;
} rows_of[] = {{"motion", 3},     {"link_X", 16},     {"link_E", 12},     {"link_pose", 16}, {"link_twist", 8},
               {"link_accel", 8}, {"link_wrench", 8}, {"soft_lambda", 6}, {"jJ", 12}};
enum { GIVEN = sizeof given / sizeof given[0], ROWS_OF = sizeof rows_of / sizeof rows_of[0] };

static const char* const names[] = {
#define NAME(member, writable) #member,
    VALUES(NAME)
#undef NAME
#define NAME(member, count, doc) #member,
        SR_DATA_FIELDS(NAME)
#undef NAME
            "error_message"};

const char* sr_data_array_name(int i) { return i >= 0 && i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL; }

static bool is_given(const srModel* m, const char* name) {
  if (name[0] == 'j' && m->absolute) return false;  // measured, not a state
  return sr_word_index(given, GIVEN, name) >= 0;
}

static int width_of(const char* name) {
  for (int i = 0; i < ROWS_OF; i++)
    if (strcmp(name, rows_of[i].name) == 0) return rows_of[i].width;
  return 1;
}

// Joint coordinates of a relative model are its coordinates, and have no memory of their own.
static int count_of(const srModel* m, const char* name, int count) {
  if (m->absolute || name[0] != 'j') return count;
  if (strcmp(name, "jq") == 0) return m->njq;
  return strcmp(name, "jv") == 0 || strcmp(name, "jf") == 0 ? m->njv : count;
}

static bool tell(const srModel* m, const char* name, double* data, int count, srArray* out) {
  const int n = count_of(m, name, count), width = width_of(name);
  *out = (srArray){.data = n > 0 ? data : NULL, .type = SR_TYPE_DOUBLE, .ndim = width > 1 ? 2 : 1};
  out->shape[0] = n > 0 ? n / width : 0;
  out->shape[1] = width;
  out->stride[0] = width * (int)sizeof *data;
  out->stride[1] = (int)sizeof *data;
  out->writable = is_given(m, name);
  return true;
}

static bool tell_value(void* data, srType type, size_t size, bool writable, srArray* out) {
  *out = (srArray){.data = data, .type = type, .shape = {1, 1}, .writable = writable};
  out->stride[0] = out->stride[1] = (int)size;
  return true;
}

static bool error_message_array(srData* d, srArray* out) {
  tell_value(d->error_message, SR_TYPE_CHARS, 1, false, out);
  out->shape[0] = (int)sizeof d->error_message;
  return true;
}

bool sr_data_array(const srModel* m, srData* d, const char* name, srArray* out) {
  if (strcmp(name, "error_message") == 0) return error_message_array(d, out);
#define FIND(member, writable)                                                                                         \
  if (strcmp(name, #member) == 0) return tell_value(&d->member, SR_TYPE_OF(d->member), sizeof d->member, writable, out);
  VALUES(FIND)
#undef FIND
#define FIND(member, count, doc)                                                                                       \
  if (strcmp(name, #member) == 0) return tell(m, name, d->member, count, out);
  SR_DATA_FIELDS(FIND)
#undef FIND
  return false;
}
