// Meshes and shapes into the model: scaled triangles, and the pose of each shape on its body. Types, sizes and materials
// of shapes are checked with their inertia (compile_inertia.c).
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "math/hull.h"
#include "model/compile.h"
#include "model/spec.h"

// -------------------------------------------------------------------------------------------------------------- meshes
int sr_c_all_numbers(srCompiler* c, srElementKind kind, int i, int field, srPool* pool, double** out) {
  const srAttr* attr = sr_c_attr(c, kind, i, field);
  const int most = attr->text ? (int)strlen(attr->text) / 2 + 1 : attr->n;
  *out = sr_pool_alloc(pool, ((size_t)most + 1) * sizeof **out);
  if (attr->text || !attr->numbers) return sr_c_numbers(c, kind, i, field, *out, most);
  memcpy(*out, attr->numbers, (size_t)attr->n * sizeof **out);  // of a file: too many to split
  for (int k = 0; k < attr->n; k++) {
    if (isfinite((*out)[k])) continue;
    sr_c_error(c, sr_c_place(c, kind, i, field), "number %d of '%s' is not finite", k,
               srs_element(kind)->fields[field].word);
    return -1;
  }
  return attr->n;
}

static bool scale_of(srCompiler* c, int i, double scale[3]) {
  const int field = SR_FIELD(srMeshDef, scale);
  const int n = sr_c_numbers(c, SR_ELEMENT_MESH, i, field, scale, 3);
  if (n < 0) return false;
  if (n == 1) scale[1] = scale[2] = scale[0];
  for (int k = 0; k < 3; k++) {
    if (scale[k] != 0) continue;
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_MESH, i, field), "'scale' of a mesh must not be zero");
    return false;
  }
  return true;
}

static bool read_vertices(srCompiler* c, int i, const double scale[3], srMesh* out) {
  const int field = SR_FIELD(srMeshDef, vertices);
  double* x;
  const int n = sr_c_all_numbers(c, SR_ELEMENT_MESH, i, field, c->pool, &x);
  if (n < 0) return false;
  if (n % 3 != 0) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_MESH, i, field), "'vertices' takes three numbers each, got %d numbers", n);
    return false;
  }
  for (int k = 0; k < n; k++) {
    x[k] *= scale[k % 3];
    if (isfinite(x[k])) continue;
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_MESH, i, field), "vertex %d is not finite when it is scaled", k / 3);
    return false;
  }
  out->nvertex = n / 3;
  out->vertex = x;
  return true;
}

static bool read_faces(srCompiler* c, int i, bool mirrored, srMesh* out) {
  const int field = SR_FIELD(srMeshDef, faces);
  const srPlace place = sr_c_place(c, SR_ELEMENT_MESH, i, field);
  double* x;
  const int n = sr_c_all_numbers(c, SR_ELEMENT_MESH, i, field, &c->scratch, &x);
  if (n < 0) return false;
  if (n % 3 != 0) {
    sr_c_error(c, place, "'faces' takes three indices each, got %d numbers", n);
    return false;
  }
  int* index = sr_pool_alloc(c->pool, ((size_t)n + 1) * sizeof *index);
  for (int k = 0; k < n; k++) {
    if (!(x[k] >= 0 && x[k] < out->nvertex && x[k] == floor(x[k]))) {
      sr_c_error(c, place, "face %d of mesh '%s' has the corner %g; its vertices are 0 to %d", k / 3, out->name, x[k],
                 out->nvertex - 1);
      return false;
    }
    const int corner = k % 3;  // mirrored: the last two are swapped
    index[k - corner + (mirrored && corner > 0 ? 3 - corner : corner)] = (int)x[k];
  }
  out->ntriangle = n / 3;
  out->triangle = index;
  return true;
}

static void compile_mesh(srCompiler* c, int i, srMesh* out) {
  const srMeshDef* def = srs_get(c->spec, SR_ELEMENT_MESH, i);
  const char* name = sr_c_text(c, SR_ELEMENT_MESH, i, SR_FIELD(srMeshDef, name));
  const srPlace place = srs_place(c->spec, SR_ELEMENT_MESH, i);
  double scale[3];
  *out = (srMesh){.name = sr_pool_text(c->pool, name ? name : ""), .place = sr_c_kept_place(c, SR_ELEMENT_MESH, i)};
  out->file = sr_pool_text(c->pool, def->file.text);
  if (!name) return;
  (void)sr_c_new_name(c, &c->meshes, out->name, i, "mesh",
                      sr_c_place(c, SR_ELEMENT_MESH, i, SR_FIELD(srMeshDef, name)));
  if (!scale_of(c, i, scale)) return;
  if (!sr_given(def->vertices) && !sr_given(def->file))
    sr_c_error(c, place, "mesh '%s' needs 'file', or 'vertices' and 'faces' (of a hull 'vertices' alone)", name);
  else if (sr_given(def->vertices) && read_vertices(c, i, scale, out) && sr_given(def->faces) &&
           !read_faces(c, i, scale[0] * scale[1] * scale[2] < 0, out))
    out->nvertex = 0;  // reported: shapes with it are not
  // A file without vertices was not found: the reader has reported it.
}

// -------------------------------------------------------------------------------------------------------------- hulls
// The corners among the vertices, in their order, and the triangles between them.
static void keep_hull(srCompiler* c, const int* triangle, int n, srMesh* mesh) {
  int* index = sr_pool_alloc(&c->scratch, ((size_t)mesh->nvertex + 1) * sizeof *index);
  int* hull = sr_pool_alloc(c->pool, 3 * (size_t)n * sizeof *hull);
  double* corner = sr_pool_alloc(c->pool, 3 * (size_t)mesh->nvertex * sizeof *corner);
  for (int k = 0; k < 3 * n; k++) index[triangle[k]] = 1;
  for (int i = 0; i < mesh->nvertex; i++) {
    if (index[i] == 0) continue;
    memcpy(corner + 3 * (size_t)mesh->ncorner, mesh->vertex + 3 * (size_t)i, 3 * sizeof *corner);
    index[i] = mesh->ncorner++;
  }
  for (int k = 0; k < 3 * n; k++) hull[k] = index[triangle[k]];
  mesh->nhull = n;
  mesh->corner = corner;
  mesh->hull = hull;
}

// A file that was not found has been reported; then there is nothing to touch.
static void make_hull(srCompiler* c, int shape, srMesh* mesh) {
  int* triangle = NULL;
  if (mesh->nhull > 0 || mesh->nvertex == 0) return;
  const int n = srm_hull(&c->scratch, mesh->vertex, mesh->nvertex, &triangle);
  if (n > 0)
    keep_hull(c, triangle, n, mesh);
  else
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_SHAPE, shape, SR_FIELD(srShapeDef, mesh)),
               "the vertices of mesh '%s' are in a plane: a hull needs a volume", mesh->name);
}

static void make_hulls(srCompiler* c, srMesh* mesh) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_SHAPE); i++) {
    const char* type = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, type));
    const char* name = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, mesh));
    const int k = type && name && strcmp(type, "hull") == 0 ? sr_names_find(&c->meshes, name) : -1;
    if (k >= 0) make_hull(c, i, &mesh[k]);
  }
}

void sr_compile_meshes(srCompiler* c) {
  const int n = srs_count(c->spec, SR_ELEMENT_MESH);
  srMesh* mesh = sr_pool_alloc(c->pool, ((size_t)n + 1) * sizeof *mesh);
  for (int i = 0; i < n; i++) compile_mesh(c, i, &mesh[i]);
  make_hulls(c, mesh);
  c->m->nmesh = n;
  c->m->mesh = mesh;
}

int sr_c_mesh(srCompiler* c, int shape) {
  const int field = SR_FIELD(srShapeDef, mesh);
  const char* type = sr_c_text(c, SR_ELEMENT_SHAPE, shape, SR_FIELD(srShapeDef, type));
  const char* name = sr_c_text(c, SR_ELEMENT_SHAPE, shape, field);
  if (!name) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_SHAPE, shape), "a shape of type '%s' needs the attribute 'mesh'", type);
    return -1;
  }
  const srPlace place = sr_c_place(c, SR_ELEMENT_SHAPE, shape, field);
  const int k = sr_c_find(c, &c->meshes, name, "mesh", place);
  if (k < 0 || strcmp(type, "mesh") != 0 || c->m->mesh[k].nvertex == 0 || c->m->mesh[k].ntriangle > 0) return k;
  sr_c_error(c, place, "mesh '%s' has 'vertices' and needs 'faces' too; type=\"hull\" needs none", name);
  return -1;
}

// -------------------------------------------------------------------------------------------------------------- shapes
static const char* const types[] = {
#define SR_WORD(NAME, word) word,
    SR_SHAPE_LIST(SR_WORD)
#undef SR_WORD
};

const char* sr_shape_word(srShapeType type) { return (unsigned)type < SR_COUNT(types) ? types[type] : ""; }

static void read_color(srCompiler* c, int i, srShape* out) {
  static const double grey[4] = {0.5, 0.5, 0.5, 1};
  const int field = SR_FIELD(srShapeDef, color);
  memcpy(out->color, grey, sizeof grey);
  out->has_color = sr_c_numbers(c, SR_ELEMENT_SHAPE, i, field, out->color, 4) == 4;
  bool beyond = false;
  for (int k = 0; k < 4; k++) {
    const double within = fmin(1, fmax(0, out->color[k]));
    beyond |= within != out->color[k];
    out->color[k] = within;
  }
  if (beyond)
    sr_c_warning(c, sr_c_place(c, SR_ELEMENT_SHAPE, i, field), "'color' has numbers beyond 0 to 1: they are cut there");
}

static void compile_shape(srCompiler* c, int i, srShape* out) {
  const int owner = srs_owner(c->spec, SR_ELEMENT_SHAPE, i);
  const char* type = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, type));
  const char* use = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, use));
  *out = (srShape){.body = owner >= 0 ? c->body_of_spec[owner] : 0, .mesh = -1};
  while (out->type < SR_SHAPE_TYPES - 1 && strcmp(types[out->type], type) != 0) out->type++;
  out->use = strcmp(use, "visual") == 0      ? SR_SHAPE_VISUAL
             : strcmp(use, "collision") == 0 ? SR_SHAPE_COLLISION
                                             : SR_SHAPE_BOTH;
  out->name = sr_pool_text(c->pool, sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, name)));
  out->group = sr_pool_text(c->pool, sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, group)));
  out->material = sr_pool_text(c->pool, sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, material)));
  out->place = sr_c_kept_place(c, SR_ELEMENT_SHAPE, i);
  (void)sr_c_numbers(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, size), out->size, 3);
  (void)sr_c_pose(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, at), SR_FIELD(srShapeDef, rot),
                  SR_FIELD(srShapeDef, rpy), out->pose);
  read_color(c, i, out);
  if (out->type == SR_SHAPE_MESH || out->type == SR_SHAPE_HULL) out->mesh = sr_c_mesh(c, i);
  if (out->type == SR_SHAPE_HEIGHTFIELD) (void)sr_c_field_heights(c, i, out);
}

// ------------------------------------------------------------------------------------------------------------ contacts
static const srMesh* hull_of(const srCompiler* c, const srShape* shape) {
  const srMesh* mesh = shape->type == SR_SHAPE_HULL ? &c->m->mesh[shape->mesh] : NULL;
  return mesh && mesh->nhull > 0 ? mesh : NULL;
}

// Half of the lengths and edges of the file.
static srConvex convex_of(srCompiler* c, const srShape* shape) {
  const double *s = shape->size, half[3] = {0.5 * s[0], 0.5 * s[1], 0.5 * s[2]};
  const srMesh* hull = hull_of(c, shape);
  switch (shape->type) {
    case SR_SHAPE_SPHERE: return s[0] > 0 ? sr_convex_sphere(s[0]) : (srConvex){.kind = SR_KIND_HOLLOW};
    case SR_SHAPE_BOX: return sr_convex_box(half);
    case SR_SHAPE_CYLINDER: return s[0] > 0 ? sr_convex_cylinder(half[1], s[0]) : (srConvex){.kind = SR_KIND_BORE};
    case SR_SHAPE_CAPSULE: return sr_convex_capsule(half[1], s[0]);
    case SR_SHAPE_CONE: return sr_convex_cone(half[1], s[0]);
    case SR_SHAPE_ELLIPSOID: return sr_convex_ellipsoid(s);
    case SR_SHAPE_PLANE: return sr_convex_plane();
    case SR_SHAPE_HULL:
      if (hull) return sr_convex_of_hull(sr_convex_hull_create(c->pool, hull->corner, hull->ncorner));
      break;
    default: break;
  }
  return (srConvex){.kind = SR_KIND_NONE};
}

// Shapes with flat faces.
static bool body_of(srCompiler* c, const srShape* shape, srPatchBody* out) {
  const double *s = shape->size, half[3] = {0.5 * s[0], 0.5 * s[1], 0.5 * s[2]};
  const srMesh* hull = hull_of(c, shape);
  *out = (srPatchBody){.z = {-half[1], half[1]}, .radius = {s[0], shape->type == SR_SHAPE_CONE ? 0 : s[0]}};
  switch (shape->type) {
    case SR_SHAPE_PLANE: out->polytope = &sr_half_space; return true;
    case SR_SHAPE_BOX: out->polytope = sr_polytope_of_box(c->pool, half); return true;
    case SR_SHAPE_HULL:
      if (hull) out->polytope = sr_polytope_of_hull(c->pool, hull->corner, hull->ncorner);
      return out->polytope != NULL;
    case SR_SHAPE_CYLINDER:
    case SR_SHAPE_CONE: return s[0] > 0;
    default: return false;
  }
}

// A length for the bristles of rolling and spinning, and for how far contacts are searched: the least of its sizes.
static double size_of(const srShape* shape, const srConvex* convex) {
  const double* s = shape->size;
  switch (shape->type) {
    case SR_SHAPE_SPHERE:
    case SR_SHAPE_CAPSULE: return s[0];
    case SR_SHAPE_BOX: return 0.5 * fmin(s[0], fmin(s[1], s[2]));
    case SR_SHAPE_CYLINDER:
    case SR_SHAPE_CONE: return fmin(s[0], 0.5 * s[1]);
    case SR_SHAPE_ELLIPSOID: return fmin(s[0], fmin(s[1], s[2]));
    case SR_SHAPE_PLANE: return HUGE_VAL;
    default: return 0.5 * sr_convex_reach(convex);
  }
}

static bool surface_of(srCompiler* c, int i, const srShape* shape, srCollisionShape* out) {
  if (shape->type == SR_SHAPE_MESH) return sr_c_mesh_surface(c, i, shape, out);
  if (shape->type == SR_SHAPE_HEIGHTFIELD) return sr_c_field_surface(c, shape, out);
  if (shape->type == SR_SHAPE_SURFACE) return sr_c_smooth_surface(c, i, out);
  return false;
}

static void collision_of(srCompiler* c, int i, const srShape* shape, srCollisionShape* out) {
  *out = (srCollisionShape){.convex = {.kind = SR_KIND_NONE}, .belt = -1};
  if (shape->use == SR_SHAPE_VISUAL || surface_of(c, i, shape, out)) return;
  out->convex = convex_of(c, shape);
  out->reach = out->convex.kind == SR_KIND_HOLLOW ? HUGE_VAL : sr_convex_reach(&out->convex);
  out->size = size_of(shape, &out->convex);
  out->flat = body_of(c, shape, &out->body);
}

// parent < child
static void find_welds(srCompiler* c) {
  const srModel* m = c->m;
  int* weld = sr_pool_alloc(c->pool, ((size_t)m->nbody + 1) * sizeof *weld);
  for (int b = 1; b <= m->nbody; b++) weld[b] = b;
  for (int j = 0; j < m->njoint; j++) {
    if (m->joint_type[j] == SR_JOINT_WELD) weld[m->joint_body[j]] = 0;
  }
  for (int b = 1; b <= m->nbody; b++) {
    if (weld[b] == 0) weld[b] = weld[m->body_parent[b]];
  }
  c->priv->body_weld = weld;
}

void sr_compile_shapes(srCompiler* c) {
  const int n = srs_count(c->spec, SR_ELEMENT_SHAPE);
  srShape* shape = sr_pool_alloc(c->pool, ((size_t)n + 1) * sizeof *shape);
  srCollisionShape* collision = sr_pool_alloc(c->pool, ((size_t)n + 1) * sizeof *collision);
  for (int i = 0; i < n; i++) {
    compile_shape(c, i, &shape[i]);
    collision_of(c, i, &shape[i], &collision[i]);
  }
  c->m->collision = c->collision = collision;
  find_welds(c);
  c->m->nshape = n;
  c->m->shape = shape;
}
