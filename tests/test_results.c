// Result files: HDF5 and CSV hold the same bits, read back what was written, and refuse what is no table.
#define RUNNER_TOGETHER  // they use the same files
#include <math.h>
#include <sarrus/io.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"

#define H5 SARRUS_BINARY_DIR "/test-results.h5"
#define CSV SARRUS_BINARY_DIR "/test-results.csv"

static const char* const names[] = {"t", "q.arm", "a very long name, with a comma", "e\xc3\xa9"};
static const char* const units[] = {"s", "rad", "", "kg m^2"};

// A number that needs all its digits, and now and then one that is none.
static double number(int row, int column) {
  if (row == 7 && column == 2) return (double)NAN;
  if (row == 8 && column == 2) return -5e-324;
  return sin(1.0 + row) * pow(10, (row * 7 + column) % 600 - 300);
}

static srStatus write_table(const char* path, int nrow) {
  srTableWriter* table = NULL;
  srStatus status = sr_table_create(path, "made by a test", 4, names, units, NULL, &table);
  for (int i = 0; i < nrow && status == SR_OK; i++) {
    double row[4];
    for (int k = 0; k < 4; k++) row[k] = number(i, k);
    status = sr_table_row(table, row);
  }
  const srStatus closed = sr_table_close(table, NULL);
  return status == SR_OK ? closed : status;
}

static bool is_same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static void check_table(const char* path, int nrow) {
  srResultTable* t = NULL;
  ENSURE_EQUAL(write_table(path, nrow), SR_OK);
  ENSURE_EQUAL(sr_table_read(path, NULL, &t), SR_OK);
  ENSURE_EQUAL(t->ncolumn, 4);
  ENSURE_EQUAL(t->nrow, nrow);
  for (int k = 0; k < 4; k++) {
    ENSURE(strcmp(t->names[k], names[k]) == 0);
    ENSURE(strcmp(t->units[k], units[k]) == 0);
    for (int i = 0; i < nrow; i++) ENSURE(is_same(t->columns[k][i], number(i, k)));
  }
  sr_table_destroy(t);
  remove(path);
}

// Columns of words, as sweeps have them, are gaps; without quotes a word is an error.
TEST(csv_takes_quoted_words_as_gaps) {
  srResultTable* t = NULL;
  FILE* file = fopen(CSV, "w");
  fputs("row,q[0] [],a(j)[2] [],\"x,y\",f[N],status\n0,1.5,2,3,4,\"ok\"\n1,nan,\"7\",3,4,\"it \"\"broke\"\", here\"\n",
        file);
  fclose(file);
  ENSURE_EQUAL(sr_table_read(CSV, NULL, &t), SR_OK);
  ENSURE(t->ncolumn == 6 && t->nrow == 2);
  static const char* const wanted[6][2] = {{"row", ""}, {"q[0]", ""}, {"a(j)[2]", ""},
                                           {"x,y", ""}, {"f", "N"},   {"status", ""}};
  for (int k = 0; k < 6; k++) ENSURE(strcmp(t->names[k], wanted[k][0]) == 0 && strcmp(t->units[k], wanted[k][1]) == 0);
  ENSURE(t->columns[1][0] == 1.5 && isnan(t->columns[1][1]) && t->columns[2][1] == 7);
  ENSURE(isnan(t->columns[5][0]) && isnan(t->columns[5][1]) && t->columns[4][1] == 4);
  sr_table_destroy(t);
  file = fopen(CSV, "w");
  fputs("row,status\n0,ok\n", file);
  fclose(file);
  ENSURE_EQUAL(sr_table_read(CSV, NULL, &t), SR_INPUT);
  remove(CSV);
}

TEST(csv_gives_back_the_bits) { check_table(CSV, 3000); }

#ifdef SARRUS_HDF5
TEST(hdf5_gives_back_the_bits) {
  check_table(H5, 1);     // less than a block
  check_table(H5, 1024);  // one
  check_table(H5, 3000);  // more
}

TEST(hdf5_of_a_run_that_stopped_can_be_read) {
  srTableWriter* table = NULL;
  srResultTable* t = NULL;
  double row[4] = {1, 2, 3, 4};
  ENSURE_EQUAL(sr_table_create(H5, NULL, 4, names, NULL, NULL, &table), SR_OK);
  for (int i = 0; i < 2050; i++) ENSURE_EQUAL(sr_table_row(table, row), SR_OK);
  // what a program that dies leaves on the disk: the blocks that were full
  char copy[] = SARRUS_BINARY_DIR "/test-results-copy.h5", buffer[4096];
  FILE *from = fopen(H5 ".part", "rb"), *to = fopen(copy, "wb");
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, from)) > 0;) fwrite(buffer, 1, n, to);
  fclose(from);
  fclose(to);
  ENSURE_EQUAL(sr_table_close(table, NULL), SR_OK);
  ENSURE_EQUAL(sr_table_read(copy, NULL, &t), SR_OK);
  ENSURE_EQUAL(t->nrow, 2048);
  ENSURE(t->columns[3][2047] == 4 && strcmp(t->units[1], "") == 0);
  sr_table_destroy(t);
  remove(copy);
  remove(H5);
}

TEST(damaged_hdf5_is_refused_with_a_sentence) {
  ENSURE_EQUAL(write_table(H5, 100), SR_OK);
  char bytes[40000];
  FILE* file = fopen(H5, "rb");
  const size_t n = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  int refused = 0;
  for (int part = 1; part < 20; part++) {  // cut off, ever later
    srMessages* messages = sr_messages_create();
    srResultTable* t = NULL;
    file = fopen(H5, "wb");
    fwrite(bytes, 1, n * (size_t)part / 20, file);
    fclose(file);
    const srStatus status = sr_table_read(H5, messages, &t);
    ENSURE((status == SR_OK) == (t != NULL));
    ENSURE(status == SR_OK || sr_messages_errors(messages) > 0);
    refused += status != SR_OK;
    sr_table_destroy(t);
    sr_messages_destroy(messages);
  }
  ENSURE_EQUAL(refused, 19);
  remove(H5);
}
#else
TEST(without_hdf5_a_message_reports_it) {
  srTableWriter* table = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_table_create(H5, NULL, 4, names, units, messages, &table), SR_IO);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "built without"));
  sr_messages_destroy(messages);
}
#endif

TEST(a_file_that_is_not_there_is_reported) {
  srMessages* messages = sr_messages_create();
  srResultTable* t = NULL;
  ENSURE_EQUAL(sr_table_read("no/such/file.h5", messages, &t), SR_IO);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "cannot be read"));
  sr_messages_destroy(messages);
}
