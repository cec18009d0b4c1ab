#!/usr/bin/env bash
# Rows of 10 to 200 four-bar linkages (2000 under ./test --long), and implicit methods on chains of 200 to 800 links (2000): the
# instructions of a step, per loop or link and evaluation, are flat within 1.5 times, for every method. Counted by callgrind, so that
# other work on the machine does not matter.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-build/test/sarrus}
command -v valgrind > /dev/null || { echo "skipped scaling: no valgrind"; exit 77; }
sizes="10 50 200" links="200 800"
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && sizes="10 100 1000 2000" links="200 400 1000 2000"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# cost METHOD N MODEL-AND-OPTIONS...: instructions inside of steps, for each loop or link and evaluation
cost() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=sri_step \
    "$sarrus" run "${@:3}" --set N="$2" --method "$1" --json > "$work/out" 2> "$work/err" || return 1
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
summary="instructions for each loop or link and evaluation,$summary"
[ $bad -eq 0 ] && echo "ok scaling: $summary" || echo "FAILED scaling: $summary"
exit $bad
