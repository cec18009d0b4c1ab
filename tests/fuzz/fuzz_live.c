// Fuzzer of live sessions: requests, one a line; a line that begins with < is a model, which is loaded. Every request has an answer whose length, JSON and arrays fit
// together; a request that fails says why. A timer stops what takes long, at any point of it.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <sarrus/sarrus.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define MOST_REQUESTS 16
#define MOMENT 50000  // us

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static srLive* live;

static void on_alarm(int signal) {
  (void)signal;
  if (live) sr_live_stop(live);
}

static void set_timer(long us) {
  const struct itimerval timer = {.it_interval = {.tv_usec = us}, .it_value = {.tv_usec = us}};
  const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};  // signal() may last for one tick
  (void)sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void fail(const char* reason, const char* request, size_t n) {
  fprintf(stderr, "%s: %.*s\n", reason, (int)n, request);
  abort();
}

static double number(const srJsonTree* t, int at, const char* key) {
  double x = NAN;
  const int i = sr_json_member(t, at, key);
  return i >= 0 && sr_json_node_number(&t->node[i], &x) ? x : NAN;
}

static void check_arrays(const srJsonTree* t, size_t room, const char* request, size_t n) {
  const int arrays = sr_json_member(t, 0, "arrays");
  if (arrays < 0) fail("no arrays", request, n);
  for (int i = arrays + 1; i < t->node[arrays].end; i = t->node[i].end) {
    const int type = sr_json_member(t, i, "type");
    const double width = t->node[type].text[2] == '6' ? 8 : t->node[type].text[2] == '8' ? 1 : 4;
    if (!(number(t, i, "at") + width * number(t, i, "n") <= (double)room)) fail("an array is cut", request, n);
  }
}

static void check(const srText* answer, const char* request, size_t n) {
  const unsigned char* b = (const unsigned char*)answer->data;
  if (answer->n < 8 || answer->n % 8) fail("no frame", request, n);
  const size_t size = b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24,
               begin = (4 + size + 7) / 8 * 8;
  srJsonTree tree = {0};
  if (begin > answer->n || !sr_json_read(answer->data + 4, size, &tree, NULL)) fail("no JSON", request, n);
  const int ok = sr_json_member(&tree, 0, "ok"), error = sr_json_member(&tree, 0, "error");
  if (ok < 0 || (tree.node[ok].text[0] == 'f') != (error >= 0)) fail("ok and error do not fit", request, n);
  if (error >= 0 && tree.node[error].n < 10) fail("no sentence", request, n);
  check_arrays(&tree, answer->n - begin, request, n);
  sr_json_tree_free(&tree);
}

static void ask(const char* request, size_t n) {
  srText answer = {0};
  if (sr_live_request(live, request, n, &answer) == SR_OK) check(&answer, request, n);
  sr_text_free(&answer);
}

static void load(const char* text, size_t n) {
  srText request = {0};
  sr_text_print(&request, "{\"do\": \"load\", \"text\": \"");
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"' || text[i] == '\\') sr_text_add(&request, "\\", 1);
    if ((unsigned char)text[i] >= 0x20) sr_text_add(&request, text + i, 1);
  }
  sr_text_print(&request, "\"}");
  ask(request.data, request.n);
  sr_text_free(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const char *p = (const char*)data, *end = p + size;
  srLive* session = sr_live_create(&(srLiveOptions){0});
  live = session;
  set_timer(MOMENT);
  for (int i = 0; p < end && i < MOST_REQUESTS; i++) {
    const char* next = memchr(p, '\n', (size_t)(end - p));
    if (!next) next = end;
    (*p == '<' ? load : ask)(p, (size_t)(next - p));
    p = next + (next < end);
  }
  set_timer(0);
  live = NULL;
  sr_live_destroy(session);
  return 0;
}
