// An allocator for tests: counts what is allocated and what is live, and fails at one call if asked to.
#ifndef SARRUS_TEST_HEAP_H
#define SARRUS_TEST_HEAP_H

#include <stdlib.h>

typedef struct Heap {
  long calls, live, fail_at;  // fail_at: number of the call that fails; 0: none
} Heap;

// For sr_set_allocator, with a Heap as its user.
static void* heap_allocator(void* user, void* pointer, size_t old_size, size_t new_size) {
  Heap* heap = user;
  (void)old_size;
  if (new_size == 0) {
    if (pointer != NULL) --heap->live;
    free(pointer);
    return NULL;
  }
  if (++heap->calls == heap->fail_at) return NULL;
  if (pointer == NULL) ++heap->live;
  return realloc(pointer, new_size);
}

#endif
