// From a spec to another program's model file: what the writers share. Every attribute that a writer has expressed in
// its format is taken; what was given and is not taken at the end is reported as lost. So nothing is dropped silently, and an
// attribute that is new in fields.h is reported as lost until a writer handles it.
#ifndef SR_IO_CONVERT_H
#define SR_IO_CONVERT_H

#include <sarrus/io.h>
#include <sarrus/model.h>

#include "io/text.h"
#include "io/xml/write.h"

typedef struct srConvert {
  srPool* pool;         // of the conversion; on_fail is set
  const srSpec* spec;   // formulas worked out to numbers
  const srModel* m;     // compiled from it
  const char* folder;   // of the new file; NULL: the working folder
  const char* program;  // "URDF", "MJCF": for messages
  const char* base;     // as in srConversion
  srXmlWriter xml;
  bool* taken[SR_ELEMENT_KINDS];  // (count x nfield)
  srLost* lost;
  int nlost, lost_capacity;
  // Indices of the spec
  int* body;      // of body b of the model, 1 ... nbody
  int* joint;     // of body b; -1: an implied free joint
  int* friction;  // of joint j: the first <friction>, -1 none ...
  int* next_friction;
  int* coupling;                                          // of joint j: the <coupling> that it follows, -1 none
  int *first[SR_ELEMENT_KINDS], *next[SR_ELEMENT_KINDS];  // points and shapes of body b (0: the ground)
  const char** point_word;                                // of a point of the spec: its name in the new file
  srNames bodies, joints, points,
      meshes;  // bodies and joints of the model, points ("body/point") and meshes of the spec
  srNames link_names, joint_names, point_names, mesh_names;  // taken in the new file
} srConvert;

// ----------------------------------------------------------------------------------------------- attributes, once taken
#define SR_TAKE(Def, member) ((int)(offsetof(Def, member) / sizeof(srAttr)))  // index of a member
const srAttr* sr_convert_take(srConvert* x, srElementKind kind, int i, int field);
const char* sr_convert_text(srConvert* x, srElementKind kind, int i, int field);  // default or NULL where not given
int sr_convert_numbers(srConvert* x, srElementKind kind, int i, int field, double* out, int most);  // 0: not given
double sr_convert_number(srConvert* x, srElementKind kind, int i, int field, double otherwise);
void sr_convert_pose(srConvert* x, srElementKind kind, int i, int at, int rot, int rpy, double pose[16]);
void sr_convert_take_all(srConvert* x, srElementKind kind, int i);
bool sr_convert_given(const srConvert* x, srElementKind kind, int i, int field);

// ------------------------------------------------------------------------------------------------------------ losses
const char* sr_convert_title(srConvert* x, srElementKind kind, int i);  // "joint 'knee'", "<torque> of joint 'knee'"
// Tells a loss in words of its own.
void sr_convert_lose(srConvert* x, srPlace place, srLossEffect effect, const char* what, const char* reason, ...)
    SR_PRINTF(5, 6);
void sr_convert_tell_normal(srConvert* x, int i);  // convert_normal.c: of a closure, written with all its rows

// ------------------------------------------------------------------------------------------------ joints: convert_joint.c
// A joint of Sarrus as joints that other programs have: a chain, all frames the joint's frame at q = 0.
typedef enum srPartType { SR_PART_FIXED, SR_PART_HINGE, SR_PART_SLIDE, SR_PART_BALL, SR_PART_FREE } srPartType;
typedef struct srJointPart {
  srPartType type;
  const char* name;  // the joint's own where it has one part, else that of the coordinate: "hook.1"
  double axis[3];    // unit, in the joint's frame
  int coordinate;    // velocity coordinate among those of the joint, or one of the words below
  double pitch;      // SR_PART_FOLLOWS: advance per radian of the part before it, m/rad
} srJointPart;
enum { SR_PART_FOLLOWS = -1, SR_PART_OTHER = -2 };  // the slide of a screw; a coordinate that is none of the joint's
enum { SR_PARTS = 4 };
int sr_convert_parts(srConvert* x, int j, srJointPart out[SR_PARTS]);
void sr_convert_joint_pose(srConvert* x, int b, double pose[16]);  // of body b's joint, in the parent's frame
const char* sr_convert_joint_name(srConvert* x, int j);            // in the new file
double sr_convert_joint_number(srConvert* x, int j, int field, double otherwise);  // of its <joint>, where it has one
const char* sr_convert_name(srConvert* x, srNames* taken, const char* format, ...) SR_PRINTF(3, 4);  // new in the table
// Dry friction of a coordinate as one force, 0: none. Readers of robots make the law again from it: where that is the law
// of the spec, nothing is lost.
double sr_convert_friction(srConvert* x, int j, int coordinate);

bool sr_convert_has_mass(const srModel* m, int b);
// A path of the spec, seen from the folder of the new file.
const char* sr_convert_path(srConvert* x, const char* file);

void sr_write_urdf(srConvert* x);  // urdf/write.c
void sr_write_mjcf(srConvert* x);  // mjcf/write.c

#endif
