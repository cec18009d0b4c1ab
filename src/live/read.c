// Members of requests. What is not as expected is a sentence.
#include <math.h>
#include <string.h>

#include "live/live.h"

bool sr_request_fail(srRequest* r, const char* format, ...) {
  va_list arguments;
  if (r->error.n > 0) return false;  // the first one counts
  va_start(arguments, format);
  sr_text_vprint(&r->error, format, arguments);
  va_end(arguments);
  return false;
}

static const srJsonNode* find(const srRequest* r, const char* key) {
  const int at = sr_json_member(&r->tree, 0, key);
  return at >= 0 ? &r->tree.node[at] : NULL;
}

bool sr_request_has(const srRequest* r, const char* key) { return find(r, key) != NULL; }

// *node NULL: it is not there. False: it should be.
static bool take(srRequest* r, const char* key, srMember need, const char* what, const srJsonNode** node) {
  *node = find(r, key);
  return *node != NULL || need == SR_MEMBER_OPTIONAL ||
         sr_request_fail(r, "the request '%s' needs the member \"%s\", %s", r->word, key, what);
}

bool sr_request_number(srRequest* r, const char* key, srMember need, double least, double most, double* out) {
  const srJsonNode* node;
  double x;
  if (!take(r, key, need, "a number", &node)) return false;
  if (node == NULL) return true;
  if (!sr_json_node_number(node, &x)) return sr_request_fail(r, "\"%s\" must be a number", key);
  if (!(x >= least && x <= most))
    return sr_request_fail(r, "\"%s\" must be from %g to %g, not %g", key, least, most, x);
  *out = x;
  return true;
}

bool sr_request_whole(srRequest* r, const char* key, srMember need, long least, long most, long* out) {
  double x = (double)*out;
  if (!sr_request_number(r, key, need, (double)least, (double)most, &x)) return false;
  if (x != floor(x)) return sr_request_fail(r, "\"%s\" must be a whole number, not %g", key, x);
  *out = (long)x;
  return true;
}

bool sr_request_text(srRequest* r, const char* key, srMember need, const char** out, size_t* n) {
  const srJsonNode* node;
  srText text = {.pool = &r->pool};
  if (!take(r, key, need, "a text", &node)) return false;
  if (node == NULL) return true;
  if (!sr_json_node_text(node, &text))
    return sr_request_fail(r, "\"%s\" must be a text of whole characters, without zeros", key);
  if (text.failed) return sr_request_fail(r, "out of memory");
  *out = text.data;
  if (n != NULL) *n = text.n;
  return true;
}

bool sr_request_vector(srRequest* r, const char* key, srMember need, double out[3]) {
  const srJsonNode* node;
  int n = 0;
  if (!take(r, key, need, "three numbers", &node)) return false;
  if (node == NULL) return true;
  const int first = (int)(node - r->tree.node) + 1;
  bool good = *node->text == '[';
  for (int i = first; good && i < node->end; i = r->tree.node[i].end, n++)
    good = n < 3 && sr_json_node_number(&r->tree.node[i], &out[n]) && fabs(out[n]) <= 1e12;
  return (good && n == 3) || sr_request_fail(r, "\"%s\" must be three numbers, [x, y, z]", key);
}

bool sr_request_word(srRequest* r, const char* key, const char* const* words, int n, int* out) {
  const char* word = NULL;
  if (!sr_request_text(r, key, SR_MEMBER_OPTIONAL, &word, NULL)) return false;
  if (word == NULL) return true;
  const int i = sr_word_index(words, n, word);
  if (i >= 0) return *out = i, true;
  const char* nearest = sr_nearest_word(word, words, n);
  if (nearest != NULL) return sr_request_fail(r, "\"%s\" cannot be '%.60s'; did you mean '%s'?", key, word, nearest);
  srText all = {.pool = &r->pool};
  for (int k = 0; k < n; k++) sr_text_print(&all, "%s%s", k > 0 ? ", " : "", words[k]);
  return sr_request_fail(r, "\"%s\" cannot be '%.60s'; there are: %s", key, word, all.data);
}
