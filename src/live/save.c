// The request that writes: the one file of the session that may be written gets another text, where it still has the text that the client knows. So nobody's
// changes are overwritten unseen, and no clock is asked: times of files count seconds on some file systems.
#include <string.h>

#include "base/file.h"
#include "live/live.h"

// The file, links resolved, in the folder of the session; one that is not there would be made.
static bool find_file(srRequest* r, char path[SR_PATH_SIZE], bool* there) {
  const srLiveOptions* options = &r->live->options;
  char folder[SR_PATH_SIZE];
  const char* full = sr_pool_printf(&r->pool, "%s/%s", options->folder, options->writes);
  if (full == NULL) return sr_request_fail(r, "out of memory");
  if (!sr_file_real(options->folder, folder)) return sr_request_fail(r, "the folder of the session is not there");
  *there = sr_file_real(full, path);
  if (*there)
    return sr_file_is_inside(folder, path) ||
           sr_request_fail(r, "'%.200s' leads out of the folder of the session", options->writes);
  const int n = snprintf(path, SR_PATH_SIZE, "%s/%s", folder, options->writes);
  return (n > 0 && n < SR_PATH_SIZE) || sr_request_fail(r, "the path is too long");
}

// What a client gets to know of a text: bytes that are no UTF-8 would be lost if it wrote them back.
static bool can_be_sent(srRequest* r, const srText* text) {
  srText out = {.pool = &r->pool}, back = {.pool = &r->pool};
  srJson json = sr_json_begin(&out);
  sr_json_text(&json, "text", text->data);
  sr_json_end(&json);
  srJsonTree tree = {0};
  const bool same = !out.failed && sr_json_read(out.data, out.n, &tree, NULL) &&
                    sr_json_node_text(&tree.node[1], &back) && !back.failed && back.n == text->n &&
                    memcmp(back.data, text->data, back.n) == 0;
  sr_json_tree_free(&tree);
  return same ||
         sr_request_fail(r, "'%.200s' holds bytes that are no UTF-8, which would be lost: save it as another file",
                         r->live->options.writes);
}

static bool write_file(srRequest* r, const char* path, const char* text, size_t n) {
  srOutput* out = NULL;
  srStatus status = sr_output_create(path, r->messages, &out);
  if (status == SR_OK) {
    if (n > 0) (void)fwrite(text, 1, n, sr_output_stream(out));  // an error is seen by sr_output_close
    status = sr_output_close(out, r->messages);
  }
  const int last = sr_messages_count(r->messages) - 1;
  return status == SR_OK || sr_request_fail(r, "'%.200s' %s", r->live->options.writes,
                                            last >= 0 ? sr_messages_get(r->messages, last)->text : "out of memory");
}

// The answer where the file is not what the client knows: what it is now.
static bool tell_change(srRequest* r, bool there, const char* text) {
  sr_json_bool(&r->answer.json, "saved", false);
  if (there) sr_json_text(&r->answer.json, "text", text);
  return true;
}

bool sr_do_save(srRequest* r) {
  const char *text = NULL, *before = NULL;
  size_t n = 0, n_before = 0;
  char path[SR_PATH_SIZE];
  bool there = false;
  srText now = {.pool = &r->pool};
  if (!sr_request_text(r, "text", SR_MEMBER_REQUIRED, &text, &n) ||
      !sr_request_text(r, "before", SR_MEMBER_OPTIONAL, &before, &n_before))
    return false;
  if (r->live->options.folder == NULL || r->live->options.writes == NULL)
    return sr_request_fail(r, "this session writes no files");
  if (!find_file(r, path, &there)) return false;
  if (there && (!sr_live_read_file(r, r->live->options.writes, &now) || !can_be_sent(r, &now))) return false;
  const bool known =
      there ? before != NULL && n_before == now.n && memcmp(before, now.data, now.n) == 0 : before == NULL;
  if (!known) return tell_change(r, there, now.data);
  if (!write_file(r, path, text, n)) return false;
  sr_json_bool(&r->answer.json, "saved", true);
  return true;
}
