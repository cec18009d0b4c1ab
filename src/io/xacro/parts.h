// xacro, taken apart: what its files share. Values and formulas are Python's as far as robot files use them.
//   xacro.c             the tree: elements, properties, conditions, includes, blocks
//   macro.c       macros and their calls
//   text.c        texts with ${...} and $(...)
//   expression.c  the formula of ${...}
//   function.c    functions in it
//   yaml.c        load_yaml
//   value.c       values: numbers, texts, lists, dictionaries
//   scope.c       names: properties and blocks
#ifndef SR_IO_XACRO_PARTS_H
#define SR_IO_XACRO_PARTS_H

#include "io/xml/reader.h"

#define SR_XACRO_DEPTH 256               // elements, calls, properties and parentheses within each other
#define SR_XACRO_TEXT ((size_t)1 << 16)  // characters of one text
#define SR_XACRO_ITEMS 10000             // of one list, with those of the lists in it
#define SR_XACRO_LEVELS 32               // of lists within each other
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SR_XACRO_STEPS 20000
#define SR_XACRO_SIZE ((size_t)4 << 20)
#else
#define SR_XACRO_STEPS 2000000             // elements and formulas, after all is written out
#define SR_XACRO_SIZE ((size_t)256 << 20)  // characters and items of all values
#endif

// ------------------------------------------------------------------------------------------------------------ values
typedef enum srXacroType {
  SR_XACRO_NONE,
  SR_XACRO_BOOL,
  SR_XACRO_INT,
  SR_XACRO_FLOAT,
  SR_XACRO_STR,
  SR_XACRO_LIST,
  SR_XACRO_DICT
} srXacroType;

typedef struct srXacroValue {
  srXacroType type;
  int n;             // items of a list or dictionary
  int all, levels;   // with those of the lists in it; how deep these are
  long long whole;   // bool, int
  double number;     // float
  const char* text;  // str
  const struct srXacroValue* items;
  const char* const* keys;  // dictionary: n of them
} srXacroValue;

typedef struct srXacro srXacro;
typedef struct srXacroScope srXacroScope;

srXacroValue sr_xacro_str(const char* text);
srXacroValue sr_xacro_int(long long whole);
srXacroValue sr_xacro_float(double number);
srXacroValue sr_xacro_bool(bool truth);
const char* sr_xacro_type_word(const srXacroValue* v);        // "a number", "a text", ...
bool sr_xacro_number(const srXacroValue* v, double* number);  // bool, int, float; false: it is none
bool sr_xacro_truth(const srXacroValue* v);
bool sr_xacro_equal(const srXacroValue* a, const srXacroValue* b);
// As Python prints it: 1.0, 1e-05, True, [1, 'a'].
const char* sr_xacro_print(srXacro* x, const srXacroValue* v);
// A text that is a number, a truth value or quoted is taken as that, when it gets a name.
srXacroValue sr_xacro_literal(srXacro* x, const srXacroValue* v);
// The value of a condition; false: it is no truth value.
bool sr_xacro_condition(const srXacroValue* v, bool* truth);
bool sr_xacro_read_int(const char* text, long long* whole);  // the whole text; blanks around it are allowed
bool sr_xacro_read_float(const char* text, double* number);

// ------------------------------------------------------------------------------------------------------------- names
typedef struct srXacroSymbol {
  const char* name;  // of a block: "*name" or "**name"
  bool gone;
  bool lazy;           // value is a text that is evaluated at its first use, in the scope of its definition
  bool busy;           // it is being evaluated
  srXacroValue value;  // of a property
  srPlace place;
  const srXmlNode* block;
  bool raw;  // the block is not written out yet
} srXacroSymbol;

typedef struct srXacroParameter {
  const char* name;   // "a", "*a", "**a"
  bool forward;       // a:=^ or a:=^|1: the caller's property of the same name
  const char* value;  // default; NULL: none
} srXacroParameter;

typedef struct srXacroMacro {
  const char* name;
  const srXmlNode* node;
  const char* folder;  // of its file
  srXacroParameter* parameter;
  int nparameter;
} srXacroMacro;

struct srXacroScope {
  srXacroScope* outer;  // of the caller; NULL: the file
  srNames names;
  srXacroSymbol* symbol;
  int nsymbol, symbol_capacity;
};

srXacroScope* sr_xacro_scope(srXacro* x, srXacroScope* outer);
srXacroSymbol* sr_xacro_find(srXacroScope* scope, const char* name, srXacroScope** where);  // NULL: none
srXacroSymbol* sr_xacro_define(srXacro* x, srXacroScope* scope, const char* name);  // new, or the old one emptied
void sr_xacro_set(srXacro* x, srXacroScope* scope, const char* name, srXacroValue value, bool lazy, srPlace place);
// The value of a property; false after an error at place.
bool sr_xacro_get(srXacro* x, srXacroScope* scope, const char* name, srPlace place, srXacroValue* out);

// --------------------------------------------------------------------------------------------------------- expansion
typedef struct srXacroCall {
  const srXacroMacro* macro;
  srPlace place;
  const struct srXacroCall* outer;
} srXacroCall;

typedef struct srXacroFile {
  const char* real;  // path, links resolved
  const struct srXacroFile* outer;
} srXacroFile;

struct srXacro {
  srReader* r;
  const srImport* how;
  const char* file;         // the outermost, for the sentence how to expand it
  const char* folder;       // of the file that is being written out; NULL: no files may be read
  const srXacroFile* open;  // files that are being written out, the innermost first
  srXacroScope* global;
  srNames macro_names;
  srXacroMacro* macro;
  int nmacro, macro_capacity;
  const srXacroCall* call;
  srNames argument_names;
  const char** argument;
  int nargument, argument_capacity;
  srNames said;  // errors, once each
  int depth, steps, includes;
  size_t size;
  bool failed, stopped, told_how;
  bool lost;  // a file could not be included
};

void sr_xacro_error(srXacro* x, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
// The same for what is xacro but not understood here: with the sentence how to expand the file.
void sr_xacro_beyond(srXacro* x, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
// Counts a step and a level; false after an error when there are too many. Each true one is followed by leave.
bool sr_xacro_enter(srXacro* x, srPlace place);
void sr_xacro_leave(srXacro* x);
// Counts memory of values; false after an error when it is too much.
bool sr_xacro_room(srXacro* x, size_t size, srPlace place);

// Value of a text: typed when it is one ${...}, else a str. False after an error.
bool sr_xacro_text(srXacro* x, srXacroScope* scope, const char* text, srPlace place, srXacroValue* out);
// The same as text; NULL after an error.
const char* sr_xacro_words(srXacro* x, srXacroScope* scope, const char* text, srPlace place);
bool sr_xacro_formula(srXacro* x, srXacroScope* scope, const char* text, srPlace place, srXacroValue* out);
// f(a, b, name=c) of a formula; keys[i] is NULL for arguments without a name.
bool sr_xacro_function(srXacro* x, const char* name, const srXacroValue* a, const char* const* keys, int n,
                       srPlace place, srXacroValue* out);
bool sr_xacro_is_function(const char* name);
// The text `of` with .name(a, b) behind it. False after an error. method.c
bool sr_xacro_method(srXacro* x, const char* of, const char* name, const srXacroValue* a, const char* const* keys,
                     int n, srPlace place, srXacroValue* out);
// load_yaml(NAME); false after an error. yaml.c
bool sr_xacro_yaml(srXacro* x, const char* name, srPlace place, srXacroValue* out);
bool sr_xacro_yaml_text(srXacro* x, char* text, const char* file, srXacroValue* out);  // text is taken apart
// The path of a file that is named here; NULL after an error. xacro.c
const char* sr_xacro_path(srXacro* x, const char* name, srPlace place);
// $(arg NAME); false after an error. text.c
bool sr_xacro_argument(srXacro* x, const char* name, srPlace place, srXacroValue* out);
srPlace sr_xacro_moved(srPlace place, const char* text, size_t offset);

// The children of node, written out behind those of `to`.
void sr_xacro_children(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to);
void sr_xacro_define_macro(srXacro* x, const srXmlNode* node);
void sr_xacro_call(srXacro* x, srXacroScope* scope, const srXmlNode* node, const char* name, srXmlNode* to);

#endif
