// Lists in attributes: splits a text into formulas by the rule in list.h.
#include "model/list.h"

#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_sign(char c) { return c == '+' || c == '-'; }
// Operators that no value can begin with.
static bool is_binary(char c) { return c != '\0' && strchr("*/^<>=!", c) != NULL; }

// At blanks after a value that ends at `last`: does the value continue at `next`?
static bool goes_on(const char* last, const char* next) {
  if (is_binary(*last) || is_sign(*last)) return true;  // no value ends with an operator
  if (is_binary(*next)) return true;
  return is_sign(*next) && is_blank(next[1]);
}

// End of the value that begins at p: one past its last character.
static const char* value_end(const char* p) {
  const char* end = p;
  for (int depth = 0; *p;) {
    if (depth <= 0 && *p == ',') break;
    if (is_blank(*p)) {
      const char* next = p;
      while (is_blank(*next)) next++;
      if (!*next || (depth <= 0 && (*next == ',' || !goes_on(end - 1, next)))) break;
      p = next;
      continue;
    }
    depth += (*p == '(') - (*p == ')');
    end = ++p;
  }
  return end;
}

static srPlace moved(srPlace place, const char* from, const char* to) {
  for (const char* p = from; place.column > 0 && p < to; p++)
    if (((unsigned char)*p & 0xc0) != 0x80) place.column++;  // characters, not bytes
  return place;
}

static int split_text(srPool* pool, const char* text, srPlace place, srListItem** items) {
  int n = 0, capacity = 0;
  bool comma = false;  // the last thing read was a comma: a value must follow
  for (const char* p = text;;) {
    while (is_blank(*p)) p++;
    if (!*p && !comma) return n;
    const char* end = *p == ',' ? p : value_end(p);
    const srListItem item = {.text = sr_pool_text_n(pool, p, (size_t)(end - p)), .place = moved(place, text, p)};
    SR_PUSH(pool, *items, n, capacity) = item;
    p = end;
    while (is_blank(*p)) p++;
    comma = *p == ',';
    if (comma) p++;
  }
}

int sr_split_list(srPool* pool, const srAttr* attr, srListItem** items) {
  *items = NULL;
  if (attr->text) return split_text(pool, attr->text, attr->place, items);
  if (attr->n <= 0) return 0;
  *items = sr_pool_alloc(pool, (size_t)attr->n * sizeof **items);
  for (int i = 0; i < attr->n; i++)
    (*items)[i] = (srListItem){.number = attr->numbers ? attr->numbers[i] : attr->number, .place = attr->place};
  return attr->n;
}

int sr_split_names(srPool* pool, const srAttr* attr, srListItem** items) {
  const char *text = attr->text ? attr->text : "", *separators = strchr(text, ',') ? "," : " \t\n\r";
  int n = 0, capacity = 0;
  *items = NULL;
  for (const char* p = text;;) {
    while (is_blank(*p)) p++;
    const char* next = p + strcspn(p, separators);
    if (!*p && n == 0) return 0;
    if (!*p && *separators != ',') return n;
    const char* end = next;
    while (end > p && is_blank(end[-1])) end--;
    const srListItem item = {.text = sr_pool_text_n(pool, p, (size_t)(end - p)), .place = moved(attr->place, text, p)};
    SR_PUSH(pool, *items, n, capacity) = item;
    if (!*next) return n;
    p = next + 1;
  }
}
