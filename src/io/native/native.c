// Reader of model files (root <sarrus>). Walks the XML tree with the tables of srs_element: what is not in a table is
// an error with the nearest known word. Repeats and includes are written out here, parameters are evaluated as they
// come, so that counts and {formula} in names have values; all other formulas are left to the compiler, with their
// places.
#include "io/native/native.h"

#include <sarrus/io.h>
#include <string.h>

#include "io/file.h"
#include "io/mesh/mesh.h"
#include "io/native/attributes.h"
#include "io/results/csv_read.h"
#include "io/scope.h"
#include "io/xml/reader.h"
#include "model/spec.h"

#define MAX_FIELDS SR_ELEMENT_MAX_FIELDS

typedef struct File {  // a file that is being read, and who includes it
  const char* real;    // real path; NULL for text from memory
  const char* folder;  // seen from the folder of the model; "." the same
  const struct File* outer;
  int depth;
} File;

typedef struct Tree {  // a file that was read
  const char* real;
  const srXmlNode* root;  // NULL: it had errors, already reported
} Tree;

typedef struct Reader {
  srReader* in;
  srScope scope;
  const File* file;
  Tree* trees;
  int ntree, tree_capacity;
} Reader;

typedef enum Where { IN_SARRUS, IN_BODY, IN_GROUND, IN_EXTEND } Where;
static const char* const where_words[] = {"sarrus", "body", "ground", "body"};  // <extend> takes what <body> takes

static void walk(Reader* r, const srXmlNode* parent, Where where, int owner);

#define FAIL(r, place, ...) sr_messages_add((r)->in->messages, SR_SEVERITY_ERROR, place, __VA_ARGS__)

static int errors(const Reader* r) { return sr_reader_errors(r->in); }

static void out_of_memory(Reader* r) { longjmp(*r->in->pool.on_fail, 1); }

// ------------------------------------------------------------------------------------------------------------ words
static const srElement* find_element(const char* word, int* kind) {
  for (*kind = 0; *kind < SR_ELEMENT_KINDS; ++*kind)
    if (strcmp(srs_element((srElementKind)*kind)->word, word) == 0) return srs_element((srElementKind)*kind);
  for (int i = 0; i < SR_FILE_ELEMENTS; i++)
    if (strcmp(sr_file_element((srFileElement)i)->word, word) == 0) {
      *kind = SR_ELEMENT_KINDS + i;
      return sr_file_element((srFileElement)i);
    }
  return NULL;
}

// What does here the work of an element that other programs have, or that one would expect.
static const char* instead_of(const char* word) {
  static const char of_joint[] =
      "on a joint it is the attribute 'stiffness' (and 'damping') of <joint>, between two points <spring> and <damper>";
  static const char by_law[] =
      "a motor is <torque joint=... law=.../>; <driver joint=... motion=.../> prescribes the motion itself";
  static const char by_coupling[] = "joints move together by <coupling joint=... to=... ratio=.../>, gears by <gear/>";
  static const char by_gear[] = "gears and racks in mesh are <gear members=... teeth=.../>";
  static const char by_shape[] = "the shape of a body is <shape/>";
  static const char by_inertial[] = "mass and inertia of a body are <inertial mass=... com=... inertia=.../>";
  static const char by_body[] = "a moving part is <body name=... parent=...>, with its <joint> inside";
  static const char by_limits[] = "limits are the attribute 'limits' of <joint>";
  static const char by_option[] = "gravity is <option gravity=\"0 0 -9.81\"/>";
  static const char by_ground[] = "what does not move is <ground>";
  static const struct {
    const char *word, *hint;
  } hints[] = {{"spring-damper", of_joint}, {"joint-spring", of_joint},
               {"stiffness", of_joint},     {"damping", of_joint},
               {"motor", by_law},           {"actuator", by_law},
               {"controller", by_law},      {"position", by_law},
               {"rack", by_gear},           {"pinion", by_gear},
               {"planetary", by_gear},      {"differential", by_gear},
               {"mimic", by_coupling},      {"transmission", by_coupling},
               {"geom", by_shape},          {"geometry", by_shape},
               {"collision", by_shape},     {"visual", by_shape},
               {"mass", by_inertial},       {"inertia", by_inertial},
               {"rigid-body", by_body},     {"part", by_body},
               {"limit", by_limits},        {"limits", by_limits},
               {"gravity", by_option},      {"world", by_ground},
               {"worldbody", by_ground},    {"frame", by_ground},
               {"base", by_ground}};
  for (int i = 0; i < SR_COUNT(hints); i++)
    if (strcmp(hints[i].word, word) == 0) return hints[i].hint;
  return NULL;
}

static void report_element(Reader* r, const srXmlNode* node) {
  const char* words[SR_ELEMENT_KINDS + SR_FILE_ELEMENTS];
  int n = 0;
  for (int k = 0; k < SR_ELEMENT_KINDS; k++)
    if (k != SR_ELEMENT_MODEL) words[n++] = srs_element((srElementKind)k)->word;
  for (int i = 0; i < SR_FILE_ELEMENTS; i++) words[n++] = sr_file_element((srFileElement)i)->word;
  const char* nearest = sr_nearest_word(node->name, words, n);
  const char* instead = instead_of(node->name);
  if (instead)
    FAIL(r, node->place, "unknown element <%.60s>; %s", node->name, instead);
  else if (nearest)
    FAIL(r, node->place, "unknown element <%.60s>; did you mean <%s>?", node->name, nearest);
  else
    FAIL(r, node->place, "unknown element <%.60s>", node->name);
}

// What is inside an element that is not read defines names that others may use.
static void lose(Reader* r, const srXmlNode* node) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  if (name && !sr_spec_lose(r->in->spec, name->value)) out_of_memory(r);
  for (const srXmlNode* child = node->first; child; child = child->next) lose(r, child);
}

// A file, or the turns of a repeat: any name may be in what is not read.
static void lose_all(Reader* r) {
  if (!sr_spec_lose(r->in->spec, NULL)) out_of_memory(r);
}

static void report_misplaced(Reader* r, const srXmlNode* node, const srElement* e, Where where) {
  const char* words[MAX_FIELDS];
  const int n = sr_text_split(&r->in->text, e->where, words, 0, MAX_FIELDS);
  if (n == 0) {
    FAIL(r, node->place, "<%s> is the root of a file and cannot be inside another element", e->word);
    return;
  }
  const char* all = sr_pool_printf(&r->in->text, "<%s>", words[0]);
  for (int i = 1; i < n; i++) all = sr_pool_printf(&r->in->text, "%s or <%s>", all, words[i]);
  FAIL(r, node->place, "<%s> belongs inside %s, not inside <%s>", e->word, all, where_words[where]);
}

static void check_empty(Reader* r, const srXmlNode* node) {
  for (const srXmlNode* child = node->first; child; child = child->next) {
    FAIL(r, child->place, "<%.60s> is inside <%s>, which holds no other elements", child->name, node->name);
    lose(r, child);
  }
}

// ------------------------------------------------------------------------------------------------------------ files
// The text of a file that a model names; NULL after an error at place. *shown: its name for messages; *real: real path.
static const char* open_file(Reader* r, const char* name, srPlace place, size_t* size, const char** shown,
                             const char** real) {
  const char* reason = NULL;
  if (!r->in->folder) {
    FAIL(r, place, "'%.200s' is not read: the model comes from memory and has no folder", name);
    return NULL;
  }
  *real = sr_path_inside(&r->in->pool, r->in->folder, name, &reason);
  *shown = sr_path_join(&r->in->pool, r->in->folder, name);
  const char* text = *real ? sr_reader_read(r->in, *real, SR_XML_MAX_SIZE, size, &reason) : NULL;
  if (!text) FAIL(r, place, "the file '%.200s' %s", name, reason);
  return text;
}

// Points of a motion from a CSV file: x from column 0, y from the given one.
static void read_motion_file(Reader* r, srMotionDef* def) {
  const char *shown, *real;
  size_t size;
  srTable table;
  long long column = 1;
  if (def->points.text) {
    FAIL(r, def->points.place, "a <motion> has 'points' or 'file', not both");
    return;
  }
  def->file.text = sr_path_join(&r->in->text, r->file->folder, def->file.text);  // as seen from the folder of the model
  const char* text = open_file(r, def->file.text, def->file.place, &size, &shown, &real);
  if (!text || !sr_csv_parse(&r->in->pool, text, size, shown, r->in->messages, &table)) return;
  if (table.ncolumn < 2) {
    FAIL(r, def->file.place, "the file '%.200s' has one column; a motion needs two", def->file.text);
    return;
  }
  if (def->column.text && !sr_scope_whole(&r->scope, def->column.text, def->column.place, "column of <motion>", 1,
                                          table.ncolumn - 1, &column))
    return;
  double* points = sr_pool_alloc(&r->in->text, 2 * (size_t)table.nrow * sizeof *points);
  for (int i = 0; i < table.nrow; i++) {
    points[2 * i] = table.values[i * table.ncolumn];
    points[2 * i + 1] = table.values[i * table.ncolumn + (int)column];
  }
  def->points = (srAttr){.numbers = points, .n = 2 * table.nrow, .place = def->file.place};
}

// The grid and the values of a table from a CSV file: y in the first row, x in the first column.
static void read_table_file(Reader* r, srTableDef* def) {
  const char *shown, *real;
  size_t size;
  srTable table;
  const srAttr* other = sr_given(def->x) ? &def->x : sr_given(def->y) ? &def->y : &def->values;
  if (sr_given(*other)) {
    FAIL(r, other->place, "a <table> has 'x', 'y' and 'values', or 'file', not both");
    return;
  }
  def->file.text = sr_path_join(&r->in->text, r->file->folder, def->file.text);  // as seen from the folder of the model
  const char* text = open_file(r, def->file.text, def->file.place, &size, &shown, &real);
  if (!text || !sr_csv_parse_grid(&r->in->pool, text, size, shown, r->in->messages, &table)) return;
  const int nx = table.nrow - 1, ny = table.ncolumn - 1;
  if (nx < 2 || ny < 2) {
    FAIL(
        r, def->file.place,
        "the file '%.200s' has %d row%s and %d column%s; a table needs 3 or more of both: y in the first row, x in the "
        "first column",
        def->file.text, table.nrow, table.nrow == 1 ? "" : "s", table.ncolumn, table.ncolumn == 1 ? "" : "s");
    return;
  }
  double* x = sr_pool_alloc(&r->in->text, ((size_t)nx + (size_t)nx * (size_t)ny) * sizeof *x);
  double* values = x + nx;
  for (int i = 0; i < nx; i++) {
    const double* row = table.values + (size_t)(i + 1) * (size_t)table.ncolumn;
    x[i] = row[0];
    memcpy(values + (size_t)i * (size_t)ny, row + 1, (size_t)ny * sizeof *row);
  }
  def->x = (srAttr){.numbers = x, .n = nx, .place = def->file.place};
  def->y = (srAttr){.numbers = table.values + 1, .n = ny, .place = def->file.place};
  def->values = (srAttr){.numbers = values, .n = nx * ny, .place = def->file.place};
}

// Heights from a CSV file: a line for each row.
static void read_heights_file(Reader* r, srShapeDef* def) {
  const char *shown, *real;
  size_t size;
  srTable table;
  const srAttr* other = sr_given(def->heights) ? &def->heights : &def->columns;
  if (sr_given(*other)) {
    FAIL(r, other->place, "a height field has 'heights' and 'columns', or 'file', not both");
    return;
  }
  def->file.text = sr_path_join(&r->in->text, r->file->folder, def->file.text);  // as seen from the folder of the model
  const char* text = open_file(r, def->file.text, def->file.place, &size, &shown, &real);
  if (!text || !sr_csv_parse_grid(&r->in->pool, text, size, shown, r->in->messages, &table)) return;
  if (table.nrow < 2 || table.ncolumn < 2) {
    FAIL(r, def->file.place, "the file '%.200s' has %d row%s and %d column%s; a height field needs 2 or more of both",
         def->file.text, table.nrow, table.nrow == 1 ? "" : "s", table.ncolumn, table.ncolumn == 1 ? "" : "s");
    return;
  }
  def->heights = (srAttr){.numbers = table.values, .n = table.nrow * table.ncolumn, .place = def->file.place};
  def->columns = (srAttr){.number = table.ncolumn, .n = 1, .place = def->file.place};
}

// Triangles of a mesh; a file that is not there or is broken is a warning: the model moves without it.
static void read_mesh_file(Reader* r, srMeshDef* def) {
  if (sr_given(def->vertices) || sr_given(def->faces)) {
    FAIL(r, def->file.place, "a <mesh> has 'file', or 'vertices' and 'faces', not both");
    return;
  }
  if (!sr_path_is_fixed(def->file.text))
    def->file.text =
        sr_path_join(&r->in->text, r->file->folder, def->file.text);  // as seen from the folder of the model
  (void)sr_mesh_fill(r->in, &(srImport){.folder = r->in->folder}, &r->in->text, def);
}

// Checks the root and reads its content. The model itself gives the name, included files do not.
static void read_root(Reader* r, const srXmlNode* root, bool is_included) {
  const srElement* e = srs_element(SR_ELEMENT_MODEL);
  srModelDef def = {0};
  if (strcmp(root->name, e->word) != 0) {  // of an included file: others have come by their root
    FAIL(r, root->place, "the root of a model file is <sarrus version=\"1\">, not <%.60s>", root->name);
    return;
  }
  sr_element_read(r->in, &r->scope, root, e, (srAttr*)&def);
  if (!is_included && srs_add(r->in->spec, SR_ELEMENT_MODEL, SR_NO_OWNER, &def, &root->place) < 0) out_of_memory(r);
  sr_parameters_note(&r->scope, root);
  walk(r, root, IN_SARRUS, SR_NO_OWNER);
}

// The tree of a file; each file is parsed once, however often it is included.
static const srXmlNode* included_tree(Reader* r, const char* name, srPlace place, const char** real) {
  const char *shown, *reason = NULL;
  size_t size;
  *real = r->in->folder ? sr_path_inside(&r->in->pool, r->in->folder, name, &reason) : NULL;
  for (int i = 0; *real && i < r->ntree; i++)
    if (strcmp(r->trees[i].real, *real) == 0) return r->trees[i].root;
  const char* text = open_file(r, name, place, &size, &shown, real);
  if (!text) return NULL;
  const Tree tree = {*real, sr_xml_read(&r->in->pool, text, size, shown, r->in->messages)};
  SR_PUSH(&r->in->pool, r->trees, r->ntree, r->tree_capacity) = tree;
  return tree.root;
}

static bool is_cycle(const Reader* r, const char* real) {
  for (const File* f = r->file; f; f = f->outer)
    if (f->real && strcmp(f->real, real) == 0) return true;
  return false;
}

// A file of another language: its reader knows nothing of our parameters and repeats.
static void read_foreign(Reader* r, const srFormat* format, const srXmlNode* root, const char* name, srAttr base) {
  const char* folder = sr_path_folder(&r->in->pool, sr_path_join(&r->in->pool, r->in->folder, name));
  const srImport how = {.folder = folder, .base = base.text ? base.text : "fixed", .included = true};
  if (base.text && strcmp(format->word, "urdf") != 0)
    FAIL(r, base.place, "'base' is for URDF alone; this is %s", format->title);
  const int known = srs_count(r->in->spec, SR_ELEMENT_PARAMETER);
  format->read(r->in, root, &how);
  for (int i = known; i < srs_count(r->in->spec, SR_ELEMENT_PARAMETER); i++) {
    const srParameterDef* def = srs_get(r->in->spec, SR_ELEMENT_PARAMETER, i);
    if (sr_scope_parameter(&r->scope, def->name.text))
      FAIL(r, srs_place(r->in->spec, SR_ELEMENT_PARAMETER, i), "there is a parameter '%.60s' already", def->name.text);
    else {
      double value = def->value.number;
      if (def->value.text) sr_scope_setting(&r->scope, def->value.text, def->value.place, &value);
      sr_scope_define(&r->scope, def->name.text, value);
    }
  }
}

static void read_include(Reader* r, const srXmlNode* node) {
  srAttr values[SR_FILE_MOST_FIELDS] = {0};
  sr_element_text(r->in, node);
  check_empty(r, node);
  if (!sr_element_read(r->in, &r->scope, node, sr_file_element(SR_FILE_INCLUDE), values)) {
    lose_all(r);
    return;
  }
  const srAttr file = values[0], base = values[1];
  const char *name = sr_path_join(&r->in->pool, r->file->folder, file.text), *real;
  const int before = errors(r);
  const srXmlNode* root = included_tree(r, name, file.place, &real);
  if (!root) {
    lose_all(r);
    return;
  }
  const srFormat* format = sr_format_find(root->name);
  if (format && format->read != sr_read_native) {
    read_foreign(r, format, root, name, base);
    if (errors(r) > before) lose_all(r);
    return;
  }
  if (base.text) FAIL(r, base.place, "'base' is for URDF alone; this is a native model file");
  if (is_cycle(r, real)) {
    FAIL(r, file.place, "'%.200s' includes itself, directly or through others", name);
  } else if (r->file->depth >= SR_READER_MAX_INCLUDES) {
    FAIL(r, file.place, "'%.200s' is included more than %d files deep", name, SR_READER_MAX_INCLUDES);
  } else {
    const File here = {real, sr_path_folder(&r->in->pool, name), r->file, r->file->depth + 1};
    const File* outer = r->file;
    r->file = &here;
    read_root(r, root, true);
    r->file = outer;
  }
}

// --------------------------------------------------------------------------------------------------------- elements
static void read_repeat(Reader* r, const srXmlNode* node, Where where, int owner) {
  srAttr values[SR_FILE_MOST_FIELDS] = {0};
  long long count, from;
  const char* index;
  if (!sr_element_read(r->in, &r->scope, node, sr_file_element(SR_FILE_REPEAT), values) ||
      !sr_repeat_begin(r->in, &r->scope, values, &count, &from, &index)) {
    lose_all(r);
    return;
  }
  const int before = errors(r);
  const int level = r->scope.nindex++;  // bounded by the depth of XML
  SR_ASSERT(level < SR_SCOPE_INDEX_LIMIT);
  r->scope.indices[level].name = index;
  for (long long k = 0; k < count && errors(r) == before && !sr_reader_is_over(r->in, node->place); k++) {
    r->scope.indices[level].value = from + k;  // errors of the first turn are not repeated in the next
    walk(r, node, where, owner);
  }
  r->scope.nindex = level;
  if (errors(r) > before) lose_all(r);
}

static void read_definition(Reader* r, const srXmlNode* node, srElementKind kind, int owner) {
  const srElement* e = srs_element(kind);
  srAttr values[MAX_FIELDS] = {0};
  SR_ASSERT(e->nfield <= MAX_FIELDS);
  const int before = errors(r);
  const bool good = sr_element_read(r->in, &r->scope, node, e, values);
  if (good && kind == SR_ELEMENT_PARAMETER) sr_parameter_read(r->in, &r->scope, (srParameterDef*)values);
  if (good && kind == SR_ELEMENT_MOTION && values[3].text) read_motion_file(r, (srMotionDef*)values);
  if (good && kind == SR_ELEMENT_TABLE && sr_given(((srTableDef*)values)->file))
    read_table_file(r, (srTableDef*)values);
  if (good && kind == SR_ELEMENT_MESH && sr_given(((srMeshDef*)values)->file)) read_mesh_file(r, (srMeshDef*)values);
  if (good && kind == SR_ELEMENT_SHAPE && sr_given(((srShapeDef*)values)->file))
    read_heights_file(r, (srShapeDef*)values);
  if (errors(r) > before) SR_PUSH(&r->in->pool, r->in->damaged, r->in->ndamaged, r->in->damaged_capacity) = node->place;
  const bool replaces =
      good && kind == SR_ELEMENT_FRICTION && sr_reader_own_friction(r->in, (srFrictionDef*)values, node->place);
  const int index = replaces ? 0 : srs_add(r->in->spec, kind, owner, values, &node->place);
  sr_pool_free(&r->in->text);
  if (index < 0) out_of_memory(r);
  if (kind == SR_ELEMENT_BODY) {
    walk(r, node, IN_BODY, index);
  } else {
    sr_element_text(r->in, node);
    check_empty(r, node);
  }
}

static int find_body(const Reader* r, const char* name) {
  for (int i = srs_count(r->in->spec, SR_ELEMENT_BODY) - 1; i >= 0; i--) {
    const srBodyDef* def = srs_get(r->in->spec, SR_ELEMENT_BODY, i);
    if (def->name.text && strcmp(def->name.text, name) == 0) return i;
  }
  return -1;
}

static void report_body(Reader* r, const srAttr* body) {
  const int n = srs_count(r->in->spec, SR_ELEMENT_BODY);
  const char** words = sr_pool_alloc(&r->in->text, (size_t)(n + 1) * sizeof *words);
  for (int i = 0; i < n; i++) words[i] = ((const srBodyDef*)srs_get(r->in->spec, SR_ELEMENT_BODY, i))->name.text;
  FAIL(r, body->place, "no body '%.60s' is defined before this <extend>%s", body->text,
       sr_pool_guess(&r->in->text, sr_nearest_word(body->text, words, n)));
}

static void read_extend(Reader* r, const srXmlNode* node) {
  srAttr body = {0};
  const bool good = sr_element_read(r->in, &r->scope, node, sr_file_element(SR_FILE_EXTEND), &body);
  const int owner = good ? find_body(r, body.text) : -1;
  if (good && owner < 0) report_body(r, &body);
  if (owner < 0)
    lose_all(r);
  else
    walk(r, node, IN_EXTEND, owner);
}

// <joint> or <inertial> inside <extend>: the attributes that are given replace those of the body's own.
static bool change_definition(Reader* r, const srXmlNode* node, srElementKind kind, int owner) {
  const srElement* e = srs_element(kind);
  srAttr values[MAX_FIELDS] = {0};
  int i = srs_count(r->in->spec, kind) - 1;
  while (i >= 0 && srs_owner(r->in->spec, kind, i) != owner) i--;
  if (i < 0) return false;
  sr_element_text(r->in, node);
  check_empty(r, node);
  if (!sr_element_given(r->in, &r->scope, node, e, values, NULL)) return true;
  for (int k = 0; k < e->nfield; k++)
    if (values[k].text && !srs_set(r->in->spec, kind, i, k, values[k])) out_of_memory(r);
  sr_pool_free(&r->in->text);
  return true;
}

static void read_ground(Reader* r, const srXmlNode* node) {
  sr_element_read(r->in, &r->scope, node, sr_file_element(SR_FILE_GROUND), NULL);
  walk(r, node, IN_GROUND, SR_GROUND);
}

static void read_element(Reader* r, const srXmlNode* node, Where where, int owner) {
  int kind;
  const srElement* e = find_element(node->name, &kind);
  const bool misplaced = e && !sr_text_is_among(where_words[where], e->where);
  if (!e || misplaced) lose(r, node);
  if (!e)
    report_element(r, node);
  else if (misplaced && !r->in->cut)
    report_misplaced(r, node, e, where);
  else if (misplaced)
    return;  // an element that is still open at the end of a cut file reaches too far
  else if (where == IN_EXTEND && (kind == SR_ELEMENT_JOINT || kind == SR_ELEMENT_INERTIAL) &&
           change_definition(r, node, (srElementKind)kind, owner))
    return;
  else if (kind < SR_ELEMENT_KINDS)
    read_definition(r, node, (srElementKind)kind, owner);
  else if (kind == SR_ELEMENT_KINDS + SR_FILE_REPEAT)
    read_repeat(r, node, where, owner);
  else if (kind == SR_ELEMENT_KINDS + SR_FILE_INCLUDE)
    read_include(r, node);
  else if (kind == SR_ELEMENT_KINDS + SR_FILE_EXTEND)
    read_extend(r, node);
  else
    read_ground(r, node);
}

static void walk(Reader* r, const srXmlNode* parent, Where where, int owner) {
  sr_element_text(r->in, parent);
  for (const srXmlNode* node = parent->first; node && !sr_reader_is_over(r->in, node->place); node = node->next)
    read_element(r, node, where, owner);
}

// ------------------------------------------------------------------------------------------------------------ entry
static void read_guarded(Reader* r, const srXmlNode* root) {
  srReader* in = r->in;
  jmp_buf *outer = in->pool.on_fail, here;
  in->pool.on_fail = in->text.on_fail = &here;
  const bool failed = setjmp(here) != 0;
  if (!failed) {
    sr_scope_init(&r->scope, &in->pool, in->messages);
    read_root(r, root, false);
  }
  sr_scope_free(&r->scope);  // it has memory of its own
  in->pool.on_fail = in->text.on_fail = outer;
  if (failed) out_of_memory(r);
}

void sr_read_native(srReader* in, const srXmlNode* root, const srImport* how) {
  Reader* r = sr_pool_alloc(&in->pool, sizeof *r);
  File file = {.folder = "."};
  (void)how;
  if (in->folder && root->place.file) file.real = sr_path_real(&in->pool, root->place.file);
  r->in = in;
  r->file = &file;
  read_guarded(r, root);
}
