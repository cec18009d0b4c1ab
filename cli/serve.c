// The server, on civetweb, which is loaded when it is used. Every address is answered here: there is no folder that a path could lead to.
//
//   GET /?token=T     the page
//   /live?token=T     a WebSocket: a live session of its own; text frames are requests, an answer is one binary frame
//   anything else     404; another Host or Origin, or no token: 403
//
// A WebSocket has a thread of its own for its life, in which its requests are done: one that is slow, or that does not read, holds up itself alone, and is dropped when a write does not
// get through in time. During a long request that thread sends pings: the request of a client that has gone is ended.
#define _GNU_SOURCE
#include "serve.h"

#include <civetweb.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#define SESSIONS 24  // of 32 threads: the others answer requests
#define THREADS "32"
#define PATIENCE "2000"  // ms for a request to arrive, and for a client to read
#define MESSAGE_MOST ((size_t)16 << 20)
#define STACK ((size_t)16 << 20)
#define PING_EVERY 500000000L  // ns

#define FUNCTIONS(X)                                                                                                   \
  X(mg_init_library)                                                                                                   \
  X(mg_exit_library)                                                                                                   \
  X(mg_start)                                                                                                          \
  X(mg_stop)                                                                                                           \
  X(mg_set_request_handler)                                                                                            \
  X(mg_set_websocket_handler)                                                                                          \
  X(mg_get_request_info)                                                                                               \
  X(mg_write) X(mg_websocket_write) X(mg_get_server_ports) X(mg_set_user_connection_data) X(mg_get_user_connection_data)
#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)
#undef DECLARE

typedef struct Session {
  srLive* live;  // NULL: free
  struct mg_connection* connection;
  srText message;
  bool closing;
} Session;

struct Serve {
  struct mg_context* context;
  srLiveOptions live;
  bool has_live;
  int port;
  char token[SERVE_TOKEN];
  char host[2][32];  // that a browser may name
  srText page;
  char policy[400];
  pthread_mutex_t lock;  // of the sessions
  Session session[SESSIONS];
  bool ending;
};

// ---- the library -----------------------------------------------------------------------------------------------------------------
static bool load_library(Cli* cli) {
  void* library = dlopen(SARRUS_CIVETWEB_SONAME, RTLD_NOW | RTLD_LOCAL);
  bool all = library != NULL;
#define TAKE(name)                                                                                                     \
  if (all) *(void**)(void*)&p_##name = dlsym(library, #name), all = p_##name != NULL;
  FUNCTIONS(TAKE)
#undef TAKE
  if (!all)
    cli_error(cli, "the server library %s cannot be loaded: install it (Debian: libcivetweb1)", SARRUS_CIVETWEB_SONAME);
  return all;
}

static bool make_token(char out[SERVE_TOKEN]) {
  unsigned char bytes[(SERVE_TOKEN - 1) / 2];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

// ---- who may ask -----------------------------------------------------------------------------------------------------------------
// The value of a header that may be there once; NULL: it is not there. *twice: it is there more often.
static const char* header(const struct mg_request_info* info, const char* name, bool* twice) {
  const char* found = NULL;
  for (int i = 0; i < info->num_headers; i++) {
    if (strcasecmp(info->http_headers[i].name, name) != 0) continue;
    *twice = *twice || found;
    found = info->http_headers[i].value;
  }
  return found;
}

// A browser that was sent here by another site names that site, or the name under which it was found: both are refused.
static bool is_from_here(const Serve* s, const struct mg_request_info* info, bool needs_origin) {
  bool twice = false, known = false, own = false;
  const char *host = header(info, "Host", &twice), *origin = header(info, "Origin", &twice);
  if (twice || !host || (needs_origin && !origin)) return false;
  for (int i = 0; i < 2; i++) {
    known = known || strcasecmp(host, s->host[i]) == 0;
    own = own || (origin && strncmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, s->host[i]) == 0);
  }
  return known && (!origin || own);
}

// In a time that does not tell how much of it is right.
static bool has_token(const Serve* s, const char* query) {
  const size_t n = SERVE_TOKEN - 1;
  while (query) {
    const char* end = strchr(query, '&');
    const size_t length = end ? (size_t)(end - query) : strlen(query);
    if (length == 6 + n && strncmp(query, "token=", 6) == 0) {
      unsigned char differs = 0;
      for (size_t i = 0; i < n; i++) differs |= (unsigned char)(query[6 + i] ^ s->token[i]);
      return differs == 0;
    }
    query = end ? end + 1 : NULL;
  }
  return false;
}

// ---- pages -------------------------------------------------------------------------------------------------------------------------
static int answer(struct mg_connection* c, const Serve* s, const char* status, const char* type, const char* body,
                  size_t n, bool with_body) {
  char head[1400];
  const int length = snprintf(head, sizeof head,
                              "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n"
                              "Content-Security-Policy: %s\r\nX-Content-Type-Options: nosniff\r\n"
                              "Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"
                              "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"
                              "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
                              status, type, n, s->policy);
  if (p_mg_write(c, head, (size_t)length) > 0 && with_body && n > 0) p_mg_write(c, body, n);
  return 1;
}

static int refuse(struct mg_connection* c, const Serve* s, const char* status, const char* why) {
  return answer(c, s, status, "text/plain", why, strlen(why), true);
}

static int on_request(struct mg_connection* c, void* user) {
  const Serve* s = user;
  const struct mg_request_info* info = p_mg_get_request_info(c);
  if (!is_from_here(s, info, false)) return refuse(c, s, "403 Forbidden", "not from here\n");
  if (!info->local_uri_raw || strcmp(info->local_uri_raw, "/") != 0)
    return refuse(c, s, "404 Not Found", "nothing is here\n");
  const bool get = strcmp(info->request_method, "GET") == 0;
  if (!get && strcmp(info->request_method, "HEAD") != 0) return refuse(c, s, "405 Method Not Allowed", "GET alone\n");
  if (!has_token(s, info->query_string))
    return refuse(c, s, "403 Forbidden", "this address needs the token that sarrus view has printed\n");
  return answer(c, s, "200 OK", "text/html", s->page.data, s->page.n, get);
}

// ---- sessions ------------------------------------------------------------------------------------------------------------------------
// Civetweb's signature has const connections.
static int on_connect(const struct mg_connection* connection, void* user) {
  Serve* s = user;
  struct mg_connection* c = (struct mg_connection*)(uintptr_t)connection;
  const struct mg_request_info* info = p_mg_get_request_info(c);
  Session* free_one = NULL;
  if (!s->has_live) return refuse(c, s, "404 Not Found", "nothing is here\n");
  if (!is_from_here(s, info, true) || !has_token(s, info->query_string))
    return refuse(c, s, "403 Forbidden", "this address needs the token that sarrus view has printed\n");
  pthread_mutex_lock(&s->lock);
  for (int i = 0; i < SESSIONS && !free_one && !s->ending; i++)
    if (!s->session[i].live) free_one = &s->session[i];
  if (free_one) {
    *free_one = (Session){.live = sr_live_create(&s->live), .connection = c};
    if (!free_one->live) free_one = NULL;
  }
  pthread_mutex_unlock(&s->lock);
  if (!free_one) return refuse(c, s, "503 Service Unavailable", "too many pages are open\n");
  p_mg_set_user_connection_data(c, free_one);
  return 0;
}

static void on_close(const struct mg_connection* c, void* user) {
  Serve* s = user;
  Session* x = p_mg_get_user_connection_data(c);
  if (!x) return;
  pthread_mutex_lock(&s->lock);
  sr_live_destroy(x->live);
  sr_text_free(&x->message);
  *x = (Session){0};
  pthread_mutex_unlock(&s->lock);
}

typedef struct Job {
  Session* session;
  srText out;
  srStatus status;
} Job;

static void* work(void* user) {
  Job* job = user;
  const srText* message = &job->session->message;
  job->status = sr_live_request(job->session->live, message->n ? message->data : "", message->n, &job->out);
  return NULL;
}

// Until the request is done. The first write to a client that has gone is answered by a reset, the second one fails.
static bool wait_for(struct mg_connection* c, pthread_t thread, srLive* live) {
  bool gone = false;
  int status = ETIMEDOUT;
  while (status == ETIMEDOUT) {
    struct timespec next;
    clock_gettime(CLOCK_REALTIME, &next);
    next.tv_nsec += PING_EVERY;
    next.tv_sec += next.tv_nsec / 1000000000L;
    next.tv_nsec %= 1000000000L;
    status = pthread_timedjoin_np(thread, NULL, &next);
    gone = gone || (status == ETIMEDOUT && p_mg_websocket_write(c, MG_WEBSOCKET_OPCODE_PING, "", 0) <= 0);
    if (gone) sr_live_stop(live);
  }
  return status == 0 && !gone;
}

// Civetweb's threads have 100 kB of stack, which is too little for readers and searches that call themselves: a request has a thread of its own.
static bool work_apart(struct mg_connection* c, Job* job) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool made =
      pthread_attr_setstacksize(&attributes, STACK) == 0 && pthread_create(&thread, &attributes, work, job) == 0;
  pthread_attr_destroy(&attributes);
  return made && wait_for(c, thread, job->session->live) && job->status == SR_OK;
}

static bool do_request(struct mg_connection* c, Session* x) {
  Job job = {.session = x};
  if (!work_apart(c, &job)) {
    sr_text_free(&job.out);
    return false;
  }
  srText out = job.out;
  const int sent = p_mg_websocket_write(c, MG_WEBSOCKET_OPCODE_BINARY, out.data, out.n);
  const bool whole = sent > 0 && (size_t)sent == out.n;  // less: the client has not read for too long
  sr_text_free(&out);
  x->message.n = 0;
  return whole;
}

// A frame; a message may come in several. 0 closes the connection.
static int on_data(struct mg_connection* c, int bits, char* data, size_t n, void* user) {
  Serve* s = user;
  Session* x = p_mg_get_user_connection_data(c);
  const int code = bits & 15;
  if (!x || s->ending || code == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) return 0;
  if (code == MG_WEBSOCKET_OPCODE_PING || code == MG_WEBSOCKET_OPCODE_PONG) return 1;
  if (code != MG_WEBSOCKET_OPCODE_TEXT && code != MG_WEBSOCKET_OPCODE_CONTINUATION) return 0;
  if (code == MG_WEBSOCKET_OPCODE_TEXT) x->message.n = 0;
  if (x->message.n + n > MESSAGE_MOST) return 0;
  sr_text_add(&x->message, data, n);
  if (x->message.failed) return 0;
  return bits & 128 ? do_request(c, x) : 1;
}

// Called during whole runs: none outlives the server.
static int on_progress(void* user, double t, double t_end) {
  (void)t, (void)t_end;
  return ((const Serve*)user)->ending;
}

// ---- life ----------------------------------------------------------------------------------------------------------------------------
static bool listen_on(Cli* cli, Serve* s, int port) {
  char address[32];
  snprintf(address, sizeof address, "127.0.0.1:%d", port);
  const char* options[] = {"listening_ports",
                           address,
                           "num_threads",
                           THREADS,
                           "request_timeout_ms",
                           PATIENCE,
                           "websocket_timeout_ms",
                           "10000",
                           "max_request_size",
                           "16384",
                           "enable_websocket_ping_pong",
                           "yes",
                           "enable_directory_listing",
                           "no",
                           "tcp_nodelay",
                           "1",
                           NULL};
  struct mg_callbacks none;
  struct mg_server_port ports[4];
  memset(&none, 0, sizeof none);
  s->context = p_mg_start(&none, s, options);
  if (!s->context || p_mg_get_server_ports(s->context, 4, ports) < 1) {
    if (port)
      cli_error(cli, "port %d is not free: take another one with --port, or leave it out", port);
    else
      cli_error(cli, "the server cannot be started: no port of the loopback interface is free");
    return false;
  }
  s->port = ports[0].port;
  snprintf(s->host[0], sizeof s->host[0], "127.0.0.1:%d", s->port);
  snprintf(s->host[1], sizeof s->host[1], "localhost:%d", s->port);
  return true;
}

Serve* serve_begin(Cli* cli, int port, const srLiveOptions* live) {
  Serve* s = calloc(1, sizeof *s);
  if (!s || !make_token(s->token)) {
    cli_error(cli, s ? "the system has no random numbers for the token" : "out of memory");
    free(s);
    return NULL;
  }
  if (!load_library(cli)) {
    free(s);
    return NULL;
  }
  pthread_mutex_init(&s->lock, NULL);
  p_mg_init_library(0);
  if (live) s->live = *live;
  s->live.progress = on_progress;
  s->live.user = s;
  s->has_live = live != NULL;
  if (!listen_on(cli, s, port)) {
    serve_end(s);
    return NULL;
  }
  return s;
}

int serve_port(const Serve* s) { return s->port; }
const char* serve_token(const Serve* s) { return s->token; }

// The hash of the script of the front end, which its own policy has.
static void find_hash(const char* page, char* out, size_t size) {
  const char* at = strstr(page, "'sha256-");
  const char* end = at ? strchr(at + 1, '\'') : NULL;
  snprintf(out, size, "%.*s", at && end && end - at < 80 ? (int)(end - at + 1) : 6, at && end ? at : "'none'");
}

void serve_page(Serve* s, srText* page) {
  char hash[100];
  s->page = *page;
  *page = (srText){0};
  find_hash(s->page.data, hash, sizeof hash);
  snprintf(s->policy, sizeof s->policy,
           "default-src 'none'; script-src %s; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
           "connect-src 'self' ws://127.0.0.1:%d ws://localhost:%d; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'",
           hash, s->port, s->port);
  p_mg_set_request_handler(s->context, "**", on_request, s);
  p_mg_set_websocket_handler(s->context, "/live", on_connect, NULL, on_data, on_close, s);
}

void serve_end(Serve* s) {
  if (!s) return;
  pthread_mutex_lock(&s->lock);
  s->ending = true;
  for (int i = 0; i < SESSIONS; i++)
    if (s->session[i].live) sr_live_stop(s->session[i].live);
  pthread_mutex_unlock(&s->lock);
  if (s->context) p_mg_stop(s->context);
  p_mg_exit_library();
  pthread_mutex_destroy(&s->lock);
  sr_text_free(&s->page);
  free(s);
}
