// What the parts of `sarrus recommend` share.   cmd_recommend.c survey, trials, options | recommend_print.c JSON and tables
#ifndef SARRUS_CLI_RECOMMEND_H
#define SARRUS_CLI_RECOMMEND_H

#include "compare.h"

typedef struct Recommend {
  Cli* cli;
  Compare c;  // one subject; an entry for each trial
  double seconds, t_end, rtol, atol;
  double began;
  double share;  // of a processor that the survey got: others may use the machine too
  srSurvey* survey;
  srMethodTrial* trial;  // as the entries
  srAdvice advice;
} Recommend;

static inline Model* model_of(Recommend* r) { return &r->c.subject[0].m; }

void print_advice(Recommend* r);
void print_advice_json(Recommend* r, double seconds);  // seconds: wall clock of all of it

#endif
