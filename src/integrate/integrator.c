// The interface of the integrators: table of methods, creation, start, step, dense output, queries.
//
// One allocation holds everything: the struct, the arrays x, x_before, x_new, and the method's private work. Starting and
// stepping allocate nothing.
#include "integrate/integrator.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/constrained.h"
#include "integrate/control.h"
#include "integrate/stiffness.h"

#define CRAWLS 50  // stiff windows of 19 steps: less is not worth a warning

static const srIntegratorOps* const methods[] = {
#define SR_METHOD_ROW(name, word) &sri_##name##_ops,
    SR_METHOD_LIST(SR_METHOD_ROW)
#undef SR_METHOD_ROW
};

int sri_method_count(void) { return SR_COUNT(methods); }

const srMethod* sri_method(int i) { return i >= 0 && i < SR_COUNT(methods) ? &methods[i]->method : NULL; }

static const srIntegratorOps* find_ops(const char* name) {
  for (int i = 0; name != NULL && i < SR_COUNT(methods); ++i) {
    if (strcmp(methods[i]->method.name, name) == 0) return methods[i];
  }
  return NULL;
}

const srMethod* sri_method_find(const char* name) {
  const srIntegratorOps* ops = find_ops(name);
  return ops != NULL ? &ops->method : NULL;
}

bool sri_method_takes(const srMethod* method, srStabilization way) {
  if (way == SR_STABILIZATION_PARTITION) return method->partitions;
  return way == SR_STABILIZATION_NONE || way == SR_STABILIZATION_PROJECTION || method->baumgarte;
}

srIntegratorOptions sri_default_options(void) { return (srIntegratorOptions){.rtol = 1e-6, .atol = 1e-9, .rho = 0.8}; }

srIntegratorOptions sri_positions_options(void) {
  return (srIntegratorOptions){.rtol = 1e-4,
                               .atol = 1e-4,
                               .step_min = 1e-7,
                               .control = SR_CONTROL_POSITIONS,
                               .safety = 0.3,
                               .violation_most = 1e-4,
                               .newton_tolerance = 1e-8,
                               .rho = 0.8};
}

// ---- checks at creation -----------------------------------------------------------------------------------------------

#define COMPLAIN(messages, ...) sr_messages_add((messages), SR_SEVERITY_ERROR, (srPlace){0}, __VA_ARGS__)

static void complain_method(const char* name, srMessages* messages) {
  const char* names[SR_COUNT(methods)];
  char list[256] = "";
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    names[i] = methods[i]->method.name;
    size_t used = strlen(list);
    (void)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  const char* near = sr_nearest_word(name, names, SR_COUNT(names));
  COMPLAIN(messages, "unknown integration method '%s': expected one of %s%s%s%s", name, list,
           near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
}

bool sri_expect(srMessages* messages, bool condition, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!condition) sr_messages_vadd(messages, SR_SEVERITY_ERROR, (srPlace){0}, format, arguments);
  va_end(arguments);
  return condition;
}

// Not negative and not NaN.
static bool sane(double value) { return value >= 0.0 && isfinite(value); }

// The callbacks that a method needs for this system.
static unsigned needs_of(const srIntegratorOps* ops, const srSystem* system, const srIntegratorOptions* options) {
  if (system->ng == 0) return ops->needs;
  const unsigned both = SRI_NEEDS(constraint) | (system->nq != system->nv ? SRI_NEEDS(qdot) : 0);
  if (ops->needs_constrained == 0) {
    if (sri_solves_constraints(ops, system, options)) return both | SRI_NEEDS(dynamics);
    return options->project > SR_PROJECT_NONE ? ops->needs | both : ops->needs;
  }
  const bool by_rates = ops->index1 && system->dynamics == NULL;
  return ops->needs_constrained | both | (by_rates ? SRI_NEEDS(rates) : 0);
}

// Ways of enforcing the constraints that the method or the system does not support.
static bool ways_fit(const srIntegratorOps* ops, const srSystem* system, const srIntegratorOptions* o,
                     srMessages* messages) {
  const bool terms = o->alpha > 0.0 || o->beta > 0.0 || o->augmented;
  if (!sri_expect(messages, sane(o->alpha) && sane(o->beta),
                  "the method '%s' was given alpha = %g, beta = %g: expected numbers >= 0", ops->method.name, o->alpha,
                  o->beta))
    return false;
  if (system->ng == 0 || !sri_ways_asked(o)) return true;
  return sri_expect(
             messages, (!terms || ops->method.baumgarte) && (!o->partition || ops->method.partitions),
             "the method '%s' keeps the constraints in its own way: Baumgarte's terms and the augmented Lagrangian are "
             "for euler, rk4, dopri5, cvode and auto, coordinate partitioning for all methods but moreau and "
             "moreau-compliant",
             ops->method.name) &&
         sri_expect(messages, !o->augmented || !system->D_differs,
                    "the augmented Lagrangian needs constraint forces along the constraint Jacobian (D = G)");
}

static bool system_fits(const srIntegratorOps* ops, const srSystem* system, const srIntegratorOptions* options,
                        srMessages* messages) {
  bool good = sri_expect(messages, system->nq >= 0 && system->nv >= 0 && system->ny >= 0 && system->nw >= 0,
                         "the system has a negative size: nq %d, nv %d, ny %d, nw %d", system->nq, system->nv,
                         system->ny, system->nw);
  const unsigned needs = needs_of(ops, system, options);
#define CHECK_CALLBACK(callback, words)                                                                                \
  good &= sri_expect(messages, (needs & SRI_NEEDS(callback)) == 0 || system->callback != NULL,                         \
                     "the method '%s' needs " words ", and the system does not offer them (callback '%s')",            \
                     ops->method.name, #callback);
  SRI_CALLBACK_LIST(CHECK_CALLBACK)
#undef CHECK_CALLBACK
  return good;
}

// Parameters of step-size control and of implicit methods.
static bool rules_fit(const srIntegratorOps* ops, const srIntegratorOptions* o, srMessages* messages) {
  const char* name = ops->method.name;
  bool good = sri_expect(messages, sane(o->safety) && o->safety <= 1.0,
                         "the method '%s' was given safety = %g: expected a number from 0 (that of the rule) to 1",
                         name, o->safety);
  good &= sri_expect(messages, sane(o->violation_most) && sane(o->newton_tolerance),
                     "the method '%s' was given violation_most = %g, newton_tolerance = %g: expected numbers >= 0",
                     name, o->violation_most, o->newton_tolerance);
  good &= sri_expect(messages, sane(o->rho) && o->rho <= 1.0,
                     "the method '%s' was given rho = %g: expected a number from 0 to 1", name, o->rho);
  good &= sri_expect(messages, !ops->method.adaptive || o->control != SR_CONTROL_FIXED || o->step > 0.0,
                     "the method '%s' was asked for steps of fixed length and given step = %g: expected a number > 0",
                     name, o->step);
  return good;
}

static bool options_fit(const srIntegratorOps* ops, const srIntegratorOptions* o, srMessages* messages) {
  const char* name = ops->method.name;
  if (!ops->method.adaptive) {
    return sri_expect(messages, o->step > 0.0 && isfinite(o->step),
                      "the method '%s' has a fixed step and was given step = %g: expected a number > 0", name, o->step);
  }
  bool good = rules_fit(ops, o, messages);
  good &= sri_expect(messages, sane(o->rtol) && sane(o->atol) && o->rtol + o->atol > 0.0,
                     "the method '%s' was given rtol = %g and atol = %g: expected numbers >= 0, not both zero", name,
                     o->rtol, o->atol);
  good &= sri_expect(
      messages, !ops->method.implicit || o->atol != 0.0 || o->control == SR_CONTROL_FIXED,
      "the method '%s' was given atol = 0: expected a number > 0, since an entry that is 0 has no relative error",
      name);
  const bool lengths = sane(o->step) && sane(o->step_min) && sane(o->step_max);
  good &= sri_expect(messages, lengths,
                     "the method '%s' was given step = %g, step_min = %g, step_max = %g: expected numbers >= 0", name,
                     o->step, o->step_min, o->step_max);
  good &= sri_expect(messages, !lengths || o->step_max == 0.0 || o->step_max >= o->step_min,
                     "step_max = %g is smaller than step_min = %g", o->step_max, o->step_min);
  return good;
}

// ---- life -------------------------------------------------------------------------------------------------------------

static size_t round_up(size_t size) { return (size + 63) / 64 * 64; }

// Lays out the struct, the method's work and all arrays in one block.
static srIntegrator* allocate(const srIntegratorOps* ops, const srSystem* system) {
  size_t n = (size_t)system->nq + (size_t)system->nv + (size_t)system->ny + (size_t)system->nw;
  size_t head = round_up(sizeof(srIntegrator)), work = round_up(ops->work_size);
  size_t vector = round_up(n * sizeof(double));
  size_t room = ops->room(system, (int)n) * sizeof(double);
  char* block = sr_alloc(head + work + 3 * vector + room);
  if (block == NULL) return NULL;
  srIntegrator* integrator = (srIntegrator*)(void*)block;
  integrator->work = block + head;
  integrator->x = (double*)(void*)(block + head + work);
  integrator->x_before = (double*)(void*)(block + head + work + vector);
  integrator->x_new = (double*)(void*)(block + head + work + 2 * vector);
  integrator->room = (double*)(void*)(block + head + work + 3 * vector);
  integrator->n = (int)n;
  integrator->ncontrol = system->nq + system->nv + system->ny;
  return integrator;
}

srStatus sri_create(const char* method, const srSystem* system, const srIntegratorOptions* options,
                    srMessages* messages, srIntegrator** out) {
  SR_ASSERT(method != NULL && system != NULL && out != NULL);
  *out = NULL;
  const srIntegratorOps* ops = find_ops(method);
  if (ops == NULL) {
    complain_method(method, messages);
    return SR_INPUT;
  }
  srIntegratorOptions chosen = options != NULL ? *options : sri_default_options();
  bool fits = system_fits(ops, system, &chosen, messages);
  fits = ways_fit(ops, system, &chosen, messages) && fits;
  if (!options_fit(ops, &chosen, messages) || !fits) return SR_INPUT;

  srSystem used = *system;
  if (used.ng > 0 || chosen.tangent == SR_TANGENT_DIFFERENCE) used.solver = NULL;
  srIntegrator* integrator = allocate(ops, &used);
  if (integrator == NULL) {
    COMPLAIN(messages, "out of memory for the integrator '%s'", method);
    return SR_MEMORY;
  }
  integrator->ops = ops;
  integrator->system = used;
  integrator->options = chosen;
  integrator->project = chosen.project;
  if (chosen.project == SR_PROJECT_DEFAULT) {
    integrator->project = system->ng > 0 && sri_ways_asked(&chosen) ? SR_PROJECT_NONE : ops->project;
  }
  ops->init(integrator);
  if (sri_constrained_wanted(integrator) && !sri_constrained_create(integrator)) {
    COMPLAIN(messages, "out of memory for the constraints in the integrator '%s'", method);
    sri_destroy(integrator);
    return SR_MEMORY;
  }
  const srStatus status = ops->create != NULL ? ops->create(integrator, messages) : SR_OK;
  if (status != SR_OK) {
    sri_destroy(integrator);
    return status;
  }
  *out = integrator;
  return SR_OK;
}

void sri_destroy(srIntegrator* integrator) {
  if (integrator == NULL) return;
  if (integrator->ops->destroy != NULL) integrator->ops->destroy(integrator);
  sri_constrained_destroy(integrator->constrained);
  sr_free(integrator);
}

// ---- start, step, dense output ----------------------------------------------------------------------------------------

srStatus sri_fail(srIntegrator* integrator, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(integrator->error_message, sizeof integrator->error_message, format, arguments);
  va_end(arguments);
  return SR_FAILED;
}

static srStatus put_state(srIntegrator* integrator, double t, const double* q, const double* v, const double* y) {
  const srSystem* system = &integrator->system;
  integrator->started = false;
  integrator->dense = false;
  integrator->error_message[0] = '\0';
  sri_copy(integrator->x, q, system->nq);
  sri_copy(integrator->x + system->nq, v, system->nv);
  sri_copy(integrator->x + system->nq + system->nv, y, system->ny);
  for (int i = integrator->ncontrol; i < integrator->n; ++i) integrator->x[i] = 0.0;
  integrator->t = integrator->t_before = t;
  integrator->h = 0.0;
  integrator->acceleration = NULL;
  sri_copy(integrator->x_before, integrator->x, integrator->n);
  for (int i = 0; i < integrator->ncontrol; ++i) {
    if (!isfinite(integrator->x[i])) {
      (void)sri_fail(integrator, "entry %d of the start state (q, v, y) is not a finite number", i + 1);
      return SR_INPUT;
    }
  }
  if (!isfinite(t)) {
    (void)sri_fail(integrator, "the start time is not a finite number");
    return SR_INPUT;
  }
  integrator->started = true;
  sri_advance_start(integrator);
  return SR_OK;
}

srStatus sri_start(srIntegrator* integrator, double t, const double* q, const double* v, const double* y) {
  const srStatus status = put_state(integrator, t, q, v, y);
  if (status != SR_OK) return status;
  sri_constrained_start(integrator);
  integrator->ops->start(integrator);
  return SR_OK;
}

srStatus sri_restart(srIntegrator* integrator, double t, const double* q, const double* v, const double* y) {
  sri_constrained_restart(integrator, t);  // examines the last step
  const srStatus status = put_state(integrator, t, q, v, y);
  integrator->continues = true;
  if (status == SR_OK) integrator->ops->start(integrator);
  integrator->continues = false;
  return status;
}

srStatus sri_step(srIntegrator* integrator, double t_limit) {
  if (!integrator->started) {
    if (integrator->error_message[0] == '\0') (void)sri_fail(integrator, "a step was asked for before sri_start");
    return SR_INPUT;
  }
  if (!(t_limit > integrator->t)) {
    (void)sri_fail(integrator, "a step was asked for to t = %.17g, which is not after the present t = %.17g", t_limit,
                   integrator->t);
    return SR_INPUT;
  }
  integrator->error_message[0] = '\0';
  integrator->reason[0] = '\0';
  integrator->told_to_stop = false;
  integrator->dense = false;
  srStatus status = sri_advance_check(integrator, t_limit);
  if (status == SR_OK) status = integrator->ops->step(integrator, t_limit);
  integrator->advance.steps += status == SR_OK;
  integrator->dense = status == SR_OK;
  return status;
}

// One part of the state at t_before + theta*h; the ends are the stored states themselves.
static void interpolate_part(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  if (out == NULL || count == 0) return;
  if (theta >= 1.0) {
    sri_copy(out, integrator->x + first, count);
  } else if (theta <= 0.0) {
    sri_copy(out, integrator->x_before + first, count);
  } else {
    integrator->ops->interpolate(integrator, theta, first, count, out);
  }
}

srStatus sri_interpolate(const srIntegrator* integrator, double t, double* q, double* v, double* y, double* w) {
  const srSystem* system = &integrator->system;
  if (!integrator->started) return SR_INPUT;
  double theta = 1.0;
  if (t != integrator->t) {
    // Output times are computed elsewhere: a few roundings outside the step still count as its end.
    double length = integrator->t - integrator->t_before;
    const double one = fabs(integrator->t), two = fabs(integrator->t_before),
                 hair = 8.0 * DBL_EPSILON * (one > two ? one : two);
    bool inside = t >= integrator->t_before - hair && t <= integrator->t + hair;
    if (!integrator->dense || !inside) return SR_INPUT;
    theta = (t - integrator->t_before) / length;
  }
  if (q != NULL && v == q + system->nq && y == v + system->nv) {  // one array
    const bool whole = w == y + system->ny;
    interpolate_part(integrator, theta, 0, whole ? integrator->n : integrator->ncontrol, q);
    if (whole) return SR_OK;
  } else {
    interpolate_part(integrator, theta, 0, system->nq, q);
    interpolate_part(integrator, theta, system->nq, system->nv, v);
    interpolate_part(integrator, theta, system->nq + system->nv, system->ny, y);
  }
  interpolate_part(integrator, theta, integrator->ncontrol, system->nw, w);
  return SR_OK;
}

// ---- what can be asked ------------------------------------------------------------------------------------------------

double sri_time(const srIntegrator* integrator) { return integrator->t; }
double sri_time_before(const srIntegrator* integrator) { return integrator->t_before; }
const double* sri_q(const srIntegrator* integrator) { return integrator->x; }
const double* sri_v(const srIntegrator* integrator) { return integrator->x + integrator->system.nq; }
const double* sri_y(const srIntegrator* integrator) { return sri_v(integrator) + integrator->system.nv; }
const double* sri_w(const srIntegrator* integrator) { return integrator->x + integrator->ncontrol; }
const srIntegratorStats* sri_stats(const srIntegrator* integrator) { return &integrator->stats; }
const double* sri_lambda(const srIntegrator* integrator) { return integrator->lambda; }
const double* sri_acceleration(const srIntegrator* integrator) { return integrator->acceleration; }
const char* sri_error_message(const srIntegrator* integrator) { return integrator->error_message; }

const srSwitch* sri_switches(const srIntegrator* integrator, int* count) {
  const long all = integrator->switches != NULL ? integrator->stats.switches : 0;
  *count = all < SR_SWITCHES ? (int)all : SR_SWITCHES;
  return integrator->switches;
}

bool sri_crawls(const srIntegrator* integrator, double* since, double* factor) {
  const srStiffness* s = integrator->stiffness;
  if (s == NULL || s->total < CRAWLS) return false;
  *since = s->t_first;
  *factor = s->last.factor;
  return true;
}
