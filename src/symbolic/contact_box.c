// A box on a plane, on the graph: the pressure of contact/place_patch.c over what the plane cuts off the faces, with the same points of integration and without branches.
//
// In axes along the edges that point down, x_i = +-xi_i, the depth is d = -z = D - sum G_i (a_i - xi_i), G_i = |n_z| of the faces, D that of the deepest corner. On a face with the
// distances x, y from its deepest corner, d = D' - G_x x - G_y y, and its wet part has the corners
//   (0, 0), (X, 0), (X, y_1), (x_1, Y), (0, Y)        X = min(2 a_x, D'/G_x),  y_1 = (D' - 2 a_x G_x)/G_y within 0 .. 2 a_y
// some of which are one. Triangles about its centroid, or itself where it is a triangle, have the rules of collide/patch.c. Weights w_i and forces f_i are those of place_patch.c:
//   face that points down   f_i = A_i/A [law(d, 0) h + G law(d, d') z],  w_i = A_i/A G law(d, d'),   h = n - G z
//   face that points up     f_i = -A_i/A law(d, 0) (h + G z)
#include <math.h>

#include "collide/collision.h"
#include "symbolic/contact.h"

bool sr_sym_is_box_on_plane(const srSurfaceLaws* c) {
  return c->patch != NULL && !c->patch->line && !c->patch->round && c->shape[0]->convex.kind == SR_KIND_PLANE &&
         c->shape[1]->convex.kind == SR_KIND_BOX;
}

// What all faces share.
typedef struct Box {
  const srSymLaw* law;
  srGraph* g;
  double half[3], area;  // A of the law
  bool fine;
  srNode z;                // of its centre
  srNode sign[3], G[3];    // xi_i = sign_i x_i
  srNode deepest, rate;    // D, and d' at the deepest corner
  srNode H[3];             // d' = rate + sum H_i (a_i - xi_i)
  srNode W[3], N, second;  // sum of w_i xi, w_i, w_i |P r_i|^2
} Box;

// Of a face: sums of A_i/A law(d_i, 0), and with xi_i.
typedef struct Face {
  int k;      // the axis that it is across
  bool down;  // or up
  double side[2];
  srNode D, rate;
  srNode E, F[3];
} Face;

typedef struct Spot {
  srNode x, y;  // from the deepest corner
} Spot;

static srNode sum2(Box* b, srNode base, srNode p, srNode x, srNode q, srNode y) {
  return srx_add(b->g, base, srx_add(b->g, srx_mul(b->g, p, x), srx_mul(b->g, q, y)));
}

// A point of integration with its part of A.
static void add_point(Box* b, Face* f, Spot s, srNode part) {
  srGraph* g = b->g;
  const int i = (f->k + 1) % 3, j = (f->k + 2) % 3;
  const srNode zero = srx_number(g, 0);
  const srNode d = srx_max(g, zero, srx_sub(g, f->D, sum2(b, zero, b->G[i], s.x, b->G[j], s.y)));
  srNode xi[3];
  xi[f->k] = srx_number(g, f->down ? b->half[f->k] : -b->half[f->k]);
  xi[i] = srx_sub(g, srx_number(g, b->half[i]), s.x), xi[j] = srx_sub(g, srx_number(g, b->half[j]), s.y);
  const srNode still = srx_mul(g, part, sr_sym_normal_force(b->law, d, zero));
  srNode w = srx_neg(g, srx_mul(g, b->G[f->k], still));
  if (f->down) {
    const srNode rate = sum2(b, f->rate, b->H[i], s.x, b->H[j], s.y);
    w = srx_mul(g, b->G[f->k], srx_mul(g, part, sr_sym_normal_force(b->law, d, rate)));
  }
  const srNode height = srx_add(g, d, b->z);  // -r_z
  const srNode square = srx_sub(g, srx_dot(g, 3, xi, xi), srx_mul(g, height, height));
  f->E = srx_add(g, f->E, still);
  b->N = srx_add(g, b->N, w);
  b->second = srx_add(g, b->second, srx_mul(g, w, square));
  for (int k = 0; k < 3; k++) {
    f->F[k] = srx_add(g, f->F[k], srx_mul(g, still, xi[k]));
    b->W[k] = srx_add(g, b->W[k], srx_mul(g, w, xi[k]));
  }
}

// Twice the area of (o, p, q).
static srNode twice_area(srGraph* g, Spot o, Spot p, Spot q) {
  const srNode px = srx_sub(g, p.x, o.x), py = srx_sub(g, p.y, o.y), qx = srx_sub(g, q.x, o.x),
               qy = srx_sub(g, q.y, o.y);
  return srx_sub(g, srx_mul(g, px, qy), srx_mul(g, py, qx));
}

static void add_triangle(Box* b, Face* f, Spot o, Spot p, Spot q) {
  srGraph* g = b->g;
  int n;
  const double(*rule)[4] = sr_patch_rule(b->fine, &n);
  const srNode area = srx_max(g, srx_number(g, 0), twice_area(g, o, p, q));
  for (int k = 0; k < n; k++) {
    Spot s = {srx_number(g, 0), srx_number(g, 0)};
    const Spot* const corner[3] = {&o, &p, &q};
    for (int i = 0; i < 3; i++) {
      s.x = srx_add(g, s.x, srx_mul(g, srx_number(g, rule[k][1 + i]), corner[i]->x));
      s.y = srx_add(g, s.y, srx_mul(g, srx_number(g, rule[k][1 + i]), corner[i]->y));
    }
    add_point(b, f, s, srx_mul(g, srx_number(g, 0.5 * rule[k][0] / b->area), area));
  }
}

static srNode within(srGraph* g, srNode x, double high) {
  return srx_max(g, srx_number(g, 0), srx_min(g, x, srx_number(g, high)));
}

static void find_corners(Box* b, const Face* f, Spot corner[5]) {
  srGraph* g = b->g;
  const srNode zero = srx_number(g, 0), tiny = srx_number(g, 1e-30);  // level edges: beyond all of them
  const srNode Gx = srx_max(g, b->G[(f->k + 1) % 3], tiny), Gy = srx_max(g, b->G[(f->k + 2) % 3], tiny);
  const double wide[2] = {2 * f->side[0], 2 * f->side[1]};
  const srNode end_x = srx_sub(g, f->D, srx_mul(g, srx_number(g, wide[0]), Gx));
  const srNode end_y = srx_sub(g, f->D, srx_mul(g, srx_number(g, wide[1]), Gy));
  const srNode X = within(g, srx_div(g, f->D, Gx), wide[0]), Y = within(g, srx_div(g, f->D, Gy), wide[1]);
  corner[0] = (Spot){zero, zero};
  corner[1] = (Spot){X, zero};
  corner[2] = (Spot){X, within(g, srx_div(g, end_x, Gy), wide[1])};
  corner[3] = (Spot){within(g, srx_div(g, end_y, Gx), wide[0]), Y};
  corner[4] = (Spot){zero, Y};
}

// The centroid; the deepest corner where the wet part is a triangle, or nothing.
static Spot find_middle(srGraph* g, const Spot corner[5]) {
  const srNode zero = srx_number(g, 0);
  srNode total = zero, x = zero, y = zero;
  for (int k = 1; k < 4; k++) {
    const srNode area = twice_area(g, corner[0], corner[k], corner[k + 1]);
    total = srx_add(g, total, area);
    x = srx_add(g, x, srx_mul(g, area, srx_add(g, corner[k].x, corner[k + 1].x)));
    y = srx_add(g, y, srx_mul(g, area, srx_add(g, corner[k].y, corner[k + 1].y)));
  }
  const srNode more = srx_positive(g, srx_add(g, corner[2].y, corner[3].x)), third = srx_number(g, 1.0 / 3);
  return (Spot){srx_if(g, more, srx_mul(g, third, srx_div(g, x, total)), zero),
                srx_if(g, more, srx_mul(g, third, srx_div(g, y, total)), zero)};
}

static void add_face(Box* b, Face* f) {
  srGraph* g = b->g;
  Spot corner[5];
  const double thick = 2 * b->half[f->k];
  f->side[0] = b->half[(f->k + 1) % 3], f->side[1] = b->half[(f->k + 2) % 3];
  f->D = b->deepest, f->rate = b->rate;
  if (!f->down) f->D = srx_sub(g, f->D, srx_mul(g, srx_number(g, thick), b->G[f->k]));
  f->E = f->F[0] = f->F[1] = f->F[2] = srx_number(g, 0);
  find_corners(b, f, corner);
  const Spot middle = find_middle(g, corner);
  for (int k = 0; k < 5; k++) add_triangle(b, f, middle, corner[k], corner[(k + 1) % 5]);
}

static Box begin(const srSymLaw* law, const srSymFrames* at) {
  const srSurfaceLaws* c = law->element->contact;
  srGraph* g = law->pass->g;
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1);
  const bool linear = (c->law->uses & (SR_NORMAL_USES(n) | SR_NORMAL_USES(e))) == 0;
  Box b = {.law = law, .g = g, .area = c->patch->area, .fine = !linear, .z = at->x.x[2], .N = zero, .second = zero};
  b.deepest = srx_neg(g, b.z), b.rate = srx_neg(g, at->u.x[2]);
  for (int i = 0; i < 3; i++) {
    b.half[i] = c->shape[1]->convex.size[i], b.W[i] = zero;
    const srNode n_z = at->R.x[6 + i];
    b.sign[i] = srx_if(g, srx_positive(g, n_z), srx_neg(g, one), one);
    b.G[i] = srx_neg(g, srx_mul(g, b.sign[i], n_z));
    // (w x r)_z of the column of R
    const srNode turn = srx_sub(g, srx_mul(g, at->w.x[0], at->R.x[3 + i]), srx_mul(g, at->w.x[1], at->R.x[i]));
    b.H[i] = srx_mul(g, b.sign[i], turn);
    b.deepest = srx_add(g, b.deepest, srx_mul(g, srx_number(g, b.half[i]), b.G[i]));
    b.rate = srx_sub(g, b.rate, srx_mul(g, srx_number(g, b.half[i]), b.H[i]));
  }
  return b;
}

// To the axes of the plane.
static srVec turned(const Box* b, const srMat* R, const srNode xi[3]) {
  srVec x;
  for (int i = 0; i < 3; i++) x.x[i] = srx_mul(b->g, b->sign[i], xi[i]);
  return srx_mat_vec(b->g, R, x);
}

void sr_sym_place_box(const srSymLaw* law, const srSymFrames* at, srSymPlace* out) {
  Box b = begin(law, at);
  srGraph* g = b.g;
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1);
  const srVec up = {{zero, zero, one}};
  out->n = up;
  out->turning = out->force = out->moment = srx_zero(g);
  for (int k = 0; k < 3; k++) {
    Face down = {.k = k, .down = true}, above = {.k = k};
    add_face(&b, &down);
    add_face(&b, &above);
    srNode F[3];
    for (int i = 0; i < 3; i++) F[i] = srx_sub(g, down.F[i], above.F[i]);
    srVec h = {{at->R.x[k], at->R.x[3 + k], zero}};
    h = srx_times(g, srx_neg(g, b.sign[k]), h);
    out->force = srx_plus(g, out->force, srx_times(g, srx_sub(g, down.E, above.E), h));
    out->moment = srx_plus(g, out->moment, srx_cross3(g, turned(&b, &at->R, F), h));
  }
  const srVec W = turned(&b, &at->R, b.W);
  out->force.x[2] = b.N;
  out->moment = srx_plus(g, out->moment, srx_cross3(g, W, up));
  out->N = srx_max(g, zero, b.N);
  const srNode pressed = srx_positive(g, out->N);
  for (int i = 0; i < 3; i++) out->r.x[i] = srx_if(g, pressed, srx_div(g, W.x[i], out->N), zero);
  const srNode G = srx_max(g, zero, srx_sub(g, b.second, srx_mul(g, out->N, srx_dot(g, 2, out->r.x, out->r.x))));
  const srNode square = srx_mul(g, out->N, G), lever = srx_number(g, law->element->contact->lever);
  const srNode gyration = srx_if(g, srx_positive(g, square), srx_sqrt(g, square), zero);
  out->N_spin = srx_add(g, srx_mul(g, srx_number(g, sqrt(8.0) / 3), gyration), srx_mul(g, lever, out->N));
}
