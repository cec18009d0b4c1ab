// What all readers of model files share: memory, messages, the spec that is filled, settings, numbers and names of other
// programs' files, and the list of what was ignored.
#ifndef SR_IO_XML_READER_H
#define SR_IO_XML_READER_H

#include <sarrus/io.h>

#include "base/base.h"
#include "io/text.h"
#include "io/xml/xml.h"

#define SR_READER_MAX_ERRORS 100
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SR_READER_MAX_ELEMENTS 20000  // a fuzzer would spend its time in long repeats
#else
#define SR_READER_MAX_ELEMENTS 2000000  // elements and turns of repeats, after all repeats are written out
#endif

typedef struct srIgnored {
  const char* what;  // "<gazebo>", "'group' of <geom>"
  srSeverity severity;
  srPlace first;
  int times;
} srIgnored;

typedef struct srReader {
  srPool pool;  // lives as long as the reading; on_fail is set
  srPool text;  // values of one element: sr_reader_add empties it
  srMessages* messages;
  int errors_before;
  srSpec* spec;
  const srLoadOptions* options;  // never NULL
  bool* used;                    // settings that found their parameter
  const char** offered;          // names of settings besides the parameters
  int noffered, offered_capacity;
  const char* folder;  // of the model; NULL: no files may be read
  int budget;          // elements that may still come
  bool stopped;
  bool cut;          // the file ends at an error of XML
  srPlace* damaged;  // elements that have errors in their attributes or in the files these name
  int ndamaged, damaged_capacity;
  srIgnored* ignored;
  int nignored, ignored_capacity;
  srNames ignored_names;
  struct srReaderTold* told;  // reported at the end; reader.c
  int ntold, told_capacity;
  srNames friction_names;  // "joint, coordinate" -> friction below
  struct srReaderFriction* friction;
  int nfriction, friction_capacity;
  struct srMeshUses* meshes;       // files that were requested; mesh.c
  struct srPackageCrawls* crawls;  // folders that were gone through for packages; package_crawl.c
  struct srRoots* roots;           // folders whose files may be read; root.c
} srReader;

// How a file is read.
typedef struct srImport {
  const char* folder;  // of this file, to be opened from the working folder; NULL: the text comes from memory
  const char* base;    // URDF: "fixed" or "floating"
  bool included;       // by a native model file, which has the name, the gravity and the run
} srImport;

// A model language: recognised by the root element of the file.
typedef struct srFormat {
  const char* root;   // "robot"
  const char* word;   // "urdf", for convert
  const char* title;  // "URDF (root <robot>)"
  void (*read)(srReader* r, const srXmlNode* root, const srImport* how);
} srFormat;
const srFormat* sr_format_find(const char* root);  // NULL: none. load.c

// The languages: X(reader, root, word, name); sr_read_<reader> is defined in src/io/<reader>/. A new one is its folder and one row.
#define SR_FORMAT_LIST(X)                                                                                              \
  X(native, "sarrus", "sarrus", "a model file")                                                                        \
  X(urdf, "robot", "urdf", "URDF")                                                                                     \
  X(mjcf, "mujoco", "mjcf", "MJCF")                                                                                    \
  X(mbs, "mbsDescR7", "mbs", "ROBOTRAN")

#define SR_FORMAT_DECLARE(reader, root_word, word, name)                                                               \
  void sr_read_##reader(srReader* r, const srXmlNode* root, const srImport* how);
SR_FORMAT_LIST(SR_FORMAT_DECLARE)
#undef SR_FORMAT_DECLARE

// sr_file_read, of a file that becomes one of the spec's (srs_file).
char* sr_reader_read(srReader* r, const char* path, size_t max_size, size_t* size, const char** reason);
// The tree of a file; NULL after an error at place. load.c
const srXmlNode* sr_reader_open(srReader* r, const char* path, srPlace place);

int sr_reader_errors(const srReader* r);
void sr_reader_error(srReader* r, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
void sr_reader_warning(srReader* r, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
// Counts something that is not used; each `what` is reported once, at the end of the reading, with the first location: as a
// warning, or, where it has no effect on the motion (appearance, sensors, settings of a solver), as a note.
void sr_reader_ignore(srReader* r, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
void sr_reader_ignore_still(srReader* r, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
void sr_reader_tell_ignored(srReader* r);
// Calls tell(data) when the whole model is read: a file that includes a robot may give what the robot's file lacks.
void sr_reader_at_end(srReader* r, void (*tell)(void* data), void* data);
void sr_reader_end(srReader* r);
// True when nothing more should be read: too many errors, or too many elements. Called once an element.
bool sr_reader_is_over(srReader* r, srPlace place);
// An element of the spec, then empties r->text. Its index; memory that runs out jumps.
int sr_reader_add(srReader* r, srElementKind kind, int owner, const void* def, srPlace place);

// Value of the setting --set NAME=VALUE, which is then used; NULL: none.
const char* sr_reader_setting(srReader* r, const char* name);
void sr_reader_check_settings(srReader* r);  // each must have found its parameter: an error where it has not. load.c
// A name that --set may give besides the parameters, for messages.
void sr_reader_offer(srReader* r, const char* name);
srPlace sr_reader_setting_place(srReader* r, const char* name);
// A <parameter> with this value, or with that of a setting. Returns its name as formulas use it.
const char* sr_reader_parameter(srReader* r, const char* name, double value, srPlace place);

// Numbers separated by blanks into out: at least `least`, at most `most` of them; returns how many, -1 after an error
// that names the word, its place and what was expected.
int sr_reader_numbers(srReader* r, const srXmlAttribute* a, int least, int most, double* out);
// One number; `value` is what it is without the attribute. False after an error.
bool sr_reader_number(srReader* r, const srXmlNode* node, const char* name, double value, double* out);
// Attribute values for definitions, in r->text.
srAttr sr_reader_list(srReader* r, const double* numbers, int n, srPlace place);
srAttr sr_reader_one(double number, srPlace place);
srAttr sr_reader_word(srReader* r, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
// Sets at and rot (or rpy's place) of a definition from a pose (math/pose.h); identity parts are left out.
void sr_reader_pose(srReader* r, const double pose[16], srPlace place, srAttr* at, srAttr* rot);

// A name of another program as a native one: characters that names may not have become '_', and a name that is taken gets
// a number. The result is put into `taken` (NULL: it need not be new). In r->pool.
const char* sr_reader_name(srReader* r, const char* name, srNames* taken);
// Dry friction of a joint coordinate, as robot files give it: one force. Kikuuwe's law; what it needs besides, and what
// is reported about it, is in docs/robots/robots.md.
#define SR_BRISTLE_ANGLE 1e-3   // rad that a joint gives way before it slips
#define SR_BRISTLE_LENGTH 1e-4  // m
#define SR_BRISTLE_TIME 1e-3    // s: damping of the bristles over their stiffness
// of_several: the joint has other coordinates.
void sr_reader_friction(srReader* r, const char* joint, int coordinate, bool of_several, bool rotates, double force,
                        srPlace place);
// A <friction> of our own file takes the place of the one that a robot's file gives the same coordinate, whichever comes
// first. True: it is in the spec already. Where a formula gives the coordinate both stay, which is reported.
bool sr_reader_own_friction(srReader* r, const srFrictionDef* def, srPlace place);

#endif
