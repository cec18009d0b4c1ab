// Result tables as CSV: a line of provenance, a header with units, rows of numbers with 17 digits (reading gives the
// same bits) and a point in every locale. Row writing allocates nothing: the buffer of the stream is preallocated.
#include <sarrus/io.h>
#include <stdio.h>
#include <string.h>

#include "io/results/table.h"

#define BUFFER_SIZE ((size_t)1 << 16)
#define NUMBER_SIZE 40

struct srCsv {
  srOutput* output;
  FILE* file;  // of output
  int ncolumn;
  char buffer[BUFFER_SIZE];
};

static void write_line_text(FILE* file, const char* text) {
  for (; *text; text++) fputc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
}

// "name [unit]". In quotes where a character of it would mean something to a reader, a line end too: it is kept. A name without a
// unit that ends as one with a unit does gets an empty one.
static void write_name(FILE* file, const char* name, const char* unit) {
  const size_t n = strlen(name);
  if (!unit) unit = "";
  const bool looks_like_unit = n > 0 && (name[n - 1] == ']' || name[n - 1] == ')');
  const bool bracketed = *unit || looks_like_unit;
  const bool quoted = strpbrk(name, ",;\t\"\n\r") || strpbrk(unit, ",;\t\"\n\r") || name[0] == '#' || name[0] == ' ' ||
                      (n > 0 && name[n - 1] == ' ');
  if (quoted) fputc('"', file);
  const char* parts[] = {name, bracketed ? " [" : "", unit, bracketed ? "]" : ""};
  for (int i = 0; i < SR_COUNT(parts); i++)
    for (const char* p = parts[i]; *p; p++) {
      if (*p == '"') fputc('"', file);
      fputc(*p, file);
    }
  if (quoted) fputc('"', file);
}

static void write_head(srCsv* csv, const char* provenance, const char* const* names, const char* const* units) {
  if (provenance) {
    fputs("# ", csv->file);
    write_line_text(csv->file, provenance);
    fputc('\n', csv->file);
  }
  for (int i = 0; i < csv->ncolumn; i++) {
    if (i > 0) fputc(',', csv->file);
    write_name(csv->file, names[i], units ? units[i] : NULL);
  }
  fputc('\n', csv->file);
}

srStatus sr_csv_create(const char* path, const char* provenance, int ncolumn, const char* const* names,
                       const char* const* units, srMessages* messages, srCsv** out) {
  *out = NULL;
  srCsv* csv = sr_alloc(sizeof *csv);
  if (!csv) return SR_MEMORY;
  const srStatus status = sr_output_create(path, messages, &csv->output);
  if (status != SR_OK) {
    sr_free(csv);
    return status;
  }
  sr_output_rescue(csv->output);
  csv->file = sr_output_stream(csv->output);
  csv->ncolumn = ncolumn;
  setvbuf(csv->file, csv->buffer, _IOFBF, BUFFER_SIZE);
  write_head(csv, provenance, names, units);
  *out = csv;
  return SR_OK;
}

static size_t print_number(double value, char out[NUMBER_SIZE]) {
  if (value != value) return strlen(strcpy(out, "nan"));
  return sr_number_print(value, 17, out, NUMBER_SIZE);
}

srStatus sr_csv_row(srCsv* csv, const double* row) {
  for (int i = 0; i < csv->ncolumn; i++) {
    char number[NUMBER_SIZE];
    if (i > 0) fputc(',', csv->file);
    fwrite(number, 1, print_number(row[i], number), csv->file);
  }
  fputc('\n', csv->file);
  return ferror(csv->file) ? SR_IO : SR_OK;
}

srStatus sr_csv_close(srCsv* csv, srMessages* messages) {
  if (!csv) return SR_OK;
  const srStatus status = sr_output_close(csv->output, messages);
  sr_free(csv);
  return status;
}

void sr_csv_discard(srCsv* csv) {
  sr_output_discard(csv->output);
  sr_free(csv);
}
