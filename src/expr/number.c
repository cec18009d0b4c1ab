// Numbers to text and back, whatever the locale's decimal point is.
// Reading: the digits go to strtod as an integer with an exponent ("1.25e-3" as "125e-5"), a form that no locale
// changes; so the result is correctly rounded wherever the C library's strtod is.
// Writing: the fewest of 15, 16 or 17 digits that read back as the same double.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

// More significant digits than this cannot change a double (the longest exact binary fraction has 767).
#define DIGITS 800
// Exponents beyond this are 0 or infinite for any number of digits that a text can have.
#define EXPONENT 1000000

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

typedef struct Digits {
  char text[DIGITS + 24];
  int n, exponent;
} Digits;

static void take(Digits* d, char c, int shift) {
  d->exponent += shift;
  if (d->n == 0 && c == '0') return;
  if (d->n < DIGITS) {
    d->text[d->n++] = c;
  } else if (d->exponent < EXPONENT) {
    d->exponent++;
  }
}

const char* sr_number_read(const char* text, double* value) {
  Digits d;
  d.n = d.exponent = 0;
  const char* at = text;
  for (; is_digit(*at); at++) take(&d, *at, 0);
  bool any = at != text;
  if (*at == '.' && (any || is_digit(at[1]))) {
    for (at++; is_digit(*at); at++) take(&d, *at, -1);
    any = true;
  }
  if (!any) return NULL;

  if (*at == 'e' || *at == 'E') {
    const char* power = at + 1;
    bool minus = *power == '-';
    int e = 0;
    if (*power == '-' || *power == '+') power++;
    if (is_digit(*power)) at = power;  // else the e is not part of the number
    for (; is_digit(*at); at++)
      if (e < EXPONENT) e = 10 * e + (*at - '0');
    d.exponent += minus ? -e : e;
  }
  snprintf(d.text + d.n, sizeof d.text - (size_t)d.n, "%se%d", d.n == 0 ? "0" : "", d.exponent);
  *value = strtod(d.text, NULL);
  return at;
}

const char* sr_number_read_signed(const char* text, double* value) {
  const char* end = sr_number_read(text + (*text == '-' || *text == '+'), value);
  if (end && *text == '-') *value = -*value;
  return end;
}

void sr_number_text(double value, char* buffer, size_t size) {
  SR_ASSERT(size >= SR_NUMBER_TEXT);
  for (int digits = 15; digits <= 17; digits++) {
    double back = 0;
    sr_number_print(value, digits, buffer, size);
    const char* start = buffer + (buffer[0] == '-');
    if (!isfinite(value) || (sr_number_read(start, &back) && back == fabs(value))) return;
  }
}
