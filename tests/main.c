// Runs the tests: sarrus-test [--list] [--times] [--part K/N] [FILTER]. A test's full name is module/name; FILTER is any
// part of it. Ends with "N passed, N failed, N skipped" alone on a line; exit status 1 when one failed.
//   --list        prints the names and runs nothing
//   --times       prints the processor time of each test, as "seconds name" before its outcome
//   --part K/N    of the tests that FILTER takes those with number K, K + N, K + 2 N, ... (K from 1): N processes that are
//                 given all parts run every test once. Tests that share files (RUNNER_TOGETHER) have one number
//
// A test may take SARRUS_TEST_SECONDS of processor time (default below) and 20 times that by the clock on the wall, which
// other work on the machine does not use up. One that takes longer is named, and the run ends there: nothing is known of
// the state it was interrupted in.
#include "runner.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 120, LIMIT_LONG = 1800, SANITIZED_TIMES = 10, WALL_TIMES = 20, PASSED = 0, FAILED = 1, SKIPPED = 2 };

static Test* first;
static Test** last = &first;
static jmp_buf end_of_test;
static char full_name[256];  // of the test that runs

void runner_add(Test* test) {
  *last = test;
  last = &test->next;
}

bool runner_long(void) {
  const char* value = getenv("SARRUS_TEST_LONG");
  return value && strcmp(value, "1") == 0;
}

bool runner_sanitized(void) {
#ifdef RUNNER_SANITIZED
  return true;
#else
  return false;
#endif
}

bool runner_takes(int k) { return !runner_sanitized() || k % 4 == 0; }

__attribute__((noreturn, format(printf, 3, 4))) static void fail(const char* file, int line, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("FAILED %s\n  %s:%d: ", full_name, file, line);
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
  longjmp(end_of_test, FAILED);
}

void runner_skip(const char* reason) {
  printf("skipped %s: %s\n", full_name, reason);
  longjmp(end_of_test, SKIPPED);
}

void runner_ensure(bool condition, const char* file, int line, const char* text) {
  if (!condition) fail(file, line, "not true: %s", text);
}

void runner_small(double x, double tolerance, const char* file, int line, const char* text) {
  if (!(fabs(x) <= tolerance)) fail(file, line, "%s is %.17g, not within %g", text, x, tolerance);
}

void runner_near(double a, double b, double tolerance, const char* file, int line, const char* text) {
  if (!(fabs(a - b) <= tolerance))
    fail(file, line, "%s: %.17g and %.17g differ by %.3g, more than %g", text, a, b, fabs(a - b), tolerance);
}

void runner_equal(long long a, long long b, const char* file, int line, const char* text) {
  if (a != b) fail(file, line, "%s is %lld, not %lld", text, a, b);
}

void runner_text(const char* a, const char* b, const char* file, int line, const char* text) {
  if (!a || !b ? a != b : strcmp(a, b) != 0)
    fail(file, line, "%s is\n    \"%s\"\n  not\n    \"%s\"", text, a ? a : "(null)", b ? b : "(null)");
}

// "tests/test_base.c", "a_test" -> "base/a_test"
static void set_full_name(const Test* test) {
  const char* slash = strrchr(test->file, '/');
  const char* base = slash ? slash + 1 : test->file;
  if (strncmp(base, "test_", 5) == 0) base += 5;
  snprintf(full_name, sizeof full_name, "%.*s/%s", (int)strcspn(base, "."), base, test->name);
}

static void on_crash(int signal_number) {
  printf("CRASHED %s (signal %d)\n", full_name, signal_number);
  fflush(stdout);  // not safe in a handler, but the program is lost anyway and the name is worth more
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void name_the_test_that_crashes(void) {
#ifndef RUNNER_SANITIZED
  const int signals[] = {SIGSEGV, SIGFPE, SIGABRT, SIGILL};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], on_crash);
#else
  (void)on_crash;
#endif
}

static void on_time(int signal_number) {
  (void)signal_number;
  static const char before[] = "FAILED ", after[] = "\n  it takes longer than its time limit (SARRUS_TEST_SECONDS)\n";
  (void)!write(STDOUT_FILENO, before, sizeof before - 1);  // stdout was flushed before the test began
  (void)!write(STDOUT_FILENO, full_name, strlen(full_name));
  (void)!write(STDOUT_FILENO, after, sizeof after - 1);
  _exit(1);
}

static long limit_seconds(void) {
  const char* value = getenv("SARRUS_TEST_SECONDS");
  const long limit = value ? strtol(value, NULL, 10) : runner_long() ? LIMIT_LONG : LIMIT;
  return runner_sanitized() ? SANITIZED_TIMES * limit : limit;
}

static void set_limit(long seconds) {  // 0: none
  const struct itimerval processor = {.it_value.tv_sec = seconds}, wall = {.it_value.tv_sec = WALL_TIMES * seconds};
  (void)setitimer(ITIMER_PROF, &processor, NULL);
  (void)setitimer(ITIMER_REAL, &wall, NULL);
}

static int outcome(const Test* test) {
  const int ended = setjmp(end_of_test);
  if (ended == 0) {
    set_limit(limit_seconds());
    test->run();
  }
  set_limit(0);
  return ended;
}

typedef struct {
  bool list, times;
  int part, parts;  // part from 1
  const char* filter;
} Choice;

static bool read_choice(int argc, char** argv, Choice* choice) {
  *choice = (Choice){.part = 1, .parts = 1, .filter = ""};
  for (int i = 1; i < argc; i++) {
    char rest;
    if (strcmp(argv[i], "--list") == 0) {
      choice->list = true;
    } else if (strcmp(argv[i], "--times") == 0) {
      choice->times = true;
    } else if (strcmp(argv[i], "--part") == 0 && i + 1 < argc) {
      if (sscanf(argv[++i], "%d/%d%c", &choice->part, &choice->parts, &rest) != 2) return false;
    } else if (argv[i][0] == '-') {
      return false;
    } else {
      choice->filter = argv[i];
    }
  }
  return 1 <= choice->part && choice->part <= choice->parts;
}

static int timed_outcome(const Test* test) {
  const clock_t start = clock();
  const int ended = outcome(test);
  printf("%9.3f %s\n", (double)(clock() - start) / CLOCKS_PER_SEC, full_name);
  return ended;
}

int main(int argc, char** argv) {
  Choice choice;
  if (!read_choice(argc, argv, &choice)) {
    fprintf(stderr, "usage: sarrus-test [--list] [--times] [--part K/N] [FILTER]\n");
    return 2;
  }
  name_the_test_that_crashes();
  signal(SIGPROF, on_time);
  signal(SIGALRM, on_time);

  int count[3] = {0}, number = -1;  // count: by outcome
  const Test* before = NULL;        // the last one that the filter took
  for (const Test* test = first; test; test = test->next) {
    set_full_name(test);
    if (!strstr(full_name, choice.filter)) continue;
    number += !(test->together && before && strcmp(before->file, test->file) == 0);
    before = test;
    if (number % choice.parts != choice.part - 1) continue;
    if (choice.list) {
      printf("%s\n", full_name);
    } else {
      count[choice.times ? timed_outcome(test) : outcome(test)]++;
    }
    fflush(stdout);
  }
  if (!choice.list) printf("%d passed, %d failed, %d skipped\n", count[PASSED], count[FAILED], count[SKIPPED]);
  return count[FAILED] > 0;
}
