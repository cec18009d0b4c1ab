// SHA-256 (FIPS 180-4, sections 4.1.2, 5 and 6.2).
#include "generated/sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static void take_block(srSha256* x) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) {
    const unsigned char* b = x->block + 4 * i;
    w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (int i = 16; i < 64; i++) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
  }
  memcpy(s, x->state, sizeof s);
  for (int i = 0; i < 64; i++) {
    const uint32_t big1 = turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25);
    const uint32_t big0 = turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22);
    const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]), majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    const uint32_t one = s[7] + big1 + choice + K[i] + w[i], two = big0 + majority;
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += one;
    s[0] = one + two;
  }
  for (int i = 0; i < 8; i++) x->state[i] += s[i];
}

void sr_sha256_begin(srSha256* x) {
  *x = (srSha256){
      .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sr_sha256_add(srSha256* x, const void* data, size_t n) {
  const unsigned char* from = data;
  while (n > 0) {
    const size_t filled = x->bytes % 64, part = n < 64 - filled ? n : 64 - filled;
    memcpy(x->block + filled, from, part);
    x->bytes += part, from += part, n -= part;
    if (x->bytes % 64 == 0) take_block(x);
  }
}

void sr_sha256_end(srSha256* x, char hex[65]) {
  static const unsigned char one = 0x80, zero = 0;
  const uint64_t bits = 8 * x->bytes;
  unsigned char length[8];
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
  sr_sha256_add(x, &one, 1);
  while (x->bytes % 64 != 56) sr_sha256_add(x, &zero, 1);
  sr_sha256_add(x, length, 8);
  for (int i = 0; i < 8; i++) (void)snprintf(hex + 8 * i, 9, "%08x", x->state[i]);
}
