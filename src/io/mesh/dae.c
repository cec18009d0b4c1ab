// DAE: COLLADA 1.4 and 1.5, the part that is a surface: geometries (triangles, polylist, polygons, tristrips, trifans)
// where the nodes of the scene put them (matrix, translate, rotate, scale), in metres by <unit meter>.
//
// <up_axis> is not applied: ROS does not (rviz and MoveIt undo what their importer makes of it), so a robot's file
// means the coordinates as written. A file with another axis than Z_UP gets a warning. Materials, normals,
// textures, skins, animations, cameras and lights are not used.
#include <math.h>
#include <string.h>

#include "io/mesh/triangles.h"
#include "io/xml/xml.h"

#define MAX_INPUTS 32
#define MAX_VISITS 100000  // nodes of the scene, with those that are put in again and again
#define MAX_DEPTH 100

typedef struct Numbers {
  double* x;
  int n, capacity;
} Numbers;

typedef struct Wholes {
  int* x;
  int n, capacity;
} Wholes;

// A part of a geometry: triangles by the indices of positions.
typedef struct Part {
  const double* position;
  int nposition;
  Wholes corner;  // 3 a triangle
} Part;

typedef struct Geometry {
  Part* part;
  int npart, part_capacity;
  bool known;
} Geometry;

typedef struct Dae {
  srTriangleList* list;
  srNames ids;  // id -> index in node
  const srXmlNode** node;
  int nnode, node_capacity;
  Geometry* geometry;  // of every node with an id
  int visits;
  double unit;
} Dae;

#define FAIL(d, place, ...) sr_triangles_error((d)->list, (place).line, (place).column, __VA_ARGS__)
#define WARN(d, place, ...) sr_triangles_warning((d)->list, (place).line, (place).column, __VA_ARGS__)

// --------------------------------------------------------------------------------------------------------------- tree
static const srXmlNode* child(const srXmlNode* node, const char* name) {
  const srXmlNode* c = node ? node->first : NULL;
  while (c && strcmp(c->name, name) != 0) c = c->next;
  return c;
}

static const srXmlNode* next_of(const srXmlNode* node) {
  const srXmlNode* c = node->next;
  while (c && strcmp(c->name, node->name) != 0) c = c->next;
  return c;
}

static void collect(Dae* d, const srXmlNode* node) {  // as deep as XML is: bounded there
  const srXmlAttribute* id = sr_xml_attribute(node, "id");
  if (id) {
    SR_PUSH(d->list->pool, d->node, d->nnode, d->node_capacity) = node;
    sr_names_put(&d->ids, id->value, d->nnode - 1);  // of two the first holds
  }
  for (const srXmlNode* c = node->first; c; c = c->next) collect(d, c);
}

// Index of the element that an attribute "#id" means; -1 after an error.
static int target(Dae* d, const srXmlNode* node, const char* attribute, const char* name) {
  const srXmlAttribute* a = sr_xml_attribute(node, attribute);
  const int i = a && a->value[0] == '#' ? sr_names_find(&d->ids, a->value + 1) : -1;
  if (i >= 0 && strcmp(d->node[i]->name, name) == 0) return i;
  if (a)
    FAIL(d, a->place, "'%.60s' is not the id of a <%s> in this file", a->value, name);
  else
    FAIL(d, node->place, "<%.60s> needs the attribute '%s'", node->name, attribute);
  return -1;
}

// ------------------------------------------------------------------------------------------------------------ numbers
static bool read_numbers(Dae* d, const srXmlNode* node, Numbers* out) {
  srScanner s = sr_scan(node->text ? node->text : "", node->text_size, node->text_place.line, node->text_place.column);
  srWord w;
  while (sr_scan_word(&s, &w)) {
    double x;
    if (!sr_word_number(&w, &x)) {
      sr_triangles_error(d->list, w.line, w.column, "'%.*s' in <%.60s> is not a finite number", w.n < 40 ? w.n : 40,
                         w.text, node->name);
      return false;
    }
    SR_PUSH(d->list->pool, out->x, out->n, out->capacity) = x;
  }
  return true;
}

static bool read_wholes(Dae* d, const srXmlNode* node, Wholes* out) {
  srScanner s = sr_scan(node->text ? node->text : "", node->text_size, node->text_place.line, node->text_place.column);
  srWord w;
  while (sr_scan_word(&s, &w)) {
    int x;
    if (!sr_word_whole(&w, &x)) {
      sr_triangles_error(d->list, w.line, w.column, "'%.*s' in <%.60s> is not a whole number", w.n < 40 ? w.n : 40,
                         w.text, node->name);
      return false;
    }
    SR_PUSH(d->list->pool, out->x, out->n, out->capacity) = x;
  }
  return true;
}

// A whole number of an attribute, within bounds; `value` when it is not given. False after an error.
static bool whole_of(Dae* d, const srXmlNode* node, const char* name, int value, int most, int* out) {
  const srXmlAttribute* a = node ? sr_xml_attribute(node, name) : NULL;
  *out = value;
  if (!a) return true;
  const srWord w = {a->value, (int)strlen(a->value), 0, 0};
  if (w.n > 0 && sr_word_whole(&w, out) && *out >= 0 && *out <= most) return true;
  FAIL(d, a->place, "'%s' takes a whole number from 0 to %d, not '%.40s'", name, most, a->value);
  return false;
}

// ------------------------------------------------------------------------------------------------------------ sources
// Positions of a <source>, three numbers each.
static bool read_source(Dae* d, const srXmlNode* source, Part* part) {
  const srXmlNode* array = child(source, "float_array");
  const srXmlNode* accessor = child(child(source, "technique_common"), "accessor");
  Numbers all = {0};
  int stride, offset;
  if (!array) {
    FAIL(d, source->place, "this <source> of positions has no <float_array>");
    return false;
  }
  if (!whole_of(d, accessor, "stride", 3, 1000, &stride) || !whole_of(d, accessor, "offset", 0, 1000000000, &offset))
    return false;
  if (stride < 3) {
    FAIL(d, accessor->place, "positions have three numbers each, not %d", stride);
    return false;
  }
  if (!read_numbers(d, array, &all)) return false;
  const int n = all.n - offset >= 3 ? (all.n - offset - 3) / stride + 1 : 0;
  double* position = sr_pool_alloc(d->list->pool, 3 * (size_t)n * sizeof *position);
  for (int i = 0; i < n; i++)
    memcpy(position + 3 * (size_t)i, all.x + offset + (size_t)i * (size_t)stride, 3 * sizeof(double));
  part->position = position;
  part->nposition = n;
  return true;
}

// Positions that the <input semantic="VERTEX"> of a primitive leads to.
static bool read_positions(Dae* d, const srXmlNode* input, Part* part) {
  const int i = target(d, input, "source", "vertices");
  if (i < 0) return false;
  for (const srXmlNode* c = child(d->node[i], "input"); c; c = next_of(c)) {
    const srXmlAttribute* semantic = sr_xml_attribute(c, "semantic");
    if (!semantic || strcmp(semantic->value, "POSITION") != 0) continue;
    const int source = target(d, c, "source", "source");
    return source >= 0 && read_source(d, d->node[source], part);
  }
  FAIL(d, d->node[i]->place, "these <vertices> have no <input semantic=\"POSITION\">");
  return false;
}

// --------------------------------------------------------------------------------------------------------- primitives
typedef struct Layout {
  const srXmlNode* vertex;  // its <input>
  int offset, stride;       // indices of one corner, and which of them is the position's
} Layout;

static bool read_layout(Dae* d, const srXmlNode* primitive, Layout* out) {
  *out = (Layout){.stride = 1};
  for (const srXmlNode* c = child(primitive, "input"); c; c = next_of(c)) {
    const srXmlAttribute* semantic = sr_xml_attribute(c, "semantic");
    int offset;
    if (!whole_of(d, c, "offset", 0, MAX_INPUTS - 1, &offset)) return false;
    if (offset + 1 > out->stride) out->stride = offset + 1;
    if (!semantic || strcmp(semantic->value, "VERTEX") != 0) continue;
    out->vertex = c;
    out->offset = offset;
  }
  if (!out->vertex) FAIL(d, primitive->place, "<%s> has no <input semantic=\"VERTEX\">", primitive->name);
  return out->vertex != NULL;
}

static bool put_triangle(Dae* d, const srXmlNode* p, Part* part, int a, int b, int c) {
  const int corner[3] = {a, b, c};
  for (int k = 0; k < 3; k++) {
    if (corner[k] < 0 || corner[k] >= part->nposition) {
      FAIL(d, p->text_place, "there is no position %d; there are %d, counted from 0", corner[k], part->nposition);
      return false;
    }
    SR_PUSH(d->list->pool, part->corner.x, part->corner.n, part->corner.capacity) = corner[k];
  }
  if (part->corner.n <= 3 * SR_MESH_MAX_TRIANGLES) return true;
  FAIL(d, p->place, "more than %d triangles", SR_MESH_MAX_TRIANGLES);
  return false;
}

// Corners first to first + n - 1 of the indices as a fan or a strip.
static bool put_polygon(Dae* d, const srXmlNode* p, Part* part, const int* index, const Layout* l, int n, bool strip) {
#define CORNER(k) index[(size_t)(k) * (size_t)l->stride + (size_t)l->offset]
  for (int k = 2; k < n; k++) {
    const bool odd = strip && k % 2 == 1;  // every other triangle of a strip is reversed
    const int a = strip ? k - 2 : 0, b = k - 1;
    if (!put_triangle(d, p, part, CORNER(odd ? b : a), CORNER(odd ? a : b), CORNER(k))) return false;
  }
#undef CORNER
  return true;
}

// One <p>: triangles, a polygon, a fan or a strip.
static bool read_p(Dae* d, const srXmlNode* p, const Layout* l, int corners, bool strip, Part* part) {
  Wholes index = {0};
  if (!read_wholes(d, p, &index)) return false;
  const int all = index.n / l->stride, n = corners > 0 ? corners : all;
  if (index.n % l->stride != 0 || (n > 0 && all % n != 0)) {
    FAIL(d, p->text_place, "%d indices make no whole number of corners and faces", index.n);
    return false;
  }
  for (int first = 0; n > 0 && first < all; first += n)
    if (!put_polygon(d, p, part, index.x + (size_t)first * (size_t)l->stride, l, n, strip)) return false;
  return true;
}

static bool read_polylist(Dae* d, const srXmlNode* primitive, const Layout* l, Part* part) {
  const srXmlNode *p = child(primitive, "p"), *vcount = child(primitive, "vcount");
  Wholes index = {0}, count = {0};
  if (!p || !vcount) return true;  // empty
  if (!read_wholes(d, p, &index) || !read_wholes(d, vcount, &count)) return false;
  long long first = 0;
  for (int i = 0; i < count.n; i++) {
    const int n = count.x[i];
    if (n < 0 || first + (long long)n * l->stride > index.n) {
      FAIL(d, vcount->text_place, "<vcount> asks for more corners than <p> has");
      return false;
    }
    if (!put_polygon(d, p, part, index.x + first, l, n, false)) return false;
    first += (long long)n * l->stride;
  }
  return true;
}

static bool read_primitive(Dae* d, const srXmlNode* node, Geometry* g) {
  static const struct Kind {
    const char* word;
    int corners;  // of a face; 0: a <p> is one
    bool strip;
  } kinds[] = {{"triangles", 3, false}, {"polygons", 0, false}, {"trifans", 0, false}, {"tristrips", 0, true}};
  const bool polylist = strcmp(node->name, "polylist") == 0;
  const struct Kind* kind = NULL;
  Layout l;
  Part part = {0};
  for (int i = 0; i < SR_COUNT(kinds); i++)
    if (strcmp(node->name, kinds[i].word) == 0) kind = &kinds[i];
  if (!kind && !polylist) return true;  // lines, sources
  if (!read_layout(d, node, &l) || !read_positions(d, l.vertex, &part)) return false;
  if (polylist && !read_polylist(d, node, &l, &part)) return false;
  for (const srXmlNode* p = polylist ? NULL : child(node, "p"); p; p = next_of(p))
    if (!read_p(d, p, &l, kind->corners, kind->strip, &part)) return false;
  if (child(node, "ph")) WARN(d, child(node, "ph")->place, "polygons with holes (<ph>) are not read");
  SR_PUSH(d->list->pool, g->part, g->npart, g->part_capacity) = part;
  return true;
}

// Once, however often the scene has it.
static bool read_geometry(Dae* d, Geometry* g, const srXmlNode* node) {
  if (g->known) return true;
  g->known = true;
  const srXmlNode* mesh = child(node, "mesh");
  if (!mesh) WARN(d, node->place, "a geometry without <mesh> is not read");
  for (const srXmlNode* c = mesh ? mesh->first : NULL; c; c = c->next)
    if (!read_primitive(d, c, g)) return false;
  return true;
}

// --------------------------------------------------------------------------------------------------------------- scene
// 4 x 4 by rows, the last row 0 0 0 1.
static void multiply(const double a[16], const double b[16], double out[16]) {
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) {
      out[4 * i + k] = 0;
      for (int l = 0; l < 4; l++) out[4 * i + k] += a[4 * i + l] * b[4 * l + k];
    }
}

static double determinant(const double m[16]) {
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
}

// x y z angle in degrees. False: no axis.
static bool rotation(const double x[4], double m[16]) {
  const double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  const double angle = x[3] * 3.14159265358979323846 / 180, c = cos(angle), s = sin(angle);
  if (!(norm > 0)) return angle == 0;
  const double u[3] = {x[0] / norm, x[1] / norm, x[2] / norm};
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    m[4 * i + i] = c + (1 - c) * u[i] * u[i];
    m[4 * i + j] = (1 - c) * u[i] * u[j] - s * u[k];
    m[4 * i + k] = (1 - c) * u[i] * u[k] + s * u[j];
  }
  return true;
}

// 1: a transform, in m; 0: something else; -1 after an error.
static int read_transform(Dae* d, const srXmlNode* node, double m[16]) {
  static const struct {
    const char* word;
    int n;
  } kinds[] = {{"matrix", 16}, {"translate", 3}, {"rotate", 4}, {"scale", 3}};
  int kind = 0;
  Numbers x = {0};
  while (kind < SR_COUNT(kinds) && strcmp(node->name, kinds[kind].word) != 0) kind++;
  if (strcmp(node->name, "lookat") == 0 || strcmp(node->name, "skew") == 0)
    WARN(d, node->place, "<%s> is not read: what it moves stays where it is", node->name);
  if (kind == SR_COUNT(kinds)) return 0;
  if (!read_numbers(d, node, &x)) return -1;
  memset(m, 0, 16 * sizeof *m);
  m[0] = m[5] = m[10] = m[15] = 1;
  bool good = x.n == kinds[kind].n;
  if (good && kind == 0) memcpy(m, x.x, 12 * sizeof *m);
  for (int k = 0; good && kind == 1 && k < 3; k++) m[4 * k + 3] = x.x[k];
  for (int k = 0; good && kind == 3 && k < 3; k++) m[5 * k] = x.x[k];
  if (good && kind == 2) good = rotation(x.x, m);
  if (!good) FAIL(d, node->place, "<%s> takes %d numbers%s", node->name, kinds[kind].n, kind == 2 ? ", an axis" : "");
  return good ? 1 : -1;
}

static bool place_part(Dae* d, const Part* part, const double m[16], const srXmlNode* node) {
  const bool mirrored = determinant(m) < 0;
  for (int t = 0; t + 2 < part->corner.n; t += 3) {
    double p[3][3];
    for (int k = 0; k < 9; k++) {
      const double* x = part->position + 3 * (size_t)part->corner.x[t + k / 3];
      const double* row = m + 4 * (k % 3);
      p[k / 3][k % 3] = d->unit * (row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3]);
      if (!isfinite(p[k / 3][k % 3])) {
        FAIL(d, node->place, "the numbers of this geometry grow beyond all bounds");
        return false;
      }
    }
    if (!sr_triangles_add(d->list, p[0], p[mirrored ? 2 : 1], p[mirrored ? 1 : 2])) return false;
  }
  return true;
}

static bool place_geometry(Dae* d, const srXmlNode* node, int i, const double m[16]) {
  Geometry* g = &d->geometry[i];
  if (!read_geometry(d, g, d->node[i])) return false;
  for (int k = 0; k < g->npart; k++)
    if (!place_part(d, &g->part[k], m, node)) return false;
  return true;
}

static bool place_node(Dae* d, const srXmlNode* node, const double outer[16], int depth);

// What a child of a node puts into the scene.
static bool place_child(Dae* d, const srXmlNode* c, const double m[16], int depth) {
  const bool geometry = strcmp(c->name, "instance_geometry") == 0, again = strcmp(c->name, "instance_node") == 0;
  if (strcmp(c->name, "node") == 0) return place_node(d, c, m, depth + 1);
  if (strcmp(c->name, "instance_controller") == 0) WARN(d, c->place, "skins (<instance_controller>) are not read");
  if (!geometry && !again) return true;
  const int i = target(d, c, "url", geometry ? "geometry" : "node");
  if (i < 0) return false;
  return geometry ? place_geometry(d, c, i, m) : place_node(d, d->node[i], m, depth + 1);
}

static bool place_node(Dae* d, const srXmlNode* node, const double outer[16], int depth) {
  double m[16], t[16], product[16];
  memcpy(m, outer, sizeof m);
  if (++d->visits > MAX_VISITS || depth > MAX_DEPTH) {
    FAIL(d, node->place, "the nodes of the scene hold each other too often, or in a circle");
    return false;
  }
  for (const srXmlNode* c = node->first; c; c = c->next) {
    const int is = read_transform(d, c, t);
    if (is < 0) return false;
    if (is == 0) continue;
    multiply(m, t, product);
    memcpy(m, product, sizeof m);
  }
  for (const srXmlNode* c = node->first; c; c = c->next)
    if (!place_child(d, c, m, depth)) return false;
  return true;
}

// ------------------------------------------------------------------------------------------------------------- entry
static void read_asset(Dae* d, const srXmlNode* asset) {
  const srXmlNode *unit = child(asset, "unit"), *up = child(asset, "up_axis");
  const srXmlAttribute* meter = unit ? sr_xml_attribute(unit, "meter") : NULL;
  d->unit = 1;
  if (meter) {
    const srWord w = {meter->value, (int)strlen(meter->value), 0, 0};
    if (w.n == 0 || !sr_word_number(&w, &d->unit) || !(d->unit > 0))
      FAIL(d, meter->place, "'meter' takes a positive number, not '%.40s'", meter->value);
  }
  if (up && up->text && strcmp(up->text, "Z_UP") != 0)
    WARN(d, up->place, "up_axis %.20s is not applied: coordinates are taken as they are, as ROS does", up->text);
}

// The scene that the file shows; NULL: it has none.
static const srXmlNode* scene_of(Dae* d, const srXmlNode* root) {
  const srXmlNode* instance = child(child(root, "scene"), "instance_visual_scene");
  if (!instance) return child(child(root, "library_visual_scenes"), "visual_scene");
  const int i = target(d, instance, "url", "visual_scene");
  return i >= 0 ? d->node[i] : NULL;
}

bool sr_dae_read(srTriangleList* list, const char* text, size_t size) {
  static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  Dae d = {.list = list};
  const srXmlNode* root = sr_xml_read(list->pool, text, size, list->file, list->messages);
  if (!root) {
    list->errors++;  // reported
    return false;
  }
  if (strcmp(root->name, "COLLADA") != 0) {
    FAIL(&d, root->place, "the root of a DAE file is <COLLADA>, not <%.60s>", root->name);
    return false;
  }
  sr_names_init(&d.ids, list->pool);
  collect(&d, root);
  d.geometry = sr_pool_alloc(list->pool, ((size_t)d.nnode + 1) * sizeof *d.geometry);
  read_asset(&d, child(root, "asset"));
  const srXmlNode* scene = scene_of(&d, root);
  if (list->errors > 0) return false;
  if (scene) return place_node(&d, scene, identity, 0) && list->errors == 0;
  for (int i = 0; i < d.nnode && list->errors == 0; i++)  // a library of geometries alone
    if (strcmp(d.node[i]->name, "geometry") == 0) (void)place_geometry(&d, d.node[i], i, identity);
  return list->errors == 0;
}
