// The server of `sarrus view`: one page, and live sessions over WebSockets, for the user of this machine alone (docs/developing/decisions/live.md).
#ifndef SARRUS_CLI_SERVE_H
#define SARRUS_CLI_SERVE_H

#include "cli.h"

typedef struct Serve Serve;

enum { SERVE_TOKEN = 33 };  // 128 bits as hexadecimal digits

// Listens on the loopback interface; port 0: one that is free. Nothing is answered before serve_page. live: of the sessions; NULL: there are none. NULL: reported.
Serve* serve_begin(Cli* cli, int port, const srLiveOptions* live);
int serve_port(const Serve* s);
const char* serve_token(const Serve* s);
// Takes the page over, to be given to who knows the token.
void serve_page(Serve* s, srText* page);
void serve_end(Serve* s);

#endif
