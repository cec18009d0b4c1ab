// XML into a small tree, on expat: the ground of every reader (native, URDF, MJCF). Every element and every attribute
// knows its file, line and column. Document types and entities are refused; size, depth and attributes are bounded.
#ifndef SR_IO_XML_XML_H
#define SR_IO_XML_XML_H

#include "base/base.h"

#define SR_XML_MAX_SIZE ((size_t)64 << 20)
#define SR_XML_MAX_DEPTH 200
#define SR_XML_MAX_ATTRIBUTES 64

typedef struct srXmlAttribute {
  const char* name;
  const char* value;   // as XML gives it: entities resolved, line ends turned into blanks
  srPlace name_place;  // first character of the name
  srPlace place;       // first character of the value, behind the quote
} srXmlAttribute;

typedef struct srXmlNode {
  const char* name;
  srPlace place;  // of its '<'
  srXmlAttribute* attributes;
  int nattribute;
  struct srXmlNode* parent;
  struct srXmlNode *first, *last;  // children
  struct srXmlNode* next;          // sibling
  const char* text;                // the text between the tags, without blanks at the ends; NULL: nothing but blanks
  srPlace text_place;              // of its first character
  size_t text_size, text_capacity;
  int scope;  // for readers that put models together: which of them it belongs to, 0 for the file itself
} srXmlNode;

// Reads text; the tree lives in the pool, whose on_fail must be set. file is kept in the places, not copied. NULL after
// an error, which is in messages.
srXmlNode* sr_xml_read(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages);
// The same, and after an error the tree as far as it could be read. NULL: nothing, or it is refused.
typedef enum srXmlExtent {
  SR_XML_WHOLE,   // without errors
  SR_XML_MARRED,  // all of it, with errors in some values
  SR_XML_CUT      // up to an error
} srXmlExtent;
srXmlNode* sr_xml_read_part(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages,
                            srXmlExtent* extent);

srXmlNode* sr_xml_append(srXmlNode* parent, srXmlNode* child);                    // behind its children; the child
const srXmlAttribute* sr_xml_attribute(const srXmlNode* node, const char* name);  // NULL: not there
const srXmlNode* sr_xml_child(const srXmlNode* node, const char* name);           // the first; NULL: none, or no node

#endif
