// sarrus view: a page in the browser with the model in motion, or with a result. The server answers this machine alone.
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "page.h"
#include "serve.h"
#include "view.h"

extern char** environ;

typedef struct View {
  Cli* cli;
  Model m;
  const char* of;  // --model: of a result
  double port;
  bool closed;  // --no-open
  char front[4352];
  char folder[4096];
  const char* file;
  char ticket[64];  // a file that leads the browser to the address; "": none
  Serve* serve;
} View;

// ---- the page ------------------------------------------------------------------------------------------------------------------------
static bool split_path(View* x) {
  const char* slash = strrchr(x->m.path, '/');
  const size_t n = slash ? (size_t)(slash - x->m.path) : 1;
  if (n >= sizeof x->folder) return false;
  snprintf(x->folder, sizeof x->folder, "%.*s", slash ? (n ? (int)n : 1) : 1, slash ? (n ? x->m.path : "/") : ".");
  x->file = slash ? slash + 1 : x->m.path;
  return true;
}

static srStatus live_page(const View* x, srText* page) {
  srText about = {0};
  char connect[120];
  srJson json = sr_json_begin(&about);
  sr_json_text(&json, "socket", "/live");
  sr_json_text(&json, "file", x->file);
  sr_json_end(&json);
  snprintf(connect, sizeof connect, "'self' ws://127.0.0.1:%d ws://localhost:%d", serve_port(x->serve),
           serve_port(x->serve));
  const srStatus status =
      about.failed ? SR_MEMORY : sr_page_live(x->front, about.data, connect, x->cli->messages, page);
  sr_text_free(&about);
  return status;
}

// ---- the browser -----------------------------------------------------------------------------------------------------------------------
// The arguments of a program can be seen by all users of the machine, a file with mode 0600 cannot: the token goes through a file.
static void open_browser(View* x) {
  const char* folder = getenv("XDG_RUNTIME_DIR");
  pid_t child;
  if (x->closed || (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))) return;
  snprintf(x->ticket, sizeof x->ticket, "%.30s/sarrus-view-XXXXXX.html",
           folder && strlen(folder) < 30 ? folder : "/tmp");
  const int file = mkstemps(x->ticket, 5);
  FILE* out = file >= 0 ? fdopen(file, "w") : NULL;
  if (!out) {
    x->ticket[0] = 0;
    return;
  }
  fprintf(out, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=http://127.0.0.1:%d/?token=%s\">\n",
          serve_port(x->serve), serve_token(x->serve));
  fclose(out);
  char* arguments[] = {"xdg-open", x->ticket, NULL};
  (void)posix_spawnp(&child, "xdg-open", NULL, NULL, arguments, environ);
}

static void tell(const View* x) {
  const char* token = serve_token(x->serve);
  if (x->cli->json) {
    srText text = {0};
    char address[120];
    snprintf(address, sizeof address, "http://127.0.0.1:%d/?token=%s", serve_port(x->serve), token);
    srJson json = sr_json_begin(&text);
    sr_json_text(&json, "address", address);
    sr_json_int(&json, "port", serve_port(x->serve));
    sr_json_end(&json);
    fputs(text.data ? text.data : "", stdout);
    sr_text_free(&text);
  } else {
    printf("%s is at\n  http://127.0.0.1:%d/?token=%s\nfor this machine alone; Ctrl-C ends it\n", x->m.path,
           serve_port(x->serve), token);
  }
  fflush(stdout);
}

static void wait_for_end(void) {
  const struct timespec moment = {.tv_nsec = 100000000};
  while (!stop_asked()) {
    nanosleep(&moment, NULL);
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
}

// ---- the verb ----------------------------------------------------------------------------------------------------------------------------
static int serve_until_end(View* x, const srLiveOptions* live, srText* page) {
  x->serve = serve_begin(x->cli, (int)x->port, live);
  if (!x->serve) return cli_refuse(x->cli, EXIT_INPUT);
  const srStatus status = live ? live_page(x, page) : SR_OK;
  if (status != SR_OK) return cli_refuse(x->cli, cli_status(status));
  serve_page(x->serve, page);
  cli_show(x->cli);
  tell(x);
  open_browser(x);
  wait_for_end();
  if (x->ticket[0]) unlink(x->ticket);
  return EXIT_DONE;
}

// Who has read the address may end the program at once: signals are awaited before there is one.
static int serve(View* x, const srLiveOptions* live, srText* page) {
  stop_watch();
  const int status = serve_until_end(x, live, page);
  stop_end();
  return status;
}

// A client that has gone must not end the program.
static int view(View* x) {
  srText page = {0};
  const char** folders = NULL;
  srLoadOptions how;
  int status;
  const bool is_result = x->m.path[result_stem(x->m.path)] != 0;
  signal(SIGPIPE, SIG_IGN);
  if (!front_find(x->cli, "view", is_result ? "page.html" : "view.html", x->front, sizeof x->front))
    return cli_refuse(x->cli, EXIT_INPUT);
  if (is_result) {
    status = view_result(x->cli, &x->m, x->of, x->front, &page);
    if (status == EXIT_DONE) status = serve(x, NULL, &page);
  } else {
    status = model_open(x->cli, &x->m);  // reports what is wrong with it
    if (status == EXIT_DONE && (!split_path(x) || !model_load_options(&x->m, &how, &folders)))
      status = cli_refuse(x->cli, EXIT_INPUT);
    if (status == EXIT_DONE)
      status = serve(x, &(srLiveOptions){.folder = x->folder, .writes = x->file, .load = &how}, &page);
  }
  serve_end(x->serve);
  sr_text_free(&page);
  free(folders);
  return status;
}

int cmd_view(Cli* cli, const Verb* verb, int argc, char** argv) {
  View x = {.cli = cli, .port = NOT_GIVEN};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--port", OPTION_NUMBER, &x.port, "NUMBER", "port of the loopback interface (default: one that is free)"},
      {"--no-open", OPTION_FLAG, &x.closed, NULL, "print the address alone, and leave the browser"},
      {"--model", OPTION_TEXT, &x.of, "MODEL", "of a result: its model, where the result does not name it"},
      MODEL_OPTIONS(cli, &x.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &x.m.path, &status) == 0) {
    if (isnan(x.port)) x.port = 0;
    if (!(x.port >= 0 && x.port <= 65535 && x.port == (int)x.port)) {
      cli_error(cli, "--port must be a whole number from 1 to 65535, not %g", x.port);
      status = cli_refuse(cli, EXIT_INPUT);
    } else {
      status = view(&x);
    }
  }
  model_close(&x.m);
  return status;
}
