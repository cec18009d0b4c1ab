// XML out: elements begun and ended, attributes of texts and numbers. For the writers of model files.
//
//   sr_xml_begin(w, "link");
//   sr_xml_text(w, "name", "arm");
//   sr_xml_numbers(w, "xyz", x, 3);     the fewest digits that read back as the same numbers
//   sr_xml_end(w);                      <link name="arm" xyz="0 0 1"/>
#ifndef SR_IO_XML_WRITE_H
#define SR_IO_XML_WRITE_H

#include "base/base.h"

typedef struct srXmlWriter {
  srPool* pool;  // on_fail is set
  char* text;    // n bytes, in the pool, without a zero at the end until sr_xml_finish
  int n, capacity;
  const char** open;  // elements that are not ended yet
  int nopen, open_capacity;
  bool keeps_minus_zero;  // else -0 is written 0
  bool in_tag;            // attributes may follow
  bool has_words;         // the open element holds text: its end is on the same line
  int deepest;
} srXmlWriter;

void sr_xml_begin(srXmlWriter* w, const char* element);
void sr_xml_end(srXmlWriter* w);
void sr_xml_text(srXmlWriter* w, const char* attribute, const char* value);
void sr_xml_number(srXmlWriter* w, const char* attribute, double value);
void sr_xml_numbers(srXmlWriter* w, const char* attribute, const double* values, int n);
void sr_xml_words(srXmlWriter* w, const char* words);  // text inside the element
const char* sr_xml_finish(srXmlWriter* w);             // the whole text, ended by a zero

#endif
