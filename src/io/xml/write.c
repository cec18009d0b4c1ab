// XML out: see write.h.
#include "io/xml/write.h"

#include <string.h>

#include "expr/expr.h"

#define MARGIN 40  // levels

static void put_n(srXmlWriter* w, const char* text, size_t n) {
  while ((size_t)(w->capacity - w->n) < n) w->text = sr_pool_grow(w->pool, w->text, 1, w->n, &w->capacity);
  memcpy(w->text + w->n, text, n);
  w->n += (int)n;
}

static void put(srXmlWriter* w, const char* text) { put_n(w, text, strlen(text)); }

// Blanks other than ' ' would be read as ' ', so they are written by number; other control characters are not allowed in XML.
static void put_escaped(srXmlWriter* w, const char* text) {
  for (; *text; text++) {
    switch (*text) {
      case '&': put(w, "&amp;"); break;
      case '<': put(w, "&lt;"); break;
      case '>': put(w, "&gt;"); break;
      case '"': put(w, "&quot;"); break;
      case '\n': put(w, "&#10;"); break;
      case '\r': put(w, "&#13;"); break;
      case '\t': put(w, "&#9;"); break;
      default: put_n(w, (unsigned char)*text < 0x20 ? "?" : text, 1);
    }
  }
}

static void end_tag(srXmlWriter* w, const char* how) {
  if (w->in_tag) put(w, how);
  w->in_tag = false;
}

// Not beyond MARGIN: the lines of a long chain of bodies would be blanks for the most part.
static void indent(srXmlWriter* w) {
  for (int i = 0; i < w->nopen && i < MARGIN; i++) put(w, "  ");
}

void sr_xml_begin(srXmlWriter* w, const char* element) {
  end_tag(w, ">\n");
  indent(w);
  put(w, "<"), put(w, element);
  SR_PUSH(w->pool, w->open, w->nopen, w->open_capacity) = element;
  if (w->nopen > w->deepest) w->deepest = w->nopen;
  w->in_tag = true;
  w->has_words = false;
}

void sr_xml_end(srXmlWriter* w) {
  const char* element = w->open[--w->nopen];
  if (w->in_tag) {
    end_tag(w, "/>\n");
    return;
  }
  if (!w->has_words) indent(w);
  w->has_words = false;
  put(w, "</"), put(w, element), put(w, ">\n");
}

static void attribute(srXmlWriter* w, const char* name) { put(w, " "), put(w, name), put(w, "=\""); }

void sr_xml_text(srXmlWriter* w, const char* name, const char* value) {
  attribute(w, name);
  put_escaped(w, value);
  put(w, "\"");
}

void sr_xml_numbers(srXmlWriter* w, const char* name, const double* values, int n) {
  attribute(w, name);
  for (int i = 0; i < n; i++) {
    char number[SR_NUMBER_TEXT];
    sr_number_text(values[i] == 0 && !w->keeps_minus_zero ? 0 : values[i], number, sizeof number);
    if (i > 0) put(w, " ");
    put(w, number);
  }
  put(w, "\"");
}

void sr_xml_number(srXmlWriter* w, const char* name, double value) { sr_xml_numbers(w, name, &value, 1); }

void sr_xml_words(srXmlWriter* w, const char* words) {
  end_tag(w, ">");
  put_escaped(w, words);
  w->has_words = true;
}

const char* sr_xml_finish(srXmlWriter* w) {
  while (w->nopen > 0) sr_xml_end(w);
  put_n(w, "", 1);
  w->n--;
  return w->text;
}
