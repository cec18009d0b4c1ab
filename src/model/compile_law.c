// States, sensors, drivers; the programs that evaluate all formulas of the model at once.
#include <math.h>
#include <string.h>

#include "model/compile.h"

#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

int sr_c_root(srCompiler* c, srNode node) {
  SR_PUSH(&c->scratch, c->roots, c->nroot, c->root_capacity) = node;
  return c->nroot - 1;
}

bool sr_c_of_time_alone(const srCompiler* c, srNode node) {
  for (int kind = 0; kind < SR_VAR_KINDS; kind++) {
    if (kind != SR_VAR_TIME && sr_graph_depends(c->graph, node, (srVarKind)kind)) return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------- switches
void sr_c_hold(srCompiler* c, const srNode* roots, int n, const char* const* name) {
  srSwitchNode* found = NULL;
  const int count = sr_graph_hold(c->graph, roots, n, c->nswitch, &found);
  for (int i = 0; i < count; i++) {
    SR_PUSH(&c->scratch, c->switches, c->nswitch, c->switch_capacity) = found[i];
    SR_PUSH(&c->scratch, c->switch_name, c->nswitch_name, c->switch_name_capacity) =
        name != NULL ? name[found[i].root] : NULL;
  }
}

static void compile_kinks(srCompiler* c, const srNode* roots) {
  struct srModelPrivate* priv = c->priv;
  srNode* found = NULL;
  priv->nkink = sr_graph_kinks(c->graph, roots, c->nroot, &found);
  priv->kinks = sr_program_create(c->pool, c->graph, found, priv->nkink);
  for (int i = 0; i < priv->nkink; i++) {
    const bool own = !c->m->absolute && !sr_graph_depends(c->graph, found[i], SR_VAR_SENSOR) &&
                     !sr_graph_depends(c->graph, found[i], SR_VAR_ARG);
    priv->kinks_measure = priv->kinks_measure || !own;
  }
}

// All formulas but those of sensors, which have no effect on the motion.
static void hold_laws(srCompiler* c) {
  srNode* roots = sr_pool_alloc(&c->scratch, ((size_t)c->nroot + 1) * sizeof *roots);
  const srNode nothing = sr_graph_const(c->graph, 0);
  if (c->nroot > 0) memcpy(roots, c->roots, (size_t)c->nroot * sizeof *roots);
  for (int i = 0; i < c->m->nsensor; i++) {
    if (c->m->sensor[i].formula >= 0) roots[c->m->sensor[i].formula] = nothing;
  }
  sr_c_hold(c, roots, c->nroot, NULL);
  compile_kinks(c, roots);
}

// The owner of the formula of a root of the law program.
static const char* owner_of(srCompiler* c, int root) {
  const int state = root - c->priv->formula_rate;
  if (state >= 0 && state < c->priv->ny_user) {
    return sr_pool_text(c->pool, sr_c_text(c, SR_ELEMENT_STATE, state, SR_FIELD(srStateDef, name)));
  }
  const srForceElement* owner = NULL;
  for (int i = 0; i < c->m->nforce; i++) {
    const srForceElement* e = &c->m->force[i];
    if (e->formula >= 0 && e->formula <= root && (owner == NULL || e->formula > owner->formula)) owner = e;
  }
  return owner != NULL ? owner->name : "a law";
}

static void compile_switches(srCompiler* c) {
  struct srModelPrivate* priv = c->priv;
  srLawSwitch* switches = NEW(c, srLawSwitch, c->nswitch);
  srNode* roots = sr_pool_alloc(&c->scratch, ((size_t)c->nswitch + 1) * sizeof *roots);
  priv->switches_of_time = true;
  for (int i = 0; i < c->nswitch; i++) {
    const srSwitchNode* x = &c->switches[i];
    switches[i].op = sr_graph_view(c->graph, x->node).op;
    switches[i].of_motion = c->switch_name[i] != NULL;
    switches[i].name = switches[i].of_motion ? c->switch_name[i] : owner_of(c, x->root);
    roots[i] = sr_graph_switch(c->graph, x->node);
    switches[i].of_time = sr_c_of_time_alone(c, roots[i]);
    priv->switches_of_time = priv->switches_of_time && switches[i].of_time;
  }
  priv->nswitch = c->nswitch;
  priv->of_switch = switches;
  priv->switches = sr_program_create(c->pool, c->graph, roots, c->nswitch);
}

// --------------------------------------------------------------------------------------------------------- states
// Their names first: rates and force laws may use any of them.
static void name_states(srCompiler* c) {
  const int n = srs_count(c->spec, SR_ELEMENT_STATE);
  c->priv->nstate = n;
  c->priv->ny_user = n + c->nvarying;
  for (int i = 0; i < n; i++) {
    const char* name = sr_c_text(c, SR_ELEMENT_STATE, i, SR_FIELD(srStateDef, name));
    srPlace place = sr_c_place(c, SR_ELEMENT_STATE, i, SR_FIELD(srStateDef, name));
    if (!name) continue;
    if (sr_names_find(&c->parameters, name) >= 0) sr_c_error(c, place, "'%s' is a parameter already", name);
    if (sr_c_new_name(c, &c->states, name, i, "state", place)) sr_c_know(c, name);
  }
}

// Rates come first in the law program, one for each state.
static void state_rates(srCompiler* c) {
  c->priv->formula_rate = c->nroot;
  for (int i = 0; i < c->priv->ny_user; i++) {
    srNode node = SR_NO_NODE;
    if (i < srs_count(c->spec, SR_ELEMENT_STATE)) {
      sr_c_laws(c, SR_ELEMENT_STATE, i, SR_FIELD(srStateDef, rate), &node, 1);
    }
    sr_c_root(c, node == SR_NO_NODE ? sr_graph_const(c->graph, 0) : node);
  }
}

// -------------------------------------------------------------------------------------------------------- sensors
static bool frame_sensor(srCompiler* c, int i, srSensor* sensor) {
  sensor->point = sr_c_point(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, point));
  sensor->relative_to = sr_c_point(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, relative_to));
  return sensor->point >= 0 && sensor->relative_to >= 0;
}

// One number of the motion of a frame: a formula of the recorded quantity law(NAME), record/quantity_law.c.
static bool law_sensor(srCompiler* c, int i, srSensor* sensor) {
  const int field = SR_FIELD(srSensorDef, law);
  const char* law = sr_c_text(c, SR_ELEMENT_SENSOR, i, field);
  sensor->law_point = sr_c_point(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, point));
  sensor->relative_to = sr_c_point(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, relative_to));
  sensor->law = sr_c_sensor_law(c, law, sr_c_place(c, SR_ELEMENT_SENSOR, i, field));
  if (!sensor->law || sensor->law_point < 0 || sensor->relative_to < 0) return false;
  sensor->nparameter = sr_c_law_parameters(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, parameters), law,
                                           sensor->law->np, &sensor->parameter);
  c->formula_place = sr_c_place(c, SR_ELEMENT_SENSOR, i, field);
  const srNode node = sr_c_record(c, sr_pool_printf(&c->scratch, "law(%s)", sensor->name));
  SR_PUSH(&c->scratch, c->late, c->nlate, c->late_capacity) = node;
  sensor->late = c->nlate - 1;
  return sensor->nparameter >= 0;
}

static bool formula_sensor(srCompiler* c, int i, srSensor* sensor) {
  srNode node;
  c->records_open = true;
  const int n = sr_c_laws(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, expr), &node, 1);
  c->records_open = false;
  if (n != 1) return false;
  if (sr_graph_depends(c->graph, node, SR_VAR_RECORD)) {
    SR_PUSH(&c->scratch, c->late, c->nlate, c->late_capacity) = node;
    sensor->late = c->nlate - 1;
  } else {
    sensor->formula = sr_c_root(c, node);
  }
  return true;
}

static void compile_sensor(srCompiler* c, int i, srSensor* sensor) {
  const srSensorDef* def = srs_get(c->spec, SR_ELEMENT_SENSOR, i);
  const char* name = sr_c_text(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, name));
  const char* unit = sr_c_text(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, unit));
  *sensor = (srSensor){.name = sr_pool_text(c->pool, name), .point = -1, .formula = -1, .late = -1, .value = -1};
  sensor->unit = unit ? sr_pool_text(c->pool, unit) : "";
  if (!name) return;
  if (sr_given(def->point) == sr_given(def->expr) || (sr_given(def->law) && sr_given(def->expr))) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_SENSOR, i),
               "sensor '%s' takes either 'point', which a 'law' may come with, or 'expr'", name);
    sr_c_lose(c, sensor->name);
    return;
  }
  if (sr_given(def->expr)  ? formula_sensor(c, i, sensor)
      : sr_given(def->law) ? law_sensor(c, i, sensor)
                           : frame_sensor(c, i, sensor)) {
    sr_c_new_name(c, &c->sensors, name, i, "sensor", sr_c_place(c, SR_ELEMENT_SENSOR, i, SR_FIELD(srSensorDef, name)));
  } else {
    sr_c_lose(c, sensor->name);
  }
}

void sr_compile_sensors(srCompiler* c) {
  srModel* m = c->m;
  name_states(c);
  m->nsensor = srs_count(c->spec, SR_ELEMENT_SENSOR);
  srSensor* sensors = NEW(c, srSensor, m->nsensor);
  m->sensor = sensors;
  for (int i = 0; i < m->nsensor; i++) compile_sensor(c, i, &sensors[i]);
  state_rates(c);
}

// -------------------------------------------------------------------------------------------------------- drivers
int sr_c_coordinate(srCompiler* c, srElementKind kind, int i, int joint, int coordinate, int* qdof, int* joint_index) {
  const srModel* m = c->m;
  const char* name = sr_c_text(c, kind, i, joint);
  double k;
  if (!name || !sr_c_number(c, kind, i, coordinate, &k)) return -1;
  const int j = sr_c_find(c, &c->joints, name, "joint", sr_c_place(c, kind, i, joint));
  if (j < 0) return -1;
  if (k < 0 || k != floor(k) || k >= m->joint_nv[j]) {
    sr_c_error(c, sr_c_place(c, kind, i, coordinate), "joint '%s' has %d velocity coordinate%s, counted from 0; got %g",
               name, m->joint_nv[j], m->joint_nv[j] == 1 ? "" : "s", k);
    return -1;
  }
  *joint_index = j;
  *qdof = sr_joint_kind((srJointType)m->joint_type[j])->scalar ? m->joint_q[j] + (int)k : -1;
  return m->joint_v[j] + (int)k;
}

static void compile_driver(srCompiler* c, int i, srDriver* driver, int* dof_driver) {
  int joint = 0;
  srNode node;
  const srPlace place = sr_c_kept_place(c, SR_ELEMENT_DRIVER, i);
  driver->place = place;
  driver->dof = sr_c_coordinate(c, SR_ELEMENT_DRIVER, i, SR_FIELD(srDriverDef, joint),
                                SR_FIELD(srDriverDef, coordinate), &driver->qdof, &joint);
  if (sr_c_laws(c, SR_ELEMENT_DRIVER, i, SR_FIELD(srDriverDef, motion), &node, 1) != 1 || driver->dof < 0) return;
  driver->name = c->m->v_name[driver->dof];
  if (driver->qdof < 0) {
    sr_c_error(c, place, "joint '%s' is a %s joint: its coordinates cannot be driven one by one",
               c->m->joint_name[joint], sr_joint_word((srJointType)c->m->joint_type[joint]));
  } else if (dof_driver[driver->dof] >= 0) {
    sr_c_error(c, place, "coordinate '%s' has two drivers", driver->name);
  } else if (!sr_c_of_time_alone(c, node)) {
    sr_c_error(
        c, sr_c_place(c, SR_ELEMENT_DRIVER, i, SR_FIELD(srDriverDef, motion)),
        "the motion of a driver is a formula of t and parameters alone, which are neither live nor set by events");
  }
  dof_driver[driver->dof] = i;
  const srNode t = sr_graph_var(c->graph, SR_VAR_TIME, 0);
  srNode* roots = c->driver_roots + 3 * i;
  roots[0] = node;
  roots[1] = sr_graph_derive(c->graph, node, t);
  roots[2] = sr_graph_derive(c->graph, roots[1], t);
}

// Driven coordinates start on their motion; a different initial value in the file is reported.
static void start_drivers(srCompiler* c, const srDriver* drivers) {
  srModel* m = c->m;
  double* out = sr_pool_alloc(&c->scratch, (size_t)(3 * m->ndriver) * sizeof *out);
  double* work = sr_pool_alloc(&c->scratch, (size_t)(sr_program_work(c->priv->drivers) + 1) * sizeof *work);
  sr_program_evaluate(c->priv->drivers, &(srInputs){.t = 0}, work, out);
  for (int i = 0; i < m->ndriver; i++) {
    double* q = (double*)&m->q0[drivers[i].qdof];
    double* v = (double*)&m->v0[drivers[i].dof];
    if ((*q != 0 && fabs(*q - out[3 * i]) > 1e-9) || (*v != 0 && fabs(*v - out[3 * i + 1]) > 1e-9)) {
      sr_c_warning(c, drivers[i].place,
                   "coordinate '%s' starts at %.9g, %.9g of its driver, not at the joint's %.9g, %.9g", drivers[i].name,
                   out[3 * i], out[3 * i + 1], *q, *v);
    }
    *q = out[3 * i];
    *v = out[3 * i + 1];
  }
}

void sr_compile_drivers(srCompiler* c) {
  srModel* m = c->m;
  const int errors = sr_c_errors(c);
  m->ndriver = srs_count(c->spec, SR_ELEMENT_DRIVER);
  srDriver* drivers = NEW(c, srDriver, m->ndriver);
  int* dof_driver = NEW(c, int, m->nv);
  for (int i = 0; i < m->nv; i++) dof_driver[i] = -1;
  c->driver_roots = NEW(c, srNode, 3 * m->ndriver);
  c->priv->driver_root = c->driver_roots;
  for (int i = 0; i < m->ndriver; i++) compile_driver(c, i, &drivers[i], dof_driver);
  m->driver = drivers;
  m->dof_driver = dof_driver;
  if (sr_c_errors(c) > errors) return;
  const char** owner = sr_pool_alloc(&c->scratch, (size_t)(3 * m->ndriver + 1) * sizeof *owner);
  for (int i = 0; i < 3 * m->ndriver; i++) owner[i] = drivers[i / 3].name;
  sr_c_hold(c, c->driver_roots, 3 * m->ndriver, owner);
  c->priv->drivers = sr_program_create(c->pool, c->graph, c->driver_roots, 3 * m->ndriver);
  if (!m->absolute) start_drivers(c, drivers);
}

// ------------------------------------------------------------------------------------------------------- programs
static bool has_only_contacts(const srModel* m) {
  if (m->absolute || m->ndriver > 0 || m->nformula > 0 || m->nsensor_value > 0 || m->ndistance_arg > 0) return false;
  for (int i = 0; i < m->nforce; i++) {
    if (m->force[i].contact == NULL || m->force[i].contact->law == NULL) return false;
  }
  return m->priv->ny_user == 0;
}

void sr_compile_programs(srCompiler* c) {
  srModel* m = c->m;
  hold_laws(c);
  compile_switches(c);
  c->priv->laws = sr_program_create(c->pool, c->graph, c->roots, c->nroot);
  m->nformula = c->nroot;
  srNode* kept = NEW(c, srNode, c->nroot);
  if (c->nroot > 0) memcpy(kept, c->roots, (size_t)c->nroot * sizeof *kept);
  c->priv->law_root = kept;
  double* y0 = NEW(c, double, m->ny);
  const char** names = NEW(c, const char*, m->ny);
  const int nstate = srs_count(c->spec, SR_ELEMENT_STATE);
  for (int i = 0; i < nstate; i++) {
    sr_c_number(c, SR_ELEMENT_STATE, i, SR_FIELD(srStateDef, initial), &y0[i]);
    names[i] = sr_pool_text(c->pool, sr_c_text(c, SR_ELEMENT_STATE, i, SR_FIELD(srStateDef, name)));
  }
  for (int i = 0; i < c->nvarying; i++) {
    (void)sr_graph_constant(c->graph, sr_names_find(&c->parameters, c->of_varying[i]), &y0[nstate + i]);
    names[nstate + i] = sr_pool_text(c->pool, c->of_varying[i]);
  }
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    for (int k = 0; k < e->ny; k++) {
      y0[e->y + k] = e->law->y0 ? e->law->y0[k] : 0;
      const char* format = e->contact == NULL ? "%s.%d" : e->ny == 1 ? "%s.e" : "%s.e%d";
      names[e->y + k] = e->ny == 1 && e->contact == NULL ? e->name : sr_pool_printf(c->pool, format, e->name, k);
    }
  }
  for (int i = 0; i < m->nset; i++) {
    const srContactSet* set = &m->set[i];
    const char* name = sr_pool_printf(c->pool, "%s.e", set->name);
    for (int k = 0; k < set->most * set->ny; k++) names[set->y + k] = name;
  }
  m->y0 = y0;
  m->y_name = names;
  c->priv->only_contacts = has_only_contacts(m);
}
