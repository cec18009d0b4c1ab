// The callback `contacts` of a model: gaps and rows of elements and of contact sets against differences along the motion, in relative and absolute
// coordinates; ids; gaps as events.
#include <math.h>
#include <stdlib.h>

#include "collide/pair.h"
#include "dynamics/link.h"
#include "loading.h"
#include "math/pose.h"
#include "model/instance.h"
#include "system/system.h"

#define INERTIAL "<inertial mass='1' com='0.1 0 0' inertia='0.1 0.2 0.3'/>"
#define SCENE                                                                                                          \
  "<ground><shape name='floor' type='plane' at='0.1 0 0.1' rpy='0.2 -0.3 0.1'/>"                                       \
  "<shape name='bowl' type='sphere' size='-1.5' at='0.1 0 0.3'/></ground>"                                             \
  "<body name='base'><joint name='base' type='free' q='0.1 0 0.2 0.9 0.1 -0.2 0.3' v='0.3 -0.2 0.5 0.1 0.2 "           \
  "-0.3'/>" INERTIAL                                                                                                   \
  "<shape name='big' type='sphere' size='0.9' at='0.1 0.05 0'/></body>"                                                \
  "<body name='arm' parent='base'><joint name='arm' type='revolute' axis='0.2 1 0.3' at='0.6 0 0.1' q='0.4' v='2'"     \
  " limits='-0.9 0.9' limit-law='hunt-crossley' limit-restitution='0.4' limit-stiffness='20'/>" INERTIAL               \
  "<shape name='small' type='sphere' size='0.7' at='0.3 0 0.1'/><point name='tip' at='0.3 0.1 0'/></body>"             \
  "<body name='pad'><joint name='pad' type='planar' axis='0 1 0.3' at='0.4 0.1 0.4' q='0.1 -0.1 0.4' v='0.2 0.3 "      \
  "-1'/>" INERTIAL                                                                                                     \
  "<shape name='wall' type='plane' rpy='0.4 0.3 -0.2' at='0 0 0.3'/></body>"                                           \
  "<sensor name='tip' point='arm/tip' relative-to='pad'/>"
#define LAW " normal='kelvin-voigt' K='20' D='0.4' mu-k='0.2' friction='threlfall' v0='0.1'"

static const char* const as_elements =
    "<sarrus version='1'>" SCENE "<contact a='floor' b='big'" LAW "/><contact a='wall' b='small'" LAW
    "/>"
    "<contact a='bowl' b='small'" LAW "/><contact a='big' b='small' most='1'" LAW
    "/>"
    "<contact gap='q(arm)*q(pad, 1) + sensor(tip, x) - 0.3*t' slip-speed='3*v(arm) - v(pad, 0) + 0.7*t'" LAW
    "/>"
    "</sarrus>";
static const char* const as_sets = "<sarrus version='1'>" SCENE "<contact a='floor' b='big' most='1'" LAW
                                   "/>"
                                   "<contact a='wall' b='small' most='1'" LAW
                                   "/>"
                                   "<contact a='bowl' b='small' most='1'" LAW
                                   "/>"
                                   "<contact a='big' b='small' most='1'" LAW "/></sarrus>";

typedef struct Listed {
  srModelSystem user;
  srSystem system;
  srUnilateral* contact;
  int count;
} Listed;

static void open_list(Listed* x, const srModel* m, srData* d) {
  *x = (Listed){.user = {.m = m, .d = d}};
  x->system = sr_system(&x->user);
  ENSURE(x->system.contacts != NULL && x->system.ntangent == 2);
  x->contact = sri_contacts_create(&x->system);
}

static void close_list(Listed* x) { sri_contacts_destroy(x->contact); }

static void list(Listed* x, double t, const double* q) {
  ENSURE_EQUAL(x->system.contacts(x->system.user, t, q, x->contact, &x->count), 0);
  ENSURE(x->count <= x->system.ncontact);
}

static const srUnilateral* find(const Listed* x, long id) {
  for (int i = 0; i < x->count; i++) {
    if (x->contact[i].id == id) return &x->contact[i];
  }
  return NULL;
}

// The rate of every gap against the difference of the gap over t +- h along the motion.
static void compare_gaps(Listed* x, const double* q, const double* v, int expected) {
  const double h = 1e-4;
  double *step = calloc((size_t)x->system.nv, sizeof *step), *moved = calloc((size_t)x->system.nq, sizeof *moved);
  double rate[64], gap[2][64];
  long id[64];
  list(x, 0.2, q);
  const int n = x->count;
  ENSURE(n <= 64);
  ENSURE_EQUAL(n, expected);
  for (int i = 0; i < n; i++) {
    const srUnilateral* c = &x->contact[i];
    id[i] = c->id;
    rate[i] = sri_contact_velocity(c, 0, v);
    ENSURE(c->n <= x->system.ncolumn && c->n <= x->system.nv);
    ENSURE(c->normal == -1 && c->tangent == -1);
    for (int k = 0; k < i; k++) ENSURE(id[k] != id[i]);
  }
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < x->system.nv; i++) step[i] = (side ? h : -h) * v[i];
    x->system.retract(x->system.user, q, step, moved);
    list(x, side ? 0.2 + h : 0.2 - h, moved);
    ENSURE_EQUAL(x->count, n);
    for (int i = 0; i < n; i++) gap[side][i] = find(x, id[i])->gap;
  }
  for (int i = 0; i < n; i++) ENSURE_NEAR((gap[1][i] - gap[0][i]) / (2 * h), rate[i], 1e-6 * (1 + fabs(rate[i])));
  free(step), free(moved);
}

// A point at `at` (ground) of the link of a point, moved with its link from d to e, in ground axes.
static void carry(const srModel* m, const srData* d, const srData* e, int point, const double* at, double* out) {
  const double *from = d->link_pose + 16 * m->point_link[point], *to = e->link_pose + 16 * m->point_link[point];
  double r[3];
  for (int i = 0; i < 3; i++) {
    r[i] = 0;
    for (int k = 0; k < 3; k++) r[i] += from[4 * i + k] * (at[k] - from[12 + k]);
  }
  srm_pose_point(to, r, out);
}

// The normal and the point of contact of two shapes in ground axes, from their definition.
static void place_shapes(const srModel* m, const srData* d, const int point[2], const double R[2], bool plane,
                         double frame[16], double* n, double* at) {
  double b[16], x[3];
  sr_point_frame(m, d, point[0], frame);
  sr_point_frame(m, d, point[1], b);
  for (int i = 0; i < 3; i++) x[i] = b[12 + i] - frame[12 + i];
  const double distance = srm_norm3(x), side = R[0] < 0 ? -1 : 1;
  const double arm = plane ? R[1] : R[1] + 0.5 * (side * distance - R[0] - R[1]);
  for (int i = 0; i < 3; i++) n[i] = plane ? frame[8 + i] : side * x[i] / distance;
  for (int i = 0; i < 3; i++) at[i] = b[12 + i] - arm * n[i];
}

// Slip at the point of contact: the velocity of b's material point less that of a's, by differences, less its normal part. On a plane the tangents
// are its x and y; elsewhere they are free, and only the length is compared.
static void compare_slip(Listed* x, long id, const int point[2], const double R[2], bool plane, const double* q,
                         const double* v) {
  const srModel* m = x->user.m;
  const double h = 1e-5;
  srData *d = sr_data_create(m), *e = sr_data_create(m);
  double *step = calloc((size_t)m->nv, sizeof *step), *moved = calloc((size_t)m->nq, sizeof *moved);
  double frame[16], n[3], at[3], p[2][2][3], slip[3];
  list(x, 0.2, q);
  const srUnilateral* c = find(x, id);
  ENSURE(c != NULL);
  (void)sr_evaluate(m, d, 0.2, q, NULL, NULL, SR_STAGE_POSITION);
  place_shapes(m, d, point, R, plane, frame, n, at);
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < m->nv; i++) step[i] = (side ? h : -h) * v[i];
    sr_retract(m, q, step, moved);
    (void)sr_evaluate(m, e, 0.2, moved, NULL, NULL, SR_STAGE_POSITION);
    for (int k = 0; k < 2; k++) carry(m, d, e, point[k], at, p[side][k]);
  }
  for (int i = 0; i < 3; i++) slip[i] = (p[1][1][i] - p[1][0][i] - p[0][1][i] + p[0][0][i]) / (2 * h);
  const double along = srm_dot3(slip, n), u[2] = {sri_contact_velocity(c, 1, v), sri_contact_velocity(c, 2, v)};
  ENSURE_NEAR(sri_contact_velocity(c, 0, v), along, 1e-6);
  for (int i = 0; i < 3; i++) slip[i] -= along * n[i];
  ENSURE(srm_norm3(slip) > 1e-3);
  ENSURE_NEAR(hypot(u[0], u[1]), srm_norm3(slip), 1e-6);
  for (int k = 0; k < 2 && plane; k++) ENSURE_NEAR(u[k], srm_dot3(frame + 4 * k, slip), 1e-6);
  free(step), free(moved);
  sr_data_destroy(d);
  sr_data_destroy(e);
}

static bool is_plane(const char* kind) { return strcmp(kind, "plane-sphere") == 0; }

// All contacts between shapes: elements, then pairs of sets.
static int compare_slips(Listed* x, const double* q, const double* v) {
  const srModel* m = x->user.m;
  int n = 0;
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    if (!e->contact || !e->contact->pair) continue;
    compare_slip(x, i, e->point, e->contact->radius, is_plane(e->contact->pair->name), q, v);
    n++;
  }
  for (int i = 0; x->user.d->instances && i < x->user.d->instances->nnear; i++) {
    const srNear near = x->user.d->instances->near[i];
    const srCollider *a = &m->collider[near.a], *b = &m->collider[near.b];
    const long id = m->nforce + ((long)near.set * m->ncollider + near.a) * m->ncollider + near.b;
    compare_slip(x, id, (int[]){a->point, b->point}, (double[]){a->radius, b->radius}, a->kind == SR_KIND_PLANE, q, v);
    n++;
  }
  return n;
}

static int joint_of(const srModel* m, const char* name) {
  int j = 0;
  while (strcmp(m->joint_name[j], name) != 0) j++;
  return j;
}

static void compare(const srModel* m, srData* d, int contacts, int shapes) {
  Listed x;
  double *q = calloc((size_t)m->nq, sizeof *q), *v = calloc((size_t)m->nv, sizeof *v);
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  memcpy(v, d->v, (size_t)m->nv * sizeof *v);
  open_list(&x, m, d);
  compare_gaps(&x, q, v, contacts);
  if (shapes >= 0) ENSURE_EQUAL(compare_slips(&x, q, v), shapes);
  for (int i = 0; i < m->nforce; i++) {  // slip-speed of the formula
    if (m->force[i].law->port != SR_PORT_GAP) continue;
    list(&x, 0.2, q);
    const srUnilateral* c = find(&x, i);
    (void)sr_evaluate(m, d, 0.2, q, v, NULL, SR_STAGE_VELOCITY);
    const double expected = 3 * d->jv[m->joint_v[joint_of(m, "arm")]] - d->jv[m->joint_v[joint_of(m, "pad")]] + 0.14;
    ENSURE_NEAR(sri_contact_velocity(c, 1, v), expected, 1e-9);
  }
  close_list(&x);
  free(q), free(v);
}

static void compare_formulations(const char* text, int contacts, int shapes) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel *m = NULL, *free_bodies = NULL;
  srData *d, *e = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  const srStatus status = sr_compile(spec, messages, &m);
  loading_print(messages);
  ENSURE_EQUAL(status, SR_OK);
  d = sr_data_create(m);
  compare(m, d, contacts, shapes);
  sr_data_reset(m, d);
  ENSURE_EQUAL(sr_formulate(spec, m, d, SR_FORMULATION_ABSOLUTE, messages, &free_bodies, &e), SR_OK);
  compare(free_bodies, e, contacts, shapes);
  sr_data_destroy(d);
  sr_data_destroy(e);
  sr_model_destroy(m);
  sr_model_destroy(free_bodies);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

// Two limits, four pairs of shapes, one formula.
TEST(contacts_of_a_model_have_the_rates_of_their_gaps_and_slips) {
  compare_formulations(as_elements, 7, 4);
  compare_formulations(as_sets, 6, 4);
}

// ---- several points of a pair -----------------------------------------------------------------------------------------

// Shapes with faces and edges, turned a little against what they lie on, and in motion; the mesh has a floor of two triangles.
#define FLAT_SCENE                                                                                                     \
  "<mesh name='t' vertices='-9 -9 0  9 -9 0  9 9 0  -9 9 0  0 0 -9' faces='0 1 2  0 2 3  1 0 4  2 1 4  3 2 4  0 3 "    \
  "4'/>"                                                                                                               \
  "<ground><shape name='floor' type='plane'/><shape name='table' type='box' size='9 9 1' at='0 20 -0.5'/>"             \
  "<shape name='tiles' type='mesh' mesh='t' at='0 40 0'/>"                                                             \
  "</ground><repeat count='3' index='i'>"                                                                              \
  "<body name='box{i}'><joint name='box{i}' type='free' q='0 20*i 0.51 1 0.01 0.02 0.3' v='0.3 -0.2 1 1 -2 0.3'/>"     \
  "" INERTIAL                                                                                                          \
  "<shape name='b{i}' type='box' size='1.2 1.1 1' group='all'/></body>"                                                \
  "<body name='rod{i}'><joint name='rod{i}' type='free' q='3 20*i 0.21 1 1.02 0.02 0.03' v='0.3 1 1 1 -2 0.3'/>"       \
  "" INERTIAL                                                                                                          \
  "<shape name='c{i}' type='capsule' size='0.2 1' group='all'/></body></repeat>"                                       \
  "<body name='drum'><joint name='drum' type='free' q='-3 0 0.51 1 0.01 0.02 0.3' v='0.3 -0.2 1 1 -2 0.3'/>"           \
  "" INERTIAL "<shape name='d' type='cylinder' size='0.7 1' group='all'/></body>"

static const char* const flat_elements =
    "<sarrus version='1'>" FLAT_SCENE "<contact a='floor' b='b0'" LAW "/><contact a='floor' b='c0'" LAW
    "/>"
    "<contact a='table' b='b1'" LAW "/><contact a='table' b='c1'" LAW "/><contact a='tiles' b='b2'" LAW
    "/>"
    "<contact a='tiles' b='c2'" LAW "/><contact a='floor' b='d'" LAW "/></sarrus>";
static const char* const flat_sets =
    "<sarrus version='1'>" FLAT_SCENE "<contact a='floor' b='b0' most='1'" LAW
    "/><contact a='floor' b='c0' most='1'" LAW
    "/>"
    "<contact a='table' b='b1' most='1'" LAW "/><contact a='table' b='c1' most='1'" LAW
    "/><contact a='tiles' b='b2' most='1'" LAW
    "/>"
    "<contact a='tiles' b='c2' most='1'" LAW "/><contact a='floor' b='d' most='1'" LAW "/></sarrus>";

// Boxes: four corners; capsules: two ends; the cylinder: eight points of its rim, and where it is tilted the lowest one.
TEST(pairs_of_faces_have_several_points_with_ids_of_their_own) {
  compare_formulations(flat_elements, 3 * 4 + 3 * 2 + 8, -1);
  compare_formulations(flat_sets, 3 * 4 + 3 * 2 + 8, -1);
}

// Ids are those of features: the same after a motion that keeps them, in any place of the list, with the names of the pair.
TEST(points_of_a_pair_keep_their_ids_and_names) {
  Loaded x = open_text(flat_elements);
  Listed all;
  double q[60];
  long id[64];
  int n, same = 0;
  open_list(&all, x.m, x.d);
  memcpy(q, x.d->q, (size_t)x.m->nq * sizeof *q);
  for (int i = 0; i + 6 < x.m->nq; i += 7) {  // tilted a little: the lowest point of a rim is a feature
    q[i + 4] -= 0.002 * q[i + 3];
    q[i + 5] -= 0.004 * q[i + 3];
  }
  list(&all, 0, q);
  n = all.count;
  for (int i = 0; i < n; i++) {
    const char *a, *b;
    id[i] = all.contact[i].id;
    const long key = sr_contact_key(x.m, id[i]);
    sr_contact_names(x.m, id[i], &a, &b);
    ENSURE(key >= 0 && key < x.m->nforce);
    ENSURE_TEXT(a, x.m->force[key].contact->a);
    ENSURE_TEXT(b, x.m->force[key].contact->b);
    if (i > 0) ENSURE(sr_contact_key(x.m, id[i - 1]) <= key);  // points of a pair follow each other
  }
  for (int i = 0; i + 6 < x.m->nq; i += 7) {  // all slide by 1 m, and turn: other corners are the lowest ones
    q[i] += 1;
    q[i + 4] -= 0.02 * q[i + 3];
    q[i + 5] -= 0.04 * q[i + 3];
  }
  list(&all, 0, q);
  int corners = 0;
  for (int i = 0; i < n; i++) {
    // The lowest point of a rim takes the place of the corners next to it, whichever they are.
    const srSurfaceLaws* c = x.m->force[sr_contact_key(x.m, id[i])].contact;
    const bool round = c->shape[0]->convex.kind == SR_KIND_CYLINDER || c->shape[1]->convex.kind == SR_KIND_CYLINDER;
    corners += !round;
    same += !round && find(&all, id[i]) != NULL;
  }
  ENSURE_EQUAL(same, corners);
  ENSURE_EQUAL(corners, 3 * 4 + 3 * 2);
  close_list(&all);
  close_model(&x);
}

// ---- events ---------------------------------------------------------------------------------------------------------------

typedef struct Touch {
  double t;
  long id;
  int n;
} Touch;

static int touched(void* user, double t, double* q, double* v, double* y, const srUnilateral* contact) {
  Touch* x = user;
  (void)q, (void)v, (void)y;
  *x = (Touch){t, contact->id, x->n + 1};
  return 1;  // ends
}

// Balls that fall: their gaps are switching functions, and the first one closes after sqrt(2 h/g).
TEST(gaps_of_a_model_are_a_source_of_events) {
  for (int k = 0; k < 2; k++) {
    char text[1200];
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><repeat count='3' index='i'>"
        "<body name='s{i}'><joint name='j{i}' type='free' q='i 0 0.13-0.01*i 1 0 0 0'/>"
        "<inertial mass='1' com='0 0 0' inertia='1 1 1'/><shape name='b{i}' type='sphere' size='0.05' group='balls'/>"
        "</body></repeat><contact a='floor' b='balls'" LAW " %s/></sarrus>",
        k == 0 ? "" : "most='3'");
    Loaded x = open_text(text);
    srModelSystem user = {.m = x.m, .d = x.d};
    const srSystem system = sr_system(&user);
    ENSURE_EQUAL(system.ncolumn, 12);  // two free bodies, of three
    srIntegrator* integrator = NULL;
    ENSURE_EQUAL(sri_create("dopri5", &system, NULL, NULL, &integrator), SR_OK);
    srGaps* gaps = sri_gaps_create(&system);
    Touch touch = {0};
    const srEventSource source = sri_gaps_source(gaps, touched, &touch);
    srEvents* events = sri_events_create(integrator, &(srEventList){.count = 1, .source = &source});
    bool end = false;
    ENSURE_EQUAL(sri_start(integrator, 0, x.d->q, x.d->v, x.d->y), SR_OK);
    ENSURE_EQUAL(sri_events_start(events, integrator), SR_OK);
    ENSURE_EQUAL(sri_events_run(events, integrator, 1, &end), SR_OK);
    ENSURE(end && touch.n == 1);
    ENSURE_NEAR(touch.t, sqrt(2 * 0.06 / 9.81),
                1e-6);                       // the step ends in the contact, whose force acts in its last stages
    ENSURE_EQUAL(touch.id, k == 0 ? 2 : 3);  // the third ball: elements by index; of the set: shapes 0 and 3
    sri_events_destroy(events);
    sri_gaps_destroy(gaps);
    sri_destroy(integrator);
    close_model(&x);
  }
}
