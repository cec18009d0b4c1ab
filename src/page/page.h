// Parts of a page: page.c rows and file | rows.c what is in a row | describe.c the model as JSON | triangles.c its surfaces | pack.c numbers | deflate.c compression | glb.c glTF | solid.c its surfaces
#ifndef SR_PAGE_INTERNAL_H
#define SR_PAGE_INTERNAL_H

#include <sarrus/page.h>

#include "base/base.h"

#define SR_POSE_NUMBERS 7  // x y z, quaternion w x y z

// The model for the front end (page/src/data.js reads it). triangles: where the vertices and triangles of its surfaces go, as bytes.
void sr_page_describe(const srModel* m, srJson* json, srText* triangles);

// What is recorded for pages: the requests of the user (n), then forces of contacts and springs where there are not too many. False: out of memory; to be
// freed in any case. The requests must outlive it.
typedef struct srPageWish {
  srPool pool;
  const char** record;
  int n;
} srPageWish;
bool sr_page_wish(const srModel* m, const char* const* record, int n, srPageWish* out);
void sr_page_wish_free(srPageWish* wish);
void sr_page_put_columns(srJson* json, const srColumns* columns);  // "columns": [{name, unit}, ...], all but t

// Poses of all bodies at d's state, nbody x SR_POSE_NUMBERS. before: those of the row before; NULL: there is none.
void sr_page_poses(const srData* d, const float* before, float* out);

// Vertices (float32, 3 each) and triangles (uint32, 3 each) of a surface, in the order of the machine's bytes.
typedef struct srPageTriangles {
  int nvertex, ntriangle;
  size_t vertex, triangle;  // first byte of each
} srPageTriangles;
srPageTriangles sr_page_triangles_of_mesh(const srMesh* mesh, bool hull, srText* out);
srPageTriangles sr_page_triangles_of_field(const srShape* shape, srText* out);
srPageTriangles sr_page_triangles_of_surface(const struct srCollisionShape* shape, srText* out);  // none: nvertex is 0

// A surface as bytes, in the frame of its shape (solid.c): vertices and normals (float32, 3 each; without normals: flat), triangles (uint32, 3 each). All zero: empty.
typedef struct srPageSolid {
  srText vertex, normal, face;
  int nvertex, ntriangle;
} srPageSolid;
void sr_page_solid_of_shape(const srModel* m, int shape, srPageSolid* out);  // of a plane nothing: it is unbounded
void sr_page_solid_capsule(double radius, double length, srPageSolid* out);
void sr_page_solid_square(double half, srPageSolid* out);  // z = 0
void sr_page_solid_free(srPageSolid* s);

// The rows that a page has.
typedef struct srPageRows {
  const srModel* m;
  size_t n;
  const double* t;
  const float* pose;  // n x nbody x SR_POSE_NUMBERS
} srPageRows;
srPageRows sr_page_rows(const srPage* page);

// The modes of a page: as JSON, and their poses, phases of all modes x bodies x 7.
void sr_page_put_modes(srJson* json, const srPage* page, const char* stability);
const float* sr_page_phases(const srPage* page);

// Columns of numbers that change little from row to row: for each column the differences of the bits of one row to the next, their sign in
// the lowest bit, and of these first all lowest bytes, then all second ones ... Nothing is lost, and what remains is mostly zeros.
// width: bytes of a number, 4 or 8. x: rows x columns; out: as many bytes.
void sr_pack(const void* x, size_t rows, size_t columns, int width, unsigned char* out);

// Appends the data as a stream of RFC 1951: compressed by zlib, or stored where the library was built without it. False: out of memory.
bool sr_deflate(const void* data, size_t n, srText* out);

#endif
