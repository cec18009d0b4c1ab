// Weld: no degree of freedom. The body rides on its parent's link and its inertia is added there.
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  (void)in;
  (void)out;
  return NULL;
}

const srJointKind sr_joint_weld = {.word = "weld", .scalar = true, .expand = expand};
