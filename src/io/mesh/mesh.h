// Meshes of shapes: files found and read, put into the spec once each.
#ifndef SR_IO_MESH_MESH_H
#define SR_IO_MESH_MESH_H

#include "io/xml/reader.h"

// The name of the <mesh> in the spec for a file; read and added at its first use, whatever number of shapes have it.
//   uri    as sr_package_find takes it
// A file that is not found or cannot be read is a warning; the mesh is there all the same, without triangles.
// `name`: the wish for its name, NULL: from the file.
const char* sr_mesh_use(srReader* r, const srImport* how, const char* uri, const double scale[3], const char* name,
                        srPlace place);
// Do the vertices of this <mesh> span a volume? A flat one has no convex hull that something could touch.
bool sr_mesh_has_volume(const srReader* r, const char* name);
// A name that no <mesh> of the spec has: the wish, or with a number behind it.
const char* sr_mesh_new_name(srReader* r, const char* wish);
// Finds and reads def->file, seen from how->folder, into def->vertices and def->faces (numbers in the pool). False
// when there is none, which is reported; then they stay empty.
bool sr_mesh_fill(srReader* r, const srImport* how, srPool* pool, srMeshDef* def);
// The files that were not found, reported at the end of the reading: once per package or folder, with all places tried.
void sr_mesh_tell_missing(srReader* r);

#endif
