// Tables of results in memory: see table.h.
#include <sarrus/table.h>
#include <string.h>

int sr_table_column(const srResultTable* table, const char* name) {
  for (int i = 0; i < table->ncolumn; i++)
    if (strcmp(table->names[i], name) == 0) return i;
  return -1;
}
