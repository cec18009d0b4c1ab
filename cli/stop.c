// Signals as a wish to stop with what there is: Ctrl-C, SIGTERM of a batch system, SIGHUP of a terminal that is closed. The
// second one ends the program at once. What is ignored stays ignored: `nohup sarrus run ...` outlives its terminal.
#define _XOPEN_SOURCE 700
#include <signal.h>

#include "cli.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static volatile sig_atomic_t asked;
static struct sigaction before[SIGNALS];

static void on_signal(int number) {
  (void)number;
  asked = 1;
  for (int i = 0; i < SIGNALS; i++) signal(signals[i], SIG_DFL);
}

void stop_watch(void) {
  struct sigaction own = {.sa_handler = on_signal};
  sigemptyset(&own.sa_mask);
  asked = 0;
  for (int i = 0; i < SIGNALS; i++) {
    sigaction(signals[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN || signals[i] != SIGHUP) sigaction(signals[i], &own, NULL);
  }
}

bool stop_asked(void) { return asked != 0; }

void stop_end(void) {
  for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
}
