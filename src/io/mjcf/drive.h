// An MJCF actuator while it is read: its force is made by actuator.c, what it works on is in transmission.c.
#ifndef SR_IO_MJCF_DRIVE_H
#define SR_IO_MJCF_DRIVE_H

#include "io/mjcf/law.h"

// Forces on a joint whose sum is clamped: actuatorfrcrange.
typedef struct srMjcfForceSum {
  srMjcfText text;
  double range[2];
  bool clamped;
  srPlace place;
} srMjcfForceSum;

typedef struct srMjcfDrive {
  srMjcf* m;
  const srXmlNode* node;
  const char* name;  // for reports
  int dynamics;      // actuator.c
  double gain[3], bias[3], time;
  double ratio;         // of damping, 0: none
  const char* damping;  // that ratio, -bias[2]/2, as a formula that takes the place of the rate; NULL: none
  double gear[6];
  int joint, tendon, site;  // one of them; -1: not this
  bool clamps;              // controls are kept within their range
  bool in_parent;           // the turning part of the gear is seen from the parent
  srMjcfForceSum* sum;      // one a joint
  srMjcfActuator out;
} srMjcfDrive;

// Attributes that name what an actuator works on.
#define SR_MJCF_TRANSMISSION "joint|jointinparent|tendon|site|body|cranksite|slidersite|refsite"

bool sr_mjcf_drive_target(srMjcfDrive* d);  // joint, tendon or site; false after an error, or reported as not used
bool sr_mjcf_drive_way(
    srMjcfDrive* d);  // gear, length and rate, NULL where they cannot be expressed; false after an error
// Inertia along the transmission at qpos0, as MuJoCo takes it for damping ratios: the sum of M_jj/(gear coef)^2, as a formula. NULL: none.
const char* sr_mjcf_drive_inertia(const srMjcfDrive* d);
void sr_mjcf_drive_work(srMjcfDrive* d);  // out.force on what it works on

#endif
