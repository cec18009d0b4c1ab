// contact(NAME): a contact of two shapes, a gap by formula, the end of travel of a joint; a <contact> of many shapes as a whole, and
// each of its shapes.
//
//   all            n: normal force; gap > 0 apart; penetration: max(0, -gap); state: 0 open, 1 sticks, 2 slides (without friction always 2);
//                  power, work, energy, dissipation as of other force elements
//   two shapes     fx fy fz: friction force on shape b; slip: speed, sx sy sz: velocity of b relative to a at the contact; nx ny nz: from a to b
//   gap            f: friction force along the slip; slip: its rate
//   many shapes    count: contacts that are closed; n: sum of normal forces; penetration: the largest
//   one of these   count, n, penetration of its contacts; fx fy fz: sum of all contact forces on it
// Default axes: ground.
// Runs with rigid contact have no force laws: forces, state and powers are what the method has found (contact/found.h), summed over the points of a contact; energy is 0,
// work is not integrated. Gap, slip and normal are those of the nearest point.
#include "contact/element.h"

#include <math.h>
#include <string.h>

#include "contact/found.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"
#include "math/pose.h"
#include "math/vector3.h"
#include "record/kinds.h"

// ---- objects: elements, sets, members of sets --------------------------------------------------------------------------------

typedef struct What {
  const srForceElement* element;  // NULL: not an element
  int set, member;                // else the set; member: -1 the whole
} What;

static int count(const srModel* m) {
  int n = m->nforce + m->nset;
  for (int i = 0; i < m->nset; i++) n += m->set[i].nmember;
  return n;
}

static What what_is(const srModel* m, int i) {
  if (i < m->nforce) return (What){&m->force[i], -1, -1};
  i -= m->nforce;
  if (i < m->nset) return (What){NULL, i, -1};
  i -= m->nset;
  int set = 0;
  while (i >= m->set[set].nmember) i -= m->set[set++].nmember;
  return (What){NULL, set, i};
}

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

static const char* name(const srModel* m, int i, srPool* pool) {
  const What x = what_is(m, i);
  if (x.element != NULL) return is_contact(x.element) ? x.element->name : NULL;
  const srContactSet* set = &m->set[x.set];
  return x.member < 0 ? set->name : sr_pool_printf(pool, "%s/%s", set->name, m->collider[set->member[x.member]].name);
}

// ---- members -----------------------------------------------------------------------------------------------------------------

static int put(srQuantityMember* out, int n, const srQuantityMember* from, int k) {
  memcpy(out + n, from, (size_t)k * sizeof *from);
  return n + k;
}

static const srQuantityMember vector_members[] = {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}};
static const srQuantityMember energy_members[] = {{"power", "W"}, {"work", "J"}, {"energy", "J"}, {"dissipation", "W"}};

static int element_members(const srModel* m, const srForceElement* e, srQuantityMember* out) {
  static const srQuantityMember shapes[] = {{"slip", "m/s"}, {"sx", "m/s"}, {"sy", "m/s"}, {"sz", "m/s"},
                                            {"nx", ""},      {"ny", ""},    {"nz", ""}};
  static const srQuantityMember formula[] = {{"f", "N"}, {"slip", "m/s"}};
  const bool angle = e->law->port == SR_PORT_JOINT && strcmp(m->v_unit[e->dof], "m/s") != 0;
  int n = put(out, 0, (srQuantityMember[]){{"n", angle ? "Nm" : "N"}, {"gap", angle ? "rad" : "m"}}, 2);
  n = put(out, n, (srQuantityMember[]){{"penetration", angle ? "rad" : "m"}, {"state", ""}}, 2);
  if (e->law->port == SR_PORT_GAP) n = put(out, n, formula, SR_COUNT(formula));
  if (e->law->port == SR_PORT_FRAMES) {
    n = put(out, n, vector_members, SR_COUNT(vector_members));
    n = put(out, n, shapes, SR_COUNT(shapes));
  }
  return put(out, n, energy_members, SR_COUNT(energy_members));
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  static const srQuantityMember many[] = {{"count", ""}, {"n", "N"}, {"penetration", "m"}};
  const What x = what_is(m, i);
  if (x.element != NULL) return element_members(m, x.element, out);
  const int n = put(out, 0, many, SR_COUNT(many));
  return x.member < 0 ? put(out, n, energy_members, SR_COUNT(energy_members))
                      : put(out, n, vector_members, SR_COUNT(vector_members));
}

static int axes_of(const srModel* m, int i, srAxes which) {
  const What x = what_is(m, i);
  if (x.element != NULL && x.element->law->port != SR_PORT_FRAMES) return -1;
  if (x.element == NULL && x.member < 0) return -1;
  if (which == SR_AXES_DEFAULT) return 0;
  if (x.element != NULL) return x.element->point[which == SR_AXES_BODY];
  const int point = m->collider[m->set[x.set].member[x.member]].point;
  return which == SR_AXES_BODY ? point : m->body_parent[m->point_body[point]];
}

static bool meter(const srModel* m, int i, const char* member, srMeter* out) {
  *out = sr_meter_of_element(i);  // sets follow the elements in both
  return i < m->nforce + m->nset && strcmp(member, "work") == 0;
}

// ---- values ------------------------------------------------------------------------------------------------------------------

// The second evaluation restores the rates of its states, which the first one needs memory for.
static int evaluate(srRecorder* r, const srForceElement* e, srPortMotion* motion, srElementForce* force,
                    srContactForce* contact) {
  const int answer = sr_port_motion(r->m, r->d, e, motion);
  if (answer != 0) return answer;
  const srImpedanceIn in = sr_element_input(r->d, e, motion);
  const int found = sr_contact_force(e, &in, r->d->ydot + e->y, contact);
  return found != 0 ? found : sr_element_force(r->m, r->d, e, motion, force);
}

static void put_axes(const srPortMotion* motion, const double axes[16], const double* u, double* out) {
  double ground[3];
  srm_pose_rotate(motion->axes, u, ground);
  sr_record_rotate(axes, ground, out);
}

static double depth(const srContactForce* x) { return x->gap < 0 ? -x->gap : 0; }

// What the run has found of an element, in place of its law.
static void put_found(const srRecorder* r, int element, const srPortMotion* motion, srContactForce* contact,
                      srElementForce* force) {
  const srFoundContacts* found = r->d->found;
  double friction[3] = {0}, back[16];
  contact->normal = force->power = force->energy = force->dissipated = 0;
  contact->state = SR_CONTACT_OPEN;
  for (int i = 0; i < found->count; i++) {
    const srFoundContact* of = &found->contact[i];
    if (of->element != element || of->state == SR_CONTACT_OPEN) continue;
    contact->normal += of->normal;
    srm_add_scaled3(friction, 1, of->friction, friction);
    // It slides where one of its points does.
    if (of->state > contact->state) contact->state = of->state;
    force->power += of->power;
    force->dissipated += of->dissipation;
  }
  memcpy(contact->friction, friction, sizeof friction);
  if (r->m->force[element].law->port != SR_PORT_FRAMES) return;
  srm_pose_transpose(motion->axes, back);
  srm_pose_rotate(back, friction, contact->friction);
}

static int fill_element(srRecorder* r, const srRecordGroup* group, const srForceElement* e, const double axes[16],
                        double* out) {
  srPortMotion motion;
  srElementForce force;
  srContactForce contact;
  const int answer = evaluate(r, e, &motion, &force, &contact);
  if (answer != 0) return answer;
  if (r->d->rigid) put_found(r, group->index, &motion, &contact, &force);
  int n = 0;
  out[n++] = contact.normal;
  out[n++] = contact.gap;
  out[n++] = depth(&contact);
  out[n++] = contact.state;
  if (e->law->port == SR_PORT_GAP) {
    out[n++] = contact.friction[0];
    out[n++] = contact.slip[0];
  }
  if (e->law->port == SR_PORT_FRAMES) {
    put_axes(&motion, axes, contact.friction, out + n);
    out[n + 3] = srm_norm3(contact.slip);
    put_axes(&motion, axes, contact.slip, out + n + 4);
    put_axes(&motion, axes, contact.n, out + n + 7);
    n += 10;
  }
  out[n++] = force.power;
  out[n++] = r->d->rigid ? (double)NAN : sr_recorder_work(r, group);
  out[n++] = force.energy;
  out[n] = force.dissipated;
  return 0;
}

// Sums over the contacts of a set: of all its shapes, or of one.
static int fill_set(srRecorder* r, const srRecordGroup* group, const What* x, const double axes[16], double* out) {
  const srModel* m = r->m;
  const struct srInstances* in = r->d->instances;
  const int shape = x->member >= 0 ? m->set[x->set].member[x->member] : -1;
  double sum[3] = {0}, power = 0, energy = 0, dissipated = 0;
  memset(out, 0, 7 * sizeof *out);
  for (int k = 0; k < in->nused; k++) {
    const srInstance* instance = &in->instance[in->used[k]];
    if (instance->set != x->set || (shape >= 0 && instance->a != shape && instance->b != shape)) continue;
    srPortMotion motion;
    srElementForce force;
    srContactForce contact;
    const int answer = evaluate(r, &instance->element, &motion, &force, &contact);
    if (answer != 0) return answer;
    double on_b[3];
    srm_pose_rotate(motion.axes, force.f + 3, on_b);
    for (int i = 0; i < 3; i++) sum[i] += instance->b == shape ? on_b[i] : -on_b[i];
    out[0] += contact.state != SR_CONTACT_OPEN;
    out[1] += contact.normal;
    out[2] = fmax(out[2], depth(&contact));
    power += force.power;
    energy += force.energy;
    dissipated += force.dissipated;
  }
  if (shape >= 0) {
    sr_record_rotate(axes, sum, out + 3);
  } else {
    memcpy(out + 3, (double[]){power, sr_recorder_work(r, group), energy, dissipated}, 4 * sizeof *out);
  }
  return 0;
}

static void fill_found_set(const srRecorder* r, const What* x, const double axes[16], double* out) {
  const srFoundContacts* found = r->d->found;
  const int shape = x->member >= 0 ? r->m->set[x->set].member[x->member] : -1;
  double sum[3] = {0}, power = 0, dissipation = 0;
  memset(out, 0, 7 * sizeof *out);
  for (int i = 0; i < found->count; i++) {
    const srFoundContact* of = &found->contact[i];
    if (of->element >= 0 || of->set != x->set || (shape >= 0 && of->a != shape && of->b != shape)) continue;
    const double sign = of->b == shape ? 1 : -1;
    out[0] += of->state != SR_CONTACT_OPEN;
    out[1] += of->normal;
    out[2] = fmax(out[2], -of->gap);
    srm_add_scaled3(sum, sign * of->normal, of->n, sum);
    srm_add_scaled3(sum, sign, of->friction, sum);
    power += of->power;
    dissipation += of->dissipation;
  }
  if (shape >= 0) {
    sr_record_rotate(axes, sum, out + 3);
  } else {
    memcpy(out + 3, (double[]){power, NAN, 0, dissipation}, 4 * sizeof *out);
  }
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const What x = what_is(r->m, group->index);
  if (r->d->rigid && r->d->found == NULL) return 1;  // no run has found them
  if (r->d->rigid && x.element == NULL) {
    fill_found_set(r, &x, axes, out);
    return 0;
  }
  return x.element != NULL ? fill_element(r, group, x.element, axes, out) : fill_set(r, group, &x, axes, out);
}

const srQuantityKind sr_quantity_contact = {
    .form = "contact(NAME)",
    .about = "contact: normal force, friction, penetration, slip, state; default axes: ground",
    .stage = SR_STAGE_FORCE,
    .count = count,
    .name = name,
    .members = members,
    .axes = axes_of,
    .meter = meter,
    .fill = fill,
};
