// Internal foundation: allocator, pools for setup-time memory, growable arrays, names.
#ifndef SR_BASE_INTERNAL_H
#define SR_BASE_INTERNAL_H

#include <assert.h>
#include <sarrus/base.h>
#include <sarrus/text.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#define SR_ASSERT(x) assert(x)
#define SR_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// Heap memory, aligned to 64 bytes; size is stored so that sr_free needs only the pointer.
void* sr_alloc(size_t size);  // zeroed; NULL when out of memory
void sr_free(void* pointer);

// Arrays of numbers in one block, and bytes behind them; at the end of each array one number is free. False: out of memory.
typedef struct srPart {
  double** to;
  size_t count;
} srPart;
bool sr_take_parts(const srPart* parts, int n, size_t bytes, double** block, unsigned char** tail);

// A pool: memory that lives and dies together (a spec, a graph, one compilation). Blocks are chained, never moved.
// When memory runs out, sr_pool_alloc jumps to *on_fail if that is set, else returns NULL. Entry functions of the
// library set on_fail, so that code inside needs no checks and leaks nothing: the pool is freed as a whole.
typedef struct srPool {
  struct srPoolBlock* head;
  jmp_buf* on_fail;
} srPool;

void sr_pool_init(srPool* pool);
void sr_pool_free(srPool* pool);
void sr_pool_empty(srPool* pool);                    // gives all back, and keeps room for as much again
void* sr_pool_alloc(srPool* pool, size_t size);      // zeroed, aligned to 32 bytes
char* sr_pool_text(srPool* pool, const char* text);  // copy; NULL stays NULL
char* sr_pool_text_n(srPool* pool, const char* text, size_t n);
char* sr_pool_printf(srPool* pool, const char* format, ...) SR_PRINTF(2, 3);
char* sr_pool_vprintf(srPool* pool, const char* format, va_list arguments) SR_PRINTF(2, 0);

// Growable array inside a pool: doubles by copying, the old block stays in the pool until it is freed.
//   int n = 0, capacity = 0; T* items = NULL;
//   SR_PUSH(pool, items, n, capacity) = value;
#define SR_PUSH(pool, items, n, capacity)                                                                              \
  (*((n) == (capacity) ? ((items) = sr_pool_grow((pool), (items), sizeof *(items), (n), &(capacity)), &(items)[(n)++]) \
                       : &(items)[(n)++]))
void* sr_pool_grow(srPool* pool, const void* items, size_t item_size, int n, int* capacity);

// "%.*g" with a point, whatever the locale writes there (it may be several bytes). Returns the length.
size_t sr_number_print(double value, int digits, char* out, size_t size);
void sr_text_vprint(srText* text, const char* format, va_list arguments) SR_PRINTF(2, 0);

// As sr_messages_add, of a text that may hold words of a file: it is cut to 1023 characters.
void sr_messages_vadd(srMessages* messages, srSeverity severity, srPlace place, const char* format, va_list arguments)
    SR_PRINTF(4, 0);
// Appends another list, with the kinds of its messages.
void sr_messages_pass(srMessages* to, const srMessages* from, int i, srSeverity severity);

// Name table: from a name to an index, open addressing, grows in a pool.
typedef struct srNames {
  srPool* pool;
  struct srNameSlot* slots;
  int n, capacity;
} srNames;
void sr_names_init(srNames* names, srPool* pool);
// Index stored under name, or -1.
int sr_names_find(const srNames* names, const char* name);
// Stores index under name; returns false when the name is taken (the old index stays). The text is not copied.
bool sr_names_put(srNames* names, const char* name, int index);
// The name with index 0, or where it is taken with _2, _3, ... behind it, in the pool of the table: as it was put.
const char* sr_names_put_new(srNames* names, const char* name);
// The stored name nearest to this one, for "did you mean ...", or NULL when none is near.
const char* sr_names_nearest(const srNames* names, const char* name);

// Index of a word among n, which may be NULL; -1: it is none of them.
int sr_word_index(const char* const* words, int n, const char* word);
// "; did you mean 'x'?" behind a message, for the nearest word, or "" where that is NULL; in a pool.
const char* sr_pool_guess(srPool* pool, const char* nearest);

#endif
