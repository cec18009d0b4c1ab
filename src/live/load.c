// Requests that read a model: load, parameter, check. The session keeps its last good model until the next one is complete.
#include <math.h>
#include <sarrus/analysis.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "live/live.h"

#define MOST_TEXT (64 << 20)

// ---- where the text comes from -------------------------------------------------------------------------------------------------
bool sr_live_read_file(srRequest* r, const char* path, srText* out) {
  char folder[SR_PATH_SIZE], real[SR_PATH_SIZE], part[1 << 14];
  const char* given = r->live->options.folder;
  srReason reason;
  if (given == NULL) return sr_request_fail(r, "this session reads no files: send the text of the model");
  const char* full = sr_pool_printf(&r->pool, "%s/%s", given, path);
  if (full == NULL) return sr_request_fail(r, "out of memory");
  if (path[0] == '/' || !sr_file_real(given, folder) || !sr_file_real(full, real) || !sr_file_is_inside(folder, real))
    return sr_request_fail(r, "there is no file '%.200s' in the folder of the session", path);
  FILE* file = sr_file_open(real, &reason);
  if (file == NULL) return sr_request_fail(r, "the file '%.200s' %s", path, reason.text);
  for (size_t n; out->n <= MOST_TEXT && (n = fread(part, 1, sizeof part, file)) > 0;) sr_text_add(out, part, n);
  fclose(file);
  sr_text_add(out, "", 0);
  if (out->n > MOST_TEXT) return sr_request_fail(r, "the file '%.200s' is larger than 64 MB", path);
  return !out->failed || sr_request_fail(r, "out of memory");
}

static bool take_settings(srRequest* r, srLiveSource* s) {
  const srLoadOptions* base = r->live->options.load;
  for (int i = 0; base != NULL && i < base->nsetting; i++)
    if (!sr_live_source_set(s, base->settings[i].name, base->settings[i].value))
      return sr_request_fail(r, "out of memory");
  const int at = sr_json_member(&r->tree, 0, "settings");
  if (at < 0) return true;
  if (*r->tree.node[at].text != '{') return sr_request_fail(r, "\"settings\" must be an object, {\"NAME\": \"value\"}");
  for (int i = at + 1; i < r->tree.node[at].end; i = r->tree.node[i].end) {
    const srJsonNode* x = &r->tree.node[i];
    srText value = {.pool = &r->pool};
    const char* name = sr_pool_text_n(&r->pool, x->key, (size_t)x->nkey);
    if (!sr_json_node_text(x, &value))
      return sr_request_fail(r, "the setting '%.60s' must be a text: a number or a formula", name);
    if (value.failed || name == NULL || !sr_live_source_set(s, name, value.data))
      return sr_request_fail(r, "out of memory");
  }
  return true;
}

static bool take_source(srRequest* r, srLiveSource* s) {
  const char *text = NULL, *file = NULL, *path = NULL;
  size_t n = 0;
  srText read = {.pool = &r->pool};
  if (!sr_request_text(r, "text", SR_MEMBER_OPTIONAL, &text, &n) ||
      !sr_request_text(r, "file", SR_MEMBER_OPTIONAL, &file, NULL) ||
      !sr_request_text(r, "path", SR_MEMBER_OPTIONAL, &path, NULL))
    return false;
  if ((text == NULL) == (path == NULL))
    return sr_request_fail(r, "the request '%s' needs the model, either \"text\" or \"path\"", r->word);
  if (path != NULL && !sr_live_read_file(r, path, &read)) return false;
  const srLiveSource given = {.text = path != NULL ? read.data : (char*)text,
                              .n = path != NULL ? read.n : n,
                              .of_path = path != NULL,
                              .file = (char*)(path != NULL   ? path
                                              : file != NULL ? file
                                                             : "model.xml")};
  if (!sr_live_source_copy(&given, s)) return sr_request_fail(r, "out of memory");
  return take_settings(r, s);
}

// ---- the state across a change -------------------------------------------------------------------------------------------------
// Joints of one name and kind keep their coordinates, states theirs. Parameters that are states keep what events have set, and otherwise take their new
// values. False: the loops cannot be closed from there.
static bool keep_state(const srLiveModel* from, srLiveModel* to) {
  const srModel *a = from->m, *b = to->m;
  const srData* old = from->d;
  srData* d = to->d;
  if (a->absolute || b->absolute) return false;
  d->t = old->t;
  for (int i = 0; i < b->njoint; i++) {
    const int k = sr_joint_find(a, b->joint_name[i]);
    if (k < 0 || a->joint_type[k] != b->joint_type[i]) continue;
    for (int n = 0; n < b->joint_nq[i]; n++) d->q[b->joint_q[i] + n] = old->q[a->joint_q[k] + n];
    for (int n = 0; n < b->joint_nv[i]; n++) d->v[b->joint_v[i] + n] = old->v[a->joint_v[k] + n];
  }
  for (int i = 0; i < b->ny - b->ny_slot; i++) {
    const int k = sr_word_index(a->y_name, a->ny - a->ny_slot, b->y_name[i]);
    const bool untouched = k >= 0 && old->y[k] == a->y0[k] && sr_parameter_find(b, b->y_name[i]) == i;
    if (k >= 0 && !untouched) d->y[i] = old->y[k];
  }
  d->stage = SR_STAGE_NONE;
  return sr_assemble(b, d, NULL, NULL) == SR_OK;
}

static bool same_words(const char* const* a, const char* const* b, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(a[i], b[i]) != 0) return false;
  return true;
}

// Can the rows of one be shown, and gone back to, with the other?
static bool same_layout(const srLiveModel* x, const srLiveModel* y) {
  const srModel *a = x->m, *b = y->m;
  return a->nq == b->nq && a->nv == b->nv && a->ny == b->ny && a->nz == b->nz && a->nset == b->nset &&
         a->nbody == b->nbody && x->columns->count == y->columns->count &&
         same_words(x->columns->names, y->columns->names, x->columns->count);
}

// ---- files that change ---------------------------------------------------------------------------------------------------------
static unsigned long long stamp_of(const char* path) {
  struct stat s;
  if (stat(path, &s) != 0) return 1;
  return (unsigned long long)s.st_mtime * 1000003u + (unsigned long long)s.st_size * 31u + (unsigned long long)s.st_ino;
}

// Of the model and all files that it was made of.
static unsigned long long stamp(const srLive* live) {
  unsigned long long sum = 0;
  char path[SR_PATH_SIZE];
  if (!live->source.of_path) return 0;
  (void)snprintf(path, sizeof path, "%s/%s", live->options.folder, live->source.file);
  sum = stamp_of(path);
  for (int i = 0; i < srs_file_count(live->model.spec); i++) sum = 31u * sum + stamp_of(srs_file(live->model.spec, i));
  return sum;
}

bool sr_do_changed(srRequest* r) {
  sr_json_bool(&r->answer.json, "changed", stamp(r->live) != r->live->stamp);
  return true;
}

// ---- taking a model over ---------------------------------------------------------------------------------------------------------
static void take_over(srLive* live, srLiveModel* model, srLiveSource* source) {
  sr_stepper_destroy(live->stepper);
  live->stepper = NULL;
  sr_live_close(&live->model);
  sr_live_source_free(&live->source);
  live->model = *model;
  live->source = *source;
  *model = (srLiveModel){0};
  *source = (srLiveSource){0};
  live->stamp = stamp(live);
  sr_live_state_changed(live);
}

static bool tell_failure(srRequest* r, srStatus status) {
  if (status == SR_MEMORY) return sr_request_fail(r, "out of memory");
  return sr_messages_errors(r->messages) > 0 ? false : sr_request_fail(r, "%s", sr_status_text(status));
}

static void describe(srRequest* r, bool fresh) {
  srLiveRows rows = {0};
  sr_live_describe(r->live, &r->answer);
  sr_live_add_row(r->live, &rows, false, fresh);
  sr_live_put_rows(r->live, &r->answer, &rows);
}

static void drop_pull(srLive* live) {
  sr_free(live->pull.jacobian);
  live->pull = (srLivePull){0};
}

bool sr_do_load(srRequest* r) {
  srLive* live = r->live;
  srLiveSource source = {0};
  srLiveModel model = {0};
  srStatus status = SR_INPUT;
  const bool good = take_source(r, &source);
  if (good) status = sr_live_open(live, &source, r->messages, &model);
  if (!good || status != SR_OK) {
    sr_live_source_free(&source);
    return good ? tell_failure(r, status) : false;
  }
  drop_pull(live);
  take_over(live, &model, &source);
  sr_live_forget(live, -1);
  if (!sr_live_make_room(live)) return sr_request_fail(r, "out of memory");
  sr_live_default_options(live);
  if (sr_request_has(r, "path")) sr_json_text(&r->answer.json, "text", live->source.text);
  describe(r, true);
  return true;
}

bool sr_do_parameter(srRequest* r) {
  srLive* live = r->live;
  const char *name = NULL, *value = NULL;
  srLiveSource source = {0};
  srLiveModel model = {0};
  if (!sr_request_text(r, "name", SR_MEMBER_REQUIRED, &name, NULL) ||
      !sr_request_text(r, "value", SR_MEMBER_REQUIRED, &value, NULL))
    return false;
  if (!sr_live_source_copy(&live->source, &source) || !sr_live_source_set(&source, name, value)) {
    sr_live_source_free(&source);
    return sr_request_fail(r, "out of memory");
  }
  const srStatus status = sr_live_open(live, &source, r->messages, &model);
  if (status != SR_OK) {
    sr_live_source_free(&source);
    return tell_failure(r, status);
  }
  const bool kept = keep_state(&live->model, &model), alike = same_layout(&live->model, &model);
  if (!kept) {  // the initial state, with the loops closed again
    sr_data_reset(model.m, model.d);
    (void)sr_assemble(model.m, model.d, r->messages, NULL);
  }
  if (!alike) drop_pull(live);
  take_over(live, &model, &source);
  if (!kept || !alike) {  // nothing to go back to
    const long serial = kept ? live->serial : 0;
    sr_live_forget(live, -1);
    live->serial = serial;
  }
  if (!alike && !sr_live_make_room(live)) return sr_request_fail(r, "out of memory");
  live->run.t_end = sr_run_options(live->model.m).t_end;
  sr_live_fit_rows(live);
  sr_json_bool(&r->answer.json, "kept", kept);
  describe(r, false);
  return true;
}

// The text of an editor: what is wrong with it, and where its elements are.
bool sr_do_check(srRequest* r) {
  srLiveSource source = {0};
  srLiveModel model = {0};
  if (!take_source(r, &source)) {
    sr_live_source_free(&source);
    return false;
  }
  const srStatus status = sr_live_open(r->live, &source, r->messages, &model);
  sr_live_source_free(&source);
  if (status == SR_MEMORY) return sr_request_fail(r, "out of memory");
  if (model.spec != NULL) sr_live_put_elements(&r->answer.json, model.spec);
  sr_live_close(&model);
  return true;
}
