// URDF out, taken apart: what the parts of the writer share. write.c writes the whole; shapes, links, joints and
// loops each have a file. The reader has its own: urdf.h.
#ifndef SR_IO_URDF_WRITE_H
#define SR_IO_URDF_WRITE_H

#include "io/convert.h"

typedef struct srUrdfOut {
  srConvert* c;
  const char* ground;  // link of the ground; NULL: the root floats, and no link represents the ground
  int root;            // body that is the root link itself; 0: none, the ground is a link
  // Told once at the end
  int nunknown;  // joints whose largest force or speed is not known
  const char* first_unknown;
  int nendless;  // prismatic joints without ends
  const char* first_endless;
  int npath;  // meshes by a path
  const char* first_path;
} srUrdfOut;

// -------------------------------------------------------------------------------------------------------- write.c
void sr_urdf_out_origin(srConvert* c, const double pose[16]);
// The same; the angles as the spec has them where it has some (element i of a kind, attribute `given`; i -1: none), so
// that they stay as they were written.
void sr_urdf_out_origin_of(srConvert* c, const double pose[16], srElementKind kind, int i, int given);
void sr_urdf_out_axis(srXmlWriter* w, const double axis[3]);
// An element with one attribute.
void sr_urdf_out_one(srXmlWriter* w, const char* element, const char* attribute, const char* value);

// --------------------------------------------------------------------------- <visual>, <collision>: write_shape.c
void sr_urdf_out_shapes(srUrdfOut* u, int b);

// ------------------------------------------------------------------------------------------- <link>: write_link.c
const char* sr_urdf_out_link_name(const srUrdfOut* u, int b);  // of body b, or of the ground
void sr_urdf_out_link(srUrdfOut* u, int b, const char* name);
void sr_urdf_out_points(srUrdfOut* u, int b, const char* link);  // of body b, whose link is there

// ------------------------------------------------------------------------- <joint>, <transmission>: write_joint.c
void sr_urdf_out_joints(srUrdfOut* u, int b);  // from the parent of body b to it, and the links in between

// ------------------------------------------------------------------------------------------- <loop>: write_loop.c
void sr_urdf_out_loop(srUrdfOut* u, int i);  // closure i of the spec

#endif
