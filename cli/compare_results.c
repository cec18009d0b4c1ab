// sarrus compare RESULT RESULT...: results that were stored, against the first of them.
#include <stdlib.h>

#include "compare.h"

static int print_all(Cli* cli, const TextList* files, srTableDifference* const* differences) {
  srText text = {0};
  cli_show(cli);
  sr_report_table_differences(files->item[0], (const srTableDifference* const*)differences + 1, files->n - 1,
                              cli_form(cli), &text);
  return cli_print(cli, &text);
}

int compare_results(Cli* cli, const TextList* files) {
  srResultTable** tables = calloc((size_t)files->n, sizeof(srResultTable*));
  srTableDifference** differences = calloc((size_t)files->n, sizeof(srTableDifference*));
  bool good = tables && differences && files->n > 1;
  if (files->n < 2) cli_error(cli, "compare needs two or more result files, or models");
  for (int i = 0; i < files->n && good; i++) good = sr_table_read(files->item[i], cli->messages, &tables[i]) == SR_OK;
  for (int i = 1; i < files->n && good; i++)
    good = sr_table_difference_create(tables[0], files->item[0], tables[i], files->item[i], cli->messages,
                                      &differences[i]) == SR_OK;
  const int status = good ? print_all(cli, files, differences) : cli_refuse(cli, EXIT_INPUT);
  for (int i = 0; i < files->n; i++) {
    if (tables) sr_table_destroy(tables[i]);
    if (differences) sr_table_difference_destroy(differences[i]);
  }
  free(tables);
  free(differences);
  return status;
}
