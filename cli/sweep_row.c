// One row of a sweep: the verb is called with the values of its parameters, as `--set NAME=VALUE` behind its options or in the place of
// {NAME} in them; what it would print is kept.
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

// ------------------------------------------------------------------------------------------------------------- arguments
// The option with {NAME} of parameters and {row} replaced.
static void put_option(const Sweep* s, long long row, const char* text, srText* out) {
  while (*text) {
    const char* close = *text == '{' ? strchr(text, '}') : NULL;
    const size_t n = close ? (size_t)(close - text) - 1 : 0;
    int k = 0;
    while (close && k < sr_sweep_count(s->plan) &&
           (strlen(sr_sweep_name(s->plan, k)) != n || strncmp(sr_sweep_name(s->plan, k), text + 1, n) != 0))
      k++;
    if (close && k < sr_sweep_count(s->plan))
      sr_sweep_text(s->plan, row, k, out);
    else if (close && n == 3 && strncmp(text + 1, "row", 3) == 0)
      sr_text_print(out, "%lld", row);
    else
      close = NULL, sr_text_add(out, text, 1);
    text = close ? close + 1 : text + 1;
  }
  sr_text_add(out, "", 1);  // its zero
}

// All words of the call, each with a zero behind it. Returns their number.
static int put_words(const Sweep* s, long long row, srText* out) {
  int n = 2;
  sr_text_add(out, s->model, strlen(s->model) + 1);
  sr_text_add(out, "--json", sizeof "--json");
  for (int i = 0; i < s->ninner; i++, n++) put_option(s, row, s->inner[i], out);
  for (int k = 0; k < sr_sweep_count(s->plan); k++) {
    if (s->placed[k]) continue;
    sr_text_print(out, "--set=%s=", sr_sweep_name(s->plan, k));
    sr_sweep_text(s->plan, row, k, out);
    sr_text_add(out, "", 1);
    n++;
  }
  return n;
}

// ------------------------------------------------------------------------------------------------------------------- call
// The first error, else the first warning.
static void keep_message(const srMessages* messages, Row* out) {
  const srMessage* told = NULL;
  for (int i = 0; i < sr_messages_count(messages); i++) {
    const srMessage* m = sr_messages_get(messages, i);
    out->warnings += m->severity == SR_SEVERITY_WARNING;
    if (m->severity < (told ? told->severity : SR_SEVERITY_NOTE)) told = m;
  }
  if (!told) return;
  if (told->place.file && strcmp(told->place.file, "sarrus") != 0)
    sr_message_format(told, out->text, sizeof out->text);
  else
    snprintf(out->text, sizeof out->text, "%s", told->text);
}

void row_run(const Sweep* s, long long row, bool opening, Row* out) {
  srText words = {0};
  const int n = put_words(s, row, &words);
  char** argv = calloc((size_t)n + 1, sizeof *argv);
  *out = (Row){.status = EXIT_FAILED, .kept.opening = opening, .messages = sr_messages_create()};
  Cli cli = {.json = true, .quiet = true, .report = stdout, .messages = out->messages, .kept = &out->kept};
  if (argv && cli.messages && !words.failed) {
    char* word = words.data;
    for (int i = 0; i < n; i++, word += strlen(word) + 1) argv[i] = word;
    out->status = s->verb->run(&cli, s->verb, n, argv);
    keep_message(cli.messages, out);
  } else {
    snprintf(out->text, sizeof out->text, "out of memory");
  }
  free(argv);
  sr_text_free(&words);
}

void row_free(Row* row) {
  sr_text_free(&row->kept.json);
  sr_text_free(&row->kept.files);
  sr_messages_destroy(row->messages);
}

// ------------------------------------------------------------------------------------------------------------------- line
void put_quoted(srText* out, const char* text, size_t n) {
  sr_text_add(out, "\"", 1);
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"') sr_text_add(out, "\"", 1);
    sr_text_add(out, (unsigned char)text[i] < ' ' ? " " : &text[i], 1);
  }
  sr_text_add(out, "\"", 1);
}

static void put_end(srText* out, const char* status, int warnings, const char* message) {
  put_quoted(out, status, strlen(status));
  sr_text_print(out, ",%d,", warnings);
  if (*message) put_quoted(out, message, strlen(message));
}

void row_line_failed(const Sweep* s, const char* status, const char* message, srText* out) {
  for (int i = 0; i < s->columns.n; i++) sr_text_add(out, "nan,", 4);
  put_end(out, status, 0, message);
}

// A row without a result has no numbers: those of a run that stopped early are not those of its end.
void row_line(const Sweep* s, const Row* row, srText* out) {
  srJsonTree tree = {0};
  if (row->status == EXIT_DONE && sr_json_read(row->kept.json.data, row->kept.json.n, &tree, NULL)) {
    cells_put(&tree, &s->columns, out);
    put_end(out, "ok", row->warnings, row->text);
  } else if (row->status == EXIT_DONE) {
    row_line_failed(s, "failed", "the result could not be read: out of memory?", out);
  } else {
    row_line_failed(s, row->status == EXIT_INPUT ? "refused" : "failed", row->text, out);
  }
  sr_json_tree_free(&tree);
}
