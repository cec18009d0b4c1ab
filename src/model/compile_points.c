// Points: the frame of every body, its named points, the points of action of <force> elements and the frames of shapes, placed in the frame of
// the link that carries them.
#include "math/pose.h"
#include "model/compile.h"
#include "model/spec.h"

#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)(n) * sizeof(type)))

typedef struct Points {
  const char** name;
  int* body;
  double* pose;
} Points;

// Point k, with this pose in the body's frame.
static void put(srCompiler* c, Points* P, int k, int body, const char* name, const double local[16]) {
  P->name[k] = name;
  P->body[k] = body;
  srm_pose_compose(c->body_pose + 16 * body, local, P->pose + 16 * k);
}

static void named_point(srCompiler* c, Points* P, int k, int i) {
  const int owner = srs_owner(c->spec, SR_ELEMENT_POINT, i);
  const int body = owner >= 0 ? c->body_of_spec[owner] : 0;
  const char* word = sr_c_text(c, SR_ELEMENT_POINT, i, SR_FIELD(srPointDef, name));
  const srPlace place = sr_c_place(c, SR_ELEMENT_POINT, i, SR_FIELD(srPointDef, name));
  double local[16];
  if (!sr_c_pose(c, SR_ELEMENT_POINT, i, SR_FIELD(srPointDef, at), SR_FIELD(srPointDef, rot), SR_FIELD(srPointDef, rpy),
                 local) ||
      !word) {
    if (word) sr_c_lose(c, sr_pool_printf(&c->scratch, "%s/%s", c->m->body_name[body], word));
    return;
  }
  const char* problem = sr_name_problem(word);
  if (problem) sr_c_error(c, place, "the name '%s' of a point %s", word, problem);
  put(c, P, k, body, sr_pool_printf(c->pool, "%s/%s", c->m->body_name[body], word), local);
  if (!sr_names_put(&c->points, P->name[k], k)) {
    sr_c_error(c, place, "there are two points named '%s' in body '%s'", word, c->m->body_name[body]);
  }
}

// Frames of shapes, for contacts: without a name of their own.
static void shape_point(srCompiler* c, Points* P, int k, int i) {
  const int owner = srs_owner(c->spec, SR_ELEMENT_SHAPE, i);
  const int body = owner >= 0 ? c->body_of_spec[owner] : 0;
  double local[16];
  if (!sr_c_pose(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, at), SR_FIELD(srShapeDef, rot), SR_FIELD(srShapeDef, rpy),
                 local)) {
    return;
  }
  put(c, P, k, body, sr_pool_printf(c->pool, "%s/(shape %d)", c->m->body_name[body], i + 1), local);
}

static void force_point(srCompiler* c, Points* P, int k, int i) {
  const char* name = sr_c_text(c, SR_ELEMENT_FORCE, i, SR_FIELD(srForceDef, body));
  double local[16];
  srm_pose_identity(local);
  if (!name || sr_c_numbers(c, SR_ELEMENT_FORCE, i, SR_FIELD(srForceDef, at), local + 12, 3) < 0) return;
  int body = sr_c_find(c, &c->bodies, name, "body", sr_c_place(c, SR_ELEMENT_FORCE, i, SR_FIELD(srForceDef, body)));
  if (body >= 0) put(c, P, k, c->body_of_spec[body], sr_pool_printf(c->pool, "%s/(force %d)", name, i + 1), local);
}

// Absolute formulation: frames of the joints on the parents.
static void joint_points(srCompiler* c, Points* P, int first) {
  srModel* m = c->m;
  int* of = NEW(c, int, m->njoint + 1);
  for (int j = 0; j < m->njoint; j++) {
    const int body = m->body_parent[m->joint_body[j]];
    of[j] = first + j;
    put(c, P, of[j], body, sr_pool_printf(c->pool, "%s/(joint %s)", m->body_name[body], m->joint_name[j]),
        c->joint_frame + 16 * j);
  }
  m->joint_point = of;
}

void sr_compile_points(srCompiler* c) {
  srModel* m = c->m;
  const int given = srs_count(c->spec, SR_ELEMENT_POINT), forces = srs_count(c->spec, SR_ELEMENT_FORCE);
  const int shapes = srs_count(c->spec, SR_ELEMENT_CONTACT) > 0 ? srs_count(c->spec, SR_ELEMENT_SHAPE) : 0;
  const int n = m->nbody + 1 + given + forces + shapes + (m->absolute ? m->njoint : 0);
  Points P = {NEW(c, const char*, n), NEW(c, int, n), NEW(c, double, 16 * n)};
  double identity[16];
  srm_pose_identity(identity);
  for (int b = 0; b <= m->nbody; b++) {
    put(c, &P, b, b, m->body_name[b], identity);
    sr_names_put(&c->points, P.name[b], b);
  }
  c->force_point = m->nbody + 1 + given;
  for (int i = 0; i < given; i++) named_point(c, &P, m->nbody + 1 + i, i);
  for (int i = 0; i < forces; i++) force_point(c, &P, c->force_point + i, i);

  c->shape_point = c->force_point + forces;
  for (int i = 0; i < shapes; i++) shape_point(c, &P, c->shape_point + i, i);
  if (m->absolute) joint_points(c, &P, c->shape_point + shapes);

  int* link_of = NEW(c, int, n);
  for (int k = 0; k < n; k++) link_of[k] = m->body_link[P.body[k]];
  m->npoint = n;
  m->point_name = P.name;
  m->point_body = P.body;
  m->point_link = link_of;
  m->point_pose = P.pose;
}

int sr_c_point(srCompiler* c, srElementKind kind, int i, int field) {
  const char* name = sr_c_text(c, kind, i, field);
  return name ? sr_c_find(c, &c->points, name, "point", sr_c_place(c, kind, i, field)) : -1;
}
