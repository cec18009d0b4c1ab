// From names and patterns of columns to quantities, once before a run.
//
// A request is a column name or a pattern with * and ?. "reaction(crankpin in ground).*" is the pattern "reaction(crankpin).*" with the vectors in
// the axes of the ground; after " in " comes ground, parent, body, or the name of a body or point.
#include <sarrus/record.h>
#include <string.h>

#include "model/private.h"
#include "record/kinds.h"

#define SR_QUANTITY_DECLARE(kind) extern const srQuantityKind sr_quantity_##kind;
SR_QUANTITY_LIST(SR_QUANTITY_DECLARE)
#undef SR_QUANTITY_DECLARE

static const srQuantityKind* const kinds[] = {
#define SR_QUANTITY_ROW(kind) &sr_quantity_##kind,
    SR_QUANTITY_LIST(SR_QUANTITY_ROW)
#undef SR_QUANTITY_ROW
};

// ---- all that there is ----------------------------------------------------------------------------------------------------

typedef struct Object {
  const srQuantityKind* kind;
  int index;
  const char* label;  // column name without the member
} Object;

typedef struct Resolver {
  srRecorder* r;
  srMessages* messages;
  srPool scratch;
  Object* object;
  int nobject, object_capacity;
  srNames names;  // of columns: index among r's, or -1 - i of the known ones
  int column_capacity, unit_capacity, group_capacity, meter_capacity;
  srRecordGroup* group;
  srMeter* meter;
  bool failed;
} Resolver;

static const char* label_of(srPool* pool, const char* form, const char* name) {
  const char* place = strstr(form, "NAME");
  return sr_pool_printf(pool, "%.*s%s%s", (int)(place - form), form, name, place + 4);
}

// Objects of a kind that have the same name are distinguished as NAME, NAME_2, ...
static void list_objects(Resolver* x) {
  const srModel* m = x->r->m;
  for (int k = 0; k < SR_COUNT(kinds); k++) {
    srNames names;
    sr_names_init(&names, &x->scratch);
    for (int i = 0, n = kinds[k]->count(m); i < n; i++) {
      const char* name = kinds[k]->name(m, i, &x->scratch);
      if (name == NULL) continue;
      const char* label = label_of(&x->r->pool, kinds[k]->form, sr_names_put_new(&names, name));
      SR_PUSH(&x->scratch, x->object, x->nobject, x->object_capacity) = (Object){kinds[k], i, label};
    }
  }
}

// ---- axes -------------------------------------------------------------------------------------------------------------------

// A request without the axes that it names.
typedef struct Request {
  const char* text;     // as written
  const char* pattern;  // without " in FRAME"
  const char* frame;    // FRAME; NULL: none is named
  srAxes which;
  int point;  // of a frame by name, else -1
  srPlace place;
} Request;

// " in " before the last parenthesis, where an object's own name does not contain it.
static void split_axes(Resolver* x, Request* q) {
  const char* close = strrchr(q->text, ')');
  const char* in = NULL;
  for (const char* p = q->text; close != NULL && (p = strstr(p, " in ")) != NULL && p < close; p += 4) in = p;
  if (in == NULL) return;
  q->frame = sr_pool_text_n(&x->r->pool, in + 4, (size_t)(close - in - 4));
  q->pattern = sr_pool_printf(&x->scratch, "%.*s%s", (int)(in - q->text), q->text, close);
}

static bool find_axes(Resolver* x, Request* q) {
  const srModel* m = x->r->m;
  q->which = SR_AXES_DEFAULT;
  q->point = -1;
  if (q->frame == NULL) return true;
  if (strcmp(q->frame, "parent") == 0 || strcmp(q->frame, "body") == 0) {
    q->which = q->frame[0] == 'p' ? SR_AXES_PARENT : SR_AXES_BODY;
    return true;
  }
  q->point = sr_point_find(m, q->frame);
  if (q->point >= 0) return true;
  const char* near = sr_nearest_word(q->frame, m->point_name, m->npoint);
  sr_messages_add(
      x->messages, SR_SEVERITY_ERROR, q->place,
      "'%s' is to be recorded in the axes of '%s', which is no body or point%s%s%s; there are ground, parent, "
      "body, and the names of bodies and points",
      q->text, q->frame, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return false;
}

// ---- columns ------------------------------------------------------------------------------------------------------------------

static const char* column_name(srPool* pool, const Object* object, const Request* q, const char* member) {
  const char* dot = *member ? "." : "";
  if (q->frame == NULL) return sr_pool_printf(pool, "%s%s%s", object->label, dot, member);
  return sr_pool_printf(pool, "%.*s in %s)%s%s", (int)strlen(object->label) - 1, object->label, q->frame, dot, member);
}

// Adds a column; false: it is there already.
static bool add_column(Resolver* x, const Request* q, const char* name, const char* unit) {
  srRecorder* r = x->r;
  int n = r->n;
  if (!sr_names_put(&x->names, name, n)) {
    if (sr_names_find(&x->names, name) >= 0) return false;
    sr_messages_add(x->messages, SR_SEVERITY_ERROR, q->place,
                    "'%s' would be a second column of the name '%s': rename the sensor, state or joint", q->text, name);
    x->failed = true;
    return false;
  }
  SR_PUSH(&r->pool, r->names, r->n, x->column_capacity) = name;
  SR_PUSH(&r->pool, r->units, n, x->unit_capacity) = unit;
  return true;
}

// Of the chosen members: the meter of the one that is an integral, -1: none is.
static int add_meter(Resolver* x, const Object* object, const srQuantityMember* member, const int* chosen, int n) {
  srMeter meter;
  for (int k = 0; k < n && object->kind->meter != NULL; k++) {
    if (!object->kind->meter(x->r->m, object->index, member[chosen[k]].word, &meter)) continue;
    SR_PUSH(&x->r->pool, x->meter, x->r->nmeter, x->meter_capacity) = meter;
    return x->r->nmeter - 1;
  }
  return -1;
}

// The frame whose axes an object's vectors get; -1: it has none.
static int frame_of(const srModel* m, const Request* q, const Object* object) {
  const int own = object->kind->axes != NULL ? object->kind->axes(m, object->index, q->which) : -1;
  return q->point >= 0 && own >= 0 ? q->point : own;
}

// The columns of one object that fit; returns how many fit.
static int take_object(Resolver* x, const Request* q, const Object* object) {
  srRecorder* r = x->r;
  srQuantityMember member[SR_MEMBERS_MOST];
  const int frame = frame_of(r->m, q, object);
  if (q->frame != NULL && frame < 0) return 0;
  const int n = object->kind->members(r->m, object->index, member);
  int fit = 0, taken = 0, chosen[SR_MEMBERS_MOST];
  SR_ASSERT(n <= SR_MEMBERS_MOST);
  for (int k = 0; k < n; k++) {
    const Request bare = {.frame = NULL};
    if (!sr_pattern_fits(q->pattern, column_name(&x->scratch, object, &bare, member[k].word))) continue;
    fit++;
    if (add_column(x, q, column_name(&r->pool, object, q, member[k].word), member[k].unit)) chosen[taken++] = k;
  }
  if (taken == 0) return fit;
  int* kept = sr_pool_alloc(&r->pool, (size_t)taken * sizeof *kept);
  memcpy(kept, chosen, (size_t)taken * sizeof *kept);
  SR_PUSH(&r->pool, x->group, r->ngroup, x->group_capacity) =
      (srRecordGroup){.kind = object->kind,
                      .index = object->index,
                      .frame = frame,
                      .n = taken,
                      .member = kept,
                      .meter = add_meter(x, object, member, chosen, taken)};
  if (object->kind->stage > r->stage) r->stage = object->kind->stage;
  return fit;
}

// In a formulation that lacks the quantity: a warning, since a model file serves all of them.
static int lack_object(Resolver* x, const Request* q, const Object* object, const char* reason) {
  srQuantityMember member[SR_MEMBERS_MOST];
  const Request bare = {.frame = NULL};
  const int n = object->kind->members(x->r->m, object->index, member);
  for (int k = 0; k < n; k++) {
    if (!sr_pattern_fits(q->pattern, column_name(&x->scratch, object, &bare, member[k].word))) continue;
    if (strcmp(q->pattern, "*") != 0)
      sr_messages_add(x->messages, SR_SEVERITY_WARNING, q->place, "'%s' adds no columns for %s: they %s", q->text,
                      object->label, reason);
    return 1;
  }
  return 0;
}

static int take_objects(Resolver* x, const Request* q) {
  int fit = 0;
  for (int i = 0; i < x->nobject; i++) {
    const srQuantityKind* kind = x->object[i].kind;
    const char* reason = kind->lacks != NULL ? kind->lacks(x->r->m) : NULL;
    fit += reason != NULL ? lack_object(x, q, &x->object[i], reason) : take_object(x, q, &x->object[i]);
  }
  return fit;
}

// ---- names that nothing has -------------------------------------------------------------------------------------------------------

static const char* words_of(srPool* pool, const srModel* m, const Object* object) {
  srQuantityMember member[SR_MEMBERS_MOST];
  const int n = object->kind->members(m, object->index, member);
  const char* words = "";
  for (int k = 0; k < n; k++) words = sr_pool_printf(pool, "%s%s%s", words, k > 0 ? " " : "", member[k].word);
  return words;
}

// The object that a request names, up to the dot before its member: "reaction(pin)" of "reaction(pin).fq".
static const char* object_part(srPool* pool, const char* pattern) {
  const char* close = strrchr(pattern, ')');
  const char* dot = close != NULL ? (close[1] == '.' ? close + 1 : NULL) : strrchr(pattern, '.');
  return dot != NULL ? sr_pool_text_n(pool, pattern, (size_t)(dot - pattern)) : sr_pool_text(pool, pattern);
}

static const char* forms(srPool* pool) {
  const char* list = "";
  for (int k = 0; k < SR_COUNT(kinds); k++)
    list = sr_pool_printf(pool, "%s%s%s", list, k > 0 ? ", " : "", kinds[k]->form);
  return list;
}

static void refuse(Resolver* x, const Request* q) {
  srPool* pool = &x->scratch;
  const char* part = object_part(pool, q->pattern);
  const char** labels = sr_pool_alloc(pool, (size_t)(x->nobject + 1) * sizeof *labels);
  x->failed = true;
  for (int i = 0; i < x->nobject; i++) {
    labels[i] = x->object[i].label;
    if (strcmp(part, labels[i]) != 0) continue;
    sr_messages_add(x->messages, SR_SEVERITY_ERROR, q->place, "'%s': %s has no such member; it has %s%s", q->text, part,
                    words_of(pool, x->r->m, &x->object[i]),
                    q->frame != NULL && x->object[i].kind->axes == NULL ? ", and no axes to choose" : "");
    return;
  }
  const char* near = sr_nearest_word(q->pattern, labels, x->nobject);  // of an object with one number
  if (near == NULL) near = sr_nearest_word(part, labels, x->nobject);
  if (near != NULL) {
    sr_messages_add(x->messages, SR_SEVERITY_ERROR, q->place,
                    "nothing that can be recorded is named '%s'; did you mean '%s'? --record list lists all names",
                    q->text, near);
    return;
  }
  sr_messages_add(x->messages, SR_SEVERITY_ERROR, q->place,
                  "nothing that can be recorded is named '%s'; names have the forms %s, with a member behind a dot: "
                  "--record list lists them all",
                  q->text, forms(pool));
}

static bool is_known(const char* pattern, const char* const* known, int nknown) {
  for (int i = 0; i < nknown; i++) {
    if (sr_pattern_fits(pattern, known[i])) return true;
  }
  return false;
}

static void resolve(Resolver* x, const srRecordRequest* request, const char* const* known, int nknown) {
  Request q = {.text = request->pattern, .pattern = request->pattern, .place = request->place, .point = -1};
  if (take_objects(x, &q) > 0) return;
  split_axes(x, &q);
  if (!find_axes(x, &q)) {
    x->failed = true;
    return;
  }
  if (q.frame != NULL && take_objects(x, &q) > 0) return;
  if (!is_known(q.pattern, known, nknown)) refuse(x, &q);
}

// ---- the recorder -----------------------------------------------------------------------------------------------------------------

static void make(Resolver* x, const srRecordRequest* requests, int nrequest, const char* const* known, int nknown) {
  srRecorder* r = x->r;
  list_objects(x);
  sr_names_init(&x->names, &x->scratch);
  for (int i = 0; i < nknown; i++) (void)sr_names_put(&x->names, known[i], -1 - i);
  for (int i = 0; i < nrequest; i++) resolve(x, &requests[i], known, nknown);
  r->group = x->group;
  r->meter = x->meter;
  r->acceleration = sr_pool_alloc(&r->pool, ((size_t)r->m->njv + 1) * sizeof *r->acceleration);
  r->reaction = sr_pool_alloc(&r->pool, (6 * (size_t)r->m->njoint + 1) * sizeof *r->reaction);
}

// A resolver with an empty recorder; false: out of memory.
static bool begin(Resolver* x, const srModel* m) {
  x->r = sr_alloc(sizeof *x->r);
  if (x->r == NULL) return false;
  x->r->m = m;
  sr_pool_init(&x->r->pool);
  sr_pool_init(&x->scratch);
  return true;
}

static void end(Resolver* x) {
  x->r->pool.on_fail = NULL;
  sr_pool_free(&x->scratch);
}

// False: out of memory.
static bool make_all(Resolver* x, const srRecordRequest* requests, int nrequest, const char* const* known, int nknown) {
  jmp_buf out_of_memory;
  x->r->pool.on_fail = x->scratch.on_fail = &out_of_memory;
  if (setjmp(out_of_memory) != 0) return false;
  make(x, requests, nrequest, known, nknown);
  return true;
}

srStatus sr_recorder_create(const srModel* m, const srRecordRequest* requests, int nrequest, const char* const* known,
                            int nknown, srMessages* messages, srRecorder** out) {
  Resolver x = {.messages = messages};
  *out = NULL;
  if (!begin(&x, m)) return SR_MEMORY;
  const bool made = nrequest == 0 || make_all(&x, requests, nrequest, known, nknown);  // the usual run resolves nothing
  end(&x);
  if (made && !x.failed) {
    *out = x.r;
    return SR_OK;
  }
  sr_recorder_destroy(x.r);
  return made ? SR_INPUT : SR_MEMORY;
}

void sr_recorder_destroy(srRecorder* r) {
  if (r == NULL) return;
  sr_pool_free(&r->pool);
  sr_free(r);
}

// ---- all names --------------------------------------------------------------------------------------------------------------------

static void list_object(const Resolver* x, const Object* object, void (*take)(void* user, const srRecordable* x),
                        void* user) {
  srQuantityMember member[SR_MEMBERS_MOST];
  const char *words[SR_MEMBERS_MOST], *units[SR_MEMBERS_MOST];
  const int n = object->kind->members(x->r->m, object->index, member);
  for (int k = 0; k < n; k++) {
    words[k] = member[k].word;
    units[k] = member[k].unit;
  }
  take(user, &(srRecordable){object->kind->form, object->kind->about, object->label, n, words, units});
}

// False: out of memory.
static bool list_all(Resolver* x) {
  jmp_buf out_of_memory;
  x->r->pool.on_fail = x->scratch.on_fail = &out_of_memory;
  if (setjmp(out_of_memory) != 0) return false;
  list_objects(x);
  return true;
}

srStatus sr_recordable_each(const srModel* m, void (*take)(void* user, const srRecordable* x), void* user) {
  Resolver x = {0};
  if (!begin(&x, m)) return SR_MEMORY;
  const bool listed = list_all(&x);
  for (int i = 0; listed && i < x.nobject; i++) {
    const srQuantityKind* kind = x.object[i].kind;
    if (kind->lacks == NULL || kind->lacks(m) == NULL) list_object(&x, &x.object[i], take, user);
  }
  end(&x);
  sr_recorder_destroy(x.r);
  return listed ? SR_OK : SR_MEMORY;
}
