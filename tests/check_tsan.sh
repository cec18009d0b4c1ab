#!/usr/bin/env bash
# A build with the sanitizer of threads starts (functions compiled for several processors are chosen before it has begun), and the team of threads
# is clean. `cmake --preset tsan` builds everything so; ./test --long runs the tests of the network and of heaps with several threads in it.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=${CC:-cc}
flags="-std=c17 -O1 -g -Isrc -Iinclude -ffp-contract=off -fsanitize=thread -Wno-psabi"
echo 'int main(void) { return 0; }' > "$work/empty.c"
$compiler -fsanitize=thread -o "$work/empty" "$work/empty.c" > "$work/log" 2>&1 && "$work/empty" > "$work/log" 2>&1 ||
  { echo "skipped tsan: this machine has no sanitizer of threads"; exit 77; }

cat > "$work/main.c" << 'END'
#include <stdio.h>
#include "math/v4.h"
#include "base/team.h"

enum { N = 64, ROUNDS = 200 };
static double x[N];
SRM_CLONES static double twice(double a) { return 2 * a; }
static void job(void* user, srTeam* team, int member, int members) {
  (void)user;
  for (int k = 0; k < ROUNDS; k++) {  // every member writes its own, and reads those of the others behind the meeting
    for (int i = member; i < N; i += members) x[i] = x[i] + 1;
    sr_team_meet(team);
    double sum = 0;
    for (int i = 0; i < N; i++) sum += x[i];
    sr_team_meet(team);
    if (sum != (double)N * (k + 1)) x[member] = -1e9;
  }
}
static void add(void* user, int part, int from, int to) {
  (void)user;
  (void)part;
  for (int i = from; i < to; i++) x[i] += 1;
}
int main(void) {
  srTeam* team = sr_team_create(4);
  if (!team) return 2;
  sr_team_run(team, job, NULL);
  for (int k = 0; k < ROUNDS; k++) sr_team_share(team, N, 4 + k % 40, add, NULL);  // the next one while members come late
  sr_team_destroy(team);
  double sum = 0;
  for (int i = 0; i < N; i++) sum += twice(x[i]);
  printf("%g\n", sum);
  return sum != 4.0 * N * ROUNDS;
}
END
# shellcheck disable=SC2086
$compiler $flags -o "$work/main" "$work/main.c" src/base/*.c -lm -lpthread > "$work/log" 2>&1 ||
  { echo "FAILED tsan: it does not build"; head -n 5 "$work/log"; exit 1; }
if ! timeout 60 "$work/main" > "$work/log" 2>&1 || grep -q "WARNING: ThreadSanitizer" "$work/log"; then
  echo "FAILED tsan: it does not start, or is not clean"
  head -n 20 "$work/log"
  exit 1
fi
if [ "${SARRUS_TEST_LONG:-0}" = 1 ]; then
  cmake --preset tsan > "$work/log" 2>&1 && cmake --build --preset tsan --target sarrus_test >> "$work/log" 2>&1 &&
    build/tsan/sarrus-test network >> "$work/log" 2>&1 && build/tsan/sarrus-test heaps/a_heap_has_the_same_bits >> "$work/log" 2>&1 ||
    { echo "FAILED tsan: the tests of the network and of heaps"; tail -n 20 "$work/log"; exit 1; }
fi
echo "ok tsan: a build with the sanitizer of threads starts, the team of threads is clean"
