// What reports share.   show.c lines and matrices for people | parts.c joints, sensors, messages | assembly.c loops closed
// Each verb has a file of its own: what it computes beyond the analyses, its JSON, its table.
#ifndef SR_REPORT_INTERNAL_H
#define SR_REPORT_INTERNAL_H

#include <sarrus/report.h>

#include "base/base.h"

// ------------------------------------------------------------------------------------------- tables for people (show.c)
void sr_show_line(srText* out, const char* label, const char* format, ...) SR_PRINTF(3, 4);
void sr_show_matrix(srText* out, const char* label, const double* x, int rows, int columns);
// "name value unit" lines of coordinates.
void sr_show_values(srText* out, const char* label, const char* const* names, const char* const* units, const double* x,
                    int n);
void sr_show_redundant(srText* out, const srModel* m, const srRank* r);
void sr_show_sensors(srText* out, const srModel* m, srData* d);
void sr_show_sensor_positions(srText* out, const srModel* m, srData* d, int n);  // a line each, the first n
// Value of a formula sensor; late: those of sensors of recorded quantities, NULL: unknown.
double sr_formula_sensor(const srData* d, const srSensor* s, const double* late);
void sr_show_rest(srText* out, const srRest* rest);                               // the closed ones; NULL: nothing
void sr_show_assembly(srText* out, const srModel* m, const srAssemblyChange* a);  // of a constrained model

// -------------------------------------------------------------------------------------------------- parts of JSON (parts.c)
void sr_put_rows(srJson* json, const srModel* m, int n);                 // names of the first n rows
void sr_put_redundant(srJson* json, const srModel* m, const srRank* r);  // "redundant": [{row, set[]}]
void sr_put_joints(srJson* json, const srModel* m);
// Values of the sensors at d's state; the acceleration stage gives all of them. With the Jacobians where requested.
void sr_put_sensors(srJson* json, const srModel* m, srData* d, bool jacobian);
// "contacts": [{a, b, status, gap, normal_force, friction_force, unique}], "indeterminate"; NULL: nothing.
void sr_put_rest(srJson* json, const srRest* rest);
void sr_put_violation(srJson* json, double position, double velocity, double acceleration);
// Of a constrained model:
//   "assembly": {iterations, residual, residual_velocity, moved[{q, by}], moved_velocity[{v, by}]}
void sr_put_assembly(srJson* json, const srModel* m, const srAssemblyChange* a);

// ----------------------------------------------------------------------------------------------------- warnings (parts.c)
// Each is a kind of its own: such a warning is never summed up with others.
void sr_report_warn(srMessages* messages, const char* format, ...) SR_PRINTF(2, 3);
void sr_report_error(srMessages* messages, const char* format, ...) SR_PRINTF(2, 3);
void sr_warn_sensors(const srModel* m, const srData* d, srMessages* messages);  // that are not a number

#endif
