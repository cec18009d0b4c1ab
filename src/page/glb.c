// The motion of a run as glTF 2.0 in one binary file, for other programs: a node for each body with its translation and rotation over time,
// meshes of the shapes below it.  Khronos Group, glTF 2.0 specification (ISO/IEC 12113:2022), sections 3.6, 3.7, 3.11, 4.4.
//
//   12 bytes: "glTF", 2, length | chunk "JSON": the scene | chunk "BIN": vertices, triangles, times, translations, rotations
// The nodes are in the frame of the model, below one that turns its "up" (against gravity, else z) to y, which is up in glTF. Times are float32 and must
// rise: rows at the same time (events) are left out after the first; they begin at 0.
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "math/pose.h"
#include "page/page.h"

enum { FLOAT = 5126, UINT = 5125, ARRAY = 34962, INDEX = 34963 };  // section 3.6
#define THICK 0.04     // of a bar that stands for a body without shapes, part of its length
#define MOST_BARS 12   // of one body
#define PLANE_PART 6.  // half the side of a plane's square, in sizes of the model
#define NUMBERS 7      // of a pose: x y z, quaternion w x y z

typedef struct View {  // a buffer view with the one accessor that it has
  size_t at, n;        // bytes
  int target, component, count;
  const char* type;
  int nrange;
  float low[3], high[3];
} View;

typedef struct Mesh {
  int geometry, material;
} Mesh;

typedef struct Geometry {
  int shape;  // of the model; -1: a bar
  double size[3];
  int vertex, normal, face;  // views; -1: none
} Geometry;

typedef struct Node {
  int body, mesh;
  const char* name;
  double at[3], turn[4];  // in the body
} Node;

typedef struct Glb {
  const srModel* m;
  const srPageRows* rows;
  srPool pool;
  srText bin;
  srPageSolid solid;  // being added; on the heap, and freed at the end whatever happens
  View* view;
  Geometry* geometry;
  Mesh* mesh;
  Node* node;
  double (*color)[4];
  int nview, ngeometry, nmesh, nnode, ncolor;
  int room_view, room_geometry, room_mesh, room_node, room_color;
  size_t *kept, nkept;  // rows with rising times
  double scale;         // of the model at the start
} Glb;

// ---- binary part -------------------------------------------------------------------------------------------------------------
static int add_view(Glb* g, int target, int component, int count, const char* type, const void* data, size_t n) {
  SR_PUSH(&g->pool, g->view, g->nview, g->room_view) = (View){g->bin.n, n, target, component, count, type, 0, {0}, {0}};
  sr_text_add(&g->bin, data, n);
  while (g->bin.n % 4 != 0 && !g->bin.failed) sr_text_add(&g->bin, "", 1);
  return g->nview - 1;
}

// Least and greatest of numbers x width.
static void set_range(View* v, const float* x, size_t count, int width) {
  v->nrange = width;
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < width; k++) {
      const float now = x[i * (size_t)width + (size_t)k];
      v->low[k] = i == 0 ? now : fminf(v->low[k], now);
      v->high[k] = i == 0 ? now : fmaxf(v->high[k], now);
    }
  }
}

static int add_solid(Glb* g, int shape, const double size[3]) {
  const srPageSolid* s = &g->solid;
  Geometry x = {shape, {size[0], size[1], size[2]}, -1, -1, -1};
  if (s->vertex.failed || s->normal.failed || s->face.failed) g->bin.failed = true;
  if (s->nvertex == 0 || g->bin.failed) return -1;  // nothing bounded, or nothing that can be drawn
  x.vertex = add_view(g, ARRAY, FLOAT, s->nvertex, "VEC3", s->vertex.data, s->vertex.n);
  set_range(&g->view[x.vertex], (const float*)(const void*)s->vertex.data, (size_t)s->nvertex, 3);
  if (s->normal.n > 0) x.normal = add_view(g, ARRAY, FLOAT, s->nvertex, "VEC3", s->normal.data, s->normal.n);
  x.face = add_view(g, INDEX, UINT, 3 * s->ntriangle, "SCALAR", s->face.data, s->face.n);
  SR_PUSH(&g->pool, g->geometry, g->ngeometry, g->room_geometry) = x;
  sr_page_solid_free(&g->solid);
  return g->ngeometry - 1;
}

// ---- shapes ------------------------------------------------------------------------------------------------------------------
static bool is_like(const srModel* m, int a, int b) {
  const srShape *x = &m->shape[a], *y = &m->shape[b];
  if (x->type != y->type || x->type == SR_SHAPE_HEIGHTFIELD || x->type == SR_SHAPE_SURFACE) return a == b;
  return x->mesh == y->mesh && memcmp(x->size, y->size, sizeof x->size) == 0;
}

static int geometry_of(Glb* g, int shape) {
  const srShape* x = &g->m->shape[shape];
  for (int i = 0; i < g->ngeometry; i++) {
    if (g->geometry[i].shape >= 0 && is_like(g->m, g->geometry[i].shape, shape)) return i;
  }
  if (x->type == SR_SHAPE_PLANE)
    sr_page_solid_square(PLANE_PART * g->scale, &g->solid);
  else
    sr_page_solid_of_shape(g->m, shape, &g->solid);
  return add_solid(g, shape, x->size);
}

static int bar_of(Glb* g, double radius, double length) {
  const double size[3] = {radius, length, 0};
  for (int i = 0; i < g->ngeometry; i++) {
    if (g->geometry[i].shape < 0 && memcmp(g->geometry[i].size, size, sizeof size) == 0) return i;
  }
  sr_page_solid_capsule(radius, length, &g->solid);
  return add_solid(g, -1, size);
}

// Colours of files are sRGB, those of materials linear (IEC 61966-2-1).
static double linear(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }

static int material_of(Glb* g, const double color[4]) {
  for (int i = 0; i < g->ncolor; i++) {
    if (memcmp(g->color[i], color, 4 * sizeof *color) == 0) return i;
  }
  SR_PUSH(&g->pool, g->color, g->ncolor, g->room_color)[0] = color[0];
  memcpy(g->color[g->ncolor - 1], color, 4 * sizeof *color);
  return g->ncolor - 1;
}

static int mesh_of(Glb* g, int geometry, int material) {
  for (int i = 0; i < g->nmesh; i++) {
    if (g->mesh[i].geometry == geometry && g->mesh[i].material == material) return i;
  }
  SR_PUSH(&g->pool, g->mesh, g->nmesh, g->room_mesh) = (Mesh){geometry, material};
  return g->nmesh - 1;
}

static void add_node(Glb* g, int body, int geometry, const double color[4], const char* name, const double pose[16]) {
  Node node = {body, 0, name, {pose[12], pose[13], pose[14]}, {0}};
  if (geometry < 0) return;
  node.mesh = mesh_of(g, geometry, material_of(g, color));
  srm_quaternion_from_pose(pose, node.turn);
  SR_PUSH(&g->pool, g->node, g->nnode, g->room_node) = node;
}

static const double grey[4] = {0.8, 0.82, 0.85, 1}, faint[4] = {0.6, 0.64, 0.7, 0.25};

static void add_shape(Glb* g, int i) {
  const srShape* x = &g->m->shape[i];
  double color[4];
  memcpy(color, x->has_color ? x->color : x->type == SR_SHAPE_PLANE ? faint : grey, sizeof color);
  if (x->size[0] < 0) color[3] = fmin(color[3], 0.25);  // hollow: what is within is seen
  add_node(g, x->body, geometry_of(g, i), color, x->name, x->pose);
}

// What is seen of a body: its shapes for the eye, else those for contacts. False: it has none.
static bool add_shapes(Glb* g, int body) {
  bool seen = false;
  for (int pass = 0; pass < 2 && !seen; pass++) {
    for (int i = 0; i < g->m->nshape; i++) {
      const srShape* x = &g->m->shape[i];
      if (x->body != body || (pass == 0) != (x->use != SR_SHAPE_COLLISION)) continue;
      seen = seen || x->type != SR_SHAPE_PLANE;
      add_shape(g, i);
    }
  }
  return seen;
}

// A bar from the origin of a body to a place in it; z of a capsule turned to it.
static void add_bar(Glb* g, int body, const double x[3], double radius) {
  const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  double pose[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x[0] / 2, x[1] / 2, x[2] / 2, 1};
  if (length > 0) {  // the half way between z and x turns one to the other
    double h[3] = {x[0] / length, x[1] / length, x[2] / length + 1};
    const double n = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
    const double turn[4] = {n > 1e-9 ? n / 2 : 0, n > 1e-9 ? -h[1] / n : 1, n > 1e-9 ? h[0] / n : 0, 0};
    srm_pose_from_quaternion(turn, pose);
  }
  add_node(g, body, bar_of(g, radius, length), grey, NULL, pose);
}

// Bodies without shapes: bars to the points where something acts on them, to their centre of mass where there are none.
static void add_figure(Glb* g, int body) {
  double end[MOST_BARS][3], longest = 0;
  int n = 0;
  for (int i = g->m->nbody + 1; i <= g->m->npoint && n < MOST_BARS; i++) {
    double back[16], pose[16];
    if (i < g->m->npoint && g->m->point_body[i] != body) continue;
    if (i == g->m->npoint && n > 0) break;
    memcpy(pose + 12, g->m->body_com + 4 * body, 3 * sizeof *pose);
    if (i < g->m->npoint) {
      srm_pose_invert(g->m->point_pose + 16 * body, back);
      srm_pose_compose(back, g->m->point_pose + 16 * i, pose);
    }
    const double length = sqrt(pose[12] * pose[12] + pose[13] * pose[13] + pose[14] * pose[14]);
    bool taken = length < 1e-3 * g->scale || length > 1e3 * g->scale;
    for (int k = 0; k < n; k++) taken = taken || memcmp(end[k], pose + 12, sizeof end[k]) == 0;
    if (taken) continue;
    memcpy(end[n++], pose + 12, sizeof end[0]);
    longest = fmax(longest, length);
  }
  const double origin[3] = {0, 0, 0};
  if (n == 0) add_bar(g, body, origin, 1.5 * THICK * g->scale);
  for (int k = 0; k < n; k++) add_bar(g, body, end[k], THICK * fmin(longest, g->scale));
}

// Half the diagonal of a box about the bodies and the points that are named, in the first row.
static double measure(const Glb* g) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
  for (int i = 0; i < g->m->npoint && g->rows->n > 0; i++) {
    const int body = g->m->point_body[i];
    double back[16], at[16], place[16] = {0}, now[16];
    if (body == 0) continue;
    const float* x = g->rows->pose + NUMBERS * (body - 1);
    srm_pose_invert(g->m->point_pose + 16 * body, back);
    srm_pose_compose(back, g->m->point_pose + 16 * i, at);
    srm_pose_from_quaternion((double[4]){(double)x[3], (double)x[4], (double)x[5], (double)x[6]}, place);
    for (int k = 0; k < 3; k++) place[12 + k] = (double)x[k];
    place[15] = 1;
    srm_pose_compose(place, at, now);
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], now[12 + k]);
      high[k] = fmax(high[k], now[12 + k]);
    }
  }
  for (int k = 0; k < 3; k++) sum += high[k] > low[k] ? (high[k] - low[k]) * (high[k] - low[k]) : 0;
  for (int i = 0; i < g->m->nshape && !(sum > 0); i++) {
    if (g->m->shape[i].type != SR_SHAPE_PLANE) sum = fmax(sum, 16 * g->m->shape[i].size[0] * g->m->shape[i].size[0]);
  }
  return sum > 0 ? sqrt(sum) / 2 : 1;
}

// ---- motion ------------------------------------------------------------------------------------------------------------------
static float time_of(const Glb* g, size_t row) { return (float)(g->rows->t[row] - g->rows->t[0]); }

static bool is_finite(const Glb* g, size_t row) {
  const size_t n = (size_t)g->m->nbody * NUMBERS;
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(g->rows->pose[row * n + i])) return false;
  }
  return true;
}

static void keep_rows(Glb* g) {
  g->kept = sr_pool_alloc(&g->pool, (g->rows->n + 1) * sizeof *g->kept);
  for (size_t i = 0; i < g->rows->n; i++) {
    if ((g->nkept == 0 || time_of(g, i) > time_of(g, g->kept[g->nkept - 1])) && is_finite(g, i))
      g->kept[g->nkept++] = i;
  }
}

static const float* pose_at(const Glb* g, size_t kept, int body) {
  return g->rows->pose + (g->kept[kept] * (size_t)g->m->nbody + (size_t)(body - 1)) * NUMBERS;
}

static bool moves(const Glb* g, int body, int from, int to) {
  for (size_t i = 1; i < g->nkept; i++) {
    if (memcmp(pose_at(g, i, body) + from, pose_at(g, 0, body) + from, (size_t)(to - from) * sizeof(float)) != 0)
      return true;
  }
  return false;
}

static int add_times(Glb* g) {
  float* t = sr_pool_alloc(&g->pool, (g->nkept + 1) * sizeof *t);
  for (size_t i = 0; i < g->nkept; i++) t[i] = time_of(g, g->kept[i]);
  const int view = add_view(g, 0, FLOAT, (int)g->nkept, "SCALAR", t, g->nkept * sizeof *t);
  set_range(&g->view[view], t, g->nkept, 1);
  return view;
}

// x y z, or the quaternion with its real part last, as glTF has it.
static void put_pose_part(const float* pose, bool rotation, float out[4]) {
  memcpy(out, rotation ? pose + 4 : pose, 3 * sizeof *out);
  out[3] = pose[3];
}

static int add_track(Glb* g, int body, bool rotation) {
  const int width = rotation ? 4 : 3;
  if (!moves(g, body, rotation ? 3 : 0, rotation ? 7 : 3)) return -1;
  float* x = sr_pool_alloc(&g->pool, (g->nkept * 4 + 1) * sizeof *x);
  for (size_t i = 0; i < g->nkept; i++) put_pose_part(pose_at(g, i, body), rotation, x + i * (size_t)width);
  return add_view(g, 0, FLOAT, (int)g->nkept, rotation ? "VEC4" : "VEC3", x, g->nkept * (size_t)width * sizeof *x);
}

// ---- JSON --------------------------------------------------------------------------------------------------------------------
static void put_floats(srJson* json, const char* key, const float* x, int n) {
  double wide[4];
  for (int i = 0; i < n; i++) wide[i] = (double)x[i];
  sr_json_numbers(json, key, wide, n);
}

static void put_views(srJson* json, const Glb* g) {
  sr_json_array(json, "bufferViews");
  for (int i = 0; i < g->nview; i++) {
    sr_json_object(json, NULL);
    sr_json_int(json, "buffer", 0);
    sr_json_int(json, "byteOffset", (long long)g->view[i].at);
    sr_json_int(json, "byteLength", (long long)g->view[i].n);
    if (g->view[i].target != 0) sr_json_int(json, "target", g->view[i].target);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_array(json, "accessors");
  for (int i = 0; i < g->nview; i++) {
    const View* v = &g->view[i];
    sr_json_object(json, NULL);
    sr_json_int(json, "bufferView", i);
    sr_json_int(json, "componentType", v->component);
    sr_json_int(json, "count", v->count);
    sr_json_text(json, "type", v->type);
    if (v->nrange > 0) put_floats(json, "min", v->low, v->nrange);
    if (v->nrange > 0) put_floats(json, "max", v->high, v->nrange);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_materials(srJson* json, const Glb* g) {
  sr_json_array(json, "materials");
  for (int i = 0; i < g->ncolor; i++) {
    const double* c = g->color[i];
    sr_json_object(json, NULL);
    sr_json_object(json, "pbrMetallicRoughness");
    sr_json_numbers(json, "baseColorFactor", (double[]){linear(c[0]), linear(c[1]), linear(c[2]), c[3]}, 4);
    sr_json_number(json, "metallicFactor", 0);
    sr_json_number(json, "roughnessFactor", 0.5);
    sr_json_object_end(json);
    if (c[3] < 1) sr_json_text(json, "alphaMode", "BLEND");
    sr_json_bool(json, "doubleSided", true);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_meshes(srJson* json, const Glb* g) {
  sr_json_array(json, "meshes");
  for (int i = 0; i < g->nmesh; i++) {
    const Geometry* x = &g->geometry[g->mesh[i].geometry];
    sr_json_object(json, NULL);
    sr_json_array(json, "primitives");
    sr_json_object(json, NULL);
    sr_json_object(json, "attributes");
    sr_json_int(json, "POSITION", x->vertex);
    if (x->normal >= 0) sr_json_int(json, "NORMAL", x->normal);
    sr_json_object_end(json);
    sr_json_int(json, "indices", x->face);
    sr_json_int(json, "material", g->mesh[i].material);
    sr_json_object_end(json);
    sr_json_array_end(json);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

// The quaternion x y z w that turns "up" to y.
static void upright(const srModel* m, double out[4]) {
  const double* a = m->gravity;
  const double n = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  const double up[3] = {n > 0 ? -a[0] / n : 0, n > 0 ? -a[1] / n : 0, n > 0 ? -a[2] / n : 1};
  const double h[3] = {up[0], up[1] + 1, up[2]}, k = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
  const double turn[4] = {k > 1e-9 ? -h[2] / k : 1, 0, k > 1e-9 ? h[0] / k : 0, k / 2};  // half way x y
  memcpy(out, turn, sizeof turn);
}

static void put_list(srJson* json, const char* key, int first, int count) {
  if (count == 0) return;  // empty arrays are not allowed
  sr_json_array(json, key);
  for (int i = 0; i < count; i++) sr_json_int(json, NULL, first + i);
  sr_json_array_end(json);
}

// Nodes: 0 turns all; body i is 1 + i; then those of the shapes, which are in the order of the bodies.
static void put_nodes(srJson* json, const Glb* g) {
  double turn[4];
  int shape = 0;
  upright(g->m, turn);
  sr_json_array(json, "nodes");
  sr_json_object(json, NULL);
  sr_json_text(json, "name", g->m->name);
  sr_json_numbers(json, "rotation", turn, 4);
  put_list(json, "children", 1, g->m->nbody + 1);
  sr_json_object_end(json);
  for (int body = 0; body <= g->m->nbody; body++) {
    const int first = shape;
    float part[4];
    while (shape < g->nnode && g->node[shape].body == body) shape++;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", g->m->body_name[body]);
    if (body > 0 && g->nkept > 0) {
      put_pose_part(pose_at(g, 0, body), false, part);
      put_floats(json, "translation", part, 3);
      put_pose_part(pose_at(g, 0, body), true, part);
      put_floats(json, "rotation", part, 4);
    }
    put_list(json, "children", g->m->nbody + 2 + first, shape - first);
    sr_json_object_end(json);
  }
  for (int i = 0; i < g->nnode; i++) {
    const double* q = g->node[i].turn;
    sr_json_object(json, NULL);
    if (g->node[i].name != NULL) sr_json_text(json, "name", g->node[i].name);
    sr_json_int(json, "mesh", g->node[i].mesh);
    sr_json_numbers(json, "translation", g->node[i].at, 3);
    sr_json_numbers(json, "rotation", (double[]){q[1], q[2], q[3], q[0]}, 4);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

typedef struct Track {
  int view, body;
  bool rotation;
} Track;

static void put_animation(srJson* json, const Track* track, int n, int times) {
  if (n == 0) return;
  sr_json_array(json, "animations");
  sr_json_object(json, NULL);
  sr_json_text(json, "name", "run");
  sr_json_array(json, "samplers");
  for (int i = 0; i < n; i++) {
    sr_json_object(json, NULL);
    sr_json_int(json, "input", times);
    sr_json_int(json, "output", track[i].view);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_array(json, "channels");
  for (int i = 0; i < n; i++) {
    sr_json_object(json, NULL);
    sr_json_int(json, "sampler", i);
    sr_json_object(json, "target");
    sr_json_int(json, "node", 1 + track[i].body);
    sr_json_text(json, "path", track[i].rotation ? "rotation" : "translation");
    sr_json_object_end(json);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_object_end(json);
  sr_json_array_end(json);
}

// Fills the binary part, then the text. Leaves by the pool's jump where memory runs out.
static void describe(Glb* g, srText* text) {
  const srModel* m = g->m;
  keep_rows(g);
  g->scale = measure(g);
  for (int body = 0; body <= m->nbody; body++) {
    if (!add_shapes(g, body) && body > 0) add_figure(g, body);
  }
  Track* track = sr_pool_alloc(&g->pool, (size_t)(2 * m->nbody + 1) * sizeof *track);
  int n = 0;
  const int times = g->nkept > 1 ? add_times(g) : -1;
  for (int i = 0; i < 2 * m->nbody && times >= 0; i++) {
    track[n] = (Track){add_track(g, 1 + i / 2, i % 2 == 1), 1 + i / 2, i % 2 == 1};
    n += track[n].view >= 0;
  }
  srJson json = sr_json_begin(text);
  sr_json_object(&json, "asset");
  sr_json_text(&json, "version", "2.0");
  sr_json_text(&json, "generator", "Sarrus " SR_VERSION_STRING);
  sr_json_object_end(&json);
  sr_json_int(&json, "scene", 0);
  sr_json_array(&json, "scenes");
  sr_json_object(&json, NULL);
  put_list(&json, "nodes", 0, 1);
  sr_json_object_end(&json);
  sr_json_array_end(&json);
  put_nodes(&json, g);
  if (g->nmesh > 0) put_materials(&json, g);
  if (g->nmesh > 0) put_meshes(&json, g);
  put_animation(&json, track, n, times);
  if (g->nview > 0) {
    put_views(&json, g);
    sr_json_array(&json, "buffers");
    sr_json_object(&json, NULL);
    sr_json_int(&json, "byteLength", (long long)g->bin.n);
    sr_json_object_end(&json);
    sr_json_array_end(&json);
  }
  sr_json_end(&json);
  while (text->n % 4 != 0 && !text->failed) sr_text_add(text, " ", 1);
}

// ---- file --------------------------------------------------------------------------------------------------------------------
static void put_words(FILE* to, const uint32_t* x, int n) {
  for (int i = 0; i < n; i++) {
    const unsigned char b[4] = {(unsigned char)x[i], (unsigned char)(x[i] >> 8), (unsigned char)(x[i] >> 16),
                                (unsigned char)(x[i] >> 24)};
    fwrite(b, 1, 4, to);
  }
}

static srStatus put_file(const Glb* g, const srText* text, const char* path, srMessages* messages, size_t* size) {
  const bool bare = g->bin.n == 0;
  const unsigned long long total = 12 + 8 + (unsigned long long)text->n + (bare ? 0 : 8 + (unsigned long long)g->bin.n);
  srOutput* output = NULL;
  if (total > UINT32_MAX) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path},
                    "%.1f GB do not fit in a file of glTF, which has at most 4.3 GB: take fewer rows",
                    (double)total / 1e9);
    return SR_INPUT;
  }
  const srStatus status = sr_output_create(path, messages, &output);
  if (status != SR_OK) return status;
  FILE* to = sr_output_stream(output);
  put_words(to, (uint32_t[]){0x46546c67, 2, (uint32_t)total, (uint32_t)text->n, 0x4e4f534a}, 5);
  fwrite(text->data, 1, text->n, to);
  if (!bare) put_words(to, (uint32_t[]){(uint32_t)g->bin.n, 0x004e4942}, 2);
  if (!bare) fwrite(g->bin.data, 1, g->bin.n, to);
  if (size != NULL) *size = (size_t)total;
  return sr_output_close(output, messages);
}

srStatus sr_page_write_glb(const srPage* page, const srModel* described, const char* path, srMessages* messages,
                           size_t* size) {
  const srPageRows rows = sr_page_rows(page);
  Glb g = {.m = described != NULL ? described : rows.m, .rows = &rows};
  srText text = {0};
  jmp_buf failed;
  srStatus status = SR_MEMORY;
  sr_pool_init(&g.pool);
  g.pool.on_fail = &failed;
  if (setjmp(failed) == 0) {
    describe(&g, &text);
    if (!text.failed && !g.bin.failed) status = put_file(&g, &text, path, messages, size);
  }
  g.pool.on_fail = NULL;
  sr_text_free(&text);
  sr_text_free(&g.bin);
  sr_page_solid_free(&g.solid);
  sr_pool_free(&g.pool);
  return status;
}
