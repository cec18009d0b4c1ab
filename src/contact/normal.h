// What the normal laws share. To add one: write normal_<name>.c with one srNormalLaw, put a row into SR_NORMAL_LIST
// (include/sarrus/words.h).
#ifndef SR_CONTACT_NORMAL_H
#define SR_CONTACT_NORMAL_H

#include <sarrus/laws.h>

#define SR_NORMAL_DECLARE(name, word) extern const srNormalLaw sr_normal_##name;
SR_NORMAL_LIST(SR_NORMAL_DECLARE)
#undef SR_NORMAL_DECLARE

// f = K d^n (1 + rate), clamped at 0.
int sr_normal_power(const srNormalIn* in, double n, double rate, srNormalOut* out);
double sr_normal_power_energy(const srNormalIn* in, double n);  // K d^(n+1)/(n+1)
// The laws K d^n (1 + chi ddot/ddot0), which differ in chi alone.
int sr_normal_damped(const srNormalIn* in, srNormalOut* out);
double sr_normal_damped_energy(const srNormalIn* in);

#endif
