// Reports of check, eval, run, compare and recommend, as a table for people or as one JSON object, whose keys are a contract
// (docs/using/cli.md). They are made here, so that the command line, Python and a page show the same: a program opens a model, calls one
// function for the result and one for its report, and prints the text. Errors are in messages.
#ifndef SARRUS_REPORT_H
#define SARRUS_REPORT_H

#include <sarrus/compare.h>
#include <sarrus/modes.h>
#include <sarrus/recommend.h>
#include <sarrus/simulate.h>
#include <sarrus/spec.h>
#include <sarrus/table.h>
#include <sarrus/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum srReportForm { SR_REPORT_TEXT, SR_REPORT_JSON } srReportForm;

// ----------------------------------------------------------------------------------------------------------- messages
// {"errors": [...]}: the JSON of a call that has no result.
SR_API void sr_report_errors(const srMessages* messages, srText* out);

// ----------------------------------------------------------------------------------------------------------- assembly
// What loop closure has changed, coordinate by coordinate.
typedef struct srAssemblyChange {
  bool constrained;  // the model has loops, whatever another formulation makes of them
  srAssembly told;
  double *q, *v;  // njq, njv: state after it less the state before
} srAssemblyChange;
// sr_assemble, with the change. *out is NULL unless SR_OK.
SR_API srStatus sr_assembly_change_create(const srModel* m, srData* d, srMessages* messages, srAssemblyChange** out);
SR_API void sr_assembly_change_destroy(srAssemblyChange* change);
// JSON only: the object under "assembly" in other reports.
SR_API void sr_report_assembly(const srModel* m, const srAssemblyChange* change, srText* out);

// Warns of constraints that leave no degree of freedom, and of equations that are redundant but for rounded numbers.
SR_API void sr_warn_rank(const srModel* m, const srRank* rank, srMessages* messages);

// -------------------------------------------------------------------------------------------------------------- check
typedef struct srCheck {
  const srModel* m;  // in the formulation asked for
  srAssemblyChange* assembly;
  srRank* rank;
  srOverlaps* overlaps;  // at the start; NULL: not known
  srModel* formulated;   // m, where it was made here
  srData* data;          // of it
} srCheck;
// Closes the loops from d's state, formulates the model, determines the rank and tries one evaluation; warnings are in
// messages. m is the compiled spec, in relative coordinates unless the formulation is its own; m must outlive *out, which is NULL
// unless SR_OK.
SR_API srStatus sr_check_create(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation,
                                srMessages* messages, srCheck** out);
SR_API void sr_check_destroy(srCheck* check);
// messages: the warnings and notes of the JSON; NULL: none.
SR_API void sr_report_check(const srCheck* check, const srMessages* messages, srReportForm form, srText* out);

// --------------------------------------------------------------------------------------------------------------- eval
// Everything at one state:  M a + c = f + G^T lambda.   c = RNEA(q, v, 0), gravity included; f = tau and all force elements; G the constraint
// Jacobian of loops, couplings, formulas and drivers. Bare: the rigid tree alone, f = tau, without forces, stops, armature and drivers.
typedef struct srEvaluation {
  const srModel* m;
  srData* d;
  bool bare;
  int ng, np;              // constraint equations, and those with a position form; 0 for the bare tree
  double *M, *c, *G, *gv;  // nv x nv, nv, ng x nv, ng
  double* a;               // njv: accelerations of joint coordinates
  double* reaction;        // njoint x 6, on the body about its origin, in its axes: moment, force
  unsigned char* unique;   // ng + njoint: multipliers, then reactions, that are unique
  int rank;
  bool has_reactions;
  double kinetic, potential;
  bool all_contacts;  // list every pair of shapes, not only those within the margin
  double margin;      // m, 1e-3 unless it is set
} srEvaluation;
// Evaluates m at d's t, q, v, y, tau; accelerations that do not exist (joints without mass) are NaN. SR_FAILED: there are none
// at this state. m and d must outlive *out, which is NULL unless SR_OK.
SR_API srStatus sr_evaluation_create(const srModel* m, srData* d, bool bare, srMessages* messages, srEvaluation** out);
// Which pairs of shapes the report lists: all, or those whose gap is not above the margin, m; NaN: as it was.
SR_API void sr_evaluation_contacts(srEvaluation* e, bool all, double margin);
SR_API void sr_evaluation_destroy(srEvaluation* e);
SR_API void sr_report_evaluation(const srEvaluation* e, srReportForm form, srText* out);

// ---------------------------------------------------------------------------------------------------------- partition
// Of a partition of m at d's position (analysis.h).
SR_API void sr_report_partition(const srModel* m, const srData* d, const srCoordinatePartition* p, srReportForm form,
                                srText* out);

// --------------------------------------------------------------------------------------------------------- kinematics
typedef struct srKinematicReport {
  const srDriven* driven;
  const double* a;  // njv: accelerations of joint coordinates
  long rows;
  double seconds;
  const char* out;            // file of the rows; NULL: none
  const char* error_message;  // NULL: the end was reached
  const srMessages* messages;
} srKinematicReport;
SR_API void sr_report_kinematics(const srKinematicReport* report, srReportForm form, srText* out);

// -------------------------------------------------------------------------------------------------------------- modes
// Inputs and outputs of the linear equations: x' = A x + B u, z = C x; and the gains from one to the other over frequencies.
typedef struct srModePorts {
  int ninput, noutput, nfrequency;
  const char *const *input, *const *output;
  double *B, *C;      // nx x ninput, noutput x nx
  double* frequency;  // Hz
  double* gain;       // nfrequency x noutput x ninput pairs re, im
} srModePorts;
// At d's state, which the linear equations belong to. all: shapes over all joint coordinates in the table too; JSON has them anyway. rest, ports: NULL, none.
SR_API void sr_report_modes(const srLinear* linear, const srModes* modes, const srData* d, const srRest* rest,
                            const srModePorts* ports, bool all, srReportForm form, srText* out);
// The same for sr_modes_smallest: without matrices and stability.
SR_API void sr_report_modes_few(const srModel* m, const srModes* modes, const srData* d, bool all, srReportForm form,
                                srText* out);

// ------------------------------------------------------------------------------------------------------------ inverse
typedef struct srInverseTable {
  const srModel* m;
  const srInverse* inverse;
  int rows;
  const double *t, *tau, *passive;  // rows, rows x actuators, rows x nv
  const char* out;                  // file of the rows; NULL: none
  const char* error_message;        // NULL: all times were reached
  const srMessages* messages;
} srInverseTable;
SR_API void sr_report_inverse(const srInverseTable* table, srReportForm form, srText* out);

// -------------------------------------------------------------------------------------------------------- equilibrium
typedef struct srEquilibriumReport {
  const srModel* m;
  srData* d;
  const srEquilibrium* equilibrium;
  const srEquilibrium*
      found;  // its parameters, velocities and names of coordinates that are not sensitive; in joint coordinates
  const char* stability;  // stable, unstable, marginal; NULL: not known
  const srRest* rest;     // contacts; NULL: none
  const srMessages* messages;
} srEquilibriumReport;
SR_API void sr_report_equilibrium(const srEquilibriumReport* report, srReportForm form, srText* out);

// ---------------------------------------------------------------------------------------------------------------- run
// Do the options' stabilization settings enforce the constraints, not the method itself?
SR_API bool sr_run_is_stabilized(const srRunOptions* o);

// Options given by the user, not the model.
typedef struct srRunGiven {
  bool step, rtol, atol, control, rho, theta, sleep, family, tangent, stabilization, alpha, beta, metric, impact,
      impact_friction, impact_order;
} srRunGiven;
// Warns of those that have no effect: on the method; and on the constraints of the model, in its formulation.
SR_API void sr_warn_method_options(const srRunOptions* o, const srRunGiven* given, srMessages* messages);
SR_API void sr_warn_constraint_options(const srModel* m, const srRunOptions* o, const srRunGiven* given,
                                       srMessages* messages);
// sr_warn_rank at d's position, for models whose rank is cheap compared with a run; `check` reports the others.
SR_API void sr_warn_redundancy(const srModel* m, srData* d, srMessages* messages);

// Provenance of the rows, in one line: "sarrus 0.2.0; model NAME (FILE); dopri5; rtol ...". file may be NULL.
SR_API void sr_report_run_provenance(const srModel* m, const srRunOptions* o, const char* file,
                                     const srSetting* settings, int nsetting, srText* out);

// Names that srRunOptions.record takes: objects with their members; JSON: "recordable", [{name, unit}, ...].
SR_API void sr_report_recordable(const srModel* m, srReportForm form, srText* out);

// After sr_run, before its report: warns of an energy balance that does not close, and of sensors that are NaN unless
// rows were written (sr_run warns of those); computes accelerations that sensors show.
SR_API void sr_run_conclude(const srModel* m, srData* d, const srRunOptions* o, const srRunResult* result,
                            srMessages* messages);

typedef struct srRunReport {
  const srModel* m;
  srData* d;  // at the end
  const srRunOptions* options;
  const srRunResult* result;
  const srAssemblyChange* assembly;  // of the start; NULL: none
  const char* file;                  // of the model, for people
  const char* contact;               // word of the contact method
  const char* start;                 // word of the start; NULL: as given
  const char* out;                   // file of the rows; NULL: none
  int columns;                       // of it
  const char* error_message;         // why the run stopped early; NULL: it did not
  const srMessages* messages;        // warnings and notes of the JSON; NULL: none
  bool verbose;                      // text: everything, also where it does not fit on a screen
} srRunReport;
SR_API void sr_report_run(const srRunReport* run, srReportForm form, srText* out);

// ------------------------------------------------------------------------------------------------ compare, recommend
// After sr_comparison_judge. messages: warnings and notes of the JSON; NULL: none.
SR_API void sr_report_comparison(const srComparison* c, const srMessages* messages, srReportForm form, srText* out);
SR_API void sr_report_comparison_csv(const srComparison* c, srText* out);  // a row for each run

// Two result tables, column by column, at the times of the second that are within the first: where the first has no row at a time,
// its columns are interpolated by the cubic through the four neighbouring rows (Lagrange). A number in one table where the other has none is
// a NaN difference, and the largest.
typedef struct srColumnDifference {
  const char *name, *unit, *unit_of_first;
  double most, rms, at, range;  // at: time of the largest; range: of the column in the first
  int n;                        // rows compared
} srColumnDifference;
typedef struct srTableDifference {
  const char *file, *first_file;
  const srResultTable *first, *second;
  srColumnDifference* column;
  int ncolumn, nrow;
  int missing[2];  // columns missing in the first, in the second
  int outside;     // rows before the first or after the last of the first table
  int between;     // rows between those of the first
} srTableDifference;
// Tables and names of files must outlive *out, which is NULL unless SR_OK. SR_INPUT: times that do not increase, units that differ, nothing
// in common.
SR_API srStatus sr_table_difference_create(const srResultTable* first, const char* first_file,
                                           const srResultTable* second, const char* file, srMessages* messages,
                                           srTableDifference** out);
SR_API void sr_table_difference_destroy(srTableDifference* difference);
SR_API void sr_report_table_differences(const char* first_file, const srTableDifference* const* differences, int n,
                                        srReportForm form, srText* out);

typedef struct srRecommendation {
  const srComparison* trials;  // one model; a run for each trial
  const srSurvey* survey;
  const srMethodTrial* trial;  // of each run
  const srAdvice* advice;
  const srSetting* settings;  // that the command line begins from, as the model was opened
  int nsetting;
  const char* formulation;     // given for it; NULL: none was
  double t_end;                // given for it; NaN: none was
  double seconds;              // wall clock of all of it
  const srMessages* messages;  // warnings, notes and errors of the JSON; NULL: none
} srRecommendation;
SR_API void sr_report_recommendation(const srRecommendation* x, srReportForm form, srText* out);

#ifdef __cplusplus
}
#endif
#endif
