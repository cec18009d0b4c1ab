// The log hook. The library never prints; messages go to the host's logger, or nowhere.
#include <stdio.h>

#include "base/base.h"

static srLogger logger;
static void* logger_user;

void sr_set_logger(srLogger replacement, void* user) {
  logger = replacement;
  logger_user = user;
}

void sr_log(srSeverity severity, const char* format, ...) {
  if (!logger) return;
  char text[1024];  // on the stack: the log must work when memory has run out
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  logger(logger_user, severity, text);
}
