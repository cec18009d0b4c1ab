// SHA-256 (FIPS 180-4): names of files in the cache of compiled code.
#ifndef SR_GENERATED_SHA256_H
#define SR_GENERATED_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct srSha256 {
  uint32_t state[8];
  uint64_t bytes;
  unsigned char block[64];
} srSha256;

void sr_sha256_begin(srSha256* x);
void sr_sha256_add(srSha256* x, const void* data, size_t n);
void sr_sha256_end(srSha256* x, char hex[65]);

#endif
