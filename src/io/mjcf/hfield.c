// MJCF's height fields, for geoms that use them.
// MuJoCo takes the least elevation for 0 and the largest for the third number of 'size'; half lengths are doubled. Rows of 'elevation' are those of a picture, the largest y
// first: ours begin with the least y. What is below is solid to the depth of the fourth number; here without end.
// Source: MuJoCo's XML reference, "hfield".
#include <math.h>

#include "io/mjcf/mjcf.h"

#define MOST 4000000  // heights

static bool read_count(srMjcf* m, const srXmlNode* node, const char* name, int* out) {
  double number = 0;
  if (sr_mjcf_numbers(m, node, NULL, name, 1, 1, &number) < 0) return false;
  *out = number >= 2 && number == floor(number) && number < MOST ? (int)number : 0;
  if (*out == 0) sr_mjcf_error(m, node->place, "<hfield> needs '%s', a whole number from 2 on", name);
  return *out > 0;
}

bool sr_mjcf_hfield(srMjcf* m, const srXmlNode* node, srShapeDef* def) {
  const srXmlAttribute* elevation = sr_xml_attribute(node, "elevation");
  double size[4] = {0}, low = HUGE_VAL, high = -HUGE_VAL;
  int rows, columns;
  if (!elevation) {
    sr_reader_ignore(m->r, node->place, "<hfield> without 'elevation' (files of heights are not read)");
    return false;
  }
  if (!read_count(m, node, "nrow", &rows) || !read_count(m, node, "ncol", &columns)) return false;
  if (sr_mjcf_numbers(m, node, NULL, "size", 4, 4, size) != 4 || !(size[0] > 0 && size[1] > 0 && size[2] > 0)) {
    sr_mjcf_error(m, node->place, "<hfield> needs 'size': half lengths, height and depth, all positive");
    return false;
  }
  if ((double)rows * columns > MOST) {
    sr_mjcf_error(m, node->place, "<hfield> with %d rows and %d columns is too large: at most %d heights are read",
                  rows, columns, MOST);
    return false;
  }
  const int n = rows * columns;
  double *given = sr_pool_alloc(&m->r->pool, 2 * (size_t)n * sizeof *given), *z = given + n;
  if (sr_mjcf_values(m, elevation, n, n, given) != n) return false;
  for (int i = 0; i < n; i++) {
    low = fmin(low, given[i]);
    high = fmax(high, given[i]);
  }
  for (int i = 0; i < n; i++) {
    const int row = rows - 1 - i / columns;
    z[row * columns + i % columns] = high > low ? size[2] * ((given[i] - low) / (high - low)) : 0;
  }
  def->heights = (srAttr){.numbers = z, .n = n, .place = elevation->place};
  def->columns = (srAttr){.number = columns, .n = 1, .place = elevation->place};
  def->size = sr_reader_list(m->r, (const double[]){2 * size[0], 2 * size[1]}, 2, node->place);
  return true;
}
