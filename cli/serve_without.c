// `sarrus view` in a build without civetweb.
#include "serve.h"

Serve* serve_begin(Cli* cli, int port, const srLiveOptions* live) {
  (void)port, (void)live;
  cli_error(cli,
            "this build has no server for pages: it needs civetweb (Debian: apt install libcivetweb-dev, then build "
            "again); `sarrus run --page FILE.html` writes a page that needs none");
  return NULL;
}
int serve_port(const Serve* s) { return (void)s, 0; }
const char* serve_token(const Serve* s) { return (void)s, ""; }
void serve_page(Serve* s, srText* page) { (void)s, sr_text_free(page); }
void serve_end(Serve* s) { (void)s; }
