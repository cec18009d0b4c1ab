// The model as the front end needs it: a tree of bodies with shapes and points, joints with their axes, what closes loops, springs, contacts,
// sensors. All places are in the frame of the body that they name, so that the poses of the bodies move everything.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "math/pose.h"
#include "page/page.h"

// ---- places ------------------------------------------------------------------------------------------------------------------
// Pose of a point's frame in the frame of its body: both ride on one link.
static void pose_on_body(const srModel* m, int point, double out[16]) {
  double back[16];
  srm_pose_invert(m->point_pose + 16 * m->point_body[point], back);
  srm_pose_compose(back, m->point_pose + 16 * point, out);
}

static void put_pose(srJson* json, const double pose[16]) {
  double quaternion[4];
  srm_quaternion_from_pose(pose, quaternion);
  sr_json_numbers(json, "at", pose + 12, 3);
  sr_json_numbers(json, "turn", quaternion, 4);
}

static void put_place(srJson* json, const char* key, const srModel* m, int point) {
  double pose[16];
  pose_on_body(m, point, pose);
  sr_json_object(json, key);
  sr_json_int(json, "body", m->point_body[point]);
  put_pose(json, pose);
  sr_json_object_end(json);
}

// ---- bodies and joints -------------------------------------------------------------------------------------------------------
static void put_bodies(srJson* json, const srModel* m) {
  sr_json_array(json, "bodies");
  for (int i = 0; i <= m->nbody; i++) {
    const double* J = m->body_inertia + 9 * i;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", m->body_name[i]);
    sr_json_int(json, "parent", m->body_parent[i]);
    sr_json_int(json, "joint", m->body_joint[i]);
    sr_json_number(json, "mass", m->body_mass[i]);
    sr_json_numbers(json, "com", m->body_com + 4 * i, 3);
    sr_json_numbers(json, "inertia", (double[]){J[0], J[4], J[8], J[1], J[2], J[5]}, 6);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static const char* link_word(int type) {
  static const char* const words[] = {"ground", "turn", "slide", "screw", "ball", "free"};
  return words[type];
}

// A vector without the minus sign that inverted poses give to zeros.
static void put_vector(srJson* json, const char* key, const double x[3]) {
  sr_json_numbers(json, key, (double[]){x[0] + 0.0, x[1] + 0.0, x[2] + 0.0}, 3);
}

// Axis of a link, which is its z, in the frame of a body whose link has the pose `link` in it.
static void put_axis(srJson* json, const srModel* m, int k, int body, const double link[16]) {
  sr_json_object(json, NULL);
  sr_json_text(json, "kind", link_word(m->link_type[k]));
  sr_json_int(json, "body", body);
  put_vector(json, "at", link + 12);
  put_vector(json, "axis", link + 8);
  sr_json_object_end(json);
}

// The first link of a joint is fixed in direction to the parent, the last one to the body; those between them are not drawn.
static void put_axes(srJson* json, const srModel* m, int joint) {
  const int body = m->joint_body[joint], parent = m->body_parent[body], last = m->body_link[body];
  double back[16], pose[16];
  int first = last;
  sr_json_array(json, "axes");
  if (m->absolute || m->link_joint[last] != joint) {  // a weld has no link of its own
    sr_json_array_end(json);
    return;
  }
  while (m->link_joint[m->link_parent[first]] == joint) first = m->link_parent[first];
  if (first != last) {
    srm_pose_invert(m->point_pose + 16 * parent, back);
    srm_pose_compose(back, m->link_tree + 16 * first, pose);
    put_axis(json, m, first, parent, pose);
  }
  srm_pose_invert(m->point_pose + 16 * body, pose);
  put_axis(json, m, last, body, pose);
  sr_json_array_end(json);
}

// Where the joint is on its parent: the frame of its first link at q = 0.
static void put_seat(srJson* json, const srModel* m, int joint) {
  const int body = m->joint_body[joint], parent = m->body_parent[body];
  int first = m->body_link[body];
  double back[16], pose[16];
  if (m->absolute) return;
  srm_pose_invert(m->point_pose + 16 * parent, back);
  if (m->link_joint[first] != joint) {  // a weld
    srm_pose_compose(back, m->point_pose + 16 * body, pose);
  } else {
    while (m->link_joint[m->link_parent[first]] == joint) first = m->link_parent[first];
    srm_pose_compose(back, m->link_tree + 16 * first, pose);
  }
  sr_json_numbers(json, "seat", pose + 12, 3);
}

static void put_texts(srJson* json, const char* key, const char* const* texts, int n) {
  sr_json_array(json, key);
  for (int i = 0; i < n; i++) sr_json_text(json, NULL, texts[i]);
  sr_json_array_end(json);
}

// Ends of travel of a coordinate: those of its stops.
static void put_limits(srJson* json, const srModel* m, int joint) {
  double limit[2] = {-INFINITY, INFINITY};
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    if (e->law->port != SR_PORT_JOINT || e->qdof != m->joint_q[joint]) continue;
    if (strcmp(e->law->name, "joint-stop") == 0) limit[0] = e->p[0], limit[1] = e->p[1];
    if (e->contact != NULL && e->contact->law != NULL) limit[e->contact->side > 0] = e->contact->end;
  }
  if (m->joint_nq[joint] == 1 && (isfinite(limit[0]) || isfinite(limit[1]))) sr_json_numbers(json, "limits", limit, 2);
}

static bool is_driven(const srModel* m, int joint) {
  for (int i = 0; i < m->ndriver; i++) {
    const int k = m->driver[i].dof - m->joint_v[joint];
    if (k >= 0 && k < m->joint_nv[joint]) return true;
  }
  return false;
}

static void put_joints(srJson* json, const srModel* m) {
  sr_json_array(json, "joints");
  for (int i = 0; i < m->njoint; i++) {
    sr_json_object(json, NULL);
    sr_json_text(json, "name", m->joint_name[i]);
    sr_json_text(json, "type", sr_joint_word((srJointType)m->joint_type[i]));
    sr_json_int(json, "body", m->joint_body[i]);
    sr_json_bool(json, "implied", m->joint_implied[i] != 0);
    sr_json_bool(json, "driven", is_driven(m, i));
    put_texts(json, "q", m->q_name + m->joint_q[i], m->joint_nq[i]);
    put_texts(json, "v", m->v_name + m->joint_v[i], m->joint_nv[i]);
    put_limits(json, m, i);
    put_seat(json, m, i);
    put_axes(json, m, i);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

// ---- shapes and points -------------------------------------------------------------------------------------------------------
static void put_triangles(srJson* json, const srPageTriangles* t) {
  if (t->nvertex == 0) return;
  sr_json_object(json, "triangles");
  sr_json_int(json, "vertices", t->nvertex);
  sr_json_int(json, "faces", t->ntriangle);
  sr_json_int(json, "vertex", (long long)t->vertex);
  sr_json_int(json, "face", (long long)t->triangle);
  sr_json_object_end(json);
}

// Shapes of one mesh share its triangles: known has those of the mesh, then of its hull.
static srPageTriangles triangles_of(const srModel* m, int i, srPageTriangles* known, srText* out) {
  const srShape* s = &m->shape[i];
  if (s->type == SR_SHAPE_HEIGHTFIELD && s->height != NULL) return sr_page_triangles_of_field(s, out);
  if (s->type == SR_SHAPE_SURFACE && m->collision != NULL) return sr_page_triangles_of_surface(&m->collision[i], out);
  if (s->mesh < 0 || known == NULL) return (srPageTriangles){0};
  srPageTriangles* t = &known[2 * s->mesh + (s->type == SR_SHAPE_HULL)];
  if (t->nvertex == 0) *t = sr_page_triangles_of_mesh(&m->mesh[s->mesh], s->type == SR_SHAPE_HULL, out);
  return *t;
}

static void put_shapes(srJson* json, const srModel* m, srText* triangles) {
  static const char* const uses[] = {"both", "collision", "visual"};
  srPageTriangles* known = sr_alloc((size_t)(2 * m->nmesh + 1) * sizeof *known);
  if (known == NULL) triangles->failed = true;
  sr_json_array(json, "shapes");
  for (int i = 0; i < m->nshape; i++) {
    const srShape* s = &m->shape[i];
    const srPageTriangles t = triangles_of(m, i, known, triangles);
    sr_json_object(json, NULL);
    sr_json_text(json, "name", s->name);
    sr_json_int(json, "body", s->body);
    sr_json_text(json, "type", sr_shape_word(s->type));
    sr_json_numbers(json, "size", s->size, 3);
    put_pose(json, s->pose);
    sr_json_text(json, "use", uses[s->use]);
    if (s->has_color) sr_json_numbers(json, "color", s->color, 4);
    put_triangles(json, &t);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_free(known);
}

// Points that a file has named: "body/point"; frames of bodies and those without a name are left out.
static void put_points(srJson* json, const srModel* m) {
  sr_json_array(json, "points");
  for (int i = m->nbody + 1; i < m->npoint; i++) {
    const char* name = m->point_name[i];
    if (name == NULL || strchr(name, '/') == NULL) continue;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", name);
    put_place(json, "place", m, i);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

// ---- closures, forces, contacts, sensors -------------------------------------------------------------------------------------
static void put_closures(srJson* json, const srModel* m) {
  sr_json_array(json, "closures");
  for (int i = 0; i < m->nclosure; i++) {
    const srClosure* c = &m->closure[i];
    if (c->joint >= 0) continue;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", c->name);
    sr_json_text(json, "type", c->word);
    put_place(json, "a", m, c->point[0]);
    put_place(json, "b", m, c->point[1]);
    sr_json_numbers(json, "axis", c->frame[2], 3);  // in the frame a
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_couplings(srJson* json, const srModel* m) {
  sr_json_array(json, "couplings");
  for (int i = 0; i < m->ncoupling; i++) sr_json_text(json, NULL, m->coupling[i].name);
  for (int i = 0; i < m->nformula_row; i++) sr_json_text(json, NULL, m->formula_row[i].name);
  sr_json_array_end(json);
}

// Elements that a picture can show: between two points or frames, and at a point.
static void put_forces(srJson* json, const srModel* m) {
  sr_json_array(json, "forces");
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    const bool pair = e->law->port == SR_PORT_DISTANCE || e->law->port == SR_PORT_FRAMES;
    if (e->contact != NULL || (!pair && e->law->port != SR_PORT_POINT)) continue;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", e->name);
    sr_json_text(json, "law", e->law->name);
    sr_json_text(json, "port", pair ? e->law->port == SR_PORT_DISTANCE ? "distance" : "frames" : "point");
    put_place(json, "a", m, e->point[0]);
    if (pair) put_place(json, "b", m, e->point[1]);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

// The shape at a point: contacts know the frames of their shapes.
static int shape_at(const srModel* m, int point) {
  double pose[16];
  pose_on_body(m, point, pose);
  for (int i = 0; i < m->nshape; i++) {
    double most = 0;
    for (int k = 0; k < 15; k++) most = k % 4 == 3 ? most : fmax(most, fabs(m->shape[i].pose[k] - pose[k]));
    if (m->shape[i].body == m->point_body[point] && m->shape[i].use != SR_SHAPE_VISUAL && most < 1e-9) return i;
  }
  return -1;
}

static void put_contacts(srJson* json, const srModel* m) {
  sr_json_array(json, "contacts");
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    if (e->contact == NULL || e->contact->law == NULL || e->law->port == SR_PORT_JOINT) continue;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", e->name);
    if (e->law->port == SR_PORT_FRAMES) {
      sr_json_int(json, "a", shape_at(m, e->point[0]));
      sr_json_int(json, "b", shape_at(m, e->point[1]));
    }
    sr_json_object_end(json);
  }
  for (int i = 0; i < m->nset; i++) {
    const srContactSet* set = &m->set[i];
    sr_json_object(json, NULL);
    sr_json_text(json, "name", set->name);
    sr_json_array(json, "members");
    for (int k = 0; k < set->nmember; k++) {
      sr_json_object(json, NULL);
      sr_json_text(json, "name", m->collider[set->member[k]].name);
      sr_json_int(json, "shape", m->collider[set->member[k]].shape);
      sr_json_object_end(json);
    }
    sr_json_array_end(json);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_sensors(srJson* json, const srModel* m) {
  sr_json_array(json, "sensors");
  for (int i = 0; i < m->nsensor; i++) {
    const srSensor* s = &m->sensor[i];
    const int point = s->law != NULL ? s->law_point : s->point;
    sr_json_object(json, NULL);
    sr_json_text(json, "name", s->name);
    if (s->point < 0) sr_json_text(json, "unit", s->unit);
    if (point >= 0) put_place(json, "place", m, point);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

void sr_page_describe(const srModel* m, srJson* json, srText* triangles) {
  sr_json_object(json, "model");
  sr_json_text(json, "name", m->name);
  sr_json_numbers(json, "gravity", m->gravity, 3);
  sr_json_int(json, "nv", m->nv);
  sr_json_int(json, "drivers", m->ndriver);
  put_bodies(json, m);
  put_joints(json, m);
  put_shapes(json, m, triangles);
  put_points(json, m);
  put_closures(json, m);
  put_couplings(json, m);
  put_forces(json, m);
  put_contacts(json, m);
  put_sensors(json, m);
  sr_json_object_end(json);
}
