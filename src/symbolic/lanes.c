// Which links are in which lane. Children of a link whose subtrees have the same joints, in the same order, are limbs of one kind: they are dealt out to the lanes in turn. What is left is the base, and may have limbs further out.
#include "symbolic/lanes.h"

#include <string.h>

#include "dynamics/link.h"
#include "expr/graph.h"
#include "force/ports.h"
#include "model/private.h"
#include "symbolic/elements.h"

typedef struct Work {
  srPool* pool;
  const srSymTree* tree;
  srSymLanes* out;
  bool limbs;
} Work;

static bool same_shape(const srSymTree* tree, int a, int b) {
  if (tree->link[a].type != tree->link[b].type) return false;
  int i = a + 1, k = b + 1;
  for (;;) {
    while (i < tree->n && tree->link[i].parent != a) i++;
    while (k < tree->n && tree->link[k].parent != b) k++;
    if (i == tree->n || k == tree->n) return i == tree->n && k == tree->n;
    if (!same_shape(tree, i++, k++)) return false;
  }
}

static void put_limb(Work* w, int link, int like, int lane) {
  const srSymTree* tree = w->tree;
  w->out->lane[link] = lane, w->out->like[link] = like;
  for (int i = link + 1, k = like; i < tree->n; i++) {
    if (tree->link[i].parent != link) continue;
    do k++;
    while (tree->link[k].parent != like);
    put_limb(w, i, k, lane);
  }
}

static void put_children(Work* w, int link) {
  const srSymTree* tree = w->tree;
  const int n = w->out->n;
  bool* done = sr_pool_alloc(w->pool, (size_t)tree->n * sizeof *done);
  int* member = sr_pool_alloc(w->pool, (size_t)tree->n * sizeof *member);
  for (int i = link + 1; i < tree->n; i++) {
    int count = 0;
    if (done[i] || tree->link[i].parent != link) continue;
    for (int k = i; k < tree->n; k++) {
      if (!done[k] && tree->link[k].parent == link && same_shape(tree, i, k)) member[count++] = k, done[k] = true;
    }
    const int dealt = count - count % n;
    for (int k = 0; k < dealt; k++) put_limb(w, member[k], member[k - k % n], k % n);
    for (int k = dealt; k < count; k++) put_children(w, member[k]);
    w->limbs = w->limbs || dealt > 0;
  }
}

// ---- elements -----------------------------------------------------------------------------------------------------------

enum { OF_BASE = -1, OF_SEVERAL = -2 };

static int both(int a, int b) { return a == b || b == OF_BASE ? a : a == OF_BASE ? b : OF_SEVERAL; }

// Positions of a link.
static int nq_of(const srSymLink* l) {
  return sr_link_nv[l->type] + (l->type == SR_LINK_BALL || l->type == SR_LINK_FREE ? 1 : 0);
}

static int lane_of_q(const Work* w, int q) {
  for (int i = w->tree->n - 1; i > 0; i--) {
    const srSymLink* l = &w->tree->link[i];
    if (q >= l->q && q < l->q + nq_of(l)) return w->out->lane[i];
  }
  return OF_BASE;
}

static int lane_of_point(const Work* w, int point) { return w->out->lane[w->tree->m->point_link[point]]; }
static int lane_of_sensor(const Work* w, const srSensor* s) {
  return both(lane_of_point(w, s->point), lane_of_point(w, s->relative_to));
}

static int lane_of_variable(const Work* w, srVarKind kind, int index) {
  const srModel* m = w->tree->m;
  int lane = OF_BASE;
  switch (kind) {
    case SR_VAR_Q: return lane_of_q(w, index);
    case SR_VAR_V: return w->out->lane[m->dof_link[index]];
    case SR_VAR_SENSOR:
      for (int i = 0; i < m->nsensor; i++) {
        const srSensor* s = &m->sensor[i];
        if (s->value >= 0 && index >= s->value && index < s->value + SR_SENSOR_SCALARS)
          lane = both(lane, lane_of_sensor(w, s));
      }
      return lane;
    case SR_VAR_ARG:
      for (int i = 0; i < m->nforce; i++) {
        const srForceElement* e = &m->force[i];
        if (e->distance_arg >= 0 && (index == e->distance_arg || index == e->distance_arg + 1))
          lane = both(lane, both(lane_of_point(w, e->point[0]), lane_of_point(w, e->point[1])));
      }
      return lane;
    default: return OF_BASE;
  }
}

static int lane_of_formula(const Work* w, srNode node, unsigned char* seen) {
  const srGraphNode* x = &w->tree->m->priv->graph->nodes[node];
  int lane = OF_BASE;
  if (seen[node]) return OF_BASE;
  seen[node] = 1;
  if (x->op == SR_OP_VAR) return lane_of_variable(w, (srVarKind)x->detail, x->index);
  for (int k = 0; k < sr_op_arity(x->op); k++) lane = both(lane, lane_of_formula(w, x->child[k], seen));
  return lane;
}

static int lane_of_element(const Work* w, const srForceElement* e) {
  const srModel* m = w->tree->m;
  unsigned char* seen = sr_pool_alloc(w->pool, (size_t)m->priv->graph->n + 1);
  int lane = OF_BASE;
  const srPort port = e->law->port;
  if (port == SR_PORT_JOINT) lane = w->out->lane[m->dof_link[e->dof]];
  if (port == SR_PORT_POINT || port == SR_PORT_DISTANCE || port == SR_PORT_FRAMES) lane = lane_of_point(w, e->point[0]);
  if (port == SR_PORT_DISTANCE || port == SR_PORT_FRAMES) lane = both(lane, lane_of_point(w, e->point[1]));
  for (int i = 0; i < sr_sym_formulas_of(e); i++)
    lane = both(lane, lane_of_formula(w, m->priv->law_root[e->formula + i], seen));
  for (int k = 0; port == SR_PORT_GAP && k < e->contact->nvariable; k++) {
    const srContactVariable* v = &e->contact->variable[k];
    lane = both(lane, v->dof >= 0 ? w->out->lane[m->dof_link[v->dof]] : lane_of_sensor(w, &m->sensor[v->index]));
  }
  return lane;
}

static bool put_elements(Work* w) {
  const srModel* m = w->tree->m;
  w->out->element = sr_pool_alloc(w->pool, ((size_t)m->nforce + 1) * sizeof *w->out->element);
  for (int i = 0; i < m->nforce; i++) {
    w->out->element[i] = lane_of_element(w, &m->force[i]);
    if (w->out->element[i] == OF_SEVERAL) return false;
  }
  return true;
}

// ---- coordinates of a lane ----------------------------------------------------------------------------------------------

static void put_local(int* to, int* n, int first, int count) {
  for (int k = 0; to != NULL && k < count; k++) to[*n + k] = first + k;
  *n += count;
}

// Links in the order of lane 0: the base, then its limbs.
static void put_coordinates(Work* w) {
  srSymLanes* o = w->out;
  const srSymTree* tree = w->tree;
  const size_t n = (size_t)o->n;
  o->q = sr_pool_alloc(w->pool, ((size_t)tree->m->nq + 1) * n * sizeof *o->q);
  o->v = sr_pool_alloc(w->pool, ((size_t)tree->m->nv + 1) * n * sizeof *o->v);
  for (int lane = 0, all_q = 0, all_v = 0; lane < o->n; lane++) {
    for (int part = 0; part < 2; part++) {
      for (int i = 1; i < tree->n; i++) {
        if ((o->lane[i] >= 0) != (part == 1) || (part == 1 && o->lane[i] != 0)) continue;
        int own = i;
        for (int k = 1; part == 1 && k < tree->n; k++) own = o->lane[k] == lane && o->like[k] == i ? k : own;
        const srSymLink* l = &tree->link[own];
        put_local(o->q, &all_q, l->q, nq_of(l));
        put_local(o->v, &all_v, l->v, sr_link_nv[l->type]);
      }
      if (lane == 0 && part == 0) o->base_q = all_q, o->base_v = all_v;
    }
    if (lane == 0) o->nq = all_q, o->nv = all_v;
  }
}

// States of elements in the order of the file, which must be the same in all lanes.
static bool put_states(Work* w) {
  srSymLanes* o = w->out;
  const srModel* m = w->tree->m;
  o->y = sr_pool_alloc(w->pool, ((size_t)m->ny + 1) * (size_t)o->n * sizeof *o->y);
  for (int lane = 0, all = 0; lane < o->n; lane++) {
    put_local(o->y, &all, 0, m->priv->ny_user);
    for (int part = 0; part < 2; part++) {
      for (int i = 0; i < m->nforce; i++) {
        if (o->element[i] == (part == 0 ? OF_BASE : lane)) put_local(o->y, &all, m->force[i].y, m->force[i].ny);
      }
      if (lane == 0 && part == 0) o->base_y = all;
    }
    if (lane == 0) o->ny = all;
    if (all != (lane + 1) * o->ny) return false;
  }
  return o->base_y + o->n * (o->ny - o->base_y) == m->ny;
}

const srSymLanes* sr_sym_lanes(srPool* pool, const srSymTree* tree, int n, bool elements) {
  Work w = {.pool = pool, .tree = tree, .out = sr_pool_alloc(pool, sizeof *w.out)};
  w.out->n = n;
  w.out->lane = sr_pool_alloc(pool, (size_t)tree->n * sizeof *w.out->lane);
  w.out->like = sr_pool_alloc(pool, (size_t)tree->n * sizeof *w.out->like);
  for (int i = 0; i < tree->n; i++) w.out->lane[i] = OF_BASE, w.out->like[i] = i;
  put_children(&w, 0);
  if (!w.limbs || (elements && !put_elements(&w))) return NULL;
  put_coordinates(&w);
  return !elements || put_states(&w) ? w.out : NULL;
}

static double of_equal(const void* self, double x, int order) {
  const srSymLanes* lanes = self;
  return order == 0 ? lanes->n * x : order == 1 ? lanes->n : 0;
}

srNode sr_sym_lane_sum(srSymPass* x, srNode node) {
  const srFunction sum = {.name = SR_LANE_SUM, .evaluate = of_equal, .self = x->tree->lanes};
  int function;
  if (sr_graph_find_function(x->g, sum.name, &function) == NULL) function = sr_graph_add_function(x->g, &sum);
  if (x->g->plain || x->g->nodes[node].op != SR_OP_CONST) return sr_graph_function(x->g, function, 0, node);
  return srx_number(x->g, x->tree->lanes->n * x->g->nodes[node].value);
}

srVec sr_sym_lane_sum3(srSymPass* x, srVec a) {
  for (int i = 0; i < 3; i++) a.x[i] = sr_sym_lane_sum(x, a.x[i]);
  return a;
}
