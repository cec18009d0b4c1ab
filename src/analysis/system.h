// Parts of the model's system that the run loop uses too.
#ifndef SR_ANALYSIS_SYSTEM_H
#define SR_ANALYSIS_SYSTEM_H

#include <sarrus/analysis.h>

// Puts a state into d: unit quaternions, driven coordinates on their motion.
void sr_put_state(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y);

#endif
