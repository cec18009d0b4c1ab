// Meshes of shapes: files recognised by their extension, read, and put into the spec once each; and the public interface to
// them.
#include "io/mesh/mesh.h"

#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/mesh/triangles.h"
#include "io/package.h"
#include "math/pose.h"
#include "model/spec.h"

#define FLAT 1e-9  // thickness of a mesh without a volume, of its length

// ------------------------------------------------------------------------------------------------------------ endings
static const struct Ending {
  const char* word;
  bool (*read)(srTriangleList* list, const char* text, size_t size);
} endings[] = {{"stl", sr_stl_read}, {"obj", sr_obj_read}, {"dae", sr_dae_read}};

bool sr_triangles_read(srTriangleList* list, const char* text, size_t size) {
  const char *dot = strrchr(list->file, '.'), *slash = strrchr(list->file, '/');
  if (!dot || (slash && dot < slash)) dot = "";
  const srWord ending = {*dot ? dot + 1 : dot, (int)strlen(*dot ? dot + 1 : dot), 0, 0};
  for (int i = 0; i < SR_COUNT(endings); i++)
    if (sr_word_is(&ending, endings[i].word)) return endings[i].read(list, text, size);
  if (sr_word_is(&ending, "msh"))
    sr_triangles_error(list, 0, 0, "MuJoCo's own binary format .msh is not read; save it as .stl, .obj or .dae");
  else
    sr_triangles_error(list, 0, 0, "the ending '%.20s' is not known; meshes are read from .stl, .obj and .dae", dot);
  return false;
}

// ------------------------------------------------------------------------------------------------------------- public
static srTriangles* keep(const srTriangles* got) {
  const size_t vertices = 3 * (size_t)got->nvertex * sizeof(double), corners = 3 * (size_t)got->ntriangle * sizeof(int);
  const size_t head = (sizeof(srTriangles) + 31) / 32 * 32;
  char* block = sr_alloc(head + vertices + corners);
  if (!block) return NULL;
  srTriangles* out = (srTriangles*)(void*)block;
  *out = *got;
  out->vertex = (double*)(void*)(block + head);
  out->triangle = (int*)(void*)(block + head + vertices);
  if (vertices) memcpy(out->vertex, got->vertex, vertices);
  if (corners) memcpy(out->triangle, got->triangle, corners);
  return out;
}

static srStatus read_guarded(srPool* pool, const char* path, srMessages* messages, srTriangles** out) {
  jmp_buf no_memory;
  size_t size;
  const char* reason = NULL;
  pool->on_fail = &no_memory;
  if (setjmp(no_memory) != 0) return SR_MEMORY;
  srTriangleList list = {.pool = pool, .file = path, .messages = messages};
  const char* text = sr_file_read(pool, path, SR_MESH_MAX_SIZE, &size, &reason);
  if (!text) {
    sr_triangles_error(&list, 0, 0, "%s", reason);
    return SR_IO;
  }
  if (!sr_triangles_read(&list, text, size)) return SR_INPUT;
  *out = keep(&list.got);
  return *out ? SR_OK : SR_MEMORY;
}

srStatus sr_mesh_read(const char* path, srMessages* messages, srTriangles** out) {
  srPool pool;
  sr_pool_init(&pool);
  *out = NULL;
  const srStatus status = read_guarded(&pool, path, messages, out);
  sr_pool_free(&pool);
  return status;
}

void sr_mesh_destroy(srTriangles* triangles) { sr_free(triangles); }

// -------------------------------------------------------------------------------------------------------- into a spec
// Messages of the reader of a mesh; its errors are warnings here: a model moves without its pictures.
static void pass_on(srReader* r, const srMessages* from) {
  enum { SHOWN = 3 };
  const int n = sr_messages_count(from);
  for (int i = 0; i < n && i < SHOWN; i++) {
    const srSeverity severity = sr_messages_get(from, i)->severity;
    sr_messages_pass(r->messages, from, i, severity == SR_SEVERITY_ERROR ? SR_SEVERITY_WARNING : severity);
  }
}

static void put_triangles(srPool* pool, const srTriangles* got, srMeshDef* def) {
  double* faces = sr_pool_alloc(pool, 3 * (size_t)got->ntriangle * sizeof *faces);
  double* vertices = sr_pool_alloc(pool, 3 * (size_t)got->nvertex * sizeof *vertices);
  for (int i = 0; i < 3 * got->ntriangle; i++) faces[i] = got->triangle[i];
  if (got->nvertex > 0) memcpy(vertices, got->vertex, 3 * (size_t)got->nvertex * sizeof *vertices);
  def->vertices = (srAttr){.numbers = vertices, .n = 3 * got->nvertex, .place = def->file.place};
  def->faces = (srAttr){.numbers = faces, .n = 3 * got->ntriangle, .place = def->file.place};
}

// Reads the file at path; false after warnings.
static bool fill_from(srReader* r, const char* path, srPool* pool, srMeshDef* def) {
  const bool quotes = sr_root_reaches(r, path, SR_REACH_TEXT);  // first: it may leave by longjmp
  if (!sr_spec_add_file(r->spec, path)) longjmp(*r->pool.on_fail, 1);
  srMessages* said = sr_messages_create();
  srTriangles* got = NULL;
  if (!said) longjmp(*r->pool.on_fail, 1);
  const srStatus status = sr_mesh_read(path, said, &got);
  if (quotes) pass_on(r, said);  // else nothing of its contents is reported
  sr_messages_destroy(said);
  if (status == SR_MEMORY) longjmp(*r->pool.on_fail, 1);
  if (status != SR_OK) {
    sr_reader_warning(r, def->file.place, "the mesh '%.200s' cannot be read: it has no triangles", path);
    return false;
  }
  if (got->ntriangle == 0) sr_reader_warning(r, def->file.place, "the mesh '%.200s' has no triangles", path);
  jmp_buf *outer = pool->on_fail, here;
  pool->on_fail = &here;
  const bool failed = setjmp(here) != 0;
  if (!failed && got->ntriangle > 0) put_triangles(pool, got, def);
  pool->on_fail = outer;
  sr_mesh_destroy(got);
  if (failed) longjmp(*r->pool.on_fail, 1);
  return true;
}

// --------------------------------------------------------------------------------------------------------------- uses
// Files that were not found in the same place: a package, or a folder.
typedef struct Missing {
  srLookup lookup;
  const char* folder;  // without a package; NULL: no folder, only places
  const char* only;    // the first as it is written
  const char* list;    // those of them that are shown
  srPlace first;
  int n;
} Missing;

struct srMeshUses {
  srNames files;  // "scale, folder, uri" and "scale, path" -> index in the spec
  srNames names;  // of all meshes in the spec
  int known;      // meshes of the spec that are in names
  srNames told;   // files that are missing
  srNames missing_names;
  Missing* missing;
  int nmissing, missing_capacity;
};

static struct srMeshUses* uses_of(srReader* r) {
  if (!r->meshes) {
    r->meshes = sr_pool_alloc(&r->pool, sizeof *r->meshes);
    sr_names_init(&r->meshes->files, &r->pool);
    sr_names_init(&r->meshes->names, &r->pool);
    sr_names_init(&r->meshes->told, &r->pool);
    sr_names_init(&r->meshes->missing_names, &r->pool);
  }
  struct srMeshUses* u = r->meshes;
  for (; u->known < srs_count(r->spec, SR_ELEMENT_MESH); u->known++) {  // those that others have added
    const srMeshDef* def = srs_get(r->spec, SR_ELEMENT_MESH, u->known);
    if (def->name.text) sr_names_put(&u->names, def->name.text, u->known);
  }
  return u;
}

// ------------------------------------------------------------------------------------------------------------- missing
// The list that a missing file belongs to.
static Missing* missing_of(srReader* r, struct srMeshUses* u, const srLookup* lookup) {
  const bool path =
      !lookup->package && !lookup->outside && lookup->places && strncmp(lookup->places, "nothing:", 8) != 0;
  const char* folder = path ? sr_path_folder(&r->pool, lookup->places) : NULL;
  const char* key = sr_pool_printf(&r->pool, "%s: %s", lookup->package ? lookup->package : "",
                                   lookup->outside  ? lookup->outside
                                   : folder         ? folder
                                   : lookup->places ? lookup->places
                                                    : "");
  int i = sr_names_find(&u->missing_names, key);
  if (i < 0) {
    i = u->nmissing;
    SR_PUSH(&r->pool, u->missing, u->nmissing, u->missing_capacity) = (Missing){.lookup = *lookup, .folder = folder};
    sr_names_put(&u->missing_names, key, i);
  }
  return &u->missing[i];
}

static void remember_missing(srReader* r, const char* uri, const srLookup* lookup, srPlace place) {
  enum { SHOWN = 12 };
  struct srMeshUses* u = uses_of(r);
  if (!sr_names_put(&u->told, sr_pool_text(&r->pool, uri), 0)) return;
  Missing* m = missing_of(r, u, lookup);
  const char* file = uri;
  if (lookup->package) file = strchr(strstr(uri, "://") + 3, '/') + 1;
  if (m->folder) file = strrchr(uri, '/') ? strrchr(uri, '/') + 1 : uri;
  if (m->n == 0) {
    m->first = place;
    m->only = sr_pool_text(&r->pool, uri);
    m->list = sr_pool_printf(&r->pool, "'%.200s'", file);
  } else if (m->n < SHOWN) {
    m->list = sr_pool_printf(&r->pool, "%s, '%.200s'", m->list, file);
  } else if (m->n == SHOWN) {
    m->list = sr_pool_printf(&r->pool, "%s, ...", m->list);
  }
  m->n++;
}

static void tell(srReader* r, const Missing* m) {
// A kind of its own: what is missing in one place is one message already.
#define SAY(...)                                                                                                       \
  sr_messages_add(r->messages, SR_SEVERITY_WARNING, m->first, "%s", sr_pool_printf(&r->pool, __VA_ARGS__))
  const srLookup* at = &m->lookup;
  const char* count =
      m->n == 1 ? "1 mesh has no triangles" : sr_pool_printf(&r->pool, "%d meshes have no triangles", m->n);
  if (at->outside)
    SAY("%s: %s: not read, because '%s' is outside of the folder and the package of the model; --package %s allows "
        "it",
        count, m->list, at->outside, at->outside);
  else if (!at->places)
    SAY("%s, because the model comes from memory and has no folder: %s", count, m->list);
  else if (at->package && at->has_package)
    SAY("the package '%s' has not all of its files: %s: %s; searched in %s", at->package, count, m->list, at->places);
  else if (at->package)
    SAY("the package '%s' is not found: %s: %s; searched in %s; give its location with --package %s=FOLDER",
        at->package, count, m->list, at->places, at->package);
  else if (m->n == 1)
    SAY("the mesh '%s' is not found: it has no triangles; tried %s", m->only, at->places);
  else
    SAY("files in %s are not found: %s: %s", m->folder ? m->folder : at->places, count, m->list);
#undef SAY
}

void sr_mesh_tell_missing(srReader* r) {
  for (int i = 0; r->meshes && i < r->meshes->nmissing; i++) tell(r, &r->meshes->missing[i]);
  if (r->meshes) r->meshes->nmissing = 0;
}

bool sr_mesh_fill(srReader* r, const srImport* how, srPool* pool, srMeshDef* def) {
  srLookup lookup;
  const char* path = sr_package_find(r, how, def->file.text, SR_REACH_MESH, &lookup);
  if (path) return fill_from(r, path, pool, def);
  remember_missing(r, def->file.text, &lookup, def->file.place);
  return false;
}

// ---------------------------------------------------------------------------------------------------------- use by name
// "package://arm/meshes/Elbow.v2.STL" -> "Elbow.v2"
static const char* stem_of(srReader* r, const char* uri) {
  const char* last = strrchr(uri, '/');
  last = last ? last + 1 : uri;
  const char* dot = strrchr(last, '.');
  return sr_pool_text_n(&r->pool, last, dot && dot != last ? (size_t)(dot - last) : strlen(last));
}

const char* sr_mesh_new_name(srReader* r, const char* wish) { return sr_reader_name(r, wish, &uses_of(r)->names); }

// The attribute `file` of the spec: as it is seen from the folder of the model.
static const char* file_of(srReader* r, const srImport* how, const char* uri, const char* path) {
  if (path) return sr_path_relative(&r->pool, r->folder, path);
  if (sr_path_is_fixed(uri)) return uri;
  return sr_path_seen_from(&r->pool, r->folder, how->folder, uri);
}

// A mesh of its own; path NULL: the file was not found. Its index in the spec.
static int add_mesh(srReader* r, srPool* pool, const char* path, srMeshDef* def, const double scale[3], srPlace place) {
  if (scale[0] != 1 || scale[1] != 1 || scale[2] != 1) def->scale = (srAttr){.numbers = scale, .n = 3, .place = place};
  if (path) (void)fill_from(r, path, pool, def);
  return srs_add(r->spec, SR_ELEMENT_MESH, SR_NO_OWNER, def, &place);
}

// With memory of its own: r->text holds the referring element.
static int add_guarded(srReader* r, const char* path, srMeshDef* def, const double scale[3], srPlace place) {
  srPool pool;
  sr_pool_init(&pool);
  jmp_buf *outer = r->pool.on_fail, here;
  r->pool.on_fail = pool.on_fail = &here;
  volatile int index = -1;
  if (setjmp(here) == 0) index = add_mesh(r, &pool, path, def, scale, place);
  r->pool.on_fail = outer;
  sr_pool_free(&pool);
  if (index < 0) longjmp(*outer, 1);
  return index;
}

// In a native model file {...} is a formula: a path with such characters cannot be kept as it is.
static const char* without_braces(srReader* r, const char* path) {
  if (!strpbrk(path, "{}")) return path;
  char* text = sr_pool_text(&r->pool, path);
  for (char* p = text; *p; p++)
    if (*p == '{' || *p == '}') *p = '_';
  return text;
}

const char* sr_mesh_use(srReader* r, const srImport* how, const char* uri, const double scale[3], const char* name,
                        srPlace place) {
  struct srMeshUses* u = uses_of(r);
  srLookup lookup;
  const char* size = sr_pool_printf(&r->pool, "%.17g %.17g %.17g", scale[0], scale[1], scale[2]);
  const char* asked = sr_pool_printf(&r->pool, "%s in %s: %s", size, how->folder ? how->folder : "", uri);
  int index = sr_names_find(&u->files, asked);
  if (index < 0) {
    const char* path = sr_package_find(r, how, uri, SR_REACH_MESH, &lookup);
    const char* found = sr_pool_printf(&r->pool, "%s at %s", size, path ? path : uri);
    index = sr_names_find(&u->files, found);
    if (index < 0) {
      srMeshDef def = {.file = {.text = uri, .place = place}};
      if (!path) remember_missing(r, uri, &lookup, place);
      def.file.text = without_braces(r, file_of(r, how, uri, path));
      def.name = (srAttr){.text = sr_mesh_new_name(r, name ? name : stem_of(r, uri)), .place = place};
      index = add_guarded(r, path, &def, scale, place);
      u->known = srs_count(r->spec, SR_ELEMENT_MESH);
      sr_names_put(&u->files, found, index);
    }
    sr_names_put(&u->files, asked, index);
  }
  return ((const srMeshDef*)srs_get(r->spec, SR_ELEMENT_MESH, index))->name.text;
}

// ------------------------------------------------------------------------------------------------------------- volume
static double measure(const double* origin, const double* x, double basis[3][3], int n, double rest[3]) {
  for (int k = 0; k < 3; k++) rest[k] = x[k] - origin[k];
  for (int i = 0; i < n; i++) {
    const double along = srm_dot3(rest, basis[i]);
    for (int k = 0; k < 3; k++) rest[k] -= along * basis[i][k];
  }
  return srm_norm3(rest);
}

// The farthest point from the first one, then from the line, then from the plane of those before.
static bool spans_volume(const double* x, int n) {
  double basis[3][3], first = 0;
  for (int axis = 0; axis < 3; axis++) {
    double most = 0, rest[3], best[3] = {0};
    for (int i = 1; i < n; i++) {
      const double length = measure(x, x + 3 * i, basis, axis, rest);
      if (!(length > most)) continue;
      most = length;
      memcpy(best, rest, sizeof best);
    }
    if (axis == 0) first = most;
    if (!(most > FLAT * first)) return false;
    for (int k = 0; k < 3; k++) basis[axis][k] = best[k] / most;
  }
  return true;
}

bool sr_mesh_has_volume(const srReader* r, const char* name) {
  for (int i = srs_count(r->spec, SR_ELEMENT_MESH) - 1; i >= 0; i--) {
    const srMeshDef* def = srs_get(r->spec, SR_ELEMENT_MESH, i);
    if (def->name.text && strcmp(def->name.text, name) == 0)
      return def->vertices.numbers && spans_volume(def->vertices.numbers, def->vertices.n / 3);
  }
  return false;
}
