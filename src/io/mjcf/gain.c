// Gain, bias and dynamics of MJCF's actuators. All words of actuators set one and the same set of numbers, each its part of
// it, first in the default classes from the outermost one inwards, then in the element itself: what a <position> does not set
// it finds as a <general> of its class has left it. Source: MuJoCo's XML reference, "actuator", "default/general"; what each
// word leaves as it is was seen from MuJoCo 3.14 itself.
//
//   motor         gain0 = 1                               none       fixed   none
//   position      gain0 = kp     bias1 = -kp, bias2 = -kv            fixed   affine   timeconst > 0: filterexact
//   intvelocity   the same                                integrator fixed   affine
//   velocity      gain0 = kv     bias = 0 0 -kv           none       fixed   affine
//   damper        gain = 0 0 -kv                          none       affine  none
//   cylinder      gain0 = area                            filter     fixed   affine
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"

#define PI 3.14159265358979323846

typedef struct Element {
  srMjcf* m;
  const srXmlNode* node;
  srMjcfGain* g;
  bool good;
} Element;

static void set_types(srMjcfGain* g, const char* dynamics, const char* gain, const char* bias) {
  if (dynamics) g->dyntype = dynamics;
  g->gaintype = gain;
  g->biastype = bias;
}

// The first n of up to `most` numbers of the element itself; those that are not given stay. False: no such attribute, or bad.
static bool take_some(Element* e, const char* name, double* out, int n, int most) {
  const srXmlAttribute* a = sr_xml_attribute(e->node, name);
  double all[10];
  if (!a) return false;
  const int count = sr_mjcf_values(e->m, a, 1, most, all);
  e->good = e->good && count > 0;
  for (int i = 0; i < count && i < n; i++) out[i] = all[i];
  return count > 0;
}

static bool take(Element* e, const char* name, double* out) { return take_some(e, name, out, 1, 1); }
static void take_list(Element* e, const char* name, double* out, int n) { take_some(e, name, out, n, 10); }

static void take_type(Element* e, const char* name, const char* const* words, int n, const char** out) {
  const srXmlAttribute* a = sr_xml_attribute(e->node, name);
  const int i = sr_mjcf_choice(e->m, a, words, n, -1);
  if (i >= 0) *out = words[i];
  e->good = e->good && (!a || i >= 0);
}

static void general(Element* e) {
  static const char* const dynamics[] = {"none",   "integrator", "filter",  "filterexact",
                                         "muscle", "user",       "dcmotor", "pid"};
  static const char* const gains[] = {"fixed", "affine", "muscle", "user", "dcmotor", "so3", "pid"};
  static const char* const biases[] = {"none", "affine", "muscle", "user", "dcmotor", "so3", "pid"};
  take_type(e, "dyntype", dynamics, SR_COUNT(dynamics), &e->g->dyntype);
  take_type(e, "gaintype", gains, SR_COUNT(gains), &e->g->gaintype);
  take_type(e, "biastype", biases, SR_COUNT(biases), &e->g->biastype);
  take_list(e, "dynprm", &e->g->time, 1);
  take_list(e, "gainprm", e->g->gain, 3);
  take_list(e, "biasprm", e->g->bias, 3);
}

static void motor(Element* e) {
  e->g->gain[0] = 1;
  set_types(e->g, "none", "fixed", "none");
}

// bias2 is minus the damping, or the damping ratio where it is positive.
static void servo(Element* e) {
  srMjcfGain* g = e->g;
  double kv, ratio;
  take(e, "kp", &g->gain[0]);
  g->bias[1] = -g->gain[0];
  const bool has_kv = take(e, "kv", &kv), has_ratio = take(e, "dampratio", &ratio);
  if (has_kv && has_ratio) {
    sr_mjcf_error(e->m, e->node->place, "<%s> has 'kv' and 'dampratio', which both give its damping", e->node->name);
    e->good = false;
  }
  if (has_kv) g->bias[2] = -kv;
  if (has_ratio) g->bias[2] = ratio;
}

static void position(Element* e) {
  double time;
  servo(e);
  set_types(e->g, NULL, "fixed", "affine");
  if (!take(e, "timeconst", &time)) return;
  e->g->dyntype = time > 0 ? "filterexact" : "none";
  if (time > 0) e->g->time = time;
}

static void intvelocity(Element* e) {
  servo(e);
  set_types(e->g, "integrator", "fixed", "affine");
}

static void velocity(Element* e) {
  srMjcfGain* g = e->g;
  take(e, "kv", &g->gain[0]);
  g->bias[0] = g->bias[1] = 0;
  g->bias[2] = -g->gain[0];
  set_types(g, "none", "fixed", "affine");
}

static void damper(Element* e) {
  srMjcfGain* g = e->g;
  double kv = -g->gain[2];
  take(e, "kv", &kv);
  g->gain[0] = g->gain[1] = 0;
  g->gain[2] = -kv;
  set_types(g, "none", "affine", "none");
}

static void cylinder(Element* e) {
  srMjcfGain* g = e->g;
  double diameter;
  take(e, "timeconst", &g->time);
  take_list(e, "bias", g->bias, 3);
  take(e, "area", &g->gain[0]);
  if (take(e, "diameter", &diameter) && diameter >= 0) g->gain[0] = PI / 4 * diameter * diameter;
  set_types(g, "filter", "fixed", "affine");
}

static void muscle(Element* e) { set_types(e->g, "muscle", "muscle", "muscle"); }

static void adhesion(Element* e) {
  take(e, "gain", &e->g->gain[0]);
  set_types(e->g, "none", "fixed", "none");
}

static const struct Word {
  const char* word;
  void (*apply)(Element* e);
} words[] = {{"general", general},         {"motor", motor},   {"position", position}, {"velocity", velocity},
             {"intvelocity", intvelocity}, {"damper", damper}, {"cylinder", cylinder}, {"muscle", muscle},
             {"adhesion", adhesion}};

static bool apply(srMjcf* m, const srXmlNode* node, srMjcfGain* g) {
  Element e = {m, node, g, true};
  for (int i = 0; i < SR_COUNT(words); i++)
    if (strcmp(words[i].word, node->name) == 0) words[i].apply(&e);
  return e.good;
}

// Of a class, worked out once.
static const srMjcfGain* gain_of_class(srMjcf* m, int i) {
  srMjcfClass* c = &m->classes[i];
  if (c->drive) return c->drive;
  srMjcfGain* g = sr_pool_alloc(&m->r->pool, sizeof *g);
  if (c->parent >= 0)
    *g = *gain_of_class(m, c->parent);
  else
    *g = (srMjcfGain){.dyntype = "none", .gaintype = "fixed", .biastype = "none", .time = 1, .gain = {1}};
  for (int k = 0; k < c->nnode; k++) apply(m, c->node[k], g);
  c->drive = g;
  return g;
}

bool sr_mjcf_gain(srMjcf* m, const srXmlNode* node, srMjcfGain* out) {
  const int c = sr_mjcf_class(m, node, NULL);
  *out = *gain_of_class(m, c >= 0 ? c : 0);
  return apply(m, node, out);
}
