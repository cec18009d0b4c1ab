// Compression by zlib, without header and checksum: what DecompressionStream('deflate-raw') of browsers reads.
#include <limits.h>
#include <zlib.h>

#include "page/page.h"

bool sr_deflate(const void* data, size_t n, srText* out) {
  unsigned char room[1 << 16];
  const unsigned char* from = data;
  z_stream z = {0};
  if (deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  do {
    const size_t part = n < UINT_MAX ? n : UINT_MAX;
    z.next_in = (z_const Bytef*)from;
    z.avail_in = (uInt)part;
    from += part;
    n -= part;
    do {
      z.next_out = room;
      z.avail_out = sizeof room;
      (void)deflate(&z, n > 0 ? Z_NO_FLUSH : Z_FINISH);
      sr_text_add(out, (const char*)room, sizeof room - z.avail_out);
    } while (z.avail_out == 0);
  } while (n > 0);
  (void)deflateEnd(&z);
  return !out->failed;
}
