// Tables for people, on standard output.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

void report_heading(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

void report_line(const char* label, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("  %-22s ", label);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

void report_matrix(const char* label, const double* x, int rows, int columns) {
  enum { SHOWN = 12 };  // more than this is for --json
  if (rows == 0 || columns == 0) return;
  printf("%s\n", label);
  if (rows > SHOWN || columns > SHOWN) {
    printf("  %d x %d; see --json\n", rows, columns);
    return;
  }
  for (int i = 0; i < rows; i++) {
    putchar(' ');
    for (int j = 0; j < columns; j++) printf(" %13.6g", x[i * columns + j]);
    putchar('\n');
  }
}

void report_values(const char* label, const char* const* names, const char* const* units, const double* x, int n) {
  if (n == 0) return;
  printf("%s\n", label);
  for (int i = 0; i < n; i++) printf("  %-22s %16.9g %s\n", names[i], x[i], units ? units[i] : "");
}

static void vector_line(const char* label, const double* x, const char* unit) {
  printf("    %-20s %14.7g %14.7g %14.7g %s\n", label, x[0], x[1], x[2], unit);
}

void report_sensors(const srModel* m, const srData* d) {
  if (m->nsensor == 0) return;
  printf("sensors\n");
  for (int i = 0; i < m->nsensor; i++) {
    const srSensor* s = &m->sensor[i];
    if (s->point < 0) {
      printf("  %-22s %16.9g %s\n", s->name, d->formula[s->formula], s->unit ? s->unit : "");
      continue;
    }
    srFrameMotion x;
    sr_frame_motion(m, d, s->point, s->relative_to, &x);
    printf("  %s (%s in %s)\n", s->name, m->point_name[s->point], m->point_name[s->relative_to]);
    vector_line("position", x.position, "m");
    vector_line("velocity", x.velocity, "m/s");
    vector_line("angular velocity", x.angular_velocity, "rad/s");
    vector_line("acceleration", x.acceleration, "m/s^2");
  }
}

static void report_moved(const char* what, const char* const* names, const char* const* units, const double* by,
                         int n) {
  enum { SHOWN = 20 };
  int moved = 0;
  for (int i = 0; i < n; i++) {
    if (fabs(by[i]) <= ASSEMBLY_MOVED || ++moved > SHOWN) continue;
    report_line("", "%s %s changed by %.6g %s", what, names[i], by[i], units[i]);
  }
  if (moved > SHOWN) report_line("", "%d more, see --json", moved - SHOWN);
}

void report_assembly(const srModel* m, const Assembly* a) {
  if (!m->looped && !a->looped) return;
  report_line("assembly", "%d iterations, residual %.2g, of velocities %.2g", a->told.iterations,
              a->told.residual_position, a->told.residual_velocity);
  report_moved("position", m->q_name, m->q_unit, a->q, m->njq);
  report_moved("velocity", m->v_name, m->v_unit, a->v, m->njv);
}
