// What a row of a page holds: which columns beyond those of every run, and the poses of all bodies. Pages of runs and live sessions have the same.
#include <string.h>

#include "math/pose.h"
#include "page/page.h"

#define MOST_CONTACTS 64  // shapes whose forces are recorded one by one
#define MOST_FORCES 1000

// ---- what is recorded --------------------------------------------------------------------------------------------------------
typedef struct Work {
  srPageWish* out;
  int room;
  int shapes;  // of contact sets
  bool failed;
} Work;

static bool starts_with(const char* text, const char* start) { return strncmp(text, start, strlen(start)) == 0; }

// Members of an object that pictures and lanes show.
static void wish(void* user, const srRecordable* x) {
  static const char* const shown[] = {"n", "state", "count", "penetration", "fx", "fy", "fz", "nx", "ny", "nz"};
  Work* w = user;
  srPageWish* p = w->out;
  const bool contact = starts_with(x->object, "contact("), force = starts_with(x->object, "force(");
  const bool one_of_many = contact && strcmp(x->member[0], "count") == 0 && x->n == 6;
  if ((!contact && !force) || (one_of_many && w->shapes > MOST_CONTACTS)) return;
  const bool spring = force && sr_word_index(x->member, x->n, "zdot") >= 0;
  jmp_buf failed;
  p->pool.on_fail = &failed;
  w->failed = w->failed || setjmp(failed) != 0;
  for (int i = 0; i < x->n && !w->failed; i++) {
    const bool taken =
        contact ? sr_word_index(shown, SR_COUNT(shown), x->member[i]) >= 0 : strcmp(x->member[i], "f") == 0;
    if (!taken || (force && !spring)) continue;
    SR_PUSH(&p->pool, p->record, p->n, w->room) = sr_pool_printf(&p->pool, "%s.%s", x->object, x->member[i]);
  }
}

static int shapes_in_sets(const srModel* m) {
  int n = 0;
  for (int i = 0; i < m->nset; i++) n += m->set[i].nmember;
  return n;
}

static bool gather(const srModel* m, const char* const* record, int n, Work* w) {
  jmp_buf failed;
  srPageWish* p = w->out;
  p->pool.on_fail = &failed;
  if (setjmp(failed) != 0) return false;
  for (int i = 0; i < n; i++) SR_PUSH(&p->pool, p->record, p->n, w->room) = record[i];
  const bool few = m->nforce + m->nset <= MOST_FORCES;
  return !few || (sr_recordable_each(m, wish, w) == SR_OK && !w->failed);
}

bool sr_page_wish(const srModel* m, const char* const* record, int n, srPageWish* out) {
  *out = (srPageWish){0};
  sr_pool_init(&out->pool);
  Work w = {.out = out, .shapes = shapes_in_sets(m)};
  const bool good = gather(m, record, n, &w);
  out->pool.on_fail = NULL;
  return good;
}

void sr_page_wish_free(srPageWish* wish) { sr_pool_free(&wish->pool); }

void sr_page_put_columns(srJson* json, const srColumns* columns) {
  sr_json_array(json, "columns");
  for (int i = 1; i < columns->count; i++) {
    sr_json_object(json, NULL);
    sr_json_text(json, "name", columns->names[i]);
    sr_json_text(json, "unit", columns->units[i]);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

// ---- poses -------------------------------------------------------------------------------------------------------------------
// Of the two quaternions of a rotation the one near that of the row before: they are interpolated.
static void put_pose(const srData* d, int body, const float* before, float* out) {
  srFrameMotion motion;
  double q[4], along = 0;
  sr_frame_motion(d->model, d, body, 0, &motion);
  srm_quaternion_from_rows(motion.rotation, q);
  for (int k = 0; k < 4 && before != NULL; k++) along += q[k] * (double)before[3 + k];
  for (int k = 0; k < 3; k++) out[k] = (float)motion.position[k];
  for (int k = 0; k < 4; k++) out[3 + k] = (float)(along < 0 ? -q[k] : q[k]);
}

void sr_page_poses(const srData* d, const float* before, float* out) {
  for (int i = 0; i < d->model->nbody; i++) {
    const size_t at = (size_t)i * SR_POSE_NUMBERS;
    put_pose(d, i + 1, before != NULL ? before + at : NULL, out + at);
  }
}
