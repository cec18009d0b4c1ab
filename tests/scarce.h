// Memory that runs out: an allocator of which a number of calls succeed, and a count of what is not freed.
//
//   sr_set_allocator(scarce, NULL);
//   scarce_live = 0;
//   scarce_left = 7;            the eighth call finds nothing
//   ...
//   ENSURE_EQUAL(scarce_live, 0);
#ifndef SR_TEST_SCARCE_H
#define SR_TEST_SCARCE_H

#include <stdlib.h>

static int scarce_left;        // calls that still succeed
static long long scarce_live;  // blocks not freed

static void* scarce(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)user, (void)old_size;
  if (new_size == 0) {
    scarce_live -= pointer != NULL;
    free(pointer);
    return NULL;
  }
  if (scarce_left-- <= 0) return NULL;
  scarce_live += pointer == NULL;
  return realloc(pointer, new_size);
}

#endif
