// Inside of network files.   read.c XML to items | build.c components | formulas.c components by formulas | connect.c terminals and
// connections | load.c files | columns.c names of columns | run.c | report.c
#ifndef SR_NETFILE_INTERNAL_H
#define SR_NETFILE_INTERNAL_H

#include <sarrus/netfile.h>

#include "expr/expr.h"
#include "io/scope.h"
#include "io/xml/reader.h"
#include "netfile/elements.h"

// An element as it was written, repeats expanded.
typedef struct srNetItem {
  srNetKind kind;
  srPlace place;
  srAttr* values;  // as many as it has fields
  bool damaged;    // an error in its attributes is reported
  struct srNetItem *first, *last, *next;
} srNetItem;

// What a component is for those that connect it.
typedef struct srNetPart {
  int component;  // of the network; -1: it could not be made, which is reported
  const srNetItem* item;
  bool frames;  // an impedance between two frames
  int nforce;   // forces of an impedance; 0: it is none
} srNetPart;

typedef struct srNetTerminal {
  srTerminal terminal;  // n = 0: it could not be made, which is reported
} srNetTerminal;

// Memory and objects that live as long as the network.
struct srNetworkFilePrivate {
  srPool pool;
  srMessages* messages;  // where the caller has none
  srModel** model;
  int nmodel, model_capacity;
  const char** record;
  srPlace* record_place;
  int nrecord, record_capacity, record_place_capacity;
  const char** file;
  int nfile, file_capacity;
};

typedef struct srNetBuilder {
  srReader* in;  // messages, options, folder, memory while it is read
  srScope* scope;
  srNetworkFile* file;
  srNetItem root;  // its children: all of the file
  srGraph* graph;  // of all formulas
  srNames components, terminals;
  bool lost;  // something that may have defined any name was not read
  srNetPart* part;
  int npart, part_capacity;
  srNetTerminal* terminal;
  int nterminal, terminal_capacity;
} srNetBuilder;

#define SR_NET_FAIL(b, place, ...) sr_reader_error((b)->in, place, __VA_ARGS__)

// ---- read.c
void sr_net_read(srNetBuilder* b, const srXmlNode* root);
srAttr sr_net_attr(const srNetItem* item, const char* word);       // text NULL: not given
const char* sr_net_text(const srNetItem* item, const char* word);  // its default where it was not given
bool sr_net_yes(const srNetItem* item, const char* word, const char* value);
// Numbers of an attribute, or of its default: as many as its field allows, `most` at the most. How many; -1 after an error; 0: not given.
int sr_net_numbers(srNetBuilder* b, const srNetItem* item, const char* word, double* out, int most);
bool sr_net_number(srNetBuilder* b, const srNetItem* item, const char* word, double* out);  // false after an error
#define SR_NET_MOST_NUMBERS 256

// ---- build.c
void sr_net_build(srNetBuilder* b);
const srNetPart* sr_net_part(srNetBuilder* b, const char* name, srPlace place);  // NULL: unknown, reported
// The component that an item describes was made, or not (-1).
void sr_net_add_part(srNetBuilder* b, const srNetItem* item, srNetPart part);
bool sr_net_take_name(srNetBuilder* b, const srNetItem* item, srNames* names, int index);  // false: taken, reported

// ---- formulas.c
srNetPart sr_net_equations(srNetBuilder* b, const srNetItem* item);
srNetPart sr_net_map(srNetBuilder* b, const srNetItem* item);
srNetPart sr_net_formula_impedance(srNetBuilder* b, const srNetItem* item);

// ---- connect.c
void sr_net_connect(srNetBuilder* b);

// ---- columns.c
typedef struct srNetColumn {
  int component, index;
  srSignal signal;
} srNetColumn;
typedef struct srNetColumns {
  srColumns columns;  // first: sr_network_columns_destroy; count includes t
  srNetColumn* column;
  srPool pool;
} srNetColumns;
srStatus sr_net_columns(const srNetworkFile* file, const char* const* record, int nrecord, srMessages* messages,
                        srNetColumns** out);
void sr_net_columns_destroy(srNetColumns* columns);
void sr_net_row(const srNetworkFile* file, const srNetColumns* columns, double* row);
// "bearing.f", "input(table).torque", "state(bearing).0" into the text.
void sr_net_signal_text(const srNetworkFile* file, srNetColumn column, srText* out);
double sr_net_signal(const srNetworkFile* file, srNetColumn column);

#endif
