// Which shapes can touch each other.
#include "collide/collision.h"
#include "model/private.h"

bool sr_shapes_move(const srModel* m, int a, int b) {
  if (m->collision[a].convex.kind == SR_KIND_NONE || m->collision[b].convex.kind == SR_KIND_NONE) return false;
  return m->priv->body_weld[m->shape[a].body] != m->priv->body_weld[m->shape[b].body];
}

bool sr_shapes_are_excluded(const srModel* m, int a, int b) {
  const long long key = sr_shape_key(m->nshape, a, b);
  int low = 0, high = m->priv->nexcluded;
  while (low < high) {
    const int middle = (low + high) / 2;
    *(m->priv->excluded[middle] < key ? &low : &high) = m->priv->excluded[middle] < key ? middle + 1 : middle;
  }
  return low < m->priv->nexcluded && m->priv->excluded[low] == key;
}

bool sr_shapes_may_touch(const srModel* m, int a, int b) {
  const int* weld = m->priv->body_weld;
  const int one = weld[m->shape[a].body], two = weld[m->shape[b].body];
  if (!sr_shapes_move(m, a, b) || sr_shapes_are_excluded(m, a, b)) return false;
  if (one == 0 || two == 0) return true;
  return weld[m->body_parent[one]] != two && weld[m->body_parent[two]] != one;
}
