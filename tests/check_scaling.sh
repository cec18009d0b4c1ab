#!/usr/bin/env bash
# Rows of 10 to 200 four-bar linkages (2000 under ./test --long), and implicit methods on chains of 200 to 800 links (2000): the
# instructions of a step, per loop or link and evaluation, are flat within 1.5 times, for every method. So are those of radau5 on 100 to 300 spheres
# on a floor (250 to 2000), those of the broad phase of 1000 to 100 000 balls of one size and of sizes 1:100, and those of the narrow phase of 400 and 1600 balls that touch (1000 to 100 000). A chain of universal joints in
# absolute coordinates costs at most 10 times what it does in relative ones, whatever its length, and its assembly grows with its length. Counted
# by callgrind, so that other work on the machine does not matter.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-build/test/sarrus}
command -v valgrind > /dev/null || { echo "skipped scaling: no valgrind"; exit 77; }
sizes="10 50 200" links="200 800"
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && sizes="10 100 1000 2000" links="200 400 1000 2000"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# cost METHOD N MODEL-AND-OPTIONS...: instructions inside of steps, for each loop, link or sphere and evaluation; parameter $count has their number
count=N
cost() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=sri_step \
    "$sarrus" run "${@:3}" --set "$count=$2" --method "$1" --json > "$work/out" 2> "$work/err" || return 1
  awk -v n="$2" '/Collected/ { instructions = $NF } /"evaluations":/ { evaluations = $2 + 0 }
    END { if (!(instructions > 0 && evaluations > 0)) exit 1; printf "%.0f\n", instructions / evaluations / n }' \
    "$work/err" "$work/out"
}

bad=0 summary=
for method in dopri5 mdop5 hem5 radau5 genalpha-ggl; do
  case $method in
    radau5 | genalpha-ggl) many=$links ;;
    *) many=$sizes ;;
  esac
  costs=()
  for n in $many; do
    model=(models/benchmark/n-four-bar.xml --set start=2 --set speed=0 --control fixed --step 0.002 --t-end 0.01)
    [ "$many" = "$links" ] &&
      model=(models/chain-planar.xml --set total=$((n / 10)) --set mass=$((n / 10)) --set angle=0.3 --t-end 0.001)
    one=$(cost "$method" "$n" "${model[@]}") ||
      { echo "FAILED scaling: $method does not run with $n loops or links: $(tail -n 3 "$work/err")"; exit 1; }
    costs+=("$one")
  done
  ratio=$(printf '%s\n' "${costs[@]}" | sort -n | awk 'NR == 1 { least = $1 } END { printf "%.2f", $1 / least }')
  summary+=" $method: ${costs[*]} ($ratio times);"
  awk -v r="$ratio" 'BEGIN { exit !(r <= 1.5) }' || bad=1
done
# Spheres on a floor: contact instances in the matrices of implicit methods.
spheres="100 300"
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && spheres="250 500 1000 2000"
count=n costs=()
for n in $spheres; do
  one=$(cost radau5 "$n" benchmarks/spheres.xml --t-end 0.001) ||
    { echo "FAILED scaling: $n spheres on a floor do not run: $(tail -n 3 "$work/err")"; exit 1; }
  costs+=("$one")
done
count=N
ratio=$(printf '%s\n' "${costs[@]}" | sort -n | awk 'NR == 1 { least = $1 } END { printf "%.2f", $1 / least }')
summary+=" spheres on a floor, radau5: ${costs[*]} ($ratio times);"
awk -v r="$ratio" 'BEGIN { exit !(r <= 1.5) }' || bad=1

# broad_phase NUMBER SIZES: instructions for each ball, of the unit test that has so many
broad_phase() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=sr_broad_pairs \
    "${SARRUS_BUILD:-build/test}/sarrus-test" "broad/the_broad_phase_of_$1_$2_balls" > "$work/out" 2> "$work/err" || return 1
  awk -v n="$1" '/Collected/ { if ($NF > 0) printf "%.0f\n", $NF / n }' "$work/err"
}
for sizes in similar mixed; do
  costs=()
  for n in 1000 10000 100000; do
    one=$(broad_phase "$n" "$sizes") && [ -n "$one" ] ||
      { echo "FAILED scaling: the broad phase of $n balls: $(tail -n 3 "$work/err")"; exit 1; }
    costs+=("$one")
  done
  ratio=$(printf '%s\n' "${costs[@]}" | sort -n | awk 'NR == 1 { least = $1 } END { printf "%.2f", $1 / least }')
  summary+=" broad phase of 1000 to 100000 $sizes balls: ${costs[*]} ($ratio times);"
  awk -v r="$ratio" 'BEGIN { exit !(r <= 1.5) }' || bad=1
done

# narrow_phase LAYERS: instructions for each of 100 LAYERS balls that touch their neighbours, for all gaps and contact forces of a run of one step
narrow_phase() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=sr_forces \
    "$sarrus" run models/contact/balls-in-bin.xml --set side=10 --set layers="$1" --set pitch=0.0999 --set jitter=0 --step 1e-5 --t-end 1e-5 \
    > "$work/out" 2> "$work/err" || return 1
  awk -v n="$((100 * $1))" '/Collected/ { if ($NF > 0) printf "%.0f\n", $NF / n }' "$work/err"
}
layers="4 16" costs=()
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && layers="10 100 1000"
for n in $layers; do
  one=$(narrow_phase "$n") && [ -n "$one" ] ||
    { echo "FAILED scaling: the narrow phase of ${n}00 balls: $(tail -n 3 "$work/err")"; exit 1; }
  costs+=("$one")
done
ratio=$(printf '%s\n' "${costs[@]}" | sort -n | awk 'NR == 1 { least = $1 } END { printf "%.2f", $1 / least }')
summary+=" narrow phase of balls in $layers layers of 100: ${costs[*]} ($ratio times);"
awk -v r="$ratio" 'BEGIN { exit !(r <= 1.5) }' || bad=1

# Copies by `rep movsb` count as one instruction a byte.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000
bodies="50 200"
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && bodies="50 200 1000"
fixed=(--control fixed --step 0.0001 --t-end 0.001)
for n in $bodies; do
  relative=$(cost dopri5 "$n" models/chain-spatial.xml "${fixed[@]}") &&
    absolute=$(cost dopri5 "$n" models/chain-spatial.xml "${fixed[@]}" --formulation absolute) ||
    { echo "FAILED scaling: a chain of $n bodies does not run: $(tail -n 3 "$work/err")"; exit 1; }
  summary+=" $n bodies on universal joints, relative $relative, absolute $absolute;"
  awk -v a="$absolute" -v r="$relative" 'BEGIN { exit !(a <= 10 * r) }' || bad=1
done

# assembly N: instructions for each body
assembly() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=sr_assemble \
    "$sarrus" run models/chain-spatial.xml --set N="$1" --method dopri5 --control fixed --step 1e-4 --t-end 1e-4 \
    --formulation absolute > "$work/out" 2> "$work/err" || return 1
  awk -v n="$1" '/Collected/ { if ($NF > 0) printf "%.0f\n", $NF / n }' "$work/err"
}
few=$(assembly 100) && many=$(assembly 1000) ||
  { echo "FAILED scaling: a chain of free bodies is not assembled: $(tail -n 3 "$work/err")"; exit 1; }
summary+=" assembly of 100 free bodies $few a body, of 1000 $many;"
awk -v a="$few" -v b="$many" 'BEGIN { exit !(a > 0 && b <= 2 * a) }' || bad=1

summary="instructions for each loop, link or sphere and evaluation,$summary"
[ $bad -eq 0 ] && echo "ok scaling: $summary" || echo "FAILED scaling: $summary"
exit $bad
