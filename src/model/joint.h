// Joints: every kind expands to a short chain of elementary links with their axis along z. A new kind is a file
// joint_<kind>.c with one srJointKind, and one row in <sarrus/words.h>.
#ifndef SR_JOINT_H
#define SR_JOINT_H

#include <sarrus/model.h>

#define SR_JOINT_LINKS_MAX 3

// The attributes of a joint, as numbers.
typedef struct srJointIn {
  double axis[3];  // unit
  bool has_axis2;
  double axis2[3];  // unit
  bool has_pitch;
  double pitch;
} srJointIn;

// The chain: link k of this type rotates about or slides along z of frame[k], whose columns are given in joint axes at q = 0.
typedef struct srJointOut {
  srLinkType type[SR_JOINT_LINKS_MAX];
  double frame[SR_JOINT_LINKS_MAX][16];
  double pitch;
} srJointOut;

typedef struct srJointKind {
  const char* word;
  const char* uses;  // attributes that only some kinds have: "|axis|axis2|pitch|"; NULL: none of them
  int nlink, nq, nv;
  const char* q_suffix[7];  // "" for a single coordinate
  const char* q_unit[7];
  const char* v_suffix[6];
  const char* v_unit[6];
  bool scalar;  // every position coordinate is a number whose rate is the velocity coordinate (no quaternion)
  // Fills the chain. NULL, or a message: what is missing or wrong.
  const char* (*expand)(const srJointIn* in, srJointOut* out);
} srJointKind;

const srJointKind* sr_joint_kind(srJointType type);

#define SR_JOINT_EXTERN(NAME, word) extern const srJointKind sr_joint_##word;
SR_JOINT_LIST(SR_JOINT_EXTERN)
#undef SR_JOINT_EXTERN

// Right-handed frame with this unit z. Its x is the joint frame's x projected into the plane normal to z (the joint frame's y
// where x is along z), so that an axis 0 0 1 gives the joint frame itself.
void sr_frame_about(const double z[3], double frame[16]);

#endif
