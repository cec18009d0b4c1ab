#!/usr/bin/env bash
# Every file of tests/bad is refused by `sarrus check`: exit status 2, FILE:LINE:COLUMN: error: on standard error, and the
# words that its first line expects: <!-- expect: LINE:COLUMN words -->
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-build/test/sarrus}
bad=0 count=0

fault() {  # fault FILE WHY OUTPUT
  echo "FAILED $1: $2"
  sed 's/^/    /' <<< "$3"
  bad=$((bad + 1))
}

for file in tests/bad/*.xml; do
  count=$((count + 1))
  expect=$(sed -n '1s/^<!-- expect: \(.*\) -->$/\1/p' "$file")
  place=${expect%% *} words=${expect#* }
  output=$("$sarrus" check "$file" 2>&1 > /dev/null)
  status=$?
  line=$(grep -F "$file:$place: error: " <<< "$output")
  if [ -z "$expect" ]; then fault "$file" "its first line has no <!-- expect: LINE:COLUMN words -->" ""
  elif [ $status -ne 2 ]; then fault "$file" "exit status $status, not 2" "$output"
  elif [ -z "$line" ]; then fault "$file" "no error at $place" "$output"
  elif ! grep -qF -- "$words" <<< "$line"; then fault "$file" "the message at $place does not hold: $words" "$output"
  fi
done
if [ $count -lt 50 ]; then echo "FAILED only $count bad models"; bad=$((bad + 1)); fi
[ $bad -eq 0 ] && echo "ok $count bad models are refused with their place and a sentence"
[ $bad -eq 0 ]
