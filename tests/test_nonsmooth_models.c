// Shipped models of rigid contact against values that do not come from this program: closed forms, published values, equations integrated by
// tools/nonsmooth-reference, and rigid contact in space computed by other means (closed forms, quadrature, limit analysis).
//
// A row of the table is a run: model, settings, contact and method, step, end, and what is expected there. Time-stepping is of order 1: with half the step the
// result is within half the tolerance. Hybrid contact has a step for its phases of time-stepping. An impact is logged at the start of its step, and a fall is early by h/2: n impacts later times are within (1.5 + 2 n) h. Methods that choose their steps have step 0, and the tolerance is the uncertainty of the value.
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "loading.h"

#define PI 3.14159265358979323846
#define STEPPED(model, settings, step, t)                                                                              \
  model, settings, SR_CONTACT_TIMESTEPPING, SR_IMPACT_RULE_AUTO, "moreau", step, t
#define EVENT(model, settings, t) model, settings, SR_CONTACT_EVENT, SR_IMPACT_RULE_AUTO, "mdop5", 0, t
#define HYBRID(model, settings, step, t) model, settings, SR_CONTACT_HYBRID, SR_IMPACT_RULE_AUTO, "mdop5", step, t
#define NEWTON(model, settings, t) model, settings, SR_CONTACT_EVENT, SR_IMPACT_RULE_NEWTON, "mdop5", 0, t

// what: "q K", "v K": a coordinate; "sensor NAME" of a formula; "sensor NAME x" (y, z, vx, ..., wz) of a frame; "impact K", and "event K", "stick K", ... of any
// kind: its time; "period K": from event K to the next; "energy": kinetic and potential.
typedef struct Expected {
  const char* what;
  double value, tolerance;
} Expected;

typedef struct Case {
  const char *model, *settings;
  srContactMode contact;
  srImpactRule impact;
  const char* method;
  double step, t;
  Expected expected[8];
} Case;

static const Case cases[] = {
    // Impacts at t0 (1 + 2 e + 2 e^2 + ...), t0 = sqrt(2 h/g); at rest from 8.1387 s on.
    {STEPPED("benchmark/bouncing-ball", "", 1e-3, 5.2),
     {{"impact 0", 0.42835293687811934, 1.5e-3},
      {"impact 1", 1.1993882232587342, 3.5e-3},
      {"impact 4", 3.0799432867410537, 9.5e-3},
      {"impact 9", 5.1515571238259392, 1.95e-2}}},
    {STEPPED("benchmark/bouncing-ball", "", 1e-3, 8.5), {{"q 0", 0.1, 1e-8}, {"v 0", 0, 1e-8}}},
    {STEPPED("benchmark/bouncing-ball", "h=1 e=0.5", 1e-3, 2),
     {{"impact 0", 0.4515236409857309, 1.5e-3}, {"impact 3", 1.24169001271076, 7.5e-3}, {"q 0", 0.1, 1e-8}}},
    {EVENT("benchmark/bouncing-ball", "", 8.5),
     {{"impact 0", 0.42835293687811934, 1e-13},
      {"impact 1", 1.1993882232587342, 1e-13},
      {"impact 4", 3.0799432867410537, 1e-13},
      {"impact 9", 5.1515571238259392, 1e-13},
      {"accumulation 0", 8.1387058006842675, 1e-9},
      {"q 0", 0.1, 1e-12}}},
    {EVENT("benchmark/bouncing-ball", "h=1 e=0.5", 2),
     {{"impact 0", 0.4515236409857309, 1e-13}, {"impact 9", 1.3528071587345922, 1e-13}, {"q 0", 0.1, 1e-12}}},
    // Complete elliptic integrals.
    {STEPPED("nonsmooth/impacting-pendulum", "", 1e-3, 6),
     {{"impact 0", 0.550770646903, 1.5e-3}, {"impact 2", 2.65025844544, 5.5e-3}, {"impact 5", 5.70394814974, 1.15e-2}}},
    {EVENT("nonsmooth/impacting-pendulum", "", 6),
     {{"impact 0", 0.550770646903, 1e-10}, {"impact 2", 2.65025844544, 1e-10}, {"impact 5", 5.70394814974, 1e-10}}},
    // First return to the section of the start, and the period of the limit cycle (event-driven, elsewhere): 9 events a cycle, 30 h.
    {STEPPED("nonsmooth/woodpecker", "", 2e-5, 0.45),
     {{"event 0", 0.14589006, 6e-4}, {"period 0", 0.14600634, 6e-4}, {"period 1", 0.14600634, 6e-4}}},
    {EVENT("nonsmooth/woodpecker", "", 0.9), {{"event 0", 0.14589006, 1e-8}, {"period 4", 0.14600634, 1e-8}}},
    {HYBRID("nonsmooth/woodpecker", "", 1e-5, 0.9), {{"event 0", 0.14589006, 1e-8}, {"period 4", 0.14600634, 1e-8}}},
    // Housner (1963): time of the first impact, energy after it, rest.
    {STEPPED("nonsmooth/rocking-block", "", 2e-4, 0.6),
     {{"impact 0", 0.46567824794833067, 4e-4}, {"energy", 7.67808636613, 2e-3}}},
    {STEPPED("nonsmooth/rocking-block", "", 1e-3, 1.5), {{"q 2", 0, 1e-9}, {"v 2", 0, 1e-9}}},
    {EVENT("nonsmooth/rocking-block", "", 0.6),
     {{"impact 0", 0.46567824794833067, 1e-10}, {"energy", 7.67808636613, 1e-10}}},
    {EVENT("nonsmooth/rocking-block", "", 1.5), {{"q 2", 0, 1e-12}, {"v 2", 0, 1e-12}}},
    // x = v0 t - mu (g t^2/2 + z - z0) through all impacts, whatever e is. Forces of a step count in full from its start on: mu g h t/2.
    {STEPPED("nonsmooth/dropped-block", "", 1e-3, 1.5), {{"sensor misses", 0, 0.1 * 9.81 * 1e-3 * 1.5 / 2 * 1.001}}},
    {STEPPED("nonsmooth/dropped-block", "e=0", 1e-3, 1.5), {{"sensor misses", 0, 0.1 * 9.81 * 1e-3 * 1.5 / 2 * 1.001}}},
    {EVENT("nonsmooth/dropped-block", "", 1.5), {{"sensor misses", 0, 1e-12}}},
    {EVENT("nonsmooth/dropped-block", "e=0", 1.5), {{"sensor misses", 0, 1e-12}}},
    {EVENT("nonsmooth/dropped-block", "e=0.9", 1.5), {{"sensor misses", 0, 1e-12}}},
    // The rod is at 45 degrees when its normal force per acceleration vanishes.
    {STEPPED("nonsmooth/painleve-rod", "", 2e-4, 0.81454965), {{"q 2", PI / 4, 4e-4}}},
    {STEPPED("nonsmooth/painleve-rod", "", 2e-4, 0.83), {{"painleve 0", 0.81454965, 2e-4}}},
    {EVENT("nonsmooth/painleve-rod", "", 0.9), {{"painleve 0", 0.81454965, 1e-8}}},
    // Equations of motion with impacts, integrated independently. An impact that is off by h moves what follows by h times the jump of the velocity, some 10 and 20 rad/s.
    {STEPPED("nonsmooth/double-pendulum-wall", "", 2e-4, 1.2),
     {{"impact 0", 0.388403675479, 3e-4},
      {"impact 1", 0.459347441058, 4e-4},
      {"q 0", 0.0729654054375, 5e-3},
      {"q 1", 0.297246235751, 5e-3}}},
    {EVENT("nonsmooth/double-pendulum-wall", "", 1.2),
     {{"impact 0", 0.388403675479, 1e-10},
      {"impact 1", 0.459347441058, 1e-10},
      {"q 0", 0.0729654054375, 1e-9},
      {"q 1", 0.297246235751, 1e-9}}},
    {EVENT("nonsmooth/double-pendulum-wall", "", 1.5),
     {{"impact 3", 1.42600263486, 1e-9}, {"q 0", -0.0935258974278, 1e-9}, {"q 1", 0.124634498808, 1e-9}}},
    {STEPPED("nonsmooth/four-bar-stop", "", 2e-4, 0.8),
     {{"impact 0", 0.162701217439, 2e-4},
      {"impact 1", 0.633262127445, 2e-3},
      {"q 0", 2.44827085556, 8e-3},
      {"v 0", 2.42166040198, 0.1}}},
    {EVENT("nonsmooth/four-bar-stop", "", 0.8),
     {{"impact 0", 0.162701217439, 1e-9},
      {"impact 1", 0.633262127445, 1e-9},
      {"q 0", 2.44827085556, 1e-9},
      {"v 0", 2.42166040198, 1e-8}}},
    {STEPPED("nonsmooth/excavator-bucket", "", 2e-4, 1),
     {{"impact 0", 0.371830341647, 4e-4}, {"impact 2", 0.908388646286, 2e-3}}},
    {STEPPED("nonsmooth/excavator-bucket", "", 1e-3, 4.5), {{"q 2", 2.1, 1e-6}, {"v 2", 0, 1e-6}}},
    {EVENT("nonsmooth/excavator-bucket", "", 4.5),
     {{"impact 0", 0.371830341647, 1e-9}, {"impact 2", 0.908388646286, 1e-9}, {"q 2", 2.1, 1e-12}, {"v 2", 0, 1e-12}}},
    {STEPPED("nonsmooth/dominoes", "N=2", 5e-4, 0.1), {{"impact 0", 0.0615106348569, 1e-3}}},
    {EVENT("nonsmooth/dominoes", "N=2", 0.08), {{"impact 0", 0.0615106348569, 1e-10}}},
    // Five whole teeth after four strokes of 13.5 mm more each: geometry of the notch.
    {STEPPED("nonsmooth/ratchet-press", "", 5e-4, 2), {{"sensor teeth", 5, 1e-6}}},
    // Momentum goes from ball to ball: the last one has the speed of the first, sqrt(2 g l (1 - cos 0.5)/(l^2 + 2/5 R^2)) at the lowest point.
    {STEPPED("contact/newtons-cradle", "n=3", 5e-5, 0.2826),
     {{"v 0", 0, 2e-2}, {"v 1", 0, 2e-2}, {"v 2", -2.826994, 2e-2}}},
    // Without gaps by the simultaneous law: -1/3, 2/3, 2/3 of it.
    {STEPPED("contact/newtons-cradle", "n=3 gap=0", 5e-5, 0.2815),
     {{"v 0", 2.826994 / 3, 2e-2}, {"v 1", -2.826994 * 2 / 3, 2e-2}, {"v 2", -2.826994 * 2 / 3, 2e-2}}},
    {EVENT("contact/newtons-cradle", "n=3 gap=0", 0.2815),
     {{"v 0", 2.826994 / 3, 1e-3}, {"v 1", -2.826994 * 2 / 3, 1e-3}, {"v 2", -2.826994 * 2 / 3, 1e-3}}},
    {EVENT("contact/newtons-cradle", "n=3", 0.2826), {{"v 0", 0, 1e-3}, {"v 1", 0, 1e-3}, {"v 2", -2.826994, 1e-3}}},
    // Statics: the upper two of three boxes are above the edge of the lowest one up to lean = 1.
    {STEPPED("contact/tower-of-boxes", "n=3 lean=0.97", 1e-2, 0.5),
     {{"q 14", 0.97 * 0.4 / 3, 1e-6}, {"q 16", 0.25, 1e-6}}},
    {EVENT("contact/tower-of-boxes", "n=3 lean=0.97", 0.5), {{"q 14", 0.97 * 0.4 / 3, 1e-12}, {"q 16", 0.25, 1e-12}}},
    // Event-driven with Newton's impact law, elsewhere.
    {STEPPED("contact/slider-crank-clearance", "mu=0", 2e-5, 0.2), {{"q 0", 18.176877, 0.11}}},
    {STEPPED("contact/slider-crank-clearance", "", 2e-5, 0.2), {{"q 0", 18.08368, 0.1}}},
    {EVENT("contact/slider-crank-clearance", "", 0.2), {{"q 0", 18.08368, 1e-5}}},
    {HYBRID("contact/slider-crank-clearance", "", 1e-6, 0.2), {{"q 0", 18.08368, 2e-4}}},
    // Parked robots stay where they are.
    {EVENT("paper1/hexapod", "walk=0", 0.5), {{"v 0", 0, 1e-9}, {"v 3", 0, 1e-9}, {"v 5", 0, 1e-9}}},
    // Closed form: a parabola, then a straight line.
    {STEPPED("nonsmooth/billiard-ball", "", 1e-3, 1),
     {{"q 0", 1.31657367008, 2e-4},
      {"q 1", -0.0108631202197, 2e-4},
      {"sensor ball wx", 1.42857142857, 1e-6},
      {"sensor ball wy", 44.2857142857, 1e-6},
      {"sensor ball wz", -12, 1e-6}}},
    {EVENT("nonsmooth/billiard-ball", "", 1),
     {{"stick 0", 0.1866317987181636, 1e-6},
      {"q 0", 1.31657367008, 1e-8},
      {"q 1", -0.0108631202197, 1e-8},
      {"sensor ball wx", 1.42857142857, 1e-7},
      {"sensor ball wy", 44.2857142857, 1e-7},
      {"sensor ball wz", -12, 1e-7}}},
    // Hodograph by quadrature.
    {STEPPED("nonsmooth/slope-launch", "", 1e-3, 1.5),
     {{"q 0", 0.3359528378051187, 9e-4}, {"q 1", 0.5001759824284108, 9e-4}, {"v 0", 0, 1e-8}}},
    {EVENT("nonsmooth/slope-launch", "", 1.5),
     {{"q 0", 0.3359528378051187, 1e-10}, {"q 1", 0.5001759824284108, 1e-10}, {"v 0", 0, 1e-12}, {"v 1", 0, 1e-12}}},
    // Corners of equal compliance in the limit.
    {STEPPED("nonsmooth/turning-box", "", 1e-3, 0.3),
     {{"q 0", 0.207125573864, 5e-4},
      {"q 1", 0.0789805088488, 2e-4},
      {"sensor yaw", 0.6484753961003336, 2e-3},
      {"v 2", 0.39382641077730735, 2e-3},
      {"sensor box vx", 0.326520953788, 2e-3},
      {"sensor box vy", 0.104364430627, 2e-3}}},
    {STEPPED("nonsmooth/turning-box", "", 1e-3, 0.8),
     {{"q 0", 0.226497642109, 7e-4}, {"q 1", 0.0848621608622, 2e-4}, {"sensor yaw", 0.6651949435573787, 2e-3}}},
    {EVENT("nonsmooth/turning-box", "", 0.3),
     {{"q 0", 0.207125573864, 1e-8},
      {"q 1", 0.0789805088488, 1e-8},
      {"sensor yaw", 0.6484753961003336, 1e-8},
      {"v 2", 0.39382641077730735, 1e-8},
      {"sensor box vx", 0.326520953788, 1e-8},
      {"sensor box vy", 0.104364430627, 1e-8}}},
    {EVENT("nonsmooth/turning-box", "", 0.8),
     {{"stick 0", 0.4176214912713295, 1e-6},
      {"q 0", 0.226497642109, 2e-8},
      {"q 1", 0.0848621608622, 2e-8},
      {"sensor yaw", 0.6651949435573787, 1e-6}}},
    // Closed form. The last impacts differ by the time that the first ones have lost.
    {STEPPED("nonsmooth/spinning-ball", "", 1e-3, 4),
     {{"impact 0", 0.403855021877, 1.5e-3},
      {"impact 2", 1.36502997394, 5.5e-3},
      {"q 0", 7.06231283521, 3e-4},
      {"q 1", -0.608508020466, 3e-4},
      {"sensor ball wx", 0, 1e-5},
      {"sensor ball wy", 38.5714285714, 1e-5},
      {"sensor ball wz", 8, 1e-5}}},
    {EVENT("nonsmooth/spinning-ball", "", 4),
     {{"impact 0", 0.403855021877, 1e-9},
      {"impact 7", 2.1333022017, 1e-8},
      {"accumulation 0", 2.2885117906358916, 1e-8},
      {"q 0", 7.06231283521, 1e-7},
      {"q 1", -0.608508020466, 1e-7},
      {"sensor ball wy", 38.5714285714, 1e-6},
      {"sensor ball wz", 8, 1e-6}}},
    // Limit analysis: it holds until 3.87476 s.
    {STEPPED("nonsmooth/three-footed-table", "", 2e-3, 3.87),
     {{"q 0", 0, 1e-9}, {"q 1", 0, 1e-9}, {"sensor yaw", 0, 1e-9}}},
    {STEPPED("nonsmooth/three-footed-table", "", 2e-3, 4.2),
     {{"q 0", -0.0038418859405, 1e-5},
      {"q 1", -0.00752975577426, 1e-5},
      {"sensor yaw", -0.006674958732408083, 2e-5},
      {"v 2", -0.07334752134878772, 1e-3}}},
    {EVENT("nonsmooth/three-footed-table", "", 4.2),
     {{"slip 0", 3.8747653889643123, 1e-7},
      {"q 0", -0.0038418859405, 5e-7},
      {"q 1", -0.00752975577426, 5e-7},
      {"sensor yaw", -0.006674958732408083, 5e-7},
      {"v 2", -0.07334752134878772, 5e-7}}},
    {HYBRID("nonsmooth/three-footed-table", "", 1e-4, 4.2),  // it begins to slip by time-stepping
     {{"q 0", -0.0038418859405, 1e-6},
      {"q 1", -0.00752975577426, 1e-6},
      {"sensor yaw", -0.006674958732408083, 1e-6},
      {"v 2", -0.07334752134878772, 1e-5}}},
    // Event-driven, elsewhere.
    {STEPPED("nonsmooth/tumbling-box", "", 2e-4, 1),
     {{"impact 0", 0.23853915567, 4e-4},
      {"impact 1", 0.351868724357, 4e-4},
      {"q 0", 0.353340612461, 1e-3},
      {"q 1", 0.311584776546, 1e-3},
      {"q 2", 0.1, 1e-8},
      {"q 6", 0.09456567051, 2e-3}}},
    {NEWTON("nonsmooth/tumbling-box", "", 2),
     {{"impact 0", 0.23853915567, 1e-8},
      {"impact 1", 0.351868724357, 1e-8},
      {"impact 4", 0.468342828146, 1e-8},
      {"impact 7", 0.546374287998, 1e-8},
      {"q 0", 0.353340612461, 2e-6},
      {"q 1", 0.311584776546, 2e-6},
      {"q 3", 0.995518625622, 2e-6},
      {"q 6", 0.09456567051, 2e-6}}},
    // Reduced equations of rolling; the spin reverses at 0.5686 s.
    {STEPPED("nonsmooth/rattleback", "", 4e-5, 0.5685591729510793), {{"sensor spin", 0, 5e-2}}},
    {EVENT("nonsmooth/rattleback", "", 1),
     {{"v 0", -6.80029977291, 2e-8},
      {"v 1", 0.402593736414, 2e-8},
      {"v 2", 3.39039102071, 2e-8},
      {"q 0", -0.00118233965912, 1e-8},
      {"q 1", -0.000411579851291, 1e-8},
      {"q 2", 0.0105424821852, 1e-8},
      {"sensor spin", 3.5526866087095543, 1e-8}}},
    // Newton's law with the friction impulse on the cone of the velocity after the impact.
    {STEPPED("nonsmooth/box-corner", "", 1e-8, 1e-8),
     {{"sensor corner vx", 0.600651578293, 6e-7},
      {"sensor corner vy", -0.642372572593, 3e-7},
      {"sensor corner vz", 1.29307692308, 4e-8}}},
    {EVENT("nonsmooth/box-corner", "", 1e-10),  // Poisson's law
     {{"sensor corner vx", 0.601441557639, 4e-9},
      {"sensor corner vy", -0.635691703006, 4e-9},
      {"sensor corner vz", 1.2939876794, 4e-9}}},
    {NEWTON("nonsmooth/box-corner", "", 1e-10),
     {{"sensor corner vx", 0.600651578293, 4e-9},
      {"sensor corner vy", -0.642372572593, 4e-9},
      {"sensor corner vz", 1.29307692308, 4e-9}}},
};

// ---- what is measured -----------------------------------------------------------------------------------------------------

static double time_of(const srRunResult* result, const char* kind, int k) {
  for (int i = 0; i < result->nevent; i++) {
    if (strcmp(result->event[i].kind, kind) == 0 && k-- == 0) return result->event[i].t;
  }
  return NAN;
}

static double frame_value(const Loaded* x, const char* name, const char* part) {
  const srFrameMotion motion = sensor(x, name);
  const int axis = part[strlen(part) - 1] - 'x';
  ENSURE(axis >= 0 && axis < 3);
  return part[0] == 'v'   ? motion.velocity[axis]
         : part[0] == 'w' ? motion.angular_velocity[axis]
                          : motion.position[axis];
}

static double formula_value(const Loaded* x, const char* name) {
  const int i = sr_sensor_find(x->m, name);
  ENSURE(i >= 0);
  return x->d->formula[x->m->sensor[i].formula];
}

static double measured(const Loaded* x, const char* what) {
  char word[16], name[32], part[8];
  double kinetic, potential;
  const int n = sscanf(what, "%15s %31s %7s", word, name, part);
  if (strcmp(word, "energy") == 0) {
    sr_energy(x->m, x->d, &kinetic, &potential);
    return kinetic + potential;
  }
  if (strcmp(word, "sensor") == 0) return n == 3 ? frame_value(x, name, part) : formula_value(x, name);
  const int k = atoi(name);
  if (strcmp(word, "period") == 0) return time_of(&x->result, "event", k + 1) - time_of(&x->result, "event", k);
  if (strcmp(word, "q") == 0) return x->d->q[k];
  return strcmp(word, "v") == 0 ? x->d->v[k] : time_of(&x->result, word, k);
}

// ---- the runs -------------------------------------------------------------------------------------------------------------

static void ensure_case(const Case* c, double step, double part) {
  Loaded x = open_model(c->model, c->settings);
  srRunOptions o = sr_run_options(x.m);
  o.contact = c->contact;
  o.method = c->method;
  o.impact = c->impact;
  o.t_end = o.every = c->t;
  if (step > 0) o.step = step;
  if (c->contact != SR_CONTACT_TIMESTEPPING) {
    o.rtol = 1e-10;
    o.atol = 1e-12;
  }
  const srStatus status = sr_run(x.m, x.d, &o, NULL, &x.result);
  if (status != SR_OK) printf("  %s: %s\n", c->model, x.result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  for (int i = 0; i < SR_COUNT(c->expected) && c->expected[i].what != NULL; i++) {
    const Expected* e = &c->expected[i];
    const double value = measured(&x, e->what);
    if (!(fabs(value - e->value) <= part * e->tolerance)) printf("  %s, step %g: %s\n", c->model, step, e->what);
    ENSURE_NEAR(value, e->value, part * e->tolerance);
  }
  close_model(&x);
}

// All rows of a model, time-stepping also with half the step.
static void ensure_model(const char* model) {
  int n = 0;
  for (int i = 0; i < SR_COUNT(cases); i++) {
    if (strcmp(cases[i].model, model) != 0) continue;
    n++;
    ensure_case(&cases[i], cases[i].step, 1);
    if (cases[i].contact == SR_CONTACT_TIMESTEPPING && !runner_sanitized())
      ensure_case(&cases[i], cases[i].step / 2, 0.5);
  }
  ENSURE(n > 0);
}

TEST(a_rigid_ball_bounces_at_the_times_of_its_restitution_and_rests) { ensure_model("benchmark/bouncing-ball"); }
TEST(a_pendulum_strikes_a_wall_at_the_times_of_elliptic_integrals) { ensure_model("nonsmooth/impacting-pendulum"); }
TEST(the_woodpecker_has_the_published_period) { ensure_model("nonsmooth/woodpecker"); }
TEST(a_shipped_rocking_block_is_that_of_housner) { ensure_model("nonsmooth/rocking-block"); }
TEST(a_block_dropped_with_slip_loses_mu_times_the_impulse_of_its_weight) { ensure_model("nonsmooth/dropped-block"); }
TEST(painleves_rod_reaches_its_singular_angle_in_time) { ensure_model("nonsmooth/painleve-rod"); }
TEST(a_double_pendulum_strikes_a_wall) { ensure_model("nonsmooth/double-pendulum-wall"); }
TEST(a_four_bar_strikes_a_stop_through_its_loop) { ensure_model("nonsmooth/four-bar-stop"); }
TEST(a_bucket_falls_on_its_stop_and_closes_at_the_other) { ensure_model("nonsmooth/excavator-bucket"); }
TEST(the_first_domino_meets_the_next_one_in_time) { ensure_model("nonsmooth/dominoes"); }

// Time of the first contact between dominoes i and i + 1.
static double meeting(const srRunResult* r, int i) {
  char a[40], b[40];
  (void)snprintf(a, sizeof a, "domino%d/domino", i);
  (void)snprintf(b, sizeof b, "domino%d/domino", i + 1);
  for (int k = 0; k < r->nevent; ++k) {
    const srRunEvent* e = &r->event[k];
    if (strcmp(e->kind, "impact") == 0 && strcmp(e->a, a) == 0 && strcmp(e->b, b) == 0) return e->t;
  }
  return NAN;
}

static void run_dominoes(Loaded* x, double step, double t_end) {
  srRunOptions o = sr_run_options(x->m);
  o.contact = step > 0 ? SR_CONTACT_TIMESTEPPING : SR_CONTACT_EVENT;
  if (step > 0) o.method = "moreau";
  if (step > 0) o.step = step;
  o.t_end = o.every = t_end;
  const srStatus status = sr_run(x->m, x->d, &o, NULL, &x->result);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(x->result.unsolved, 0);
}

// Two methods meet in the times at which each domino reaches the next one: time-stepping has them at the ends of its steps, and its error grows along the row.
static void ensure_wave(const char* set, int n, double step, double t_end) {
  Loaded a = open_model("nonsmooth/dominoes", set), b = open_model("nonsmooth/dominoes", set);
  run_dominoes(&a, 0, t_end);
  run_dominoes(&b, step, t_end);
  for (int i = 0; i < n - 1; ++i) ENSURE_NEAR(meeting(&a.result, i), meeting(&b.result, i), fmax(1.2, 0.25 * n) * step);
  // Nothing leaves the plane of the motion: redundant corners of an edge stay equal.
  for (int i = 0; i < n; ++i) {
    ENSURE_SMALL(a.d->q[7 * i + 1], 1e-10);
    ENSURE_SMALL(a.d->q[7 * i + 4], 1e-10);
    ENSURE_SMALL(a.d->q[7 * i + 6], 1e-10);
  }
  ENSURE(a.result.stats.steps < 60 * n);
  close_model(&a);
  close_model(&b);
}

TEST(dominoes_by_events_topple_when_they_do_in_small_steps) {
  ensure_wave("N=3", 3, 2e-4, 0.16);
  if (!runner_sanitized()) ensure_wave("N=5", 5, 2e-4, 0.25);
  if (runner_long()) ensure_wave("N=10", 10, 1e-4, 0.4);
}

// All three lie on each other in the end: at rest, and the energy is accounted for.
TEST(dominoes_by_events_come_to_rest) {
  Loaded x = open_model("nonsmooth/dominoes", "N=3");
  run_dominoes(&x, 0, 1);
  ENSURE_SMALL(x.result.energy.kinetic, 1e-20);
  ENSURE_SMALL(x.result.energy.residual, 1e-6 * x.result.energy.scale);  // 3e-7 at rtol 1e-6, 2e-10 at 1e-10
  ENSURE_SMALL(x.result.penetration, 1e-9);
  close_model(&x);
}

// Both corners of an edge come to rest together in the heap too: all end at rest, in their plane. Four lean on each other with corners that slide and corners that stick on one body, whose
// equations are redundant together.
static void ensure_heap(const char* set, int n) {
  Loaded x = open_model("nonsmooth/dominoes", set);
  run_dominoes(&x, 0, 1);
  ENSURE_SMALL(x.result.energy.kinetic, 1e-20);
  ENSURE_SMALL(x.result.energy.residual, 1e-6 * x.result.energy.scale);
  for (int i = 0; i < n; ++i) {
    ENSURE_SMALL(x.d->q[7 * i + 1], 1e-7);
    ENSURE_SMALL(x.d->q[7 * i + 4], 1e-7);
    ENSURE_SMALL(x.d->q[7 * i + 6], 1e-7);
  }
  close_model(&x);
}

// Heavier and rougher ones: where two faces become parallel, a corner of the domino between them has to open, and only the cone problem knows. Held closed, it gained 765 J. What has opened leaves
// the plane, by less than the tolerances of a collision.
TEST(dominoes_between_faces_that_become_parallel_gain_no_energy) {
  static const double rtol[] = {1e-6, 1e-8};
  for (int k = 0; k < (runner_sanitized() ? 1 : 2); ++k) {
    Loaded x = open_model("nonsmooth/dominoes", "N=5 slide=0.4 m=0.03");
    srRunOptions o = sr_run_options(x.m);
    o.contact = SR_CONTACT_EVENT;
    o.t_end = o.every = 1;
    o.rtol = rtol[k];
    const srStatus status = sr_run(x.m, x.d, &o, NULL, &x.result);
    if (status != SR_OK) printf("  %s\n", x.result.error_message);
    ENSURE_EQUAL(status, SR_OK);
    ENSURE_SMALL(x.result.energy.kinetic, 1e-20);
    ENSURE_SMALL(x.result.energy.residual, 100 * rtol[k] * x.result.energy.scale);
    for (int i = 0; i < 5; ++i) ENSURE_SMALL(x.d->q[7 * i + 1], 1e-4);
    close_model(&x);
  }
}

TEST(four_dominoes_by_events_end_at_rest_in_their_plane) { ensure_heap("N=4", 4); }

TEST(rows_of_dominoes_by_events_end_at_rest_in_their_plane) {
  if (!runner_long()) SKIP("takes some seconds: ./test --long");
  ensure_heap("N=6", 6);
  ensure_heap("N=7", 7);
  ensure_heap("N=8", 8);
  ensure_heap("N=9", 9);
  ensure_heap("N=10", 10);
}

// Small speeds along normals, by directions that are 1e-8 rad off, neither open one corner of an edge nor strike it again and again.
TEST(thirteen_dominoes_by_events_stay_in_their_plane) {
  if (!runner_long()) SKIP("takes half a minute: ./test --long");
  Loaded x = open_model("nonsmooth/dominoes", "N=13");
  run_dominoes(&x, 0, 0.54);
  ENSURE_SMALL(x.result.energy.residual, 1e-6 * x.result.energy.scale);
  for (int i = 0; i < 13; ++i) ENSURE_SMALL(x.d->q[7 * i + 1], 1e-9);
  close_model(&x);
}

TEST(a_ratchet_holds_a_press_tooth_by_tooth) { ensure_model("nonsmooth/ratchet-press"); }
TEST(rigid_balls_of_a_cradle_pass_the_momentum_on_by_sequence_or_all_at_once) {
  ensure_model("contact/newtons-cradle");
}
TEST(a_rigid_slider_with_clearance_ends_where_others_have_it) { ensure_model("contact/slider-crank-clearance"); }
TEST(parked_robots_stand_on_rigid_contacts) { ensure_model("paper1/hexapod"); }
TEST(a_billiard_ball_slips_on_a_parabola_and_rolls) { ensure_model("nonsmooth/billiard-ball"); }
TEST(a_mass_launched_across_a_slope_turns_and_stops) { ensure_model("nonsmooth/slope-launch"); }
TEST(a_box_slides_and_turns_on_four_corners) { ensure_model("nonsmooth/turning-box"); }
TEST(a_ball_with_spin_slips_through_its_impacts_and_rolls) { ensure_model("nonsmooth/spinning-ball"); }
TEST(a_table_holds_until_limit_analysis_lets_it_slip) { ensure_model("nonsmooth/three-footed-table"); }
TEST(a_box_tumbles_to_rest) { ensure_model("nonsmooth/tumbling-box"); }
TEST(a_rattleback_reverses_its_spin) { ensure_model("nonsmooth/rattleback"); }
TEST(a_corner_leaves_with_the_velocity_of_newtons_law) { ensure_model("nonsmooth/box-corner"); }

TEST(a_rigid_tower_stands_below_the_overhang_of_statics_and_falls_above_it) {
  ensure_model("contact/tower-of-boxes");
  Loaded x = open_model("contact/tower-of-boxes", "n=3 lean=1.03");
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.step = 1e-2;
  o.t_end = o.every = 1;
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
  ENSURE(x.d->q[16] < 0.2);
  close_model(&x);
}

// The wheel advances by a tooth per oscillation of the anchor, on and on, however large the oscillation is.
TEST(an_escapement_lets_one_tooth_pass_per_oscillation) {
  Loaded x = open_model("nonsmooth/escapement", "");
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.step = 4e-4;
  o.t_end = o.every = runner_sanitized() ? 1 : 3;
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
  int beats = 0;
  for (int i = 0; i < x.result.nevent; i++) beats += strcmp(x.result.event[i].kind, "event") == 0;
  ENSURE_EQUAL(beats, runner_sanitized() ? 2 : 6);
  ENSURE_NEAR(formula_value(&x, "teeth"), beats, 0.1);  // it rests within the width of a pallet
  close_model(&x);
}
