// The unilateral contacts of a model, as methods for rigid contact see them (integrate.h: srUnilateral).
//
// Contact elements are listed always, pairs of contact sets where they are near; two shapes have all points where they may touch (collide/points.h): a box on a
// plane its corners. With (w, u) the twist of b observed from a, c_k its columns, n the normal
// and r from b's origin to the point of contact, all in the axes of a (contact/place.h):
//   u_N = n.(u + w x r)   W_N,k = n.u_k + (r x n).w_k    the rate of the gap; r is along n for spheres
//   u_T = t.(u + w x r)   W_T,k = t.u_k + (r x t).w_k    for two tangents t (contact_tangents.c); of a surface that moves in its body its velocity along t is
//                                                        added (b)
// A gap by formula has the rates dgap/dq v + dgap/dt, dslip/dq v + (slip speed at rest) and one tangent, a joint limit the rate of its
// coordinate and no tangent: their rows are the generalized forces of unit forces on gap, slip or joint. Tangents that do not exist are rows of zeros.
// The velocities of a contact are those of the path between its two frames, or those where a generalized force is not 0.
//
// Ids: a pair has a key, which is the index of its element, or of a pair of a set a number behind them, made of set and shapes, whatever slot its
// instance takes. A pair that has one point has the key as its id. Points of others have
//   key + keys (1 + hash of the features that meet there)
// which depends on the position alone, and is the same as long as the features are. Of two points of a pair with the same hash (8 points: 3e-8) the second has
// the next free one.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "collide/points.h"
#include "constraint/constraint.h"
#include "contact/element.h"
#include "dynamics/link.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"
#include "math/pose.h"
#include "math/v4.h"
#include "math/vector3.h"
#include "model/private.h"
#include "system/system.h"

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

// Most points of any pair of a set.
static int set_points(const srModel* m, const srContactSet* set) {
  int most = 1;
  bool seen[SR_KIND_SMOOTH + 1] = {false}, swap;
  for (int i = 0; i < set->nmember; ++i) seen[m->collider[set->member[i]].kind] = true;
  for (int i = 0; i <= SR_KIND_SMOOTH; ++i) {
    for (int k = 0; k <= i; ++k) {
      const srPairKind* pair = seen[i] && seen[k] ? sr_pair_find((srShapeKind)i, (srShapeKind)k, &swap) : NULL;
      const int n =
          pair == NULL ? 0 : sr_pair_points_most(pair, (srShapeKind)(swap ? k : i), (srShapeKind)(swap ? i : k));
      if (n > most) most = n;
    }
  }
  return most;
}

static int element_points(const srForceElement* e) {
  const srSurfaceLaws* c = e->contact;
  if (e->law->port != SR_PORT_FRAMES) return 1;
  return sr_pair_points_most(c->pair, c->shape[0]->convex.kind, c->shape[1]->convex.kind);
}

int sr_contact_capacity(const srModel* m, const srData* d) {
  int points = 1;
  for (int i = 0; i < m->nset; ++i) {
    const int n = set_points(m, &m->set[i]);
    if (n > points) points = n;
  }
  long long n = d->instances != NULL ? (long long)points * d->instances->most_near : 0;
  for (int i = 0; i < m->nforce; ++i) n += is_contact(&m->force[i]) ? element_points(&m->force[i]) : 0;
  return n < INT_MAX ? (int)n : INT_MAX;
}

// Coordinates between a link and the ground, at the most. From the tips on: a long chain is walked once.
static int longest_path(const srModel* m) {
  int most = 0;
  for (int i = m->nlink - 1; i > 0 && 2 * most < m->nv; --i) {
    int n = 0;
    for (int k = i; k > 0; k = m->link_parent[k]) n += sr_link_nv[m->link_type[k]];
    if (n > most) most = n;
  }
  return most;
}

int sr_contact_columns(const srModel* m) {
  const int path = 2 * longest_path(m);
  int most = path;
  for (int i = 0; i < m->nforce; ++i) {  // each variable of a formula is a coordinate or a sensor between two frames
    const srForceElement* e = &m->force[i];
    if (is_contact(e) && e->law->port == SR_PORT_GAP && e->contact->nvariable * path > most)
      most = e->contact->nvariable * path;
  }
  return most < m->nv ? most : m->nv;
}

// ---- laws -------------------------------------------------------------------------------------------------------------

double sr_rigid_restitution(const srSurfaceLaws* c) {
  if (c->law->uses & SR_NORMAL_USES(e)) return c->p.e;
  return c->law->uses & SR_NORMAL_USES(D) ? 0.0 : 1.0;
}

// Rigid contact has one coefficient of friction in a direction, mu-k; by events it has a static one too.
typedef struct Ignored {
  int turning, still,
      rolling;       // contacts with friction of rolling or spinning; with another static coefficient; with a tyre
  srPlace place[3];  // of the first one of each
} Ignored;

// Spinning is resisted by friction at several points anyway.
static bool resists_turning(const srSurfaceLaws* c) {
  const bool points =
      c->pair != NULL && (c->patch != NULL || c->shape[0]->surface != NULL || c->shape[0]->smooth != NULL);
  return c->roll.s > 0 || (points ? c->lever : c->spin.s) > 0;
}

static void count_ignored(const srSurfaceLaws* c, bool tyre, srPlace place, Ignored* x) {
  const bool has[3] = {resists_turning(c), c->slip.law != NULL && c->slip.s != c->slip.k, tyre};
  int* const count[3] = {&x->turning, &x->still, &x->rolling};
  for (int k = 0; k < 3; ++k) {
    if (has[k] && (*count[k])++ == 0) x->place[k] = place;
  }
}

static void count_elements(const srModel* m, Ignored* x) {
  for (int i = 0; i < m->nforce; ++i) {
    const srSurfaceLaws* c = m->force[i].contact;
    if (sr_is_set_valued(&m->force[i])) count_ignored(c, false, m->force[i].place, x);
    if (!is_contact(&m->force[i])) continue;
    count_ignored(c, c->pair != NULL && c->wheel >= 0, m->force[i].place, x);
  }
}

static void count_sets(const srModel* m, Ignored* x) {
  for (int i = 0; i < m->nset; ++i) {
    const srContactSet* set = &m->set[i];
    for (int k = 0; k < set->ncard * set->ncard; ++k) {
      if (set->law[k].law != NULL)  // materials that meet
        count_ignored(&set->law[k], !isnan(set->law[k].relaxation), set->place, x);
    }
  }
}

void sr_rigid_warn(const srModel* m, bool by_events, srMessages* messages) {
  Ignored x = {0};
  count_elements(m, &x);
  count_sets(m, &x);
  const int count[3] = {x.turning, x.still, x.rolling};
  static const char* const text[3] = {
      "rolling and spinning friction are ignored: rigid contact has friction of sliding alone",
      "the static coefficient of friction is ignored: time-stepping has one, mu-k (of joints Fk)",
      "the relaxation length of tyres is ignored: rigid contact has no bristles"};
  for (int k = 0; k < 3; ++k) {
    if (k == 1 && by_events) continue;
    if (count[k] > 0) sr_messages_add(messages, SR_SEVERITY_WARNING, x.place[k], "%s", text[k]);
  }
}

// Points of a pair of shapes have no stiffness of their own: K is that of a whole face.
static bool check_law(const srSurfaceLaws* c, int points, srPlace place, const char* method, srMessages* messages) {
  if (!c->law->linear) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, place,
                    "the method '%s' takes contacts with linear normal laws, kelvin-voigt and hooke, not '%s': take "
                    "one of these, or another method",
                    method, c->law->name);
  } else if (points > 1) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, place,
                    "the method '%s' takes shapes that touch at one point, such as balls on balls and planes; these "
                    "may touch at %d: take another method",
                    method, points);
  }
  return c->law->linear && points <= 1;
}

bool sr_compliant_check(const srModel* m, const char* method, srMessages* messages) {
  bool good = true;
  for (int i = 0; i < m->nforce && good; ++i) {
    const srSurfaceLaws* c = m->force[i].contact;
    if (is_contact(&m->force[i]))
      good = check_law(c, element_points(&m->force[i]), m->force[i].place, method, messages);
  }
  for (int i = 0; i < m->nset && good; ++i) {
    const srContactSet* set = &m->set[i];
    for (int k = 0; k < set->ncard * set->ncard && good; ++k) {
      if (set->law[k].law != NULL)  // materials that meet
        good = check_law(&set->law[k], set_points(m, set), set->place, method, messages);
    }
  }
  return good;
}

// ---- the list ---------------------------------------------------------------------------------------------------------

typedef struct List {
  const srModel* m;
  srData* d;
  srUnilateral* out;
  int count;
  bool points;                    // in place of rows
  const srContactChoice* choice;  // NULL: all, without rates
  const int* asleep;              // nv; NULL: none
} List;

// Is the pair with this key among those that are concerned?
static bool is_concerned(const List* x, long key) {
  for (int i = 0; x->choice != NULL && i < x->choice->npair; ++i) {
    if (x->choice->pair[i] == 1 + key) return true;
  }
  return false;
}

static bool is_left_out(const List* x, long key) {
  return x->choice != NULL && x->choice->alone && !is_concerned(x, key);
}

// Where the rates of the next contact are written; NULL: they are not wanted.
static double* rates_of_next(const List* x, long key) {
  if (x->choice == NULL || x->choice->rate == NULL || !is_concerned(x, key)) return NULL;
  return x->choice->rate + 3 * x->count;
}

// K: of the law, or of the pair where the law has none of its own.
static srUnilateral* put_laws(srUnilateral* to, long id, long key, const srSurfaceLaws* c, double K) {
  *to = (srUnilateral){.id = id,
                       .pair = 1 + key,
                       .normal = -1,
                       .tangent = -1,
                       .mu = c->slip.law != NULL ? c->slip.k : 0.0,
                       .mu_static = c->slip.law != NULL ? c->slip.s : 0.0,
                       .restitution = sr_rigid_restitution(c),
                       .stiffness = K,
                       .damping = c->law->uses & SR_NORMAL_USES(D) ? c->p.D : 0.0,
                       .W = to->W,
                       .column = to->column};
  return to;
}

static srUnilateral* add(List* x, long id, long key, const srSurfaceLaws* c, double K) {
  if (x->choice != NULL && x->choice->rate != NULL) x->choice->rate[3 * x->count] = NAN;
  return put_laws(&x->out[x->count++], id, key, c, K);
}

// ---- identity ---------------------------------------------------------------------------------------------------------

#define HASHES (1L << 30)

static long key_count(const srModel* m) { return m->nforce + (long)m->nset * m->ncollider * m->ncollider; }

long sr_contact_key(const srModel* m, long id) { return id % key_count(m); }

bool sr_contact_is_length(const srModel* m, long id) {
  const long key = sr_contact_key(m, id);
  return key >= m->nforce || m->force[key].law->port != SR_PORT_JOINT;
}

// Steele, Lea, Flood (2014): the last steps of splitmix64.
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static bool is_taken(const List* x, int first, long id) {
  for (int i = first; i < x->count; ++i) {
    if (x->out[i].id == id) return true;
  }
  return false;
}

// first: place in the list of the points of its pair.
static long point_id(const List* x, long key, uint64_t feature, int first) {
  if (feature == 0) return key;
  const long keys = key_count(x->m), fit = LONG_MAX / keys - 2, hashes = fit < HASHES ? fit : HASHES;
  long hash = (long)(mix(feature) % (uint64_t)hashes);
  while (is_taken(x, first, key + keys * (1 + hash))) hash = (hash + 1) % hashes;
  return key + keys * (1 + hash);
}

void sr_contact_names(const srModel* m, long id, const char** a, const char** b) {
  const long key = sr_contact_key(m, id);
  if (key < m->nforce) {
    *a = m->force[key].contact->a;
    *b = m->force[key].contact->b;
  } else {
    const long pair = (key - m->nforce) % ((long)m->ncollider * m->ncollider);
    *a = m->collider[pair / m->ncollider].name;
    *b = m->collider[pair % m->ncollider].name;
  }
}

void sr_contact_sides(const srModel* m, long id, int* set, int* a, int* b) {
  const long key = sr_contact_key(m, id), pair = key - m->nforce, n = m->ncollider;
  *set = key < m->nforce ? -1 : (int)(pair / (n * n));
  *a = key < m->nforce ? (int)key : (int)(pair / n % n);
  *b = key < m->nforce ? -1 : (int)(pair % n);
}

// ---- shapes -----------------------------------------------------------------------------------------------------------

// out[k] = column . (moment, force) over the columns of a path.
static void put_row(int n, const double* column, const double* moment, const double* force, double* out) {
  for (int k = 0; k < n; ++k) out[k] = srm_dot3(column + 6 * k, moment) + srm_dot3(column + 6 * k + 3, force);
}

typedef struct Shapes {
  int point[2];
  const srPairKind* pair;
  double radius[2];
  const srCollisionShape* shape[2];
} Shapes;

// Velocity of the surfaces in their bodies, of b relative to a, in the axes of a.
static void belt_of(const srModel* m, const srData* d, const Shapes* of, const double pose[16], double out[3]) {
  const double* belt[2];
  for (int k = 0; k < 2; ++k)
    belt[k] = of->shape[k]->belt >= 0 ? d->formula + m->priv->formula_belt + of->shape[k]->belt : NULL;
  out[0] = out[1] = out[2] = 0;
  if (belt[1] != NULL) srm_pose_rotate(pose, belt[1], out);
  for (int i = 0; i < 3 && belt[0] != NULL; ++i) out[i] -= belt[0][i];
}

// The path between the shapes: its columns, and the velocity of their surfaces.
typedef struct Path {
  int n;
  const int* dof;
  const double* column;
  double belt[3];
} Path;

// Without friction there are no tangential directions.
static void put_point(const Path* path, const srTangents* tangents, bool central, const srPairPoint* at,
                      srUnilateral* out) {
  const double none[3] = {0};
  double t[2][3], moment[3];
  out->gap = at->gap;
  out->n = path->n;
  srm_set3(out->axis, at->n);
  memcpy(out->column, path->dof, (size_t)path->n * sizeof *path->dof);
  srm_cross3(at->r, at->n, moment);
  put_row(path->n, path->column, central ? none : moment, at->n, out->W);
  if (out->mu == 0 && out->mu_static == 0) {
    memset(out->W + path->n, 0, 2 * (size_t)path->n * sizeof *out->W);
    return;
  }
  const double factor = sr_contact_tangents(tangents, at->n, t);
  if (tangents->excess != 0) {
    srm_set3(out->across, t[0]);
    out->factor = factor;
    srm_scale3(factor, t[1], t[1]);
  }
  for (int k = 0; k < 2; ++k) {
    srm_cross3(at->r, t[k], moment);
    put_row(path->n, path->column, moment, t[k], out->W + (k + 1) * path->n);
    out->b[1 + k] = srm_dot3(t[k], path->belt);
  }
}

// moved: their rates, or NULL.
static int find_points(const Shapes* of, const srFrameMotion* seen, const double pose[16], srFeaturePoint* point,
                       srPointRates* moved) {
  double twist[6];
  if (moved == NULL) return sr_pair_points(of->pair, of->radius, of->shape[0], of->shape[1], pose, point);
  srm_set3(twist, seen->angular_velocity);
  srm_set3(twist + 3, seen->velocity);
  return sr_pair_points_moving(of->pair, of->radius, of->shape[0], of->shape[1], pose, twist, point, moved);
}

// Surfaces that move in their bodies do so by formulas of any kind.
static void put_rates(const Shapes* of, const srTangents* tangents, const srFrameMotion* seen, const srPairPoint* at,
                      const srPointRates* moved, double out[3]) {
  if (moved->known && of->shape[0]->belt < 0 && of->shape[1]->belt < 0) {
    sr_contact_point_rates(tangents, seen, at, moved, out);
  } else {
    out[0] = NAN;
  }
}

// Whose direction of friction a pair uses, if any: 0 or 1; -1: none.
static int directed_of(const srSurfaceLaws* laws, const srCollisionShape* const shape[2]) {
  for (int k = 0; k < 2; ++k) {
    if (laws->slip.law != NULL && sr_surface_directed(shape[k]) && !isnan(laws->along[k])) return k;
  }
  return -1;
}

static srTangents tangents_of(const Shapes* of, const srSurfaceLaws* laws, const double pose[16]) {
  const int directed = directed_of(laws, of->shape);
  if (directed < 0) return (srTangents){.excess = 0};
  return (srTangents){.excess = laws->along[directed] - 1,
                      .direction = sr_friction_direction(of->shape[directed], directed, pose)};
}

static void put_shapes(List* x, const Shapes* of, long key, const srSurfaceLaws* laws, double K) {
  const srModel* m = x->m;
  double* column = x->d->work;  // 96 numbers per link and 8 per coordinate
  int* dof = (int*)(void*)(column + 6 * m->nv);
  _Alignas(32) double pose[16];
  srFrameMotion seen;
  srFeaturePoint point[SR_POINTS_MOST];
  srPointRates moved[SR_POINTS_MOST];
  double* rate = rates_of_next(x, key);
  if (rate != NULL) sr_frame_motion(m, x->d, of->point[1], of->point[0], &seen);
  Path path = {.n = sr_path_pose(m, x->d, of->point[1], of->point[0], dof, column, pose), .dof = dof, .column = column};
  belt_of(m, x->d, of, pose, path.belt);
  const srTangents tangents = tangents_of(of, laws, pose);
  const int n = find_points(of, &seen, pose, point, rate != NULL ? moved : NULL), first = x->count;
  for (int i = 0; i < n; ++i) {
    srUnilateral* out = add(x, point_id(x, key, point[i].feature, first), key, laws, K);
    put_point(&path, &tangents, of->pair->place != NULL, &point[i].at, out);
    if (rate != NULL) put_rates(of, &tangents, &seen, &point[i].at, &moved[i], rate + 3 * i);
  }
}

// ---- points of free bodies ------------------------------------------------------------------------------------------------

// Inverse of the inertia about the center of mass, from that about the origin.
static void inverse_at(const double* about_origin, double mass, const double c[3], double out[6]) {
  const double *I = about_origin, square = srm_dot3(c, c);
  const double x = I[0] - mass * (square - c[0] * c[0]), y = I[5] - mass * (square - c[1] * c[1]),
               z = I[10] - mass * (square - c[2] * c[2]), xy = I[4] + mass * c[0] * c[1],
               xz = I[8] + mass * c[0] * c[2], yz = I[9] + mass * c[1] * c[2];
  if (x == y && y == z && xy == 0 && xz == 0 && yz == 0) {
    for (int k = 0; k < 6; ++k) out[k] = k < 3 ? 1 / x : 0;
    return;
  }
  const double minor[6] = {y * z - yz * yz,  x * z - xz * xz,  x * y - xy * xy,
                           xz * yz - xy * z, xy * yz - xz * y, xy * xz - x * yz};
  const double det = x * minor[0] + xy * minor[3] + xz * minor[4];
  for (int k = 0; k < 6; ++k) out[k] = minor[k] / det;
}

static bool differs(double ratio) { return !isnan(ratio) && ratio != 1; }

// Points have the tangents of their normals.
static bool any_directed(const srModel* m) {
  for (int i = 0; i < m->nforce; ++i) {
    const srSurfaceLaws* c = m->force[i].contact;
    if (is_contact(&m->force[i]) && c->pair != NULL && c->directed >= 0 && differs(c->along[c->directed])) return true;
  }
  for (int i = 0; i < m->nset; ++i) {
    const srContactSet* set = &m->set[i];
    bool some = false;
    for (int k = 0; k < set->nmember && !some; ++k)
      some = sr_surface_directed(&m->collision[m->collider[set->member[k]].shape]);
    for (int k = 0; k < set->ncard * set->ncard && some; ++k) {
      if (differs(set->law[k].along[0]) || differs(set->law[k].along[1])) return true;
    }
  }
  return false;
}

bool sr_contact_points_fit(const srModel* m) {
  for (int i = 1; i < m->nlink; ++i) {
    const double* inertia = m->link_inertia + 16 * i;
    if (m->link_type[i] != SR_LINK_FREE || m->link_parent[i] != 0 || !(inertia[15] > 0)) return false;
    double com[3], inverse[6];
    srm_scale3(1 / inertia[15], inertia + 12, com);
    inverse_at(inertia, inertia[15], com, inverse);
    if (!(inverse[0] > 0 && inverse[1] > 0 && inverse[2] > 0) || !isfinite(inverse[0] + inverse[1] + inverse[2]))
      return false;
  }
  for (int i = 0; i < m->nv; ++i) {
    if (m->dof_armature[i] != 0) return false;
  }
  for (int i = 0; i < m->nforce; ++i) {
    if (is_contact(&m->force[i]) && m->force[i].law->port != SR_PORT_FRAMES) return false;
    if (sr_is_set_valued(&m->force[i])) return false;
  }
  return m->nlink > 1 && m->ng == 0 && !m->absolute && !any_directed(m);
}

typedef struct Bodies {
  const srModelSystem* s;
  srFreeBody* out;
} Bodies;

static void put_free_bodies(void* user, int member, int from, int to) {
  const Bodies* x = user;
  const srModelSystem* s = x->s;
  (void)member;
  for (int i = 1 + from; i < 1 + to; ++i) {
    const double *pose = s->d->link_pose + 16 * i, *inertia = s->m->link_inertia + 16 * i;
    srFreeBody* b = &x->out[i - 1];
    for (int k = 0; k < 9; ++k) b->rotation[k] = pose[4 * (k % 3) + k / 3];
    for (int k = 0; k < 3; ++k) b->origin[k] = pose[12 + k];
    if (b->mass > 0) continue;
    b->first = s->m->link_v[i];
    b->mass = inertia[15];
    for (int k = 0; k < 3; ++k) b->com[k] = inertia[12 + k] / b->mass;
    inverse_at(inertia, b->mass, b->com, b->inverse);
  }
}

int sr_free_bodies(void* user, const double* q, srFreeBody* out) {
  const srModelSystem* s = user;
  (void)q;  // d has been there: `contacts`
  sr_team_loop(s->d->team, s->m->nlink - 1, put_free_bodies, &(Bodies){s, out});
  return 0;
}

// From the center of mass of a link, the origin of the ground, to a point.
static inline void arm_to(const srModel* m, const srData* d, int link, const double at[3], double out[3]) {
  const double *inertia = m->link_inertia + 16 * link, *pose = d->link_pose + 16 * link;
  if (link > 0 && inertia[12] == 0 && inertia[13] == 0 && inertia[14] == 0) {
    srm_sub3(at, pose + 12, out);
    return;
  }
  double com[3] = {0}, local[3];
  for (int k = 0; k < 3 && link > 0; ++k) local[k] = inertia[12 + k] / inertia[15];
  if (link > 0) srm_pose_point(pose, local, com);
  srm_sub3(at, com, out);
}

static void put_bodies(const List* x, const int point[2], srUnilateral* out) {
  for (int k = 0; k < 2; ++k) out->body[k] = x->m->point_link[point[k]] - 1;
}

// Spheres, and spheres on planes of the ground, whose surfaces rest in their bodies.
static bool is_simple(const srModel* m, const srNear* near) {
  if (near->kind == SR_NEAR_ANY || m->priv->formula_belt < 0)
    return near->kind != SR_NEAR_ANY;  // shapes are far away in memory
  return m->collision[m->collider[near->a].shape].belt < 0 && m->collision[m->collider[near->b].shape].belt < 0;
}

// The arm from the center of mass of its link to the point at this distance along n from the centre `at` of a ball.
static inline void put_arm(const List* x, int collider, int link, const double at[3], double length, const double n[3],
                           double out[3]) {
  double from[3];
  if (x->d->instances->central[collider] >= 0) {
    srm_scale3(length, n, out);
    return;
  }
  arm_to(x->m, x->d, link, at, from);
  srm_add_scaled3(from, length, n, out);
}

// From their centres alone, as pair_sphere_sphere.c and pair_plane_sphere.c have them. The arms are along the normal exactly where the centre is that of mass.
static void put_simple(const List* x, const srNear* near, srUnilateral* out) {
  const srModel* m = x->m;
  const struct srInstances* of = x->d->instances;
  const srCollider *one = &m->collider[near->a], *two = &m->collider[near->b];
  const double *a = of->centre + 3 * near->a, *b = of->centre + 3 * near->b;
  const int link[2] = {m->point_link[one->point], m->point_link[two->point]};
  double apart[3], arm = two->radius;
  srm_sub3(b, a, apart);
  if (near->kind == SR_NEAR_ON_PLANE) {
    srm_set3(out->axis, of->built + 12 * near->a + 6);  // of the ground: where it was when the list was made
    out->gap = srm_dot3(out->axis, apart) - two->radius;
  } else {
    const double distance = sqrt(srm_dot3(apart, apart)), curve = distance > 0 ? 1 / distance : 0;
    for (int k = 0; k < 3; ++k) out->axis[k] = distance > 0 ? curve * apart[k] : k == 2;
    out->gap = distance - one->radius - two->radius;
    arm += 0.5 * out->gap;
    put_arm(x, near->a, link[0], a, one->radius + 0.5 * out->gap, out->axis, out->arm[0]);
  }
  put_arm(x, near->b, link[1], b, -arm, out->axis, out->arm[1]);
  out->body[0] = link[0] - 1;
  out->body[1] = link[1] - 1;
}

static void put_belt(const Shapes* of, const List* x, const double pose[16], const double a[16], srUnilateral* out) {
  double belt[3], world[3], tangent[2][3];
  if (of->shape[0]->belt < 0 && of->shape[1]->belt < 0) return;
  belt_of(x->m, x->d, of, pose, belt);
  srm_pose_rotate(a, belt, world);
  srm_frame3(out->axis, tangent[0], tangent[1]);
  for (int k = 0; k < 2; ++k) out->b[1 + k] = srm_dot3(tangent[k], world);
}

// b observed from a.
static void pose_from(const double a[16], const double b[16], double out[16]) {
  double back[16], moved[16], r[3];
  srm_pose_transpose(a, back);
  memcpy(moved, b, sizeof moved);
  srm_sub3(b + 12, a + 12, r);
  srm_set3(moved + 12, r);
  srm_pose_compose(back, moved, out);
}

static void put_points(List* x, const Shapes* of, long key, const srSurfaceLaws* laws, double K) {
  const srModel* m = x->m;
  double pose[16], a[16], b[16];
  srFeaturePoint point[SR_POINTS_MOST];
  sr_point_frame(m, x->d, of->point[0], a);
  sr_point_frame(m, x->d, of->point[1], b);
  pose_from(a, b, pose);
  const int n = sr_pair_points(of->pair, of->radius, of->shape[0], of->shape[1], pose, point), first = x->count;
  for (int i = 0; i < n; ++i) {
    srUnilateral* out = add(x, point_id(x, key, point[i].feature, first), key, laws, K);
    double r[3], at[3];
    out->gap = point[i].at.gap;
    srm_pose_rotate(a, point[i].at.n, out->axis);
    srm_pose_rotate(a, point[i].at.r, r);
    srm_add_scaled3(b + 12, 1, r, at);
    put_bodies(x, of->point, out);
    for (int k = 0; k < 2; ++k) arm_to(m, x->d, m->point_link[of->point[k]], at, out->arm[k]);
    put_belt(of, x, pose, a, out);
  }
}

// ---- other elements ---------------------------------------------------------------------------------------------------

// Do the forces of an element act on joint coordinates alone, and on no link?
static bool acts_in_joints(const srForceElement* e) {
  bool joints = e->law->port == SR_PORT_JOINT || e->law->port == SR_PORT_GAP;
  for (int k = 0; joints && e->law->port == SR_PORT_GAP && k < e->contact->nvariable; ++k)
    joints = e->contact->variable[k].dof >= 0;
  return joints;
}

// The generalized force of a force f at the port of an element. d's forces are lost.
static void put_force(const srModel* m, srData* d, const srForceElement* e, const srPortMotion* motion, const double* f,
                      double* row) {
  memset(d->f, 0, (size_t)m->nv * sizeof *d->f);
  memset(d->jf, 0, (size_t)m->njv * sizeof *d->jf);
  const bool joints = acts_in_joints(e);
  if (!joints) memset(d->link_wrench, 0, 8 * (size_t)m->nlink * sizeof *d->link_wrench);
  sr_port_force(m, d, e, motion, f);
  if (!joints) sr_gather_wrenches(m, d);
  if (m->absolute) sr_measurement_transposed(m, d, d->jf, d->f);
  memcpy(row, d->f, (size_t)m->nv * sizeof *row);
}

// Rows over all velocities (3 x nv) to those that are not 0 in all of them.
static void put_sparse(const srModel* m, const double* full, srUnilateral* out) {
  out->n = 0;
  for (int i = 0; i < m->nv; ++i) {
    if (full[i] != 0 || full[m->nv + i] != 0) out->column[out->n++] = i;
  }
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < out->n; ++i) out->W[k * out->n + i] = full[k * m->nv + out->column[i]];
  }
}

static int put_element(List* x, int i) {
  const srModel* m = x->m;
  const srForceElement* e = &m->force[i];
  const srSurfaceLaws* c = e->contact;
  if (is_left_out(x, i)) return 0;
  if (e->law->port == SR_PORT_FRAMES) {
    const Shapes of = {{e->point[0], e->point[1]}, c->pair, {c->radius[0], c->radius[1]}, {c->shape[0], c->shape[1]}};
    if (x->points) {
      put_points(x, &of, i, c, c->p.K);
    } else {
      put_shapes(x, &of, i, c, c->p.K);
    }
    return 0;
  }
  double* rates = rates_of_next(x, i);
  srUnilateral* out = add(x, i, i, c, c->p.K);
  srPortMotion motion;
  double rate;
  double* full = x->d->work;
  const int answer = sr_port_motion(m, x->d, e, &motion);
  if (answer != 0) return answer;
  memset(full, 0, 3 * (size_t)m->nv * sizeof *full);
  const srImpedanceIn in = {.x = motion.x, .xdot = motion.xdot, .data = c};
  sr_contact_gap(c, &in, &out->gap, &rate);
  if (rates != NULL) sr_contact_port_rates(m, x->d, e, &motion, rates);
  if (e->law->port == SR_PORT_JOINT) {
    put_force(m, x->d, e, &motion, &(double){-c->side}, full);
    put_sparse(m, full, out);
    return 0;
  }
  const double gap[2] = {1, 0}, slip[2] = {0, 1}, *own = motion.formula + 3 + 2 * c->nvariable;
  put_force(m, x->d, e, &motion, gap, full);
  put_force(m, x->d, e, &motion, slip, full + m->nv);
  put_sparse(m, full, out);
  out->b[0] = own[0];
  out->b[1] = own[1];
  return 0;
}

static int put_elements(List* x) {
  int answer = 0;
  for (int i = 0; i < x->m->nforce && answer == 0; ++i) {
    if (is_contact(&x->m->force[i])) answer = put_element(x, i);
  }
  return answer;
}

// By Hertz where the set gives none.
static double stiffness_of(const srModel* m, const srNear* near, const srSurfaceLaws* law) {
  const srContactSet* set = &m->set[near->set];
  if (!isnan(law->p.K)) return law->p.K;
  return sr_hertz_stiffness((srElastic){set->E[near->card_a], set->nu[near->card_a], m->collider[near->a].radius},
                            (srElastic){set->E[near->card_b], set->nu[near->card_b], m->collider[near->b].radius});
}

static bool link_sleeps(const List* x, int link) {
  for (int k = link; k > 0; k = x->m->link_parent[k]) {
    if (sr_link_nv[x->m->link_type[k]] > 0) return x->asleep[x->m->link_v[k]] != 0;
  }
  return true;
}

// Both sides sleep, or never move, and so do their surfaces.
static bool sleeps(const List* x, const srCollider* a, const srCollider* b) {
  const srModel* m = x->m;
  if (x->asleep == NULL || !link_sleeps(x, m->point_link[a->point]) || !link_sleeps(x, m->point_link[b->point]))
    return false;
  return m->collision[a->shape].belt < 0 && m->collision[b->shape].belt < 0;
}

static srUnilateral* put_other_laws(const List* x, const srNear* near, srUnilateral* out) {
  const srSurfaceLaws* law = sr_near_law(x->m, near);
  return put_laws(out, near->key, near->key, law, stiffness_of(x->m, near, law));
}

// A simple pair as contact `at`. Where the same pair was listed there before, as from step to step, its laws are there already.
static inline srUnilateral* put_simple_laws(const List* x, const srNear* near, int at) {
  const long key = near->key;
  srUnilateral* out = &x->out[at];
  if (x->choice != NULL || out->pair != 1 + key || out->id != key) return put_other_laws(x, near, out);
  out->n = 0;
  return out;
}

static void put_simple_near(const List* x, const srNear* near, int at) {
  put_simple(x, near, put_simple_laws(x, near, at));
}

static inline bool are_central(const struct srInstances* of, const srNear* near) {
  bool all = true;
  for (int k = 0; k < 4; ++k) {
    all = all && near[k].kind == SR_NEAR_SPHERES && (of->central[near[k].a] | of->central[near[k].b]) >= 0;
  }
  return all;
}

// Four pairs of balls around centers of mass side by side, with the bits of put_simple.
SRM_INLINE void put_four(const List* x, const srNear* near, int at) {
  const struct srInstances* of = x->d->instances;
  const double *a[4], *b[4];
  v4 from[4], to[4], apart[3], point[4], arm[4], row[4];
  for (int k = 0; k < 4; ++k) {
    a[k] = of->centre + 3 * near[k].a;
    b[k] = of->centre + 3 * near[k].b;
  }
  v4_columns_at(a, from);
  v4_columns_at(b, to);
  for (int k = 0; k < 3; ++k) apart[k] = to[k] - from[k];
  const double* radius = of->radius;
  const v4 one = {radius[near[0].a], radius[near[1].a], radius[near[2].a], radius[near[3].a]};
  const v4 two = {radius[near[0].b], radius[near[1].b], radius[near[2].b], radius[near[3].b]};
  const v4 square = v4_dots(apart, apart);
  const v4 distance = {sqrt(square[0]), sqrt(square[1]), sqrt(square[2]), sqrt(square[3])}, curve = 1 / distance;
  const v4u some = (v4u)(distance > v4_zero());
  for (int k = 0; k < 3; ++k) point[1 + k] = (v4)(((v4u)(curve * apart[k]) & some) | ((v4u)v4_all(k == 2) & ~some));
  point[0] = distance - one - two;
  const v4 half = 0.5 * point[0], first = one + half, second = -(two + half);
  srUnilateral* out[4];
  v4_columns(point, row);
  for (int k = 0; k < 4; ++k) {
    out[k] = put_simple_laws(x, near + k, at + k);
    *(v4_any*)&out[k]->gap = row[k];  // and the axis
    out[k]->body[0] = of->body[near[k].a];
    out[k]->body[1] = of->body[near[k].b];
  }
  for (int k = 0; k < 3; ++k) arm[k] = first * point[1 + k];
  arm[3] = second * point[1];
  v4_columns(arm, row);
  for (int k = 0; k < 4; ++k) *(v4_any*)out[k]->arm[0] = row[k];
  for (int k = 0; k < 2; ++k) arm[k] = arm[2 + k];
  for (int k = 0; k < 2; ++k) arm[2 + k] = second * point[2 + k];
  v4_columns(arm, row);
  for (int k = 0; k < 4; ++k) *(v4_any*)(out[k]->arm[0] + 2) = row[k];
}

SRM_CLONES static void put_simple_range(void* user, int member, int from, int to) {
  const List* x = user;
  const srNear* near = x->d->instances->near;
  (void)member;
  for (int i = from; i < to;) {
    if (i + 4 <= to && are_central(x->d->instances, near + i)) {
      put_four(x, near + i, x->count + i);
      i += 4;
    } else {
      put_simple_near(x, near + i, x->count + i);
      ++i;
    }
  }
}

static void put_near(List* x) {
  const srModel* m = x->m;
  const struct srInstances* instances = x->d->instances;
  if (x->points && instances->simple && m->priv->formula_belt < 0 && x->asleep == NULL && x->choice == NULL) {
    sr_team_loop(x->d->team, instances->nnear, put_simple_range, x);
    x->count += instances->nnear;
    return;
  }
  for (int i = 0; i < instances->nnear; ++i) {
    const srNear* near = &instances->near[i];
    const srCollider *a = &m->collider[near->a], *b = &m->collider[near->b];
    const long key = near->key;
    bool swap;
    if (sleeps(x, a, b) || is_left_out(x, key)) continue;
    if (x->points && is_simple(m, near)) {
      if (x->choice != NULL && x->choice->rate != NULL) x->choice->rate[3 * x->count] = NAN;
      put_simple_near(x, near, x->count++);
      continue;
    }
    const srSurfaceLaws* law = sr_near_law(m, near);
    const double K = stiffness_of(m, near, law);
    const Shapes of = {{a->point, b->point},
                       sr_pair_find((srShapeKind)a->kind, (srShapeKind)b->kind, &swap),
                       {a->radius, b->radius},
                       {&m->collision[a->shape], &m->collision[b->shape]}};
    if (x->points) {
      put_points(x, &of, key, law, K);
    } else {
      put_shapes(x, &of, key, law, K);
    }
  }
}

// Do gaps of shapes alone, which do not move by formulas, need the poses and nothing else?
static bool are_poses(const srModel* m) {
  if (m->nformula > 0 || m->absolute) return false;
  for (int i = 0; i < m->nforce; ++i) {
    if (is_contact(&m->force[i]) && m->force[i].law->port != SR_PORT_FRAMES) return false;
  }
  return true;
}

static int list(List* x, double t, const double* q, const double* v, int* count) {
  const srStage stage = v == NULL && are_poses(x->m) ? SR_STAGE_POSITION : SR_STAGE_VELOCITY;
  *count = 0;
  if (sr_stop_requested(x->d)) return -1;
  (void)sr_evaluate(x->m, x->d, t, q, v, NULL, stage);
  if (x->d->stage > SR_STAGE_VELOCITY) x->d->stage = SR_STAGE_VELOCITY;  // forces are overwritten
  int answer = x->m->nformula > 0 ? sr_measure(x->m, x->d) : 0;
  if (answer == 0 && x->choice != NULL && x->choice->rate != NULL) sr_bias_acceleration(x->m, x->d);
  if (answer == 0) answer = put_elements(x);
  if (answer == 0 && x->d->instances != NULL) answer = sr_near_at(x->m, x->d);
  if (answer == 0 && x->d->instances != NULL) put_near(x);
  if (x->d->stage > SR_STAGE_VELOCITY) x->d->stage = SR_STAGE_VELOCITY;
  *count = x->count;
  return answer;
}

int sr_contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const srModelSystem* s = user;
  List x = {.m = s->m, .d = s->d, .out = out, .points = s->points, .asleep = s->asleep};
  return list(&x, t, q, NULL, count);
}

int sr_contacts_chosen(void* user, double t, const double* q, const srContactChoice* choice, srUnilateral* out,
                       int* count) {
  const srModelSystem* s = user;
  List x = {.m = s->m, .d = s->d, .out = out, .points = s->points, .choice = choice};
  return list(&x, t, q, choice->rate != NULL ? choice->v : NULL, count);
}

void sr_sleep(void* user, const int* asleep) { ((srModelSystem*)user)->asleep = asleep; }

int sr_foresee(void* user, double t, const double* q, const double* v, double h) {
  const srModelSystem* s = user;
  if (s->d->instances == NULL) return 0;
  (void)sr_evaluate(s->m, s->d, t, q, s->points ? NULL : v, NULL, s->points ? SR_STAGE_POSITION : SR_STAGE_VELOCITY);
  return sr_near_for(s->m, s->d, v, h);
}
