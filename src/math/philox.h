// Random numbers as a function of a counter: the same for any order, thread and machine.
#ifndef SR_MATH_PHILOX_H
#define SR_MATH_PHILOX_H

#include <stdint.h>

// Philox4x32 with ten rounds: 128 bits from a counter of 128 bits and a key of 64.
void srm_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
// 64 of those bits as a number in (0, 1): neither end is reached.
double srm_unit_interval(uint32_t high, uint32_t low);

#endif
