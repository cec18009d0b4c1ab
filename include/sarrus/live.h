// Live sessions: a model that is simulated while somebody looks at it, changes it and pulls at it. One request, one answer: the protocol of
// `sarrus view` and of the page with the core inside (docs/developing/live.md).
//
//   srLive* live = sr_live_create(&(srLiveOptions){0});
//   srText answer = {0};
//   sr_live_request(live, request, strlen(request), &answer);     // {"id": 1, "do": "load", "text": "<sarrus>..."}
#ifndef SARRUS_LIVE_H
#define SARRUS_LIVE_H

#include <sarrus/io.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srLiveOptions {
  const char* folder;  // that models by path, their includes and meshes may come from; NULL: texts alone
  const char* writes;  // the file in that folder that the request "save" writes, and no other; NULL: none
  // How models are read: packages, base, plugins; its settings hold unless a request has others. NULL: the defaults, no plugins.
  const srLoadOptions* load;
  // Called about every 50 ms of a whole run (request "run") with the time reached; nonzero stops it. NULL: none.
  int (*progress)(void* user, double t, double t_end);
  void* user;
} srLiveOptions;

typedef struct srLive srLive;
// Texts of the options must outlive the session. NULL: out of memory.
SR_API srLive* sr_live_create(const srLiveOptions* options);
SR_API void sr_live_destroy(srLive* live);
// Answers a request of n bytes of JSON. What is wrong with it, or fails, is in the answer; SR_MEMORY: there is no answer. One thread at a time.
// The answer, bytes: uint32 n, little endian; n bytes of JSON; zeros up to a multiple of 8; arrays, each padded to 8. It is to be freed.
SR_API srStatus sr_live_request(srLive* live, const char* json, size_t n, srText* answer);
// From another thread or a signal: the request in progress ends at its next step.
SR_API void sr_live_stop(srLive* live);

#ifdef __cplusplus
}
#endif
#endif
