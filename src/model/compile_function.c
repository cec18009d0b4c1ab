// Named functions and laws: motions and tables of the file, and what C code and plugins register.
#include <stdio.h>
#include <string.h>

#include "expr/motion.h"
#include "expr/table2.h"
#include "model/compile.h"
#include "model/spec.h"

void sr_c_register_impedance(srCompiler* c, const srImpedance* law) {
  if (!law->name || !law->evaluate) {
    sr_c_error(c, c->registering, "a registered law has no name or no function");
    return;
  }
  srImpedance* copy = sr_pool_alloc(c->pool, sizeof *copy);
  *copy = *law;
  copy->name = sr_pool_text(c->pool, law->name);
  if (!sr_c_new_name(c, &c->laws, copy->name, c->nimpedance, "law", c->registering)) return;
  SR_PUSH(&c->scratch, c->impedances, c->nimpedance, c->impedance_capacity) = copy;
}

void sr_c_register_closure(srCompiler* c, const srClosureLaw* law) {
  if (!law->name || !law->evaluate) {
    sr_c_error(c, c->registering, "a registered law of a closure has no name or no function");
    return;
  }
  if (law->n < 1 || law->n > SR_CLOSURE_LAW_ROWS) {
    sr_c_error(c, c->registering, "the law '%s' of a closure has %d equations; it may have 1 to %d", law->name, law->n,
               SR_CLOSURE_LAW_ROWS);
    sr_c_lose(c, sr_pool_text(c->pool, law->name));
    return;
  }
  srClosureLaw* copy = sr_pool_alloc(c->pool, sizeof *copy);
  *copy = *law;
  copy->name = sr_pool_text(c->pool, law->name);
  if (!sr_c_new_name(c, &c->closure_names, copy->name, c->nclosure_law, "law of a closure", c->registering)) return;
  SR_PUSH(&c->scratch, c->closure_laws, c->nclosure_law, c->closure_law_capacity) = copy;
}

void sr_c_register_sensor(srCompiler* c, const srSensorLaw* law) {
  if (!law->name || !law->evaluate) {
    sr_c_error(c, c->registering, "a registered law of a sensor has no name or no function");
    return;
  }
  srSensorLaw* copy = sr_pool_alloc(c->pool, sizeof *copy);
  *copy = *law;
  copy->name = sr_pool_text(c->pool, law->name);
  if (!sr_c_new_name(c, &c->sensor_names, copy->name, c->nsensor_law, "law of a sensor", c->registering)) return;
  SR_PUSH(&c->scratch, c->sensor_laws, c->nsensor_law, c->sensor_law_capacity) = copy;
}

const srClosureLaw* sr_c_closure_law(srCompiler* c, const char* name, srPlace place) {
  const int k = sr_c_find(c, &c->closure_names, name, "law of a closure", place);
  return k >= 0 ? c->closure_laws[k] : NULL;
}

const srSensorLaw* sr_c_sensor_law(srCompiler* c, const char* name, srPlace place) {
  const int k = sr_c_find(c, &c->sensor_names, name, "law of a sensor", place);
  return k >= 0 ? c->sensor_laws[k] : NULL;
}

// The name of a function, kept with the model; NULL after an error.
static const char* function_name(srCompiler* c, const char* name, bool has_code) {
  if (!name || !has_code) {
    sr_c_error(c, c->registering, "a registered function has no name or no code");
    return NULL;
  }
  const char* copy = sr_pool_text(c->pool, name);
  if (sr_c_is_raw_call(copy)) {
    sr_c_error(c, c->registering, "the name '%s' of a function means something else in formulas", copy);
    return NULL;
  }
  if (!sr_c_new_name(c, &c->functions, copy, 0, "function", c->registering)) return NULL;
  sr_c_know(c, copy);
  return copy;
}

void sr_c_register_function(srCompiler* c, const srFunction* function) {
  srFunction copy = *function;
  copy.name = function_name(c, function->name, function->evaluate != NULL);
  if (copy.name) sr_graph_add_function(c->graph, &copy);
}

void sr_c_register_function2(srCompiler* c, const srFunction2* function) {
  srFunction2 copy = *function;
  copy.name = function_name(c, function->name, function->evaluate != NULL);
  if (copy.name) sr_graph_add_function2(c->graph, &copy);
}

// -------------------------------------------------------------------------------------------------------- motions
// A number that this kind of motion needs.
static bool needed(srCompiler* c, int i, int field, const char* type, double* out) {
  int n = sr_c_numbers(c, SR_ELEMENT_MOTION, i, field, out, 1);
  if (n == 0) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_MOTION, i), "a %s motion needs the attribute '%s'", type,
               srs_element(SR_ELEMENT_MOTION)->fields[field].word);
  }
  return n == 1;
}

// All numbers of an attribute, in the scratch pool; their number as sr_c_numbers.
static int all_numbers(srCompiler* c, srElementKind kind, int i, int field, double** out) {
  const srAttr* attr = sr_c_attr(c, kind, i, field);
  const int most = attr->text ? (int)strlen(attr->text) / 2 + 1 : attr->n;
  *out = sr_pool_alloc(&c->scratch, (size_t)(most + 4) * sizeof **out);
  return sr_c_numbers(c, kind, i, field, *out, most);
}

int sr_c_law_parameters(srCompiler* c, srElementKind kind, int i, int field, const char* law, int np,
                        const double** out) {
  double* given;
  const int n = all_numbers(c, kind, i, field, &given);
  if (n >= 0 && np >= 0 && n != np) {
    sr_c_error(c, sr_c_place(c, kind, i, field), "the law '%s' takes %d parameter%s, got %d", law, np,
               np == 1 ? "" : "s", n);
    return -1;
  }
  double* kept = sr_pool_alloc(c->pool, (size_t)(n > 0 ? n : 1) * sizeof *kept);
  if (n > 0) memcpy(kept, given, (size_t)n * sizeof *kept);
  *out = kept;
  return n;
}

static srmSplineEnds ends_of(const char* word) {
  static const char* const words[] = {"natural", "clamped", "periodic", "not-a-knot"};  // in the order of srmSplineEnds
  return (srmSplineEnds)sr_word_index(words, SR_COUNT(words), word);
}

static bool spline(srCompiler* c, int i, const char* type, srFunction* out, char* reason, size_t size) {
  double* given;
  const int n = all_numbers(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, points), &given);
  if (n < 0) return false;
  if (n == 0 || n % 2) {
    snprintf(reason, size,
             n ? "'points' takes pairs x y, got an odd number of values"
               : "a spline needs 'points' (x1 y1 x2 y2 ...) or a 'file'");
    return false;
  }
  double* x = sr_pool_alloc(&c->scratch, (size_t)n * sizeof *x);
  double* y = x + n / 2;
  for (int k = 0; k < n / 2; k++) {
    x[k] = given[2 * k];
    y[k] = given[2 * k + 1];
  }
  const srmSplineEnds ends = ends_of(sr_c_text(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, ends)));
  if (strcmp(type, "quintic") == 0) return sr_motion_quintic(c->pool, x, y, n / 2, out, reason, size);
  return sr_motion_cubic(c->pool, x, y, n / 2, ends, out, reason, size);
}

static bool trapezoid(srCompiler* c, int i, srFunction* out, char* reason, size_t size) {
  double start, from, to, speed, acceleration;
  const char* type = "trapezoid";
  bool ok = sr_c_number(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, start), &start);
  ok &= sr_c_number(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, from), &from);
  ok &= needed(c, i, SR_FIELD(srMotionDef, to), type, &to);
  ok &= needed(c, i, SR_FIELD(srMotionDef, speed), type, &speed);
  ok &= needed(c, i, SR_FIELD(srMotionDef, acceleration), type, &acceleration);
  return ok && sr_motion_trapezoid(c->pool, start, from, to, speed, acceleration, out, reason, size);
}

static bool sweep(srCompiler* c, int i, srFunction* out, char* reason, size_t size) {
  double start, duration, amplitude, f0, f1;
  const char* type = "sweep";
  bool ok = sr_c_number(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, start), &start);
  ok &= needed(c, i, SR_FIELD(srMotionDef, duration), type, &duration);
  ok &= needed(c, i, SR_FIELD(srMotionDef, amplitude), type, &amplitude);
  ok &= needed(c, i, SR_FIELD(srMotionDef, f0), type, &f0);
  ok &= needed(c, i, SR_FIELD(srMotionDef, f1), type, &f1);
  return ok && sr_motion_sweep(c->pool, start, duration, amplitude, f0, f1, out, reason, size);
}

static void add_motion_corners(srCompiler* c, const srFunction* motion) {
  srFunction place;
  srFunction2 piece;
  int index;
  const srFunction* known = sr_graph_find_function(c->graph, motion->name, &index);
  if (known && known->self == motion->self && sr_motion_corners(motion, &place, &piece))
    sr_graph_add_corners(c->graph, index, &place, &piece);
}

static void compile_motion(srCompiler* c, int i) {
  const char* name = sr_c_text(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, name));
  const char* type = sr_c_text(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, type));
  srFunction function = {0};
  char reason[256] = "";
  bool ok = false;
  if (!name) return;
  if (!type) {
    sr_c_lose(c, name);
    return;
  }
  if (strcmp(type, "trapezoid") == 0) {
    ok = trapezoid(c, i, &function, reason, sizeof reason);
  } else if (strcmp(type, "sweep") == 0) {
    ok = sweep(c, i, &function, reason, sizeof reason);
  } else {
    ok = spline(c, i, type, &function, reason, sizeof reason);
  }
  if (reason[0]) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, points)), "motion '%s': %s", name, reason);
  }
  c->registering = sr_c_place(c, SR_ELEMENT_MOTION, i, SR_FIELD(srMotionDef, name));
  function.name = name;
  if (ok) {
    sr_c_register_function(c, &function);
    add_motion_corners(c, &function);
  } else {
    sr_c_lose(c, name);
  }
}

// --------------------------------------------------------------------------------------------------------- tables
// An axis of the grid; its number of values, 0: none given, or -1 after an error.
static int axis(srCompiler* c, int i, int field, const char* name, const double** out) {
  double* x;
  char reason[256];
  const int n = all_numbers(c, SR_ELEMENT_TABLE, i, field, &x);
  *out = x;
  if (n <= 0 || sr_table2_axis(x, n, srs_element(SR_ELEMENT_TABLE)->fields[field].word, reason, sizeof reason))
    return n;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_TABLE, i, field), "table '%s': %s", name, reason);
  return -1;
}

// The numbers on the grid; false after an error.
static bool table_values(srCompiler* c, int i, const char* name, srTable2* table) {
  const int field = SR_FIELD(srTableDef, values);
  double* z;
  const int n = all_numbers(c, SR_ELEMENT_TABLE, i, field, &z);
  table->z = z;
  const long long needed = (long long)table->nx * table->ny;
  const bool right = n == needed;
  if (n >= 0 && !right)
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_TABLE, i, field),
               "table '%s': 'values' takes %lld numbers, %d for each of %d values of x; got %d", name, needed,
               table->ny, table->nx, n);
  return right;
}

static bool table_function(srCompiler* c, int i, const char* name, const char* type, srFunction2* out) {
  char reason[256];
  srTable2 table = {.cubic = strcmp(type, "cubic") == 0};
  table.nx = axis(c, i, SR_FIELD(srTableDef, x), name, &table.x);
  table.ny = axis(c, i, SR_FIELD(srTableDef, y), name, &table.y);
  if (table.nx == 0 || table.ny == 0)
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_TABLE, i),
               "table '%s': the grid is given by 'x' and 'y', the numbers on it by 'values'; or all by a 'file'", name);
  if (table.nx < 2 || table.ny < 2 || !table_values(c, i, name, &table)) return false;
  const char* ends = sr_c_text(c, SR_ELEMENT_TABLE, i, SR_FIELD(srTableDef, ends));
  const char* ends_y = sr_c_text(c, SR_ELEMENT_TABLE, i, SR_FIELD(srTableDef, ends_y));
  table.ends[0] = ends_of(ends);
  table.ends[1] = ends_of(ends_y ? ends_y : ends);
  const bool done = sr_table2(c->pool, &table, out, reason, sizeof reason);
  if (!done)
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_TABLE, i, SR_FIELD(srTableDef, values)), "table '%s': %s", name, reason);
  return done;
}

static void add_table_corners(srCompiler* c, const srFunction2* table) {
  srTableParts parts;
  int index;
  const srFunction2* known = sr_graph_find_function2(c->graph, table->name, &index);
  if (known && known->self == table->self && sr_table2_parts(c->pool, table, &parts))
    sr_graph_add_corners2(c->graph, index, &parts);
}

static void compile_table(srCompiler* c, int i) {
  const char* name = sr_c_text(c, SR_ELEMENT_TABLE, i, SR_FIELD(srTableDef, name));
  const char* type = sr_c_text(c, SR_ELEMENT_TABLE, i, SR_FIELD(srTableDef, type));
  srFunction2 function = {.name = name};
  if (!name) return;
  if (type && table_function(c, i, name, type, &function)) {
    c->registering = sr_c_place(c, SR_ELEMENT_TABLE, i, SR_FIELD(srTableDef, name));
    sr_c_register_function2(c, &function);
    add_table_corners(c, &function);
  } else {
    sr_c_lose(c, name);
  }
}

static void load_plugin(srCompiler* c, const char* library, srPlace place) {
  const srPluginLoader* loader = c->catalog->plugins;
  if (loader) {
    c->priv->close_plugin = loader->close;
    loader->load(c, library, place);
  } else {
    sr_c_error(c, place, "the library '%s' cannot be loaded: this build of Sarrus loads no shared libraries", library);
    c->lacks_plugin = true;
  }
}

void sr_compile_functions(srCompiler* c) {
  const srImpedance* laws;
  const srFunction* functions;
  const int nlaw = sr_spec_impedances(c->spec, &laws), nfunction = sr_spec_functions(c->spec, &functions);
  for (int i = 0; i < nlaw; i++) sr_c_register_impedance(c, &laws[i]);
  for (int i = 0; i < nfunction; i++) sr_c_register_function(c, &functions[i]);
  const srClosureLaw* closures;
  const srSensorLaw* sensors;
  const int nclosure = sr_spec_closure_laws(c->spec, &closures), nsensor = sr_spec_sensor_laws(c->spec, &sensors);
  for (int i = 0; i < nclosure; i++) sr_c_register_closure(c, &closures[i]);
  for (int i = 0; i < nsensor; i++) sr_c_register_sensor(c, &sensors[i]);

  const int nplugin = srs_count(c->spec, SR_ELEMENT_PLUGIN);
  c->priv->plugins = sr_pool_alloc(c->pool, (size_t)(nplugin + 1) * sizeof(void*));
  for (int i = 0; i < nplugin; i++) {
    const char* library = sr_c_text(c, SR_ELEMENT_PLUGIN, i, SR_FIELD(srPluginDef, library));
    if (library) load_plugin(c, library, sr_c_place(c, SR_ELEMENT_PLUGIN, i, SR_FIELD(srPluginDef, library)));
  }
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_MOTION); i++) compile_motion(c, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_TABLE); i++) compile_table(c, i);
}
