// What an MJCF actuator works on: a joint, a fixed tendon or a site; its length and rate from there, and its force back to
// there through the gear. Source: MuJoCo's XML reference, "actuator", and its computation page, "Actuation model".
//   l = gear q;   on q works gear F
#include <math.h>
#include <string.h>

#include "io/mjcf/drive.h"
#include "math/pose.h"

static bool is_zero(const double x[3]) { return x[0] == 0 && x[1] == 0 && x[2] == 0; }

// -------------------------------------------------------------------------------------------------------------- target
// The one attribute that names the target of the actuator. NULL after an error.
static const char* target_word(srMjcfDrive* d) {
  static const char* const all[] = {"joint", "jointinparent", "tendon", "site", "body", "cranksite"};
  const char* given = NULL;
  for (int i = 0; i < SR_COUNT(all); i++) {
    if (!sr_xml_attribute(d->node, all[i])) continue;
    if (given) {
      sr_mjcf_error(d->m, d->node->place, "<%s> has '%s' and '%s', but works on one thing", d->node->name, given,
                    all[i]);
      return NULL;
    }
    given = all[i];
  }
  if (!given)
    sr_mjcf_error(d->m, d->node->place, "<%s> works on nothing: it needs 'joint', 'tendon' or 'site'", d->node->name);
  return given;
}

bool sr_mjcf_drive_target(srMjcfDrive* d) {
  srMjcf* m = d->m;
  const char* word = target_word(d);
  if (!word) return false;
  if (strcmp(word, "joint") == 0 || strcmp(word, "jointinparent") == 0) {
    d->joint = sr_mjcf_find(m, d->node, word, &m->joint_names, "joint");
    d->in_parent = strcmp(word, "jointinparent") == 0;
    return d->joint >= 0;
  }
  if (strcmp(word, "tendon") == 0) {
    d->tendon = sr_mjcf_find(m, d->node, word, &m->tendon_names, "tendon");
    if (d->tendon >= 0 && m->tendon[d->tendon].n > 0) return true;
    if (d->tendon >= 0) sr_reader_ignore(m->r, d->node->place, "<%s> on a spatial tendon", d->node->name);
    return false;
  }
  const bool site = strcmp(word, "site") == 0;
  if (site && !sr_xml_attribute(d->node, "refsite")) {
    d->site = sr_mjcf_find(m, d->node, word, &m->site_names, "site");
    return d->site >= 0;
  }
  sr_reader_ignore(m->r, d->node->place, "<%s> with '%s'", d->node->name, site ? "refsite" : word);
  return false;
}

// -------------------------------------------------------------------------------------------------------------- length
// Length and its rate as formulas; NULL where they cannot be expressed.
static void scalar_way(srMjcfDrive* d, const char* q, const char* v) {
  srMjcfText length = {.pool = &d->m->r->pool}, rate = length;
  sr_mjcf_write_term(&length, d->gear[0], q);
  sr_mjcf_write_term(&rate, d->gear[0], v);
  d->out.length = sr_mjcf_written(&length);
  d->out.rate = sr_mjcf_written(&rate);
}

// A ball or free joint, or a site: a force and a moment. Free joints and sites have no length.
static void turning_way(srMjcfDrive* d) {
  const srMjcfJoint* j = d->joint >= 0 ? &d->m->joint[d->joint] : NULL;
  const bool ball = j && j->type == SR_MJCF_BALL;
  const double* turn = ball ? d->gear : d->gear + 3;
  d->out.length = ball ? NULL : "0";
  if (!j || d->in_parent || (!ball && !is_zero(d->gear))) return;
  srMjcfText rate = {.pool = &d->m->r->pool};
  for (int k = 0; k < 3; k++)
    sr_mjcf_write_term(&rate, turn[k], sr_pool_printf(&d->m->r->pool, "v(%s, %d)", j->name, k));
  d->out.rate = sr_pool_printf(&d->m->r->pool, "(%s)", sr_mjcf_written(&rate));
}

bool sr_mjcf_drive_way(srMjcfDrive* d) {
  srMjcf* m = d->m;
  const double one[6] = {1, 0, 0, 0, 0, 0};
  memcpy(d->gear, one, sizeof one);
  if (sr_mjcf_numbers(m, d->node, NULL, "gear", 1, 6, d->gear) < 0) return false;
  if (d->tendon >= 0) {
    const srMjcfTendon* t = &m->tendon[d->tendon];
    scalar_way(d, sr_mjcf_tendon_text(m, t, false), sr_mjcf_tendon_text(m, t, true));
  } else if (d->joint >= 0 && sr_mjcf_is_scalar(m, d->joint)) {
    scalar_way(d, sr_mjcf_coordinate(m, d->joint, false), sr_mjcf_coordinate(m, d->joint, true));
  } else {
    turning_way(d);
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------- inertia
static void add_inertia(srMjcf* m, int joint, double coef, srMjcfText* sum) {
  sr_mjcf_write_term(sum, 1 / (coef * coef), sr_pool_printf(&m->r->pool, "inertia(%s)", m->joint[joint].name));
}

// What MuJoCo takes for the inertia along a tendon: the sum of M_jj/c_j^2 over its joints, c_j all that is coef of joint j.
static void add_inertias(srMjcf* m, const srMjcfTendon* t, double gear, srMjcfText* sum) {
  for (int i = 0; i < t->n; i++) {
    double coef = 0;
    bool first = true;
    for (int k = 0; k < t->n; k++) {
      if (t->joint[k] == t->joint[i]) coef += t->coef[k];
      first = first && (k >= i || t->joint[k] != t->joint[i]);
    }
    if (first && coef != 0) add_inertia(m, t->joint[i], gear * coef, sum);
  }
}

const char* sr_mjcf_drive_inertia(const srMjcfDrive* d) {
  srMjcfText sum = {.pool = &d->m->r->pool};
  const bool scalar = d->joint >= 0 && sr_mjcf_is_scalar(d->m, d->joint);
  if ((d->tendon < 0 && !scalar) || d->gear[0] == 0) return NULL;
  sr_mjcf_write(&sum, "(");
  if (d->tendon >= 0)
    add_inertias(d->m, &d->m->tendon[d->tendon], d->gear[0], &sum);
  else
    add_inertia(d->m, d->joint, d->gear[0], &sum);
  if (sum.n == 1) sr_mjcf_write(&sum, "0");
  sr_mjcf_write(&sum, ")");
  return sr_mjcf_written(&sum);
}

// --------------------------------------------------------------------------------------------------------------- force
// factor*force on a hinge or slide, whose actuatorfrcrange clamps the sum of all that actuators do to it. False: nothing
// more may come.
static bool push_scalar(srMjcfDrive* d, int joint, double factor) {
  srMjcfForceSum* s = &d->sum[joint];
  if (factor == 0) return true;
  if (!s->clamped) return sr_mjcf_add_torque(d->m, joint, 0, factor, d->out.force, d->name, d->node->place);
  s->place = d->node->place;
  sr_mjcf_charge(d->m, strlen(d->out.force), 2);
  sr_mjcf_write_term(&s->text, factor, sr_pool_printf(&d->m->r->pool, "(%s)", d->out.force));
  return true;
}

static void drive_tendon(srMjcfDrive* d) {
  const srMjcfTendon* t = &d->m->tendon[d->tendon];
  for (int i = 0; i < t->n; i++)
    if (!push_scalar(d, t->joint[i], d->gear[0] * t->coef[i])) return;
}

// Force and moment on a body in inertial axes, each factor*(force).
static void add_wrench(srMjcfDrive* d, int body, const double at[3], const char* f[3], const char* n[3]) {
  srMjcf* m = d->m;
  const srPlace place = d->node->place;
  srForceDef def = {.body = {.text = m->body[body].name, .place = place}};
  double own[3];
  srm_pose_point(m->body[body].inner, at, own);
  if (d->name) def.name = (srAttr){.text = d->name, .place = place};
  if (!is_zero(own)) def.at = sr_reader_list(m->r, own, 3, place);
  if (f) def.f = sr_reader_word(m->r, place, "(%s), (%s), (%s)", f[0], f[1], f[2]);
  if (n) def.m = sr_reader_word(m->r, place, "(%s), (%s), (%s)", n[0], n[1], n[2]);
  sr_mjcf_charge(m, strlen(d->out.force), 6);
  sr_reader_add(m->r, SR_ELEMENT_FORCE, SR_NO_OWNER, &def, place);
}

static const char* times(srMjcfDrive* d, double factor, const char* more) {
  srMjcfText text = {.pool = &d->m->r->pool};
  sr_mjcf_write_term(&text, factor, sr_pool_printf(&d->m->r->pool, "(%s)%s", d->out.force, more));
  return sr_mjcf_written(&text);
}

// Free: the first three of the gear push along the axes of the world, the others turn about those of the body, or of the
// world with jointinparent.
static void drive_free(srMjcfDrive* d) {
  const int body = d->m->joint[d->joint].body;
  const double origin[3] = {0};
  const char *f[3], *n[3];
  for (int k = 0; k < 3; k++) f[k] = times(d, d->gear[k], ""), n[k] = times(d, d->gear[3 + k], "");
  const bool pushes = !is_zero(d->gear), turns = !is_zero(d->gear + 3) && d->in_parent;
  if (pushes || turns) add_wrench(d, body, origin, pushes ? f : NULL, turns ? n : NULL);
  for (int k = 0; k < 3 && !d->in_parent; k++)
    if (d->gear[3 + k] != 0)
      sr_mjcf_add_torque(d->m, d->joint, k, d->gear[3 + k], d->out.force, d->name, d->node->place);
}

// A vector of the site's frame in inertial axes, times the force: its components by the sensor of the site.
static void turned(srMjcfDrive* d, const char* sensor, const double u[3], const char* out[3]) {
  static const char axes[] = "xyz";
  for (int i = 0; i < 3; i++) {
    srMjcfText sum = {.pool = &d->m->r->pool};
    for (int k = 0; k < 3; k++)
      sr_mjcf_write_term(&sum, u[k], sr_pool_printf(&d->m->r->pool, "sensor(%s, r%c%c)", sensor, axes[i], axes[k]));
    out[i] = times(d, 1, sr_pool_printf(&d->m->r->pool, "*(%s)", sr_mjcf_written(&sum)));
  }
}

static void drive_site(srMjcfDrive* d) {
  srMjcf* m = d->m;
  const srMjcfSite* s = &m->site[d->site];
  const srPlace place = d->node->place;
  if (m->body[s->body].index < 0) return;  // nothing moves the ground
  if (!m->sensors.pool) sr_names_init(&m->sensors, &m->r->pool);
  const char* sensor = sr_reader_name(m->r, sr_pool_printf(&m->r->pool, "site of %s", d->out.control), &m->sensors);
  const srSensorDef def = {.name = {.text = sensor, .place = place}, .point = {.text = s->point, .place = place}};
  sr_reader_add(m->r, SR_ELEMENT_SENSOR, SR_NO_OWNER, &def, place);
  const char *f[3], *n[3];
  const bool pushes = !is_zero(d->gear), turns = !is_zero(d->gear + 3);
  turned(d, sensor, d->gear, f);
  turned(d, sensor, d->gear + 3, n);
  if (pushes || turns) add_wrench(d, s->body, s->pose + 12, pushes ? f : NULL, turns ? n : NULL);
}

static void drive_joint(srMjcfDrive* d) {
  const srMjcfJoint* j = &d->m->joint[d->joint];
  if (j->type == SR_MJCF_FREE) {
    drive_free(d);
  } else if (j->type == SR_MJCF_BALL) {
    for (int k = 0; k < 3; k++)
      if (d->gear[k] != 0) sr_mjcf_add_torque(d->m, d->joint, k, d->gear[k], d->out.force, d->name, d->node->place);
  } else {
    push_scalar(d, d->joint, d->gear[0]);
  }
}

void sr_mjcf_drive_work(srMjcfDrive* d) {
  if (d->tendon >= 0)
    drive_tendon(d);
  else if (d->site >= 0)
    drive_site(d);
  else
    drive_joint(d);
}
