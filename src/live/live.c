// Live sessions: a request is read, checked against the members that it may have, and done. Nothing of a request that fails stays.
#include <string.h>

#include "live/live.h"

typedef struct Verb {
  const char* word;
  const char* members[9];  // beside id and do
  bool moves;              // needs a model
  bool (*run)(srRequest* r);
} Verb;

static const Verb verbs[] = {
    {"hello", {0}, false, sr_do_hello},
    {"load", {"text", "file", "path", "settings"}, false, sr_do_load},
    {"pose", {"q"}, true, sr_do_pose},
    {"options", {"method", "contact", "step", "rtol", "atol", "every", "stabilization"}, true, sr_do_options},
    {"advance", {"to", "budget"}, true, sr_do_advance},
    {"step", {"n", "budget"}, true, sr_do_step},
    {"back", {"serial"}, true, sr_do_back},
    {"restart", {0}, true, sr_do_restart},
    {"parameter", {"name", "value"}, true, sr_do_parameter},
    {"run", {"t_end", "method", "contact", "step", "rtol", "atol", "every", "stabilization"}, true, sr_do_run},
    {"report", {0}, true, sr_do_report},
    {"modes", {"count", "at"}, true, sr_do_modes},
    {"pull", {"body", "at", "to", "stiffness"}, true, sr_do_pull},
    {"release", {0}, true, sr_do_release},
    {"changed", {0}, true, sr_do_changed},
    {"check", {"text", "file", "path", "settings"}, false, sr_do_check},
    {"save", {"text", "before"}, false, sr_do_save},
};

// ---- life ----------------------------------------------------------------------------------------------------------------------
srLive* sr_live_create(const srLiveOptions* options) {
  srLive* live = sr_alloc(sizeof *live);
  if (live == NULL) return NULL;
  live->options = *options;
  live->serial = -1;
  return live;
}

void sr_live_destroy(srLive* live) {
  if (live == NULL) return;
  sr_stepper_destroy(live->stepper);
  sr_live_forget(live, -1);
  sr_live_free_rows(live);
  sr_free(live->pull.jacobian);
  sr_live_close(&live->model);
  sr_live_source_free(&live->source);
  sr_free(live);
}

void sr_live_stop(srLive* live) { live->stop = 1; }

int sr_live_stops(void* live) { return ((const srLive*)live)->stop != 0; }

// ---- requests ------------------------------------------------------------------------------------------------------------------
bool sr_do_hello(srRequest* r) {
  static const char* const formats[] = {"sarrus", "urdf", "mjcf", "mbs"};
  srJson* json = &r->answer.json;
#ifdef __EMSCRIPTEN__
  sr_json_text(json, "engine", "wasm");
#else
  sr_json_text(json, "engine", "native");
#endif
  sr_json_text(json, "version", sr_version());
  sr_json_bool(json, "files", r->live->options.folder != NULL);
  sr_json_text(json, "writes", r->live->options.folder != NULL ? r->live->options.writes : NULL);
  sr_live_put_methods(json);
  sr_json_array(json, "formats");
  for (int i = 0; i < SR_COUNT(formats); i++) sr_json_text(json, NULL, formats[i]);
  sr_json_array_end(json);
  return true;
}

static bool is_word(const srJsonNode* x, const char* word) {
  return (size_t)x->nkey == strlen(word) && memcmp(x->key, word, (size_t)x->nkey) == 0;
}

static bool may_have(const Verb* verb, const srJsonNode* x) {
  bool found = is_word(x, "id") || is_word(x, "do");
  for (int i = 0; i < SR_COUNT(verb->members) && verb->members[i] != NULL; i++)
    found = found || is_word(x, verb->members[i]);
  return found;
}

static bool has_known_members(srRequest* r, const Verb* verb) {
  const srJsonTree* t = &r->tree;
  for (int i = 1; i < t->n; i = t->node[i].end) {
    const srJsonNode* x = &t->node[i];
    if (!may_have(verb, x))
      return sr_request_fail(r, "the request '%s' has no member \"%.*s\"", verb->word, x->nkey < 60 ? x->nkey : 60,
                             x->key);
    for (int k = 1; k < i; k = t->node[k].end)
      if (t->node[k].nkey == x->nkey && memcmp(t->node[k].key, x->key, (size_t)x->nkey) == 0)
        return sr_request_fail(r, "the member \"%.*s\" is given twice", x->nkey, x->key);
  }
  return true;
}

static const Verb* find_verb(srRequest* r) {
  const char *word = NULL, *words[SR_COUNT(verbs)];
  r->word = "?";
  if (*r->tree.node[0].text != '{') {
    (void)sr_request_fail(r, "a request is an object: {\"id\": 1, \"do\": \"hello\"}");
    return NULL;
  }
  if (!sr_request_has(r, "do")) {
    (void)sr_request_fail(r, "the request does not say what to do: it needs the member \"do\"");
    return NULL;
  }
  if (!sr_request_text(r, "do", SR_MEMBER_REQUIRED, &word, NULL)) return NULL;
  for (int i = 0; i < SR_COUNT(verbs); i++) {
    words[i] = verbs[i].word;
    if (strcmp(verbs[i].word, word) != 0) continue;
    r->word = verbs[i].word;
    return &verbs[i];
  }
  const char* nearest = sr_nearest_word(word, words, SR_COUNT(words));
  (void)sr_request_fail(r, "there is no request '%.60s'%s%s%s", word, nearest != NULL ? "; did you mean '" : "",
                        nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
  return NULL;
}

static bool carry_out(srRequest* r) {
  const Verb* verb = find_verb(r);
  if (verb == NULL || !has_known_members(r, verb)) return false;
  if (verb->moves && r->live->model.m == NULL)
    return sr_request_fail(r, "the request '%s' needs a model: load one first", verb->word);
  sr_live_answer_begin(&r->answer, &r->tree, true);
  return verb->run(r);
}

static void put_failure(srRequest* r, const srJsonTree* tree) {
  const char* why = r->error.data;
  for (int i = 0; why == NULL && i < sr_messages_count(r->messages); i++)
    if (sr_messages_get(r->messages, i)->severity == SR_SEVERITY_ERROR) why = sr_messages_get(r->messages, i)->text;
  sr_live_answer_begin(&r->answer, tree, false);
  sr_json_text(&r->answer.json, "error", why != NULL ? why : "the request failed");
}

static srStatus answer_to(srRequest* r, const char* json, size_t n, srText* out) {
  srJsonError wrong;
  const bool readable = sr_json_read(json, n, &r->tree, &wrong);
  if (!readable)
    (void)sr_request_fail(r, "the request is no JSON: line %d, column %d: %s", wrong.line, wrong.column, wrong.text);
  if (!readable || !carry_out(r)) put_failure(r, readable ? &r->tree : NULL);
  sr_live_put_messages(&r->answer, r->messages);
  return r->error.failed ? SR_MEMORY : sr_live_answer_end(&r->answer, out);
}

srStatus sr_live_request(srLive* live, const char* json, size_t n, srText* answer) {
  srRequest r = {.live = live, .messages = sr_messages_create()};
  if (r.messages == NULL) return SR_MEMORY;
  sr_pool_init(&r.pool);
  live->stop = 0;
  const srStatus status = answer_to(&r, json, n, answer);
  sr_live_answer_free(&r.answer);
  sr_json_tree_free(&r.tree);
  sr_text_free(&r.error);
  sr_pool_free(&r.pool);
  sr_messages_destroy(r.messages);
  return status;
}
