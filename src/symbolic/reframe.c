// Frames of links in which few entries are not 0: Denavit and Hartenberg (1955), for trees.
//
// The frame of a link on a revolute or helical joint may be turned about the joint's axis z and moved along it, C = Rz(turn) Tz(slide): both commute with the joint. Turned so that x is the common normal of its axis and that
// of its first child, the constant rotation to the child is Rx(twist), mostly a permutation; a rotation Rz behind it adds to the angle of the child. The slide is the one of the model, or to the common normal with the parent's or a
// child's axis: whichever leaves the fewest entries of all offsets, by coordinate descent.
#include <math.h>
#include <string.h>

#include "symbolic/tree.h"

#define PARALLEL 1e-9  // sine of the angle between two axes

static bool turns(const srSymLink* l) { return l->type == SR_LINK_REVOLUTE || l->type == SR_LINK_HELICAL; }
static bool has_axis(const srSymLink* l) { return turns(l) || l->type == SR_LINK_PRISMATIC; }

static int first_child(const srSymTree* tree, int i) {
  for (int k = i + 1; k < tree->n; k++) {
    if (tree->link[k].parent == i && has_axis(&tree->link[k])) return k;
  }
  return 0;
}

static void about_z(double angle, double* R) {
  const double s = sin(angle), c = cos(angle);
  const double out[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  memcpy(R, out, sizeof out);
}

static void product(const double* A, const double* B, double* out) {
  double x[9];
  for (int i = 0; i < 9; i++) {
    const int r = i / 3 * 3, c = i % 3;
    x[i] = A[r] * B[c] + A[r + 1] * B[3 + c] + A[r + 2] * B[6 + c];
  }
  memcpy(out, x, sizeof x);
}

// The frame of link i is turned by Rz(angle): its inertia, and the places of its children, seen from there.
static void turn_link(srSymTree* tree, int i, double angle) {
  srSymLink* l = &tree->link[i];
  double R[9], back[9], x[3];
  about_z(angle, R), about_z(-angle, back);
  for (int k = 0; k < 3; k++) x[k] = back[3 * k] * l->h[0] + back[3 * k + 1] * l->h[1] + back[3 * k + 2] * l->h[2];
  memcpy(l->h, x, sizeof x);
  product(back, l->J, l->J);
  product(l->J, R, l->J);
  for (int k = i + 1; k < tree->n; k++) {
    srSymLink* child = &tree->link[k];
    if (child->parent != i) continue;
    product(back, child->Q, child->Q);
    for (int j = 0; j < 3; j++)
      x[j] = back[3 * j] * child->p[0] + back[3 * j + 1] * child->p[1] + back[3 * j + 2] * child->p[2];
    memcpy(child->p, x, sizeof x);
  }
  l->turn += angle;
  if (turns(l))
    l->angle += angle;
  else
    product(l->Q, R, l->Q);
}

// The frame of link i is moved by z: the inertia about its new origin.
static void slide_link(srSymTree* tree, int i, double z) {
  srSymLink* l = &tree->link[i];
  const double m = l->mass, *h = l->h;
  const double s = -2 * h[2] * z + m * z * z;  // of J: 2 (d.h + m d.d/2) with d = (0, 0, -z)
  l->J[0] += s, l->J[4] += s;
  l->J[2] += h[0] * z, l->J[6] += h[0] * z, l->J[5] += h[1] * z, l->J[7] += h[1] * z;
  l->h[2] -= m * z;
  for (int r = 0; r < 3; r++) l->p[r] += z * l->Q[3 * r + 2];
  for (int k = i + 1; k < tree->n; k++) {
    if (tree->link[k].parent == i) tree->link[k].p[2] -= z;
  }
  l->slide += z;
}

// The angle about z of the common normal to the axis of `child`; false: x may be anywhere.
static bool normal_angle(const srSymTree* tree, const srSymLink* child, double* angle) {
  const double zx = child->Q[2], zy = child->Q[5];  // its axis
  if (hypot(zx, zy) > PARALLEL) {
    *angle = atan2(zx, -zy);  // z x axis = (-zy, zx, 0)
    return true;
  }
  if (!(hypot(child->p[0], child->p[1]) > PARALLEL * tree->length)) return false;
  *angle = atan2(child->p[1], child->p[0]);
  return true;
}

// Q = Rz(a) Rx(twist) Rz(b): b goes to the angle of the link, or to the frame of one that does not turn.
static void strip(srSymTree* tree, int i) {
  srSymLink* l = &tree->link[i];
  if (!has_axis(l)) return;
  const double zx = l->Q[2], zy = l->Q[5];
  const double a = hypot(zx, zy) > PARALLEL ? atan2(zx, -zy) : 0;
  double A[9],
      rest[9];  // Rx(twist) Rz(b): first column (cos b, cos(twist) sin b, sin(twist) sin b), third (0, -sin(twist), cos(twist))
  about_z(-a, A);
  product(A, l->Q, rest);
  const double b = atan2(rest[8] * rest[3] - rest[5] * rest[6], rest[0]);
  if (!turns(l)) {
    turn_link(tree, i, -b);
    return;
  }
  about_z(-b, A);
  product(l->Q, A, l->Q);
  l->angle += b;
}

static int entries(const srSymTree* tree) {
  int n = 0;
  for (int i = 1; i < tree->n; i++) {
    const srSymLink* l = &tree->link[i];
    for (int k = 0; k < 3 && l->parent > 0; k++) n += fabs(l->p[k]) > 1e-12 * tree->length;
  }
  return n;
}

// How far link i has to slide so that the foot of the common normal with the axis of `other`, whose frame is (Q, p) in that of i, is its origin.
static double foot(const double* Q, const double* p) {
  const double zx = Q[2], zy = Q[5], s2 = zx * zx + zy * zy;
  if (s2 <= PARALLEL * PARALLEL) return p[2];
  // origin + z t nearest to p + axis u: with n = (zx, zy)/|..|^2, u = -(p.n), t = pz + u axis_z
  return p[2] - Q[8] * (p[0] * zx + p[1] * zy) / s2;
}

static bool try_slide(srSymTree* tree, int i, double z, int* best) {
  if (fabs(z) <= 1e-12 * tree->length) return false;
  slide_link(tree, i, z);
  const int n = entries(tree);
  if (n < *best) return *best = n, true;
  slide_link(tree, i, -z);
  return false;
}

static bool improve(srSymTree* tree, int i, int* best) {
  const srSymLink* l = &tree->link[i];
  bool better = false;
  if (l->parent > 0) {  // the parent's axis, seen from this link at q = 0 and any angle: its foot is the same
    double Q[9], p[3];
    for (int k = 0; k < 9; k++) Q[k] = l->Q[k % 3 * 3 + k / 3];
    for (int k = 0; k < 3; k++) p[k] = -(Q[3 * k] * l->p[0] + Q[3 * k + 1] * l->p[1] + Q[3 * k + 2] * l->p[2]);
    better = try_slide(tree, i, foot(Q, p), best);
  }
  for (int k = i + 1; k < tree->n; k++) {
    if (tree->link[k].parent == i) better = try_slide(tree, i, foot(tree->link[k].Q, tree->link[k].p), best) || better;
  }
  return better;
}

void sr_sym_reframe(srSymTree* tree, double snap) {
  double ignored = 0;
  for (int i = 1; i < tree->n; i++) {
    double angle;
    const int child = turns(&tree->link[i]) ? first_child(tree, i) : 0;
    strip(tree, i);
    if (child > 0 && normal_angle(tree, &tree->link[child], &angle)) turn_link(tree, i, angle);
  }
  int best = entries(tree);
  bool better = true;
  for (int round = 0; round < 10 && better; round++) {
    better = false;
    for (int i = 1; i < tree->n; i++) {
      if (turns(&tree->link[i])) better = improve(tree, i, &best) || better;
    }
  }
  sr_sym_snap(tree, snap > 1e-14 ? snap : 1e-14, &ignored);
}
