// Ranges and ticks. On a linear axis ticks are at K 10^e with whole K, at distances of 1, 2 or 5 times 10^e: labels
// are written from the whole numbers, so that no rounding shows. Labels that would grow long leave out a power of ten,
// or an offset when all begin with the same digits (1000.0001, 1000.0002: "100", "200" times 10^-6, + 1000). On a log
// axis ticks are decades, thinned when they crowd, with 2 ... 9 between them as minor ticks; less than two decades take
// 1, 2, 5 and, when that is too coarse, the ticks of a linear axis.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"

#define MINUS "\xe2\x88\x92"  // the sign, not the hyphen
#define TIMES "\xc3\x97"
#define LARGEST_VALUE 4e307  // so that a range is finite
#define CONSTANT 1e-13       // a range this small compared with the values is rounding
#define SMALLEST_RANGE 1e-290
#define LEAST_DECADES 0.5  // of a log axis
#define TOUCH 1e-9         // of a step: a tick this near to the end is kept
#define FINEST 1e15        // steps from zero: a range finer than doubles has no ticks
#define LONGEST 1000000    // K from which labels leave out an offset
#define LARGE 99999.5      // from here on, and
#define SMALL 0.00099999   // up to here, labels leave out a power of ten

// -------------------------------------------------------------------------------------------------------------- range
static void constant_range(srAxis* axis, double value) {
  const double around = value == 0 ? 1 : 0.1 * fabs(value);
  axis->low = value - around;
  axis->high = value + around;
}

static void log_range(srAxis* axis, double low, double high, double margin) {
  const double a = log10(low), b = log10(high);
  // Users of this scale want magnitudes: a range of some percent would show noise, with labels of many digits.
  const double more = b - a < 1e-12 ? 0.5 : fmax(margin * (b - a), 0.5 * (LEAST_DECADES - (b - a)));
  axis->low = fmax(pow(10, a - more), DBL_MIN);
  axis->high = fmin(pow(10, b + more), LARGEST_VALUE);
}

void sr_axis_range(srAxis* axis, double low, double high, double margin) {
  if (axis->scale == SR_PLOT_LOG) {
    if (low > high) low = 1, high = 10;
    log_range(axis, fmin(fmax(low, DBL_MIN), LARGEST_VALUE), fmin(fmax(high, DBL_MIN), LARGEST_VALUE), margin);
    return;
  }
  if (low > high) low = 0, high = 1;
  low = fmin(fmax(low, -LARGEST_VALUE), LARGEST_VALUE);
  high = fmin(fmax(high, -LARGEST_VALUE), LARGEST_VALUE);
  if (high - low <= CONSTANT * fmax(fabs(low), fabs(high)) || high - low < SMALLEST_RANGE) {
    constant_range(axis, low + 0.5 * (high - low));
    return;
  }
  axis->low = low - margin * (high - low);
  axis->high = high + margin * (high - low);
}

double sr_axis_px(const srAxis* axis, double value) {
  if (!isfinite(value) || (axis->scale == SR_PLOT_LOG && value <= 0)) return (double)NAN;
  const bool logarithm = axis->scale == SR_PLOT_LOG;
  const double low = logarithm ? log10(axis->low) : axis->low, high = logarithm ? log10(axis->high) : axis->high;
  const double part = ((logarithm ? log10(value) : value) - low) / (high - low);
  return axis->from + part * (axis->to - axis->from);
}

// ------------------------------------------------------------------------------------------------------------- labels
// K 10^e in decimals, exactly.
static void decimal(long long K, int e, char* out, size_t size) {
  char digits[24];
  const long long amount = K < 0 ? -K : K;
  int n = snprintf(digits, sizeof digits, "%lld", amount), used = 0;
  if (K < 0) used = snprintf(out, size, MINUS);
  if (e >= 0 || K == 0) {
    used += snprintf(out + used, size - (size_t)used, "%s", digits);
    for (int i = 0; i < e && K != 0 && (size_t)used + 1 < size; i++) out[used++] = '0';
    out[used] = 0;
    return;
  }
  if (n > -e) {
    snprintf(out + used, size - (size_t)used, "%.*s.%s", n + e, digits, digits + n + e);
    return;
  }
  used += snprintf(out + used, size - (size_t)used, "0.");
  for (int i = n; i < -e && (size_t)used + 1 < size; i++) out[used++] = '0';
  snprintf(out + used, size - (size_t)used, "%s", digits);
}

static void power_text(int exponent, char power[16]) {
  snprintf(power, 16, "%s%d", exponent < 0 ? MINUS : "", exponent < 0 ? -exponent : exponent);
}

static double value_of(double K, int e) {
  return e >= 0 ? K * pow(10, e) : e >= -300 ? K / pow(10, -e) : K * pow(10, e);
}

// The part that all labels K 10^e share: the multiple of a power of ten above their spread that is nearest to them.
static long long shared_part(long long first, long long last) {
  long long power = 1;
  while (power <= last - first) power *= 10;
  const long long middle = first + (last - first) / 2;
  return (middle + (middle > 0 ? power / 2 : -power / 2)) / power * power;
}

// Without the zeros behind its digits; a power of ten behind it when it is long all the same.
static void offset_text(long long K, int e, char* out, size_t size) {
  for (; K % 10 == 0 && K != 0; e++) K /= 10;
  char number[40];
  const bool is_short = e < 9 && e > -18;
  decimal(K < 0 ? -K : K, is_short ? e : 0, number, sizeof number);
  if (is_short)
    snprintf(out, size, "%s %s", K < 0 ? MINUS : "+", number);
  else
    snprintf(out, size, "%s %se%d", K < 0 ? MINUS : "+", number, e);
}

static void label_linear(srAxis* axis, long long first, long long step, int e) {
  const long long last = first + (axis->ntick - 1) * step;
  const long long largest = last > -first ? last : -first;
  long long shared = 0;
  if (largest >= LONGEST && (first > 0 || last < 0)) shared = shared_part(first, last);
  if (shared != 0) offset_text(shared, e, axis->offset, sizeof axis->offset);
  const long long rest = last - shared > shared - first ? last - shared : shared - first;
  const double size = value_of((double)rest, e);
  int power = 0;
  if (rest > 0 && (size > LARGE || size < SMALL)) {
    power = e;  // then by three, as units are: 10^-6, not 10^-5
    for (long long r = rest; r >= 10; r /= 10) power++;
    power -= ((power % 3) + 3) % 3;
    power_text(power, axis->power);
  }
  for (int i = 0; i < axis->ntick; i++)
    decimal(first + i * step - shared, e - power, axis->tick[i].text, sizeof axis->tick[i].text);
}

// -------------------------------------------------------------------------------------------------------------- linear
// The smallest of 1, 2, 5 times a power of ten that is not below `least`.
static int nice_step(double least, int* e) {
  *e = (int)floor(log10(least));
  const double part = least / pow(10, *e) * (1 - TOUCH);
  if (part <= 1) return 1;
  if (part <= 2) return 2;
  if (part <= 5) return 5;
  ++*e;
  return 1;
}

// K of the first tick of a step, and their number.
static long long first_tick(const srAxis* axis, int m, int e, int* n) {
  const double step = value_of(m, e);
  const double first = ceil(axis->low / step - TOUCH), last = floor(axis->high / step + TOUCH);
  const bool exact = fabs(first) < FINEST && fabs(last) < FINEST;
  *n = exact && last >= first ? (int)fmin(last - first + 1, SR_MAX_TICKS + 1) : 0;
  return exact ? (long long)first * m : 0;
}

static void linear_ticks(srAxis* axis, int most) {
  int e, n;
  if (axis->high - axis->low < SMALLEST_RANGE) return;
  int m = nice_step((axis->high - axis->low) / most, &e);
  long long first = first_tick(axis, m, e, &n);
  while (n > most) {  // both ends may be ticks: one more than intervals
    m = m == 5 ? (e++, 1) : m == 2 ? 5 : 2;
    first = first_tick(axis, m, e, &n);
  }
  axis->ntick = n;
  for (int i = 0; i < n; i++) axis->tick[i].value = value_of((double)(first + i * m), e);
  if (n > 0) label_linear(axis, first, m, e);
}

// ----------------------------------------------------------------------------------------------------------------- log
static void add_minor(srAxis* axis, double value) {
  if (axis->nminor < SR_MAX_MINOR && value >= axis->low && value <= axis->high) axis->minor[axis->nminor++] = value;
}

// Decades: every `stride`-th has a label.
static void decade_ticks(srAxis* axis, int first, int last, int most) {
  static const int strides[] = {1, 2, 3, 5, 10, 20, 50, 100, 200};
  int stride = 1;
  for (int i = 0; i < SR_COUNT(strides) && (last - first) / stride + 1 > most; i++) stride = strides[i];
  for (int k = first - 1; k <= last; k++) {
    const double decade = value_of(1, k);
    const bool major = ((k % stride) + stride) % stride == 0;
    if (k >= first && major && axis->ntick < SR_MAX_TICKS) {
      srTick* tick = &axis->tick[axis->ntick++];
      tick->value = decade;
      strcpy(tick->text, "10");
      power_text(k, tick->power);
    } else if (k >= first && stride <= 20) {
      add_minor(axis, decade);
    }
    for (int m = 2; m <= 9 && stride == 1; m++) add_minor(axis, m * decade);
  }
}

// m 10^e, as a decimal where that is short.
static void label_log(srTick* tick, int m, int e) {
  tick->value = value_of(m, e);
  if (e >= -3 && e <= 3) {
    decimal(m, e, tick->text, sizeof tick->text);
  } else {
    snprintf(tick->text, sizeof tick->text, m == 1 ? "10" : "%d" TIMES "10", m);
    power_text(e, tick->power);
  }
}

// 1, 2, 5 in each decade; returns how many there are.
static int few_ticks(srAxis* axis, int first, int last) {
  static const int steps[] = {1, 2, 5};
  axis->ntick = axis->nminor = 0;
  memset(axis->tick, 0, sizeof axis->tick);
  for (int k = first - 1; k <= last; k++) {
    for (int i = 0; i < 3; i++) {
      const double value = value_of(steps[i], k);
      if (value >= axis->low * (1 - TOUCH) && value <= axis->high * (1 + TOUCH))
        label_log(&axis->tick[axis->ntick++], steps[i], k);
    }
    for (int m = 3; m <= 9; m++)
      if (m != 5) add_minor(axis, value_of(m, k));
  }
  return axis->ntick;
}

static void log_ticks(srAxis* axis, int most) {
  const int first = (int)ceil(log10(axis->low) - TOUCH), last = (int)floor(log10(axis->high) + TOUCH);
  if (last - first >= 1) {
    decade_ticks(axis, first, last, most);
    if (last - first > 1 || most < 6) return;
    srAxis finer = *axis;  // two decades alone show little: 1, 2, 5 where there is room
    if (few_ticks(&finer, first, last) <= most && axis->high / axis->low < 200) *axis = finer;
    return;
  }
  const int n = few_ticks(axis, first, last);
  if (n >= 3 && n <= most) return;
  axis->ntick = axis->nminor = 0;
  memset(axis->tick, 0, sizeof axis->tick);
  linear_ticks(axis, most);
}

void sr_axis_ticks(srAxis* axis, int most) {
  axis->ntick = axis->nminor = 0;
  axis->power[0] = axis->offset[0] = 0;
  memset(axis->tick, 0, sizeof axis->tick);
  if (most < 2) most = 2;
  if (most > SR_MAX_TICKS) most = SR_MAX_TICKS;
  if (axis->scale == SR_PLOT_LOG)
    log_ticks(axis, most);
  else
    linear_ticks(axis, most);
}
