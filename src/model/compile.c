// From the spec to flat arrays: sr_compile_from reads like a table of contents of the stages.
#include <string.h>

#include "collide/mesh.h"
#include "model/absolute.h"
#include "model/compile.h"
#include "model/spec.h"

// At most one of this element; its index or -1.
static int only(srCompiler* c, srElementKind kind) {
  const int n = srs_count(c->spec, kind);
  for (int i = 1; i < n; i++)
    sr_c_error(c, srs_place(c->spec, kind, i), "<%s> is given twice", srs_element(kind)->word);
  return n > 0 ? 0 : -1;
}

static void positive(srCompiler* c, int field, double* out) {
  const srField* f = &srs_element(SR_ELEMENT_RUN)->fields[field];
  int n = sr_c_numbers(c, SR_ELEMENT_RUN, 0, field, out, 1);
  if (n == 1 && *out <= 0) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_RUN, 0, field), "'%s' must be positive, got %g", f->word, *out);
  }
}

// Index of the word that a field of <run> has, `otherwise` where there is none.
static int word_index(srCompiler* c, int field, const char* const* words, int n, int otherwise) {
  const char* given = sr_c_text(c, SR_ELEMENT_RUN, 0, field);
  const int i = given ? sr_word_index(words, n, given) : -1;
  return i >= 0 ? i : otherwise;
}

// Step-size rule, and options of implicit methods.
static void rules(srCompiler* c) {
#define SR_WORD(NAME, word) word,
  static const char* const controls[] = {SR_CONTROL_LIST(SR_WORD)};
  static const char* const contacts[] = {SR_CONTACT_MODE_LIST(SR_WORD)};
  static const char* const impacts[] = {SR_IMPACT_RULE_LIST(SR_WORD)};
  static const char* const frictions[] = {SR_IMPACT_FRICTION_LIST(SR_WORD)};
  static const char* const orders[] = {SR_IMPACT_ORDER_LIST(SR_WORD)};
  static const char* const families[] = {SR_FAMILY_LIST(SR_WORD)};
  static const char* const tangents[] = {SR_TANGENT_LIST(SR_WORD)};
  static const char* const ways[] = {SR_STABILIZATION_LIST(SR_WORD)};
#undef SR_WORD
  srRunSettings* run = &c->priv->run;
  const int rtol = SR_FIELD(srRunDef, rtol), atol = SR_FIELD(srRunDef, atol), rho = SR_FIELD(srRunDef, rho),
            theta = SR_FIELD(srRunDef, theta);
  run->control = (srControlRule)word_index(c, SR_FIELD(srRunDef, control), controls, SR_COUNT(controls), 0);
  run->contact = (srContactMode)word_index(c, SR_FIELD(srRunDef, contact), contacts, SR_COUNT(contacts), 0);
  run->impact = (srImpactRule)word_index(c, SR_FIELD(srRunDef, impact), impacts, SR_COUNT(impacts), 0);
  run->impact_friction =
      (srImpactFrictionRule)word_index(c, SR_FIELD(srRunDef, impact_friction), frictions, SR_COUNT(frictions), 0);
  run->impact_order = (srImpactOrder)word_index(c, SR_FIELD(srRunDef, impact_order), orders, SR_COUNT(orders), 0);
  run->family = (srFamily)word_index(c, SR_FIELD(srRunDef, family), families, SR_COUNT(families), 0);
  run->tangent = (srTangentWay)word_index(c, SR_FIELD(srRunDef, tangent), tangents, SR_COUNT(tangents), 0);
  run->stabilization = (srStabilization)word_index(c, SR_FIELD(srRunDef, stabilization), ways, SR_COUNT(ways),
                                                   SR_STABILIZATION_PROJECTION);
  if (sr_c_number(c, SR_ELEMENT_RUN, 0, rho, &run->rho) && !(run->rho >= 0 && run->rho <= 1)) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_RUN, 0, rho), "'rho' must be from 0 to 1, got %g", run->rho);
  }
  if (sr_c_number(c, SR_ELEMENT_RUN, 0, theta, &run->theta) && !(run->theta >= 0.5 && run->theta <= 1)) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_RUN, 0, theta), "'theta' must be from 0.5 to 1, got %g", run->theta);
  }
  positive(c, SR_FIELD(srRunDef, sleep), &run->sleep);
  positive(c, SR_FIELD(srRunDef, sleep_speed), &run->sleep_speed);
  // Table 1 of Haddouni et al. (2017) supplies what the file does not set.
  if (run->control != SR_CONTROL_POSITIONS) return;
  if (!sr_c_attr(c, SR_ELEMENT_RUN, 0, rtol)->text) run->rtol = 1e-4;
  if (!sr_c_attr(c, SR_ELEMENT_RUN, 0, atol)->text) run->atol = 1e-4;
}

static void run_defaults(srCompiler* c, bool given) {
  srModel* m = c->m;
  srRunSettings* run = &c->priv->run;
  run->t_end = 1;
  run->step = 1e-3;
  run->rtol = 1e-6;
  run->atol = 1e-9;
  run->method = "auto";
  run->rho = 0.8;
  run->theta = 1;
  run->sleep_speed = 0.01;
  run->alpha = run->beta = 10;
  run->stabilization = SR_STABILIZATION_PROJECTION;
  m->run_penalty_stiffness = 1e6;
  m->run_penalty_rotation = 1e4;
  m->run_penalty_damping = 1e-4;
  if (!given) return;
  positive(c, SR_FIELD(srRunDef, penalty_stiffness), &m->run_penalty_stiffness);
  positive(c, SR_FIELD(srRunDef, penalty_rotation), &m->run_penalty_rotation);
  positive(c, SR_FIELD(srRunDef, penalty_damping), &m->run_penalty_damping);
  positive(c, SR_FIELD(srRunDef, penalty_inertia), &m->run_penalty_inertia);
  positive(c, SR_FIELD(srRunDef, t_end), &run->t_end);
  positive(c, SR_FIELD(srRunDef, step), &run->step);
  positive(c, SR_FIELD(srRunDef, rtol), &run->rtol);
  positive(c, SR_FIELD(srRunDef, atol), &run->atol);
  positive(c, SR_FIELD(srRunDef, every), &run->every);
  positive(c, SR_FIELD(srRunDef, alpha), &run->alpha);
  positive(c, SR_FIELD(srRunDef, beta), &run->beta);
  const char* metric = sr_c_text(c, SR_ELEMENT_RUN, 0, SR_FIELD(srRunDef, metric));
  run->metric_identity = strcmp(metric, "identity") == 0;
  rules(c);
  run->method = sr_pool_text(c->pool, sr_c_text(c, SR_ELEMENT_RUN, 0, SR_FIELD(srRunDef, method)));
}

void sr_compile_run(srCompiler* c) {
  srModel* m = c->m;
  const int option = only(c, SR_ELEMENT_OPTION);
  if (option >= 0) sr_c_numbers(c, SR_ELEMENT_OPTION, 0, SR_FIELD(srOptionDef, gravity), m->gravity, 3);
  if (option < 0) m->gravity[2] = -9.81;
  run_defaults(c, only(c, SR_ELEMENT_RUN) >= 0);
  const int root = only(c, SR_ELEMENT_MODEL);
  const char* name = root < 0 ? "model" : sr_c_text(c, SR_ELEMENT_MODEL, 0, SR_FIELD(srModelDef, name));
  m->name = sr_pool_text(c->pool, name);
}

static void stages(srCompiler* c) {
  static const char* const words[] = {"t", "pi", "z", "zdot", "q", "v", "sensor", "inertia", "record"};
  for (int i = 0; i < SR_COUNT(words); i++) sr_c_know(c, words[i]);
  sr_compile_varying(c);
  sr_compile_parameters(c);
  sr_compile_run(c);
  sr_compile_unused(c);
  sr_compile_tree(c);
  if (c->absolute) sr_compile_free_bodies(c);
  sr_compile_meshes(c);
  sr_compile_inertia(c);
  if (sr_c_errors(c) == 0) sr_compile_effective(c);
  if (sr_c_errors(c) == 0) sr_compile_shapes(c);  // their errors would be reported twice
  sr_compile_points(c);
  sr_compile_functions(c);
  if (c->lacks_plugin) return;  // every use of its laws would be an error, too
  sr_compile_sensors(c);
  sr_compile_records(c);
  sr_compile_drivers(c);
  sr_compile_forces(c);
  sr_compile_events(c);
  sr_compile_constraints(c);
  if (sr_c_errors(c) == 0) sr_compile_massless(c);
  if (sr_c_errors(c) == 0) sr_compile_elimination(c);
  if (sr_c_errors(c) == 0) sr_compile_constant_mass(c);
  if (sr_c_errors(c) == 0) sr_compile_programs(c);
}

static void start(srCompiler* c) {
  srNames* names[] = {&c->parameters,   &c->varying, &c->states,        &c->functions,   &c->bodies, &c->joints,
                      &c->points,       &c->laws,    &c->sensors,       &c->materials,   &c->meshes, &c->friction_names,
                      &c->normal_names, &c->lost,    &c->closure_names, &c->sensor_names};
  for (int i = 0; i < SR_COUNT(names); i++) sr_names_init(names[i], &c->scratch);
  c->distance_arg = -1;
  c->graph = sr_graph_create(c->pool);
  c->priv->graph = c->graph;
}

static srStatus compile_spec(const srCatalog* catalog, const srSpec* spec, const srAbsolute* absolute,
                             srMessages* messages, srModel** out) {
  srMessages* own = messages ? NULL : sr_messages_create();
  srModel* m = sr_alloc(sizeof *m);
  struct srModelPrivate* priv = sr_alloc(sizeof *priv);
  srStatus status = SR_MEMORY;
  srCompiler c = {.spec = spec,
                  .messages = messages ? messages : own,
                  .m = m,
                  .priv = priv,
                  .absolute = absolute,
                  .catalog = catalog};
  sr_pool_init(&c.scratch);
  if (m && priv && c.messages) {
    jmp_buf out_of_memory;
    m->priv = priv;
    sr_pool_init(&priv->pool);
    c.pool = &priv->pool;
    priv->pool.on_fail = c.scratch.on_fail = &out_of_memory;
    // What a partial spec lacks is an error that was reported before: nothing is built on it.
    c.errors_before = sr_messages_errors(c.messages) - sr_spec_is_partial(spec);
    if (setjmp(out_of_memory) == 0) {
      start(&c);
      stages(&c);
      status = sr_c_errors(&c) > 0 ? SR_INPUT : SR_OK;
    }
    priv->pool.on_fail = NULL;
  }
  sr_pool_free(&c.scratch);
  sr_messages_destroy(own);
  if (status == SR_OK) {
    *out = m;
  } else if (m && priv) {
    m->priv = priv;
    sr_model_destroy(m);
  } else {
    sr_free(m);
    sr_free(priv);
  }
  return status;
}

srStatus sr_compile_from(const srCatalog* catalog, const srSpec* spec, const srAbsolute* absolute, srMessages* messages,
                         srModel** out) {
  *out = NULL;
  if (srs_count(spec, SR_ELEMENT_INERTER) == 0) return compile_spec(catalog, spec, absolute, messages, out);
  srSpec* whole = sr_spec_expand_inerters(spec);
  const srStatus status = whole ? compile_spec(catalog, whole, absolute, messages, out) : SR_MEMORY;
  srs_destroy(whole);
  return status;
}

void sr_model_destroy(srModel* model) {
  if (!model) return;
  if (model->priv->generated.library) model->priv->generated.close(model->priv->generated.library);
  for (int i = 0; i < model->priv->nplugin; i++) model->priv->close_plugin(model->priv->plugins[i]);
  for (int i = 0; model->priv->triangles && i < model->nmesh; i++) sr_trimesh_destroy(model->priv->triangles[i]);
  sr_pool_free(&model->priv->pool);
  sr_free(model->priv);
  sr_free(model);
}

const char* sr_formulation_word(srFormulation formulation) {
  static const char* const words[] = {
#define SR_WORD(NAME, word) word,
      SR_FORMULATION_LIST(SR_WORD)
#undef SR_WORD
  };
  return (unsigned)formulation < SR_COUNT(words) ? words[formulation] : "";
}

int sr_body_find(const srModel* model, const char* name) {
  return sr_word_index(model->body_name, model->nbody + 1, name);
}

int sr_joint_find(const srModel* model, const char* name) {
  return sr_word_index(model->joint_name, model->njoint, name);
}

int sr_point_find(const srModel* model, const char* name) {
  return sr_word_index(model->point_name, model->npoint, name);
}

int sr_sensor_find(const srModel* model, const char* name) {
  for (int i = 0; i < model->nsensor; i++) {
    if (strcmp(model->sensor[i].name, name) == 0) return i;
  }
  return -1;
}

int sr_parameter_find(const srModel* model, const char* name) {
  const int first = model->priv->nstate;
  const int i = sr_word_index(model->y_name + first, model->priv->ny_user - first, name);
  return i >= 0 ? first + i : -1;
}

const srRunSettings* sr_run_settings(const srModel* model) { return &model->priv->run; }
