// A user's program: it uses the installed headers and library and nothing else.
#include <sarrus/base.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  printf("sarrus %s\n", sr_version());
  return strcmp(sr_version(), SR_VERSION_STRING) != 0;
}
