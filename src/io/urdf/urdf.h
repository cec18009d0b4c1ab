// URDF, taken apart: what the parts of the reader share. urdf.c reads the file into this; links, joints, the tree, loops,
// shapes and transmissions each have a file.
#ifndef SR_IO_URDF_URDF_H
#define SR_IO_URDF_URDF_H

#include "io/xml/reader.h"

// Names reported in one warning.
typedef struct srUrdfList {
  const char* text;  // "'a', 'b'"
  int n;
  srPlace first;
} srUrdfList;

typedef struct srUrdfPose {  // <origin>
  double xyz[3], rpy[3];
  double quaternion[4];  // w x y z, where `turned`
  bool moved, rolled, turned;
  srPlace place;
} srUrdfPose;

typedef struct srUrdfLink {
  const char* word;  // name in the file
  const char* name;  // in the spec
  const srXmlNode* node;
  int index;                        // of the body in the spec; -1: not yet
  int inertial;                     // of its <inertial> in the spec; -1: none
  int joint;                        // that carries it in the tree; -1: the root
  int first_out, last_out;          // joints that have it as parent, in the order of the file; -1: none
  int first_in;                     // joints that have it as child
  int depth;                        // joints between it and the root
  int group;                        // link that it is fixed to in the end
  bool reached, has_shape, stated;  // stated: it has <inertial>
  bool flat;                        // a point: mass without moments of inertia
  srPlace flat_place;
  double mass;
  double pose[16];  // in the root link, at the start
  srPlace place;
} srUrdfLink;

typedef enum srUrdfType {
  SR_URDF_REVOLUTE,
  SR_URDF_CONTINUOUS,
  SR_URDF_PRISMATIC,
  SR_URDF_FIXED,
  SR_URDF_FLOATING,
  SR_URDF_PLANAR,
  SR_URDF_BALL,
} srUrdfType;

typedef enum srUrdfLimit {  // what <limit> gives for the ends of travel
  SR_URDF_LIMIT_NONE,       // nothing is required: continuous, fixed, ...
  SR_URDF_LIMIT_MISSING,    // revolute or prismatic without <limit>
  SR_URDF_LIMIT_ZERO,       // lower == upper
  SR_URDF_LIMIT_CROSSED,    // lower > upper
  SR_URDF_LIMIT_ENDLESS,    // infinite at both ends
  SR_URDF_LIMIT_GIVEN,
} srUrdfLimit;

typedef struct srUrdfJoint {
  const char* word;
  const char* name;
  const srXmlNode* node;
  srUrdfType type;
  int parent, child;      // links; -1 after an error
  int next_out, next_in;  // in the lists of the links
  srUrdfPose origin;
  double axis[3];  // of length 1
  srPlace axis_place;
  srUrdfLimit limit;
  double lower, upper;
  srAttr effort, speed;  // with places; not given: none
  double damping, friction, armature;
  srPlace dynamics_place;
  const srXmlNode* mimic;  // NULL: none, or it is not followed
  int leader;              // joint that it mimics; -1: none
  double multiplier, offset;
  double start;             // q at the start: 0, or given by the mimic
  const char* role;         // URDF+: "independent", "dependent"; NULL: not given
  bool leads;               // another one mimics it
  bool driven;              // a transmission has it
  const srXmlNode* geared;  // transmission with a reduction and no rotor; NULL: none
  int index;                // in the spec, unless it is cut
  bool cut;                 // closes a loop: a closure
  srPlace place;
} srUrdfJoint;

typedef struct srUrdfEnd {  // of a loop: a frame on a link
  int link;
  bool given, posed;
  srUrdfPose pose;
} srUrdfEnd;

// A joint that the tree has cut, or an element that closes a loop.
typedef struct srUrdfLoop {
  const srXmlNode* node;
  const char* word;  // wish for its name
  const char* name;  // in the spec
  const char* type;  // word of the closure; NULL: a coupling
  srUrdfEnd end[2];
  double axis[3];  // the same components in both frames
  srPlace axis_place;
  double ratio;
  bool axial, good;
  bool flat;         // only motion in its plane is constrained: planar.c
  double normal[3];  // of the plane, in the link that carries both ends; in the first frame it is the axis
} srUrdfLoop;

typedef struct srUrdf {
  srReader* r;
  const srImport* how;
  const srXmlNode* root;
  srUrdfLink* link;
  int nlink, link_capacity;
  srUrdfJoint* joint;
  int njoint, joint_capacity;
  srUrdfLoop* loop;
  int nloop, loop_capacity;
  srNames links, joints, materials;          // words of the file -> index
  srNames bodies, joint_names, constraints;  // names taken in the spec
  srNames shapes;                            // names of shapes taken
  srNames drives;                            // "joint by transmission", "joint from actuator": rotors that are counted
  const srXmlNode** material;
  int nmaterial, material_capacity;
  int base;     // root link; -1: none
  int guesses;  // searches for the nearest name that may still be made: each compares all names
  bool floating;
  bool broken;             // a link or joint has no name of its own: the tree is not built
  const char* root_joint;  // name of what carries the root link
} srUrdf;

// ------------------------------------------------------------------------------------------------------ value.c
// Says what of a node is not used: attributes and elements beyond the lists "a|b|c", a second of one element, text.
void sr_urdf_check(srUrdf* u, const srXmlNode* node, const char* attributes, const char* elements);
// An element that is not used: a warning, or a note where it has no part in the motion.
void sr_urdf_ignore_element(srUrdf* u, const srXmlNode* node);
// <origin> inside node, or the attributes xyz, rpy, quat_xyzw of a node itself. False after an error.
bool sr_urdf_origin(srUrdf* u, const srXmlNode* node, srUrdfPose* out);
bool sr_urdf_pose(srUrdf* u, const srXmlNode* origin, srUrdfPose* out);
void sr_urdf_put_pose(srUrdf* u, const srUrdfPose* pose, srAttr* at, srAttr* rot, srAttr* rpy);
// <axis xyz=.../> inside node, made unit; 1 0 0 without. False after an error.
bool sr_urdf_axis(srUrdf* u, const srXmlNode* node, double axis[3], srPlace* place);
// The number between the tags, or in the attribute `value`. False after an error.
bool sr_urdf_content(srUrdf* u, const srXmlNode* node, double* out);
// A name that must be there and not be empty; NULL after an error.
const char* sr_urdf_name(srUrdf* u, const srXmlNode* node, const char* attribute);
// The link or joint that an attribute names; -1 after an error with the nearest name.
int sr_urdf_find(srUrdf* u, const srXmlNode* node, const char* attribute, const srNames* names, const char* what);
// " did you mean 'x'?" behind an unknown name, or "".
const char* sr_urdf_guess(srUrdf* u, const srNames* names, const char* name);
void sr_urdf_list(srUrdf* u, srUrdfList* list, const char* name, srPlace place);

// ------------------------------------------------------------------------------------------------------------- parts
void sr_urdf_add_link(srUrdf* u, const srXmlNode* node);   // link.c
void sr_urdf_write_link(srUrdf* u, int link);              // its body, joint, inertia and shapes into the spec
void sr_urdf_tell_masses(srUrdf* u);                       // reported at the end: <extend> may have changed the spec
void sr_urdf_add_joint(srUrdf* u, const srXmlNode* node);  // joint.c
void sr_urdf_read_joints(srUrdf* u);                       // when all links are known
void sr_urdf_write_joint(srUrdf* u, int joint, int body);
void sr_urdf_write_laws(srUrdf* u);  // friction and couplings, behind the bodies
void sr_urdf_tell_limits(srUrdf* u);
const srJointDef* sr_urdf_joint_def(const srUrdf* u, const srUrdfJoint* joint);  // in the spec
const char* sr_urdf_type_word(srUrdfType type);                                  // of our joint and closure
int sr_urdf_type(srUrdf* u, const srXmlNode* node, const char* more);            // srUrdfType; -1 after an error
bool sr_urdf_scalar(const srUrdfJoint* joint);                                   // has one coordinate
void sr_urdf_transmission(srUrdf* u, const srXmlNode* node);                     // transmission.c: before the tree
void sr_urdf_tell_gears(srUrdf* u);
bool sr_urdf_tree(srUrdf* u);                             // tree.c: root and cuts; false after an error
bool sr_urdf_is_loop(const char* word);                   // loop.c
void sr_urdf_add_loop(srUrdf* u, const srXmlNode* node);  // <loop>, <constraint>, <coupling>, ...
void sr_urdf_add_cuts(srUrdf* u);                         // joints that the tree has cut
void sr_urdf_write_loops(srUrdf* u);                      // behind the bodies
void sr_urdf_place(srUrdf* u, int link);                  // close.c: its pose; the parent\'s is there
void sr_urdf_frame(const srUrdf* u, const srUrdfEnd* end, double out[16]);  // close.c: in the root link
void sr_urdf_flatten(srUrdf* u, srUrdfLoop* loop);                          // planar.c
// Closes a loop that rounded numbers leave open, by a small move of its first frame. False: it is open by more.
bool sr_urdf_close(srUrdf* u, srUrdfLoop* loop);
void sr_urdf_add_material(srUrdf* u, const srXmlNode* node);  // shape.c
void sr_urdf_shapes(srUrdf* u, const srUrdfLink* link);

#endif
