// Tables of results in memory: see table.h.
#include <sarrus/table.h>

#include "base/base.h"

int sr_table_column(const srResultTable* table, const char* name) {
  return sr_word_index(table->names, table->ncolumn, name);
}
