// Topology: bodies depth first from the ground, children in file order; joints expanded to links; coordinates numbered.
//
//   link k of a joint:  tree pose = (body of the parent in its link) * (joint frame) * (frame k)      k = 0
//                                   (frame k-1)^T * (frame k)                                          k > 0
//   body in its last link = (frame)^T, so that the body's frame is the joint's frame at q = 0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/pose.h"
#include "model/compile.h"
#include "model/spec.h"

// Mutable views of the model's arrays while they are filled.
typedef struct Arrays {
  const char** body_name;
  int *body_parent, *body_joint, *body_link;
  srPlace* body_place;
  const char** joint_name;
  int *joint_type, *joint_body, *joint_implied, *joint_q, *joint_nq, *joint_v, *joint_nv, *joint_role;
  const char **q_name, **q_unit, **v_name, **v_unit;
  double *q0, *v0, *armature, *limits;
  int *link_parent, *link_type, *link_q, *link_v, *link_joint, *link_body;
  double *link_tree, *link_pitch;
  int *dof_link, *dof_parent, *angle_link;
} Arrays;

#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

// -------------------------------------------------------------------------------------------------------- bodies
static void name_bodies(srCompiler* c, int nbody) {
  sr_names_put(&c->bodies, "ground", nbody);  // spec bodies are 0 .. nbody-1; the ground comes after them here
  for (int i = 0; i < nbody; i++) {
    const char* name = sr_c_text(c, SR_ELEMENT_BODY, i, SR_FIELD(srBodyDef, name));
    srPlace place = sr_c_place(c, SR_ELEMENT_BODY, i, SR_FIELD(srBodyDef, name));
    if (name && strcmp(name, "ground") == 0) {
      sr_c_error(c, place, "'ground' is the name of the ground and of no other body");
    } else if (name) {
      sr_c_new_name(c, &c->bodies, name, i, "body", place);
    }
  }
}

// Of a body without a name, which is reported, a word that no name can be.
static const char* body_name(srCompiler* c, int i) {
  const char* name = sr_c_attr(c, SR_ELEMENT_BODY, i, SR_FIELD(srBodyDef, name))->text;
  return name ? name : sr_pool_printf(&c->scratch, "(body %d)", i + 1);
}

// spec body -> its joint or inertial; two of them in a body are an error.
static int* only_child(srCompiler* c, srElementKind kind, int nbody) {
  int* of = sr_pool_alloc(&c->scratch, (size_t)(nbody + 1) * sizeof *of);
  for (int i = 0; i < nbody; i++) of[i] = -1;
  for (int i = 0; i < srs_count(c->spec, kind); i++) {
    int body = srs_owner(c->spec, kind, i);
    if (body < 0 || body >= nbody) {
      sr_c_error(c, srs_place(c->spec, kind, i), "<%s> belongs inside <body>", srs_element(kind)->word);
    } else if (of[body] >= 0) {
      sr_c_error(c, srs_place(c->spec, kind, i), "body '%s' has two <%s>", body_name(c, body), srs_element(kind)->word);
    } else {
      of[body] = i;
    }
  }
  return of;
}

// A body whose parent is not there is on the ground, so that the rest of the model can be checked.
static void find_parents(srCompiler* c, int nbody, int* parent) {
  for (int i = 0; i < nbody; i++) {
    const char* name = sr_c_text(c, SR_ELEMENT_BODY, i, SR_FIELD(srBodyDef, parent));
    srPlace place = sr_c_place(c, SR_ELEMENT_BODY, i, SR_FIELD(srBodyDef, parent));
    parent[i] = sr_c_find(c, &c->bodies, name, "body", place);
    if (parent[i] < 0) parent[i] = nbody;
  }
}

// Lists of children in file order: first[parent], next[child]; the ground is parent nbody.
static void children(int nbody, const int* parent, int* first, int* next) {
  for (int i = 0; i <= nbody; i++) first[i] = next[i] = -1;
  for (int i = nbody - 1; i >= 0; i--) {
    next[i] = first[parent[i]];
    first[parent[i]] = i;
  }
}

// Depth-first order into spec_of_body; returns the number of bodies reached from the ground.
static int depth_first(int nbody, const int* first, const int* next, int* stack, int* spec_of_body) {
  int n = 0, top = 0;
  if (first[nbody] >= 0) stack[top++] = first[nbody];
  while (top > 0) {
    int i = stack[--top];
    spec_of_body[++n] = i;
    if (next[i] >= 0) stack[top++] = next[i];
    if (first[i] >= 0) stack[top++] = first[i];
  }
  return n;
}

// The bodies of a circle, too, are then on the ground.
static void break_cycles(srCompiler* c, int nbody, int* parent) {
  for (int i = 0; i < nbody; i++) {
    if (c->body_of_spec[i] > 0) continue;
    parent[i] = nbody;
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_BODY, i, SR_FIELD(srBodyDef, parent)),
               "body '%s' hangs on a circle of parents that never reaches the ground", body_name(c, i));
  }
}

static int number_bodies(srCompiler* c, int nbody, const int* parent, int* first, int* next, int* stack) {
  children(nbody, parent, first, next);
  const int n = depth_first(nbody, first, next, stack, c->spec_of_body);
  for (int b = 1; b <= n; b++) c->body_of_spec[c->spec_of_body[b]] = b;
  c->body_of_spec[nbody] = 0;
  return n;
}

static void order_bodies(srCompiler* c, Arrays* A) {
  const int nbody = srs_count(c->spec, SR_ELEMENT_BODY);
  name_bodies(c, nbody);
  c->joint_of_spec_body = only_child(c, SR_ELEMENT_JOINT, nbody);
  c->inertial_of_spec_body = only_child(c, SR_ELEMENT_INERTIAL, nbody);

  size_t bytes = (size_t)(nbody + 1) * sizeof(int);
  int* parent = sr_pool_alloc(&c->scratch, bytes);
  int* first = sr_pool_alloc(&c->scratch, bytes);
  int* next = sr_pool_alloc(&c->scratch, bytes);
  int* stack = sr_pool_alloc(&c->scratch, 2 * bytes);
  c->spec_of_body = sr_pool_alloc(&c->scratch, bytes);
  c->body_of_spec = sr_pool_alloc(&c->scratch, bytes);
  find_parents(c, nbody, parent);
  if (number_bodies(c, nbody, parent, first, next, stack) < nbody) {
    break_cycles(c, nbody, parent);
    (void)number_bodies(c, nbody, parent, first, next, stack);
  }
  c->m->nbody = nbody;
  A->body_name = NEW(c, const char*, nbody + 1);
  A->body_parent = NEW(c, int, nbody + 1);
  A->body_place = NEW(c, srPlace, nbody + 1);
  A->body_name[0] = "ground";
  A->body_parent[0] = -1;
  for (int b = 1; b <= nbody; b++) {
    int i = c->spec_of_body[b];
    A->body_name[b] = sr_pool_text(c->pool, body_name(c, i));
    A->body_parent[b] = c->body_of_spec[parent[i]];
    A->body_place[b] = sr_c_kept_place(c, SR_ELEMENT_BODY, i);
  }
}

// -------------------------------------------------------------------------------------------------------- joints
// The type that an unknown word was meant to be, so that what follows from the number of coordinates is not reported, too.
static srJointType nearest_type(const char* word) {
  const char* words[SR_JOINT_TYPES];
  for (int k = 0; k < SR_JOINT_TYPES; k++) words[k] = sr_joint_word((srJointType)k);
  const char* nearest = word ? sr_nearest_word(word, words, SR_JOINT_TYPES) : NULL;
  for (int k = 0; nearest && k < SR_JOINT_TYPES; k++) {
    if (nearest == words[k]) return (srJointType)k;
  }
  return SR_JOINT_REVOLUTE;
}

static srJointType joint_type(srCompiler* c, int joint) {
  const char* word = sr_c_text(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, type));
  for (int k = 0; word && k < SR_JOINT_TYPES; k++) {
    if (strcmp(word, sr_joint_word((srJointType)k)) == 0) return (srJointType)k;
  }
  if (word) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, type)), "unknown type of joint '%s'",
               word);
  }
  return nearest_type(word);
}

static srCoordinateRole joint_role(srCompiler* c, int joint) {
  const int field = SR_FIELD(srJointDef, role);
  const char* word = sr_c_text(c, SR_ELEMENT_JOINT, joint, field);
  if (!word) return SR_ROLE_NONE;
  if (strcmp(word, "independent") == 0) return SR_ROLE_INDEPENDENT;
  if (strcmp(word, "dependent") == 0) return SR_ROLE_DEPENDENT;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, field), "unknown coordinate role of a joint '%s'", word);
  return SR_ROLE_NONE;
}

// Joint k belongs to body k + 1. Counts coordinates and links.
static void number_joints(srCompiler* c, Arrays* A) {
  srModel* m = c->m;
  m->njoint = m->nbody;
  A->body_joint = NEW(c, int, m->nbody + 1);
  A->body_joint[0] = -1;
  A->joint_name = NEW(c, const char*, m->njoint);
  int** arrays[] = {&A->joint_type, &A->joint_body, &A->joint_implied, &A->joint_q,
                    &A->joint_nq,   &A->joint_v,    &A->joint_nv,      &A->joint_role};
  for (int k = 0; k < SR_COUNT(arrays); k++) *arrays[k] = NEW(c, int, m->njoint);
  m->nlink = 1;
  for (int j = 0; j < m->njoint; j++) {
    const int body = j + 1, spec_joint = c->joint_of_spec_body[c->spec_of_body[body]];
    const char* name = spec_joint < 0 ? NULL : sr_c_text(c, SR_ELEMENT_JOINT, spec_joint, SR_FIELD(srJointDef, name));
    A->body_joint[body] = j;
    A->joint_body[j] = body;
    A->joint_name[j] = name ? sr_pool_text(c->pool, name) : A->body_name[body];
    A->joint_implied[j] = spec_joint < 0;
    A->joint_type[j] = (int)(spec_joint < 0 ? SR_JOINT_FREE : joint_type(c, spec_joint));
    A->joint_role[j] = (int)(spec_joint < 0 ? SR_ROLE_NONE : joint_role(c, spec_joint));
    srPlace place =
        spec_joint < 0 ? A->body_place[body] : sr_c_place(c, SR_ELEMENT_JOINT, spec_joint, SR_FIELD(srJointDef, name));
    const bool repeats_body = !name && sr_names_find(&c->bodies, A->joint_name[j]) != c->spec_of_body[body];
    if (!repeats_body) sr_c_new_name(c, &c->joints, A->joint_name[j], j, "joint", place);
    const srJointKind* kind = sr_joint_kind((srJointType)A->joint_type[j]);
    A->joint_q[j] = m->nq;
    A->joint_v[j] = m->nv;
    A->joint_nq[j] = kind->nq;
    A->joint_nv[j] = kind->nv;
    m->nq += kind->nq;
    m->nv += kind->nv;
    m->nlink += kind->nlink;
    m->njoint_given += spec_joint >= 0 && !sr_spec_is_implied(c->spec, spec_joint);
  }
}

static const char* coordinate_name(srCompiler* c, const char* joint, const char* suffix) {
  return suffix[0] ? sr_pool_printf(c->pool, "%s.%s", joint, suffix) : joint;
}

static void name_coordinates(srCompiler* c, Arrays* A) {
  srModel* m = c->m;
  A->q_name = NEW(c, const char*, m->nq);
  A->q_unit = NEW(c, const char*, m->nq);
  A->v_name = NEW(c, const char*, m->nv);
  A->v_unit = NEW(c, const char*, m->nv);
  for (int j = 0; j < m->njoint; j++) {
    const srJointKind* kind = sr_joint_kind((srJointType)A->joint_type[j]);
    for (int k = 0; k < kind->nq; k++) {
      A->q_name[A->joint_q[j] + k] = coordinate_name(c, A->joint_name[j], kind->q_suffix[k]);
      A->q_unit[A->joint_q[j] + k] = kind->q_unit[k];
    }
    for (int k = 0; k < kind->nv; k++) {
      A->v_name[A->joint_v[j] + k] = coordinate_name(c, A->joint_name[j], kind->v_suffix[k]);
      A->v_unit[A->joint_v[j] + k] = kind->v_unit[k];
    }
  }
}

static bool unit_axis(srCompiler* c, int joint, int field, double axis[3], bool* given) {
  int n = sr_c_numbers(c, SR_ELEMENT_JOINT, joint, field, axis, 3);
  *given = n == 3;
  if (n <= 0) return n == 0;
  double length = srm_norm3(axis);
  if (length < 1e-12) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, field), "the axis of a joint must not be zero");
    return false;
  }
  for (int k = 0; k < 3; k++) axis[k] /= length;
  return true;
}

bool sr_c_expand_joint(srCompiler* c, int joint, const srJointKind* kind, srJointOut* out, double frame[16]) {
  srJointIn in = {0};
  bool given;
  if (!sr_c_pose(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, at), SR_FIELD(srJointDef, rot),
                 SR_FIELD(srJointDef, rpy), frame)) {
    return false;
  }
  if (!unit_axis(c, joint, SR_FIELD(srJointDef, axis), in.axis, &given)) return false;
  if (!unit_axis(c, joint, SR_FIELD(srJointDef, axis2), in.axis2, &in.has_axis2)) return false;
  int n = sr_c_numbers(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, pitch), &in.pitch, 1);
  if (n < 0) return false;
  in.has_pitch = n == 1;
  const char* problem = kind->expand(&in, out);
  if (problem) sr_c_error(c, srs_place(c->spec, SR_ELEMENT_JOINT, joint), "%s", problem);
  return !problem;
}

// --------------------------------------------------------------------------------------------------------- links
static void new_link_arrays(srCompiler* c, Arrays* A) {
  srModel* m = c->m;
  int** arrays[] = {&A->link_parent, &A->link_type, &A->link_q, &A->link_v, &A->link_joint, &A->link_body};
  for (int k = 0; k < SR_COUNT(arrays); k++) *arrays[k] = NEW(c, int, m->nlink);
  A->link_tree = NEW(c, double, 16 * m->nlink);
  A->link_pitch = NEW(c, double, m->nlink);
  A->body_link = NEW(c, int, m->nbody + 1);
  A->dof_link = NEW(c, int, m->nv);
  A->dof_parent = NEW(c, int, m->nv);
  A->angle_link = NEW(c, int, m->nlink);
  c->body_pose = sr_pool_alloc(&c->scratch, (size_t)(m->nbody + 1) * 16 * sizeof(double));
  A->link_parent[0] = A->link_joint[0] = -1;
  srm_pose_identity(A->link_tree);
  srm_pose_identity(c->body_pose);
}

static int link_size(srLinkType type) { return type == SR_LINK_BALL ? 3 : type == SR_LINK_FREE ? 6 : 1; }

// Links of joint j from `link` on; returns the next free link.
static int make_links(srCompiler* c, Arrays* A, int j, int link) {
  const int body = j + 1, parent_body = A->body_parent[body];
  const int spec_joint = c->joint_of_spec_body[c->spec_of_body[body]];
  const srJointKind* kind = sr_joint_kind((srJointType)A->joint_type[j]);
  srJointOut out = {0};
  double frame[16], pose[16], chain[16];
  srm_pose_identity(frame);
  if (spec_joint < 0) {
    kind->expand(NULL, &out);
  } else if (!sr_c_expand_joint(c, spec_joint, kind, &out, frame)) {
    for (int k = 0; k < kind->nlink; k++) srm_pose_identity(out.frame[k]);
  }
  srm_pose_compose(c->body_pose + 16 * parent_body, frame, pose);
  int parent = A->body_link[parent_body], q = A->joint_q[j], v = A->joint_v[j];
  for (int k = 0; k < kind->nlink; k++, link++) {
    srm_pose_compose(pose, out.frame[k], A->link_tree + 16 * link);
    srm_pose_transpose(out.frame[k], chain);
    memcpy(pose, chain, sizeof pose);
    A->link_parent[link] = parent;
    A->link_type[link] = (int)out.type[k];
    A->link_q[link] = q;
    A->link_v[link] = v;
    A->link_joint[link] = j;
    A->link_body[link] = body;
    A->link_pitch[link] = out.type[k] == SR_LINK_HELICAL ? out.pitch : 0;
    q++;
    v++;
    parent = link;
  }
  A->body_link[body] = parent;
  memcpy(c->body_pose + 16 * body, pose, sizeof pose);
  return link;
}

// The coordinate before each one on the path to the ground; the angles that need sine and cosine.
static void link_coordinates(srCompiler* c, Arrays* A) {
  srModel* m = c->m;
  for (int link = 1; link < m->nlink; link++) {
    const srLinkType type = (srLinkType)A->link_type[link];
    const int parent = A->link_parent[link], size = link_size(type);
    int before = parent == 0 ? -1 : A->link_v[parent] + link_size((srLinkType)A->link_type[parent]) - 1;
    for (int k = 0; k < size; k++) {
      A->dof_link[A->link_v[link] + k] = link;
      A->dof_parent[A->link_v[link] + k] = before;
      before = A->link_v[link] + k;
    }
    if (type == SR_LINK_REVOLUTE || type == SR_LINK_HELICAL) A->angle_link[m->nangle++] = link;
  }
}

// ------------------------------------------------------------------------------------------------- initial state
static int initial(srCompiler* c, int joint, int field, int count, double* out) {
  int n = sr_c_numbers(c, SR_ELEMENT_JOINT, joint, field, out, count);
  if (n <= 0) return n;
  if (n == count) return n;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, field), "'%s' of this joint takes %d value%s, got %d",
             srs_element(SR_ELEMENT_JOINT)->fields[field].word, count, count == 1 ? "" : "s", n);
  return -1;
}

static void initial_quaternion(srCompiler* c, int joint, double* quaternion, bool given) {
  if (!given) {
    quaternion[0] = 1;
    return;
  }
  double norm = sqrt(quaternion[0] * quaternion[0] + srm_dot3(quaternion + 1, quaternion + 1));
  if (norm < 1e-12) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, q)), "the quaternion in 'q' is zero");
    return;
  }
  for (int k = 0; k < 4; k++) quaternion[k] /= norm;
}

static void joint_limits(srCompiler* c, Arrays* A, int j, int joint) {
  double* limits = A->limits + 2 * j;
  limits[0] = limits[1] = (double)NAN;
  if (joint < 0) return;
  double given[2];
  int n = sr_c_numbers(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, limits), given, 2);
  if (n <= 0) return;
  srPlace place = sr_c_place(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, limits));
  if (A->joint_nv[j] != 1) {
    sr_c_error(c, place, "'limits' are for joints with one coordinate; '%s' has %d", A->joint_name[j], A->joint_nv[j]);
  } else if (given[0] >= given[1]) {
    sr_c_error(c, place, "'limits' of joint '%s': the lower one (%g) must be less than the upper (%g)",
               A->joint_name[j], given[0], given[1]);
  } else {
    memcpy(limits, given, sizeof given);
    c->priv->has_limits = true;
  }
}

static void initial_state(srCompiler* c, Arrays* A) {
  srModel* m = c->m;
  A->q0 = NEW(c, double, m->nq);
  A->v0 = NEW(c, double, m->nv);
  A->armature = NEW(c, double, m->nv);
  A->limits = NEW(c, double, 2 * m->njoint);
  for (int j = 0; j < m->njoint; j++) {
    const int joint = c->joint_of_spec_body[c->spec_of_body[j + 1]];
    double* q = A->q0 + A->joint_q[j];
    int n = 0;
    if (joint >= 0 && A->joint_nv[j] > 0) {
      n = initial(c, joint, SR_FIELD(srJointDef, q), A->joint_nq[j], q);
      initial(c, joint, SR_FIELD(srJointDef, v), A->joint_nv[j], A->v0 + A->joint_v[j]);
      double armature = 0;
      if (sr_c_number(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, armature), &armature) && armature < 0) {
        sr_c_error(c, sr_c_place(c, SR_ELEMENT_JOINT, joint, SR_FIELD(srJointDef, armature)),
                   "the armature of joint '%s' is negative", A->joint_name[j]);
      }
      m->has_armature |= armature > 0;
      for (int k = 0; k < A->joint_nv[j]; k++) A->armature[A->joint_v[j] + k] = armature;
    }
    if (A->joint_type[j] == SR_JOINT_BALL) initial_quaternion(c, joint, q, n > 0);
    if (A->joint_type[j] == SR_JOINT_FREE) initial_quaternion(c, joint, q + 3, n > 0);
    joint_limits(c, A, j, joint);
  }
}

static void hand_over(srCompiler* c, const Arrays* A) {
  srModel* m = c->m;
  m->body_name = A->body_name;
  m->body_parent = A->body_parent;
  m->body_joint = A->body_joint;
  m->body_link = A->body_link;
  m->body_place = A->body_place;
  m->joint_name = A->joint_name;
  m->joint_type = A->joint_type;
  m->joint_body = A->joint_body;
  m->joint_implied = A->joint_implied;
  m->joint_q = A->joint_q;
  m->joint_nq = A->joint_nq;
  m->joint_v = A->joint_v;
  m->joint_nv = A->joint_nv;
  m->joint_role = A->joint_role;
  m->q_name = A->q_name;
  m->q_unit = A->q_unit;
  m->v_name = A->v_name;
  m->v_unit = A->v_unit;
  m->q0 = A->q0;
  m->v0 = A->v0;
  m->dof_armature = m->joint_armature = A->armature;
  m->njq = m->nq;
  m->njv = m->nv;
  m->link_parent = A->link_parent;
  m->link_type = A->link_type;
  m->link_q = A->link_q;
  m->link_v = A->link_v;
  m->link_joint = A->link_joint;
  m->link_body = A->link_body;
  m->link_tree = A->link_tree;
  m->link_pitch = A->link_pitch;
  m->dof_link = A->dof_link;
  m->dof_parent = A->dof_parent;
  m->angle_link = A->angle_link;
  c->priv->limits = A->limits;
}

void sr_compile_tree(srCompiler* c) {
  Arrays A = {0};
  order_bodies(c, &A);
  number_joints(c, &A);
  name_coordinates(c, &A);
  new_link_arrays(c, &A);
  int link = 1;
  for (int j = 0; j < c->m->njoint; j++) link = make_links(c, &A, j, link);
  link_coordinates(c, &A);
  initial_state(c, &A);
  hand_over(c, &A);
}
