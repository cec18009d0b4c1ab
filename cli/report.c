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
