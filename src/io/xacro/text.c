// Texts of xacro: ${formula}, $(arg NAME), $(find PACKAGE), and $${ or $$( for the characters themselves.
#include <string.h>

#include "io/file.h"
#include "io/xacro/parts.h"

typedef struct Piece {  // of a text
  enum { PLAIN, FORMULA, SUBSTITUTION } kind;
  const char* start;  // of what is inside
  size_t n;
} Piece;

srPlace sr_xacro_moved(srPlace place, const char* text, size_t offset) {
  for (size_t i = 0; i < offset && text[i]; i++) {
    if (text[i] == '\n')
      place.line++, place.column = 1;
    else if (((unsigned char)text[i] & 0xc0) != 0x80)
      place.column++;
  }
  return place;
}

// The end of ${...} or $(...), whose inside begins at p; NULL: it has none. Braces within a formula are counted.
static const char* find_end(const char* p, char open, char close) {
  char quote = 0;
  for (int depth = 0; *p; p++) {
    if (quote) {
      if (*p == quote) quote = 0;
    } else if (open == '{' && (*p == '\'' || *p == '"')) {
      if (strchr(p + 1, *p)) quote = *p;
    } else if (*p == close) {
      if (depth-- == 0) return p;
    } else if (*p == open) {
      depth++;
    }
  }
  return NULL;
}

// Takes the next piece from *p. False after an error: its end is missing.
static bool next_piece(srXacro* x, const char** p, const char* text, srPlace place, Piece* out) {
  const char* s = *p;
  size_t dollars = strspn(s, "$");
  if (dollars >= 2 && (s[dollars] == '{' || s[dollars] == '(')) {  // one of them is taken away
    *out = (Piece){PLAIN, s + 1, dollars};
    *p = s + dollars + 1;
    return true;
  }
  if (dollars == 1 && (s[1] == '{' || s[1] == '(')) {
    const char close = s[1] == '{' ? '}' : ')';
    const char* end = find_end(s + 2, s[1], close);
    if (!end) {
      sr_xacro_error(x, sr_xacro_moved(place, text, (size_t)(s - text)), "'$%c' has no '%c'", s[1], close);
      return false;
    }
    *out = (Piece){s[1] == '{' ? FORMULA : SUBSTITUTION, s + 2, (size_t)(end - s - 2)};
    *p = end + 1;
    return true;
  }
  size_t n = dollars;
  while (s[n] && s[n] != '$') n++;
  *out = (Piece){PLAIN, s, n};
  *p = s + n;
  return true;
}

// ----------------------------------------------------------------------------------------------------- substitutions
bool sr_xacro_argument(srXacro* x, const char* name, srPlace place, srXacroValue* out) {
  const int i = sr_names_find(&x->argument_names, name);
  const char* value = i >= 0 ? x->argument[i] : sr_reader_setting(x->r, name);
  if (!value) {
    const char* nearest = sr_names_nearest(&x->argument_names, name);
    if (nearest)
      sr_xacro_error(x, place, "there is no argument '%.60s'; did you mean '%s'?", name, nearest);
    else
      sr_xacro_error(x, place, "there is no argument '%.60s': declare it by <xacro:arg> or give --set %.60s=VALUE",
                     name, name);
    return false;
  }
  *out = sr_xacro_str(value);
  return true;
}

// $(optenv NAME text...): the environment is not read, so that a model does not depend on it; the text, or nothing.
static bool optional_environment(srXacro* x, const char* name, const char* rest, srPlace place, srXacroValue* out) {
  (void)name;
  sr_reader_ignore(x->r, place, "the environment in $(optenv), whose default is taken instead,");
  *out = sr_xacro_str(rest);
  return true;
}

static bool substitute(srXacro* x, const char* inside, srPlace place, srXacroValue* out) {
  srPool* pool = &x->r->pool;
  const char* p = inside + strspn(inside, " \t\n");
  const size_t n = strcspn(p, " \t\n");
  const char* word = sr_pool_text_n(pool, p, n);
  p += n;
  p += strspn(p, " \t\n");
  const size_t length = strcspn(p, " \t\n");
  const char* name = sr_pool_text_n(pool, p, length);
  const char* rest = p + length + strspn(p + length, " \t\n");
  if (strcmp(word, "arg") == 0 && *name) return sr_xacro_argument(x, name, place, out);
  if (strcmp(word, "find") == 0 && *name) {
    *out = sr_xacro_str(sr_pool_printf(pool, "package://%s", name));
    return true;
  }
  if (strcmp(word, "dirname") == 0 &&
      x->folder) {  // a whole path: relative ones are relative to the file that contains them
    const char* real = sr_path_real(pool, x->folder);
    *out = sr_xacro_str(real ? real : x->folder);
    return true;
  }
  if (strcmp(word, "optenv") == 0 && *name) return optional_environment(x, name, rest, place, out);
  if (strcmp(word, "env") == 0)
    sr_xacro_error(x, place, "$(env %.60s) is refused: a model does not depend on the environment; use <xacro:arg>",
                   name);
  else
    sr_xacro_beyond(x, place, "$(%.60s) is not understood; known are $(arg NAME) and $(find PACKAGE)", inside);
  return false;
}

// ------------------------------------------------------------------------------------------------------------- texts
// What is inside of ${...} and $(...) may have $(...) itself.
static const char* inside_of(srXacro* x, srXacroScope* scope, const Piece* piece, srPlace place) {
  const char* inside = sr_pool_text_n(&x->r->pool, piece->start, piece->n);
  return strchr(inside, '$') ? sr_xacro_words(x, scope, inside, place) : inside;
}

static bool evaluate(srXacro* x, srXacroScope* scope, const Piece* piece, srPlace place, srXacroValue* out) {
  if (piece->kind == PLAIN) {
    *out = sr_xacro_str(sr_pool_text_n(&x->r->pool, piece->start, piece->n));
    return true;
  }
  const char* inside = inside_of(x, scope, piece, place);
  if (!inside) return false;
  return piece->kind == FORMULA ? sr_xacro_formula(x, scope, inside, place, out) : substitute(x, inside, place, out);
}

// $(find P) means package://P: in "file://$(find P)/x" the first scheme goes.
static const char* join(srXacro* x, const char* a, const char* b, srPlace place) {
  const size_t n = strlen(a), m = strlen(b);
  if (n + m > SR_XACRO_TEXT) {
    sr_xacro_error(x, place, "a text becomes longer than %d characters", (int)SR_XACRO_TEXT);
    return NULL;
  }
  if (!sr_xacro_room(x, n + m, place)) return NULL;
  if (strcmp(a, "file://") == 0 && strncmp(b, "package://", 10) == 0) return b;
  return sr_pool_printf(&x->r->pool, "%s%s", a, b);
}

static bool whole_text(srXacro* x, srXacroScope* scope, const char* text, srPlace place, srXacroValue* out) {
  const char* joined = NULL;
  int n = 0;
  for (const char* p = text; *p; n++) {
    Piece piece;
    srXacroValue value;
    if (!next_piece(x, &p, text, place, &piece)) return false;
    const srPlace at = sr_xacro_moved(place, text, (size_t)(piece.start - text));
    if (!evaluate(x, scope, &piece, at, &value)) return false;
    if (n == 0) *out = value;
    joined = n == 0 ? sr_xacro_print(x, &value) : join(x, joined, sr_xacro_print(x, &value), place);
    if (!joined) return false;
  }
  if (n > 1) *out = sr_xacro_str(joined);
  return true;
}

bool sr_xacro_text(srXacro* x, srXacroScope* scope, const char* text, srPlace place, srXacroValue* out) {
  *out = sr_xacro_str(text);
  if (!strchr(text, '$')) return true;
  if (strlen(text) > SR_XACRO_TEXT) {
    sr_xacro_error(x, place, "a text with $ is longer than %d characters", (int)SR_XACRO_TEXT);
    return false;
  }
  if (!sr_xacro_enter(x, place)) return false;
  const bool good = sr_xacro_room(x, strlen(text), place) && whole_text(x, scope, text, place, out);
  sr_xacro_leave(x);
  return good;
}

const char* sr_xacro_words(srXacro* x, srXacroScope* scope, const char* text, srPlace place) {
  srXacroValue value;
  return sr_xacro_text(x, scope, text, place, &value) ? sr_xacro_print(x, &value) : NULL;
}
