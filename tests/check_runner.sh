#!/usr/bin/env bash
# The runners of tests count what they should: a test that fails, is skipped, takes too long or cannot be executed never
# counts as passed.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
fail() {
  echo "FAILED runner: $*"
  bad=1
}

# ------------------------------------------------------------------------------------------------------------------ scripts
script() {  # script NAME COMMAND: a check that does this
  printf '#!/usr/bin/env bash\n%s\n' "$2" > "$work/check_$1.sh"
  chmod +x "$work/check_$1.sh"
}
script good 'exit 0'
script bad 'exit 1'
script absent 'echo "skipped absent: not here"; exit 77'
script slow 'sleep 60'
script mute 'exit 0'
chmod -x "$work/check_mute.sh"
SARRUS_CHECK_SECONDS=1 tests/checks "$work"/check_*.sh > "$work/out" 2>&1 && fail "failed checks end with status 0"
[ "$(tail -n 1 "$work/out")" = "1 passed, 3 failed, 1 skipped" ] || fail "checks: $(cat "$work/out")"
grep -q '^FAILED check_mute: it is not executable' "$work/out" || fail "a check without its run bit: $(cat "$work/out")"
grep -q '^FAILED check_slow: not done after 1 s' "$work/out" || fail "a check that hangs: $(cat "$work/out")"
tests/checks --filter good "$work"/check_*.sh > "$work/out" || fail "one good check ends with a status"
[ "$(tail -n 1 "$work/out")" = "1 passed, 0 failed, 0 skipped" ] || fail "filtered checks: $(cat "$work/out")"
tests/checks --jobs 3 "$work"/check_[!s]*.sh > "$work/out" && fail "failed checks, three at a time, end with status 0"
[ "$(tail -n 1 "$work/out")" = "1 passed, 2 failed, 1 skipped" ] || fail "checks three at a time: $(cat "$work/out")"
for file in tests/check_*.sh tests/long_*.sh; do
  [ ! -e "$file" ] || [ -x "$file" ] || fail "$file is not executable"
done

# --------------------------------------------------------------------------------------------------------------- unit tests
cat > "$work/test_sample.c" << 'END'
#include "runner.h"
TEST(one_holds) { ENSURE(1 + 1 == 2); }
TEST(one_fails) { ENSURE(1 + 1 == 3); }
TEST(one_is_not_possible) { SKIP("needs the moon"); }
TEST(one_never_ends) {
  for (volatile int i = 0;; i = !i) continue;
}
END
if ${CC:-cc} -std=gnu17 -Itests tests/main.c "$work/test_sample.c" -o "$work/sample" -lm > "$work/out" 2>&1; then
  "$work/sample" one_holds > "$work/out" || fail "a test that holds: $(cat "$work/out")"
  [ "$(cat "$work/out")" = "1 passed, 0 failed, 0 skipped" ] || fail "a test that holds: $(cat "$work/out")"
  "$work/sample" one_fails > "$work/out" && fail "a test that fails ends with status 0"
  [ "$(tail -n 1 "$work/out")" = "0 passed, 1 failed, 0 skipped" ] || fail "a test that fails: $(cat "$work/out")"
  "$work/sample" one_is > "$work/out" || fail "a test that is skipped fails"
  grep -q '^skipped sample/one_is_not_possible: needs the moon' "$work/out" || fail "a skipped test: $(cat "$work/out")"
  [ "$(tail -n 1 "$work/out")" = "0 passed, 0 failed, 1 skipped" ] || fail "a skipped test: $(cat "$work/out")"
  SARRUS_TEST_SECONDS=1 "$work/sample" one_never > "$work/out" && fail "a test that never ends ends with status 0"
  grep -q '^FAILED sample/one_never_ends' "$work/out" || fail "a test that never ends: $(cat "$work/out")"
  # Every test is in one part, whatever the number of parts; a part that is not there is refused.
  "$work/sample" --list > "$work/all"
  for part in 1/3 2/3 3/3; do "$work/sample" --part $part --list; done | sort > "$work/out"
  diff <(sort "$work/all") "$work/out" > /dev/null && [ "$(wc -l < "$work/out")" -eq 4 ] || fail "parts: $(cat "$work/out")"
  [ "$("$work/sample" --part 2/3 --list)" = sample/one_fails ] || fail "part 2/3: $("$work/sample" --part 2/3 --list)"
  sed 's/one_/pair_/; 1i #define RUNNER_TOGETHER' "$work/test_sample.c" > "$work/test_pair.c"
  ${CC:-cc} -std=gnu17 -Itests tests/main.c "$work/test_pair.c" "$work/test_sample.c" -o "$work/pairs" -lm > "$work/out" 2>&1 ||
    fail "two files of tests do not build: $(head -n 5 "$work/out")"
  [ "$("$work/pairs" --part 1/2 --list | grep -c pair)" = 4 ] && [ "$("$work/pairs" --part 2/2 --list | wc -l)" = 2 ] ||
    fail "tests that share files are in several parts: $("$work/pairs" --part 2/2 --list)"
  for part in 0/2 3/2 1/0 1 1/2x; do
    "$work/sample" --part $part --list > "$work/out" 2>&1
    [ $? -eq 2 ] || fail "part $part is taken: $(cat "$work/out")"
  done
  "$work/sample" --times one_holds > "$work/out" || fail "a test that is timed fails"
  grep -qxE ' +[0-9]+\.[0-9]{3} sample/one_holds' "$work/out" || fail "a test that is timed: $(cat "$work/out")"
else
  fail "the runner does not build: $(head -n 5 "$work/out")"
fi

[ $bad -eq 0 ] && echo "ok runner"
exit $bad
