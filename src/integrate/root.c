// Events: where in the last step a function of the state changes its sign.
//
// The step is checked in four pieces, so that a function that crosses zero and returns is detected unless both are within
// one of them. Where the rate of a function is known that is detected too: where it turns back within a piece its extremum is
// located, and if that is beyond zero the piece ends there. So does one that begins beyond zero and returns for a while, whatever direction
// counts: a ball that has just bounced, and falls again within the piece, must be detected above the floor in between. In the first
// piece with a change the root is bracketed down to the last digits of t: by the root of the cubic that has the values and rates at both ends where the rate is known, which is
// exact in free flight, else by the Illinois variant of the regula falsi; safeguarded by halving and by a least distance from the ends.
//
// Where all functions have rates and are the same ones throughout the step (`steady`), fewer states are evaluated: a function that has followed a parabola over a piece,
//   f(b) = f(a) + w (f'(a) + f'(b))/2,  w = b - a
// is foretold by it. The next piece goes to the first zero that is foretold, or to the end of the step, and counts where all functions are there what was foretold of values and rates; else the
// step is checked piece by piece from where it was. What is known at the end of a step holds for the next one; behind an event it is tried where the last event did not change it either.
//
// A change is located where every function that has changed is as near to 0 as matters (`zero`), or its rate says that times nearer to its root are not told apart: a ball that follows its
// parabola takes one evaluation an impact.
//
// Functions of the time alone need no dense output: their source checks them in finer pieces (`ahead`), as a law that waits for the next
// pulse takes steps that are longer than the pulse. The time returned is the right end of the bracket: there the sign has changed, so that a restart does not find the same root again.
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/integrator.h"

// Ends of the pieces, as fractions of the step. Right after an event the function may return for an instant (a ball that bounced
// and falls again within the step): there the first two are checked as well.
static const double part_end[] = {1e-6, 1e-3, 0.25, 0.5, 0.75, 1};
#define PARTS 6
#define FIRST_PART 2    // where nothing has happened before
#define SLOW 3          // tries that take off little, before the bracket is halved
#define FARTHER 3       // doublings of the distance from an end
#define ITERATIONS 120  // halving alone brings a step of 1e16 rounding units down in 54
#define CUBIC_TRIES 40  // of a root of the cubic, which costs no evaluation
#define PARABOLA 0.02   // of the change at the larger rate of a piece: what a value may differ from its parabola
#define LEAPS 8         // pieces in a row that end at zeros foretold and find none
#define SHORT 1e-6      // of the step: a piece
#define ROUNDINGS 8     // of the time: a value that its rate makes in so short a time is 0

struct srRootFinder {
  srRoots roots;
  int nq, nv;
  int nvalue;         // count + rated
  bool behind;        // the last step ended with an event
  bool bent;          // all functions with rates have followed parabolas over the last piece, with `bend`
  bool through;       // an event has not changed that, when it was looked at last
  double t_left;      // `left` has the values at this time, the end of the last step; HUGE_VAL: it has not
  int bad;            // function that was not a number, -1: none
  signed char* sign;  // (count) at the last state; 0: none yet
  unsigned char*
      leaves;  // (count) its sign is the one to which its rate takes it, from a value of 0 or a rounding beyond
  double *left, *right, *x;  // (nvalue), (nvalue), (nq + nv + ny)
  double* turn;              // (nvalue)
  double* far;               // (nvalue): at t_far, the end of a piece that was too long; HUGE_VAL: there was none
  double t_far;
  double* bend;  // (rated): second derivatives of the functions with rates, over the last piece
};

// ---- life -------------------------------------------------------------------------------------------------------------

srRootFinder* sri_roots_create(const srIntegrator* integrator, const srRoots* roots) {
  const size_t count = (size_t)roots->count, head = (sizeof(srRootFinder) + 63) / 64 * 64;
  const size_t nvalue = count + (size_t)roots->rated;
  char* block =
      sr_alloc(head + (4 * nvalue + (size_t)roots->rated + (size_t)integrator->ncontrol) * sizeof(double) + 2 * count);
  if (block == NULL) return NULL;
  srRootFinder* finder = (srRootFinder*)(void*)block;
  finder->roots = *roots;
  finder->t_left = finder->t_far = HUGE_VAL;
  finder->nq = integrator->system.nq;
  finder->nv = integrator->system.nv;
  finder->left = (double*)(void*)(block + head);
  finder->nvalue = (int)nvalue;
  finder->right = finder->left + nvalue;
  finder->turn = finder->right + nvalue;
  finder->far = finder->turn + nvalue;
  finder->bend = finder->far + nvalue;
  finder->x = finder->bend + roots->rated;
  finder->sign = (signed char*)(finder->x + integrator->ncontrol);
  finder->leaves = (unsigned char*)(finder->sign + count);
  return finder;
}

void sri_roots_destroy(srRootFinder* finder) { sr_free(finder); }

// ---- evaluation -------------------------------------------------------------------------------------------------------

static signed char sign_of(double value) { return (signed char)((value > 0) - (value < 0)); }

static srStatus evaluate_at(srRootFinder* finder, double t, const double* q, const double* v, const double* y,
                            double* value) {
  finder->bad = -1;
  if (finder->roots.evaluate(finder->roots.user, t, q, v, y, value) != 0) return SR_FAILED;
  for (int i = 0; i < finder->nvalue; ++i) {
    if (!isnan(value[i])) continue;
    finder->bad = i < finder->roots.count ? i : i - finder->roots.rated;
    return SR_FAILED;
  }
  return SR_OK;
}

int sri_roots_bad(const srRootFinder* finder) { return finder->bad; }

int sri_roots_sign(const srRootFinder* finder, int i) { return finder->sign[i]; }

// The functions at time t of the last step.
static srStatus evaluate(srRootFinder* finder, const srIntegrator* integrator, double t, double* value) {
  double *q = finder->x, *v = q + finder->nq, *y = v + finder->nv;
  if (sri_interpolate(integrator, t, q, v, y, NULL) != SR_OK) return SR_FAILED;
  return evaluate_at(finder, t, q, v, y, value);
}

// At the right end of a piece; the end of one that was too long is known.
static srStatus evaluate_right(srRootFinder* finder, const srIntegrator* integrator, double b) {
  if (b != finder->t_far) return evaluate(finder, integrator, b, finder->right);
  memcpy(finder->right, finder->far, (size_t)finder->nvalue * sizeof(double));
  return SR_OK;
}

srStatus sri_roots_start(srRootFinder* finder, const srIntegrator* integrator) {
  finder->bent = finder->through = false;
  finder->t_left = HUGE_VAL;
  if (evaluate_at(finder, sri_time(integrator), sri_q(integrator), sri_v(integrator), sri_y(integrator),
                  finder->left) != SR_OK) {
    return SR_FAILED;
  }
  for (int i = 0; i < finder->roots.count; ++i) finder->sign[i] = sign_of(finder->left[i]);
  memset(finder->leaves, 0, (size_t)finder->roots.count);
  finder->t_left = sri_time(integrator);
  return SR_OK;
}

void sri_roots_forget(srRootFinder* finder, int first, int count) {
  finder->t_left = HUGE_VAL;
  memset(finder->sign + first, 0, (size_t)count * sizeof *finder->sign);
  memset(finder->leaves + first, 0, (size_t)count);
}

// The rate of function i among these values; 0: unknown.
static double rate_of(const srRootFinder* finder, int i, const double* value) {
  return i >= finder->roots.count - finder->roots.rated ? value[i + finder->roots.rated] : 0;
}

// Is function i, which leaves 0, not yet on the side to which it goes?
static bool is_leaving(const srRootFinder* finder, int i, const double* value) {
  return finder->leaves[i] != 0 && !(finder->sign[i] * value[i] > 0) && finder->sign[i] * rate_of(finder, i, value) > 0;
}

// Does function i, which has changed its sign, so in the direction that counts?
static bool counts(const srRootFinder* finder, int i, const double* value) {
  const signed char* direction = finder->roots.direction;
  if (is_leaving(finder, i, value)) return false;
  return direction == NULL || direction[i] == 0 || direction[i] == sign_of(value[i]);
}

// Does function i change its sign, in the direction that counts, when they get these values?
static inline bool changes(const srRootFinder* finder, int i, const double* value) {
  return finder->sign[i] * value[i] < 0 && counts(finder, i, value);
}

// ---- bracketing -------------------------------------------------------------------------------------------------------

static int first_change(const srRootFinder* finder, const double* value) {
  for (int i = 0; i < finder->roots.count; ++i) {
    if (changes(finder, i, value)) return i;
  }
  return -1;
}

// A bracket of time, with the values of a function at its ends as the regula falsi weights them, and its rates there where they are known.
typedef struct Bracket {
  double a, b, fa, fb;
  bool rated;
  bool leaves;  // it is 0 at a, and leaves to the other side: the cubic has a second root
  double ra, rb;
  int side;   // of the last try: 1 it became b, -1 it became a, 0 there was none
  int times;  // in a row
  int slow;   // tries in a row that took off less than half
} Bracket;

static double least_width(const Bracket* s) { return 2 * DBL_EPSILON * fmax(fabs(s->a), fabs(s->b)); }

// Is function i, with these values at t, as good as 0, or but for the rounding of t?
static bool is_zero(const srRootFinder* finder, int i, const double* value, double t) {
  const double rounding = ROUNDINGS * DBL_EPSILON * fabs(t) * fabs(rate_of(finder, i, value)), off = fabs(value[i]);
  return i >= finder->roots.count - finder->roots.rated && (off <= rounding || off <= finder->roots.zero);
}

// Where in 0 .. 1 the cubic with the values and rates of both ends is 0, by Newton's method within a bracket:
//   p(x) = fa + x (h ra + x (3 d - h (2 ra + rb) + x (h (ra + rb) - 2 d))),   d = fb - fa,  h: the width
static double cubic_root(const Bracket* s) {
  const double h = s->b - s->a, d = s->fb - s->fa, c1 = h * s->ra, c2 = 3 * d - h * (2 * s->ra + s->rb),
               c3 = h * (s->ra + s->rb) - 2 * d;
  double low = 0, high = 1, x = s->leaves ? 1 : s->fa / (s->fa - s->fb);
  for (int k = 0; k < CUBIC_TRIES; ++k) {
    const double p = s->fa + x * (c1 + x * (c2 + x * c3)), slope = c1 + x * (2 * c2 + x * 3 * c3);
    if ((p > 0) == (s->fb > 0)) {
      high = x;
    } else {
      low = x;
    }
    double next = x - p / slope;
    if (!(next > low && next < high)) next = low + 0.5 * (high - low);
    if (fabs(next - x) <= DBL_EPSILON * x) return next;
    x = next;
  }
  return x;
}

// A root within rounding of one end leaves the other where it was: tries keep a distance from both ends, which grows while they are on the same side, so that the
// bracket closes around what is found, or around the noise of the function there.
static double next_try(const Bracket* s) {
  const double width = s->b - s->a, middle = s->a + 0.5 * width;
  if (s->slow >= SLOW) return middle;
  const double least = fmin(0.5 * least_width(s) * ldexp(1, s->times > 1 ? FARTHER * (s->times - 1) : 0), 0.5 * width);
  const double t = s->rated ? s->a + width * cubic_root(s) : s->b - s->fb * width / (s->fb - s->fa);
  return fmin(fmax(t, s->a + least), s->b - least);
}

// Takes a try in place of the end on its side; without rates by the Illinois rule.
static void take_try(Bracket* s, double t, double value, double rate, int side) {
  const double width = s->b - s->a;
  const bool again = s->side == side;
  if (side > 0) {
    if (again && !s->rated) s->fa *= 0.5;
    s->b = t;
    s->fb = value;
    s->rb = rate;
  } else {
    if (again && !s->rated) s->fb *= 0.5;
    s->a = t;
    s->fa = value;
    s->ra = rate;
    s->leaves = (value > 0) == (s->fb > 0);
  }
  s->times = again ? s->times + 1 : 1;
  s->side = side;
  s->slow = s->b - s->a > 0.5 * width ? s->slow + 1 : 0;
}

// A function that is 0 at a has no side there but that of its rate: its cubic has a root at a itself.
static Bracket bracket_of(const srRootFinder* finder, int i, double a, double b) {
  Bracket s = {.a = a, .b = b, .fa = finder->left[i], .fb = finder->right[i]};
  s.ra = rate_of(finder, i, finder->left);
  s.rb = rate_of(finder, i, finder->right);
  s.leaves = s.ra != 0 && is_zero(finder, i, finder->left, a) && (s.ra > 0) != (s.fb > 0);
  s.rated = s.leaves || (i >= finder->roots.count - finder->roots.rated && s.fa != 0 && (s.fa > 0) != (s.fb > 0));
  return s;
}

// Are all functions that have changed at b 0 there?
static bool is_located(const srRootFinder* finder, double b) {
  for (int i = 0; i < finder->roots.count; ++i) {
    if (changes(finder, i, finder->right) && !is_zero(finder, i, finder->right, b)) return false;
  }
  return true;
}

// Narrows [a, b] to the first change of any function; finder->right then belongs to b.
static srStatus narrow(srRootFinder* finder, const srIntegrator* integrator, double a, double* b) {
  int i = first_change(finder, finder->right);
  Bracket s = bracket_of(finder, i, a, *b);
  for (int k = 0; k < ITERATIONS && s.b - s.a > least_width(&s) && !is_located(finder, s.b); ++k) {
    const double t = next_try(&s);
    if (!(t > s.a && t < s.b)) break;
    if (evaluate(finder, integrator, t, finder->left) != SR_OK) return SR_FAILED;
    const int changed = first_change(finder, finder->left);
    if (changed < 0) {
      const double value = finder->left[i] != 0 ? finder->left[i] : DBL_MIN * finder->sign[i];
      take_try(&s, t, value, rate_of(finder, i, finder->left), -1);
      continue;
    }
    memcpy(finder->right, finder->left, (size_t)finder->nvalue * sizeof(double));
    if (changes(finder, i, finder->right)) {
      take_try(&s, t, finder->right[i], rate_of(finder, i, finder->right), 1);
    } else {  // another function changes before it: its value at a is unknown
      i = changed;
      s = (Bracket){.a = s.a, .b = t, .fa = -finder->right[i], .fb = finder->right[i], .slow = SLOW};
    }
  }
  *b = s.b;
  return SR_OK;
}

// From now on the signs belong to the state at the end of a piece, or at a root.
static void take_signs(srRootFinder* finder, unsigned char* fired) {
  for (int i = 0; i < finder->roots.count; ++i) {
    const double value = finder->right[i];
    if (fired != NULL) fired[i] = changes(finder, i, finder->right);
    if (value == 0 || is_leaving(finder, i, finder->right)) continue;
    finder->sign[i] = (signed char)(value > 0 ? 1 : -1);
    finder->leaves[i] = 0;
  }
}

// A function that is as good as 0, and leaves to the side from which it counts, counts when it returns from there.
static void take_leaving(srRootFinder* finder, double t) {
  const signed char* direction = finder->roots.direction;
  for (int i = finder->roots.count - finder->roots.rated; i < finder->roots.count && direction != NULL; ++i) {
    const signed char way = sign_of(rate_of(finder, i, finder->right));
    if (way == 0 || way != -direction[i] || !is_zero(finder, i, finder->right, t)) continue;
    finder->leaves[i] = sign_of(finder->right[i]) != way;
    finder->sign[i] = way;
  }
}

srStatus sri_roots_jump(srRootFinder* finder, double t, const double* q, const double* v, const double* y,
                        unsigned char* fired) {
  if (evaluate_at(finder, t, q, v, y, finder->right) != SR_OK) return SR_FAILED;
  finder->behind = true;
  take_signs(finder, fired);
  take_leaving(finder, t);
  // The next step begins at this state.
  memcpy(finder->left, finder->right, (size_t)finder->nvalue * sizeof(double));
  finder->t_left = t;
  return SR_OK;
}

// Nothing happens up to here: the next check begins from this state.
static void pass(srRootFinder* finder) {
  take_signs(finder, NULL);
  memcpy(finder->left, finder->right, (size_t)finder->nvalue * sizeof(double));
}

// The functions at the end b of a piece that begins at a. Where one is NaN there, an event before that may keep the
// motion from ever getting there: it is searched up to where they are numbers, and a, b enclose it.
static srStatus evaluate_end(srRootFinder* finder, const srIntegrator* integrator, double* a, double* b) {
  if (evaluate_right(finder, integrator, *b) == SR_OK) return SR_OK;
  const int culprit = finder->bad;
  double bad = *b;
  for (int k = 0; k < ITERATIONS && culprit >= 0; ++k) {
    const double middle = *a + 0.5 * (bad - *a);
    if (evaluate(finder, integrator, middle, finder->right) != SR_OK) {
      bad = middle;
      continue;
    }
    *b = middle;
    if (first_change(finder, finder->right) >= 0) return SR_OK;
    pass(finder);
    *a = middle;
  }
  finder->bad = culprit;
  return SR_FAILED;
}

// ---- turning back -----------------------------------------------------------------------------------------------------

// The side of zero on which function i is at the start of a piece. One that is 0 there, and counts in one direction, has just moved that way.
static int side_of(const srRootFinder* finder, int i) {
  if (finder->sign[i] != 0 || finder->roots.direction == NULL) return finder->sign[i];
  return finder->roots.direction[i];
}

// A piece at whose ends a function is on the same side of zero: its values and rates there, positive on that side.
typedef struct Valley {
  double a, b;  // times
  double fa, fb, ra, rb;
} Valley;

// May the function be on the other side in between? Not where it does not turn back; nor where it is far away: a cubic falls below the lower end by no more than 4/27
// of the rates times the width; nor where its tangents at the ends, which a function that bends one way does not cross, meet well before zero.
static bool is_deep(const Valley* v) {
  const double width = v->b - v->a;
  if (!(v->fa >= 0 && v->fb > 0 && v->ra < 0 && v->rb > 0)) return false;
  if (fmin(v->fa, v->fb) > (v->rb - v->ra) * width) return false;
  const double x = (v->fa - v->fb + v->rb * width) / (v->rb - v->ra);  // after a
  return !(x > 0 && x < width && v->fa + v->ra * x > 0.5 * fmin(v->fa, v->fb));
}

// Searches the extremum of function i in a valley, until it is beyond zero, where *b is put with finder->right, or cannot be.
static srStatus dip(srRootFinder* finder, const srIntegrator* integrator, int i, Valley v, double* b) {
  const int rate = finder->roots.rated + i;
  const double s = side_of(finder, i), least = 1e-10 * (v.b - v.a);
  for (int k = 0; k < ITERATIONS && v.b - v.a > least && is_deep(&v); ++k) {
    const double t = next_try(&(Bracket){.a = v.a, .b = v.b, .fa = v.ra, .fb = v.rb, .slow = k % 2 != 0 ? SLOW : 0});
    if (!(t > v.a && t < v.b)) break;
    if (evaluate(finder, integrator, t, finder->turn) != SR_OK) return SR_FAILED;
    const double value = s * finder->turn[i], slope = s * finder->turn[rate];
    if (value < 0) {
      *b = t;
      memcpy(finder->right, finder->turn, (size_t)finder->nvalue * sizeof(double));
      return SR_OK;
    }
    if (slope < 0) {
      v.a = t, v.fa = value, v.ra = slope;
    } else {
      v.b = t, v.fb = value, v.rb = slope;
    }
  }
  return SR_OK;
}

// All functions that turn back in [a, *b]: when one is beyond zero there, those before may be so in the remainder.
static srStatus take_dips(srRootFinder* finder, const srIntegrator* integrator, double a, double* b) {
  for (int i = finder->roots.count - finder->roots.rated; i < finder->roots.count; ++i) {
    const double before = *b, s = side_of(finder, i);
    const int rate = finder->roots.rated + i;
    const Valley v = {.a = a,
                      .b = *b,
                      .fa = s * finder->left[i],
                      .fb = s * finder->right[i],
                      .ra = s * finder->left[rate],
                      .rb = s * finder->right[rate]};
    if (dip(finder, integrator, i, v, b) != SR_OK) return SR_FAILED;
    if (*b < before) i = finder->roots.count - finder->roots.rated - 1;
  }
  return SR_OK;
}

// ---- foretelling --------------------------------------------------------------------------------------------------------

// Has function i with a rate followed a parabola over a piece of width w? Then bend is its second derivative.
static bool is_parabola(const srRootFinder* finder, int i, double w) {
  const int rate = finder->roots.rated + i;
  const double ra = finder->left[rate], rb = finder->right[rate];
  const double off = finder->right[i] - finder->left[i] - 0.5 * w * (ra + rb);
  return fabs(off) <= PARABOLA * w * fmax(fabs(ra), fabs(rb));
}

static bool are_parabolas(srRootFinder* finder, double w) {
  const int first = finder->roots.count - finder->roots.rated;
  for (int i = first; i < finder->roots.count; ++i) {
    if (!is_parabola(finder, i, w)) return false;
    const int rate = finder->roots.rated + i;
    finder->bend[i - first] = (finder->right[rate] - finder->left[rate]) / w;
  }
  return true;
}

// Where f + r s + c s^2/2, on its own side of zero at s = 0, or 0 there and leaving to it, is 0 first behind s = 0; HUGE_VAL: nowhere. In the form without cancellation.
static double parabola_zero(double f, double r, double c) {
  if (f <= 0 && !(r > 0)) return HUGE_VAL;
  const double square = r * r - 2 * f * c;
  if (square < 0) return HUGE_VAL;
  const double root = sqrt(square);
  if (r < 0) return 2 * f / (root - r);
  return c < 0 ? (-root - r) / c : HUGE_VAL;
}

// The end of the next piece after a: a rounding behind the first zero that the parabolas have, and at least `least` away; or the end of the step.
static double foretold_end(const srRootFinder* finder, double a, double end, double least) {
  const int first = finder->roots.count - finder->roots.rated;
  double s = HUGE_VAL;
  for (int i = first; i < finder->roots.count; ++i) {
    const double side = finder->sign[i], rate = finder->left[finder->roots.rated + i];
    s = fmin(s, parabola_zero(side * finder->left[i], side * rate, side * finder->bend[i - first]));
  }
  if (!(a + s < end)) return end;
  return fmin(a + fmax(s + 2 * DBL_EPSILON * fabs(a + s), least), end);
}

// Are values and rates at b those that were foretold at a?
static bool is_foretold(const srRootFinder* finder, double w) {
  const int first = finder->roots.count - finder->roots.rated;
  for (int i = first; i < finder->roots.count; ++i) {
    const int rate = finder->roots.rated + i;
    const double f = finder->left[i], r = finder->left[rate], c = finder->bend[i - first], rb = finder->right[rate];
    const double off = finder->right[i] - (f + w * (r + 0.5 * w * c)), most = fmax(fabs(r), fabs(rb));
    if (!(fabs(off) <= PARABOLA * w * most && fabs(rb - r - w * c) <= PARABOLA * most)) return false;
  }
  return true;
}

// ---- a step -------------------------------------------------------------------------------------------------------------

// What is known of a step on the way through it.
typedef struct Way {
  double t0, t1, a, ahead;
  int part;
  bool steady;  // functions may be foretold ...
  bool told;    // ... and are, from the last piece
  int leaps;    // to zeros that were foretold, since the last piece of the step
} Way;

static double part_time(const Way* way, int part) {
  return part == PARTS - 1 ? way->t1 : way->t0 + (way->t1 - way->t0) * part_end[part];
}

// The next piece by what is foretold, with finder->right at its end *b. False: the step is to be checked by its parts from here.
static bool leap(srRootFinder* finder, const srIntegrator* integrator, Way* way, double* b) {
  const double least = 2 * DBL_EPSILON * fabs(way->a) * ldexp(1, FARTHER * way->leaps);
  if (!way->told || way->leaps > LEAPS) return false;
  way->told = false;
  *b = fmin(foretold_end(finder, way->a, way->t1, least), way->ahead);
  if (!(*b > way->a)) return false;
  ++way->leaps;
  if (evaluate_right(finder, integrator, *b) != SR_OK) return false;
  if (is_foretold(finder, *b - way->a)) return true;
  finder->t_far = *b;
  memcpy(finder->far, finder->right, (size_t)finder->nvalue * sizeof(double));
  return false;
}

// Right after an event a function may return for an instant, unless it follows a parabola over the whole of the first part.
static bool begin_behind(srRootFinder* finder, const srIntegrator* integrator, Way* way, double* b) {
  *b = fmin(part_time(way, FIRST_PART), way->ahead);
  finder->through = false;
  if (!way->steady || way->part != 0 || way->a != way->t0) return false;
  if (evaluate(finder, integrator, *b, finder->right) != SR_OK) return false;
  finder->through = finder->bent && is_foretold(finder, *b - way->a);
  return are_parabolas(finder, *b - way->a);
}

// finder->right at the end *b of the next piece, which begins at way->a.
static srStatus next_piece(srRootFinder* finder, const srIntegrator* integrator, Way* way, double* b) {
  if (leap(finder, integrator, way, b)) return take_dips(finder, integrator, way->a, b);
  if (begin_behind(finder, integrator, way, b)) return take_dips(finder, integrator, way->a, b);
  const double end = fmin(part_time(way, way->part), way->ahead);
  *b = end;
  if (evaluate_end(finder, integrator, &way->a, b) != SR_OK) return SR_FAILED;
  return *b == end ? take_dips(finder, integrator, way->a, b) : SR_OK;
}

srStatus sri_roots_step(srRootFinder* finder, const srIntegrator* integrator, double* t, unsigned char* fired) {
  Way way = {.t0 = sri_time_before(integrator), .t1 = sri_time(integrator), .ahead = HUGE_VAL};
  way.a = way.t0;
  *t = HUGE_VAL;
  if (finder->roots.count == 0) return SR_OK;
  const bool known = finder->t_left == way.t0;
  finder->t_left = finder->t_far = HUGE_VAL;
  if (!known && evaluate(finder, integrator, way.a, finder->left) != SR_OK) return SR_FAILED;
  for (int i = 0; i < finder->roots.count; ++i) {
    if (finder->sign[i] == 0) finder->sign[i] = sign_of(finder->left[i]);
  }
  if (finder->roots.ahead != NULL) way.ahead = finder->roots.ahead(finder->roots.user, way.t0, way.t1);
  way.steady = finder->roots.steady != NULL && finder->roots.steady(finder->roots.user);
  way.part = finder->behind ? 0 : FIRST_PART;
  way.told = way.steady && finder->bent && (finder->through || !finder->behind);
  finder->behind = false;
  while (way.part < PARTS) {
    double b;
    if (next_piece(finder, integrator, &way, &b) != SR_OK) return SR_FAILED;
    // A short piece, to a zero that was foretold too early, says nothing of its bend.
    if (b - way.a > SHORT * (way.t1 - way.t0) || !finder->bent)
      finder->bent = way.steady && are_parabolas(finder, b - way.a);
    if (first_change(finder, finder->right) >= 0) {
      if (narrow(finder, integrator, way.a, &b) != SR_OK) return SR_FAILED;
      *t = b;
      take_signs(finder, fired);
      return SR_OK;
    }
    way.told = finder->bent;
    pass(finder);
    way.a = b;
    for (; way.part < PARTS && b >= part_time(&way, way.part); ++way.part) way.leaps = 0;
    if (b == way.ahead) way.ahead = HUGE_VAL;
  }
  finder->t_left = way.t1;
  return SR_OK;
}
