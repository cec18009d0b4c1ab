// A partition of the coordinates in a file: written by `sarrus partition --out`, read by `sarrus run --partition`. It is that of one model in one formulation;
// a file of another one is refused.
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int partition_write(Cli* cli, const Model* m, const srCoordinatePartition* p, const char* path) {
  srText text = {0};
  srOutput* output = NULL;
  sr_report_partition(m->model, m->data, p, SR_REPORT_JSON, &text);
  if (text.failed) cli_error(cli, "out of memory");
  srStatus status = text.failed ? SR_MEMORY : sr_output_create(path, cli->messages, &output);
  if (status == SR_OK) {
    (void)fwrite(text.data, 1, text.n, sr_output_stream(output));  // the stream keeps the error
    status = sr_output_close(output, cli->messages);
  }
  sr_text_free(&text);
  return status == SR_OK ? EXIT_DONE : cli_refuse(cli, cli_status(status));
}

enum { NAME, FORMULATION, INDEPENDENT, DEPENDENT, DRIVEN, KEYS };

// Marks the coordinates of one list with `value`; a name that the model has not, or that was there before, is an error.
static bool mark_list(Cli* cli, const srModel* m, const char* path, const JsonWanted* list, unsigned char value,
                      unsigned char* mark) {
  const char* word = list->text;
  for (int k = 0; k < list->n; k++, word += strlen(word) + 1) {
    char name[256];
    int i = 0;
    while (i < m->nv && strcmp(word, sr_coordinate_name(m, i, name, sizeof name)) != 0) i++;
    if (i == m->nv || mark[i] != 0)
      return (cli_error(cli,
                        i == m->nv ? "'%s' is the partition of another model: there is no coordinate '%s' in '%s'"
                                   : "'%s' has the coordinate '%s' twice (model '%s')",
                        path, word, m->name),
              false);
    mark[i] = value;
  }
  return true;
}

// Every coordinate is in one list of the file.
static bool is_whole(Cli* cli, const srModel* m, const char* path, const unsigned char* mark) {
  char name[256];
  for (int i = 0; i < m->nv; i++)
    if (mark[i] == 0)
      return (cli_error(cli, "'%s' is the partition of another model: it has no coordinate '%s', which is in '%s'",
                        path, sr_coordinate_name(m, i, name, sizeof name), m->name),
              false);
  return true;
}

static bool is_of_model(Cli* cli, const srModel* m, const char* path, const JsonWanted* found) {
  const char* formulation = sr_formulation_word(m->formulation);
  static const char* const keys[] = {"name", "formulation", "independent", "dependent", "driven"};
  for (int i = 0; i < KEYS; i++)
    if (!found[i].text)
      return (cli_error(cli, "'%s' is no partition: it has no key \"%s\"; `sarrus partition --out` writes one", path,
                        keys[i]),
              false);
  if (strcmp(found[NAME].text, m->name) != 0)
    return (cli_error(cli, "'%s' is the partition of '%s', and the model is '%s'", path, found[NAME].text, m->name),
            false);
  if (strcmp(found[FORMULATION].text, formulation) != 0)
    return (
        cli_error(cli, "'%s' divides %s coordinates, and this run has %s ones: take --formulation %s, or another file",
                  path, found[FORMULATION].text, formulation, found[FORMULATION].text),
        false);
  return true;
}

static bool take(Cli* cli, const srModel* m, const char* path, const JsonWanted* found, unsigned char* mark) {
  enum { INDEPENDENT_MARK = 1, OTHER_MARK = 2 };
  if (!is_of_model(cli, m, path, found) || !mark_list(cli, m, path, &found[INDEPENDENT], INDEPENDENT_MARK, mark) ||
      !mark_list(cli, m, path, &found[DEPENDENT], OTHER_MARK, mark) ||
      !mark_list(cli, m, path, &found[DRIVEN], OTHER_MARK, mark) || !is_whole(cli, m, path, mark))
    return false;
  for (int i = 0; i < m->nv; i++) mark[i] = mark[i] == INDEPENDENT_MARK;
  return true;
}

int partition_read(Cli* cli, const srModel* m, const char* path, unsigned char** mark) {
  JsonWanted found[KEYS] = {{.key = "name", .words = true},
                            {.key = "formulation", .words = true},
                            {.key = "independent", .words = true},
                            {.key = "dependent", .words = true},
                            {.key = "driven", .words = true}};
  srJsonError said;
  size_t size;
  *mark = calloc((size_t)m->nv + 1, 1);
  char* text = *mark ? json_file(cli, "the partition", path, &size) : NULL;
  if (!*mark) cli_error(cli, "out of memory");
  bool good = text && json_read(text, size, found, KEYS, &said);
  if (text && !good)
    sr_messages_add(cli->messages, SR_SEVERITY_ERROR, (srPlace){path, said.line, said.column}, "%s", said.text);
  good = good && take(cli, m, path, found, *mark);
  for (int i = 0; i < KEYS; i++) free(found[i].text);
  free(text);
  return good ? EXIT_DONE : cli_refuse(cli, EXIT_INPUT);
}

bool coordinates_mark(Cli* cli, const srModel* m, const char* list, unsigned char* mark) {
  bool good = true;
  while (*list != 0) {
    const size_t n = strcspn(list, ",");
    char word[256];
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), list);
    if (n > 0 && !sr_coordinates_named(m, word, mark)) {
      cli_error(cli, "--independent: there is no joint or coordinate '%s'; `sarrus check` lists the joints", word);
      good = false;
    }
    list += n + (list[n] == ',');
  }
  return good;
}
