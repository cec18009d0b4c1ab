#!/usr/bin/env bash
# Every file of tests/urdf says in its first lines what `sarrus check` must say about it, and nothing else may come:
#   <!-- expect error|warning|note LINE:COLUMN words -->
# With an error the exit status is 2, else 0. Then: the base, sidecar files, the closed leg.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 count=0

fault() {  # fault WHAT WHY OUTPUT
  echo "FAILED urdf: $1: $2"
  sed 's/^/    /' <<< "$3"
  bad=$((bad + 1))
}

for file in tests/urdf/*.urdf; do
  count=$((count + 1))
  output=$("$sarrus" check "$file" --verbose 2>&1 > /dev/null)
  status=$?
  expected=$(sed -n 's/^<!-- expect \(.*\) -->$/\1/p' "$file")
  wanted=0
  grep -q '^error ' <<< "$expected" && wanted=2
  [ $status -eq $wanted ] || fault "$file" "exit status $status, not $wanted" "$output"
  while read -r severity place words; do
    [ -n "$severity" ] || continue
    grep -F "$file:$place: $severity: " <<< "$output" | grep -qF -- "$words" ||
      fault "$file" "no $severity at $place with: $words" "$output"
  done <<< "$expected"
  [ "$(grep -c . <<< "$output")" -eq "$(grep -c . <<< "$expected")" ] || fault "$file" "it says more or less" "$output"
done
[ $count -ge 40 ] || fault "tests/urdf" "only $count files" ""

# json KEY ARGUMENTS...: the number behind the key in what run --json prints
json() {
  local key=$1
  shift
  "$sarrus" run "$@" --json 2> /dev/null | tr -d ' \n' | grep -o "$key[-+.e0-9]*" | sed "s/^$key//"
}
small() { awk -v x="$1" -v most="$2" 'BEGIN { exit !(x != "" && x + 0 >= 0 && x + 0 <= most + 0) }'; }

# ---------------------------------------------------------------------------------------------------------- closed leg
leg=models/robots/leg-closed.urdf
for options in "" "--formulation absolute" "--method hem5" "--method phem56" "--method radau5 --rtol 1e-8"; do
  # shellcheck disable=SC2086
  violation=$(json '"violation":{"position":' $leg --t-end 0.3 --rtol 1e-9 $options)
  small "$violation" 1e-10 || fault "$leg $options" "violation '$violation' of the loop, more than 1e-10" ""
done
awk '/^```xml leg-closed.urdf/ { inside = 1; next } /^```/ { inside = 0 } inside' docs/using/tutorial.md > "$work/leg.urdf"
diff -q "$work/leg.urdf" $leg > /dev/null || fault docs/using/tutorial.md "its leg is not $leg" "$(diff "$work/leg.urdf" $leg)"

# ---------------------------------------------------------------------------------------------------------------- base
nq=$("$sarrus" check tests/urdf/arm.urdf --base floating --json | tr -d ' \n' | grep -o '"nq":[0-9]*')
[ "$nq" = '"nq":10' ] || fault "--base floating" "$nq, not 10 coordinates" ""
"$sarrus" check tests/urdf/arm.urdf --base flying > /dev/null 2> "$work/err"
[ $? -eq 2 ] && grep -q "expected fixed or floating" "$work/err" || fault "--base flying" "is not refused" "$(cat "$work/err")"

[ $bad -eq 0 ] && echo "ok urdf: $count files are read, warned of or refused as they say; the leg keeps its loop"
[ $bad -eq 0 ]
