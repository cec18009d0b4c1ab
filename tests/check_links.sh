#!/usr/bin/env bash
# Every relative link of the Markdown pages leads to a file that is there.
cd "$(dirname "$0")/.." || exit 1

faults=0
while IFS=: read -r page line link; do
  target=${link#*](}
  target=${target%)}
  target=${target%%#*}
  case $target in '' | http://* | https://* | mailto:*) continue ;; esac
  [ -e "$(dirname "$page")/$target" ] && continue
  echo "  $page:$line: no file $target"
  faults=$((faults + 1))
done < <(grep -onE '\]\([^) ]+\)' README.md CHANGELOG.md CONTRIBUTING.md $(find docs models benchmarks -name '*.md'))

if [ $faults -gt 0 ]; then
  echo "FAILED links: $faults lead nowhere"
  exit 1
fi
echo "ok links"
