// Answers: a length, JSON, and the arrays that it names, which begin at the next multiple of 8.
#include <limits.h>
#include <string.h>

#include "live/live.h"

static void put_id(srJson* json, const srJsonTree* tree) {
  const int at = tree != NULL && tree->n > 0 ? sr_json_member(tree, 0, "id") : -1;
  double number;
  srText text = {0};
  if (at >= 0 && sr_json_node_number(&tree->node[at], &number))
    sr_json_number(json, "id", number);
  else
    sr_json_text(json, "id", at >= 0 && sr_json_node_text(&tree->node[at], &text) ? text.data : NULL);
  sr_text_free(&text);
}

void sr_live_answer_begin(srLiveAnswer* a, const srJsonTree* tree, bool good) {
  sr_live_answer_free(a);
  a->json = sr_json_begin(&a->text);
  put_id(&a->json, tree);
  sr_json_bool(&a->json, "ok", good);
}

static void pad(srText* text) {
  while (text->n % 8 != 0 && !text->failed) sr_text_add(text, "", 1);
}

void sr_live_put_array(srLiveAnswer* a, const char* name, const char* type, const void* x, size_t n) {
  const size_t width = type[1] == '8' ? 1 : type[1] == '6' ? 8 : 4;
  SR_ASSERT(a->narray < SR_LIVE_ARRAYS);
  a->array[a->narray++] = (srLiveArray){name, type, a->bytes.n, n};
  if (n > 0) sr_text_add(&a->bytes, x, n * width);
  pad(&a->bytes);
}

void sr_live_put_messages(srLiveAnswer* a, const srMessages* messages) {
  static const char* const severities[] = {"error", "warning", "note"};
  srJson* json = &a->json;
  sr_json_array(json, "messages");
  for (int i = 0; i < sr_messages_count(messages); i++) {
    const srMessage* x = sr_messages_get(messages, i);
    sr_json_object(json, NULL);
    sr_json_text(json, "severity", severities[x->severity]);
    sr_json_text(json, "file", x->place.file);
    sr_json_int(json, "line", x->place.line);
    sr_json_int(json, "column", x->place.column);
    sr_json_text(json, "text", x->text);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_arrays(srLiveAnswer* a) {
  sr_json_object(&a->json, "arrays");
  for (int i = 0; i < a->narray; i++) {
    const srLiveArray* x = &a->array[i];
    sr_json_object(&a->json, x->name);
    sr_json_int(&a->json, "at", (long long)x->at);
    sr_json_int(&a->json, "n", (long long)x->n);
    sr_json_text(&a->json, "type", x->type);
    sr_json_object_end(&a->json);
  }
  sr_json_object_end(&a->json);
}

srStatus sr_live_answer_end(srLiveAnswer* a, srText* out) {
  put_arrays(a);
  sr_json_end(&a->json);
  if (a->text.failed || a->bytes.failed || a->text.n > UINT_MAX) return SR_MEMORY;
  const size_t n = a->text.n, begin = out->n;
  const unsigned char length[4] = {n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24 & 255};
  sr_text_add(out, (const char*)length, 4);
  sr_text_add(out, a->text.data, n);
  while ((out->n - begin) % 8 != 0 && !out->failed) sr_text_add(out, "", 1);
  if (a->bytes.n > 0) sr_text_add(out, a->bytes.data, a->bytes.n);
  if (!out->failed) return SR_OK;
  sr_text_free(out);
  return SR_MEMORY;
}

void sr_live_answer_free(srLiveAnswer* a) {
  sr_text_free(&a->text);
  sr_text_free(&a->bytes);
  *a = (srLiveAnswer){0};
}
