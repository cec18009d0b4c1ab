// Status texts, and lists of messages. A list keeps all its text in a pool of its own; messages outlive their
// sender.
#include <stdio.h>
#include <string.h>

#include "base/base.h"

struct srMessages {
  srPool pool;
  srMessage* items;
  int n, capacity;
  int errors;
  srNames kinds;            // formats -> index; of "%s" the text
  const char** kind_names;  // by index
  int nkind, kind_capacity;
  const char* file;  // the last file name copied; messages of one file share it
};

const char* sr_version(void) { return SR_VERSION_STRING; }

const char* sr_status_text(srStatus status) {
  switch (status) {
#define STATUS_CASE(name, value, text)                                                                                 \
  case name: return text;
    SR_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  }
  return "unknown status";
}

srMessages* sr_messages_create(void) {
  srMessages* messages = sr_alloc(sizeof *messages);
  if (!messages) return NULL;
  sr_pool_init(&messages->pool);
  sr_names_init(&messages->kinds, &messages->pool);
  return messages;
}

void sr_messages_destroy(srMessages* messages) {
  if (!messages) return;
  sr_pool_free(&messages->pool);
  sr_free(messages);
}

int sr_messages_count(const srMessages* messages) { return messages ? messages->n : 0; }

int sr_messages_errors(const srMessages* messages) { return messages ? messages->errors : 0; }

int sr_messages_kinds(const srMessages* messages) { return messages ? messages->nkind : 0; }

const srMessage* sr_messages_get(const srMessages* messages, int i) {
  return messages && i >= 0 && i < messages->n ? &messages->items[i] : NULL;
}

static const char* keep_file(srMessages* messages, const char* file) {
  if (!file) return NULL;
  if (!messages->file || strcmp(messages->file, file) != 0) messages->file = sr_pool_text(&messages->pool, file);
  return messages->file;
}

static int kind_of(srMessages* messages, const char* name) {
  const int known = sr_names_find(&messages->kinds, name);
  if (known >= 0) return known;
  const char* kept = sr_pool_text(&messages->pool, name);
  SR_PUSH(&messages->pool, messages->kind_names, messages->nkind, messages->kind_capacity) = kept;
  sr_names_put(&messages->kinds, kept, messages->nkind - 1);
  return messages->nkind - 1;
}

// kind NULL: the format, or the text where that is all of the format.
SR_PRINTF(5, 0)
static void add(srMessages* messages, srSeverity severity, srPlace place, const char* kind, const char* format,
                va_list arguments) {
  srMessage message = {.severity = severity, .place = place};
  message.place.file = keep_file(messages, place.file);
  message.text = sr_pool_vprintf(&messages->pool, format, arguments);
  if (!message.text) message.text = format;  // a text that cannot be formatted is still informative
  if (!kind) kind = strcmp(format, "%s") == 0 ? message.text : format;
  message.kind = kind_of(messages, kind);
  SR_PUSH(&messages->pool, messages->items, messages->n, messages->capacity) = message;
}

SR_PRINTF(5, 0)
static void add_guarded(srMessages* messages, srSeverity severity, srPlace place, const char* kind, const char* format,
                        va_list arguments) {
  if (!messages) return;
  if (severity == SR_SEVERITY_ERROR) messages->errors++;  // counted even if there is no memory for its text

  jmp_buf no_memory;
  messages->pool.on_fail = &no_memory;
  if (setjmp(no_memory) == 0) add(messages, severity, place, kind, format, arguments);
  messages->pool.on_fail = NULL;
}

void sr_messages_add(srMessages* messages, srSeverity severity, srPlace place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_guarded(messages, severity, place, NULL, format, arguments);
  va_end(arguments);
}

SR_PRINTF(5, 6)
static void add_as(srMessages* messages, srSeverity severity, srPlace place, const char* kind, const char* format,
                   ...) {
  va_list arguments;
  va_start(arguments, format);
  add_guarded(messages, severity, place, kind, format, arguments);
  va_end(arguments);
}

void sr_messages_vadd(srMessages* messages, srSeverity severity, srPlace place, const char* format, va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  add_as(messages, severity, place, strcmp(format, "%s") == 0 ? text : format, "%s", text);
}

void sr_messages_pass(srMessages* to, const srMessages* from, int i, srSeverity severity) {
  const srMessage* message = &from->items[i];
  add_as(to, severity, message->place, from->kind_names[message->kind], "%s", message->text);
}

static const char* severity_word(srSeverity severity) {
  switch (severity) {
    case SR_SEVERITY_ERROR: return "error";
    case SR_SEVERITY_WARNING: return "warning";
    case SR_SEVERITY_NOTE: return "note";
  }
  return "message";
}

void sr_message_format(const srMessage* message, char* buffer, size_t size) {
  if (size == 0) return;
  const srPlace place = message->place;
  const char* file = place.file ? place.file : "input";
  const char* word = severity_word(message->severity);
  if (place.line > 0 && place.column > 0)
    snprintf(buffer, size, "%s:%d:%d: %s: %s", file, place.line, place.column, word, message->text);
  else if (place.line > 0)
    snprintf(buffer, size, "%s:%d: %s: %s", file, place.line, word, message->text);
  else if (place.file)
    snprintf(buffer, size, "%s: %s: %s", file, word, message->text);
  else
    snprintf(buffer, size, "%s: %s", word, message->text);
}
