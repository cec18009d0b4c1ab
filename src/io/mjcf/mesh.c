// Meshes of MJCF's geoms: put into the spec at their first use, from a file or from numbers in the model, and weighed in the
// way that the file requests.
// MuJoCo takes vertices off refpos, turns them back by refquat, then scales them; our meshes are scaled first. Where that is
// not the same but for a pose, the mesh gets vertices of its own. Source: MuJoCo's XML reference, "mesh".
#include <math.h>
#include <string.h>

#include "io/file.h"
#include "io/mesh/mesh.h"
#include "io/mjcf/mjcf.h"
#include "math/hull.h"
#include "math/pose.h"
#include "math/solid.h"

#define MAX_NUMBERS 3000000  // of an inline mesh

static int count_numbers(const char* text) {
  int n = 0;
  for (const char* p = text + strspn(text, " \t\r\n"); *p; p += strspn(p, " \t\r\n")) {
    p += strcspn(p, " \t\r\n");
    n++;
  }
  return n;
}

static const double* read_many(srMjcf* m, const srXmlAttribute* a, int least, int* n) {
  *n = count_numbers(a->value);
  if (*n > MAX_NUMBERS) *n = MAX_NUMBERS;
  double* numbers = sr_pool_alloc(&m->r->pool, (size_t)(*n + 1) * sizeof *numbers);
  if (sr_mjcf_values(m, a, *n < least ? least : *n, MAX_NUMBERS, numbers) < 0) return NULL;
  if (*n % 3 == 0) return numbers;
  sr_mjcf_error(m, a->place, "'%s' takes three numbers each, got %d", a->name, *n);
  return NULL;
}

// The convex hull, as the faces of vertices without any.
static const double* hull_faces(srMjcf* m, const srMjcfMesh* mesh, const double* vertices, int nvertex, int* nface) {
  int* corner = NULL;
  *nface = 3 * srm_hull(&m->r->pool, vertices, nvertex / 3, &corner);
  if (*nface == 0) {
    sr_mjcf_error(m, mesh->node->place, "the mesh '%.60s' has no faces, and its vertices lie in a plane", mesh->word);
    return NULL;
  }
  double* faces = sr_pool_alloc(&m->r->pool, (size_t)*nface * sizeof *faces);
  for (int i = 0; i < *nface; i++) faces[i] = corner[i];
  return faces;
}

// Numbers in the file.
static bool read_inline(srMjcf* m, const srMjcfMesh* mesh, srMeshDef* def) {
  const srXmlAttribute *vertex = sr_xml_attribute(mesh->node, "vertex"), *face = sr_xml_attribute(mesh->node, "face");
  int nvertex, nface;
  if (!vertex) {
    sr_reader_ignore(m->r, mesh->node->place, "<mesh> without 'file' or 'vertex'");
    return false;
  }
  const double *vertices = read_many(m, vertex, 9, &nvertex), *faces = NULL;
  if (!vertices) return false;
  faces = face ? read_many(m, face, 3, &nface) : hull_faces(m, mesh, vertices, nvertex, &nface);
  if (!faces) return false;
  for (int i = 0; face && i < nface; i++)
    if (faces[i] != floor(faces[i]) || faces[i] < 0 || faces[i] >= nvertex / 3) {
      sr_mjcf_error(m, face->place, "%g in 'face' is no vertex: they count from 0 to %d", faces[i], nvertex / 3 - 1);
      return false;
    }
  def->vertices = (srAttr){.numbers = vertices, .n = nvertex, .place = vertex->place};
  def->faces = (srAttr){.numbers = faces, .n = nface, .place = face ? face->place : vertex->place};
  return true;
}

// folder/name, with the folders that a beginning "../" of the name leaves again taken away.
static const char* climb(srPool* pool, const char* folder, const char* name) {
  for (; strncmp(name, "../", 3) == 0 && strcmp(folder, ".") != 0; name += 3) folder = sr_path_folder(pool, folder);
  return sr_path_join(pool, folder, name);
}

// A file that is not where it is seen from the model, in its folder of meshes, is next to the file that names it, an included
// one, where it is there: so MuJoCo has it. In both cases inside the model's folder.
static const char* path_of(srMjcf* m, const srMjcfMesh* mesh, const srXmlAttribute* file) {
  srPool* pool = &m->r->pool;
  const srMjcfCompiler* c = sr_mjcf_compiler_of(m, mesh->node);
  const char *name = c->strip_path ? sr_mjcf_behind_slash(file->value) : file->value, *path = name, *reason;
  if (sr_path_is_fixed(name)) return name;
  if (*c->mesh_folder) path = sr_path_join(pool, c->mesh_folder, path);
  if (*c->folder && !sr_path_is_fixed(path)) path = sr_path_join(pool, c->folder, path);
  const char *folder = m->how->folder, *by = file->place.file;
  if (!folder || !by || sr_path_is_fixed(path) || sr_path_inside(pool, folder, path, &reason)) return path;
  const char* sibling = climb(pool, sr_path_relative(pool, folder, sr_path_folder(pool, by)), name);
  return sr_path_inside(pool, folder, sibling, &reason) ? sibling : path;
}

// True where scaling first and turning then gives the same up to a pose, which is put into mesh->inverse.
static bool turn_last(srMjcfMesh* mesh) {
  const double* s = mesh->scale;
  if (srm_pose_is_turned(mesh->inverse) && (s[0] != s[1] || s[0] != s[2])) return false;
  for (int k = 0; k < 3; k++) mesh->inverse[12 + k] *= s[k];
  return true;
}

// Vertices as MuJoCo has them, scale and pose taken into them. A mirror turns the triangles around.
static void bake(srMjcf* m, srMjcfMesh* mesh, srMeshDef* def) {
  double* vertices = sr_pool_alloc(&m->r->pool, (size_t)(def->vertices.n + 1) * sizeof *vertices);
  double* faces = sr_pool_alloc(&m->r->pool, (size_t)(def->faces.n + 1) * sizeof *faces);
  const double* s = mesh->scale;
  const bool mirrored = s[0] * s[1] * s[2] < 0;
  for (int i = 0; i + 2 < def->vertices.n; i += 3) {
    srm_pose_point(mesh->inverse, def->vertices.numbers + i, vertices + i);
    for (int k = 0; k < 3; k++) vertices[i + k] *= s[k];
  }
  for (int i = 0; i < def->faces.n; i++) faces[i] = def->faces.numbers[mirrored ? i - i % 3 + 2 - i % 3 : i];
  def->vertices.numbers = vertices;
  def->faces.numbers = faces;
  def->file = (srAttr){0};
  for (int k = 0; k < 3; k++) mesh->scale[k] = 1;
  srm_pose_identity(mesh->inverse);
}

static const char* add_mesh(srMjcf* m, srMjcfMesh* mesh, bool as_it_is) {
  const srXmlAttribute* file = sr_xml_attribute(mesh->node, "file");
  const srPlace place = mesh->node->place;
  srMeshDef def = {0};
  if (file) {
    def.file = (srAttr){.text = path_of(m, mesh, file), .place = file->place};
    if (!sr_mesh_fill(m->r, m->how, &m->r->pool, &def)) return NULL;
  } else if (!read_inline(m, mesh, &def)) {
    return NULL;
  }
  if (!as_it_is && def.vertices.numbers && def.faces.numbers) bake(m, mesh, &def);
  def.name = (srAttr){.text = sr_mesh_new_name(m->r, mesh->word), .place = place};
  if (mesh->scale[0] != 1 || mesh->scale[1] != 1 || mesh->scale[2] != 1)
    def.scale = sr_reader_list(m->r, mesh->scale, 3, place);
  sr_reader_add(m->r, SR_ELEMENT_MESH, SR_NO_OWNER, &def, place);
  return def.name.text;
}

const char* sr_mjcf_mesh_use(srMjcf* m, int i) {
  srMjcfMesh* mesh = &m->mesh[i];
  const srXmlAttribute* file = sr_xml_attribute(mesh->node, "file");
  if (mesh->name || mesh->failed) return mesh->name;
  const bool as_it_is = turn_last(mesh);
  if (file && as_it_is)
    mesh->name = sr_mesh_use(m->r, m->how, path_of(m, mesh, file), mesh->scale, mesh->word, file->place);
  else
    mesh->name = add_mesh(m, mesh, as_it_is);
  mesh->failed = !mesh->name;
  return mesh->name;
}

// ------------------------------------------------------------------------------------------------------------- weight
const srMeshDef* sr_mjcf_mesh_def(const srMjcf* m, const srMjcfMesh* mesh) {
  for (int i = srs_count(m->r->spec, SR_ELEMENT_MESH) - 1; i >= 0 && mesh->name; i--) {
    const srMeshDef* def = srs_get(m->r->spec, SR_ELEMENT_MESH, i);
    const bool own = def->name.text && strcmp(def->name.text, mesh->name) == 0;
    if (own) return def->vertices.numbers && def->faces.numbers ? def : NULL;
  }
  return NULL;
}

static bool copy_triangles(srMjcf* m, const srMjcfMesh* mesh, const srMeshDef* def, double** vertex, int** corner) {
  const int n = def->vertices.n / 3;
  *vertex = sr_pool_alloc(&m->r->pool, (size_t)(def->vertices.n + 1) * sizeof **vertex);
  *corner = sr_pool_alloc(&m->r->pool, (size_t)(def->faces.n + 1) * sizeof **corner);
  for (int i = 0; i < def->vertices.n; i++) (*vertex)[i] = mesh->scale[i % 3] * def->vertices.numbers[i];
  for (int i = 0; i < def->faces.n; i++) {
    if (!(def->faces.numbers[i] >= 0 && def->faces.numbers[i] < n)) return false;
    (*corner)[i] = (int)def->faces.numbers[i];
  }
  return true;
}

static const char* const ways[] = {"legacy", "exact", "convex", "shell"};

// The attribute `inertia`; files of older versions have exactmeshinertia of <compiler>, and shellinertia of geoms.
srMjcfFilling sr_mjcf_mesh_filling(srMjcf* m, const srMjcfMesh* mesh, bool shell) {
  const srXmlAttribute* way = sr_mjcf_attribute(m, mesh->node, NULL, "inertia");
  const int before = sr_mjcf_compiler_of(m, mesh->node)->exact_mesh_inertia ? SR_MJCF_EXACT : SR_MJCF_LEGACY;
  if (!way && shell) return SR_MJCF_SHELL;
  return (srMjcfFilling)sr_mjcf_choice(m, way, ways, SR_COUNT(ways), before);
}

// An inside that is open, or turned inside out: MuJoCo refuses the second.
static void tell_exact(srMjcf* m, srMjcfMesh* mesh, const double* vertex, int nvertex, const int* corner, int n) {
  double com[3], J[9], gap;
  srm_solid(vertex, nvertex, corner, n, com, J, &gap);
  if (gap > 1e-6)
    sr_reader_warning(m->r, mesh->node->place,
                      "the mesh '%.60s' is not closed: its mass, by inertia=\"exact\", is what its triangles enclose "
                      "with the middle of them",
                      mesh->word);
  if (mesh->measure >= 0) return;
  sr_reader_warning(m->r, mesh->node->place,
                    "the triangles of the mesh '%.60s' are seen clockwise from outside: they are taken the other way "
                    "round; MuJoCo refuses them with inertia=\"exact\"",
                    mesh->word);
  mesh->measure = -mesh->measure;
  for (int k = 0; k < 9; k++) mesh->J[k] = -mesh->J[k];
}

static void tell_hull(srMjcf* m, const srMjcfMesh* mesh) {
  const srXmlAttribute* most = sr_mjcf_attribute(m, mesh->node, NULL, "maxhullvert");
  double value = -1;
  if (most && sr_mjcf_values(m, most, 1, 1, &value) == 1 && value > 3)
    sr_reader_warning(m->r, most->place,
                      "'maxhullvert' of the mesh '%.60s' is not used: its mass is that of the whole convex hull",
                      mesh->word);
}

bool sr_mjcf_mesh_weigh(srMjcf* m, srMjcfMesh* mesh, srMjcfFilling filling) {
  static const srmFilling fillings[] = {SRM_FILLED_UNSIGNED, SRM_FILLED, SRM_FILLED, SRM_SHELL};
  const srMeshDef* def = sr_mjcf_mesh_def(m, mesh);
  double* vertex;
  int* corner;
  if (mesh->weighed && mesh->filling == filling) return mesh->measure > 0;
  mesh->weighed = true;
  mesh->filling = filling;
  mesh->measure = 0;
  if (!def || !copy_triangles(m, mesh, def, &vertex, &corner)) return false;
  int n = def->faces.n / 3;
  if (filling == SR_MJCF_CONVEX) {
    tell_hull(m, mesh);
    n = srm_hull(&m->r->pool, vertex, def->vertices.n / 3, &corner);
  }
  mesh->measure = srm_filled(vertex, corner, n, fillings[filling], mesh->com, mesh->J);
  if (filling == SR_MJCF_EXACT) tell_exact(m, mesh, vertex, def->vertices.n / 3, corner, n);
  return mesh->measure > 0 && isfinite(mesh->measure);
}
