// Without zlib: stored blocks (RFC 1951, section 3.2.4). A page is then several times as large, and shows the same.
#include "page/page.h"

bool sr_deflate(const void* data, size_t n, srText* out) {
  const char* from = data;
  do {
    const size_t part = n < 65535 ? n : 65535;
    const unsigned char head[5] = {n == part, (unsigned char)(part & 255), (unsigned char)(part >> 8),
                                   (unsigned char)(~part & 255), (unsigned char)(~part >> 8 & 255)};
    sr_text_add(out, (const char*)head, sizeof head);
    sr_text_add(out, from, part);
    from += part;
    n -= part;
  } while (n > 0);
  return !out->failed;
}
