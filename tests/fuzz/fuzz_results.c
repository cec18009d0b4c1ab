// Fuzzes the reader of result tables (CSV): whatever the bytes, a table or a sentence.
#define _GNU_SOURCE
#include <sarrus/io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char path[64];
  const int file = memfd_create("table", 0);
  if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  srMessages* messages = sr_messages_create();
  srResultTable* table = NULL;
  const srStatus status = sr_table_read(path, messages, &table);
  if ((status == SR_OK) != (table != NULL)) abort();
  if (status != SR_OK && sr_messages_errors(messages) == 0) abort();
  double sum = 0;
  for (int i = 0; table && i < table->ncolumn; i++) {
    sum += table->names[i][0] + table->units[i][0];
    for (int k = 0; k < table->nrow; k++) sum += table->columns[i][k];
  }
  if (sum == 0.12345) puts("");  // every number is touched
  sr_table_destroy(table);
  sr_messages_destroy(messages);
  close(file);
  return 0;
}
