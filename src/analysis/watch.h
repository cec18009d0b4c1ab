// What is looked at after every accepted step of a looped model: how near the rows are to dependence, and whether all of them
// are kept, also those that are left out.
#ifndef SR_ANALYSIS_WATCH_H
#define SR_ANALYSIS_WATCH_H

#include <sarrus/analysis.h>

#define SR_NEAR_SINGULAR 1e-2  // distance of a row from the others below which corrections are looked at

typedef struct srRankSeen {
  int rank;      // at the end of the step, -1: could not be found
  double sigma;  // smallest distance of a row in use from the others; 0 where the rank has fallen
} srRankSeen;

// Chooses rows at d's position (sr_constraints and sr_mass done).
srRankSeen sr_watch_choose(srModelSystem* s);
// Takes down what was seen at the end t of a step, once it is accepted.
void sr_watch_note(srModelSystem* s, double t, srRankSeen seen);
// Is the correction x of the velocities v, at d's M, within what the error of a step explains? If not, d->trouble says so.
bool sr_watch_correction(const srModelSystem* s, const double* v, const double* x);
// Rows beyond their tolerance by far, at d's g and rates (ng): 0; where the method keeps them, 1 and d->trouble.
int sr_watch_rows(srModelSystem* s, double t, const double* v, const double* rate);
// -1 and d->trouble where the rank has risen over all that was seen before, and rows had drifted off: it is a false one.
int sr_watch_rise(srModelSystem* s, srRankSeen seen);
// The largest of |G a - gamma| at d's state (sr_velocity done), with the accelerations a of the method; NULL: nothing is done.
void sr_watch_acceleration(srModelSystem* s, const double* a);
// At the start, d evaluated: the first row whose acceleration contradicts those it depends on, -1: none. *has, *wants: G a, gamma.
int sr_watch_contradiction(const srModel* m, const srData* d, double* has, double* wants);

#endif
