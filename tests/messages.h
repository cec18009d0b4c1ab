// Messages as text that tests can search.
#ifndef SR_TEST_MESSAGES_H
#define SR_TEST_MESSAGES_H

#include <sarrus/base.h>
#include <stdio.h>
#include <string.h>

// All messages, a line each; from the first on that finds no room they are left out.
static inline void messages_keep(const srMessages* messages, char* out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; i < sr_messages_count(messages); i++) {
    char line[1400];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    if (used + strlen(line) + 2 > size) return;
    used += (size_t)snprintf(out + used, size - used, "%s\n", line);
  }
}

#endif
