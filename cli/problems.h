// run --save-problems: contact problems of a run in files that `contact` reads.
#ifndef SARRUS_CLI_PROBLEMS_H
#define SARRUS_CLI_PROBLEMS_H

#include "cli.h"

typedef struct Kept Kept;

typedef struct Problems {
  Cli* cli;
  const char *folder, *which;  // as given; NULL: not given
  double most;                 // as given, or NOT_GIVEN
  const char* model;           // path
  int choice;                  // which of them
  long step;                   // of the choice "a step"
  Kept* kept;                  // (room) of a choice by rank, until the end
  int nkept, room;
  long seen, written;
  long last_step;  // of the problem seen last ...
  int part;        // ... and its number among those of the step
  bool last_impact, failed;
} Problems;

// Are the options valid? Then memory is there. False: reported.
bool problems_begin(Problems* x, Cli* cli, const char* model);
void problems_see(Problems* x, const srSolvedProblem* solved);
// Writes what was kept, and says how many there are. False: reported.
bool problems_end(Problems* x);
void problems_free(Problems* x);

#define PROBLEM_OPTIONS(x)                                                                                             \
  {"--save-problems", OPTION_TEXT, &(x)->folder, "DIR",                                                                \
   "rigid contact: write contact problems of the steps, or impacts, into this folder, for sarrus contact"},            \
      {"--problems", OPTION_TEXT, &(x)->which, "WHICH",                                                                \
       "of them: hardest (default), worst, unsolved, all, or the number of a step"},                                   \
  {                                                                                                                    \
    "--problems-most", OPTION_NUMBER, &(x)->most, "NUMBER", "so many at the most (default: 10 of hardest and worst)"   \
  }

#endif
