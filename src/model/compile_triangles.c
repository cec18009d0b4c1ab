// Meshes and height fields for contacts: their triangles, and what is wrong with them.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "collide/field.h"
#include "collide/mesh.h"
#include "model/compile.h"
#include "model/spec.h"

// Distance from the origin to the farthest corner of a box.
static double farthest(const double low[3], const double high[3]) {
  double square = 0;
  for (int k = 0; k < 3; k++) square += fmax(low[k] * low[k], high[k] * high[k]);
  return sqrt(square);
}

static void put_surface(srCompiler* c, srShapeKind kind, const srSurface* surface, srCollisionShape* out) {
  srSurface* kept = sr_pool_alloc(c->pool, sizeof *kept);
  double size = HUGE_VAL;
  *kept = *surface;
  out->convex.kind = kind;
  out->surface = out->body.surface = kept;
  out->flat = true;
  out->reach = farthest(out->body.low, out->body.high);
  for (int k = 0; k < 3; k++) {
    const double edge = out->body.high[k] - out->body.low[k];
    if (edge > 0) size = fmin(size, 0.5 * edge);
  }
  out->size = size;
}

// ---- meshes ---------------------------------------------------------------------------------------------------------------

// Faults of triangles are of interest where something may touch them.
static void tell_faults(srCompiler* c, int mesh, const srMeshReport* report) {
  const srMeshDef* def = srs_get(c->spec, SR_ELEMENT_MESH, mesh);
  const srPlace place = sr_c_place(c, SR_ELEMENT_MESH, mesh,
                                   sr_given(def->file) ? SR_FIELD(srMeshDef, file) : SR_FIELD(srMeshDef, faces));
  if (report->fault[SR_MESH_EMPTY].count > 0) {
    sr_c_error(
        c, place,
        "mesh '%s' has no triangle with an area, so that nothing can touch it: check 'vertices' and 'scale', or give "
        "the shape use=\"visual\"",
        c->m->mesh[mesh].name);
    return;
  }
  for (int i = 0; i < SR_MESH_FAULTS; i++) {
    const srMeshFaultKind k = (srMeshFaultKind)i;
    const srMeshFault* fault = &report->fault[k];
    if (fault->count == 0 || k == SR_MESH_DUPLICATE) continue;  // files of triangles have every vertex several times
    const char* text = sr_pool_printf(&c->scratch, "mesh '%s': %d %s; the first is %s %d", c->m->mesh[mesh].name,
                                      fault->count, sr_trimesh_fault_text(k), sr_trimesh_fault_item(k), fault->first);
    if (k <= SR_MESH_LAST_ERROR)
      sr_c_error(c, place, "%s", text);
    else
      sr_c_warning(c, place, "%s", text);
  }
}

// Once for each mesh. NULL: it has no triangles that something can touch.
static const srTriangleMesh* triangles_of(srCompiler* c, int k) {
  const srMesh* mesh = &c->m->mesh[k];
  srMeshReport report = {0};
  if (!c->priv->triangles) c->priv->triangles = sr_pool_alloc(c->pool, (size_t)c->m->nmesh * sizeof(srTriangleMesh*));
  if (c->priv->triangles[k] || mesh->ntriangle == 0) return c->priv->triangles[k];
  c->priv->triangles[k] = sr_trimesh_create(mesh->vertex, mesh->nvertex, mesh->triangle, mesh->ntriangle, &report);
  if (srs_count(c->spec, SR_ELEMENT_CONTACT) > 0) tell_faults(c, k, &report);
  return c->priv->triangles[k];
}

bool sr_c_mesh_surface(srCompiler* c, int i, const srShape* shape, srCollisionShape* out) {
  (void)i;
  const srTriangleMesh* triangles = shape->mesh >= 0 ? triangles_of(c, shape->mesh) : NULL;
  if (!triangles) return false;
  const srSurface surface = sr_trimesh_surface(triangles);
  const srMesh* mesh = &c->m->mesh[shape->mesh];
  sr_trimesh_bounds(triangles, out->body.low, out->body.high);
  put_surface(c, SR_KIND_MESH, &surface, out);
  out->convex.hull = sr_convex_hull_create(c->pool, mesh->vertex, mesh->nvertex);
  return true;
}

// ---- height fields ----------------------------------------------------------------------------------------------------------

static bool read_columns(srCompiler* c, int i, int n, srShape* shape) {
  const int field = SR_FIELD(srShapeDef, columns);
  double columns;
  const int given = sr_c_numbers(c, SR_ELEMENT_SHAPE, i, field, &columns, 1);
  if (given < 0) return false;
  if (given == 0) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_SHAPE, i), "'heights' need 'columns', the number of heights in a row");
    return false;
  }
  if (columns >= 2 && columns == floor(columns) && n / columns >= 2 && fmod(n, columns) == 0) {
    shape->columns = (int)columns;
    shape->rows = n / shape->columns;
    return true;
  }
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_SHAPE, i, field),
             "%d heights do not make rows of %g: a height field has two or more rows, of two or more each", n, columns);
  return false;
}

bool sr_c_field_heights(srCompiler* c, int i, srShape* shape) {
  const int field = SR_FIELD(srShapeDef, heights);
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  double* z;
  if (!sr_given(def->heights)) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_SHAPE, i),
               "a shape of type 'heightfield' needs 'heights' and 'columns', or 'file'");
    return false;
  }
  const int n = sr_c_all_numbers(c, SR_ELEMENT_SHAPE, i, field, c->pool, &z);
  if (n < 0 || !read_columns(c, i, n, shape)) return false;
  const double factor = shape->size[2] > 0 ? shape->size[2] : 1;
  for (int k = 0; k < n; k++) z[k] *= factor;
  shape->height = z;
  return true;
}

bool sr_c_field_surface(srCompiler* c, const srShape* shape, srCollisionShape* out) {
  if (!shape->height) return false;
  srHeightField* field = sr_pool_alloc(c->pool, sizeof *field);
  int at;
  *field = (srHeightField){.nx = shape->columns,
                           .ny = shape->rows,
                           .x0 = -0.5 * shape->size[0],
                           .y0 = -0.5 * shape->size[1],
                           .dx = shape->size[0] / (shape->columns - 1),
                           .dy = shape->size[1] / (shape->rows - 1),
                           .z = shape->height};
  if (sr_field_check(field, &at) != SR_FIELD_GOOD) {
    sr_c_error(c, shape->place, "the heights or the size of this height field are not finite");
    return false;
  }
  const double low[3] = {field->x0, field->y0, field->lowest}, high[3] = {-field->x0, -field->y0, field->highest};
  memcpy(out->body.low, low, sizeof low);
  memcpy(out->body.high, high, sizeof high);
  const srSurface surface = sr_field_surface(field);
  put_surface(c, SR_KIND_FIELD, &surface, out);
  return true;
}
