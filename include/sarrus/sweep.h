// Plans of parameter values: the full factorial of lists and grids, and at each of its points a sample of random values. Row i is a
// function of the plan and of i alone: the same in any order, in any number of threads and processes.
//
//   srSweep* plan;
//   sr_sweep_create(&plan);
//   sr_sweep_grid(plan, "k=100:1000:10", messages);
//   sr_sweep_random(plan, "mu=uniform:0.1:0.3", messages);
//   sr_sweep_sample(plan, 50, 1, messages);          // 10 x 50 rows
//   double mu = sr_sweep_number(plan, 123, 1);
//   sr_sweep_destroy(plan);
#ifndef SARRUS_SWEEP_H
#define SARRUS_SWEEP_H

#include <sarrus/base.h>
#include <sarrus/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srSweep srSweep;

#define SR_SWEEP_MOST_ROWS 10000000

SR_API srStatus sr_sweep_create(srSweep** out);
SR_API void sr_sweep_destroy(srSweep* sweep);

// These return SR_INPUT after a message. Parameters are numbered as they are added.
// "NAME=A:B:N": N values from A to B; "NAME=A:B:N:log": at equal ratios; "NAME=V,V,...": these, numbers or words. A and B are numbers or
// formulas of numbers, such as 2*pi.
SR_API srStatus sr_sweep_grid(srSweep* sweep, const char* text, srMessages* messages);
// "NAME=uniform:A:B", "NAME=normal:MEAN:DEVIATION", "NAME=loguniform:A:B": a random value in each row. It depends on the seed, the name and the
// number of the sample: other parameters do not change it.
SR_API srStatus sr_sweep_random(srSweep* sweep, const char* text, srMessages* messages);
// n samples at each point of the grid, the same ones at all points.
SR_API srStatus sr_sweep_sample(srSweep* sweep, long long n, unsigned long long seed, srMessages* messages);

// Rows of the plan, at most SR_SWEEP_MOST_ROWS: the last grid changes fastest, and samples faster than grids. 0: there is no parameter.
SR_API long long sr_sweep_rows(const srSweep* sweep);
SR_API int sr_sweep_count(const srSweep* sweep);  // parameters
SR_API const char* sr_sweep_name(const srSweep* sweep, int parameter);
SR_API int sr_sweep_values(const srSweep* sweep, int parameter);     // of its grid; 0: it is random
SR_API bool sr_sweep_is_words(const srSweep* sweep, int parameter);  // some value of its list is no number
SR_API bool sr_sweep_is_log(const srSweep* sweep,
                            int parameter);  // its values are positive, at equal or uniform ratios
SR_API int sr_sweep_place(const srSweep* sweep, long long row, int parameter);      // which of its values; -1: random
SR_API double sr_sweep_number(const srSweep* sweep, long long row, int parameter);  // NaN: a word
// The value as text: numbers with 17 digits, words as they were given.
SR_API void sr_sweep_text(const srSweep* sweep, long long row, int parameter, srText* out);

#ifdef __cplusplus
}
#endif
#endif
