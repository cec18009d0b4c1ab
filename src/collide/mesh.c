// Triangle meshes: vertices at one place are made one, triangles without area are left out, edges find their triangles and corners their
// edges; then queries by the tree of bounding boxes (mesh_tree.c).
//
// A closed mesh with consistent winding is solid: V = 1/6 sum a.(b x c) over its triangles is the volume inside, negative where normals
// point inward.
#include "collide/mesh.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "collide/mesh_tree.h"
#include "math/pose.h"

#define FLAT 1e-10     // twice the area of a triangle without area, relative to the square of its longest edge
#define FARTHEST 1e15  // largest coordinate: its cube, a volume, keeps all digits in double precision
#define NONE (-1)

struct srTriangleMesh {
  int nvertex, ntriangle, nedge;
  bool solid;
  double low[3], high[3];
  double* vertex;       // nvertex x 3
  int* corner;          // ntriangle x 3
  int* given;           // ntriangle: index in the file
  int* edge;            // ntriangle x 3: from corner k to corner k + 1
  int* opposite_first;  // nedge + 1
  int* opposite;        // 3 ntriangle: corners opposite to edges
  int* spoke_first;     // nvertex + 1
  int* spoke;           // 2 nedge: other ends of the edges of a vertex
  srMeshTree tree;
};

static const struct {
  const char *text, *item;
} faults[SR_MESH_FAULTS] = {
    [SR_MESH_EMPTY] = {"meshes without a triangle that has an area", "triangle"},
    [SR_MESH_INDEX] = {"triangles name a vertex that is not there", "triangle"},
    [SR_MESH_NOT_FINITE] = {"vertices have a coordinate that is not a number below 1e15", "vertex"},
    [SR_MESH_DEGENERATE] = {"triangles without area are left out", "triangle"},
    [SR_MESH_REPEATED] = {"triangles with the corners of an earlier one are left out", "triangle"},
    [SR_MESH_DUPLICATE] = {"vertices at the place of an earlier one are taken for that one", "vertex"},
    [SR_MESH_OPEN] = {"edges have one triangle only: a hole or a border, so that the mesh has no inside", "triangle"},
    [SR_MESH_CROWDED] = {"edges have more than two triangles, so that the mesh has no inside", "triangle"},
    [SR_MESH_FLIPPED] = {"edges have triangles with opposite winding, so that the mesh has no inside", "triangle"},
    [SR_MESH_INVERTED] = {"closed meshes have all normals inward: they are turned round", "triangle"},
};

const char* sr_trimesh_fault_text(srMeshFaultKind kind) { return faults[kind].text; }
const char* sr_trimesh_fault_item(srMeshFaultKind kind) { return faults[kind].item; }

static void note(srMeshReport* report, srMeshFaultKind kind, int first) {
  srMeshFault* fault = &report->fault[kind];
  if (fault->count++ == 0) fault->first = first;
}

// ---- a table of keys ----------------------------------------------------------------------------------------------------

typedef struct Key {
  int64_t word[3];
} Key;

typedef struct Table {
  uint64_t mask;
  int* slot;  // mask + 1
  Key* key;   // by index
  int n;
} Table;

// Room for n keys in one block, which sr_free takes. False: out of memory.
static bool open_table(Table* table, int n) {
  uint64_t size = 16;
  while (size < 2 * (uint64_t)n) size *= 2;
  table->key = sr_alloc(((size_t)n + 1) * sizeof(Key) + (size_t)size * sizeof(int));
  if (table->key == NULL) return false;
  table->slot = (int*)(void*)(table->key + n + 1);
  table->mask = size - 1;
  table->n = 0;
  for (uint64_t i = 0; i < size; i++) table->slot[i] = NONE;
  return true;
}

// The index of a key, which is table->n - 1 where it is new.
static int find_key(Table* table, const Key* key, bool* is_new) {
  uint64_t h = 0;
  for (int k = 0; k < 3; k++) {
    h = (h ^ (uint64_t)key->word[k]) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  uint64_t at = h & table->mask;
  for (; table->slot[at] != NONE; at = (at + 1) & table->mask) {
    if (memcmp(&table->key[table->slot[at]], key, sizeof *key) == 0) {
      *is_new = false;
      return table->slot[at];
    }
  }
  *is_new = true;
  table->key[table->n] = *key;
  return table->slot[at] = table->n++;
}

// ---- vertices and triangles -----------------------------------------------------------------------------------------------

static bool check_numbers(const double* vertex, int nvertex, const int* corner, int ntriangle, srMeshReport* report) {
  for (int i = 0; i < nvertex; i++) {
    const double* x = vertex + 3 * i;
    if (!(fabs(x[0]) <= FARTHEST && fabs(x[1]) <= FARTHEST && fabs(x[2]) <= FARTHEST))
      note(report, SR_MESH_NOT_FINITE, i);
  }
  for (int i = 0; i < ntriangle; i++) {
    const int* c = corner + 3 * i;
    for (int k = 0; k < 3; k++) {
      if (c[k] >= 0 && c[k] < nvertex) continue;
      note(report, SR_MESH_INDEX, i);
      break;
    }
  }
  return report->fault[SR_MESH_NOT_FINITE].count + report->fault[SR_MESH_INDEX].count == 0;
}

// merged: for each vertex its index in the mesh.
static bool merge_vertices(srTriangleMesh* mesh, const double* vertex, int nvertex, int* merged, srMeshReport* report) {
  Table table;
  if (!open_table(&table, nvertex)) return false;
  for (int i = 0; i < nvertex; i++) {
    Key key;
    bool is_new;
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = vertex[3 * i + k] + 0.0;  // -0 becomes 0
    memcpy(&key, x, sizeof key);
    merged[i] = find_key(&table, &key, &is_new);
    if (!is_new) note(report, SR_MESH_DUPLICATE, i);
    memcpy(mesh->vertex + 3 * merged[i], x, sizeof x);
  }
  mesh->nvertex = table.n;
  sr_free(table.key);
  return true;
}

static bool has_area(const srTriangleMesh* mesh, const int* c) {
  double a[3], b[3], n[3], longest = 0;
  for (int k = 0; k < 3; k++) {
    const double *p = mesh->vertex + 3 * c[k], *q = mesh->vertex + 3 * c[(k + 1) % 3];
    double square = 0;
    for (int i = 0; i < 3; i++) square += (q[i] - p[i]) * (q[i] - p[i]);
    longest = fmax(longest, square);
  }
  for (int i = 0; i < 3; i++) {
    a[i] = mesh->vertex[3 * c[1] + i] - mesh->vertex[3 * c[0] + i];
    b[i] = mesh->vertex[3 * c[2] + i] - mesh->vertex[3 * c[0] + i];
  }
  srm_cross3(a, b, n);
  return srm_norm3(n) > FLAT * longest;
}

static void order(int64_t* a, int64_t* b) {
  if (*a <= *b) return;
  const int64_t x = *a;
  *a = *b;
  *b = x;
}

static Key key_of_corners(const int* c) {
  Key key = {{c[0], c[1], c[2]}};
  order(&key.word[0], &key.word[1]);
  order(&key.word[1], &key.word[2]);
  order(&key.word[0], &key.word[1]);
  return key;
}

static bool take_triangles(srTriangleMesh* mesh, const int* corner, int ntriangle, const int* merged,
                           srMeshReport* report) {
  Table table;
  if (!open_table(&table, ntriangle)) return false;
  for (int i = 0; i < ntriangle; i++) {
    const int c[3] = {merged[corner[3 * i]], merged[corner[3 * i + 1]], merged[corner[3 * i + 2]]};
    bool is_new = false;
    if (!has_area(mesh, c)) {
      note(report, SR_MESH_DEGENERATE, i);
      continue;
    }
    const Key key = key_of_corners(c);
    (void)find_key(&table, &key, &is_new);
    if (!is_new) {
      note(report, SR_MESH_REPEATED, i);
      continue;
    }
    memcpy(mesh->corner + 3 * mesh->ntriangle, c, sizeof c);
    mesh->given[mesh->ntriangle++] = i;
  }
  sr_free(table.key);
  if (mesh->ntriangle == 0) note(report, SR_MESH_EMPTY, 0);
  return mesh->ntriangle > 0;
}

// ---- edges ----------------------------------------------------------------------------------------------------------------

// Lists by a counting sort: first[i] is where those of i begin. count: of each, before; first has n + 1.
static void begin_lists(int* first, int n) {
  int at = 0;
  for (int i = 0; i <= n; i++) {
    const int count = first[i];
    first[i] = at;
    at += count;
  }
}

static void end_lists(int* first, int n) {  // after every entry has moved its first one on
  for (int i = n; i > 0; i--) first[i] = first[i - 1];
  first[0] = 0;
}

static void list_opposites(srTriangleMesh* mesh) {
  for (int i = 0; i < 3 * mesh->ntriangle; i++) mesh->opposite_first[mesh->edge[i]]++;
  begin_lists(mesh->opposite_first, mesh->nedge);
  for (int i = 0; i < 3 * mesh->ntriangle; i++) {
    mesh->opposite[mesh->opposite_first[mesh->edge[i]]++] = mesh->corner[i / 3 * 3 + (i + 2) % 3];
  }
  end_lists(mesh->opposite_first, mesh->nedge);
}

static void list_spokes(srTriangleMesh* mesh, const Table* edges) {
  for (int i = 0; i < 2 * mesh->nedge; i++) mesh->spoke_first[edges->key[i / 2].word[i % 2]]++;
  begin_lists(mesh->spoke_first, mesh->nvertex);
  for (int i = 0; i < 2 * mesh->nedge; i++) {
    const int64_t* end = edges->key[i / 2].word;
    mesh->spoke[mesh->spoke_first[end[i % 2]]++] = (int)end[1 - i % 2];
  }
  end_lists(mesh->spoke_first, mesh->nvertex);
}

// Which edges are open, crowded or flipped. ways: for each edge, triangles that go along it upward less those that go downward.
static void check_edges(const srTriangleMesh* mesh, const int* ways, srMeshReport* report) {
  report->solid = true;
  for (int i = 0; i < 3 * mesh->ntriangle; i++) {
    const int e = mesh->edge[i], n = mesh->opposite_first[e + 1] - mesh->opposite_first[e];
    const int own = mesh->corner[i / 3 * 3 + (i + 2) % 3];
    if (mesh->opposite[mesh->opposite_first[e]] != own) continue;  // each edge once, at its first triangle
    const srMeshFaultKind kind = n == 1 ? SR_MESH_OPEN : n > 2 ? SR_MESH_CROWDED : SR_MESH_FLIPPED;
    if (n == 2 && ways[e] == 0) continue;
    note(report, kind, mesh->given[i / 3]);
    report->solid = false;
  }
}

static bool connect(srTriangleMesh* mesh, srMeshReport* report) {
  Table edges;
  int* ways = sr_alloc(3 * (size_t)mesh->ntriangle * sizeof *ways);
  if (ways == NULL) return false;
  if (!open_table(&edges, 3 * mesh->ntriangle)) {
    sr_free(ways);
    return false;
  }
  for (int i = 0; i < 3 * mesh->ntriangle; i++) {
    const int a = mesh->corner[i], b = mesh->corner[i / 3 * 3 + (i + 1) % 3];
    const Key key = {{a < b ? a : b, a < b ? b : a, 0}};
    bool is_new;
    mesh->edge[i] = find_key(&edges, &key, &is_new);
    ways[mesh->edge[i]] += a < b ? 1 : -1;
  }
  mesh->nedge = edges.n;
  list_opposites(mesh);
  list_spokes(mesh, &edges);
  check_edges(mesh, ways, report);
  sr_free(edges.key);
  sr_free(ways);
  return true;
}

// ---- inside ---------------------------------------------------------------------------------------------------------------

static const double* corner_of(const srTriangleMesh* mesh, int triangle, int k) {
  return mesh->vertex + 3 * mesh->corner[3 * triangle + k];
}

static double volume_of(const srTriangleMesh* mesh) {
  double sum = 0;
  for (int t = 0; t < mesh->ntriangle; t++) {
    double p[3][3], n[3];
    for (int k = 0; k < 3; k++) {  // from a vertex of the mesh: no differences of large numbers far from the origin
      for (int i = 0; i < 3; i++) p[k][i] = corner_of(mesh, t, k)[i] - mesh->vertex[i];
    }
    srm_cross3(p[1], p[2], n);
    sum += srm_dot3(p[0], n);
  }
  return sum / 6;
}

// Exchanges corners 0 and 1 of every triangle: then edges 1 and 2 change places.
static void turn_round(srTriangleMesh* mesh) {
  for (int t = 0; t < mesh->ntriangle; t++) {
    int *c = mesh->corner + 3 * t, *e = mesh->edge + 3 * t;
    const int corner = c[0], edge = e[1];
    c[0] = c[1];
    c[1] = corner;
    e[1] = e[2];
    e[2] = edge;
  }
}

static void find_inside(srTriangleMesh* mesh, srMeshReport* report) {
  mesh->solid = report->solid;
  if (!mesh->solid) return;
  report->volume = volume_of(mesh);
  if (report->volume >= 0) return;
  note(report, SR_MESH_INVERTED, mesh->given[0]);
  report->volume = -report->volume;
  turn_round(mesh);
}

// ---- tree -----------------------------------------------------------------------------------------------------------------

static void set_bounds(srTriangleMesh* mesh) {
  for (int k = 0; k < 3; k++) mesh->low[k] = mesh->high[k] = corner_of(mesh, 0, 0)[k];
  for (int i = 0; i < 9 * mesh->ntriangle; i++) {
    const double x = corner_of(mesh, i / 9, i / 3 % 3)[i % 3];
    mesh->low[i % 3] = fmin(mesh->low[i % 3], x);
    mesh->high[i % 3] = fmax(mesh->high[i % 3], x);
  }
}

static bool build_tree(srTriangleMesh* mesh) {
  const size_t n = (size_t)mesh->ntriangle;
  srFat* fat = sr_alloc(n * (sizeof *fat + 3 * sizeof(float)));
  if (fat == NULL) return false;
  float* centre = (float*)(void*)(fat + n);
  for (int i = 0; i < 3 * mesh->ntriangle; i++) {
    const int t = i / 3, k = i % 3;
    const double a = corner_of(mesh, t, 0)[k], b = corner_of(mesh, t, 1)[k], c = corner_of(mesh, t, 2)[k];
    fat[t].low[k] = sr_fat_below(fmin(a, fmin(b, c)));
    fat[t].high[k] = sr_fat_above(fmax(a, fmax(b, c)));
    centre[i] = 0.5f * (fat[t].low[k] + fat[t].high[k]);
  }
  sr_trimesh_tree_build(&mesh->tree, mesh->ntriangle, fat, centre);
  sr_free(fat);
  return true;
}

// ---- creation -------------------------------------------------------------------------------------------------------------

// One block for all arrays. NULL: out of memory.
static srTriangleMesh* make_room(int nvertex, int ntriangle) {
  const size_t v = (size_t)nvertex + 2, t = (size_t)ntriangle + 1, head = (sizeof(srTriangleMesh) + 31) / 32 * 32;
  const size_t ints = 3 * t + t + 3 * t + (3 * t + 1) + 3 * t + v + 6 * t + t;
  char* block = sr_alloc(head + 2 * t * sizeof(srMeshNode) + 3 * v * sizeof(double) + ints * sizeof(int));
  if (block == NULL) return NULL;
  srTriangleMesh* mesh = (srTriangleMesh*)(void*)block;
  mesh->tree.node = (srMeshNode*)(void*)(block + head);
  mesh->vertex = (double*)(void*)(mesh->tree.node + 2 * t);
  mesh->corner = (int*)(void*)(mesh->vertex + 3 * v);
  mesh->given = mesh->corner + 3 * t;
  mesh->edge = mesh->given + t;
  mesh->opposite_first = mesh->edge + 3 * t;
  mesh->opposite = mesh->opposite_first + 3 * t + 1;
  mesh->spoke_first = mesh->opposite + 3 * t;
  mesh->spoke = mesh->spoke_first + v;
  mesh->tree.order = mesh->spoke + 6 * t;
  return mesh;
}

static bool fill(srTriangleMesh* mesh, const double* vertex, int nvertex, const int* corner, int ntriangle,
                 srMeshReport* report) {
  int* merged = sr_alloc(((size_t)nvertex + 1) * sizeof *merged);
  if (merged == NULL) return false;
  const bool taken =
      merge_vertices(mesh, vertex, nvertex, merged, report) && take_triangles(mesh, corner, ntriangle, merged, report);
  sr_free(merged);
  if (!taken || !connect(mesh, report)) return false;
  find_inside(mesh, report);
  set_bounds(mesh);
  return build_tree(mesh);
}

srTriangleMesh* sr_trimesh_create(const double* vertex, int nvertex, const int* corner, int ntriangle,
                                  srMeshReport* report) {
  *report = (srMeshReport){0};
  if (!check_numbers(vertex, nvertex, corner, ntriangle, report)) return NULL;
  if (ntriangle == 0) {
    note(report, SR_MESH_EMPTY, 0);
    return NULL;
  }
  srTriangleMesh* mesh = make_room(nvertex, ntriangle);
  if (mesh == NULL || fill(mesh, vertex, nvertex, corner, ntriangle, report)) return mesh;
  sr_free(mesh);
  return NULL;
}

void sr_trimesh_destroy(srTriangleMesh* mesh) { sr_free(mesh); }

int sr_trimesh_triangles(const srTriangleMesh* mesh) { return mesh->ntriangle; }

int sr_trimesh_given(const srTriangleMesh* mesh, int triangle) { return mesh->given[triangle]; }

void sr_trimesh_bounds(const srTriangleMesh* mesh, double low[3], double high[3]) {
  memcpy(low, mesh->low, sizeof mesh->low);
  memcpy(high, mesh->high, sizeof mesh->high);
}

// ---- queries --------------------------------------------------------------------------------------------------------------

static void corners(const void* user, int triangle, double corner[9]) {
  for (int k = 0; k < 3; k++) memcpy(corner + 3 * k, corner_of(user, triangle, k), 3 * sizeof(double));
}

static void near(const void* user, const double low[3], const double high[3], void (*visit)(void* to, int triangle),
                 void* to) {
  const srMeshTree* tree = &((const srTriangleMesh*)user)->tree;
  srFat box;
  for (int k = 0; k < 3; k++) {
    box.low[k] = sr_fat_below(low[k]);
    box.high[k] = sr_fat_above(high[k]);
  }
  for (int i = 0; i < tree->nnode;) {
    const srMeshNode* node = &tree->node[i];
    const bool meets = sr_fat_overlap(&node->fat, &box);
    for (int k = 0; meets && node->leaf >= 0 && k < node->leaf % 8; k++) visit(to, tree->order[node->leaf / 8 + k]);
    i = meets ? i + 1 : node->end;
  }
}

static bool entry(const srTriangleMesh* mesh, const int* first, const int* list, int of, int k, double out[3]) {
  if (first[of] + k >= first[of + 1]) return false;
  memcpy(out, mesh->vertex + 3 * list[first[of] + k], 3 * sizeof *out);
  return true;
}

static bool opposite(const void* user, int triangle, int edge, int k, double corner[3]) {
  const srTriangleMesh* mesh = user;
  return entry(mesh, mesh->opposite_first, mesh->opposite, mesh->edge[3 * triangle + edge], k, corner);
}

static bool spoke(const void* user, int triangle, int corner, int k, double end[3]) {
  const srTriangleMesh* mesh = user;
  return entry(mesh, mesh->spoke_first, mesh->spoke, mesh->corner[3 * triangle + corner], k, end);
}

// The distance of a point from a box.
static double distance_of(const srFat* fat, const double* x) {
  double square = 0;
  for (int k = 0; k < 3; k++) {
    const double d = fmax(0, fmax((double)fat->low[k] - x[k], x[k] - (double)fat->high[k]));
    square += d * d;
  }
  return sqrt(square);
}

typedef struct Nearest {
  const srTriangleMesh* mesh;
  const double* point;
  double distance;
  int triangle;
} Nearest;

static void visit_leaf(Nearest* s, int leaf) {
  for (int k = 0; k < leaf % 8; k++) {
    const int t = s->mesh->tree.order[leaf / 8 + k];
    double corner[9], x[3], d[3];
    corners(s->mesh, t, corner);
    (void)sr_triangle_nearest(corner, s->point, x);
    for (int i = 0; i < 3; i++) d[i] = s->point[i] - x[i];
    const double distance = srm_norm3(d);
    if (distance > s->distance || (distance == s->distance && t > s->triangle)) continue;
    s->distance = distance;
    s->triangle = t;
  }
}

// The nearer child first. As deep as the tree.
static void search(Nearest* s, int at) {
  const srMeshNode* node = &s->mesh->tree.node[at];
  if (distance_of(&node->fat, s->point) > s->distance) return;
  if (node->leaf >= 0) {
    visit_leaf(s, node->leaf);
    return;
  }
  const int left = at + 1, right = node[1].end;
  const bool swap =
      distance_of(&s->mesh->tree.node[right].fat, s->point) < distance_of(&s->mesh->tree.node[left].fat, s->point);
  search(s, swap ? right : left);
  search(s, swap ? left : right);
}

int sr_trimesh_nearest(const srTriangleMesh* mesh, const double point[3], double* distance) {
  Nearest s = {.mesh = mesh, .point = point, .distance = HUGE_VAL, .triangle = mesh->ntriangle};
  search(&s, 0);
  *distance = s.distance;
  return s.triangle;
}

static double depth(const void* user, const double point[3]) {
  const srTriangleMesh* mesh = user;
  double distance;
  for (int k = 0; k < 3; k++) {
    if (!(mesh->low[k] <= point[k] && point[k] <= mesh->high[k])) return -1;
  }
  (void)sr_trimesh_nearest(mesh, point, &distance);
  return distance;
}

srSurface sr_trimesh_surface(const srTriangleMesh* mesh) {
  return (srSurface){.user = mesh,
                     .solid = mesh->solid,
                     .near = near,
                     .corners = corners,
                     .opposite = opposite,
                     .spoke = spoke,
                     .depth = depth};
}
