// Which files a model may have read: those in its own folder, in its package, and in folders that the user names. SECURITY.md
#ifndef SR_IO_ROOT_H
#define SR_IO_ROOT_H

#include "io/xml/reader.h"

// What is read decides how far away it may be: text ends up in the model and in messages, a mesh as triangles.
typedef enum srReach {
  SR_REACH_TEXT,
  SR_REACH_MESH,  // also below the folder that holds the model's: urdf/robot.urdf with ../meshes/arm.stl
} srReach;

// The folder of a model that was opened by a link is that of the link, and that of its file.
void sr_root_model(srReader* r, const char* path);
// From here on files in this folder may be read. Trusted: the user named it, and links in it may lead out.
void sr_root_allow(srReader* r, const char* folder, bool trusted);
// May a file be read? Its real path must be in one of the folders.
bool sr_root_reaches(srReader* r, const char* path, srReach reach);

#endif
