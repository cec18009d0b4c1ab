// A progress bar on standard error, when that is a terminal; and signals as a wish to stop with what there is.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

Progress progress_begin(const Cli* cli) {
  stop_watch();
  return (Progress){.shown = !cli->quiet && isatty(STDERR_FILENO) == 1, .drawn = now_ms()};
}

// The bar, where it is time for one; the text goes behind it.
static bool draw(Progress* p, double part) {
  enum { WIDTH = 40, PAUSE = 100 };  // ms between drawings; what is over sooner shows no bar
  const long long now = now_ms();
  if (!p->shown || now - p->drawn < PAUSE) return false;
  p->drawn = now;
  const int full = (int)(part * WIDTH);
  fputs("\r[", stderr);
  for (int i = 0; i < WIDTH; i++) putc(i < full ? '#' : '.', stderr);
  fprintf(stderr, "] %3d %%  ", (int)(100 * part));
  return true;
}

int progress_update(Progress* p, double t, double t_end) {
  if (stop_asked()) return p->stopped = true, 1;
  if (!draw(p, t_end > 0 && t >= 0 && t <= t_end ? t / t_end : 0)) return 0;
  fprintf(stderr, "t = %.6g of %.6g s ", t, t_end);
  fflush(stderr);
  return 0;
}

int progress_count(Progress* p, long long done, long long all, const char* what) {
  if (stop_asked()) return p->stopped = true, 1;
  if (!draw(p, all > 0 ? (double)done / (double)all : 0)) return 0;
  fprintf(stderr, "%lld of %lld %s ", done, all, what);
  fflush(stderr);
  return 0;
}

void progress_end(Progress* p) {
  stop_end();
  if (p->shown) fprintf(stderr, "\r%79s\r", "");
}
