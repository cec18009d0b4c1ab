// A live session on standard input and output, for tests: a request a line, answers after their length (uint32).
#include <sarrus/live.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  srLive* live = sr_live_create(&(srLiveOptions){.folder = argc > 1 ? argv[1] : NULL});
  char* line = NULL;
  size_t room = 0;
  ssize_t n;
  while (live != NULL && (n = getline(&line, &room, stdin)) > 0) {
    srText answer = {0};
    if (sr_live_request(live, line, (size_t)n - 1, &answer) != SR_OK) return 3;
    const uint32_t size = (uint32_t)answer.n;
    if (fwrite(&size, 4, 1, stdout) != 1 || fwrite(answer.data, 1, answer.n, stdout) != answer.n || fflush(stdout) != 0)
      return 4;
    sr_text_free(&answer);
  }
  free(line);
  sr_live_destroy(live);
  return 0;
}
