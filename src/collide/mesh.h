// Triangle meshes for contact: neighbours, a tree of bounding boxes, and what is wrong with the triangles of a file. On math alone.
#ifndef SR_COLLIDE_MESH_H
#define SR_COLLIDE_MESH_H

#include "collide/surface.h"

// What can be wrong with a mesh. Those up to SR_MESH_LAST_ERROR leave nothing to touch; the others are mended or tolerated.
typedef enum srMeshFaultKind {
  SR_MESH_EMPTY,       // no triangles, or none with an area
  SR_MESH_INDEX,       // a triangle names a vertex that is not there
  SR_MESH_NOT_FINITE,  // a coordinate is not finite, or beyond 1e15
  SR_MESH_LAST_ERROR = SR_MESH_NOT_FINITE,
  SR_MESH_DEGENERATE,  // triangles without area: left out
  SR_MESH_REPEATED,    // triangles with the same corners as one before: left out
  SR_MESH_DUPLICATE,   // vertices at the place of one before: made one
  SR_MESH_OPEN,        // edges of one triangle: a hole, or the border of a surface; it is not solid
  SR_MESH_CROWDED,     // edges of more than two triangles; it is not solid
  SR_MESH_FLIPPED,     // edges whose two triangles are wound oppositely; it is not solid
  SR_MESH_INVERTED,    // closed, and all normals point inward: turned round
  SR_MESH_FAULTS
} srMeshFaultKind;

typedef struct srMeshFault {
  int count;
  int first;  // index, as given, of the first vertex or triangle concerned (of an edge: a triangle that has it)
} srMeshFault;

typedef struct srMeshReport {
  srMeshFault fault[SR_MESH_FAULTS];
  bool solid;     // closed and consistently wound: it has an inside
  double volume;  // of the inside, where it is solid
} srMeshReport;

// The fault as a part of a sentence behind its count, "triangles without area are left out", and what its index counts: "vertex" or
// "triangle".
const char* sr_trimesh_fault_text(srMeshFaultKind kind);
const char* sr_trimesh_fault_item(srMeshFaultKind kind);

typedef struct srTriangleMesh srTriangleMesh;

// vertex: nvertex x 3; corner: ntriangle x 3, indices of vertices from 0 on, counterclockwise from outside. NULL: out of memory, or one of
// the errors, which the report has. Triangles of the mesh are those that remain, in their order.
srTriangleMesh* sr_trimesh_create(const double* vertex, int nvertex, const int* corner, int ntriangle,
                                  srMeshReport* report);
void sr_trimesh_destroy(srTriangleMesh* mesh);

int sr_trimesh_triangles(const srTriangleMesh* mesh);
int sr_trimesh_given(const srTriangleMesh* mesh, int triangle);  // its index among the triangles as they were given
void sr_trimesh_bounds(const srTriangleMesh* mesh, double low[3], double high[3]);

// The mesh as a surface; it holds the mesh by reference.
srSurface sr_trimesh_surface(const srTriangleMesh* mesh);

// Distance of a point from the nearest triangle. Returns that triangle.
int sr_trimesh_nearest(const srTriangleMesh* mesh, const double point[3], double* distance);

#endif
