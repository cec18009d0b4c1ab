// Fuzzer of contact problems: what is read is written and read again to the same text, and solved by every method in a few iterations.
#include <sarrus/io.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void write_and_read(const srContactProblem* p) {
  srText text = {0}, again = {0};
  srContactProblem* q;
  sr_contact_problem_text(p, &text);
  if (sr_contact_problem_parse(text.data, text.n, "again", NULL, &q) != SR_OK) abort();
  sr_contact_problem_text(q, &again);
  if (text.n != again.n || memcmp(text.data, again.data, text.n) != 0) abort();
  sr_contact_problem_destroy(q);
  sr_text_free(&text);
  sr_text_free(&again);
}

static void solve(const srContactProblem* p) {
  const srContactSize most = sr_contact_size(p);
  const int n = sr_contact_rows(p);
  srContactSolver* s = sr_contact_solver_create(&most);
  double* x = calloc((size_t)n + 1, sizeof *x);
  if (!s || !x) abort();
  for (int i = 0; i < sr_contact_method_count(); i++) {
    srContactOptions o = sr_contact_options();
    srContactResult r;
    o.method = sr_contact_method(i);
    o.iterations = 20;
    memcpy(x, p->start, (size_t)n * sizeof *x);
    if (sr_contact_solve(s, p, &o, x, &r) == SR_OK && r.solved && !(r.error.residual <= o.tolerance)) abort();
  }
  free(x);
  sr_contact_solver_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  srMessages* messages = sr_messages_create();
  srContactProblem* p;
  const srStatus status = sr_contact_problem_parse((const char*)data, size, "fuzz", messages, &p);
  if ((status == SR_OK) != (p != NULL) || (status == SR_OK) != (sr_messages_errors(messages) == 0)) abort();
  if (p) write_and_read(p);
  if (p && p->ncontact + p->nequation < 40) solve(p);
  sr_contact_problem_destroy(p);
  sr_messages_destroy(messages);
  return 0;
}
