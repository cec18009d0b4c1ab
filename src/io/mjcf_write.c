// MJCF out. Our body frame is the joint's frame at q = 0, as the frame of an MJCF body is whose joints have their anchors in
// its origin. Several freedoms are several joints in one body. What becomes of each element stands in docs/convert.md.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/convert.h"
#include "io/file.h"
#include "io/reader.h"
#include "io/xml.h"
#include "math/dense.h"
#include "math/pose.h"

typedef struct Screw {
  const char *hinge, *slide;
  double pitch;
} Screw;

#define ALONG 0.1    // m: how far the second point of a hinge that closes a loop is from the first, on its axis
#define LEAST 1e-15  // of masses and moments: MuJoCo's mjMINVAL

// A site that the model does not have: the second point on the axis of a closure.
typedef struct Extra {
  double at[3];
  const char* word;
  int next;  // of the same body, -1: none
} Extra;

typedef struct Mjcf {
  srConvert* c;
  const char** body_word;   // of body b
  bool* heavy;              // body b, or what is welded to it, has mass and moments
  bool* folded;             // body b has no mass: its joint stands in the body behind it
  int* level;               // of body b: elements that are open inside of it
  const char** frame_word;  // of body b: the site that is its frame, for closures
  Extra* extra;             // two of every closure
  int* first_extra;         // of body b, -1: none
  struct Load* load;        // of body b; NULL: not added up
  int nstop;                // limits whose stops are MuJoCo's own
  const char* first_stop;
  Screw* screws;
  int nscrew, screw_capacity;
  double *qpos, *qvel;  // of the key
  int nqpos, qpos_capacity, nqvel, qvel_capacity;
  bool moved;  // the initial state is another one than MJCF's own
  int nsolid;  // shapes that are there for contacts
  srPlace first_solid;
} Mjcf;

static void put_pose(srXmlWriter* w, const double pose[16]) {
  double quaternion[4];
  if (pose[12] != 0 || pose[13] != 0 || pose[14] != 0) sr_xml_numbers(w, "pos", pose + 12, 3);
  if (!srm_pose_is_turned(pose)) return;
  srm_quaternion_from_pose(pose, quaternion);
  sr_xml_numbers(w, "quat", quaternion, 4);
}

// -------------------------------------------------------------------------------------------------------------- meshes
// In capitals too, as MuJoCo reads it; end is small.
static bool has_ending(const char* text, const char* end) {
  const size_t n = strlen(text), m = strlen(end);
  if (n < m) return false;
  for (size_t i = 0; i < m; i++)
    if ((text[n - m + i] | 0x20) != end[i]) return false;
  return true;
}

static bool can_say_mesh(const srConvert* c, int i) {
  return ((const srMeshDef*)srs_get(c->spec, SR_ELEMENT_MESH, i))->vertices.n > 0;
}

// MuJoCo reads OBJ and binary STL: its triangles of 50 bytes, counted behind 80 bytes of anything.
static bool is_binary_stl(srConvert* c, const char* file) {
  unsigned char head[84];
  const char* folder = srs_folder(c->spec);
  FILE* stream = fopen(folder ? sr_path_join(c->pool, folder, file) : file, "rb");
  if (!stream) return false;
  const bool whole = fread(head, 1, sizeof head, stream) == sizeof head && fseek(stream, 0, SEEK_END) == 0;
  const long size = whole ? ftell(stream) : 0;
  fclose(stream);
  const double n = head[80] + 256.0 * (head[81] + 256.0 * (head[82] + 256.0 * head[83]));
  return whole && (double)size == 84 + 50 * n;
}

// Of a file that was not there.
static bool is_missing(const srConvert* c, int mesh) {
  const srMeshDef* def = mesh >= 0 ? srs_get(c->spec, SR_ELEMENT_MESH, mesh) : NULL;
  return def && def->file.text && def->vertices.n == 0;
}

static void lose_missing(srConvert* c, srElementKind kind, int i) {
  sr_convert_take_all(c, kind, i);
  sr_convert_lose(c, srs_place(c->spec, kind, i), SR_LOSS_NOTHING, sr_convert_title(c, kind, i),
                  "the file of the mesh was not found, and MuJoCo would refuse the model for it");
}

static void put_list(srConvert* c, int i, int field, const char* word) {
  const srAttr* a = sr_convert_take(c, SR_ELEMENT_MESH, i, field);
  if (a->n > 0) sr_xml_numbers(&c->xml, word, a->numbers ? a->numbers : &a->number, a->n);
}

static void put_mesh(srConvert* c, int i) {
  double scale[3];
  sr_xml_begin(&c->xml, "mesh");
  sr_xml_text(&c->xml, "name", sr_convert_text(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, name)));
  const char* file = sr_convert_text(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, file));
  const bool known = file && (has_ending(file, ".obj") || (has_ending(file, ".stl") && is_binary_stl(c, file)));
  if (file && !known)
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_MESH, i), SR_LOSS_NOTHING, sr_convert_title(c, SR_ELEMENT_MESH, i),
                    "MuJoCo reads OBJ and binary STL alone: its triangles are written into the new file");
  if (known) {
    sr_xml_text(&c->xml, "file", sr_convert_path(c, file));
    sr_convert_take(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, vertices));  // they are in the file
    sr_convert_take(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, faces));
  } else {
    put_list(c, i, SR_TAKE(srMeshDef, vertices), "vertex");
    put_list(c, i, SR_TAKE(srMeshDef, faces), "face");
  }
  const int n = sr_convert_numbers(c, SR_ELEMENT_MESH, i, SR_TAKE(srMeshDef, scale), scale, 3);
  if (n == 1) scale[1] = scale[2] = scale[0];
  if (n > 0) sr_xml_numbers(&c->xml, "scale", scale, 3);
  sr_xml_end(&c->xml);
}

static void put_assets(srConvert* c) {
  bool any = false;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_MESH); i++) {
    if (is_missing(c, i)) lose_missing(c, SR_ELEMENT_MESH, i);
    if (!can_say_mesh(c, i)) continue;
    if (!any) sr_xml_begin(&c->xml, "asset");
    any = true;
    put_mesh(c, i);
  }
  if (any) sr_xml_end(&c->xml);
}

// -------------------------------------------------------------------------------------------------------------- shapes
// Half of lengths and edges, as MJCF has them.
static void put_size(srConvert* c, const char* type, const double size[3]) {
  const double half[3] = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
  if (sr_text_is(type, "plane")) {
    sr_xml_numbers(&c->xml, "size", (const double[]){0, 0, 1}, 3);  // without end
  } else if (sr_text_is(type, "sphere")) {
    sr_xml_numbers(&c->xml, "size", size, 1);
  } else if (sr_text_is(type, "box")) {
    sr_xml_numbers(&c->xml, "size", half, 3);
  } else if (sr_text_is(type, "ellipsoid")) {
    sr_xml_numbers(&c->xml, "size", size, 3);
  } else {
    sr_xml_numbers(&c->xml, "size", (const double[]){size[0], half[1]}, 2);
  }
}

static bool can_say_shape(const srConvert* c, int i, int b) {
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  const double size = def->size.numbers ? def->size.numbers[0] : def->size.number;
  if (sr_text_is(def->type.text, "mesh")) {
    const int mesh = def->mesh.text ? sr_names_find(&c->meshes, def->mesh.text) : -1;
    return mesh >= 0 && can_say_mesh(c, mesh);
  }
  if (sr_text_is(def->type.text, "plane")) return b == 0 || c->m->body_link[b] == 0;  // on what does not move alone
  return !(sr_text_is(def->type.text, "sphere") && size < 0);
}

static void put_shape(Mjcf* x, int i) {
  srConvert* c = x->c;
  double pose[16], size[3] = {0}, rgba[4];
  const char* name = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, name));
  const char* type = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, type));
  const char* mesh = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, mesh));
  const char* use = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, use));
  sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, density));  // in the inertia of the body
  sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, material));
  sr_convert_pose(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, at), SR_TAKE(srShapeDef, rot), SR_TAKE(srShapeDef, rpy),
                  pose);
  sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, size), size, 3);
  sr_xml_begin(&c->xml, "geom");
  if (name) sr_xml_text(&c->xml, "name", sr_convert_name(c, &c->mesh_names, "%s", name));
  sr_xml_text(&c->xml, "type", type);
  if (sr_text_is(type, "mesh"))
    sr_xml_text(&c->xml, "mesh", mesh);
  else
    put_size(c, type, size);
  put_pose(&c->xml, pose);
  if (sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, color), rgba, 4) == 4)
    sr_xml_numbers(&c->xml, "rgba", rgba, 4);
  sr_xml_text(&c->xml, "mass", "0");
  sr_xml_text(&c->xml, "contype", "0");
  sr_xml_text(&c->xml, "conaffinity", "0");
  sr_xml_end(&c->xml);
  if (!sr_text_is(use, "visual") && x->nsolid++ == 0) x->first_solid = srs_place(c->spec, SR_ELEMENT_SHAPE, i);
}

static void put_site(srConvert* c, int i, int b) {
  double pose[16];
  const char* point = sr_convert_text(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, name));
  const bool is_new = sr_names_find(&c->point_names, point) < 0;
  const char* name = is_new ? sr_convert_name(c, &c->point_names, "%s", point)
                            : sr_convert_name(c, &c->point_names, "%s_%s", c->m->body_name[b], point);
  c->point_word[i] = name;
  sr_convert_pose(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, at), SR_TAKE(srPointDef, rot), SR_TAKE(srPointDef, rpy),
                  pose);
  sr_xml_begin(&c->xml, "site");
  sr_xml_text(&c->xml, "name", name);
  put_pose(&c->xml, pose);
  sr_xml_end(&c->xml);
}

// ------------------------------------------------------------------------------------------------------------- inertia
// What MuJoCo asks of a body that moves: mass and moments of its own, or of a body without joint on it.
static void find_heavy(Mjcf* x) {
  const srModel* m = x->c->m;
  x->heavy = sr_pool_alloc(x->c->pool, (size_t)m->nbody + 1);
  for (int b = m->nbody; b > 0; b--) {
    double e[3];
    srm_eigen_sym3(m->body_inertia + 9 * b, e);
    if (m->body_mass[b] >= LEAST && fmin(e[0], fmin(e[1], e[2])) >= LEAST) x->heavy[b] = true;
    if (x->heavy[b] && m->joint_nv[m->body_joint[b]] == 0) x->heavy[m->body_parent[b]] = true;
  }
}

static void put_inertial(Mjcf* x, int b) {
  srConvert* c = x->c;
  const srModel* m = c->m;
  const double* J = m->body_inertia + 9 * b;
  double e[3];
  srm_eigen_sym3(J, e);
  const bool moves = m->joint_nv[m->body_joint[b]] > 0;
  const double high = fmax(e[0], fmax(e[1], e[2]));
  if (moves && !x->heavy[b])
    sr_convert_lose(c, m->body_place[b], SR_LOSS_NOTHING, sr_pool_printf(c->pool, "body '%s'", m->body_name[b]),
                    "it has no %s: MuJoCo refuses such a body that moves",
                    m->body_mass[b] < LEAST ? "mass of its own" : "moment of inertia about one of its axes");
  else if (high > e[0] + e[1] + e[2] - high && sr_convert_has_mass(m, b))
    sr_convert_lose(c, m->body_place[b], SR_LOSS_NOTHING, sr_pool_printf(c->pool, "body '%s'", m->body_name[b]),
                    "its inertia is at or beyond the edge of the triangle inequality: MuJoCo may refuse it");
  if (!sr_convert_has_mass(m, b)) return;
  sr_xml_begin(&c->xml, "inertial");
  sr_xml_numbers(&c->xml, "pos", m->body_com + 4 * b, 3);
  sr_xml_number(&c->xml, "mass", m->body_mass[b]);
  if (J[1] == 0 && J[2] == 0 && J[5] == 0)
    sr_xml_numbers(&c->xml, "diaginertia", (const double[]){J[0], J[4], J[8]}, 3);
  else
    sr_xml_numbers(&c->xml, "fullinertia", (const double[]){J[0], J[4], J[8], J[1], J[2], J[5]}, 6);
  sr_xml_end(&c->xml);
}

// -------------------------------------------------------------------------------------------------------------- joints
static double joint_number(srConvert* c, int j, int field) {
  const int joint = c->joint[c->m->joint_body[j]];
  return joint < 0 ? 0 : sr_convert_number(c, SR_ELEMENT_JOINT, joint, field, 0);
}

static void put_nonzero(srConvert* c, const char* word, double value) {
  if (value != 0) sr_xml_number(&c->xml, word, value);
}

// All that a body carries at q = 0, in the frame of the ground: mass, first moment, moments about the origin.
typedef struct Load {
  double pose[16];
  double m, h[3], I[9];
} Load;

static void add_up(Mjcf* x) {
  const srModel* m = x->c->m;
  Load* all = x->load = sr_pool_alloc(x->c->pool, (size_t)(m->nbody + 1) * sizeof *all);
  srm_pose_identity(all[0].pose);
  for (int b = 1; b <= m->nbody; b++) {
    double pose[16], c[3];
    Load* one = &all[b];
    sr_convert_joint_pose(x->c, b, pose);
    srm_pose_compose(all[m->body_parent[b]].pose, pose, one->pose);
    srm_pose_point(one->pose, m->body_com + 4 * b, c);
    srm_pose_rotate_tensor(one->pose, m->body_inertia + 9 * b, one->I);
    one->m = m->body_mass[b];
    for (int k = 0; k < 3; k++) one->h[k] = one->m * c[k];
    for (int k = 0; k < 9; k++) one->I[k] += one->m * ((k % 4 == 0 ? srm_dot3(c, c) : 0) - c[k / 3] * c[k % 3]);
  }
  for (int b = m->nbody; b > 0; b--) {
    Load* parent = &all[m->body_parent[b]];
    parent->m += all[b].m;
    for (int k = 0; k < 3; k++) parent->h[k] += all[b].h[k];
    for (int k = 0; k < 9; k++) parent->I[k] += all[b].I[k];
  }
}

// Inertia of a hinge or slide with all behind it: M_jj, as our reader works it out (mjcf_reflect.c).
static double carried(Mjcf* x, int j, const srJointPart* part) {
  if (!x->load) add_up(x);
  const Load* l = &x->load[x->c->m->joint_body[j]];
  double w[3], v[3], L[3], hv[3];
  const double armature = joint_number(x->c, j, SR_TAKE(srJointDef, armature));
  if (part->type == SR_PART_SLIDE) return l->m + armature;
  srm_pose_rotate(l->pose, part->axis, w);
  srm_cross3(l->pose + 12, w, v);
  srm_cross3(l->h, v, hv);
  for (int k = 0; k < 3; k++) L[k] = srm_dot3(l->I + 3 * k, w) + 2 * hv[k];
  return srm_dot3(w, L) + l->m * srm_dot3(v, v) + armature;
}

// A stop that the model gives numbers for, by unit of inertia: both are negative (mjcf_limit.c). Others are MuJoCo's own: as
// stiff as ours they would be too much for its step.
static void put_stop(Mjcf* x, int j, const srJointPart* part) {
  srConvert* c = x->c;
  const int joint = c->joint[c->m->joint_body[j]], stiffness = SR_TAKE(srJointDef, limit_stiffness);
  const int damping = SR_TAKE(srJointDef, limit_damping);
  const double I = carried(x, j, part);
  const bool given =
      sr_convert_given(c, SR_ELEMENT_JOINT, joint, stiffness) || sr_convert_given(c, SR_ELEMENT_JOINT, joint, damping);
  if (!given || !(I > 0) || sr_convert_given(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, limit_law))) {
    if (x->nstop++ == 0) x->first_stop = part->name;
    return;
  }
  const double K = sr_convert_number(c, SR_ELEMENT_JOINT, joint, stiffness, 1e5);
  const double D = K * sr_convert_number(c, SR_ELEMENT_JOINT, joint, damping, 1) * SR_STOP_OVERSHOOT;
  sr_xml_numbers(&c->xml, "solreflimit", (const double[]){-K / I, -D / I}, 2);
}

// Of a hinge or a slide that has a coordinate of ours.
static void put_scalar(Mjcf* x, int j, const srJointPart* part) {
  srConvert* c = x->c;
  const int joint = c->joint[c->m->joint_body[j]];
  double limits[2];
  double rest[6] = {0};
  put_nonzero(c, "stiffness", joint_number(c, j, SR_TAKE(srJointDef, stiffness)));
  const int n = sr_convert_numbers(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, rest), rest, 6);
  put_nonzero(c, "springref", n > part->coordinate ? rest[part->coordinate] : 0);
  put_nonzero(c, "frictionloss", sr_convert_friction(c, j, part->coordinate));
  const double effort = c->m->joint_nv[j] == 1 ? joint_number(c, j, SR_TAKE(srJointDef, effort)) : 0;
  if (effort > 0) sr_xml_numbers(&c->xml, "actuatorfrcrange", (const double[]){-effort, effort}, 2);
  if (sr_convert_numbers(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, limits), limits, 2) != 2) return;
  sr_xml_text(&c->xml, "limited", "true");
  sr_xml_numbers(&c->xml, "range", limits, 2);
  put_stop(x, j, part);
}

// frame: that of the joint in the body.
static void put_joint(Mjcf* x, int j, const srJointPart* part, const double frame[16]) {
  static const char* const words[] = {"", "hinge", "slide", "ball", "free"};
  srConvert* c = x->c;
  const bool scalar = part->type == SR_PART_HINGE || part->type == SR_PART_SLIDE;
  if (part->type == SR_PART_FIXED) return;
  sr_xml_begin(&c->xml, "joint");
  sr_xml_text(&c->xml, "name", part->name);
  sr_xml_text(&c->xml, "type", words[part->type]);
  if (scalar) {
    double axis[3];
    srm_pose_rotate(frame, part->axis, axis);
    if (frame[12] != 0 || frame[13] != 0 || frame[14] != 0) sr_xml_numbers(&c->xml, "pos", frame + 12, 3);
    sr_xml_numbers(&c->xml, "axis", axis, 3);
  }
  if (part->coordinate != SR_PART_FOLLOWS) put_nonzero(c, "damping", joint_number(c, j, SR_TAKE(srJointDef, damping)));
  if (part->coordinate >= 0) put_nonzero(c, "armature", joint_number(c, j, SR_TAKE(srJointDef, armature)));
  if (scalar && part->coordinate >= 0) put_scalar(x, j, part);
  sr_xml_end(&c->xml);
}

// A free joint on a body that moves itself: MJCF has those on the world alone.
static int slides_and_ball(srConvert* c, int j, srJointPart part[SR_PARTS]) {
  static const char* const axes[] = {"x", "y", "z"};
  part[3] = part[0];
  part[3].type = SR_PART_BALL;
  part[3].coordinate = SR_PART_OTHER;
  for (int k = 0; k < 3; k++) {
    part[k] = (srJointPart){.type = SR_PART_SLIDE, .coordinate = SR_PART_OTHER};
    part[k].axis[k] = 1;
    part[k].name = sr_convert_name(c, &c->joint_names, "%s.%s", part[3].name, axes[k]);
  }
  sr_convert_lose(
      c, c->m->body_place[c->m->joint_body[j]], SR_LOSS_NOTHING,
      sr_pool_printf(c->pool, "free joint '%s'", c->m->joint_name[j]),
      "MJCF has free joints on the world alone: three slides and a ball stand for it, so its velocities are "
      "others");
  return 4;
}

// ------------------------------------------------------------------------------------------------------- initial state
static void push(Mjcf* x, bool velocity, const double* values, int n) {
  for (int k = 0; k < n; k++) {
    if (velocity)
      SR_PUSH(x->c->pool, x->qvel, x->nqvel, x->qvel_capacity) = values[k];
    else
      SR_PUSH(x->c->pool, x->qpos, x->nqpos, x->qpos_capacity) = values[k];
  }
}

// A free joint as MuJoCo has it: pose and velocity in the ground's axes, then the angular velocity in the body's. `pose` is
// the joint's frame, on the ground; it becomes that of the body at the start. Elsewhere slides and a ball stand for it.
static void free_start(Mjcf* x, const double* q, const double* v, bool top, double pose[16]) {
  double at[16], start[16], quaternion[4], velocity[3];
  srm_pose_identity(at);
  memcpy(at + 12, q, 3 * sizeof *q);
  srm_pose_from_quaternion(q + 3, at);
  memcpy(start, at, sizeof start);
  if (top) srm_pose_compose(pose, at, start);
  if (top) memcpy(pose, start, sizeof start);
  x->moved = x->moved || (!top && !srm_pose_is_identity(at));
  srm_quaternion_from_pose(start, quaternion);
  srm_pose_rotate(start, v + 3, velocity);
  push(x, false, start + 12, 3);
  push(x, false, quaternion, 4);
  push(x, true, velocity, 3);
  push(x, true, v, 3);
}

static void start_of(Mjcf* x, int j, const srJointPart* part, int n, double pose[16]) {
  const srModel* m = x->c->m;
  const double *q = m->q0 + m->joint_q[j], *v = m->v0 + m->joint_v[j];
  const int joint = x->c->joint[m->joint_body[j]];
  if (joint >= 0) {
    sr_convert_take(x->c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, q));
    sr_convert_take(x->c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, v));
  }
  for (int k = 0; k < m->joint_nv[j]; k++) x->moved = x->moved || v[k] != 0;
  if (m->joint_type[j] == SR_JOINT_FREE) {
    free_start(x, q, v, part[0].type == SR_PART_FREE, pose);
    return;
  }
  for (int k = 0; k < m->joint_nq[j]; k++)
    x->moved = x->moved || q[k] != (m->joint_type[j] == SR_JOINT_BALL && k == 0 ? 1 : 0);
  push(x, false, q, m->joint_nq[j]);
  push(x, true, v, m->joint_nv[j]);
  if (n != 2 || part[1].coordinate != SR_PART_FOLLOWS) return;
  push(x, false, &(double){part[1].pitch * q[0]}, 1);
  push(x, true, &(double){part[1].pitch * v[0]}, 1);
}

// -------------------------------------------------------------------------------------------------------------- bodies
static void put_content(Mjcf* x, int b) {
  srConvert* c = x->c;
  for (int i = c->first[SR_ELEMENT_SHAPE][b]; i >= 0; i = c->next[SR_ELEMENT_SHAPE][i]) {
    const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
    const bool mesh = sr_text_is(def->type.text, "mesh") && def->mesh.text;
    if (can_say_shape(c, i, b))
      put_shape(x, i);
    else if (mesh && is_missing(c, sr_names_find(&c->meshes, def->mesh.text)))
      lose_missing(c, SR_ELEMENT_SHAPE, i);
  }
  for (int i = c->first[SR_ELEMENT_POINT][b]; i >= 0; i = c->next[SR_ELEMENT_POINT][i]) put_site(c, i, b);
  for (int i = x->first_extra[b]; i >= 0; i = x->extra[i].next) {
    x->extra[i].word = sr_convert_name(c, &c->point_names, "%s_axis", c->m->body_name[b]);
    sr_xml_begin(&c->xml, "site");
    sr_xml_text(&c->xml, "name", x->extra[i].word);
    sr_xml_numbers(&c->xml, "pos", x->extra[i].at, 3);
    sr_xml_end(&c->xml);
  }
}

static void tell_names(srConvert* c, int b) {
  const int j = c->m->body_joint[b];
  const bool named = strcmp(c->m->joint_name[j], c->m->body_name[b]) != 0;
  if (c->m->joint_type[j] == SR_JOINT_WELD && named)
    sr_convert_lose(c, c->m->body_place[b], SR_LOSS_NOTHING,
                    sr_pool_printf(c->pool, "name of joint '%s'", c->m->joint_name[j]), "MJCF has no joint that holds");
}

// Parts of the joint; a free joint of the ground is counted from the ground's frame.
static int parts_of(Mjcf* x, int b, srJointPart part[SR_PARTS], const double pose[16]) {
  srConvert* c = x->c;
  const int j = c->m->body_joint[b], n = sr_convert_parts(c, j, part);
  tell_names(c, b);
  if (part[0].type != SR_PART_FREE) return n;
  if (c->m->body_parent[b] != 0) return slides_and_ball(c, j, part);
  if (!srm_pose_is_identity(pose))
    sr_convert_lose(c, c->m->body_place[b], SR_LOSS_NOTHING,
                    sr_pool_printf(c->pool, "frame of free joint '%s'", c->m->joint_name[j]),
                    "its position is counted from the ground's frame in MJCF");
  if (c->m->joint_armature[c->m->joint_v[j]] > 0)
    sr_convert_lose(c, c->m->body_place[b], SR_LOSS_MOTION,
                    sr_pool_printf(c->pool, "'armature' of joint '%s'", c->m->joint_name[j]),
                    "MuJoCo has it in the ground's axes, not in the body's; our reader takes it back as it was");
  return n;
}

// ---------------------------------------------------------------------------------------------------- joints in one body
static bool is_chained(const srModel* m, int b) {
  const int j = m->body_joint[b], type = m->joint_type[j];
  return m->joint_nv[j] > 0 && type != SR_JOINT_BALL && type != SR_JOINT_FREE;
}

// Bodies without mass and content, as readers make them of several joints in one body, are joints of the body behind them.
static void find_folded(Mjcf* x, const bool* wanted) {
  const srConvert* c = x->c;
  const srModel* m = c->m;
  int freedoms = 0;  // of the chain so far; a body of MJCF has six at most
  int* children = sr_pool_alloc(c->pool, (size_t)(m->nbody + 1) * sizeof *children);
  for (int b = 1; b <= m->nbody; b++) children[m->body_parent[b]]++;
  for (int b = m->nbody; b > 0; b--) {
    const bool empty = !sr_convert_has_mass(m, b) && c->first[SR_ELEMENT_SHAPE][b] < 0 &&
                       c->first[SR_ELEMENT_POINT][b] < 0 && x->first_extra[b] < 0 && !wanted[b];
    const int own = m->joint_nv[m->body_joint[b]] + (m->joint_type[m->body_joint[b]] == SR_JOINT_HELICAL);
    x->folded[b] = empty && is_chained(m, b) && children[b] == 1 && is_chained(m, b + 1) && freedoms + own <= 6;
    freedoms = x->folded[b] ? freedoms + own : own;
  }
}

static void tell_folded(Mjcf* x, int b, int end) {
  srConvert* c = x->c;
  const srModel* m = c->m;
  const char* read = sr_pool_printf(c->pool, "%s.%s", m->body_name[end], m->joint_name[m->body_joint[b]]);
  if (strcmp(read, m->body_name[b]) != 0)
    sr_convert_lose(c, m->body_place[b], SR_LOSS_NOTHING, sr_pool_printf(c->pool, "name of body '%s'", m->body_name[b]),
                    "it has no mass: its joint stands in body '%s', and our reader calls it '%s'", m->body_name[end],
                    read);
}

// First body of the chain that ends in b.
static int first_of(const Mjcf* x, int b) {
  while (x->folded[x->c->m->body_parent[b]]) b = x->c->m->body_parent[b];
  return b;
}

// A joint of a body: its parts.
typedef struct Held {
  int j, n;
  srJointPart part[SR_PARTS];
  double pose[16];  // in the frame of the one before it
} Held;

static void put_held(Mjcf* x, const Held* held, const double frame[16]) {
  const srJointPart* part = held->part;
  for (int k = 0; k < held->n; k++) put_joint(x, held->j, &part[k], frame);
  if (held->n == 2 && part[1].coordinate == SR_PART_FOLLOWS) {
    const Screw screw = {part[0].name, part[1].name, part[1].pitch};
    SR_PUSH(x->c->pool, x->screws, x->nscrew, x->screw_capacity) = screw;
  }
}

// The joints from body `first` to b, which stand in a row, and the pose of b in the parent of the first.
static int hold_joints(Mjcf* x, int first, int b, Held held[6], double pose[16]) {
  int n = 0;
  srm_pose_identity(pose);
  for (int k = first; k <= b; k++) {
    Held* h = &held[n++];
    double next[16];
    h->j = x->c->m->body_joint[k];
    sr_convert_joint_pose(x->c, k, h->pose);
    h->n = parts_of(x, k, h->part, h->pose);
    start_of(x, h->j, h->part, h->n, h->pose);
    if (k < b) tell_folded(x, k, b);
    srm_pose_compose(pose, h->pose, next);
    memcpy(pose, next, sizeof next);
  }
  return n;
}

static void put_body(Mjcf* x, int b) {
  srConvert* c = x->c;
  Held held[6];
  double pose[16], frame[6][16], back[16];
  if (x->folded[b]) return;
  const int first = first_of(x, b), n = hold_joints(x, first, b, held, pose);
  while (c->xml.nopen > x->level[c->m->body_parent[first]]) sr_xml_end(&c->xml);
  srm_pose_identity(frame[n - 1]);  // of each joint, seen from the body
  for (int k = n - 1; k > 0; k--) {
    srm_pose_invert(held[k].pose, back);
    srm_pose_compose(frame[k], back, frame[k - 1]);
  }
  sr_xml_begin(&c->xml, "body");
  x->level[b] = c->xml.nopen;
  sr_xml_text(&c->xml, "name", x->body_word[b]);
  put_pose(&c->xml, pose);
  put_inertial(x, b);
  for (int k = 0; k < n; k++) put_held(x, &held[k], frame[k]);
  put_content(x, b);
}

// ------------------------------------------------------------------------------------------------------------ equality
static void put_equality_joint(srConvert* c, const char* name, const char* joint, const char* to, double offset,
                               double ratio) {
  sr_xml_begin(&c->xml, "joint");
  if (name) sr_xml_text(&c->xml, "name", name);
  sr_xml_text(&c->xml, "joint1", joint);
  sr_xml_text(&c->xml, "joint2", to);
  sr_xml_numbers(&c->xml, "polycoef", (const double[]){offset, ratio, 0, 0, 0}, 5);
  sr_xml_end(&c->xml);
}

static void put_couplings(srConvert* c) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_COUPLING); i++) {
    const char* joint = sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, joint));
    const char* to = sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, to));
    const char* name = sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, name));
    const double ratio = sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, ratio), 1);
    put_equality_joint(c, name, joint, to,
                       sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, offset), 0), ratio);
  }
}

// Closures between sites: those of their points, or the frames of bodies.
static const char* site_of(Mjcf* x, const char* ref) {
  const int i = sr_names_find(&x->c->points, ref), b = sr_names_find(&x->c->bodies, ref);
  return i >= 0 ? x->c->point_word[i] : x->frame_word[b > 0 ? b : 0];
}

static bool is_joined(const srClosureDef* def) {
  const char* type = def->type.text;
  return sr_text_is(type, "weld") || sr_text_is(type, "body") || sr_text_is(type, "ball") ||
         sr_text_is(type, "revolute");
}

static void put_pair_of_sites(srConvert* c, const char* element, const char* name, const char* a, const char* b) {
  sr_xml_begin(&c->xml, element);
  if (name) sr_xml_text(&c->xml, "name", name);
  sr_xml_text(&c->xml, "site1", a);
  sr_xml_text(&c->xml, "site2", b);
  sr_xml_end(&c->xml);
}

// A hinge holds two points of its axis.
static void put_closures(Mjcf* x) {
  srConvert* c = x->c;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++) {
    const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
    if (!is_joined(def)) continue;
    const char* type = sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, type));
    const char* name = sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, name));
    const char* a = site_of(x, sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, a)));
    const char* b = site_of(x, sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, b)));
    const bool hinge = sr_text_is(type, "revolute");
    put_pair_of_sites(c, hinge || sr_text_is(type, "ball") ? "connect" : "weld", name, a, b);
    sr_convert_tell_normal(c, i);
    if (!hinge) continue;
    put_pair_of_sites(c, "connect", NULL, x->extra[2 * i].word, x->extra[2 * i + 1].word);
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_CLOSURE, i), SR_LOSS_NOTHING,
                    sr_convert_title(c, SR_ELEMENT_CLOSURE, i),
                    "MJCF closes loops by points: two of its axis are held, so that one of six rows is redundant");
  }
}

static void put_equalities(Mjcf* x) {
  srConvert* c = x->c;
  int n = 0;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++)
    n += is_joined(srs_get(c->spec, SR_ELEMENT_CLOSURE, i));
  if (n > 0)
    sr_convert_lose(c, (srPlace){0}, SR_LOSS_NOTHING, "closures", "they name two sites each: MuJoCo from 3.2.3 on");
  if (n + x->nscrew + srs_count(c->spec, SR_ELEMENT_COUPLING) == 0) return;
  sr_xml_begin(&c->xml, "equality");
  for (int i = 0; i < x->nscrew; i++)
    put_equality_joint(c, NULL, x->screws[i].slide, x->screws[i].hinge, 0, x->screws[i].pitch);
  put_couplings(c);
  put_closures(x);
  sr_xml_end(&c->xml);
}

// Body and pose in it of a frame that a closure names.
static int frame_of(srConvert* c, const char* ref, double pose[16]) {
  const int i = sr_names_find(&c->points, ref);
  srm_pose_identity(pose);
  if (i < 0) {
    const int b = sr_names_find(&c->bodies, ref);
    return b > 0 ? b : 0;
  }
  sr_convert_pose(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, at), SR_TAKE(srPointDef, rot), SR_TAKE(srPointDef, rpy),
                  pose);
  const int owner = srs_owner(c->spec, SR_ELEMENT_POINT, i);
  if (owner < 0) return 0;
  return sr_names_find(&c->bodies, ((const srBodyDef*)srs_get(c->spec, SR_ELEMENT_BODY, owner))->name.text);
}

// Sites for bodies that closures name without a point.
static void mark_frames(srConvert* c, bool* wanted) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++) {
    const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
    const char* refs[] = {def->a.text, def->b.text};
    for (int k = 0; k < 2 && is_joined(def); k++) {
      if (sr_names_find(&c->points, refs[k]) >= 0) continue;
      const int b = sr_names_find(&c->bodies, refs[k]);
      wanted[b > 0 ? b : 0] = true;
    }
  }
}

// The second points on the axes of hinges that close loops.
static void find_extras(Mjcf* x) {
  srConvert* c = x->c;
  const int n = srs_count(c->spec, SR_ELEMENT_CLOSURE);
  x->extra = sr_pool_alloc(c->pool, (size_t)(2 * n + 1) * sizeof *x->extra);
  x->first_extra = sr_pool_alloc(c->pool, (size_t)(c->m->nbody + 1) * sizeof *x->first_extra);
  for (int b = 0; b <= c->m->nbody; b++) x->first_extra[b] = -1;
  for (int i = 0; i < n; i++) {
    const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
    double axis[3] = {0, 0, 1};
    if (!sr_text_is(def->type.text, "revolute")) continue;
    sr_convert_numbers(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, axis), axis, 3);
    const double length = srm_norm3(axis);  // compiled: not zero
    for (int k = 0; k < 3; k++) axis[k] *= ALONG / length;
    for (int side = 0; side < 2; side++) {
      Extra* e = &x->extra[2 * i + side];
      double pose[16];
      const int b = frame_of(c, side == 0 ? def->a.text : def->b.text, pose);
      srm_pose_point(pose, axis, e->at);
      e->next = x->first_extra[b];
      x->first_extra[b] = 2 * i + side;
    }
  }
}

// Bodies by their names; "world" is the ground in MJCF.
static void name_bodies(Mjcf* x) {
  srConvert* c = x->c;
  const srModel* m = c->m;
  x->body_word = sr_pool_alloc(c->pool, (size_t)(m->nbody + 1) * sizeof *x->body_word);
  for (int b = 1; b <= m->nbody; b++) sr_names_put(&c->link_names, m->body_name[b], 0);
  for (int b = 1; b <= m->nbody; b++) {
    const bool world = strcmp(m->body_name[b], "world") == 0;
    x->body_word[b] = world ? sr_convert_name(c, &c->link_names, "world") : m->body_name[b];
    if (world)
      sr_convert_lose(c, m->body_place[b], SR_LOSS_NOTHING, "name of body 'world'",
                      "that is the ground in MJCF: it is called '%s'", x->body_word[b]);
  }
}

// ----------------------------------------------------------------------------------------------------------- the whole
static void put_options(srConvert* c) {
  sr_xml_begin(&c->xml, "compiler");
  sr_xml_text(&c->xml, "angle", "radian");
  sr_xml_text(&c->xml, "inertiafromgeom", "false");
  sr_xml_end(&c->xml);
  sr_xml_begin(&c->xml, "option");
  sr_xml_numbers(&c->xml, "gravity", c->m->gravity, 3);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_OPTION); i++)
    sr_convert_take(c, SR_ELEMENT_OPTION, i, SR_TAKE(srOptionDef, gravity));
  if (srs_count(c->spec, SR_ELEMENT_RUN) > 0 && sr_convert_given(c, SR_ELEMENT_RUN, 0, SR_TAKE(srRunDef, step)))
    sr_xml_number(&c->xml, "timestep", sr_convert_number(c, SR_ELEMENT_RUN, 0, SR_TAKE(srRunDef, step), 0));
  sr_xml_end(&c->xml);
}

static void put_world(Mjcf* x) {
  srConvert* c = x->c;
  bool* wanted = sr_pool_alloc(c->pool, (size_t)c->m->nbody + 1);
  mark_frames(c, wanted);
  find_folded(x, wanted);
  sr_xml_begin(&c->xml, "worldbody");
  x->level[0] = c->xml.nopen;
  put_content(x, 0);
  for (int b = 0; b <= c->m->nbody; b++) {
    if (b > 0) put_body(x, b);
    if (!wanted[b]) continue;
    sr_xml_begin(&c->xml, "site");
    x->frame_word[b] = sr_convert_name(c, &c->point_names, "%s_frame", c->m->body_name[b]);
    sr_xml_text(&c->xml, "name", x->frame_word[b]);
    sr_xml_end(&c->xml);
  }
  while (c->xml.nopen >= x->level[0]) sr_xml_end(&c->xml);
}

static void put_key(Mjcf* x) {
  srConvert* c = x->c;
  if (!x->moved) return;
  sr_xml_begin(&c->xml, "keyframe");
  sr_xml_begin(&c->xml, "key");
  sr_xml_text(&c->xml, "name", "start");
  sr_xml_numbers(&c->xml, "qpos", x->qpos, x->nqpos);
  sr_xml_numbers(&c->xml, "qvel", x->qvel, x->nqvel);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
  sr_convert_lose(c, (srPlace){0}, SR_LOSS_START, "the initial state",
                  "it is the key 'start', which has to be chosen (our own reader: --set key=0)");
}

void sr_write_mjcf(srConvert* c) {
  Mjcf x = {.c = c, .level = sr_pool_alloc(c->pool, (size_t)(c->m->nbody + 1) * sizeof(int))};
  x.frame_word = sr_pool_alloc(c->pool, (size_t)(c->m->nbody + 1) * sizeof *x.frame_word);
  x.folded = sr_pool_alloc(c->pool, (size_t)c->m->nbody + 1);
  name_bodies(&x);
  find_extras(&x);
  find_heavy(&x);
  sr_xml_begin(&c->xml, "mujoco");
  sr_xml_text(&c->xml, "model", c->m->name);
  put_options(c);
  put_assets(c);
  put_world(&x);
  put_equalities(&x);
  put_key(&x);
  if (x.nsolid > 0)
    sr_convert_lose(c, x.first_solid, SR_LOSS_NOTHING,
                    sr_pool_printf(c->pool, "contacts of %d shape%s", x.nsolid, x.nsolid == 1 ? "" : "s"),
                    "contype and conaffinity are 0, so that nothing touches that does not in the model");
  if (x.nstop > 0)
    sr_convert_lose(c, (srPlace){0}, SR_LOSS_MOTION,
                    sr_pool_printf(c->pool, "stops of %d joint%s, the first is '%s'", x.nstop, x.nstop == 1 ? "" : "s",
                                   x.first_stop),
                    "limit-stiffness and limit-damping are not given: MJCF's own are softer (solreflimit)");
  if (c->xml.deepest > SR_XML_MAX_DEPTH)
    sr_convert_lose(c, (srPlace){0}, SR_LOSS_NOTHING, "the depth of the tree",
                    "MJCF nests bodies: the file is %d elements deep, and our own reader takes %d", c->xml.deepest,
                    SR_XML_MAX_DEPTH);
}
