// Mass of MJCF's bodies: from <inertial>, or summed over their geoms; then <compiler>'s bounds, balance and total mass.
// Source: MuJoCo's XML reference, "compiler", "inertial", "geom"; solids are homogeneous.
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"
#include "math/dense.h"
#include "math/inertia.h"
#include "math/pose.h"

#define PI 3.14159265358979323846

static void add(srMjcfInertia* sum, double mass, const double com[3], const double J[9]) {
  if (sum->mass + mass > 0) srm_add_inertia(&sum->mass, sum->com, sum->J, mass, com, J);
}

// -------------------------------------------------------------------------------------------------------------- geoms
// Volume of a geom, and its moments by its mass, about its centre; s as in the file.
static double solid(const char* type, const double* s, double J[9]) {
  if (strcmp(type, "sphere") == 0) {
    srm_diagonal(J, 0.4 * s[0] * s[0], 0.4 * s[0] * s[0], 0.4 * s[0] * s[0]);
    return 4 * PI / 3 * s[0] * s[0] * s[0];
  }
  const double x = s[0] * s[0], y = s[1] * s[1], z = s[2] * s[2];
  if (strcmp(type, "box") == 0) {
    srm_diagonal(J, (y + z) / 3, (x + z) / 3, (x + y) / 3);
    return 8 * s[0] * s[1] * s[2];
  }
  if (strcmp(type, "ellipsoid") == 0) {
    srm_diagonal(J, (y + z) / 5, (x + z) / 5, (x + y) / 5);
    return 4 * PI / 3 * s[0] * s[1] * s[2];
  }
  const double barrel = 2 * PI * x * s[1], across = x / 4 + y / 3;  // half length s[1]
  if (strcmp(type, "cylinder") == 0) {
    srm_diagonal(J, across, across, x / 2);
    return barrel;
  }
  // A capsule: the barrel and two half balls, whose centroids are 3/8 r from their bases.
  const double balls = 4 * PI / 3 * x * s[0], volume = barrel + balls;
  const double side = (barrel * across + balls * (0.4 * x + y + 0.75 * s[1] * s[0])) / volume;
  srm_diagonal(J, side, side, (barrel * x / 2 + balls * 0.4 * x) / volume);
  return volume;
}

// Area of a geom's surface, and its moments by its mass. Of an ellipsoid MuJoCo has the area by Thomsen's approximation, and
// the moments of a thin layer of the same thickness along all three axes: those of d(V (y + z)/5) by d(V).
static double shell(const char* type, const double* s, double J[9]) {
  const double r = s[0], x = s[0] * s[0];
  if (strcmp(type, "sphere") == 0) {
    srm_diagonal(J, 2 * x / 3, 2 * x / 3, 2 * x / 3);
    return 4 * PI * x;
  }
  const double h = s[1], y = s[1] * s[1], z = s[2] * s[2];
  if (strcmp(type, "box") == 0) {
    const double xy = s[0] * s[1], yz = s[1] * s[2], zx = s[2] * s[0], all = xy + yz + zx;
    const double xx = x * (xy + 3 * yz + zx) / (3 * all), yy = y * (xy + yz + 3 * zx) / (3 * all);
    const double zz =
        z * (3 * xy + yz + zx) / (3 * all);  // second moments: a side has its own distance, others a third
    srm_diagonal(J, yy + zz, xx + zz, xx + yy);
    return 8 * all;
  }
  if (strcmp(type, "ellipsoid") == 0) {
    const double p = 1.6075, sum = 1 / s[0] + 1 / s[1] + 1 / s[2];
    const double xx = (x + 2 * s[0] / sum) / 5, yy = (y + 2 * s[1] / sum) / 5, zz = (z + 2 * s[2] / sum) / 5;
    srm_diagonal(J, yy + zz, xx + zz, xx + yy);
    return 4 * PI * pow((pow(s[0] * s[1], p) + pow(s[1] * s[2], p) + pow(s[2] * s[0], p)) / 3, 1 / p);
  }
  const double barrel = 4 * PI * r * h, across = x / 2 + y / 3;
  if (strcmp(type, "cylinder") == 0) {
    const double discs = 2 * PI * x, area = barrel + discs;
    const double side = (barrel * across + discs * (x / 4 + y)) / area;
    srm_diagonal(J, side, side, (barrel * x + discs * x / 2) / area);
    return area;
  }
  // A capsule: the centroid of half a sphere is r/2 from its base.
  const double balls = 4 * PI * x, area = barrel + balls;
  const double side = (barrel * across + balls * (2 * x / 3 + y + h * r)) / area;
  srm_diagonal(J, side, side, (barrel * x + balls * 2 * x / 3) / area);
  return area;
}

bool sr_mjcf_wants_geoms(const srMjcf* m, int body) {
  const int from_geom = m->compiler[m->body[body].scope].inertia_from_geom;
  return body > 0 && (from_geom == 1 || (from_geom == 2 && !m->inertia[body].given));
}

static bool check_mass(srMjcf* m, const srMjcfGeom* g, double mass) {
  if (mass < 1e100) return true;
  sr_mjcf_error(m, g->place, "the mass of the geom, %g kg, is too large", mass);
  return false;
}

void sr_mjcf_geom_inertia(srMjcf* m, const srMjcfGeom* g, const srMjcfMatter* matter) {
  double unit[9], J[9];
  const double measure = matter->shell ? shell(g->type, g->size, unit) : solid(g->type, g->size, unit);
  const double mass = matter->mass < 0 ? matter->density * measure : matter->mass;
  for (int k = 0; k < 9; k++) unit[k] *= mass;
  srm_pose_rotate_tensor(g->pose, unit, J);
  if (!check_mass(m, g, mass)) return;
  add(&m->inertia[g->body], mass, g->pose + 12, J);
  m->body[g->body].mass += mass;
}

void sr_mjcf_mesh_inertia(srMjcf* m, const srMjcfGeom* g, int index, const srMjcfMatter* matter) {
  srMjcfMesh* mesh = &m->mesh[index];
  double pose[16], com[3], unit[9], J[9];
  if (matter->mass == 0 || (matter->mass < 0 && matter->density == 0)) return;
  if (!sr_mjcf_mesh_weigh(m, mesh, sr_mjcf_mesh_filling(m, mesh, matter->shell))) {
    sr_reader_ignore(m->r, g->place, "the mass of a mesh without volume");
    return;
  }
  const double density = matter->mass > 0 ? matter->mass / mesh->measure : matter->density;
  const double mass = density * mesh->measure;
  if (!check_mass(m, g, mass)) return;
  srm_pose_compose(g->pose, mesh->inverse, pose);
  srm_pose_point(pose, mesh->com, com);
  for (int k = 0; k < 9; k++) unit[k] = density * mesh->J[k];
  srm_pose_rotate_tensor(pose, unit, J);
  add(&m->inertia[g->body], mass, com, J);
  m->body[g->body].mass += mass;
}

// ----------------------------------------------------------------------------------------------------------- inertial
static bool read_moments(srMjcf* m, const srMjcfInside* x, const double pose[16], srMjcfInertia* out) {
  const srXmlAttribute* full = sr_xml_attribute(x->node, "fullinertia");
  double given[6] = {0}, J[9];
  static const char* const ways[] = {"diaginertia", "quat", "axisangle", "euler", "xyaxes", "zaxis"};
  for (int i = 0; full && i < SR_COUNT(ways); i++) {
    const srXmlAttribute* other = sr_xml_attribute(x->node, ways[i]);
    if (!other) continue;
    sr_mjcf_error(m, other->name_place, "'%s' and 'fullinertia' exclude each other", ways[i]);
    return false;
  }
  if (sr_mjcf_numbers(m, x->node, NULL, "diaginertia", 3, 3, given) < 0) return false;
  if (sr_mjcf_numbers(m, x->node, NULL, "fullinertia", 6, 6, given) < 0) return false;
  srm_symmetric(given, J);
  srm_pose_rotate_tensor(pose, J, out->J);
  return true;
}

void sr_mjcf_inertial(srMjcf* m, int body, const srMjcfInside* x) {
  srMjcfInertia* out = &m->inertia[body];
  const srXmlAttribute* mass = sr_xml_attribute(x->node, "mass");
  double own[16], pose[16], kg = 0;
  sr_mjcf_check_own_words(m, x->node);
  if (m->compiler[m->body[body].scope].inertia_from_geom == 1) return;  // geoms alone
  out->given = true;
  out->place = x->node->place;
  if (!mass) {
    sr_mjcf_error(m, x->node->place, "<inertial> needs the attribute 'mass'");
    return;
  }
  if (sr_mjcf_values(m, mass, 1, 1, &kg) < 0 || !sr_mjcf_pose(m, x->node, NULL, own)) return;
  if (kg < 0) {
    sr_mjcf_error(m, mass->place, "'mass' must not be negative, got %g", kg);
    return;
  }
  srm_pose_compose(x->frame, own, pose);
  if (!read_moments(m, x, pose, out)) return;
  out->mass = m->body[body].mass = kg;
  memcpy(out->com, pose + 12, sizeof out->com);
}

// ----------------------------------------------------------------------------------------------------- <compiler>'s part
// The inertia of a body that has none is at the body's own `pos`, as seen from the body itself: so in MuJoCo.
static void place_inertia(const srMjcf* m, int body) {
  const srMjcfBody *b = &m->body[body], *parent = &m->body[b->parent];
  double back[16], away[3];
  srm_pose_transpose(parent->outer, back);
  for (int k = 0; k < 3; k++) away[k] = b->outer[12 + k] - parent->outer[12 + k];
  srm_pose_rotate(back, away, m->inertia[body].com);
}

// Mass and principal moments are not below their bounds.
static void bound(srMjcf* m, int body) {
  srMjcfInertia* x = &m->inertia[body];
  const srMjcfCompiler* c = &m->compiler[m->body[body].scope];
  double V[9], e[3];
  if (x->mass == 0 && !x->given) place_inertia(m, body);
  if (x->mass < c->bound_mass) x->mass = c->bound_mass;
  if (c->bound_inertia <= 0) return;
  srm_principal(x->J, V, e);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 9 && e[k] < c->bound_inertia; i++)
      x->J[i] += (c->bound_inertia - e[k]) * V[3 * (i / 3) + k] * V[3 * (i % 3) + k];
}

// Where the moments break the triangle inequality, all become their mean.
static void balance(srMjcfInertia* x) {
  double e[3];
  srm_eigen_sym3(x->J, e);
  const double sum = e[0] + e[1] + e[2], high = fmax(e[0], fmax(e[1], e[2]));
  if (sum - high < high) srm_diagonal(x->J, sum / 3, sum / 3, sum / 3);
}

static double total_mass(const srMjcf* m) {
  double sum = 0;
  for (int i = 1; i < m->nbody; i++) sum += m->body[i].mass;
  return sum;
}

static void put(srMjcf* m, int body, double scale) {
  const srMjcfInertia* x = &m->inertia[body];
  const srMjcfBody* b = &m->body[body];
  double com[3], J[9], six[6];
  srm_pose_point(b->inner, x->com, com);
  srm_pose_rotate_tensor(b->inner, x->J, J);
  const int place[] = {0, 4, 8, 1, 2, 5};
  for (int k = 0; k < 6; k++) six[k] = scale * J[place[k]];
  const bool full = six[3] != 0 || six[4] != 0 || six[5] != 0;
  const bool centred = com[0] == 0 && com[1] == 0 && com[2] == 0;
  srInertialDef def = {.mass = sr_reader_one(scale * x->mass, x->place),
                       .inertia = sr_reader_list(m->r, six, full ? 6 : 3, x->place),
                       .check = {.text = "warn", .place = x->place}};
  if (!centred) def.com = sr_reader_list(m->r, com, 3, x->place);
  sr_reader_add(m->r, SR_ELEMENT_INERTIAL, b->index, &def, x->place);
}

void sr_mjcf_put_inertia(srMjcf* m) {
  for (int i = 1; i < m->nbody; i++) {
    srMjcfInertia* x = &m->inertia[i];
    const double before = x->mass;
    bound(m, i);
    if (m->compiler[m->body[i].scope].balance_inertia) balance(x);
    m->body[i].mass += x->mass - before;
  }
  const double total = total_mass(m), wanted = m->compiler[0].total_mass;
  const double scale = wanted > 0 && total > 0 ? wanted / total : 1;
  if (!isfinite(total) || !(scale < 1e100)) {
    sr_mjcf_error(m, m->root->place, "the total mass is %g kg and cannot be brought to %g kg", total, wanted);
    return;
  }
  for (int i = 1; i < m->nbody && !m->r->stopped; i++) {
    m->body[i].mass *= scale;
    if (m->inertia[i].mass > 0 || m->inertia[i].J[0] + m->inertia[i].J[4] + m->inertia[i].J[8] > 0) put(m, i, scale);
  }
}
