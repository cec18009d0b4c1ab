// The request that writes: the one file that the session may write gets another text, where it still has the text that the client knows. So nobody's
// changes are overwritten unseen, and no time stamps are compared: those of some file systems count seconds.
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "live/live.h"

// The file as it is now. One that is not there is made where the client knows that there is none.
typedef struct Found {
  char path[SR_PATH_SIZE];  // links resolved
  bool there;
  srText text;
} Found;

static bool find_path(srRequest* r, Found* f) {
  const srLiveOptions* options = &r->live->options;
  char folder[SR_PATH_SIZE];
  struct stat link;
  const char* full = sr_pool_printf(&r->pool, "%s/%s", options->folder, options->writes);
  if (full == NULL) return sr_request_fail(r, "out of memory");
  if (!sr_file_real(options->folder, folder)) return sr_request_fail(r, "the folder of the session is not there");
  f->there = sr_file_real(full, f->path);
  if (f->there)
    return sr_file_is_inside(folder, f->path) ||
           sr_request_fail(r, "'%.200s' leads out of the folder of the session", options->writes);
  if (lstat(full, &link) == 0)  // to write it would make the file that it leads to, wherever that is
    return sr_request_fail(r, "'%.200s' is a link that leads to no file", options->writes);
  const int n = snprintf(f->path, SR_PATH_SIZE, "%s/%s", folder, options->writes);
  return (n > 0 && n < SR_PATH_SIZE) || sr_request_fail(r, "the path is too long");
}

// What a client gets to know of a text: bytes that are not UTF-8 would be lost if it wrote them back.
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
         sr_request_fail(r, "'%.200s' holds bytes that are not UTF-8 and would be lost: save it as another file",
                         r->live->options.writes);
}

static bool find_file(srRequest* r, Found* f) {
  *f = (Found){.text = {.pool = &r->pool}};
  return find_path(r, f) &&
         (!f->there || (sr_live_read_file(r, r->live->options.writes, &f->text) && can_be_sent(r, &f->text)));
}

// Is the file what the client knows? NULL: it knows that there is none.
static bool is_known(const Found* f, const char* before, size_t n) {
  if (!f->there || before == NULL) return !f->there && before == NULL;
  return f->text.n == n && memcmp(f->text.data, before, n) == 0;
}

// The answer where it is not: what it is now.
static bool report_change(srRequest* r, const Found* f) {
  sr_json_bool(&r->answer.json, "saved", false);
  if (f->there) sr_json_text(&r->answer.json, "text", f->text.data);
  return true;
}

static bool fail_to_write(srRequest* r) {
  const int last = sr_messages_count(r->messages) - 1;
  return sr_request_fail(r, "'%.200s' %s", r->live->options.writes,
                         last >= 0 ? sr_messages_get(r->messages, last)->text : "out of memory");
}

bool sr_do_save(srRequest* r) {
  const char *text = NULL, *before = NULL;
  size_t n = 0, n_before = 0;
  Found now;
  srOutput* out = NULL;
  if (!sr_request_text(r, "text", SR_MEMBER_REQUIRED, &text, &n) ||
      !sr_request_text(r, "before", SR_MEMBER_OPTIONAL, &before, &n_before))
    return false;
  if (r->live->options.folder == NULL || r->live->options.writes == NULL)
    return sr_request_fail(r, "this session writes no files");
  if (!find_file(r, &now)) return false;
  if (!is_known(&now, before, n_before)) return report_change(r, &now);
  if (sr_output_create(now.path, r->messages, &out) != SR_OK) return fail_to_write(r);
  // From here on no other session writes it; one may have done so since it was read.
  const bool found = find_file(r, &now);
  if (!found || !is_known(&now, before, n_before)) {
    sr_output_discard(out);
    return found && report_change(r, &now);
  }
  if (n > 0) (void)fwrite(text, 1, n, sr_output_stream(out));  // an error is detected by sr_output_close
  if (sr_output_close(out, r->messages) != SR_OK) return fail_to_write(r);
  sr_json_bool(&r->answer.json, "saved", true);
  return true;
}
