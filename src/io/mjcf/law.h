// What the sections of MJCF share: laws as text, points on bodies, actuators for keyframes and sensors, flags.
#ifndef SR_IO_MJCF_LAW_H
#define SR_IO_MJCF_LAW_H

#include <stddef.h>

#include "io/mjcf/mjcf.h"

#define SR_MJCF_FIELD(Def, member) ((int)(offsetof(Def, member) / sizeof(srAttr)))

// An actuator in the order of MuJoCo's ctrl; those that are not used count too.
typedef struct srMjcfActuator {
  const char* word;      // name in the file, NULL: none
  const char* control;   // name of its <parameter>, NULL: it is not used
  int parameter, state;  // indices in the spec, -1: none
  const char* length;    // formulas of its sensors, NULL: none
  const char* rate;
  const char* force;
} srMjcfActuator;

// A text that grows, in r->pool.
typedef struct srMjcfText {
  srPool* pool;
  char* text;
  int n, capacity;
} srMjcfText;
void sr_mjcf_write(srMjcfText* text, const char* word);
const char* sr_mjcf_literal(srPool* pool, double value);  // a number as formulas have it: negative ones in parentheses
// Adds "factor*term" to a sum; nothing where the factor is 0.
void sr_mjcf_write_term(srMjcfText* text, double factor, const char* term);
const char* sr_mjcf_clamped(srPool* pool, const double* range, const char* term);  // max(low, min(high, term))
const char* sr_mjcf_written(srMjcfText* text);                                     // "0" when nothing was written

// q(joint) or v(joint) of a joint with one coordinate.
const char* sr_mjcf_coordinate(srMjcf* m, int joint, bool rate);
// Length of a fixed tendon or its rate, in parentheses; its length at qpos0.
const char* sr_mjcf_tendon_text(srMjcf* m, const srMjcfTendon* tendon, bool rate);
double sr_mjcf_tendon_start(const srMjcf* m, const srMjcfTendon* tendon);

bool sr_mjcf_is_scalar(const srMjcf* m, int joint);  // hinge or slide
// <torque> with the law factor*(force) on a coordinate. Long texts count as several elements. False: nothing more may come.
bool sr_mjcf_add_torque(srMjcf* m, int joint, int coordinate, double factor, const char* force, const char* name,
                        srPlace place);
// factor*coef*(force) on every joint of a tendon.
void sr_mjcf_pull(srMjcf* m, const srMjcfTendon* tendon, double factor, const char* force, const char* name,
                  srPlace place);
// Springs and dampers of a joint, the linear parts first, which the joint's own attributes are; and its armature.
typedef struct srMjcfPassive {
  double stiffness[3], rest;
  double damping[3], armature;
} srMjcfPassive;
void sr_mjcf_passive(srMjcf* m, int joint, const srMjcfPassive* p);  // laws for the remainder. passive.c

// Takes elements from the budget of the reader for a text that is stored `times`.
void sr_mjcf_charge(srMjcf* m, size_t length, int times);

// Sets a number of a joint in the spec; NaN: it is not given any more.
void sr_mjcf_set_joint(srMjcf* m, int joint, int field, double value, srPlace place);

// 1: limited, with the range; 0: not; -1 after an error. `flag` is true, false or auto.
int sr_mjcf_limits(srMjcf* m, const srXmlNode* node, const char* flag, const char* range, double out[2]);
// The word of the last <option> that has this flag, where that is "disable"; else NULL.
const srXmlAttribute* sr_mjcf_disabling(const srMjcf* m, const char* flag);
// Is this flag of <option> disabled, or the one that implies it and others (constraint, passive)?
bool sr_mjcf_is_disabled(const srMjcf* m, const char* flag);

// Pose of a frame of the MJCF body as a <point> of its native body: "body/point".
const char* sr_mjcf_add_point(srMjcf* m, int body, const double pose[16], const char* wish, srPlace place);

// A word for formulas: letters, digits and '_' of prefix and name, new among those of the file.
const char* sr_mjcf_identifier(srMjcf* m, const char* prefix, const char* name);

#endif
