// The request of a run: defaults, invalid options, and the options of the integrator.
#include <float.h>
#include <math.h>

#include "simulate/run.h"
#include "system/system.h"

#define MOST_POINTS 1e15   // of a grid in time: beyond them a double cannot count
#define MOST_DENSE 3000    // unknowns of an implicit method without a sparse matrix
#define MOST_ROWS 1e9      // more are no result but a full disk
#define LONGEST_TIME 1e12  // s, 30 000 years: beyond it time is too coarse for steps of machines

srRunOptions sr_run_options(const srModel* m) {
  const srRunSettings* run = sr_run_settings(m);
  return (srRunOptions){
      .t_end = run->t_end,
      .method = run->method,
      .contact = run->contact,
      .impact = run->impact,
      .impact_friction = run->impact_friction,
      .impact_order = run->impact_order,
      .step = run->step,
      .rtol = run->rtol,
      .atol = run->atol,
      .control = run->control,
      .rho = run->rho,
      .theta = run->theta,
      .sleep = run->sleep,
      .sleep_speed = run->sleep_speed,
      .family = run->family,
      .tangent = run->tangent,
      .stabilization = run->stabilization,
      .alpha = run->alpha,
      .beta = run->beta,
      .metric_identity = run->metric_identity,
      .every = run->every > 0.0 ? run->every : run->t_end / 1000.0,
  };
}

bool sr_run_is_adaptive(const srRunOptions* o) {
  const srMethod* method = sri_method_find(o->method);
  return method == NULL || (method->adaptive && o->control != SR_CONTROL_FIXED);
}

// ---- checks -------------------------------------------------------------------------------------------------------------

// A step, or a time between rows, with which the end is not reached before the numbers run out.
static bool check_grid(const srRun* run, const char* word, double spacing, double most) {
  const double way = run->options->t_end - run->d->t;
  if (!(spacing > 0.0) || way / spacing <= most) return true;
  sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "%s = %g s is too small: more than %g of them to the end at %g s", word, spacing, most,
                  run->options->t_end);
  return false;
}

static bool check_times(const srRun* run) {
  const srRunOptions* o = run->options;
  if (!isfinite(o->t_end) || o->t_end < run->d->t) {
    sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the end of the run, t-end = %g, must be a number not before the start t = %g", o->t_end,
                    run->d->t);
    return false;
  }
  if (o->t_end > LONGEST_TIME) {
    sr_messages_add(
        run->messages, SR_SEVERITY_ERROR, (srPlace){0},
        "the end of the run, t-end = %g s, is too far: beyond %g s a double resolves time no better than to %.2g s",
        o->t_end, LONGEST_TIME, LONGEST_TIME * DBL_EPSILON);
    return false;
  }
  if (!(o->every >= 0.0)) {
    sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the time between rows, every = %g, must be positive", o->every);
    return false;
  }
  return check_grid(run, "step", sr_run_is_adaptive(o) ? 0.0 : o->step, MOST_POINTS) &&
         check_grid(run, "every", o->row != NULL ? o->every : 0.0, MOST_ROWS);
}

// No equation gives the acceleration of such a coordinate.
static bool check_massless(const srRun* run) {
  const srModel* m = run->m;
  for (int i = 0; i < m->nv; i++) {
    if (!m->dof_massless[i]) continue;
    sr_messages_add(
        run->messages, SR_SEVERITY_ERROR, m->body_place[m->link_body[m->dof_link[i]]],
        "joint '%s' cannot be accelerated: nothing with mass or inertia moves with it; sr_lock_massless holds "
        "such joints where they start",
        m->joint_name[m->link_joint[m->dof_link[i]]]);
    return false;
  }
  return true;
}

// Contacts of many shapes have a sparse matrix where there are no constraint equations, by exact derivatives.
static bool check_dense(const srRun* run) {
  const srModel* m = run->m;
  const srMethod* method = run->method;
  const bool differences = run->options->tangent == SR_TANGENT_DIFFERENCE;
  if (method == NULL || m->nset == 0 || m->nv + m->ny <= MOST_DENSE || (m->ng == 0 && !differences)) return true;
  if (!method->implicit && !(method->switches && differences)) return true;
  sr_messages_add(
      run->messages, SR_SEVERITY_ERROR, m->set[0].place,
      "the implicit method '%s' has no sparse matrix for contacts of many shapes %s, and %d unknowns are too "
      "many for a dense one: %s",
      method->name, m->ng > 0 ? "in a model with constraints" : "by differences", m->nv + m->ny,
      m->ng > 0 ? "take an explicit method" : "take exact derivatives (tangent exact)");
  return false;
}

// Rigid contact and the methods that solve it belong together.
static bool check_contact(const srRun* run) {
  const srRunOptions* o = run->options;
  const bool rigid = run->method != NULL && run->method->impulses && !run->method->laws;
  const bool laws = run->method != NULL && run->method->laws && o->contact >= SR_CONTACT_EVENT;
  if (run->method == NULL || (rigid == (o->contact == SR_CONTACT_TIMESTEPPING) && !laws)) return true;
  if (rigid && run->m->ncontact == 0) return true;  // it makes no difference
  if (laws) {
    sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the method '%s' has contacts by force laws: take it with contact continuous", o->method);
  } else if (rigid) {
    sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the method '%s' solves rigid contact: take it with contact timestepping", o->method);
  } else {
    sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "contact timestepping is solved by the method moreau, not by '%s'", o->method);
  }
  return false;
}

// Laws of impacts that go together, with contacts that have them.
static bool check_impact(const srRun* run) {
  const srRunOptions* o = run->options;
  srImpactFrictionRule friction = o->impact_friction;
  srImpactOrder order = o->impact_order;
  const char* sentence = sri_impact_settle(o->impact, &friction, &order);
  if (o->contact == SR_CONTACT_TIMESTEPPING &&
      (o->impact > SR_IMPACT_RULE_NEWTON || friction == SR_IMPACT_FRICTION_SHOCK ||
       order == SR_IMPACT_ORDER_SEQUENTIAL))
    sentence =
        "contact timestepping has Newton's law of restitution for all contacts of a step together, with friction "
        "against the slip at its end: take contact event for other laws of impact, or impact newton";
  if (sentence == NULL || o->contact == SR_CONTACT_CONTINUOUS || run->m->ncontact == 0) return true;
  sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0}, "%s", sentence);
  return false;
}

// Friction that is set-valued at rest is solved with the motion, as rigid contact is.
static bool check_friction(const srRun* run) {
  const char* name = NULL;
  srPlace place = {0};
  if (run->options->contact != SR_CONTACT_CONTINUOUS || (run->method != NULL && run->method->impulses)) return true;
  const srFrictionLaw* law = sr_set_valued_friction(run->m, &name, &place);
  if (law == NULL) return true;
  sr_messages_add(run->messages, SR_SEVERITY_ERROR, place,
                  "the friction law '%s' is set-valued: the force at rest of '%s' is not a function of the motion, and "
                  "contact continuous has forces that are; take contact event, timestepping or hybrid, or a law with "
                  "bristles such as kikuuwe",
                  law->name, name);
  return false;
}

static void warn_rule(const srRun* run) {
  const srRunOptions* o = run->options;
  if (run->method == NULL || !run->method->switches || o->control == SR_CONTROL_DEFAULT) return;
  sr_messages_add(
      run->messages, SR_SEVERITY_WARNING, (srPlace){0},
      "%s switches between methods only under the default rule of the step; under another one it is explicit "
      "from beginning to end",
      o->method);
}

srStatus sr_run_check(const srRun* run) {
  const srRunOptions* o = run->options;
  if (!check_times(run) || !check_contact(run) || !check_impact(run) || !check_friction(run) || !check_massless(run) ||
      !check_dense(run))
    return SR_INPUT;
  if (run->method != NULL && run->method->laws && !sr_compliant_check(run->m, o->method, run->messages))
    return SR_INPUT;
  warn_rule(run);
  return SR_OK;
}

// ---- options of the integrator ------------------------------------------------------------------------------------------

// How the constraints are enforced. Methods that have only their own way project, or are set not to.
static void choose_way(const srMethod* method, const srRunOptions* o, srIntegratorOptions* options) {
  const srStabilization way = o->stabilization;
  if (way == SR_STABILIZATION_NONE) options->project = SR_PROJECT_NONE;
  if (!sri_method_takes(method, way)) return;
  options->partition = way == SR_STABILIZATION_PARTITION;
  options->independent = options->partition ? o->independent : NULL;
  options->augmented = way == SR_STABILIZATION_AUGMENTED;
  if (way != SR_STABILIZATION_BAUMGARTE && way != SR_STABILIZATION_AUGMENTED) return;
  options->alpha = o->alpha;
  options->beta = o->beta;
}

srIntegratorOptions sr_run_integrator_options(const srModel* m, const srRunOptions* o) {
  const srMethod* method = sri_method_find(o->method);  // NULL: sri_create reports it
  srIntegratorOptions options = o->control == SR_CONTROL_POSITIONS ? sri_positions_options() : sri_default_options();
  options.step = sr_run_is_adaptive(o) ? 0.0 : o->step;
  options.keeps_step = o->contact >= SR_CONTACT_EVENT;
  options.rtol = o->rtol;
  options.atol = o->atol;
  options.control = o->control;
  options.rho = o->rho;
  options.theta = o->theta;
  options.sleep = o->sleep;
  options.sleep_speed = o->sleep_speed;
  options.family = o->family;
  options.tangent = o->tangent;
  options.threads = o->threads;
  options.problem = o->problem;
  options.user = o->user;
  options.metric = o->metric_identity ? SR_METRIC_IDENTITY : SR_METRIC_MASS;
  options.free_rows = o->free_rows;
  if (m->constrained && method != NULL) choose_way(method, o, &options);
  return options;
}
