// Values of URDF elements: poses, axes, names, numbers between tags; and what is not used, reported once each.
#include <math.h>
#include <string.h>

#include "io/urdf/urdf.h"
#include "math/pose.h"

// Elements that may come more than once in one another.
#define REPEATED "visual|collision|link|joint|material|transmission|link1|leftActuator|rightActuator|actuator"

// Elements whose attributes and children have a part in the motion; "robot" and "link": their children alone.
#define ACTS "joint|parent|child|axis|origin|dynamics|mimic|inertial|mass|inertia"
// ... but for these: controllers, appearance, sensors, and contact, which URDF shapes do not define.
#define STILL                                                                                                          \
  "safety_controller|calibration|hardwareInterface|role|offset|type|contact|material|texture|sensor|ros2_control"

// Of a <gazebo> what adds or changes mechanics; most are colours, sensors and plugins.
static bool gazebo_acts(const srXmlNode* node) {
  for (const srXmlNode* child = node->first; child; child = child->next)
    if (sr_text_is_among(child->name,
                         "joint|link|static|gravity|turnGravityOff|dampingFactor|springStiffness|springReference"))
      return true;
  return false;
}

void sr_urdf_ignore_element(srUrdf* u, const srXmlNode* node) {
  const char* parent = node->parent ? node->parent->name : "";
  bool acts = sr_text_is_among(parent, ACTS "|robot|link") && !sr_text_is_among(node->name, STILL);
  if (strcmp(node->name, "gazebo") == 0) acts = gazebo_acts(node);
  if (strcmp(parent, "robot") == 0)
    (acts ? sr_reader_ignore : sr_reader_ignore_still)(u->r, node->place, "<%.60s>", node->name);
  else
    (acts ? sr_reader_ignore : sr_reader_ignore_still)(u->r, node->place, "<%.60s> in <%.60s>", node->name, parent);
}

void sr_urdf_check(srUrdf* u, const srXmlNode* node, const char* attributes, const char* elements) {
  srReader* r = u->r;
  for (int i = 0; i < node->nattribute; i++) {
    const srXmlAttribute* a = &node->attributes[i];
    if (!sr_text_is_among(a->name, attributes) && strncmp(a->name, "xmlns", 5) != 0)
      (sr_text_is_among(node->name, ACTS) ? sr_reader_ignore : sr_reader_ignore_still)(
          r, a->name_place, "'%.60s' of <%.60s>", a->name, node->name);
  }
  uint32_t seen = 0;  // a bit for each word of the list
  for (const srXmlNode* child = node->first; child && !sr_reader_is_over(r, child->place); child = child->next) {
    const int k = sr_text_place_among(child->name, elements);
    if (k < 0)
      sr_urdf_ignore_element(u, child);
    else if (!sr_text_is_among(child->name, REPEATED) && (seen >> k & 1))
      sr_reader_ignore(r, child->place, "a second <%.60s> in one <%.60s>", child->name, node->name);
    if (k >= 0) seen |= 1u << k;
  }
  if (node->text) sr_reader_ignore_still(r, node->text_place, "text in <%.60s>", node->name);
}

// ------------------------------------------------------------------------------------------------------------- poses
static bool read_quaternion(srUrdf* u, const srXmlAttribute* a, srUrdfPose* out) {
  double xyzw[4];
  if (sr_reader_numbers(u->r, a, 4, 4, xyzw) < 0) return false;
  const double norm = hypot(hypot(xyzw[0], xyzw[1]), hypot(xyzw[2], xyzw[3]));
  if (!(norm > 1e-6)) {
    sr_reader_error(u->r, a->place, "'%s' is no orientation: its length is %g", a->name, norm);
    return false;
  }
  out->quaternion[0] = xyzw[3] / norm;
  for (int k = 0; k < 3; k++) out->quaternion[k + 1] = xyzw[k] / norm;
  out->turned = true;
  return true;
}

bool sr_urdf_pose(srUrdf* u, const srXmlNode* node, srUrdfPose* out) {
  *out = (srUrdfPose){.place = node->place};
  const srXmlAttribute* xyz = sr_xml_attribute(node, "xyz");
  const srXmlAttribute* rpy = sr_xml_attribute(node, "rpy");
  const srXmlAttribute* quaternion = sr_xml_attribute(node, "quat_xyzw");
  bool good = !xyz || sr_reader_numbers(u->r, xyz, 3, 3, out->xyz) == 3;
  if (rpy && quaternion) {
    sr_reader_error(u->r, quaternion->name_place, "<%.60s> has 'rpy' and 'quat_xyzw'; give one of them", node->name);
    return false;
  }
  if (rpy) good &= sr_reader_numbers(u->r, rpy, 3, 3, out->rpy) == 3;
  if (quaternion) good &= read_quaternion(u, quaternion, out);
  for (int k = 0; k < 3; k++) {
    out->moved = out->moved || out->xyz[k] != 0;
    out->rolled = out->rolled || out->rpy[k] != 0;
  }
  return good;
}

bool sr_urdf_origin(srUrdf* u, const srXmlNode* node, srUrdfPose* out) {
  const srXmlNode* origin = sr_xml_child(node, "origin");
  *out = (srUrdfPose){.place = node->place};
  if (!origin) return true;
  sr_urdf_check(u, origin, "xyz|rpy|quat_xyzw", "");
  return sr_urdf_pose(u, origin, out);
}

void sr_urdf_put_pose(srUrdf* u, const srUrdfPose* pose, srAttr* at, srAttr* rot, srAttr* rpy) {
  if (pose->moved) *at = sr_reader_list(u->r, pose->xyz, 3, pose->place);
  if (pose->turned) *rot = sr_reader_list(u->r, pose->quaternion, 4, pose->place);
  if (pose->rolled) *rpy = sr_reader_list(u->r, pose->rpy, 3, pose->place);
}

bool sr_urdf_axis(srUrdf* u, const srXmlNode* node, double axis[3], srPlace* place) {
  const srXmlNode* element = sr_xml_child(node, "axis");
  axis[0] = 1;
  axis[1] = axis[2] = 0;
  *place = node->place;
  if (!element) return true;
  sr_urdf_check(u, element, "xyz", "");
  const srXmlAttribute* xyz = sr_xml_attribute(element, "xyz");
  *place = element->place;
  if (!xyz) return true;
  *place = xyz->place;
  if (sr_reader_numbers(u->r, xyz, 3, 3, axis) < 0) return false;
  const double norm = hypot(hypot(axis[0], axis[1]), axis[2]);
  if (!(norm > 1e-9) || !isfinite(norm)) {
    sr_reader_error(u->r, xyz->place, "the axis '%.60s' has no direction: its length is %g", xyz->value, norm);
    return false;
  }
  for (int k = 0; k < 3; k++) axis[k] /= norm;
  return true;
}

// ----------------------------------------------------------------------------------------------------- words, numbers
bool sr_urdf_content(srUrdf* u, const srXmlNode* node, double* out) {
  const srXmlNode bare = {
      .name = node->name, .attributes = node->attributes, .nattribute = node->nattribute, .first = node->first};
  sr_urdf_check(u, &bare, "value", "");  // but its text
  const srXmlAttribute* value = sr_xml_attribute(node, "value");
  const srXmlAttribute text = {.name = node->name, .value = node->text ? node->text : "", .place = node->text_place};
  if (!value && !node->text) {
    sr_reader_error(u->r, node->place, "<%.60s> holds no number", node->name);
    return false;
  }
  return sr_reader_numbers(u->r, value ? value : &text, 1, 1, out) == 1;
}

const char* sr_urdf_name(srUrdf* u, const srXmlNode* node, const char* attribute) {
  const srXmlAttribute* a = sr_xml_attribute(node, attribute);
  if (!a) {
    sr_reader_error(u->r, node->place, "<%.60s> needs the attribute '%s'", node->name, attribute);
    return NULL;
  }
  if (a->value[strspn(a->value, " \t\r\n")]) return a->value;
  sr_reader_error(u->r, a->place, "the attribute '%s' of <%.60s> is empty", attribute, node->name);
  return NULL;
}

int sr_urdf_find(srUrdf* u, const srXmlNode* node, const char* attribute, const srNames* names, const char* what) {
  const char* name = sr_urdf_name(u, node, attribute);
  if (!name) return -1;
  const int i = sr_names_find(names, name);
  if (i >= 0) return i;
  const srPlace place = sr_xml_attribute(node, attribute)->place;
  sr_reader_error(u->r, place, "there is no %s '%.60s'%s", what, name, sr_urdf_guess(u, names, name));
  return -1;
}

const char* sr_urdf_guess(srUrdf* u, const srNames* names, const char* name) {
  if (u->guesses-- <= 0) return "";
  return sr_pool_guess(&u->r->pool, sr_names_nearest(names, name));
}

void sr_urdf_list(srUrdf* u, srUrdfList* list, const char* name, srPlace place) {
  enum { SHOWN = 12 };
  srPool* pool = &u->r->pool;
  if (list->n == 0) list->first = place;
  if (list->n < SHOWN)
    list->text =
        list->n == 0 ? sr_pool_printf(pool, "'%.60s'", name) : sr_pool_printf(pool, "%s, '%.60s'", list->text, name);
  else if (list->n == SHOWN)
    list->text = sr_pool_printf(pool, "%s, ...", list->text);
  list->n++;
}
