// A stranger's program: it has the installed headers and the library, and nothing else of ours.
#include <sarrus/base.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  printf("sarrus %s\n", sr_version());
  return strcmp(sr_version(), SR_VERSION_STRING) != 0;
}
