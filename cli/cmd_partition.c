// sarrus partition: independent and dependent coordinates, rank, redundant equations.
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct Wishes {
  const char* independent;  // "joint,joint.component"; NULL: none
  const char* pivoting;     // full, column; NULL: full
  const char* out;          // file; NULL: none
} Wishes;

static int partition(Cli* cli, const Model* m, const srPartitionOptions* options, const char* out) {
  srCoordinatePartition* p = NULL;
  const srStatus status = sr_partition_create(m->model, m->data, options, cli->messages, &p);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  srText text = {0};
  const int written = out ? partition_write(cli, m, p, out) : EXIT_DONE;
  cli_show(cli);
  if (written == EXIT_DONE) sr_report_partition(m->model, m->data, p, cli_form(cli), &text);
  sr_partition_destroy(p);
  return written == EXIT_DONE ? cli_print(cli, &text) : written;
}

static int choose(Cli* cli, const Model* m, const Wishes* wishes) {
  static const char* const pivoting[] = {"full", "column"};
  if (wishes->pivoting && !word_exists(cli, "--pivoting", wishes->pivoting, pivoting, 2, 2))
    return cli_refuse(cli, EXIT_INPUT);
  unsigned char* mark = calloc((size_t)m->model->nv + 1, 1);
  if (!mark) {
    cli_error(cli, "out of memory");
    return cli_refuse(cli, EXIT_FAILED);
  }
  const bool good = !wishes->independent || coordinates_mark(cli, m->model, wishes->independent, mark);
  const srPartitionOptions options = {.independent = wishes->independent ? mark : NULL,
                                      .by_rows = wishes->pivoting && strcmp(wishes->pivoting, "column") == 0};
  const int status = good ? partition(cli, m, &options, wishes->out) : cli_refuse(cli, EXIT_INPUT);
  free(mark);
  return status;
}

int cmd_partition(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  State state = state_none();
  Wishes wishes = {0};
  int status = EXIT_DONE;
  const Option options[] = {STATE_OPTIONS(&state),
                            {"--independent", OPTION_TEXT, &wishes.independent, "LIST",
                             "joints, or joint.component, that must be independent"},
                            {"--pivoting", OPTION_TEXT, &wishes.pivoting, "WORD",
                             "of LU: full (default), or column: equations in their order"},
                            OUT_OPTIONS(&wishes.out, "FILE",
                                        "write the partition, for run --partition: JSON; - is "
                                        "standard output"),
                            FORMULATION_OPTION(&m),
                            MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    if (!output_is_free(cli, wishes.out, m.path) || !output_is_free(cli, wishes.out, state.file) ||
        !output_begin(cli, "--out", &wishes.out, SR_CONTENT_JSON))
      status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE) status = model_open(cli, &m);
    if (status == EXIT_DONE && !model_is_safe(cli, &m, wishes.out)) status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE && !state_apply(cli, &state, m.model, m.data)) status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE) status = state_at_time(cli, &state, &m);
    if (status == EXIT_DONE) status = model_formulate(cli, &m);
    if (status == EXIT_DONE) status = choose(cli, &m, &wishes);
  }
  state_free(&state);
  model_close(&m);
  return status;
}
