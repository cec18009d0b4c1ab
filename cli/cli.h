// What the verbs share: where messages go, how a model is opened, what every result prints about it.
#ifndef SARRUS_CLI_H
#define SARRUS_CLI_H

#include <math.h>
#include <sarrus/sarrus.h>

#include "json.h"
#include "options.h"

// Exit statuses, a contract: 0 done, 1 the computation failed, 2 the input is wrong.
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_INPUT = 2 };

#define NOT_GIVEN ((double)NAN)  // of a number that an option may give

// Forms of the help (help.c): as text, as a manual page, as completion for a shell.
typedef enum HelpForm { HELP_TEXT, HELP_MAN, HELP_BASH, HELP_ZSH, HELP_FISH } HelpForm;

// What becomes of a verb that another one calls (sweep): nothing is printed.
typedef struct InnerCall {
  srText json;   // what --json would print
  srText files;  // that the model was read from, each with a zero behind it
  bool opening;  // the verb ends when its model is open
  bool opened;
} InnerCall;

typedef struct Cli {
  bool json;             // one JSON object on standard output, and nothing else there
  bool verbose;          // every message in full
  bool quiet;            // no report, no notes, no progress
  HelpForm help;         // of --help
  FILE* report;          // where reports for people go: standard output, or standard error where a result takes that
  srMessages* messages;  // all errors, warnings and notes of this call
  int shown;             // how many of them are on standard error already, or counted
  int hidden;            // notes on model files among those: main counts them in one line
  InnerCall* kept;       // NULL: the verb was called by the user
} Cli;

typedef struct Verb {
  const char* name;
  const char* arguments;  // "MODEL [options]"
  const char* about;      // one line
  const char* example;
  int (*run)(Cli* cli, const struct Verb* verb, int argc, char** argv);
} Verb;
extern const Verb verbs[];
extern const int verb_count;
const Verb* verb_find(Cli* cli, const char* word);  // NULL: reported

// The verbs: X(name, arguments, about, example); cmd_<name> is defined in cmd_<name>.c. A new verb is that file and one row.
#define VERB_LIST(X)                                                                                                   \
  X(check, "MODEL [options]", "read a model; report topology and degrees of freedom",                                  \
    "sarrus check models/double-pendulum.xml")                                                                         \
  X(eval, "MODEL [options]", "mass matrix, forces, accelerations, energy and sensors at one state",                    \
    "sarrus eval models/double-pendulum.xml --q 0.3,-0.1 --v 0,1 --json")                                              \
  X(run, "MODEL [options]", "simulate; report energy, accuracy and cost",                                              \
    "sarrus run models/double-pendulum.xml --t-end 10 --rtol 1e-9 --out double.csv")                                   \
  X(kinematics, "MODEL [options]", "positions, velocities, accelerations and driving forces of a driven mechanism",    \
    "sarrus kinematics models/mechanisms/four-bar.xml --t-end 2 --every 0.01 --out four-bar.csv")                      \
  X(inverse, "MODEL [options]", "forces of the actuators for the motion of the drivers, trees and loops",              \
    "sarrus inverse models/mechanisms/stewart-platform.xml --t-end 1 --every 0.1")                                     \
  X(equilibrium, "MODEL [options]", "equilibrium or steady motion: positions, speeds, parameters, stability",          \
    "sarrus equilibrium models/half-car.xml")                                                                          \
  X(partition, "MODEL [options]", "independent and dependent coordinates; rank, redundant equations",                  \
    "sarrus partition models/paper2/slider-crank.xml --independent crank")                                             \
  X(modes, "MODEL [options]",                                                                                          \
    "linearize about an equilibrium or steady motion; eigenvalues, frequencies, damping, shapes",                      \
    "sarrus modes models/double-pendulum.xml --q 0,0 --v 0,0 --json")                                                  \
  X(sweep, "VERB MODEL [options] [-- options of the verb]",                                                            \
    "a verb over a grid or a sample of parameters, in processes or over MPI; one table, restartable, figures",         \
    "sarrus sweep eval models/pendulum.xml --sweep l=0.5:2:4 --sweep m=1,5 --result a,energy --out sweep.csv")         \
  X(compare, "MODEL... [options]",                                                                                     \
    "many methods on many models: errors, cost, violations, profile; or stored results",                               \
    "sarrus compare models/paper2/slider-crank.xml --methods dopri5,hem5 --rtol 1e-4,1e-8 --svg figures")              \
  X(recommend, "MODEL [options]", "measure stiffness, redundancy and events; recommend method and tolerance",          \
    "sarrus recommend models/paper2/slider-crank.xml --rtol 1e-6")                                                     \
  X(view, "MODEL|RESULT [options]", "show a model live in the browser, or the motion of a result",                     \
    "sarrus view models/mechanisms/four-bar.xml")                                                                      \
  X(plot, "RESULT... [options]", "columns of result tables to a figure",                                               \
    "sarrus plot double.csv --y 'q.*' --y kinetic,potential --out double.svg")                                         \
  X(laws, "[options]", "print and plot contact and friction laws, and the restitution that each gives",                \
    "sarrus laws --friction kikuuwe,lugre --set friction.K=5000 --svg laws")                                           \
  X(contact, "FILE [options]", "solve a contact problem of a file; report error, iterations and time of the solvers",  \
    "sarrus contact models/contact-problems/pinch.contact --solver all")                                               \
  X(gen, "MODEL [options]", "write the equations of motion as source code",                                            \
    "sarrus gen models/paper1/arm6.xml --what accel,invdyna -o generated")                                             \
  X(batch, "MODEL [options]",                                                                                          \
    "many copies of a model, stepped together by generated code in vector lanes and threads",                          \
    "sarrus batch models/free-body.xml --count 1000 --random v.body.wx=normal:0:0.1 --t-end 1 --step 0.001")           \
  X(convert, "MODEL [options]", "write a model as URDF, MJCF or native format; report what is lost",                   \
    "sarrus convert models/paper1/arm6.xml -o arm6.urdf")                                                              \
  X(init, "DIR", "write a new project: a model and laws of your own in C",                                             \
    "sarrus init myproject && make -C myproject")                                                                      \
  X(help, "[VERB]", "this overview, or the options of a verb; manual page and shell completion", "sarrus help run")

#define VERB_DECLARE(name, arguments, about, example) int cmd_##name(Cli* cli, const Verb* verb, int argc, char** argv);
VERB_LIST(VERB_DECLARE)
#undef VERB_DECLARE

// Adds "sarrus: error: ..." to the messages.
void cli_error(Cli* cli, const char* format, ...) SR_PRINTF(2, 3);
void cli_warning(Cli* cli, const char* format, ...) SR_PRINTF(2, 3);
// Prints the messages that are not on standard error yet: errors one by one; warnings of one kind once, with their number;
// notes on files only with --verbose, which prints all.
void cli_show(Cli* cli);
void cli_show_hidden(const Cli* cli);  // the line that counts the notes
// The end of a verb that has no result: messages to standard error, {"errors": [...]} for --json. Returns status.
int cli_refuse(Cli* cli, int status);
int cli_status(srStatus status);  // exit status of a library status
// Prints a report on standard output unless --quiet was given, and frees it. A report truncated for lack of memory is replaced by an error.
// Returns the exit status.
int cli_print(const Cli* cli, srText* text);
srReportForm cli_form(const Cli* cli);  // as requested

// Overrides *target when the number was given; false after an error: it must be greater than zero, or may be zero where that is allowed.
bool number_take(Cli* cli, const char* option, double given, bool zero_allowed, double* target);
// Words that an option takes: known[0 .. built-1], and up to known[n-1] those of the contract that are not built yet. True
// when the word is valid; else the error suggests the nearest one and lists all.
bool word_exists(Cli* cli, const char* option, const char* word, const char* const* known, int n, int built);
char* words_join(const char* const* words, int n, char* text, size_t size);  // "a, b, c" into text, which it returns

// A model, opened from a file.
typedef struct Model {
  const char* path;
  Settings settings;
  const char* base;         // URDF: given by --base, NULL: fixed
  TextList packages;        // where package:// is searched
  const char* plugins;      // given by --plugins: "", or folders separated by ':'; NULL: no library is loaded
  bool lock;                // --lock-massless
  bool at_rest;             // no motion is requested: joints that cannot be accelerated are allowed
  const char* formulation;  // given by --formulation, NULL: relative
  srModel* model;           // in the requested formulation, after model_formulate
  srData* data;
  srSpec* spec;
  srModel* relative;  // what another formulation was made of
  srData* relative_data;
  srSpec*
      given_spec;  // of the file, where parameters were found and another model has taken the place; options point into it
  srModel* given;
  srData* given_data;
} Model;
#define PLUGINS_OPTION(target)                                                                                         \
  {                                                                                                                    \
    "--plugins", OPTION_CHOICE, target, "[=DIR[:DIR]]",                                                                \
        "run the code of libraries that the model names, in its folder or in these"                                    \
  }
#define VERBOSE_OPTION(cli)                                                                                            \
  {"--verbose", OPTION_FLAG, &(cli)->verbose, NULL, "list all notes and every warning of a kind; reports in full"}, {  \
    "--quiet", OPTION_FLAG, &(cli)->quiet, NULL, "print errors and warnings alone: no report, notes or progress"       \
  }
// The options that every verb with a model has.
#define LOCK_HELP "hold joints where they start that nothing with mass moves with"
#define MODEL_OPTIONS(cli, m)                                                                                          \
  {"--lock-massless", OPTION_FLAG, &(m)->lock, NULL, LOCK_HELP},                                                       \
      {"--set", OPTION_SETTING, &(m)->settings, "NAME=VALUE",                                                          \
       "override a parameter of the model; as often as wanted"},                                                       \
      {"--base", OPTION_TEXT, &(m)->base, "WORD", "URDF: fixed to the ground, or floating"},                           \
      {"--package", OPTION_TEXTS, &(m)->packages, "[NAME=]FOLDER", "where package://NAME is; as often as wanted"},     \
      PLUGINS_OPTION(&(m)->plugins), VERBOSE_OPTION(cli), {                                                            \
    "--json", OPTION_FLAG, &(cli)->json, NULL, "print one JSON object on standard output"                              \
  }
// ------------------------------------------------------------------------------------- files that are written (output.c)
// Checks the value of an output option before anything is computed; *path may be NULL: not given. "-" becomes the name of standard
// output, and the report goes to standard error then. False: reported.
bool output_begin(Cli* cli, const char* option, const char** path, srContent content);
bool output_is_stdout(const char* path);
// Refuses an output that is one of the inputs; either may be NULL. False: reported.
bool output_is_free(Cli* cli, const char* output, const char* input);
bool folder_begin(Cli* cli, const char* option, const char* path);  // of an option that names a folder for figures
#define OUT_OPTIONS(target, value, doc)                                                                                \
  {"--out", OPTION_TEXT, target, value, doc}, { "-o", OPTION_TEXT, target, value, "the same as --out" }

enum { PROGRAM_FOLDER_SIZE = 4096 };
bool program_folder(char out[PROGRAM_FOLDER_SIZE]);  // where the running program is; false: not known

// How the options of m ask for a file to be read; *folders belongs to it, and is to be freed after. False: out of memory.
bool model_load_options(const Model* m, srLoadOptions* out, const char*** folders);
// Reads and compiles; data holds the initial state. 0, or the exit status after cli_refuse.
int model_open(Cli* cli, Model* m);
// Keeps the names of the files for the verb that called this one. True: it wants nothing else.
bool model_keep_files(Cli* cli, const char* const* files, int n);
bool model_is_safe(Cli* cli, const Model* m, const char* output);  // the output is none of the files of the model
bool model_is_relative(const Model* m);                            // no other formulation was requested
srFormulation model_formulation(const Model* m);                   // the requested one
// Closes the loops, before model_formulate. 0, or the exit status after cli_refuse.
int model_assemble(Cli* cli, Model* m, srAssemblyChange** change);
// Converts the model to the requested formulation, at data's state. 0, or the exit status after cli_refuse.
int model_formulate(Cli* cli, Model* m);
#define FORMULATION_OPTION(m)                                                                                          \
  {                                                                                                                    \
    "--formulation", OPTION_TEXT, &(m)->formulation, "NAME",                                                           \
        "relative, absolute or penalty (docs/theory/formulations.md)"                                                  \
  }
void model_close(Model* m);

// Parses the options of a verb that takes a model. 0: go on; > 0: end with *status (also after --help).
int verb_options(Cli* cli, const Verb* verb, const Option* options, int n, int argc, char** argv,  //
                 const char** argument, int* status);

// Length of a path without the ending of a result file (.csv, .h5, .hdf5); all of it where it has none.
size_t result_stem(const char* path);

// ------------------------------------------------------------------------------------ a state as numbers (state.c)
typedef struct State {
  double t;  // NOT_GIVEN
  NumberList q, v, y, tau;
  NumberList approach_velocity, instances;  // only from a file: approach velocities of the contacts, 0: open
  const char* file;
} State;
State state_none(void);
#define STATE_OPTIONS(s)                                                                                               \
  {"--q", OPTION_NUMBERS, &(s)->q, "LIST", "positions, a comma list (default: the initial ones)"},                     \
      {"--v", OPTION_NUMBERS, &(s)->v, "LIST", "velocities"}, {"--y", OPTION_NUMBERS, &(s)->y, "LIST", "states"},      \
      {"--tau", OPTION_NUMBERS, &(s)->tau, "LIST", "generalized forces applied from outside (default: 0)"},            \
      {"--t", OPTION_NUMBER, &(s)->t, "SECONDS", "time of the state (default: 0)"}, {                                  \
    "--state", OPTION_TEXT, &(s)->file, "FILE.json", "the same from a file with the keys t, q, v, y, tau"              \
  }
// Sets the state of d; lists override the file. False: reported in messages.
bool state_apply(Cli* cli, State* s, const srModel* m, srData* d);
// Drivers at the time of the state, and closed loops where neither positions nor velocities were given (sr_state_at_time).
// 0, or the exit status after cli_refuse.
int state_at_time(Cli* cli, const State* s, const Model* m);
void state_free(State* s);

// Contacts of analyses at rest: by force laws, or rigid.
typedef struct RestContact {
  const char* word;
  double gap;  // of closed rigid contacts; NOT_GIVEN
  bool rigid;
} RestContact;
RestContact rest_contact_none(void);
#define REST_CONTACT_OPTIONS(c)                                                                                        \
  {"--contact", OPTION_TEXT, &(c)->word, "NAME",                                                                       \
   "continuous (default): contacts by their force laws; event: rigid, closed ones are constraints"},                   \
  {                                                                                                                    \
    "--tol-gap", OPTION_NUMBER, &(c)->gap, "METRES", "contact event: contacts no farther apart are closed (1e-5)"      \
  }
// exchanged: the equilibrium has options that rigid contacts do not go with. False: reported in messages.
bool rest_contact_check(Cli* cli, RestContact* c, bool exchanged);

// A JSON file, with its size; `what` for messages ("the state file"). NULL: reported; else to be freed (json_read.c).
char* json_file(Cli* cli, const char* what, const char* path, size_t* size);

// ------------------------------------------------------------------------------- motions of joints from tables (motion.c)
typedef struct Motion {
  const char* path;      // given by --motion; NULL: none
  srResultTable* table;  // after motion_open
  int time;              // its column t
} Motion;
#define MOTION_OPTION(x)                                                                                               \
  {                                                                                                                    \
    "--motion", OPTION_TEXT, &(x)->path, "FILE",                                                                       \
        "move the joints as a table says, such as that of an earlier run: columns t and q.JOINT, by cubic splines"     \
  }
// After model_open: m becomes the model with a driver for each degree of freedom, state the first row. 0, or the exit status after cli_refuse.
int motion_open(Cli* cli, Motion* x, Model* m, State* state);
double motion_begin(const Motion* x);
double motion_end(const Motion* x);
void motion_states(const Motion* x, const srModel* m, srData* d, double t);  // those that are columns of the table
void motion_free(Motion* x);

// ------------------------------------------------------------------------------------ partition files (partition_file.c)
// What `sarrus partition --json` prints, kept for runs. Both return 0, or the exit status after cli_refuse.
// Marks (nv) the coordinates of the comma list of --independent; false: reported.
bool coordinates_mark(Cli* cli, const srModel* m, const char* list, unsigned char* mark);
int partition_write(Cli* cli, const Model* m, const srCoordinatePartition* p, const char* path);
// mark (nv, to be freed): 1 where a coordinate of m is independent in the file.
int partition_read(Cli* cli, const srModel* m, const char* path, unsigned char** mark);

// --------------------------------------------------------------------------------- progress on a terminal (progress.c)
typedef struct Progress {
  bool shown;       // standard error is a terminal
  long long drawn;  // last time of drawing, ms
  bool stopped;     // the user requested a stop
} Progress;
Progress progress_begin(const Cli* cli);                   // also installs signal handlers, stop.c
int progress_update(Progress* p, double t, double t_end);  // nonzero: the user requests a stop
int progress_count(Progress* p, long long done, long long all, const char* what);  // the same: "5 of 20 runs"
void progress_end(Progress* p);

// ---------------------------------------------------------------------------------------------------- signals (stop.c)
void stop_watch(void);  // SIGINT, SIGTERM and SIGHUP are a wish to stop from here on; the second one ends the program
bool stop_asked(void);
void stop_end(void);

#endif
