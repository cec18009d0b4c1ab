// XML into a tree, on expat. Expat reports where a tag begins but not where its attributes are, so the text of each tag
// is scanned a second time for the places of the values. Input is taken as UTF-8, whatever it declares.
#include "io/xml/xml.h"

#include <expat.h>
#include <string.h>

#include "io/text.h"

typedef struct Cursor {  // a place in the text that only moves forward, so that finding lines costs one pass
  size_t offset;
  int line, column;
} Cursor;

typedef struct Sax {
  XML_Parser parser;
  srPool* pool;
  srMessages* messages;
  const char* text;
  size_t size;
  const char* file;
  Cursor cursor;
  srXmlNode *root, *open;  // open: innermost element whose end has not come
  int depth;
  bool refused;  // an error was reported here: nothing more is read
  bool raw;      // the error is a '<' inside an attribute
  size_t error;  // where it is
  bool no_memory;
} Sax;

// ----------------------------------------------------------------------------------------------------- expat's memory
// Expat needs malloc, realloc and free; the allocator's realloc must know the size, so the size is stored in front.
#define MEMORY_HEAD 16u

static void* memory_get(size_t size) {
  if (size > SIZE_MAX - MEMORY_HEAD) return NULL;
  char* block = sr_alloc(size + MEMORY_HEAD);
  if (!block) return NULL;
  memcpy(block, &size, sizeof size);
  return block + MEMORY_HEAD;
}

static void memory_release(void* pointer) {
  if (pointer) sr_free((char*)pointer - MEMORY_HEAD);
}

static void* memory_change(void* pointer, size_t size) {
  void* larger = memory_get(size);
  if (!larger || !pointer) return larger;
  size_t old;
  memcpy(&old, (char*)pointer - MEMORY_HEAD, sizeof old);
  memcpy(larger, pointer, old < size ? old : size);
  memory_release(pointer);
  return larger;
}

// ------------------------------------------------------------------------------------------------------------ places
// Columns count characters: bytes that continue a character of UTF-8 do not move them.
static void step(Cursor* c, const char* text, size_t size) {
  const char byte = text[c->offset++];
  const bool line_end = byte == '\n' || (byte == '\r' && !(c->offset < size && text[c->offset] == '\n'));
  if (line_end)
    c->line++, c->column = 1;
  else if (((unsigned char)byte & 0xc0) != 0x80)
    c->column++;
}

static void move_to(Cursor* c, const char* text, size_t size, size_t offset) {
  while (c->offset < offset && c->offset < size) step(c, text, size);
}

static srPlace place_of(const Sax* sax, const Cursor* c) { return (srPlace){sax->file, c->line, c->column}; }

// Moves the cursor to what expat is reporting.
static srPlace event_place(Sax* sax) {
  const XML_Index index = XML_GetCurrentByteIndex(sax->parser);
  if (index >= 0) move_to(&sax->cursor, sax->text, sax->size, (size_t)index);
  return place_of(sax, &sax->cursor);
}

static bool at(const Sax* sax, const Cursor* c, const char* set) {
  return c->offset < sax->size && sax->text[c->offset] != '\0' && strchr(set, sax->text[c->offset]) != NULL;
}

static void skip(const Sax* sax, Cursor* c, const char* set) {
  while (at(sax, c, set)) step(c, sax->text, sax->size);
}

static void skip_until(const Sax* sax, Cursor* c, const char* set) {
  while (c->offset < sax->size && !at(sax, c, set)) step(c, sax->text, sax->size);
}

// Places of the attributes: expat has accepted the tag, so it is well-formed and they come in the order of the text.
static void find_attributes(const Sax* sax, srXmlNode* node) {
  static const char blanks[] = " \t\r\n";
  Cursor c = sax->cursor;
  skip_until(sax, &c, " \t\r\n/>");
  for (int i = 0; i < node->nattribute; i++) {
    srXmlAttribute* a = &node->attributes[i];
    skip(sax, &c, blanks);
    a->name_place = place_of(sax, &c);
    skip_until(sax, &c, "\"'");
    const bool single = at(sax, &c, "'");
    step(&c, sax->text, sax->size);
    a->place = place_of(sax, &c);
    skip_until(sax, &c, single ? "'" : "\"");
    step(&c, sax->text, sax->size);
  }
}

// ---------------------------------------------------------------------------------------------------------- handlers
static void refuse(Sax* sax) {
  sax->refused = true;
  XML_StopParser(sax->parser, XML_FALSE);
}

static srXmlNode* new_node(Sax* sax, const char* name, const char** pairs, int nattribute) {
  srXmlNode* node = sr_pool_alloc(sax->pool, sizeof *node);
  node->name = sr_pool_text(sax->pool, name);
  node->place = place_of(sax, &sax->cursor);
  node->nattribute = nattribute;
  if (nattribute > 0) node->attributes = sr_pool_alloc(sax->pool, (size_t)nattribute * sizeof *node->attributes);
  for (int i = 0; i < nattribute; i++) {
    node->attributes[i].name = sr_pool_text(sax->pool, pairs[2 * i]);
    node->attributes[i].value = sr_pool_text(sax->pool, pairs[2 * i + 1]);
  }
  find_attributes(sax, node);
  return node;
}

static void open_element(Sax* sax, const char* name, const char** pairs) {
  const srPlace place = event_place(sax);
  int nattribute = 0;
  while (pairs[2 * nattribute]) nattribute++;
  if (sax->depth >= SR_XML_MAX_DEPTH) {
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place, "<%s> is nested more than %d elements deep", name,
                    SR_XML_MAX_DEPTH);
    refuse(sax);
  } else if (nattribute > SR_XML_MAX_ATTRIBUTES) {
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place, "<%s> has %d attributes; at most %d are read", name,
                    nattribute, SR_XML_MAX_ATTRIBUTES);
    refuse(sax);
  } else {
    srXmlNode* node = new_node(sax, name, pairs, nattribute);
    if (sax->open)
      sr_xml_append(sax->open, node);
    else
      sax->root = node;
    sax->open = node;
    sax->depth++;
  }
}

// Expat gives the text of an element in pieces: they are put together, from the first character that is no blank on.
static void keep_text(Sax* sax, const char* text, int n) {
  srXmlNode* node = sax->open;
  int first = 0;
  while (!(node && node->text) && first < n && sr_text_is_blank(text[first])) first++;
  if (first == n || !node) return;
  if (!node->text) {
    event_place(sax);
    Cursor c = sax->cursor;
    for (int i = 0; i < first && c.offset < sax->size; i++) step(&c, sax->text, sax->size);
    node->text_place = place_of(sax, &c);
  }
  const size_t more = (size_t)(n - first), size = node->text_size + more;
  if (size + 1 > node->text_capacity) {
    const size_t capacity = 2 * size + 32;
    char* larger = sr_pool_alloc(sax->pool, capacity);
    if (node->text) memcpy(larger, node->text, node->text_size);
    node->text = larger;
    node->text_capacity = capacity;
  }
  char* to = (char*)(size_t)node->text + node->text_size;
  memcpy(to, text + first, more);
  to[more] = '\0';
  node->text_size = size;
}

static void trim_text(srXmlNode* node) {
  if (!node->text) return;
  while (node->text_size > 0 && sr_text_is_blank(node->text[node->text_size - 1])) node->text_size--;
  ((char*)(size_t)node->text)[node->text_size] = '\0';
}

// Handlers run inside expat, which a jump must not leave: memory that runs out jumps here, and expat is stopped.
#define GUARDED(sax, call)                                                                                             \
  do {                                                                                                                 \
    jmp_buf* outer = (sax)->pool->on_fail;                                                                             \
    jmp_buf here;                                                                                                      \
    (sax)->pool->on_fail = &here;                                                                                      \
    if (setjmp(here) == 0) {                                                                                           \
      call;                                                                                                            \
    } else {                                                                                                           \
      (sax)->no_memory = true;                                                                                         \
      XML_StopParser((sax)->parser, XML_FALSE);                                                                        \
    }                                                                                                                  \
    (sax)->pool->on_fail = outer;                                                                                      \
  } while (0)

static bool over(const Sax* sax) { return sax->refused || sax->no_memory; }

static void XMLCALL on_start(void* user, const XML_Char* name, const XML_Char** pairs) {
  Sax* sax = user;
  if (!over(sax)) GUARDED(sax, open_element(sax, name, pairs));
}

static void XMLCALL on_end(void* user, const XML_Char* name) {
  Sax* sax = user;
  (void)name;
  if (over(sax) || !sax->open) return;
  trim_text(sax->open);
  sax->open = sax->open->parent;
  sax->depth--;
}

static void XMLCALL on_text(void* user, const XML_Char* text, int n) {
  Sax* sax = user;
  if (!over(sax)) GUARDED(sax, keep_text(sax, text, n));
}

// Expat reports a document type at its '[' or at its end: the place is where it begins.
static srPlace doctype_place(const Sax* sax) {
  static const char word[] = "<!DOCTYPE";
  const size_t n = sizeof word - 1;
  const XML_Index index = XML_GetCurrentByteIndex(sax->parser);
  size_t offset = index > 0 ? (size_t)index : 0;
  while (offset > 0 && (offset + n > sax->size || memcmp(sax->text + offset, word, n) != 0)) offset--;
  Cursor c = sax->cursor;
  move_to(&c, sax->text, sax->size, offset);
  return place_of(sax, &c);
}

static void XMLCALL on_doctype(void* user, const XML_Char* name, const XML_Char* system, const XML_Char* public,
                               int internal) {
  Sax* sax = user;
  (void)name, (void)system, (void)public, (void)internal;
  if (over(sax)) return;
  sr_messages_add(sax->messages, SR_SEVERITY_ERROR, doctype_place(sax),
                  "<!DOCTYPE> is refused: model files have no document type and declare no entities");
  refuse(sax);
}

// ------------------------------------------------------------------------------------------------------------ errors
// The word that begins at the offset, for "duplicate attribute 'mass'".
static const char* word_at(const Sax* sax, size_t offset) {
  size_t end = offset;
  while (end < sax->size && end < offset + 60 && !strchr(" \t\r\n=/>\"'", sax->text[end])) end++;
  return sr_pool_text_n(sax->pool, sax->text + offset, end - offset);
}

// Whether the offset is inside the value of an attribute: a quote is open behind the last '<'.
static bool in_attribute(const char* text, size_t offset) {
  size_t start = offset;
  char quote = 0;
  while (start > 0 && text[start - 1] != '<') start--;
  for (size_t i = start; i < offset; i++) {
    if (quote && text[i] == quote)
      quote = 0;
    else if (!quote && (text[i] == '"' || text[i] == '\''))
      quote = text[i];
  }
  return quote != 0;
}

static void report(Sax* sax) {
  const enum XML_Error code = XML_GetErrorCode(sax->parser);
  const XML_LChar* what = XML_ErrorString(code);
  const XML_Index index = XML_GetErrorByteIndex(sax->parser);
  Cursor c = {.line = 1, .column = 1};
  move_to(&c, sax->text, sax->size, index > 0 ? (size_t)index : 0);
  const srPlace place = place_of(sax, &c);
  const srXmlNode* open = sax->open;
  if (code == XML_ERROR_TAG_MISMATCH && open)
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place, "%s: <%s> of line %d is still open here", what, open->name,
                    open->place.line);
  else if (code == XML_ERROR_NO_ELEMENTS && open)
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place, "the file ends, but <%s> of line %d is still open",
                    open->name, open->place.line);
  else if (code == XML_ERROR_DUPLICATE_ATTRIBUTE)
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place, "%s '%s'", what, word_at(sax, c.offset));
  else if (sax->raw)
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place,
                    "'<' inside an attribute is written &lt; in XML; a comparison may be turned round, a > b");
  else if (code == XML_ERROR_INVALID_TOKEN && c.offset < sax->size && c.offset > 0 &&
           in_attribute(sax->text, c.offset) && (sax->text[c.offset] == '&' || sax->text[c.offset - 1] == '&'))
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place, "'&' inside an attribute is written &amp; in XML");
  else
    sr_messages_add(sax->messages, SR_SEVERITY_ERROR, place, "this is not XML: %s", what ? what : "it cannot be read");
}

static bool parse(Sax* sax) {
  XML_SetUserData(sax->parser, sax);
  XML_SetElementHandler(sax->parser, on_start, on_end);
  XML_SetCharacterDataHandler(sax->parser, on_text);
  XML_SetStartDoctypeDeclHandler(sax->parser, on_doctype);
  const bool done = XML_Parse(sax->parser, sax->text, (int)sax->size, 1) == XML_STATUS_OK;
  if (XML_GetErrorCode(sax->parser) == XML_ERROR_NO_MEMORY) sax->no_memory = true;
  if (!done && !over(sax)) {
    const XML_Index index = XML_GetErrorByteIndex(sax->parser);
    sax->raw = XML_GetErrorCode(sax->parser) == XML_ERROR_INVALID_TOKEN && index > 0 && (size_t)index < sax->size &&
               sax->text[index] == '<' && in_attribute(sax->text, (size_t)index);
    sax->error = index > 0 ? (size_t)index : 0;
    report(sax);
  }
  return done && !over(sax);
}

// One reading, up to the end or the first error.
static bool read_once(Sax* sax) {
  static const XML_Memory_Handling_Suite memory = {memory_get, memory_change, memory_release};
  const bool mark = sax->size >= 3 && memcmp(sax->text, "\xef\xbb\xbf", 3) == 0;  // byte order mark: takes no column
  sax->cursor = (Cursor){.offset = mark ? 3 : 0, .line = 1, .column = 1};
  sax->root = sax->open = NULL;
  sax->depth = 0;
  sax->raw = false;
  sax->parser = XML_ParserCreate_MM("UTF-8", &memory, NULL);
  if (!sax->parser) longjmp(*sax->pool->on_fail, 1);
  const bool done = parse(sax);
  XML_ParserFree(sax->parser);
  if (sax->no_memory) longjmp(*sax->pool->on_fail, 1);
  return done;
}

srXmlNode* sr_xml_read_part(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages,
                            srXmlExtent* extent) {
  enum { TRIES = 20 };
  *extent = SR_XML_CUT;
  if (size > SR_XML_MAX_SIZE) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){file, 0, 0}, "larger than %d MiB",
                    (int)(SR_XML_MAX_SIZE >> 20));
    return NULL;
  }
  Sax* sax = sr_pool_alloc(pool, sizeof *sax);
  *sax = (Sax){.pool = pool, .messages = messages, .text = text, .size = size, .file = file};
  if (read_once(sax)) *extent = SR_XML_WHOLE;
  // A '<' in a formula is reported, then read as '>', for the errors behind it.
  char* copy = sax->raw ? sr_pool_text_n(pool, text, size) : NULL;
  for (int i = 0; sax->raw && i < TRIES; i++) {
    copy[sax->error] = '>';
    sax->text = copy;
    if (read_once(sax)) *extent = SR_XML_MARRED;
  }
  for (srXmlNode* open = sax->open; open; open = open->parent) trim_text(open);
  return sax->refused ? NULL : sax->root;
}

srXmlNode* sr_xml_read(srPool* pool, const char* text, size_t size, const char* file, srMessages* messages) {
  srXmlExtent extent;
  srXmlNode* root = sr_xml_read_part(pool, text, size, file, messages, &extent);
  return extent == SR_XML_WHOLE ? root : NULL;
}

srXmlNode* sr_xml_append(srXmlNode* parent, srXmlNode* child) {
  child->parent = parent;
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  return child;
}

const srXmlAttribute* sr_xml_attribute(const srXmlNode* node, const char* name) {
  for (int i = 0; i < node->nattribute; i++)
    if (strcmp(node->attributes[i].name, name) == 0) return &node->attributes[i];
  return NULL;
}

const srXmlNode* sr_xml_child(const srXmlNode* node, const char* name) {
  for (const srXmlNode* child = node ? node->first : NULL; child; child = child->next)
    if (strcmp(child->name, name) == 0) return child;
  return NULL;
}
