// Numbers of rows that follow each other closely, rearranged so that deflate finds what they have in common.
//   d[i] = x[i] - x[i-1] of the bits as integers;   zigzag z = 2 d, or -2 d - 1 where d < 0;   plane k: byte k of all z
#include "page/page.h"

#include <string.h>

static uint64_t bits_of(const unsigned char* x, int width) {
  uint64_t wide = 0;
  uint32_t narrow = 0;
  if (width == 8) return memcpy(&wide, x, 8), wide;
  memcpy(&narrow, x, 4);
  return narrow;
}

static uint64_t zigzag(uint64_t difference, int width) {
  const uint64_t sign = difference >> (8 * width - 1) & 1;
  return difference << 1 ^ (0 - sign);
}

void sr_pack(const void* x, size_t rows, size_t columns, int width, unsigned char* out) {
  const unsigned char* from = x;
  const size_t w = (size_t)width;
  for (size_t c = 0; c < columns; c++) {
    uint64_t before = 0;
    for (size_t i = 0; i < rows; i++) {
      const uint64_t now = bits_of(from + (i * columns + c) * w, width);
      const uint64_t z = zigzag(now - before, width);
      for (size_t k = 0; k < w; k++) out[(c * w + k) * rows + i] = (unsigned char)(z >> 8 * k);
      before = now;
    }
  }
}
