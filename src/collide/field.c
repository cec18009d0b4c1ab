// Height fields: triangle 2 (i + (nx - 1) j) of the cell (i, j) has the corners (i, j), (i + 1, j), (i + 1, j + 1), the next one (i, j),
// (i + 1, j + 1), (i, j + 1); so neighbours are found by index.
#include "collide/field.h"

#include <math.h>

srFieldFault sr_field_check(srHeightField* field, int* at) {
  if (field->nx < 2 || field->ny < 2) return SR_FIELD_SIZE;
  if (!(field->dx > 0 && field->dy > 0 && isfinite(field->dx + field->dy) && isfinite(field->x0 + field->y0)))
    return SR_FIELD_STEP;
  field->lowest = HUGE_VAL;
  field->highest = -HUGE_VAL;
  for (int i = 0; i < field->nx * field->ny; i++) {
    if (!isfinite(field->z[i])) {
      *at = i;
      return SR_FIELD_HEIGHT;
    }
    field->lowest = fmin(field->lowest, field->z[i]);
    field->highest = fmax(field->highest, field->z[i]);
  }
  return SR_FIELD_GOOD;
}

// ---- triangles ----------------------------------------------------------------------------------------------------------

typedef struct Cell {
  int i, j, half;
} Cell;

static Cell cell_of(const srHeightField* field, int triangle) {
  const int cell = triangle / 2;
  return (Cell){.i = cell % (field->nx - 1), .j = cell / (field->nx - 1), .half = triangle % 2};
}

static bool vertex(const srHeightField* field, int i, int j, double out[3]) {
  if (i < 0 || j < 0 || i >= field->nx || j >= field->ny) return false;
  out[0] = field->x0 + i * field->dx;
  out[1] = field->y0 + j * field->dy;
  out[2] = field->z[i + field->nx * j];
  return true;
}

static const int corner_at[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};

static void corners(const void* user, int triangle, double corner[9]) {
  const Cell c = cell_of(user, triangle);
  for (int k = 0; k < 3; k++) {
    (void)vertex(user, c.i + corner_at[c.half][k][0], c.j + corner_at[c.half][k][1], corner + 3 * k);
  }
}

// Cells of a range of one coordinate: false where it is beyond the border.
static bool find_range(double low, double high, double start, double step, int cells, int* first, int* last) {
  const double a = floor((low - start) / step), b = floor((high - start) / step);
  if (!(a <= cells && b >= -1)) return false;
  *first = a < 0 ? 0 : a > cells - 1 ? cells - 1 : (int)a;
  *last = b < 0 ? 0 : b > cells - 1 ? cells - 1 : (int)b;
  return true;
}

static bool is_between(const srHeightField* field, int i, int j, const double* low, const double* high) {
  const double* z = field->z + i + field->nx * j;
  const double least = fmin(fmin(z[0], z[1]), fmin(z[field->nx], z[field->nx + 1]));
  const double most = fmax(fmax(z[0], z[1]), fmax(z[field->nx], z[field->nx + 1]));
  return least <= high[2] && most >= low[2];
}

static void near(const void* user, const double low[3], const double high[3], void (*visit)(void* to, int triangle),
                 void* to) {
  const srHeightField* field = user;
  int i0, i1, j0, j1;
  if (low[2] > field->highest || high[2] < field->lowest) return;
  if (!find_range(low[0], high[0], field->x0, field->dx, field->nx - 1, &i0, &i1)) return;
  if (!find_range(low[1], high[1], field->y0, field->dy, field->ny - 1, &j0, &j1)) return;
  for (int j = j0; j <= j1; j++) {
    for (int i = i0; i <= i1; i++) {
      if (!is_between(field, i, j, low, high)) continue;
      const int triangle = 2 * (i + (field->nx - 1) * j);
      visit(to, triangle);
      visit(to, triangle + 1);
    }
  }
}

// ---- neighbours -----------------------------------------------------------------------------------------------------------

// For each half and edge, where the opposite corner of the other triangle is.
static const int across[2][3][2] = {{{0, -1}, {2, 1}, {0, 1}}, {{1, 0}, {1, 2}, {-1, 0}}};

static bool opposite(const void* user, int triangle, int edge, int k, double corner[3]) {
  const Cell c = cell_of(user, triangle);
  const int* at = k == 0 ? corner_at[c.half][(edge + 2) % 3] : across[c.half][edge];
  return k < 2 && vertex(user, c.i + at[0], c.j + at[1], corner);
}

static bool spoke(const void* user, int triangle, int corner, int k, double end[3]) {
  static const int step[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
  const Cell c = cell_of(user, triangle);
  const int i = c.i + corner_at[c.half][corner][0], j = c.j + corner_at[c.half][corner][1];
  for (int s = 0; s < 6; s++) {
    if (vertex(user, i + step[s][0], j + step[s][1], end) && k-- == 0) return true;
  }
  return false;
}

bool sr_field_height(const srHeightField* field, double x, double y, double* z) {
  const double u = (x - field->x0) / field->dx, v = (y - field->y0) / field->dy;
  if (!(u >= 0 && v >= 0 && u <= field->nx - 1 && v <= field->ny - 1)) return false;
  const int i = u < field->nx - 1 ? (int)u : field->nx - 2, j = v < field->ny - 1 ? (int)v : field->ny - 2;
  const double s = u - i, t = v - j, *p = field->z + i + field->nx * j, *q = p + field->nx;
  *z = s >= t ? p[0] + s * (p[1] - p[0]) + t * (q[1] - p[1]) : p[0] + t * (q[0] - p[0]) + s * (q[1] - q[0]);
  return true;
}

// Straight up is no shorter than the nearest way out.
static double depth(const void* user, const double point[3]) {
  double z;
  if (!sr_field_height(user, point[0], point[1], &z)) return -1;
  return z - point[2];
}

srSurface sr_field_surface(const srHeightField* field) {
  return (srSurface){.user = field,
                     .solid = true,
                     .near = near,
                     .corners = corners,
                     .opposite = opposite,
                     .spoke = spoke,
                     .depth = depth};
}
