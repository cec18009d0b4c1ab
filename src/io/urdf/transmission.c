// Transmissions of URDF: a rotor of inertia J that turns n times as fast as the joint adds n^2 J to the inertia that the
// coordinate feels, its armature. Of the forms that files have, all are read: mechanicalReduction in <actuator>, in <joint>
// or in <transmission> itself; drake:gear_ratio instead of it; the rotor's inertia in <actuator> or <transmission>.
#include <math.h>
#include <string.h>

#include "expr/expr.h"
#include "io/urdf/urdf.h"

#define REDUCTION "mechanicalReduction|mechanical_reduction"
#define ROTOR "rotorInertia|rotor_inertia|motorInertia|motor_inertia|drake:rotor_inertia"

typedef struct Drive {
  int joint;             // -1: none that is known
  const char* actuator;  // name; NULL: none
  int njoint, nactuator;
  double reduction, ratio;  // ratio: drake:gear_ratio, NaN: not given
  double rotor;             // NaN: not given
  bool good;
} Drive;

// The number between the tags, or in the attribute `value`. A file may have anything there: most of them are
// for a control program, not for the motion.
static void read_number(srUrdf* u, const srXmlNode* node, double* value, Drive* drive) {
  const srXmlAttribute* a = sr_xml_attribute(node, "value");
  const char* text = a ? a->value : node->text ? node->text : "";
  while (sr_text_is_blank(*text)) text++;
  const char* end = sr_number_read_signed(text, value);
  while (end && sr_text_is_blank(*end)) end++;
  if (end && !*end && isfinite(*value)) return;
  drive->good = false;
  sr_reader_warning(u->r,
                    a            ? a->place
                    : node->text ? node->text_place
                                 : node->place,
                    "'%.60s' in <%.60s> is not a number: the <transmission> is not used", text, node->name);
}

static void read_parts(srUrdf* u, const srXmlNode* node, Drive* drive) {
  double value = 1;
  for (const srXmlNode* child = node->first; child; child = child->next) {
    if (sr_text_is_among(child->name, REDUCTION)) {
      read_number(u, child, &value, drive);
      drive->reduction *= value;
    } else if (sr_text_is_among(child->name, ROTOR)) {
      read_number(u, child, &drive->rotor, drive);
    } else if (strcmp(child->name, "drake:gear_ratio") == 0) {
      read_number(u, child, &drive->ratio, drive);
    }
  }
}

static void read_joint(srUrdf* u, const srXmlNode* node, Drive* drive) {
  const srXmlAttribute* a = sr_xml_attribute(node, "name");
  const char* name = a ? a->value : NULL;
  sr_urdf_check(u, node, "name", REDUCTION "|" ROTOR "|drake:gear_ratio");
  drive->njoint++;
  drive->joint = name ? sr_names_find(&u->joints, name) : -1;
  if (drive->joint >= 0)
    u->joint[drive->joint].driven = true;
  else if (!name)
    sr_reader_warning(u->r, node->place, "<joint> in a <transmission> has no 'name': left out");
  else
    sr_reader_warning(u->r, a->place, "a <transmission> drives joint '%.60s', which does not exist: left out%s", name,
                      sr_urdf_guess(u, &u->joints, name));
  read_parts(u, node, drive);
}

// One motor is one rotor: files repeat a transmission for each interface of its control (position, velocity, effort).
static bool is_repeated(srUrdf* u, const srXmlNode* node, const Drive* drive) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  const char* joint = u->joint[drive->joint].word;
  bool repeated = false;
  if (name) repeated |= !sr_names_put(&u->drives, sr_pool_printf(&u->r->pool, "%s by %s", joint, name->value), 0);
  if (drive->actuator)
    repeated |= !sr_names_put(&u->drives, sr_pool_printf(&u->r->pool, "%s from %s", joint, drive->actuator), 0);
  return repeated;
}

static void settle(srUrdf* u, const srXmlNode* node, const Drive* drive) {
  srUrdfJoint* joint = &u->joint[drive->joint];
  const double n = isnan(drive->ratio) ? drive->reduction : drive->ratio;
  if (isnan(drive->rotor)) {
    if (n != 1)
      joint->geared = node;
    else
      sr_reader_ignore_still(u->r, node->place, "a <transmission> with the reduction 1 and no rotor inertia");
  } else if (drive->njoint > 1 || drive->nactuator > 1) {
    sr_reader_warning(u->r, node->place, "a <transmission> of several joints or actuators adds no rotor inertia");
  } else if (!sr_urdf_scalar(joint)) {
    sr_reader_warning(u->r, node->place,
                      "joint '%.60s' has no single coordinate that a rotor could turn with: left out", joint->word);
  } else if (!(drive->rotor >= 0) || !isfinite(n * n * drive->rotor)) {
    sr_reader_error(u->r, node->place, "the rotor of joint '%.60s' has the inertia %g and the reduction %g",
                    joint->word, drive->rotor, n);
  } else if (n == 0 && drive->rotor > 0) {
    sr_reader_warning(u->r, node->place, "the reduction 0 of joint '%.60s' leaves its rotor inertia out", joint->word);
  } else if (is_repeated(u, node, drive)) {
    sr_reader_ignore(u->r, node->place, "a <transmission> with the name or the actuator of another one of its joint");
  } else {
    joint->armature += n * n * drive->rotor;
  }
}

void sr_urdf_transmission(srUrdf* u, const srXmlNode* node) {
  Drive drive = {.joint = -1, .reduction = 1, .ratio = NAN, .rotor = NAN, .good = true};
  sr_urdf_check(u, node, "name|type", "joint|actuator|drake:gear_ratio|" REDUCTION "|" ROTOR);
  read_parts(u, node, &drive);
  for (const srXmlNode* child = node->first; child; child = child->next) {
    if (strcmp(child->name, "joint") == 0) read_joint(u, child, &drive);
    if (strcmp(child->name, "actuator") != 0) continue;
    const srXmlAttribute* name = sr_xml_attribute(child, "name");
    drive.actuator = name ? name->value : NULL;
    drive.nactuator++;
    sr_urdf_check(u, child, "name", "drake:gear_ratio|" REDUCTION "|" ROTOR);
    read_parts(u, child, &drive);
  }
  if (drive.njoint == 0)
    sr_reader_ignore_still(u->r, node->place, "a <transmission> without <joint>");
  else if (drive.joint >= 0 && drive.good)
    settle(u, node, &drive);
}

void sr_urdf_tell_gears(srUrdf* u) {
  srUrdfList list = {0};
  for (int i = 0; i < u->njoint; i++) {
    const srUrdfJoint* joint = &u->joint[i];
    if (!joint->geared || (!joint->cut && sr_given(sr_urdf_joint_def(u, joint)->armature))) continue;
    sr_urdf_list(u, &list, joint->word, joint->geared->place);
  }
  if (list.n > 0)
    sr_reader_warning(u->r, list.first,
                      "a reduction without the inertia of a rotor adds no armature, in joint %s; give it by "
                      "<extend body=\"...\"><joint armature=\"...\"/></extend> in a model file that includes this one",
                      list.text);
}
