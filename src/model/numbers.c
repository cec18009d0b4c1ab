// Copies of a spec: unchanged, or with every formula of parameters evaluated to its number.
#include <string.h>

#include "model/compile.h"
#include "model/spec.h"

static bool copy_registered(const srSpec* spec, srSpec* copy) {
  const srImpedance* laws;
  const srFunction* functions;
  const srClosureLaw* closures;
  const srSensorLaw* sensors;
  const int nlaw = sr_spec_impedances(spec, &laws), nfunction = sr_spec_functions(spec, &functions);
  const int nclosure = sr_spec_closure_laws(spec, &closures), nsensor = sr_spec_sensor_laws(spec, &sensors);
  const char* const* folders;
  const int nfolder = sr_spec_plugin_folders(spec, &folders);
  bool done = srs_set_folder(copy, srs_folder(spec));
  if (folders) done = done && srs_allow_plugins(copy, folders, nfolder);
  for (int i = 0; i < nlaw; i++) done = done && srs_register_impedance(copy, &laws[i]);
  for (int i = 0; i < nfunction; i++) done = done && srs_register_function(copy, &functions[i]);
  for (int i = 0; i < nclosure; i++) done = done && srs_register_closure(copy, &closures[i]);
  for (int i = 0; i < nsensor; i++) done = done && srs_register_sensor(copy, &sensors[i]);
  return done;
}

// Without the elements of one kind, which no other is part of. SR_ELEMENT_KINDS: with all.
static srSpec* copy_without(const srSpec* spec, int without) {
  srSpec* copy = srs_create();
  bool done = copy && copy_registered(spec, copy);
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++) {
    for (int i = 0; kind != without && i < srs_count(spec, (srElementKind)kind) && done; i++) {
      const srPlace place = srs_place(spec, (srElementKind)kind, i);
      done = srs_add(copy, (srElementKind)kind, srs_owner(spec, (srElementKind)kind, i),
                     srs_get(spec, (srElementKind)kind, i), &place) >= 0;
      if (done && kind == SR_ELEMENT_JOINT && sr_spec_is_implied(spec, i)) sr_spec_imply(copy, i);
    }
  }
  if (done) return copy;
  srs_destroy(copy);
  return NULL;
}

srSpec* srs_copy(const srSpec* spec) { return copy_without(spec, SR_ELEMENT_KINDS); }

srSpec* sr_spec_without_inerters(const srSpec* spec) { return copy_without(spec, SR_ELEMENT_INERTER); }

// Numbers instead of the formulas of one attribute; errors go to the messages.
static void fold(srCompiler* c, srSpec* copy, srElementKind kind, int i, int field) {
  srAttr attr = *sr_c_attr(c, kind, i, field);
  if (!attr.text || strcmp(srs_element(kind)->fields[field].kind, "FORMULA") != 0) return;
  const int most = (int)strlen(attr.text) + 1;  // a value has at least one character
  double* x = sr_pool_alloc(&c->scratch, (size_t)most * sizeof *x);
  const int n = sr_c_numbers(c, kind, i, field, x, most);
  if (n < 0) return;
  attr = (srAttr){.n = n, .numbers = n > 1 ? x : NULL, .number = n > 0 ? x[0] : 0, .place = attr.place};
  if (!srs_set(copy, kind, i, field, attr)) longjmp(*c->scratch.on_fail, 1);
}

static void fold_all(srCompiler* c, srSpec* copy) {
  sr_names_init(&c->parameters, &c->scratch);
  c->graph = sr_graph_create(&c->scratch);
  c->distance_arg = -1;
  sr_c_know(c, "pi");
  sr_compile_parameters(c);
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++) {
    const int nfield = srs_element((srElementKind)kind)->nfield;
    const bool told = kind == SR_ELEMENT_PARAMETER && sr_c_errors(c) > 0;  // by sr_compile_parameters
    for (int i = 0; i < srs_count(c->spec, (srElementKind)kind) && !told; i++)
      for (int k = 0; k < nfield; k++) fold(c, copy, (srElementKind)kind, i, k);
  }
}

srSpec* srs_numbers(const srSpec* spec, srMessages* messages) {
  srMessages* own = messages ? NULL : sr_messages_create();
  srCompiler c = {.spec = spec, .messages = messages ? messages : own};
  srSpec* copy = c.messages ? srs_copy(spec) : NULL;
  const int before = copy ? sr_messages_errors(c.messages) : 0;
  bool done = false;
  jmp_buf no_memory;
  sr_pool_init(&c.scratch);
  c.scratch.on_fail = &no_memory;
  if (copy && setjmp(no_memory) == 0) {
    fold_all(&c, copy);
    done = sr_messages_errors(c.messages) == before;
  }
  sr_pool_free(&c.scratch);
  sr_messages_destroy(own);
  if (done) return copy;
  srs_destroy(copy);
  return NULL;
}
