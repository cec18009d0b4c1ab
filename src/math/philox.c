// Philox4x32-10, a random number generator without a state (Salmon, Moraes, Dror and Shaw 2011, section 3.3): number i of stream k is computed
// from (i, k) alone, by ten rounds of
//   (L, R) -> (high(M R) ^ L ^ key, low(M R))
// in two pairs of 32-bit words, with keys that grow by constants. Their test vectors are in tests/test_sweep.c.
#include "math/philox.h"

enum { ROUNDS = 10 };

void srm_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t x[4] = {counter[0], counter[1], counter[2], counter[3]};
  uint32_t k[2] = {key[0], key[1]};
  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t a = (uint64_t)0xD2511F53u * x[0], b = (uint64_t)0xCD9E8D57u * x[2];
    const uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ x[3] ^ k[1],
                           (uint32_t)a};
    for (int j = 0; j < 4; j++) x[j] = y[j];
    k[0] += 0x9E3779B9u;  // golden ratio
    k[1] += 0xBB67AE85u;  // sqrt(3) - 1
  }
  for (int j = 0; j < 4; j++) out[j] = x[j];
}

double srm_unit_interval(uint32_t high, uint32_t low) {
  return ((double)((((uint64_t)high << 32) | low) >> 12) + 0.5) * 0x1p-52;  // 52 bits and a half: exact
}
