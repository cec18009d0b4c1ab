// Links and joints of URDF as a tree on one root. A link with several parents keeps one of them: the other joints close
// loops. The joint that carries nothing (no limits, dynamics, mimic, transmission) is cut before one that does, a moving
// joint before a fixed one, the later before the earlier; a choice that would cut links off from the root is changed.
#include <string.h>

#include "io/urdf/urdf.h"

static void connect(srUrdf* u) {
  for (int i = 0; i < u->nlink; i++)
    u->link[i].first_out = u->link[i].last_out = u->link[i].first_in = u->link[i].joint = -1;
  for (int i = u->njoint - 1; i >= 0; i--) {  // backwards: the lists have the order of the file
    srUrdfJoint* joint = &u->joint[i];
    if (joint->parent < 0 || joint->child < 0 || joint->parent == joint->child) continue;
    joint->next_out = u->link[joint->parent].first_out;
    u->link[joint->parent].first_out = i;
    joint->next_in = u->link[joint->child].first_in;
    u->link[joint->child].first_in = i;
  }
}

// --------------------------------------------------------------------------------------------------------------- root
static bool find_root(srUrdf* u) {
  int others = 0;
  u->base = -1;
  for (int i = 0; i < u->nlink; i++) {
    if (u->link[i].first_in >= 0) continue;
    if (u->base < 0) {
      u->base = i;
      continue;
    }
    const srUrdfLink* base = &u->link[u->base];
    if (others++ < 10)
      sr_reader_error(u->r, u->link[i].place,
                      "two roots: link '%.60s' is the child of no joint, and neither is '%.60s' in line %d",
                      u->link[i].word, base->word, base->place.line);
  }
  return others == 0;
}

// Links that are parents of each other in a circle, beginning anywhere below it.
static void report_circle(srUrdf* u, int link) {
  char* met = sr_pool_alloc(&u->r->pool, (size_t)u->nlink + 1);
  while (!met[link]) {
    met[link] = 1;
    link = u->joint[u->link[link].first_in].parent;
  }
  srUrdfList circle = {0};
  const int first = link;
  do {
    sr_urdf_list(u, &circle, u->link[link].word, u->link[link].place);
    link = u->joint[u->link[link].first_in].parent;
  } while (link != first);
  sr_reader_error(u->r, circle.first, "the links %s are parents of each other in a circle that no root reaches",
                  circle.text);
}

// --------------------------------------------------------------------------------------------------------------- cuts
static int worth(const srUrdfJoint* joint) {
  const bool carries = joint->limit == SR_URDF_LIMIT_GIVEN || joint->damping > 0 || joint->friction > 0 ||
                       joint->armature > 0 || joint->leader >= 0 || joint->leads || joint->driven;
  return carries ? 2 : joint->type == SR_URDF_FIXED ? 1 : 0;
}

static int best_parent(const srUrdf* u, int link) {
  int best = u->link[link].first_in;
  for (int i = best; i >= 0; i = u->joint[i].next_in)
    if (worth(&u->joint[i]) > worth(&u->joint[best])) best = i;
  return best;
}

// Marks what hangs on link by the joints chosen; what is met goes to the end of the list. Returns its new length.
static int spread(srUrdf* u, int link, int* list, int n) {
  u->link[link].reached = true;
  list[n++] = link;
  for (int k = n - 1; k < n; k++)
    for (int i = u->link[list[k]].first_out; i >= 0; i = u->joint[i].next_out) {
      const int child = u->joint[i].child;
      if (u->link[child].joint != i || u->link[child].reached) continue;
      u->link[child].reached = true;
      list[n++] = child;
    }
  return n;
}

// The tree by the best joints; then links that it does not reach by whatever joint leads to them.
static int reach(srUrdf* u, int* list) {
  for (int i = 0; i < u->nlink; i++) u->link[i].joint = best_parent(u, i);
  int n = spread(u, u->base, list, 0);
  for (int k = 0; k < n; k++)
    for (int i = u->link[list[k]].first_out; i >= 0; i = u->joint[i].next_out) {
      const int child = u->joint[i].child;
      if (u->link[child].reached) continue;
      u->link[child].joint = i;
      n = spread(u, child, list, n);
    }
  return n;
}

bool sr_urdf_tree(srUrdf* u) {
  if (u->broken) return false;
  for (int i = 0; i < u->njoint; i++)  // already reported: what it should carry would seem to be a root
    if (u->joint[i].parent < 0 || u->joint[i].child < 0 || u->joint[i].parent == u->joint[i].child) return false;
  connect(u);
  if (!find_root(u)) return false;
  int* list = sr_pool_alloc(&u->r->pool, (size_t)(u->nlink + 1) * sizeof *list);
  const int n = u->base >= 0 ? reach(u, list) : 0;
  for (int i = 0; i < u->nlink && n < u->nlink; i++)
    if (!u->link[i].reached) {
      report_circle(u, i);
      return false;
    }
  for (int i = 0; i < u->njoint; i++) {
    srUrdfJoint* joint = &u->joint[i];
    joint->cut = joint->child >= 0 && u->link[joint->child].joint != i;
  }
  return n > 0;
}
