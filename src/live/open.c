// Models of a session: read from a text, compiled, assembled; and their description for the client.
#include <math.h>
#include <sarrus/analysis.h>
#include <sarrus/report.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"

// ---- sources -----------------------------------------------------------------------------------------------------------------
static char* copy_text(const char* text, size_t n) {
  char* copy = sr_alloc(n + 1);
  if (copy != NULL && n > 0) memcpy(copy, text, n);
  return copy;
}

bool sr_live_source_set(srLiveSource* s, const char* name, const char* value) {
  char* given = copy_text(value, strlen(value));
  if (given == NULL) return false;
  for (int i = 0; i < s->nsetting; i++) {
    if (strcmp(s->setting[i].name, name) != 0) continue;
    sr_free((void*)s->setting[i].value);
    s->setting[i].value = given;
    return true;
  }
  srSetting* more = sr_alloc((size_t)(s->nsetting + 1) * sizeof *more);
  char* own = copy_text(name, strlen(name));
  if (more == NULL || own == NULL) {
    sr_free(more);
    sr_free(own);
    sr_free(given);
    return false;
  }
  if (s->nsetting > 0) memcpy(more, s->setting, (size_t)s->nsetting * sizeof *more);
  sr_free(s->setting);
  s->setting = more;
  s->setting[s->nsetting++] = (srSetting){own, given};
  return true;
}

bool sr_live_source_copy(const srLiveSource* from, srLiveSource* to) {
  *to = (srLiveSource){.text = copy_text(from->text, from->n), .n = from->n, .of_path = from->of_path};
  to->file = copy_text(from->file, strlen(from->file));
  bool good = to->text != NULL && to->file != NULL;
  for (int i = 0; good && i < from->nsetting; i++)
    good = sr_live_source_set(to, from->setting[i].name, from->setting[i].value);
  if (!good) sr_live_source_free(to);
  return good;
}

void sr_live_source_free(srLiveSource* s) {
  for (int i = 0; i < s->nsetting; i++) {
    sr_free((void*)s->setting[i].name);
    sr_free((void*)s->setting[i].value);
  }
  sr_free(s->setting);
  sr_free(s->text);
  sr_free(s->file);
  *s = (srLiveSource){0};
}

// ---- opening -----------------------------------------------------------------------------------------------------------------
static srStatus read_model(const srLive* live, const srLiveSource* s, srMessages* messages, srLiveModel* x) {
  srLoadOptions how = live->options.load != NULL ? *live->options.load : (srLoadOptions){0};
  how.settings = s->setting;
  how.nsetting = s->nsetting;
  srStatus status = sr_load_text(s->text, s->n, s->file, live->options.folder, &how, messages, &x->spec);
  if (status == SR_OK) status = sr_compile(x->spec, messages, &x->m);
  if (status != SR_OK || x->m->nmassless == 0) return status;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = s->file},
                  "no motion can be found: some joints move nothing with mass or inertia (see above)");
  return SR_INPUT;
}

static srStatus make_columns(srMessages* messages, srLiveModel* x) {
  if (!sr_page_wish(x->m, NULL, 0, &x->wish)) return SR_MEMORY;
  const srStatus status = sr_record_columns_create(x->m, x->wish.record, x->wish.n, messages, &x->columns);
  return status == SR_OK ? sr_recording_create(x->m, x->wish.record, x->wish.n, messages, &x->recording) : status;
}

srStatus sr_live_open(srLive* live, const srLiveSource* source, srMessages* messages, srLiveModel* out) {
  *out = (srLiveModel){0};
  srStatus status = read_model(live, source, messages, out);
  if (status == SR_OK) {
    out->d = sr_data_create(out->m);
    status = out->d != NULL ? make_columns(messages, out) : SR_MEMORY;
  }
  if (status == SR_OK) {
    out->d->stop = sr_live_stops;
    out->d->stop_user = live;
    status = sr_assemble(out->m, out->d, messages, NULL);
    out->d->stop = NULL;
  }
  if (status == SR_OK) {
    (void)sr_start_outside(out->m, out->d, messages);
    (void)sr_start_overlaps(out->m, out->d, messages);
    sr_warn_redundancy(out->m, out->d, messages);
  } else {
    sr_live_close(out);
  }
  return status;
}

void sr_live_close(srLiveModel* x) {
  sr_recording_destroy(x->recording);
  sr_columns_destroy(x->columns);
  sr_page_wish_free(&x->wish);
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
  *x = (srLiveModel){0};
}

// ---- description ---------------------------------------------------------------------------------------------------------------
static bool is_number(const char* text) {
  char* end;
  while (*text == ' ') text++;
  if (*text == '\0' || strspn(text, "0123456789+-.eE ") != strlen(text)) return false;
  (void)strtod(text, &end);
  while (*end == ' ') end++;
  return *end == '\0';
}

static void put_parameters(srJson* json, const srSpec* spec) {
  srSpec* numbers = srs_numbers(spec, NULL);
  sr_json_array(json, "parameters");
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_PARAMETER); i++) {
    const srParameterDef* p = srs_get(spec, SR_ELEMENT_PARAMETER, i);
    const srParameterDef* known = numbers != NULL ? srs_get(numbers, SR_ELEMENT_PARAMETER, i) : p;
    const srAttr* value = &known->value;
    char number[32];
    const double x = value->numbers != NULL && value->n > 0 ? value->numbers[0]
                     : value->n == 1                        ? value->number
                                                            : (double)NAN;
    (void)sr_number_print(value->text == NULL ? x : (double)NAN, 17, number, sizeof number);
    sr_json_object(json, NULL);
    sr_json_text(json, "name", p->name.text);
    sr_json_number(json, "value",
                   value->text == NULL      ? x
                   : is_number(value->text) ? strtod(value->text, NULL)
                                            : (double)NAN);
    sr_json_text(json, "formula", p->value.text != NULL ? p->value.text : number);
    sr_json_int(json, "line", srs_place(spec, SR_ELEMENT_PARAMETER, i).line);
    sr_json_bool(json, "constant", p->value.text == NULL || is_number(p->value.text));
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  srs_destroy(numbers);
}

void sr_live_put_methods(srJson* json) {
  sr_json_array(json, "methods");
  for (int i = 0; i < sri_method_count(); i++) {
    const srMethod* x = sri_method(i);
    if (x->absent) continue;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", x->name);
    sr_json_text(json, "about", x->about);
    sr_json_bool(json, "adaptive", x->adaptive);
    sr_json_bool(json, "implicit", x->implicit);
    sr_json_bool(json, "impulses", x->impulses);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

// Elements of the text with their places, for editors.
void sr_live_put_elements(srJson* json, const srSpec* spec) {
  sr_json_array(json, "elements");
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++) {
    const srElement* e = srs_element((srElementKind)kind);
    for (int i = 0; i < srs_count(spec, (srElementKind)kind); i++) {
      const srAttr* def = srs_get(spec, (srElementKind)kind, i);
      const srPlace place = srs_place(spec, (srElementKind)kind, i);
      sr_json_object(json, NULL);
      sr_json_text(json, "element", e->word);
      sr_json_text(json, "name", e->nfield > 0 && strcmp(e->fields[0].word, "name") == 0 ? def[0].text : NULL);
      sr_json_text(json, "file", place.file);
      sr_json_int(json, "line", place.line);
      sr_json_int(json, "column", place.column);
      sr_json_object_end(json);
    }
  }
  sr_json_array_end(json);
}

void sr_live_describe(const srLive* live, srLiveAnswer* a) {
  srText triangles = {0};
  const srLiveModel* x = &live->model;
  sr_json_text(&a->json, "file", live->source.file);
  sr_page_describe(x->m, &a->json, &triangles);
  sr_page_put_columns(&a->json, x->columns);
  put_parameters(&a->json, x->spec);
  sr_json_object(&a->json, "run");
  sr_live_put_run(live, &a->json);
  sr_json_object_end(&a->json);
  sr_live_put_methods(&a->json);
  sr_live_put_array(a, "triangles", "u8", triangles.data, triangles.n);
  a->bytes.failed = a->bytes.failed || triangles.failed;
  sr_text_free(&triangles);
}
