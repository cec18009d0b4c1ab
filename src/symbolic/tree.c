// Links of a model for symbolic recursions: the same as those of srModel, with entries that are 0 or +-1 but for rounding set to that, so that they vanish from the equations.
#include <math.h>
#include <string.h>

#include "symbolic/folds.h"
#include "symbolic/tree.h"

const char* sr_sym_comment(srPool* pool, const char* text) {
  char* out = sr_pool_text(pool, text);
  for (char* c = out; *c != '\0'; c++) {
    const unsigned char byte = (unsigned char)*c;
    if (byte < 32 || byte == 127 || byte == '\\') *c = '_';
    if ((c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*') || (c[0] == '?' && c[1] == '?')) *c = '_';
  }
  return out;
}

static const char* name_of(srPool* pool, const srModel* m, int i) {
  const char* joint = sr_sym_comment(pool, m->joint_name[m->link_joint[i]]);
  const char* body = sr_sym_comment(pool, m->body_name[m->link_body[i]]);
  if (strcmp(joint, body) == 0) return joint;
  return sr_pool_printf(pool, "%s (%s)", body, joint);
}

static double rounded(double x, double tolerance, double* snapped) {
  static const double simple[] = {0, 1, -1};
  for (int i = 0; i < 3; i++) {
    const double off = fabs(x - simple[i]);
    if (off > tolerance) continue;
    *snapped = fmax(*snapped, off);
    return simple[i];
  }
  return x;
}

// Lengths, moments, inertias: below a part of `size` they are 0.
static void snap_small(double* x, int n, double size, double snap, double* snapped) {
  for (int i = 0; i < n; i++) {
    if (x[i] == 0 || fabs(x[i]) > snap * size) continue;
    *snapped = fmax(*snapped, fabs(x[i]) / size);
    x[i] = 0;
  }
}

static double largest(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

void sr_sym_snap(srSymTree* tree, double snap, double* snapped) {
  for (int i = 1; i < tree->n; i++) {
    srSymLink* l = &tree->link[i];
    for (int k = 0; k < 9; k++) l->Q[k] = rounded(l->Q[k], snap, snapped);
    snap_small(l->p, 3, tree->length, snap, snapped);
    snap_small(l->h, 3, fmax(largest(l->h, 3), l->mass * tree->length * 1e-3), snap, snapped);
    snap_small(l->J, 9, largest(l->J, 9), snap, snapped);
  }
}

srSymTree* sr_sym_tree(srPool* pool, const srModel* m, double snap, double* snapped) {
  srSymTree* tree = sr_pool_alloc(pool, sizeof *tree);
  *tree = (srSymTree){.m = m, .pool = pool, .n = m->nlink, .folds = sr_sym_folds(pool)};
  tree->link = sr_pool_alloc(pool, (size_t)m->nlink * sizeof *tree->link);
  for (int i = 1; i < m->nlink; i++) {
    srSymLink* l = &tree->link[i];
    const double *T = m->link_tree + 16 * i, *I = m->link_inertia + 16 * i;
    *l = (srSymLink){.parent = m->link_parent[i], .type = m->link_type[i], .q = m->link_q[i], .v = m->link_v[i]};
    l->pitch = m->link_pitch[i], l->mass = I[15], l->name = name_of(pool, m, i);
    for (int r = 0; r < 3; r++) {
      l->p[r] = T[12 + r], l->h[r] = I[12 + r];
      for (int c = 0; c < 3; c++) l->Q[3 * r + c] = T[4 * c + r], l->J[3 * r + c] = I[4 * c + r];
    }
    tree->length = fmax(tree->length, largest(l->p, 3));
    if (l->mass > 0) tree->length = fmax(tree->length, largest(l->h, 3) / l->mass);
  }
  sr_sym_snap(tree, snap, snapped);
  return tree;
}

bool sr_sym_is_parallel(const srSymLink* l) {
  for (int i = 0; i < 9; i++) {
    if (l->Q[i] != (i % 4 == 0 ? 1 : 0)) return false;
  }
  return true;
}
