// Surfaces of triangles for the front end: meshes and their hulls as they are, height fields by their grid, smooth surfaces by a grid of
// their parameters.
#include "collide/collision.h"
#include "page/page.h"

#define GRID 48  // steps of a parameter of a smooth surface

static size_t put_vertices(srText* out, const double* x, int n) {
  const size_t first = out->n;
  for (int i = 0; i < 3 * n; i++) sr_text_add(out, (const char*)&(float){(float)x[i]}, sizeof(float));
  return first;
}

static size_t put_indices(srText* out, const int* x, int n) {
  const size_t first = out->n;
  for (int i = 0; i < 3 * n; i++) sr_text_add(out, (const char*)&(uint32_t){(uint32_t)x[i]}, sizeof(uint32_t));
  return first;
}

srPageTriangles sr_page_triangles_of_mesh(const srMesh* mesh, bool hull, srText* out) {
  srPageTriangles t = {mesh->nvertex, mesh->ntriangle, 0, 0};
  if (hull && mesh->nhull > 0) t = (srPageTriangles){mesh->ncorner, mesh->nhull, 0, 0};
  const bool corners = hull && mesh->nhull > 0;
  t.vertex = put_vertices(out, corners ? mesh->corner : mesh->vertex, t.nvertex);
  t.triangle = put_indices(out, corners ? mesh->hull : mesh->triangle, t.ntriangle);
  return t;
}

// Two triangles for each cell of rows x columns of vertices; counterclockwise where the second index grows along x and the first along y.
static srPageTriangles put_grid(srPageTriangles t, int rows, int columns, bool turned, srText* out) {
  t.nvertex = rows * columns;
  t.ntriangle = 2 * (rows - 1) * (columns - 1);
  t.triangle = out->n;
  for (int i = 0; i + 1 < rows; i++) {
    for (int j = 0; j + 1 < columns; j++) {
      const int a = i * columns + j, b = a + 1, c = a + columns, d = c + 1;
      const int cell[6] = {a, turned ? d : b, turned ? b : d, a, turned ? c : d, turned ? d : c};
      (void)put_indices(out, cell, 2);
    }
  }
  return t;
}

srPageTriangles sr_page_triangles_of_field(const srShape* s, srText* out) {
  srPageTriangles t = {.vertex = out->n};
  for (int i = 0; i < s->rows; i++) {
    for (int j = 0; j < s->columns; j++) {
      const double x[3] = {s->size[0] * ((double)j / (s->columns - 1) - 0.5),
                           s->size[1] * ((double)i / (s->rows - 1) - 0.5), s->height[i * s->columns + j]};
      (void)put_vertices(out, x, 1);
    }
  }
  return put_grid(t, s->rows, s->columns, false, out);
}

srPageTriangles sr_page_triangles_of_surface(const srCollisionShape* shape, srText* out) {
  const srSmooth* s = shape->smooth != NULL ? sr_smooth_of_tree(shape->smooth) : NULL;
  srPageTriangles t = {.vertex = out->n};
  if (s == NULL) return t;
  for (int i = 0; i <= GRID; i++) {
    for (int j = 0; j <= GRID; j++) {
      const double at[2] = {s->low[0] + (s->high[0] - s->low[0]) * j / GRID,
                            s->low[1] + (s->high[1] - s->low[1]) * i / GRID};
      srSmoothPoint point;
      s->at(s->self, at, &point);
      (void)put_vertices(out, point.x, 1);
    }
  }
  return put_grid(t, GRID + 1, GRID + 1, s->inward, out);
}
