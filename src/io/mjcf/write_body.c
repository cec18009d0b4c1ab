// MJCF out: <worldbody>, the bodies inside one another: pose, <inertial>, <joint>s, <geom>s and <site>s of each, in
// this order. Bodies without mass and content, as readers make them of several joints in one body, become such joints
// again.
#include <string.h>

#include "io/mjcf/write.h"
#include "math/pose.h"

#define MOST 6  // degrees of freedom of a body in MJCF

// ----------------------------------------------------------------------------------------------- before any is written
// Bodies by their names; "world" is the ground in MJCF.
static void name_bodies(srMjcfOut* x) {
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

// Its joint can be in one body with others.
static bool is_chained(const srModel* m, int b) {
  const int j = m->body_joint[b], type = m->joint_type[j];
  return m->joint_nv[j] > 0 && type != SR_JOINT_BALL && type != SR_JOINT_FREE;
}

// Bodies without mass and content, whose joints can move to the body behind them.
static void find_folded(srMjcfOut* x) {
  const srConvert* c = x->c;
  const srModel* m = c->m;
  int dofs = 0;  // of the chain so far
  x->folded = sr_pool_alloc(c->pool, (size_t)m->nbody + 1);
  int* children = sr_pool_alloc(c->pool, (size_t)(m->nbody + 1) * sizeof *children);
  for (int b = 1; b <= m->nbody; b++) children[m->body_parent[b]]++;
  for (int b = m->nbody; b > 0; b--) {
    const bool empty = !sr_convert_has_mass(m, b) && c->first[SR_ELEMENT_SHAPE][b] < 0 &&
                       c->first[SR_ELEMENT_POINT][b] < 0 && x->first_axis_site[b] < 0 && !x->framed[b];
    const int own = m->joint_nv[m->body_joint[b]] + (m->joint_type[m->body_joint[b]] == SR_JOINT_HELICAL);
    x->folded[b] = empty && is_chained(m, b) && children[b] == 1 && is_chained(m, b + 1) && dofs + own <= MOST;
    dofs = x->folded[b] ? dofs + own : own;
  }
}

void sr_mjcf_out_find_bodies(srMjcfOut* x) {
  name_bodies(x);
  sr_mjcf_out_find_sites(x);
  sr_mjcf_out_find_heavy(x);
  find_folded(x);
}

// -------------------------------------------------------------------------------------------------- joints in one body
// A native joint that is in a body of MJCF.
typedef struct Held {
  int j;
  srJointPart part[SR_PARTS];
  int n;            // parts
  double pose[16];  // in the frame of the one before it
} Held;

// The joint of body b, which has no mass, is in body `end`.
static void tell_folded(srConvert* c, int b, int end) {
  const srModel* m = c->m;
  const char* read = sr_pool_printf(c->pool, "%s.%s", m->body_name[end], m->joint_name[m->body_joint[b]]);
  if (strcmp(read, m->body_name[b]) != 0)
    sr_convert_lose(c, m->body_place[b], SR_LOSS_NOTHING, sr_pool_printf(c->pool, "name of body '%s'", m->body_name[b]),
                    "it has no mass: its joint is in body '%s', and Sarrus's reader calls it '%s'", m->body_name[end],
                    read);
}

// First body of the chain that ends in b.
static int first_of(const srMjcfOut* x, int b) {
  while (x->folded[x->c->m->body_parent[b]]) b = x->c->m->body_parent[b];
  return b;
}

// The chain of joints from body `first` to b, and the pose of b in the parent of the first.
static int hold_joints(srMjcfOut* x, int first, int b, Held held[MOST], double pose[16]) {
  int n = 0;
  srm_pose_identity(pose);
  for (int k = first; k <= b; k++) {
    Held* h = &held[n++];
    double next[16];
    h->j = x->c->m->body_joint[k];
    sr_convert_joint_pose(x->c, k, h->pose);
    h->n = sr_mjcf_out_parts(x->c, k, h->part, h->pose);
    sr_mjcf_out_start(x, h->j, h->part, h->n, h->pose);
    if (k < b) tell_folded(x->c, k, b);
    srm_pose_compose(pose, h->pose, next);
    memcpy(pose, next, sizeof next);
  }
  return n;
}

// The frame of each joint in the body, which is the last one's.
static void frames_of(const Held held[MOST], int n, double frame[MOST][16]) {
  double back[16];
  srm_pose_identity(frame[n - 1]);
  for (int k = n - 1; k > 0; k--) {
    srm_pose_invert(held[k].pose, back);
    srm_pose_compose(frame[k], back, frame[k - 1]);
  }
}

// -------------------------------------------------------------------------------------------------------------- bodies
static void put_content(srMjcfOut* x, int b) {
  sr_mjcf_out_geoms(x, b);
  sr_mjcf_out_sites(x, b);
}

static void put_body(srMjcfOut* x, int b) {
  srConvert* c = x->c;
  Held held[MOST];
  double pose[16], frame[MOST][16];
  const int first = first_of(x, b), n = hold_joints(x, first, b, held, pose);
  while (c->xml.nopen > x->level[c->m->body_parent[first]]) sr_xml_end(&c->xml);
  frames_of(held, n, frame);
  sr_xml_begin(&c->xml, "body");
  x->level[b] = c->xml.nopen;
  sr_xml_text(&c->xml, "name", x->body_word[b]);
  sr_mjcf_out_pose(&c->xml, pose);
  sr_mjcf_out_gravcomp(x, b);
  sr_mjcf_out_inertial(x, b);
  for (int k = 0; k < n; k++) sr_mjcf_out_joints(x, held[k].j, held[k].part, held[k].n, frame[k]);
  put_content(x, b);
}

void sr_mjcf_out_world(srMjcfOut* x) {
  srConvert* c = x->c;
  x->level = sr_pool_alloc(c->pool, (size_t)(c->m->nbody + 1) * sizeof *x->level);
  sr_xml_begin(&c->xml, "worldbody");
  x->level[0] = c->xml.nopen;
  put_content(x, 0);
  for (int b = 1; b <= c->m->nbody; b++)
    if (!x->folded[b]) put_body(x, b);
  while (c->xml.nopen >= x->level[0]) sr_xml_end(&c->xml);
}
