// What the fuzzers of mesh files share: bytes to triangles. Nothing may crash, leak or hang; what comes out is whole.
#ifndef SR_FUZZ_MESH_H
#define SR_FUZZ_MESH_H

#include <math.h>
#include <stdlib.h>

#include "io/mesh/triangles.h"

static void check_triangles(const srTriangleList* list) {
  const srTriangles* t = &list->got;
  if (t->ntriangle > SR_MESH_MAX_TRIANGLES || t->nvertex > 3 * t->ntriangle) abort();
  for (int i = 0; i < 3 * t->nvertex; i++)
    if (!isfinite(t->vertex[i])) abort();
  for (int i = 0; i < 3 * t->ntriangle; i++)
    if (t->triangle[i] < 0 || t->triangle[i] >= t->nvertex) abort();
}

static int fuzz_mesh(bool (*read)(srTriangleList*, const char*, size_t), const uint8_t* data, size_t size) {
  srPool pool;
  jmp_buf no_memory;
  sr_pool_init(&pool);
  pool.on_fail = &no_memory;
  srMessages* messages = sr_messages_create();
  srTriangleList list = {.pool = &pool, .file = "fuzz", .messages = messages};
  if (setjmp(no_memory) == 0) {
    const char* text = sr_pool_text_n(&pool, (const char*)data, size);
    const bool good = read(&list, text, size);
    if (good != (sr_messages_errors(messages) == 0)) abort();
    check_triangles(&list);
  }
  sr_messages_destroy(messages);
  sr_pool_free(&pool);
  return 0;
}

#endif
