// Tests of src/base: the allocator, pools, growing arrays, messages, words and names.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "runner.h"

// ------------------------------------------------------------------------------------- an allocator that can run out
typedef struct Meter {
  int calls;       // allocations asked for so far
  int fails_at;    // this call fails, and all after it; 0: never
  long long live;  // bytes not freed
} Meter;

static void* metered(void* user, void* pointer, size_t old_size, size_t new_size) {
  Meter* meter = user;
  if (new_size == 0) {
    meter->live -= (long long)old_size;
    free(pointer);
    return NULL;
  }
  meter->calls++;
  if (meter->fails_at && meter->calls >= meter->fails_at) return NULL;
  meter->live += (long long)new_size - (long long)old_size;
  return realloc(pointer, new_size);
}

TEST(heap_memory_is_zeroed_and_aligned_to_a_cache_line) {
  for (size_t size = 0; size < 300; size += 7) {
    unsigned char* memory = sr_alloc(size);
    ENSURE(memory != NULL);
    ENSURE((uintptr_t)memory % 64 == 0);
    for (size_t i = 0; i < size; i++) ENSURE(memory[i] == 0);
    memset(memory, 255, size);
    sr_free(memory);
  }
  sr_free(NULL);
}

TEST(a_size_that_overflows_is_out_of_memory) {
  ENSURE(sr_alloc(SIZE_MAX) == NULL);
  ENSURE(sr_alloc(SIZE_MAX - 64) == NULL);
  srPool pool;
  sr_pool_init(&pool);
  ENSURE(sr_pool_alloc(&pool, SIZE_MAX) == NULL);
  ENSURE(sr_pool_text_n(&pool, "x", SIZE_MAX) == NULL);
  int capacity = INT32_MAX / 2 + 1;
  ENSURE(sr_pool_grow(&pool, NULL, 8, 0, &capacity) == NULL);
  ENSURE_EQUAL(capacity, INT32_MAX / 2 + 1);
  sr_pool_free(&pool);
}

TEST(every_byte_goes_through_the_allocator_and_back) {
  Meter meter = {0};
  sr_set_allocator(metered, &meter);
  void* memory = sr_alloc(1000);
  const long long held = meter.live;
  sr_free(memory);
  sr_set_allocator(NULL, NULL);
  ENSURE(held >= 1000);
  ENSURE_EQUAL(meter.live, 0);
  ENSURE_EQUAL(meter.calls, 1);
}

// --------------------------------------------------------------------------------------------------------------- pool
TEST(pool_memory_is_zeroed_aligned_and_apart) {
  srPool pool;
  sr_pool_init(&pool);
  unsigned char* pieces[200];
  for (size_t i = 0; i < 200; i++) {
    const size_t size = i * 37;  // small ones share a block, large ones get their own
    pieces[i] = sr_pool_alloc(&pool, size);
    ENSURE((uintptr_t)pieces[i] % 32 == 0);
    for (size_t k = 0; k < size; k++) ENSURE(pieces[i][k] == 0);
    memset(pieces[i], (int)i, size);
  }
  for (size_t i = 0; i < 200; i++)
    for (size_t k = 0; k < i * 37; k++) ENSURE(pieces[i][k] == i);
  sr_pool_free(&pool);
}

TEST(a_large_request_leaves_the_room_in_the_current_block) {
  srPool pool;
  sr_pool_init(&pool);
  char* first = sr_pool_alloc(&pool, 32);
  (void)sr_pool_alloc(&pool, (size_t)1 << 22);
  char* second = sr_pool_alloc(&pool, 32);
#ifndef RUNNER_SANITIZED  // there each request has a block of its own
  ENSURE(second == first + 32);
#else
  ENSURE(second != first);
#endif
  sr_pool_free(&pool);
}

TEST(a_pool_can_be_used_again_after_it_was_freed) {
  srPool pool;
  sr_pool_init(&pool);
  ENSURE(sr_pool_alloc(&pool, 10) != NULL);
  sr_pool_free(&pool);
  ENSURE(sr_pool_alloc(&pool, 10) != NULL);
  sr_pool_free(&pool);
  sr_pool_free(&pool);
}

// Again and again, with more and with less: zeroed, and from the second time on in the same memory.
TEST(an_emptied_pool_keeps_its_room) {
  Meter meter = {0};
  srPool pool;
  sr_pool_init(&pool);
  sr_pool_empty(&pool);
  sr_set_allocator(metered, &meter);
  long long calls = 0;
  for (size_t round = 0; round < 4; round++) {
    for (size_t i = 0; i < 50 - 5 * round; i++) {
      unsigned char* piece = sr_pool_alloc(&pool, i * 97);
      for (size_t k = 0; k < i * 97; k++) ENSURE(piece[k] == 0);
      memset(piece, 0xff, i * 97);
    }
    sr_pool_empty(&pool);
    if (round == 0) calls = meter.calls;
  }
#ifdef RUNNER_SANITIZED  // there each request has a block of its own
  ENSURE(meter.calls >= calls);
#else
  ENSURE_EQUAL(meter.calls, calls);
#endif
  sr_pool_free(&pool);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(meter.live, 0);
}

TEST(texts_are_copied_cut_and_printed_into_a_pool) {
  srPool pool;
  sr_pool_init(&pool);
  ENSURE_TEXT(sr_pool_text(&pool, "crank"), "crank");
  ENSURE_TEXT(sr_pool_text(&pool, ""), "");
  ENSURE(sr_pool_text(&pool, NULL) == NULL);
  ENSURE_TEXT(sr_pool_text_n(&pool, "slider/pin", 6), "slider");
  ENSURE_TEXT(sr_pool_printf(&pool, "%s %d", "joint", 7), "joint 7");
  char* long_text = sr_pool_printf(&pool, "%5000d", 1);
  ENSURE_EQUAL((long long)strlen(long_text), 5000);
  sr_pool_free(&pool);
}

TEST(a_growing_array_keeps_its_items) {
  srPool pool;
  sr_pool_init(&pool);
  int* items = NULL;
  int n = 0, capacity = 0;
  for (int i = 0; i < 10000; i++) SR_PUSH(&pool, items, n, capacity) = i * i;
  ENSURE_EQUAL(n, 10000);
  ENSURE(capacity >= n);
  for (int i = 0; i < n; i++) ENSURE_EQUAL(items[i], i * i);
  sr_pool_free(&pool);
}

// Fills a pool in every way there is; returns false when memory ran out on the way.
static bool fill_pool(srPool* pool) {
  jmp_buf no_memory;
  pool->on_fail = &no_memory;
  if (setjmp(no_memory) != 0) return false;

  srNames names;
  sr_names_init(&names, pool);
  double* items = NULL;
  int n = 0, capacity = 0;
  for (int i = 0; i < 300; i++) {
    const char* name = sr_pool_printf(pool, "body%d", i);
    sr_names_put(&names, sr_pool_text(pool, name), i);
    SR_PUSH(pool, items, n, capacity) = i;
  }
  return true;
}

TEST(running_out_of_memory_at_any_call_jumps_out_and_leaks_nothing) {
  bool done = false;
  int n = 0;
  while (!done && n < 100000) {
    Meter meter = {.fails_at = ++n};
    srPool pool;
    sr_set_allocator(metered, &meter);
    sr_pool_init(&pool);
    done = fill_pool(&pool);
    sr_pool_free(&pool);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(meter.live, 0);
  }
  ENSURE(done);
  ENSURE(n > 3);  // it did fail on the way
}

TEST(without_a_place_to_jump_to_a_pool_returns_null) {
  Meter meter = {.fails_at = 1};
  srPool pool;
  sr_pool_init(&pool);
  srNames names;
  sr_names_init(&names, &pool);
  sr_set_allocator(metered, &meter);
  void* memory = sr_pool_alloc(&pool, 1);
  char* text = sr_pool_text(&pool, "text");
  char* printed = sr_pool_printf(&pool, "%d", 1);
  const bool put = sr_names_put(&names, "name", 1);
  sr_set_allocator(NULL, NULL);
  ENSURE(!memory && !text && !printed && !put);
  ENSURE_EQUAL(sr_names_find(&names, "name"), -1);
}

// ----------------------------------------------------------------------------------------------------------- messages
TEST(a_message_states_where_and_what) {
  char text[100];
  sr_message_format(&(srMessage){SR_SEVERITY_ERROR, {"a.xml", 3, 14}, "no body 'rod'", 0}, text, sizeof text);
  ENSURE_TEXT(text, "a.xml:3:14: error: no body 'rod'");
  sr_message_format(&(srMessage){SR_SEVERITY_WARNING, {"a.xml", 3, 0}, "odd", 0}, text, sizeof text);
  ENSURE_TEXT(text, "a.xml:3: warning: odd");
  sr_message_format(&(srMessage){SR_SEVERITY_NOTE, {"a.xml", 0, 0}, "note", 0}, text, sizeof text);
  ENSURE_TEXT(text, "a.xml: note: note");
  sr_message_format(&(srMessage){SR_SEVERITY_ERROR, {NULL, 0, 0}, "no mass", 0}, text, sizeof text);
  ENSURE_TEXT(text, "error: no mass");
  sr_message_format(&(srMessage){SR_SEVERITY_ERROR, {NULL, 1, 5}, "no mass", 0}, text, sizeof text);
  ENSURE_TEXT(text, "input:1:5: error: no mass");
}

TEST(a_message_is_cut_to_the_buffer) {
  const srMessage message = {SR_SEVERITY_ERROR, {"a.xml", 3, 14}, "no body 'rod'", 0};
  char text[12];
  memset(text, 'x', sizeof text);
  sr_message_format(&message, text, sizeof text);
  ENSURE_TEXT(text, "a.xml:3:14:");
  text[0] = 'x';
  sr_message_format(&message, text, 0);
  ENSURE(text[0] == 'x');
}

TEST(messages_with_one_format_are_of_one_kind) {
  srMessages* messages = sr_messages_create();
  const srPlace nowhere = {0};
  sr_messages_add(messages, SR_SEVERITY_WARNING, nowhere, "mesh '%s' is open", "arm");
  sr_messages_add(messages, SR_SEVERITY_WARNING, nowhere, "%s", "an odd thing");
  char same[] = "mesh '%s' is open";  // equal, but elsewhere
  sr_messages_add(messages, SR_SEVERITY_WARNING, nowhere, same, "leg");
  sr_messages_add(messages, SR_SEVERITY_WARNING, nowhere, "%s", "another odd thing");
  sr_messages_add(messages, SR_SEVERITY_WARNING, nowhere, "%s", "an odd thing");
  ENSURE_EQUAL(sr_messages_kinds(messages), 3);
  const int expected[] = {0, 1, 0, 2, 1};
  for (int i = 0; i < 5; i++) ENSURE_EQUAL(sr_messages_get(messages, i)->kind, expected[i]);

  srMessages* others = sr_messages_create();  // a kind outlives its list
  sr_messages_add(others, SR_SEVERITY_WARNING, nowhere, "mesh '%s' is open", "hand");
  for (int i = 0; i < 3; i++) sr_messages_pass(others, messages, i, SR_SEVERITY_NOTE);
  ENSURE_EQUAL(sr_messages_kinds(others), 2);
  ENSURE_EQUAL(sr_messages_get(others, 3)->kind, 0);
  ENSURE_EQUAL(sr_messages_get(others, 3)->severity, SR_SEVERITY_NOTE);
  ENSURE_TEXT(sr_messages_get(others, 3)->text, "mesh 'leg' is open");
  sr_messages_destroy(messages);
  sr_messages_destroy(others);
}

TEST(messages_are_kept_in_order_with_copies_of_their_texts) {
  srMessages* messages = sr_messages_create();
  char file[] = "a.xml", word[] = "rod";
  for (int i = 1; i <= 20; i++)
    sr_messages_add(messages, i % 2 ? SR_SEVERITY_ERROR : SR_SEVERITY_WARNING, (srPlace){file, i, 1}, "%s %d", word, i);
  file[0] = word[0] = '?';

  ENSURE_EQUAL(sr_messages_count(messages), 20);
  ENSURE_EQUAL(sr_messages_errors(messages), 10);
  ENSURE_TEXT(sr_messages_get(messages, 18)->text, "rod 19");
  ENSURE_TEXT(sr_messages_get(messages, 18)->place.file, "a.xml");
  ENSURE_EQUAL(sr_messages_get(messages, 18)->place.line, 19);
  ENSURE(sr_messages_get(messages, 20) == NULL && sr_messages_get(messages, -1) == NULL);
  sr_messages_destroy(messages);
}

TEST(messages_may_be_null) {
  sr_messages_add(NULL, SR_SEVERITY_ERROR, (srPlace){0}, "dropped");
  ENSURE_EQUAL(sr_messages_count(NULL), 0);
  ENSURE_EQUAL(sr_messages_errors(NULL), 0);
  sr_messages_destroy(NULL);
}

TEST(an_error_counts_even_when_there_is_no_memory_for_its_text) {
  srMessages* messages = sr_messages_create();
  Meter meter = {.fails_at = 1};
  sr_set_allocator(metered, &meter);
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){"a.xml", 1, 1}, "lost");
  srMessages* none = sr_messages_create();
  sr_set_allocator(NULL, NULL);
  ENSURE(none == NULL);
  ENSURE_EQUAL(sr_messages_errors(messages), 1);
  ENSURE_EQUAL(sr_messages_count(messages), 0);
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){"a.xml", 1, 1}, "kept");
  ENSURE_TEXT(sr_messages_get(messages, 0)->text, "kept");
  sr_messages_destroy(messages);
}

TEST(every_status_has_a_text) {
  ENSURE_TEXT(sr_status_text(SR_OK), "done");
  ENSURE_TEXT(sr_status_text(SR_MEMORY), "out of memory");
  ENSURE_TEXT(sr_status_text((srStatus)99), "unknown status");
}

TEST(the_library_has_the_version_of_its_headers) {
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", SR_VERSION_MAJOR, SR_VERSION_MINOR, SR_VERSION_PATCH);
  ENSURE_TEXT(version, SR_VERSION_STRING);
  ENSURE_TEXT(sr_version(), SR_VERSION_STRING);
}

// ---------------------------------------------------------------------------------------------------- words and names
TEST(the_nearest_word_is_found_when_one_is_near) {
  const char* const words[] = {"revolute", "prismatic", "helical", "ball", "free", "mass", "com"};
  const int n = SR_COUNT(words);
  ENSURE_TEXT(sr_nearest_word("revolut", words, n), "revolute");
  ENSURE_TEXT(sr_nearest_word("rveolute", words, n), "revolute");  // two letters exchanged cost one
  ENSURE_TEXT(sr_nearest_word("Prismatic", words, n), "prismatic");
  ENSURE_TEXT(sr_nearest_word("FREE", words, n), "free");
  ENSURE_TEXT(sr_nearest_word("bal", words, n), "ball");
  ENSURE_TEXT(sr_nearest_word("cmo", words, n), "com");
}

TEST(no_word_is_offered_when_none_is_near) {
  const char* const words[] = {"revolute", "ball", "com"};
  ENSURE(sr_nearest_word("temperature", words, 3) == NULL);
  ENSURE(sr_nearest_word("belt", words, 3) == NULL);  // two of four letters differ
  ENSURE(sr_nearest_word("", words, 3) == NULL);
  ENSURE(sr_nearest_word("ball", words, 0) == NULL);
  char long_word[200];
  memset(long_word, 'a', sizeof long_word - 1);
  long_word[sizeof long_word - 1] = 0;
  ENSURE(sr_nearest_word(long_word, words, 3) == NULL);
}

TEST(names_lead_to_their_index) {
  srPool pool;
  sr_pool_init(&pool);
  srNames names;
  sr_names_init(&names, &pool);
  ENSURE_EQUAL(sr_names_find(&names, "body0"), -1);
  for (int i = 0; i < 1000; i++) ENSURE(sr_names_put(&names, sr_pool_printf(&pool, "body%d", i), i));
  for (int i = 0; i < 1000; i++) {
    char name[16];
    snprintf(name, sizeof name, "body%d", i);
    ENSURE_EQUAL(sr_names_find(&names, name), i);
  }
  ENSURE_EQUAL(names.n, 1000);
  ENSURE_EQUAL(sr_names_find(&names, "body1000"), -1);
  ENSURE_EQUAL(sr_names_find(&names, ""), -1);
  sr_pool_free(&pool);
}

TEST(a_name_that_is_taken_keeps_its_first_index) {
  srPool pool;
  sr_pool_init(&pool);
  srNames names;
  sr_names_init(&names, &pool);
  ENSURE(sr_names_put(&names, "rod", 1));
  ENSURE(!sr_names_put(&names, "rod", 2));
  ENSURE_EQUAL(sr_names_find(&names, "rod"), 1);
  ENSURE_EQUAL(names.n, 1);
  sr_pool_free(&pool);
}

TEST(the_nearest_of_the_stored_names_is_offered) {
  srPool pool;
  sr_pool_init(&pool);
  srNames names;
  sr_names_init(&names, &pool);
  ENSURE(sr_names_nearest(&names, "crank") == NULL);
  sr_names_put(&names, "crank", 0);
  sr_names_put(&names, "rod", 1);
  sr_names_put(&names, "slider", 2);
  ENSURE_TEXT(sr_names_nearest(&names, "slidre"), "slider");
  ENSURE_TEXT(sr_names_nearest(&names, "crnak"), "crank");
  ENSURE(sr_names_nearest(&names, "gearbox") == NULL);
  sr_pool_free(&pool);
}

// ---------------------------------------------------------------------------------------------------------------- log

// Six digits are written by integers: the texts of the C library, also at powers of ten, ties and with zeros at the end.
TEST(base_numbers_of_six_digits_are_those_of_printf) {
  static const double odd[] = {0,      -1.5,     1e-4,     9.9999949e-5, 0.000999999499, 0.00099999951, 1,
                               1.5,    100000.5, 100001.5, 999999,       999999.4,       999999.6,      1e6,
                               1e-300, 123456.5, 0.125,    0.12345650,   2.5e-4,         NAN,           1234.56,
                               20,     100,      0.1,      0.3,          4.20214,        1e5,           99999.95,
                               10,     INFINITY};
  char ours[64], expected[64];
  unsigned seed = 3;
  for (int k = 0; k < 20000; ++k) {
    double x = k < (int)(sizeof odd / sizeof *odd) ? odd[k] : 0;
    if (k >= (int)(sizeof odd / sizeof *odd)) {
      const double r = (double)((seed = seed * 1664525u + 1013904223u) >> 8) / 16777216.0;
      x = pow(10, 12 * r - 5.5);
      if (k % 3 == 0) x = round(x * 1e3) / 1e3;          // few digits
      if (k % 3 == 1) x = (round(x * 1e4) + 0.5) / 1e4;  // ties of some
    }
    (void)snprintf(expected, sizeof expected, "%.6g", x);
    ENSURE(sr_number_print(x, 6, ours, sizeof ours) == strlen(expected));
    ENSURE_TEXT(ours, expected);
  }
}
