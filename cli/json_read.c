// Numbers and texts under known keys of a JSON file.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static bool fail(const char* text, const char* at, srJsonError* error, const char* what) {
  error->line = error->column = 1;
  for (const char* c = text; c < at; c++) {
    error->column++;
    if (*c == '\n') error->line++, error->column = 1;
  }
  snprintf(error->text, sizeof error->text, "%s", what);
  return false;
}

static int children(const srJsonTree* t, int at) {
  int n = 0;
  for (int i = at + 1; i < t->node[at].end; i = t->node[i].end) n++;
  return n;
}

// The values of an array, or the one that is none: first, and behind the last.
static void range(const srJsonTree* t, int at, int* first, int* end) {
  const bool list = *t->node[at].text == '[';
  *first = at + (list ? 1 : 0);
  *end = t->node[at].end;
}

static bool numbers(const char* text, const srJsonTree* t, int at, JsonWanted* w, srJsonError* error) {
  const bool list = *t->node[at].text == '[';
  if (list != w->list)
    return fail(text, t->node[at].text, error, list ? "expected a number" : "expected '[' before the numbers");
  int first, end;
  range(t, at, &first, &end);
  w->x = malloc(((size_t)children(t, at) + 1) * sizeof *w->x);
  if (!w->x) return fail(text, t->node[at].text, error, "out of memory");
  for (int i = first; i < end; i = t->node[i].end)
    if (!sr_json_node_number(&t->node[i], &w->x[w->n++]))
      return fail(text, t->node[i].text, error, "expected a number");
  return true;
}

// Each text with its 0; escapes stay as written.
static bool words(const char* text, const srJsonTree* t, int at, JsonWanted* w, srJsonError* error) {
  int first, end;
  size_t used = 0;
  range(t, at, &first, &end);
  w->text = malloc((size_t)t->node[at].n + 1);
  if (!w->text) return fail(text, t->node[at].text, error, "out of memory");
  for (int i = first; i < end; i = t->node[i].end, w->n++) {
    const srJsonNode* x = &t->node[i];
    if (*x->text != '"') return fail(text, x->text, error, "expected '\"' at the start of a text");
    memcpy(w->text + used, x->text + 1, (size_t)x->n - 2);
    used += (size_t)x->n - 1;
    w->text[used - 1] = 0;
  }
  return true;
}

static bool take(const char* text, const srJsonTree* t, int at, JsonWanted* wanted, int n, srJsonError* error) {
  const srJsonNode* x = &t->node[at];
  for (int i = 0; i < n; i++) {
    JsonWanted* w = &wanted[i];
    if ((size_t)x->nkey != strlen(w->key) || memcmp(w->key, x->key, (size_t)x->nkey) != 0) continue;
    if (w->x || w->text) {
      char twice[120];
      snprintf(twice, sizeof twice, "the key \"%s\" is given twice", w->key);
      return fail(text, x->key, error, twice);
    }
    return w->words ? words(text, t, at, w, error) : numbers(text, t, at, w, error);
  }
  return true;
}

bool json_read(const char* text, size_t size, JsonWanted* wanted, int n, srJsonError* error) {
  srJsonTree tree = {0};
  bool good = sr_json_read(text, size, &tree, error);
  if (good && *tree.node[0].text != '{') good = fail(text, tree.node[0].text, error, "expected '{' at the start");
  for (int i = 1; good && i < tree.n; i = tree.node[i].end) good = take(text, &tree, i, wanted, n, error);
  sr_json_tree_free(&tree);
  return good;
}

char* json_file(Cli* cli, const char* what, const char* path, size_t* size) {
  enum { MAX = 64 << 20 };
  FILE* file = fopen(path, "rb");
  if (!file) {
    cli_error(cli, "%s '%s' could not be opened: %s", what, path, strerror(errno));
    return NULL;
  }
  size_t room = 4096, n = 0;
  char* text = malloc(room);
  while (text) {
    n += fread(text + n, 1, room - n, file);
    if (n < room || room >= MAX) break;
    room *= 2;
    char* more = realloc(text, room);
    if (!more) free(text);
    text = more;
  }
  const bool bad = ferror(file) || n >= MAX;
  fclose(file);
  if (!text || bad) {
    cli_error(cli, "%s '%s' could not be read", what, path);
    free(text);
    return NULL;
  }
  *size = n;
  return text;
}
