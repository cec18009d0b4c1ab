// The test runner: a test is a block of C that registers itself.
//
//   TEST(a_pendulum_at_rest_stays_at_rest) {
//     ENSURE(count == 3);               // a condition
//     ENSURE_SMALL(residual, 1e-12);    // |residual| <= tolerance; NaN fails
//     ENSURE_NEAR(a, b, 1e-12);         // |a - b| <= tolerance
//     ENSURE_EQUAL(n, 3);               // whole numbers
//     ENSURE_TEXT(text, "expected");
//     if (!present) SKIP("needs ...");  // what it needs is not there: neither passed nor failed
//   }
//
// Tests of a file that use the same files on disk are not run beside each other by several processes (--part) where the file defines
// RUNNER_TOGETHER before it includes this one.
//
// The first ENSURE that fails ends its test; the others go on. Helper functions may use ENSURE too.
#ifndef SR_TEST_RUNNER_H
#define SR_TEST_RUNNER_H

#include <stdbool.h>

// Defined under the address sanitizer: it reports crashes itself, and memory is laid out differently.
#if defined(__SANITIZE_ADDRESS__)  // gcc
#define RUNNER_SANITIZED
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer)
#define RUNNER_SANITIZED
#endif
#endif

typedef struct Test {
  const char* name;
  const char* file;
  void (*run)(void);
  bool together;  // in the same part as the test before it, where that is of the same file
  struct Test* next;
} Test;

void runner_add(Test* test);
bool runner_long(void);  // true under `./test --long`: take more time, test more

// The sanitizers see which memory code touches, not how accurate it is, and slow it five times and more. Where cases take the
// same code with other numbers, a test may leave some out there; every one is run without the sanitizers.
bool runner_sanitized(void);
bool runner_takes(int k);  // true for every case k; under the sanitizers for k = 0, 4, 8, ...

__attribute__((noreturn)) void runner_skip(const char* reason);  // ends the test: it counts as skipped, not as passed

void runner_ensure(bool condition, const char* file, int line, const char* text);
void runner_small(double x, double tolerance, const char* file, int line, const char* text);
void runner_near(double a, double b, double tolerance, const char* file, int line, const char* text);
void runner_equal(long long a, long long b, const char* file, int line, const char* text);
void runner_text(const char* a, const char* b, const char* file, int line, const char* text);

#ifdef RUNNER_TOGETHER
#define RUNNER_IS_TOGETHER true
#else
#define RUNNER_IS_TOGETHER false
#endif

#define TEST(test_name)                                                                                                \
  static void test_name(void);                                                                                         \
  __attribute__((constructor)) static void register_##test_name(void) {                                                \
    static Test test = {.name = #test_name, .file = __FILE__, .run = test_name, .together = RUNNER_IS_TOGETHER};       \
    runner_add(&test);                                                                                                 \
  }                                                                                                                    \
  static void test_name(void)

#define SKIP(reason) runner_skip(reason)
#define ENSURE(condition) runner_ensure((condition), __FILE__, __LINE__, #condition)
#define ENSURE_SMALL(x, tolerance) runner_small((x), (tolerance), __FILE__, __LINE__, #x)
#define ENSURE_NEAR(a, b, tolerance) runner_near((a), (b), (tolerance), __FILE__, __LINE__, #a " and " #b)
#define ENSURE_EQUAL(a, b) runner_equal((a), (b), __FILE__, __LINE__, #a)
#define ENSURE_TEXT(a, b) runner_text((a), (b), __FILE__, __LINE__, #a)

#endif
