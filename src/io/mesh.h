// Meshes of shapes: files found and read, put into the spec once each.
#ifndef SR_IO_MESH_H
#define SR_IO_MESH_H

#include "io/reader.h"

// The name of the <mesh> in the spec for a file; read and added at its first use, whatever number of shapes have it.
//   uri    package://NAME/path, model://NAME/path, file:///path, or a path seen from how->folder
// A file that is not found or cannot be read is a warning that names all places that were tried, once a file; the mesh
// is there all the same, without triangles. `name`: the wish for its name, NULL: from the file.
const char* sr_mesh_use(srReader* r, const srImport* how, const char* uri, const double scale[3], const char* name,
                        srPlace place);
// The path of a uri to be opened from the working folder, in r->pool; NULL: not found, *tried is the list of places.
const char* sr_package_find(srReader* r, const srImport* how, const char* uri, const char** tried);
// Whether a path is "scheme://..." or begins at the root: not seen from a folder.
bool sr_path_is_fixed(const char* path);
// Finds and reads def->file, seen from how->folder, into def->vertices and def->faces (numbers in the pool). False
// after a warning; then they stay empty.
bool sr_mesh_fill(srReader* r, const srImport* how, srPool* pool, srMeshDef* def);

#endif
