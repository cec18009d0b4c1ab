// The allocator. Everything the library allocates passes through `allocator`, so that a host can bring its
// own memory and a test can make the n-th request fail.
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define ALIGNMENT 64u  // a cache line, and the widest vector register

// Kept in front of what sr_alloc hands out: where the block really begins, and its size for the allocator.
typedef struct Header {
  void* block;
  size_t size;
} Header;

static void* c_library_allocator(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)user, (void)old_size;
  if (new_size == 0) {
    free(pointer);
    return NULL;
  }
  return pointer == NULL ? calloc(1, new_size) : realloc(pointer, new_size);
}

static srAllocator allocator = c_library_allocator;
static void* allocator_user;

void sr_set_allocator(srAllocator replacement, void* user) {
  allocator = replacement ? replacement : c_library_allocator;
  allocator_user = replacement ? user : NULL;
}

void* sr_alloc(size_t size) {
  const size_t extra = sizeof(Header) + ALIGNMENT - 1;
  if (size > SIZE_MAX - extra) return NULL;

  Header header = {.size = size + extra};
  header.block = allocator(allocator_user, NULL, 0, header.size);
  if (!header.block) return NULL;

  const uintptr_t first = (uintptr_t)header.block + sizeof header;
  const size_t offset = sizeof header + (size_t)(-first & (ALIGNMENT - 1));
  char* pointer = (char*)header.block + offset;
  memcpy(pointer - sizeof header, &header, sizeof header);
  // That of the C library is 0 already, and pages of what is never used are never touched: room for all contacts that may be.
  return allocator == c_library_allocator ? pointer : memset(pointer, 0, size);
}

void sr_free(void* pointer) {
  if (!pointer) return;
  Header header;
  memcpy(&header, (char*)pointer - sizeof header, sizeof header);
  allocator(allocator_user, header.block, header.size, 0);
}

bool sr_take_parts(const srPart* parts, int n, size_t bytes, double** block, unsigned char** tail) {
  size_t count = 0;
  for (int i = 0; i < n; ++i) count += parts[i].count + 1;
  double* at = *block = sr_alloc(count * sizeof(double) + bytes + 1);
  if (!at) return false;
  for (int i = 0; i < n; ++i) {
    *parts[i].to = at;
    at += parts[i].count + 1;
  }
  if (tail) *tail = (unsigned char*)at;
  return true;
}
