// Parses options by table; suggests the nearest known word when one is unknown.
#include "options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const srPlace here = {"sarrus", 0, 0};

// ------------------------------------------------------------------------------------------------------------ values
static bool parse_number(const char* text, const char** end, double* out) {
  if (!*text || isspace((unsigned char)*text)) return false;
  char* stop;
  *out = strtod(text, &stop);
  *end = stop;
  return stop != text && isfinite(*out);
}

static bool set_number(const Option* o, const char* value, srMessages* messages) {
  const char* end;
  if (parse_number(value, &end, o->target) && *end == 0) return true;
  sr_messages_add(messages, SR_SEVERITY_ERROR, here, "%s expects a number, not '%s'", o->name, value);
  return false;
}

static bool set_numbers(const Option* o, const char* value, srMessages* messages) {
  NumberList* list = o->target;
  size_t room = 1;
  for (const char* p = value; *p; p++) room += *p == ',';
  free(list->x);
  list->n = 0;
  list->x = calloc(room, sizeof *list->x);
  if (!list->x) return false;
  if (*value == 0) return true;  // an empty list, for models without coordinates
  for (const char* p = value;; p++) {
    while (*p == ' ') p++;
    const char* end;
    if (!parse_number(p, &end, &list->x[list->n]) || (*end && *end != ',' && *end != ' ')) break;
    list->n++;
    while (*end == ' ') end++;
    if (*end == 0) return true;
    if (*end != ',') break;
    p = end;
  }
  sr_messages_add(messages, SR_SEVERITY_ERROR, here,
                  "%s expects numbers separated by commas; number %d of '%s' is none (or not finite)", o->name,
                  list->n + 1, value);
  return false;
}

static bool set_setting(const Option* o, const char* value, srMessages* messages) {
  Settings* settings = o->target;
  const char* equals = strchr(value, '=');
  if (!equals || equals == value || equals[1] == 0) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "%s expects NAME=VALUE, not '%s'", o->name, value);
    return false;
  }
  srSetting* item = realloc(settings->item, (size_t)(settings->n + 1) * sizeof *item);
  char* name = malloc((size_t)(equals - value) + 1);
  if (item) settings->item = item;
  if (!item || !name) {
    free(name);
    return false;
  }
  memcpy(name, value, (size_t)(equals - value));
  name[equals - value] = 0;
  item[settings->n++] = (srSetting){name, equals + 1};
  return true;
}

static bool set_text(const Option* o, const char* value, srMessages* messages) {
  *(const char**)o->target = value;
  if (*value) return true;
  sr_messages_add(messages, SR_SEVERITY_ERROR, here, "%s has an empty value, expected %s", o->name, o->value);
  return false;
}

static bool set_texts(const Option* o, const char* value, srMessages* messages) {
  TextList* list = o->target;
  const char* text;
  if (!set_text(&(Option){o->name, OPTION_TEXT, &text, o->value, o->doc}, value, messages)) return false;
  const char** item = realloc(list->item, (size_t)(list->n + 1) * sizeof *item);
  if (!item) return false;
  list->item = item;
  item[list->n++] = text;
  return true;
}

static bool set_value(const Option* o, const char* value, srMessages* messages) {
  switch (o->kind) {
    case OPTION_FLAG: *(bool*)o->target = true; return true;
    case OPTION_TEXT:
    case OPTION_CHOICE: return set_text(o, value, messages);
    case OPTION_NUMBER: return set_number(o, value, messages);
    case OPTION_NUMBERS: return set_numbers(o, value, messages);
    case OPTION_TEXTS: return set_texts(o, value, messages);
    case OPTION_SETTING: return set_setting(o, value, messages);
  }
  return false;
}

// ----------------------------------------------------------------------------------------------------------- parsing
static const Option* find(const Option* options, int n, const char* word, size_t length) {
  for (int i = 0; i < n; i++)
    if (strlen(options[i].name) == length && strncmp(options[i].name, word, length) == 0) return &options[i];
  return NULL;
}

static bool unknown(const Option* options, int n, const char* word, size_t length, srMessages* messages) {
  char name[64];
  const char* words[32] = {"--help"};
  int nword = 1;
  snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), word);
  for (int i = 0; i < n && nword < 32; i++)
    if (*options[i].name) words[nword++] = options[i].name;
  const char* meant = sr_nearest_word(name, words, nword);
  if (meant)
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "unknown option '%s'; did you mean '%s'?", name, meant);
  else
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "unknown option '%s'; --help lists those that exist", name);
  return false;
}

// Takes the option at argv[*i] and its value.
static bool take_option(const Option* options, int n, int argc, char** argv, int* i, srMessages* messages) {
  const char* word = argv[*i];
  const char* equals = strchr(word, '=');
  const size_t length = equals ? (size_t)(equals - word) : strlen(word);
  const Option* o = find(options, n, word, length);
  if (!o) return unknown(options, n, word, length, messages);
  if (o->kind == OPTION_FLAG) {
    if (!equals) return set_value(o, NULL, messages);
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "%s takes no value", o->name);
    return false;
  }
  if (o->kind == OPTION_CHOICE && !equals) return *(const char**)o->target = "", true;
  if (equals) return set_value(o, equals + 1, messages);
  if (*i + 1 >= argc) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "%s needs a value: %s %s", o->name, o->name, o->value);
    return false;
  }
  return set_value(o, argv[++*i], messages);
}

// A word that belongs to no option.
static bool take_argument(const Option* options, int n, const char* word, const char** argument, srMessages* messages) {
  const Option* several = find(options, n, "", 0);
  if (!*word) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "the argument is empty");
    return false;
  }
  if (strcmp(word, "-") == 0) {
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, here,
        "'-' is standard output, for --out; nothing is read from standard input (a file of this name is ./-)");
    return false;
  }
  if (*argument && !several) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, here, "'%s' is one argument too many, after '%s'", word, *argument);
    return false;
  }
  if (!*argument) *argument = word;
  return !several || set_value(several, word, messages);
}

bool options_parse(const Option* options, int n, int argc, char** argv, srMessages* messages, const char** argument,
                   bool* help) {
  bool good = true;
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      *help = true;
    } else if (argv[i][0] == '-' && argv[i][1]) {
      good = take_option(options, n, argc, argv, &i, messages) && good;
    } else {
      good = take_argument(options, n, argv[i], argument, messages) && good;
    }
  }
  return good;
}

void numbers_free(NumberList* list) {
  free(list->x);
  *list = (NumberList){0};
}

void texts_free(TextList* list) {
  free(list->item);
  *list = (TextList){0};
}

void settings_free(Settings* settings) {
  for (int i = 0; i < settings->n; i++) free((char*)(size_t)settings->item[i].name);
  free(settings->item);
  *settings = (Settings){0};
}
