// Files that are read and written (src/base/file.c, output.c): what the shell cannot see or hardly make.
#define _DEFAULT_SOURCE
#define RUNNER_TOGETHER  // they use the same files
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "messages.h"
#include "runner.h"

#define FOLDER SARRUS_BINARY_DIR "/test-file"

static void fresh_folder(void) {
  (void)mkdir(FOLDER, 0777);
  for (const char* const* name = (const char* const[]){"a.txt", "a.txt.part", "link.txt", "far.txt", "up.txt",
                                                       "new.txt", "new.txt.part", NULL};
       *name; name++) {
    char path[300];
    (void)snprintf(path, sizeof path, FOLDER "/%s", *name);
    (void)unlink(path);
  }
}

static bool has(const char* path, const char* text) {
  char line[100] = "";
  FILE* file = fopen(path, "r");
  if (file == NULL) return false;
  (void)!fread(line, 1, sizeof line - 1, file);
  fclose(file);
  return strcmp(line, text) == 0;
}

static srStatus write_file(const char* path, const char* text, srMessages* messages) {
  srOutput* output = NULL;
  const srStatus status = sr_output_create(path, messages, &output);
  if (status != SR_OK) return status;
  (void)fputs(text, sr_output_stream(output));
  return sr_output_close(output, messages);
}

// The lowest number that is free: the same before and after if nothing is left open.
static int free_handle(void) {
  const int handle = dup(STDERR_FILENO);
  close(handle);
  return handle;
}

static void ensure_refused(const char* path, const char* words) {
  srMessages* messages = sr_messages_create();
  const srStatus status = write_file(path, "new", messages);
  const bool told = sr_messages_count(messages) == 1 && strstr(sr_messages_get(messages, 0)->text, words) != NULL;
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_IO);
  ENSURE(told);
}

TEST(a_folder_holds_what_is_below_it_and_nothing_that_begins_alike) {
  ENSURE(sr_file_is_inside("/a/b", "/a/b/c"));
  ENSURE(sr_file_is_inside("/a/b/", "/a/b/c/d"));
  ENSURE(sr_file_is_inside("/", "/a"));
  ENSURE(!sr_file_is_inside("/a/b", "/a/bc"));
  ENSURE(!sr_file_is_inside("/a/b", "/a/b"));
  ENSURE(!sr_file_is_inside("/a/b", "/a/c/b"));
  ENSURE(!sr_file_is_inside("/a/b", "/a"));
}

TEST(files_are_opened_where_standard_input_is_closed_and_nothing_stays_open) {
  srReason reason = {""};
  fresh_folder();
  const int keep = dup(STDIN_FILENO), before = free_handle();
  close(STDIN_FILENO);  // the next file gets the number 0
  const srStatus written = write_file(FOLDER "/a.txt", "new", NULL);
  FILE* file = sr_file_open(FOLDER "/a.txt", &reason);
  const int number = file != NULL ? fileno(file) : -1;
  if (file != NULL) fclose(file);
  const bool refused = sr_file_open(FOLDER, &reason) == NULL && sr_file_open(FOLDER "/none", &reason) == NULL;
  const int lowest = free_handle();
  (void)dup2(keep, STDIN_FILENO);
  close(keep);
  ENSURE_EQUAL(written, SR_OK);
  ENSURE_EQUAL(number, 0);
  ENSURE(refused);
  ENSURE_EQUAL(lowest, 0);
  ENSURE(free_handle() == keep && before > keep);
}

TEST(nothing_stays_open_after_a_file_was_written_given_up_or_refused) {
  fresh_folder();
  const int before = free_handle();
  ENSURE_EQUAL(write_file(FOLDER "/a.txt", "one", NULL), SR_OK);
  ENSURE_EQUAL(write_file(FOLDER "/a.txt", "two", NULL), SR_OK);
  ENSURE(has(FOLDER "/a.txt", "two"));
  srOutput *first = NULL, *second = NULL;
  ENSURE_EQUAL(sr_output_create(FOLDER "/a.txt", NULL, &first), SR_OK);
  ENSURE_EQUAL(sr_output_create(FOLDER "/a.txt", NULL, &second), SR_IO);
  ENSURE(second == NULL);
  sr_output_discard(first);
  ENSURE(has(FOLDER "/a.txt", "two") && access(FOLDER "/a.txt.part", F_OK) != 0);
  ENSURE_EQUAL(free_handle(), before);
}

// What was expensive stays under the name of the part; what was not is removed.
TEST(the_part_of_a_failed_write_stays_only_where_it_is_to_be_rescued) {
  for (int rescue = 0; rescue < 2; rescue++) {
    char said[2000];
    srOutput* output = NULL;
    srMessages* messages = sr_messages_create();
    fresh_folder();
    ENSURE_EQUAL(write_file(FOLDER "/a.txt", "old", NULL), SR_OK);
    ENSURE_EQUAL(sr_output_create(FOLDER "/a.txt", messages, &output), SR_OK);
    (void)fputs("half", sr_output_stream(output));
    if (rescue) sr_output_rescue(output);
    sr_output_fail(output);
    const srStatus status = sr_output_close(output, messages);
    messages_keep(messages, said, sizeof said);
    sr_messages_destroy(messages);
    ENSURE_EQUAL(status, SR_FAILED);
    ENSURE(has(FOLDER "/a.txt", "old"));
    ENSURE((access(FOLDER "/a.txt.part", F_OK) == 0) == (rescue == 1));
    ENSURE(!rescue || has(FOLDER "/a.txt.part", "half"));
    ENSURE((strstr(said, "a.txt.part") != NULL) == (rescue == 1));
  }
}

// A link in a folder whose name is already long, to a place that is far: both are allowed, together they are not.
TEST(links_that_lead_too_far_and_names_of_no_file_are_refused) {
  char path[4000], target[3000];
  fresh_folder();
  size_t used = (size_t)snprintf(path, sizeof path, "%s", FOLDER);
  while (used < 3000) used += (size_t)snprintf(path + used, sizeof path - used, "/.");
  (void)snprintf(path + used, sizeof path - used, "/link.txt");
  for (used = 0; used < 2000;) used += (size_t)snprintf(target + used, sizeof target - used, "./");
  (void)snprintf(target + used, sizeof target - used, "far.txt");
  ENSURE(symlink(target, FOLDER "/link.txt") == 0);
  ensure_refused(path, "File name too long");
  ENSURE_EQUAL(write_file(FOLDER "/link.txt", "far", NULL), SR_OK);
  ENSURE(has(FOLDER "/far.txt", "far"));
  ensure_refused(FOLDER "/none.txt/", "Is a directory");
}
