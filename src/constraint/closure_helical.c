// Helical closure, 5 equations: b stays on the axis through a, its axis is that of a, and it advances by pitch per radian.
//   s = t2.(R t1),  c = t1.(R t1),  phi = atan2(s, c);    g = n.d - pitch phi, taken modulo 2 pi pitch
//   phi' = (c s' - s c') / (s^2 + c^2)
// The angle over many turns is not a function of the pose, but the residual is: the nearest thread is the one that b is on, as
// long as it has not slipped by half a turn. No turn counter is needed.
#include "constraint/closure.h"

#include <math.h>

#include "constraint/closure_graph.h"
#include "math/pose.h"

static const double pi = 3.14159265358979323846;

typedef struct Angle {
  double value, row[3], bias;  // phi, phi' = row.w, phi'' = row.w' + bias
} Angle;

static Angle angle_about(const srClosure* c, const srClosureIn* in) {
  double f[3], turn[3], twice[3], e[3];
  Angle out;
  sr_turned(in, c->frame[0], f);
  srm_cross3(in->w, f, turn);
  srm_cross3(in->w, turn, twice);
  const double sine = srm_dot3(c->frame[1], f), cosine = srm_dot3(c->frame[0], f);
  const double r2 = sine * sine + cosine * cosine;
  for (int k = 0; k < 3; k++) e[k] = (cosine * c->frame[1][k] - sine * c->frame[0][k]) / r2;
  const double s1 = srm_dot3(c->frame[1], turn), c1 = srm_dot3(c->frame[0], turn);
  out.value = atan2(sine, cosine);
  srm_cross3(f, e, out.row);
  out.bias = srm_dot3(e, twice) - srm_dot3(out.row, in->w) * 2 * (sine * s1 + cosine * c1) / r2;
  return out;
}

static const char* setup(srClosure* c) {
  if (!c->has_pitch) return "a helical closure needs 'pitch', its advance per radian";
  if (c->pitch == 0) return "the 'pitch' of a helical closure is zero: use a revolute closure";
  c->np = 5;
  sr_name_cross_translation(c, 0);
  sr_name_tilt(c, 2);
  c->row_name[4] = "advance along the axis";
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  for (int k = 0; k < 2; k++) sr_row_displacement(in, c->frame[k], k, out);
  sr_row_tilt(c, in, 2, out);
  sr_row_displacement(in, c->frame[2], 4, out);
  const Angle angle = angle_about(c, in);
  out->g[4] = -c->pitch * remainder(angle.value - out->g[4] / c->pitch, 2 * pi);
  out->bias[4] = -c->pitch * angle.bias;
  for (int k = 0; k < 3; k++) out->W[4][k] = -c->pitch * angle.row[k];
  return 0;
}

static void define(srClosureGraph* x) {
  srGraph* g = x->g;
  srNode f[3];
  for (int k = 0; k < 2; k++) sr_graph_displacement(x, x->frame[k], k);
  sr_graph_tilt(x, 2);
  sr_graph_turned(x, x->frame[0], f);
  const srNode angle = srx_2(g, SR_OP_ATAN2, srx_dot(g, 3, x->frame[1], f), srx_dot(g, 3, x->frame[0], f));
  const srNode slip = srx_sub(g, angle, srx_div(g, srx_dot(g, 3, x->frame[2], x->d), x->pitch));
  const srNode turns = srx_1(g, SR_OP_FLOOR, srx_add(g, srx_div(g, slip, srx_number(g, 2 * pi)), srx_number(g, 0.5)));
  x->residual[4] = srx_mul(g, x->pitch, srx_sub(g, srx_mul(g, srx_number(g, 2 * pi), turns), slip));
}

const srClosureKind sr_closure_helical = {.observer = SR_OBSERVER_A,
                                          .uses = "|axis|pitch|",
                                          .axial = true,
                                          .setup = setup,
                                          .evaluate = evaluate,
                                          .define = define};
