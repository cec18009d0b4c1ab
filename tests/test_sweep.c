// Plans of parameter values: the generator against its published vectors and its moments, grids in closed form, rows that do not depend on each other.
#include <math.h>
#include <sarrus/sweep.h>
#include <stdlib.h>
#include <string.h>

#include "math/philox.h"
#include "messages.h"
#include "runner.h"

static char said[2000];

static srStatus add(srSweep* s, const char* text, bool random) {
  srMessages* messages = sr_messages_create();
  const srStatus status = random ? sr_sweep_random(s, text, messages) : sr_sweep_grid(s, text, messages);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

static srStatus sample(srSweep* s, long long n, unsigned long long seed) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_sweep_sample(s, n, seed, messages);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

// Salmon et al. (2011), file kat_vectors of Random123: philox4x32, 10 rounds.
TEST(sweep_generator_gives_the_published_numbers) {
  static const struct {
    uint32_t counter[4], key[2], out[4];
  } known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (int i = 0; i < 3; i++) {
    uint32_t out[4];
    srm_philox(known[i].counter, known[i].key, out);
    for (int j = 0; j < 4; j++) ENSURE_EQUAL(out[j], known[i].out[j]);
  }
  ENSURE(srm_unit_interval(0, 0) > 0 && srm_unit_interval(0xffffffff, 0xffffffff) < 1);
  ENSURE_NEAR(srm_unit_interval(0x80000000, 0), 0.5, 1e-15);
}

// Sums of n numbers: mean, variance, and the correlation with the next row and with another parameter. Bounds are five standard deviations of each.
TEST(sweep_samples_have_the_moments_of_their_laws) {
  enum { N = 100000 };
  srSweep* s = NULL;
  ENSURE_EQUAL(sr_sweep_create(&s), SR_OK);
  ENSURE_EQUAL(add(s, "a=uniform:-1:3", true), SR_OK);
  ENSURE_EQUAL(add(s, "b=normal:10:0.5", true), SR_OK);
  ENSURE_EQUAL(add(s, "c=loguniform:1e-3:1e3", true), SR_OK);
  ENSURE_EQUAL(sample(s, N, 7), SR_OK);
  ENSURE_EQUAL(sr_sweep_rows(s), N);
  double mean[3] = {0}, square[3] = {0}, fourth = 0, lag[3] = {0}, cross[3] = {0}, before[3] = {0};
  for (int i = 0; i < N; i++) {
    // each with mean 0 and variance 1
    const double a = sr_sweep_number(s, i, 0), c = sr_sweep_number(s, i, 2);
    const double x[3] = {(a - 1) / (4 / sqrt(12)), (sr_sweep_number(s, i, 1) - 10) / 0.5,
                         log(c) / (6 * log(10) / sqrt(12))};
    ENSURE(a > -1 && a < 3 && c > 1e-3 && c < 1e3);
    for (int k = 0; k < 3; k++) {
      mean[k] += x[k] / N;
      square[k] += x[k] * x[k] / N;
      lag[k] += x[k] * before[k] / N;
      cross[k] += x[k] * x[(k + 1) % 3] / N;
    }
    fourth += x[1] * x[1] * x[1] * x[1] / N;
    memcpy(before, x, sizeof x);
  }
  const double one = 5 / sqrt(N);
  for (int k = 0; k < 3; k++) {
    ENSURE_NEAR(mean[k], 0, one);
    ENSURE_NEAR(square[k], 1,
                one * (k == 1 ? sqrt(2) : sqrt(0.8)));  // variance of x^2: 2 of a normal, 1.8 - 1 of a uniform law
    ENSURE_NEAR(lag[k], 0, one);
    ENSURE_NEAR(cross[k], 0, one);
  }
  ENSURE_NEAR(fourth, 3, one * sqrt(96));  // 105 - 9
  sr_sweep_destroy(s);
}

// A value is a function of seed, name and sample: other parameters, their order and the number of samples do not change it.
TEST(sweep_rows_do_not_depend_on_each_other) {
  srSweep *one = NULL, *two = NULL, *other = NULL;
  sr_sweep_create(&one), sr_sweep_create(&two), sr_sweep_create(&other);
  ENSURE(add(one, "mu=uniform:0:1", true) == SR_OK && sample(one, 50, 3) == SR_OK);
  ENSURE(add(two, "m=normal:0:1", true) == SR_OK && add(two, "k=1,2,3", false) == SR_OK &&
         add(two, "mu=uniform:0:1", true) == SR_OK && sample(two, 70, 3) == SR_OK);
  ENSURE(add(other, "mu=uniform:0:1", true) == SR_OK && sample(other, 50, 4) == SR_OK);
  int same = 0;
  for (int i = 49; i >= 0; i--) {
    const double x = sr_sweep_number(one, i, 0);
    for (int k = 0; k < 3; k++) ENSURE(sr_sweep_number(two, 70 * k + i, 2) == x);  // the same at each point of the grid
    same += sr_sweep_number(other, i, 0) == x || sr_sweep_number(two, i, 0) == x;
  }
  ENSURE_EQUAL(same, 0);
  sr_sweep_destroy(one), sr_sweep_destroy(two), sr_sweep_destroy(other);
}

static bool text_is(const srSweep* s, long long row, int k, const char* wanted) {
  srText text = {0};
  sr_sweep_text(s, row, k, &text);
  const bool same = text.data && strcmp(text.data, wanted) == 0;
  sr_text_free(&text);
  return same;
}

TEST(sweep_grids_are_full_factorial) {
  srSweep* s = NULL;
  sr_sweep_create(&s);
  ENSURE_EQUAL(sr_sweep_rows(s), 0);
  ENSURE_EQUAL(add(s, "k=100:1000:10", false), SR_OK);
  ENSURE_EQUAL(add(s, "d=1e-2:1e2:5:log", false), SR_OK);
  ENSURE_EQUAL(add(s, "method=rk4, dopri5", false), SR_OK);
  ENSURE_EQUAL(add(s, "phi=0,pi/2,max(1,2)", false), SR_OK);
  ENSURE_EQUAL(sr_sweep_rows(s), 10 * 5 * 2 * 3);
  ENSURE_EQUAL(sr_sweep_count(s), 4);
  ENSURE(!sr_sweep_is_log(s, 0) && sr_sweep_is_log(s, 1));
  ENSURE(!sr_sweep_is_words(s, 0) && sr_sweep_is_words(s, 2) && !sr_sweep_is_words(s, 3));
  long long row = 0;
  for (int k = 0; k < 10; k++)
    for (int d = 0; d < 5; d++)
      for (int m = 0; m < 2; m++)
        for (int p = 0; p < 3; p++, row++) {
          const double phi[] = {0, 1.5707963267948966, 2};
          ENSURE(sr_sweep_number(s, row, 0) == 100 + 100 * k);
          ENSURE_NEAR(sr_sweep_number(s, row, 1), pow(10, d - 2), 1e-15 * pow(10, d - 2));
          ENSURE(text_is(s, row, 2, m ? "dopri5" : "rk4") && isnan(sr_sweep_number(s, row, 2)));
          ENSURE(sr_sweep_number(s, row, 3) == phi[p]);
          ENSURE_EQUAL(sr_sweep_place(s, row, 1), d);
        }
  ENSURE(text_is(s, 1, 3, "1.5707963267948966") && text_is(s, 0, 1, "0.01"));
  sr_sweep_destroy(s);
}

TEST(sweep_refuses_what_is_no_plan) {
  static const struct {
    const char *text, *says;
    bool random;
  } bad[] = {{"k", "NAME=FROM:TO:N", 0},
             {"k=", "NAME=FROM:TO:N", 0},
             {"=1:2:3", "NAME=FROM:TO:N", 0},
             {"k=1:2", "at least 2", 0},
             {"k=1:2:1", "at least 2", 0},
             {"k=1:2:2.5", "not 'k=1:2:2.5'", 0},
             {"k=1:x:3", "NAME=FROM", 0},
             {"k=0:2:3:log", "one sign", 0},
             {"k=-1:2:3:log", "one sign", 0},
             {"k=1:2:3:lin", "log", 0},
             {"k=1,,2", "NAME=1,2,5", 0},
             {"k=1:inf:3", "NAME=FROM", 0},
             {"a=1,2", "'a' is swept twice", 0},
             {"k=1:2:1000000000", "10000000000 rows are more than the 10000000", 0},
             {"k=1:2:900000", "", 0},
             {"r=1:2", "--random expects", 1},
             {"r=uniform:2:1", "LOW:HIGH", 1},
             {"r=loguniform:0:1", "LOW > 0", 1},
             {"r=normal:0:-1", "DEVIATION", 1},
             {"r=gauss:0:1", "uniform", 1},
             {"a=uniform:0:1", "swept twice", 1}};
  srSweep* s = NULL;
  sr_sweep_create(&s);
  ENSURE_EQUAL(add(s, "a=1:2:10", false), SR_OK);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const srStatus status = add(s, bad[i].text, bad[i].random);
    ENSURE_EQUAL(status, *bad[i].says ? SR_INPUT : SR_OK);
    if (!strstr(said, bad[i].says)) ENSURE_TEXT(said, bad[i].says);
  }
  ENSURE_EQUAL(sr_sweep_rows(s), 9000000);
  ENSURE(add(s, "c=1,2", false) == SR_INPUT && strstr(said, "18000000 rows are more than the 10000000"));
  ENSURE(sample(s, 0, 1) == SR_INPUT && sample(s, 2, 1) == SR_INPUT && sample(s, 1, 1) == SR_OK);
  sr_sweep_destroy(s);
}
