// Fuzzer of formulas: parse, derive, write as text, evaluate. Nothing may crash, leak or hang.
#include <sarrus/base.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// x and y are variables, k is a parameter; q(...) takes its arguments as text.
static srNode resolve(void* user, srGraph* graph, const char* name, char* reason, size_t size) {
  (void)user, (void)reason, (void)size;
  if (strcmp(name, "t") == 0) return sr_graph_var(graph, SR_VAR_TIME, 0);
  if (strcmp(name, "x") == 0) return sr_graph_var(graph, SR_VAR_Q, 0);
  if (strcmp(name, "y") == 0) return sr_graph_var(graph, SR_VAR_V, 0);
  return strcmp(name, "k") == 0 ? sr_graph_param(graph, "k", 2) : SR_NO_NODE;
}

static srNode call(void* user, srGraph* graph, const srCall* c, char* reason, size_t size) {
  (void)user, (void)reason, (void)size;
  return c->raw ? sr_graph_var(graph, SR_VAR_Q, c->narg) : SR_NO_NODE;
}

static void use(srPool* pool, srGraph* graph, srNode node) {
  static const double q[2048] = {0.5}, v[1] = {-0.25};  // a call has fewer arguments than bytes
  const srNode x = sr_graph_var(graph, SR_VAR_Q, 0);
  const srNode roots[] = {node, sr_graph_derive(graph, node, x)};
  if (!sr_graph_text(graph, node, pool)) abort();
  srProgram* program = sr_program_create(pool, graph, roots, 2);
  double* work = sr_pool_alloc(pool, (size_t)(sr_program_work(program) + 1) * sizeof *work);
  double out[2];
  sr_program_evaluate(program, &(srInputs){.t = 1, .q = q, .v = v}, work, out);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const raw[] = {"q", NULL};
  const srResolver resolver = {.raw_calls = raw, .name = resolve, .call = call};
  if (size > 2000) return 0;
  char* text = calloc(size + 1, 1);
  if (!text) return 0;
  memcpy(text, data, size);
  srPool pool;
  jmp_buf no_memory;
  sr_pool_init(&pool);
  pool.on_fail = &no_memory;
  srMessages* messages = sr_messages_create();
  if (setjmp(no_memory) == 0) {
    srGraph* graph = sr_graph_create(&pool);
    const srNode node = sr_parse(graph, text, &resolver, (srPlace){"f", 1, 1}, messages);
    if ((node == SR_NO_NODE) != (sr_messages_errors(messages) > 0)) abort();
    if (node != SR_NO_NODE) use(&pool, graph, node);
  }
  sr_messages_destroy(messages);
  sr_pool_free(&pool);
  free(text);
  return 0;
}
