// Report of a run: conservation errors (energy balance, constraint violations), steps, cost.
#include <math.h>
#include <string.h>

#include "model/private.h"
#include "report/report.h"

#define MOST_MISSING 1e-2  // part of the largest energy that the balance may miss without a warning
#define SMALL_RANK 1e5     // rows times columns: the cost of the rank is cubic

#define WORD(NAME, word) word,
static const char* const stabilizations[] = {SR_STABILIZATION_LIST(WORD)};
static const char* const controls[] = {SR_CONTROL_LIST(WORD)};
static const char* const accounts[] = {SR_ACCOUNT_LIST(WORD)};
static const char* const impacts[] = {SR_IMPACT_RULE_LIST(WORD)};
static const char* const impact_frictions[] = {SR_IMPACT_FRICTION_LIST(WORD)};
static const char* const impact_orders[] = {SR_IMPACT_ORDER_LIST(WORD)};
#undef WORD

// ------------------------------------------------------------------------------------------------------------ options
// Does the word describe how this method enforces the constraints? Methods that only project do so in their own way.
bool sr_run_is_stabilized(const srRunOptions* o) {
  const srMethod* method = sri_method_find(o->method);
  const srStabilization s = o->stabilization;
  if (method == NULL || method->index == 0) return true;
  return s != SR_STABILIZATION_NONE && s != SR_STABILIZATION_PROJECTION && sri_method_takes(method, s);
}

static const char* stabilization_of(const srRunOptions* o) {
  const bool named = sr_run_is_stabilized(o) || o->stabilization == SR_STABILIZATION_NONE;
  return named ? stabilizations[o->stabilization] : "own";
}

// Tolerances and steps that the method does not use.
static void warn_accuracy(const srRunOptions* o, const srMethod* method, const srRunGiven* given,
                          srMessages* messages) {
  const bool adaptive = sr_run_is_adaptive(o);
  if (adaptive && o->rtol + o->atol < 1e-15)
    sr_report_warn(messages, "rtol %g and atol %g are below what numbers of 16 digits hold: steps will be very small",
                   o->rtol, o->atol);
  if (adaptive && given->step && o->contact != SR_CONTACT_HYBRID)
    sr_report_warn(messages, "--step is for methods of fixed step and for --control fixed; %s chooses its own",
                   o->method);
  // Implicit methods solve their equations to a part of the tolerances, with a fixed step too.
  if (!adaptive && !method->implicit && (given->rtol || given->atol))
    sr_report_warn(messages, "--rtol and --atol are for adaptive methods; %s has a fixed step of %g s", o->method,
                   o->step);
  if (!method->adaptive && given->control && o->control != SR_CONTROL_FIXED)
    sr_report_warn(messages, "--control is for adaptive methods; %s has a fixed step of %g s", o->method, o->step);
}

void sr_warn_method_options(const srRunOptions* o, const srRunGiven* given, srMessages* messages) {
  const srMethod* method = sri_method_find(o->method);
  if (!method) return;
  warn_accuracy(o, method, given, messages);
  if (strncmp(method->name, "genalpha", 8) != 0 && (given->rho || given->family))
    sr_report_warn(messages, "--rho and --family are for the genalpha methods; %s has no such parameters",
                   method->name);
  if (!method->impulses && o->contact != SR_CONTACT_HYBRID && given->theta)
    sr_report_warn(messages, "--theta is for the methods moreau and moreau-compliant; %s has no such parameter",
                   method->name);
  if (!method->impulses && o->contact != SR_CONTACT_HYBRID && given->sleep)
    sr_report_warn(messages,
                   "--sleep and --sleep-speed are for the methods moreau and moreau-compliant; by %s nothing sleeps",
                   method->name);
  if (!method->implicit && !method->switches && given->tangent)
    sr_report_warn(messages, "--tangent is for implicit methods; %s solves no equations with it", method->name);
  if (o->contact == SR_CONTACT_CONTINUOUS && (given->impact || given->impact_friction || given->impact_order))
    sr_report_warn(
        messages,
        "--impact, --impact-friction and --impact-order are for --contact event and hybrid; contacts act by their "
        "force laws");
}

void sr_warn_constraint_options(const srModel* m, const srRunOptions* o, const srRunGiven* given,
                                srMessages* messages) {
  const bool weights = given->alpha || given->beta, own = !sr_run_is_stabilized(o);
  const srStabilization s = o->stabilization;
  if (!m->constrained) {
    if (given->stabilization || weights || given->metric || o->independent)
      sr_report_warn(messages,
                     "--stabilization, --alpha, --beta, --metric and --partition are for closed loops; the equations "
                     "have none");
    return;
  }
  if (own && given->stabilization && s != SR_STABILIZATION_NONE)
    sr_report_warn(messages, "--stabilization %s is for explicit methods; %s keeps the constraints in its own way",
                   stabilizations[s], o->method);
  if (weights && (own || (s != SR_STABILIZATION_BAUMGARTE && s != SR_STABILIZATION_AUGMENTED)))
    sr_report_warn(messages, "--alpha and --beta are for --stabilization baumgarte and augmented; this run has %s",
                   own ? o->method : stabilizations[s]);
  if (given->metric && !own && s != SR_STABILIZATION_PROJECTION)
    sr_report_warn(messages, "--metric is for projections; this run has --stabilization %s", stabilizations[s]);
}

void sr_warn_redundancy(const srModel* m, srData* d, srMessages* messages) {
  srRank* rank = NULL;
  const bool small = (double)m->ng * m->nv <= SMALL_RANK;
  if (m->constrained && small && sr_rank_create(m, d, &rank) == SR_OK) sr_warn_rank(m, rank, messages);
  sr_rank_destroy(rank);
}

// "rtol 1e-06, atol 1e-08" or "step 0.001 s".
static void show_settings(srText* out, const srRunOptions* o) {
  if (sr_run_is_adaptive(o))
    sr_text_print(out, "rtol %g, atol %g%s", o->rtol, o->atol,
                  o->control == SR_CONTROL_POSITIONS ? ", control positions" : "");
  else
    sr_text_print(out, "step %g s", o->step);
}

void sr_report_run_provenance(const srModel* m, const srRunOptions* o, const char* file, const srSetting* settings,
                              int nsetting, srText* out) {
  sr_text_print(out, "sarrus %s; model %s", sr_version(), m->name);
  if (file) sr_text_print(out, " (%s)", file);
  sr_text_print(out, "; %s; ", o->method);
  show_settings(out, o);
  sr_text_print(out, "; t-end %g s, every %g s", o->t_end, o->every);
  if (m->absolute) sr_text_print(out, "; %s", sr_formulation_word(m->formulation));
  for (int i = 0; i < nsetting; i++)
    sr_text_print(out, "%s %s=%s", i ? "," : "; set", settings[i].name, settings[i].value);
}

// --------------------------------------------------------------------------------------------------------- conclusion
// An energy balance that does not close is the surest sign of steps that are too long for the model.
static void warn_energy_balance(const srRunOptions* o, const srEnergy* e, srMessages* messages) {
  // Where the books explain no energy at all, all of it is missing.
  const double missing = e->scale > 0 ? fabs(e->residual) / e->scale : e->residual != 0;
  if (missing < MOST_MISSING) return;
  sr_report_warn(messages, "the energy balance misses %.2g J, %.2g of the largest energy: take a smaller %s",
                 e->residual, missing, sr_run_is_adaptive(o) ? "rtol and atol" : "step");
}

void sr_run_conclude(const srModel* m, srData* d, const srRunOptions* o, const srRunResult* result,
                     srMessages* messages) {
  warn_energy_balance(o, &result->energy, messages);
  if (!o->row) sr_warn_sensors(m, d, messages);
}

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_energy(srJson* json, const srEnergy* e) {
  sr_json_object(json, "energy");
  sr_json_number(json, "kinetic", e->kinetic);
  sr_json_number(json, "potential", e->potential);
  sr_json_number(json, "kinetic0", e->kinetic0);
  sr_json_number(json, "potential0", e->potential0);
  sr_json_object(json, "work");
  for (int i = 0; i < SR_ACCOUNTS; i++)
    if (i < SR_ACCOUNT_FRICTION) sr_json_number(json, accounts[i], e->work[i]);
  sr_json_object_end(json);
  const double friction_dissipation = 0 - e->work[SR_ACCOUNT_FRICTION], pressed = 0 - e->work[SR_ACCOUNT_CONTACT];
  sr_json_number(json, "dissipated",
                 friction_dissipation + pressed - e->work[SR_ACCOUNT_DISSIPATED]);  // all dissipation, >= 0
  sr_json_object(json, "dissipation");                                              // parts of it
  sr_json_number(json, "friction", friction_dissipation);
  sr_json_number(json, "contact", pressed);
  sr_json_object_end(json);
  sr_json_number(json, "residual", e->residual);
  sr_json_number(json, "scale", e->scale);
  sr_json_object_end(json);
}

static void put_events(srJson* json, const srRunResult* x) {
  sr_json_array(json, "events");
  for (int i = 0; i < x->nevent; i++) {
    char text[sizeof x->event[i].reason];
    sr_json_object(json, NULL);
    sr_json_number(json, "t", x->event[i].t);
    sr_json_text(json, "kind", x->event[i].kind);
    sr_json_text(json, "a", x->event[i].a);
    sr_json_text(json, "b", x->event[i].b);
    sr_json_text(json, "why", sr_run_event_reason(&x->event[i], text));
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_int(json, "event_count", x->event_count);
}

typedef struct ImpactLaw {
  srImpactFrictionRule friction;
  srImpactOrder order;
} ImpactLaw;

// What `auto` stands for in the options.
static ImpactLaw impact_law(const srRunOptions* o) {
  ImpactLaw law = {o->impact_friction, o->impact_order};
  (void)sri_impact_settle(o->impact, &law.friction, &law.order);
  return law;
}

static void put_impact(srJson* json, const srRunOptions* o, const srImpactCount* x) {
  const bool events = o->contact >= SR_CONTACT_EVENT;
  const ImpactLaw law = impact_law(o);
  sr_json_object(json, "impact");
  sr_json_text(json, "law", events ? impacts[o->impact] : "newton");
  sr_json_text(json, "friction", impact_frictions[law.friction]);
  sr_json_text(json, "order", impact_orders[law.order]);
  if (events) {
    sr_json_int(json, "newton", x->newton);
    sr_json_int(json, "poisson", x->poisson);
    sr_json_int(json, "stronge", x->stronge);
    sr_json_int(json, "reduced", x->reduced);
    sr_json_int(json, "collisions", x->collisions);
    sr_json_int(json, "longest", x->longest);
    sr_json_int(json, "endless", x->endless);
  }
  sr_json_object_end(json);
}

static void put_switches(srJson* json, const srRunResult* x) {
  sr_json_array(json, "switches");
  for (int i = 0; i < x->nswitch; i++) {
    sr_json_object(json, NULL);
    sr_json_number(json, "t", x->switches[i].t);
    sr_json_text(json, "from", x->switches[i].from);
    sr_json_text(json, "to", x->switches[i].to);
    sr_json_text(json, "why", x->switches[i].reason);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_int(json, "switch_count", x->stats.switches);
}

// Approach velocities of the contacts, 0: open. With q, v, y the complete state of a run.
static void put_touch(srJson* json, const srModel* m, const srData* d) {
  bool any = false;
  for (int i = 0; i < m->nforce; i++) {
    if (m->force[i].z < 0) continue;
    if (!any) sr_json_array(json, "approach_velocity");
    any = true;
    const double* z = d->z + m->force[i].z;
    sr_json_number(json, NULL, z[SR_Z_CLOSED] != 0 ? z[SR_Z_SPEED] : 0);
  }
  if (any) sr_json_array_end(json);
}

// The contacts of sets that are there now, each with slot, shapes, speed and states.
static void put_instances(srJson* json, const srModel* m, const srData* d) {
  const int n = m->nset > 0 ? sr_instance_numbers(m, d, NULL) : -1;
  double* x = n >= 0 ? sr_alloc((size_t)(n + 1) * sizeof *x) : NULL;
  if (x == NULL) return;
  (void)sr_instance_numbers(m, d, x);
  sr_json_numbers(json, "instances", x, n);
  sr_free(x);
}

// State of a model whose bodies are free, 7 and 6 numbers a body.
static void put_bodies(srJson* json, const srModel* m, const srData* d) {
  sr_json_object(json, "bodies");
  sr_json_numbers(json, "q", d->q, m->nq);
  sr_json_numbers(json, "v", d->v, m->nv);
  sr_json_object_end(json);
}

// Over the contacts of large islands.
static double sweeps_of_step(const srRunResult* x) {
  return x->stats.steps > 0 ? (double)x->sweeps / (double)x->stats.steps : 0;
}

static void put_run(const srRunReport* r, srText* out) {
  const srModel* m = r->m;
  srData* d = r->d;
  const srRunOptions* o = r->options;
  const srRunResult* x = r->result;
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "method", o->method);
  if (o->control != SR_CONTROL_DEFAULT) sr_json_text(&json, "control", controls[o->control]);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_text(&json, "contact", r->contact);
  if (m->priv->generated.asked) {
    sr_json_bool(&json, "generated", m->priv->kernels != NULL);
    sr_json_text(&json, "generated_why", m->priv->kernels != NULL ? NULL : m->priv->generated.reason);
  }
  if (r->start) sr_json_text(&json, "start", r->start);
  sr_json_number(&json, "t", x->t);
  sr_json_numbers(&json, "q", d->jq, m->njq);
  sr_json_numbers(&json, "v", d->jv, m->njv);
  if (m->absolute) put_bodies(&json, m, d);
  sr_json_numbers(&json, "y", d->y, m->ny - m->ny_slot);
  put_touch(&json, m, d);
  put_instances(&json, m, d);
  sr_json_numbers(&json, "lambda", d->lambda, m->ng);
  if (m->constrained) {
    sr_json_text(&json, "stabilization", stabilization_of(o));
    sr_json_int(&json, "rank", d->rank);
  }
  sr_put_assembly(&json, m, r->assembly);
  sr_put_sensors(&json, m, d, false);
  sr_json_int(&json, "steps", x->stats.steps);
  sr_json_int(&json, "rejected", x->stats.rejected);
  sr_json_int(&json, "evaluations", x->stats.evaluations);
  if (sri_method_find(o->method)->switches) put_switches(&json, x);
  put_events(&json, x);
  sr_put_violation(&json, x->violation_position, x->violation_velocity, x->violation_acceleration);
  put_energy(&json, &x->energy);
  sr_json_int(&json, "impacts", x->impacts);
  sr_json_int(&json, "clamps", x->clamps);
  sr_json_number(&json, "penetration", x->penetration);
  if (o->contact != SR_CONTACT_CONTINUOUS) {
    put_impact(&json, o, &x->impact);
    sr_json_number(&json, "complementarity", x->complementarity);
    sr_json_int(&json, "problems", x->problems);
    sr_json_int(&json, "unsolved", x->unsolved);
    sr_json_number(&json, "sweeps", sweeps_of_step(x));
    sr_json_int(&json, "contacts_solved", x->contacts_solved);
    sr_json_int(&json, "asleep", x->asleep);
    if (o->contact != SR_CONTACT_TIMESTEPPING) {
      sr_json_int(&json, "rank_changes", x->stats.rank_changes + x->stats.rank_phases);
      sr_json_int(&json, "redundant", x->stats.redundant_most);
    }
  }
  sr_json_int(&json, "jumps", x->jumps);
  sr_json_int(&json, "limits_passed", x->limits_passed);
  sr_json_number(&json, "seconds", x->seconds);
  if (r->out) sr_json_text(&json, "out", r->out);
  sr_json_warnings(&json, r->messages);
  if (r->error_message) sr_json_text(&json, "error_message", r->error_message);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_impact(srText* out, const srRunOptions* o, const srImpactCount* x) {
  static const char* const laws[] = {"Poisson's law with friction, else Newton's", "Newton's law", "Poisson's law",
                                     "Stronge's law"};
  if (o->contact == SR_CONTACT_TIMESTEPPING) {
    sr_show_line(out, "impacts",
                 "all contacts of a step together by Newton's law, friction against the slip at its end");
    return;
  }
  const ImpactLaw law = impact_law(o);
  sr_show_line(out, "impacts", "%s by %s, friction against the slip %s",
               law.order == SR_IMPACT_ORDER_SEQUENTIAL ? "one contact after the other, the fastest first,"
                                                       : "all contacts together",
               laws[o->impact], law.friction == SR_IMPACT_FRICTION_SHOCK ? "at every moment" : "after each phase");
  if (o->contact == SR_CONTACT_HYBRID)
    sr_show_line(out, "", "while time-stepping: Newton's law, all contacts of a step together");
  if (x->longest > 1) sr_show_line(out, "", "at most %ld of them at one instant", x->longest);
  if (x->endless > 0) sr_show_line(out, "", "%ld sequences without an end, ended by an inelastic impact", x->endless);
  if (x->reduced > 0) sr_show_line(out, "", "%ld with less restitution, which would have gained energy", x->reduced);
}

// Which law of impact, and how well its problems were solved.
static void show_complementarity(srText* out, const srRunReport* r) {
  const srRunResult* x = r->result;
  show_impact(out, r->options, &x->impact);
  sr_show_line(out, "complementarity", "%ld problems, %ld not solved, largest residual %.3g m/s", x->problems,
               x->unsolved, x->complementarity);
}

static void show_energy(srText* out, const srEnergy* e) {
  static const char* const labels[SR_ACCOUNTS] = {"work of applied forces",  "work of joint laws",  "work of links",
                                                  "work of external forces", "work of user laws",   "work of drivers",
                                                  "friction dissipation",    "contact dissipation", "dissipated"};
  sr_text_print(out, "energy                          start              end           change   J\n");
  sr_text_print(out, "  %-22s %14.7g   %14.7g   %14.7g\n", "kinetic", e->kinetic0, e->kinetic,
                e->kinetic - e->kinetic0);
  sr_text_print(out, "  %-22s %14.7g   %14.7g   %14.7g\n", "potential", e->potential0, e->potential,
                e->potential - e->potential0);
  for (int i = 0; i < SR_ACCOUNTS; i++)
    if (e->work[i] != 0) sr_text_print(out, "  %-22s %48.7g\n", labels[i], e->work[i]);
  sr_text_print(out, "  %-22s %48.3g   (%.1e of the largest energy)\n", "residual", e->residual,
                e->scale > 0 ? fabs(e->residual) / e->scale : 0.0);
}

static void show_switches(srText* out, const srRunResult* x) {
  enum { SHOWN = 6 };
  for (int i = 0; i < x->nswitch && i < SHOWN; i++) {
    const srSwitch* s = &x->switches[i];
    sr_show_line(out, "", "%s from t = %.6g s on: %s", s->to, s->t, s->reason);
  }
  if (x->stats.switches > SHOWN) sr_show_line(out, "", "%ld changes of method in all, see --json", x->stats.switches);
}

// State and sensors in full.
static void show_end(const srRunReport* r, srText* out) {
  const srModel* m = r->m;
  sr_show_values(out, "at the end: positions q", m->q_name, m->q_unit, r->d->jq, m->njq);
  sr_show_values(out, "velocities v", m->v_name, m->v_unit, r->d->jv, m->njv);
  sr_show_values(out, "states y", m->y_name, NULL, r->d->y, m->ny - m->ny_slot);
  sr_show_sensors(out, m, r->d);
}

// The first sensors with a line each, and how much there is besides.
static void show_end_briefly(const srRunReport* r, srText* out) {
  enum { SHOWN = 6 };
  const srModel* m = r->m;
  sr_text_print(out, "at the end\n");
  sr_show_sensor_positions(out, m, r->d, SHOWN);
  sr_show_line(out, "not shown", "%d positions, %d velocities, %d states, %d sensors; --verbose prints them", m->njq,
               m->njv, m->ny - m->ny_slot, m->nsensor);
}

static int end_lines(const srModel* m) {
  int n = m->njq + m->njv + m->ny - m->ny_slot;
  for (int i = 0; i < m->nsensor; i++) n += m->sensor[i].point < 0 ? 1 : 5;
  return n;
}

static void show_events(const srRunReport* r, srText* out) {
  const srRunResult* x = r->result;
  const int shown = r->verbose ? x->nevent : 5;
  char text[sizeof x->event[0].reason];
  for (int i = 0; i < x->nevent && i < shown; i++)
    sr_show_line(out, i == 0 ? "events" : "", "at t = %.9g: %s", x->event[i].t,
                 sr_run_event_reason(&x->event[i], text));
  if (x->event_count > shown) sr_show_line(out, "", "%ld events in all, see --json", x->event_count);
}

static void show_run(const srRunReport* r, srText* out) {
  const srModel* m = r->m;
  const srRunResult* x = r->result;
  sr_text_print(out, "model %s, %s\n", m->name, r->file);
  if (m->absolute) sr_show_line(out, "formulation", "%s", sr_formulation_word(m->formulation));
  sr_text_print(out, "  %-22s %s, ", "method", r->options->method);
  show_settings(out, r->options);
  sr_text_add(out, "\n", 1);
  show_switches(out, x);
  if (m->priv->generated.asked)
    sr_show_line(out, "generated code", "%s", m->priv->kernels != NULL ? "yes" : m->priv->generated.reason);
  if (m->constrained) sr_show_line(out, "stabilization", "%s", stabilization_of(r->options));
  sr_show_assembly(out, m, r->assembly);
  sr_show_line(out, "time reached", "%.9g s of %.9g s", x->t, r->options->t_end);
  sr_show_line(out, "steps", "%ld accepted, %ld rejected", x->stats.steps, x->stats.rejected);
  if (x->stats.steps > 0)
    sr_show_line(out, "step length", "%.3g to %.3g s", x->stats.step_smallest, x->stats.step_largest);
  sr_show_line(out, "cost", "%ld evaluations, %.3g s", x->stats.evaluations, x->seconds);
  if (m->ncontact > 0)
    sr_show_line(out, "contacts", "%ld impacts, %ld with the normal force clamped at zero, at most %.3g m deep",
                 x->impacts, x->clamps, x->penetration);
  if (m->ncontact > 0 && r->options->contact != SR_CONTACT_CONTINUOUS) show_complementarity(out, r);
  if (x->limits_passed > 0) sr_show_line(out, "joint limits", "passed in %ld steps", x->limits_passed);
  show_energy(out, &x->energy);
  if (m->ng > 0 || m->absolute) {
    sr_text_print(out, "largest violation of the %s\n", m->constrained ? "constraints" : "driven coordinates");
    sr_show_line(out, "position", "%.3g", x->violation_position);
    sr_show_line(out, "velocity", "%.3g", x->violation_velocity);
    sr_show_line(out, "acceleration", "%.3g", x->violation_acceleration);
  }
  show_events(r, out);
  enum { FITS = 16 };  // lines on a screen, below what comes before
  if (r->verbose || end_lines(m) <= FITS)
    show_end(r, out);
  else
    show_end_briefly(r, out);
  if (r->out) sr_text_print(out, "results: %s (%ld rows, %d columns)\n", r->out, x->rows, r->columns);
  if (r->error_message) sr_text_print(out, "THE RUN STOPPED EARLY: %s\n", r->error_message);
}

void sr_report_run(const srRunReport* run, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_run(run, out);
  else
    show_run(run, out);
}
