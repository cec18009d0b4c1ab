// Passive forces of MJCF's joints for which a native <joint> has no attribute: laws on their coordinates.
// Source: MuJoCo's XML reference, "joint", and MuJoCo 3.14 itself.
//
//   spring    -(a x + b x^2 + c x^3), x = q - springref; a is the joint's own stiffness
//   damper    -(a v + b v |v| + c v^3), of a ball joint about each axis; a is the joint's own damping
//   armature of a free joint: MuJoCo has its velocity in the axes of the world, u = R v, Sarrus in those of the body. Then
//             A u' = R A (v' + w x v): the native armature is A v', and -A (w x v) remains
//   gravcomp  a force that carries a part of a body's weight
#include <string.h>

#include "io/mjcf/law.h"
#include "math/pose.h"

static bool is_given(const double more[2]) { return more[0] != 0 || more[1] != 0; }

static void write_spring(srMjcf* m, const srMjcfPassive* p, const char* q, srMjcfText* law) {
  srPool* pool = &m->r->pool;
  const char* stretch = p->rest != 0 ? sr_pool_printf(pool, "(%s - %s)", q, sr_mjcf_literal(pool, p->rest)) : q;
  for (int i = 0; i < 2; i++)
    sr_mjcf_write_term(law, -p->stiffness[1 + i], sr_pool_printf(pool, "%s^%d", stretch, i + 2));
}

static void write_damper(srMjcf* m, const srMjcfPassive* p, const char* v, srMjcfText* law) {
  sr_mjcf_write_term(law, -p->damping[1], sr_pool_printf(&m->r->pool, "%s*abs(%s)", v, v));
  sr_mjcf_write_term(law, -p->damping[2], sr_pool_printf(&m->r->pool, "%s^3", v));
}

static void put(srMjcf* m, int joint, int coordinate, srMjcfText* law) {
  if (law->n > 0) sr_mjcf_add_torque(m, joint, coordinate, 1, sr_mjcf_written(law), NULL, m->joint[joint].place);
}

static void of_scalar(srMjcf* m, int joint, const srMjcfPassive* p) {
  srMjcfText law = {.pool = &m->r->pool};
  write_spring(m, p, sr_mjcf_coordinate(m, joint, false), &law);
  write_damper(m, p, sr_mjcf_coordinate(m, joint, true), &law);
  put(m, joint, 0, &law);
}

static void of_ball(srMjcf* m, int joint, const srMjcfPassive* p) {
  for (int k = 0; k < 3; k++) {
    srMjcfText law = {.pool = &m->r->pool};
    write_damper(m, p, sr_pool_printf(&m->r->pool, "v(%s, %d)", m->joint[joint].name, k), &law);
    put(m, joint, k, &law);
  }
}

static void of_free(srMjcf* m, int joint, const srMjcfPassive* p) {
  const char* name = m->joint[joint].name;
  for (int k = 0; k < 3 && p->armature != 0; k++) {
    const int i = (k + 1) % 3, l = (k + 2) % 3;
    srMjcfText law = {.pool = &m->r->pool};
    sr_mjcf_write_term(&law, -p->armature,
                       sr_pool_printf(&m->r->pool, "(v(%s, %d)*v(%s, %d) - v(%s, %d)*v(%s, %d))", name, i, name, 3 + l,
                                      name, l, name, 3 + i));
    put(m, joint, 3 + k, &law);
  }
}

// -gravcomp m g at the centre of mass. MuJoCo has no passive forces at all without springs and dampers.
void sr_mjcf_gravity_compensation(srMjcf* m) {
  const double* g = m->gravity;
  if (!m->with_springs && !m->with_dampers) return;
  for (int i = 1; i < m->nbody && !m->r->stopped; i++) {
    const srMjcfBody* b = &m->body[i];
    const double weight = -b->gravcomp * b->mass;
    if (weight == 0 || (g[0] == 0 && g[1] == 0 && g[2] == 0) || sr_reader_is_over(m->r, b->place)) continue;
    double at[3];
    srm_pose_point(b->inner, m->inertia[i].com, at);
    const srForceDef def = {
        .body = {.text = b->name, .place = b->place},
        .at = sr_reader_list(m->r, at, 3, b->place),
        .f = sr_reader_word(m->r, b->place, "%.17g, %.17g, %.17g", weight * g[0], weight * g[1], weight * g[2])};
    sr_reader_add(m->r, SR_ELEMENT_FORCE, SR_NO_OWNER, &def, b->place);
  }
}

void sr_mjcf_passive(srMjcf* m, int joint, const srMjcfPassive* p) {
  static const char* const types[] = {"free", "ball"};
  const srMjcfJointType type = m->joint[joint].type;
  if (sr_mjcf_is_scalar(m, joint)) {
    of_scalar(m, joint, p);
    return;
  }
  if (is_given(p->stiffness + 1))
    sr_reader_ignore(m->r, m->joint[joint].place, "the second and third number of 'stiffness' of a %s joint",
                     types[type]);
  if (type == SR_MJCF_FREE && is_given(p->damping + 1))
    sr_reader_ignore(m->r, m->joint[joint].place, "the second and third number of 'damping' of a free joint");
  if (type == SR_MJCF_BALL)
    of_ball(m, joint, p);
  else
    of_free(m, joint, p);
}
