// MJCF out, taken apart: what the parts of the writer share. write.c writes the whole; each section, and each
// kind of content of a body, has a file. The reader has its own: mjcf.h.
#ifndef SR_IO_MJCF_WRITE_H
#define SR_IO_MJCF_WRITE_H

#include "io/convert.h"

// A native joint that turns and advances: a hinge and a slide, coupled by an <equality>.
typedef struct srMjcfScrew {
  const char *hinge, *slide;
  double pitch;  // m/rad
} srMjcfScrew;

// A site that the model does not have: the second point on the axis of a closure.
typedef struct srMjcfAxisSite {
  double at[3];
  const char* word;
  int next;  // of the same body, -1: none
} srMjcfAxisSite;

// Two shapes of the spec that a <contact> holds apart.
typedef struct srMjcfPair {
  int contact, a, b;
} srMjcfPair;

// A geom that collides by itself, with those whose bits fit.
typedef struct srMjcfFilter {
  int contype, conaffinity;
  int contact;    // whose numbers it carries, -1: none
  bool priority;  // ... before those of the other geom
} srMjcfFilter;

typedef struct srMjcfOut {
  srConvert* c;
  // Bodies: of body b, 0 is the ground
  const char** body_word;
  int* level;               // elements that are open inside of it
  bool* heavy;              // it, or what is welded to it, has mass and moments
  bool* folded;             // it has no mass: its joint is in the body behind it
  bool* framed;             // a closure names its frame, which has to be a site
  const char** frame_word;  // that site
  // Equalities
  srMjcfAxisSite* axis_site;  // two of every closure
  int* first_axis_site;       // of body b, -1: none
  srMjcfScrew* screws;
  int nscrew, screw_capacity;
  // Contacts: of shape i of the spec
  int* shape_body;
  bool* in_pair;  // it is in a contact that is written
  srMjcfFilter* filter;
  double* contact_mass;    // of every contact: the mass M of all its pairs, 0: it is written pair by pair
  int nfilter;             // contacts that are not
  const char** geom_word;  // its name in the new file, NULL: none, or it is not written
  srMjcfPair* pair;
  int npair, pair_capacity;
  srNames pair_names;
  // Initial state: numbers of the key
  double *qpos, *qvel;
  int nqpos, qpos_capacity, nqvel, qvel_capacity;
  double* ctrl;  // of the actuators
  int nctrl, ctrl_capacity;
  double* act;  // of those with an activation
  int nact, act_capacity;
  bool moved;  // it is another one than MJCF's own
  // Told once at the end
  int nstop;  // limits whose stops are MuJoCo's own
  const char* first_stop;
  int nlaw;  // limits with a law of their own
  const char* first_law;
  int nsolid;  // shapes that are there for contacts, and in none
  srPlace first_solid;
} srMjcfOut;

void sr_mjcf_out_pose(srXmlWriter* w, const double pose[16]);  // pos and quat, where they are not MJCF's own

// ------------------------------------------------------------------------------------------ <asset>: write_mesh.c
void sr_mjcf_out_assets(srConvert* c);
bool sr_mjcf_out_has_mesh(const srConvert* c, int mesh);                 // it is among the assets
bool sr_mjcf_out_is_missing(const srConvert* c, int mesh);               // its file was not found; mesh -1: no
void sr_mjcf_out_lose_missing(srConvert* c, srElementKind kind, int i);  // a mesh or a shape without its file

// ------------------------------------------------------------------------------------------- <geom>: write_geom.c
void sr_mjcf_out_geoms(srMjcfOut* x, int b);                  // all of body b
bool sr_mjcf_out_has_geom(const srConvert* c, int i, int b);  // MJCF can express shape i of body b

// ------------------------------------------------------------------------------------------- <site>: write_site.c
void sr_mjcf_out_find_sites(srMjcfOut* x);    // those that closures need, before any body is written
void sr_mjcf_out_sites(srMjcfOut* x, int b);  // all of body b
// That of a frame which a closure names, once the bodies are written.
const char* sr_mjcf_out_site(const srMjcfOut* x, const char* ref);
bool sr_mjcf_out_is_joined(const srClosureDef* def);  // a closure between sites: MJCF has its kind

// ----------------------------------------------------------------------------------- <inertial>: write_inertial.c
void sr_mjcf_out_find_heavy(srMjcfOut* x);  // before any body is written
void sr_mjcf_out_inertial(srMjcfOut* x, int b);
void sr_mjcf_out_gravcomp(srMjcfOut* x, int b);  // constant forces that carry a part of the body's weight

// ----------------------------------------------------------------------------------------- <joint>: write_joint.c
// The parts of the joint of body b, as MJCF has them. pose: the joint's frame in the parent's.
int sr_mjcf_out_parts(srConvert* c, int b, srJointPart part[SR_PARTS], const double pose[16]);
// The n parts of joint j. frame: that of the joint in its body of MJCF.
void sr_mjcf_out_joints(srMjcfOut* x, int j, const srJointPart* part, int n, const double frame[16]);

// -------------------------------------------------------------------------------------- solreflimit: write_stop.c
void sr_mjcf_out_stop(srMjcfOut* x, int j, const srJointPart* part);  // of a hinge or a slide with limits

// -------------------------------------------------------------------------------------- <worldbody>: write_body.c
void sr_mjcf_out_find_bodies(srMjcfOut* x);  // their names, and what of each has to be known before any is written
void sr_mjcf_out_world(srMjcfOut* x);

// ---------------------------------------------------------------------------------------- <keyframe>: write_key.c
// Start of joint j, which is n parts: to the end of the key. A free joint on the ground moves pose, the frame of its
// body.
void sr_mjcf_out_start(srMjcfOut* x, int j, const srJointPart* part, int n, double pose[16]);
void sr_mjcf_out_key(srMjcfOut* x);

// ------------------------------------------------------------------------------------- <contact>: write_contact.c
void sr_mjcf_out_find_contacts(srMjcfOut* x);  // before any body is written: geoms in pairs have names
void sr_mjcf_out_contacts(srMjcfOut* x);
void sr_mjcf_out_filter(srMjcfOut* x, int i);  // contact attributes of the geom of shape i

// ----------------------------------------------------------------------------------- <actuator>: write_actuator.c
void sr_mjcf_out_actuators(srMjcfOut* x);  // with their tendons; and their controls and activations, for the key

// ----------------------------------------------------------------------------------- <equality>: write_equality.c
void sr_mjcf_out_equalities(srMjcfOut* x);

#endif
