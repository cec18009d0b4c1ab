// Pools: memory that lives and dies together. A chain of blocks, each larger than the one before; requests are cut from
// the newest block and nothing is given back before the pool is freed. Blocks never move, so pointers stay valid.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define ALIGNMENT 32u  // four doubles: vector loads of spatial quantities are aligned
#define LARGEST_BLOCK ((size_t)1 << 20)

#if defined(__SANITIZE_ADDRESS__)  // gcc
#define SANITIZED
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

#ifdef SANITIZED
#define FIRST_BLOCK ((size_t)ALIGNMENT)  // nearly every request gets a block of its own, so that overruns are seen
#define GROWTH 1
#else
#define FIRST_BLOCK ((size_t)4096)
#define GROWTH 2
#endif

typedef struct srPoolBlock {
  struct srPoolBlock* next;
  size_t used, size;  // bytes behind the head
} srPoolBlock;

static size_t aligned(size_t size) { return (size + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1); }

static char* block_memory(srPoolBlock* block) { return (char*)block + aligned(sizeof *block); }

static void* out_of_memory(srPool* pool) {
  if (pool->on_fail) longjmp(*pool->on_fail, 1);
  return NULL;
}

void sr_pool_init(srPool* pool) { *pool = (srPool){0}; }

void sr_pool_free(srPool* pool) {
  for (srPoolBlock *block = pool->head, *next; block; block = next) {
    next = block->next;
    sr_free(block);
  }
  pool->head = NULL;
}

void sr_pool_empty(srPool* pool) {
  size_t used = 0;
  for (const srPoolBlock* block = pool->head; block; block = block->next) used += block->used;
  srPoolBlock* only = pool->head;
  if (only != NULL && only->next == NULL && GROWTH > 1) {
    memset(block_memory(only), 0, only->used);
    only->used = 0;
    return;
  }
  sr_pool_free(pool);
  if (used == 0 || GROWTH == 1) return;
  only = sr_alloc(aligned(sizeof *only) + aligned(used));
  if (only == NULL) return;  // blocks come one by one
  *only = (srPoolBlock){.size = aligned(used)};
  pool->head = only;
}

static size_t next_block_size(const srPool* pool) {
  if (!pool->head) return FIRST_BLOCK;
  const size_t size = pool->head->size * GROWTH;
  return size < LARGEST_BLOCK ? size : LARGEST_BLOCK;
}

// A block with room for size bytes. One that is large compared with its neighbours goes behind the head, so that the room left
// in the head is not lost.
static srPoolBlock* add_block(srPool* pool, size_t size) {
  const size_t usual = next_block_size(pool);
  const bool large = size > usual / 4;
  const size_t room = large && (pool->head || size > usual) ? size : usual;
  srPoolBlock* block = sr_alloc(aligned(sizeof *block) + room);
  if (!block) return NULL;

  block->size = room;
  srPoolBlock** link = large && pool->head ? &pool->head->next : &pool->head;
  block->next = *link;
  *link = block;
  return block;
}

void* sr_pool_alloc(srPool* pool, size_t size) {
  if (size > SIZE_MAX / 2) return out_of_memory(pool);
  const size_t wanted = aligned(size ? size : 1);  // distinct pointers, also for empty arrays
  srPoolBlock* block = pool->head;
  if (!block || block->size - block->used < wanted) block = add_block(pool, wanted);
  if (!block) return out_of_memory(pool);

  char* pointer = block_memory(block) + block->used;
  block->used += wanted;
  return pointer;
}

char* sr_pool_text_n(srPool* pool, const char* text, size_t n) {
  if (!text) return NULL;
  char* copy = n < SIZE_MAX ? sr_pool_alloc(pool, n + 1) : out_of_memory(pool);
  if (copy) memcpy(copy, text, n);  // the end is zero already
  return copy;
}

char* sr_pool_text(srPool* pool, const char* text) { return sr_pool_text_n(pool, text, text ? strlen(text) : 0); }

char* sr_pool_vprintf(srPool* pool, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  char* text = length >= 0 ? sr_pool_alloc(pool, (size_t)length + 1) : NULL;
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

char* sr_pool_printf(srPool* pool, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char* text = sr_pool_vprintf(pool, format, arguments);
  va_end(arguments);
  return text;
}

void* sr_pool_grow(srPool* pool, const void* items, size_t item_size, int n, int* capacity) {
  if (*capacity > INT_MAX / 2) return out_of_memory(pool);
  const int larger = *capacity ? 2 * *capacity : 8;
  if (item_size > SIZE_MAX / (size_t)larger) return out_of_memory(pool);

  void* grown = sr_pool_alloc(pool, item_size * (size_t)larger);
  if (!grown) return NULL;
  if (n > 0) memcpy(grown, items, item_size * (size_t)n);
  *capacity = larger;
  return grown;
}
