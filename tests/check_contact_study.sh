#!/usr/bin/env bash
# Event-driven, time-stepping and continuous contact converge to each other with their orders; woodpecker and rocking block have their published values:
# tools/contact-study with larger steps, and tools/paper2-study with four mechanisms. The check itself is tried with a program whose restitution is wrong: it must fail there.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! tools/contact-study --check --quick --csv "$work/table.csv" "$sarrus" > "$work/out" 2>&1; then
  grep -E 'out of bounds|contact-study:|Error' "$work/out" || tail -n 5 "$work/out"
  echo "FAILED contact_study"
  exit 1
fi
[ "$(wc -l < "$work/table.csv")" -eq 37 ] || { echo "FAILED contact_study: 36 rows expected in the table"; exit 1; }

# The ball with e = 0.88 instead of 0.9 in time-stepping alone.
cat > "$work/wrong" << END
#!/usr/bin/env bash
case "\$*" in
  *bouncing-ball*timestepping*) exec "$sarrus" "\$@" --set e=0.88 ;;
  *) exec "$sarrus" "\$@" ;;
esac
END
chmod +x "$work/wrong"
if tools/contact-study --check --quick --only "bouncing ball" "$work/wrong" > "$work/out" 2>&1 || ! grep -q 'out of bounds: bouncing ball, timestepping, after impacts' "$work/out"; then
  echo "FAILED contact_study: a wrong restitution is not noticed: $(tail -n 3 "$work/out")"
  exit 1
fi

# Methods on mechanisms with impacts: four of them, each solved by all five methods.
if ! tools/paper2-study --quick --out "$work/paper2" "$sarrus" > "$work/out" 2>&1; then
  echo "FAILED contact_study: $(tail -n 1 "$work/out")"
  exit 1
fi
[ "$(grep -cE '^  [a-z0-9-]+ +[0-9]+ .* 1\.00$' "$work/out")" -eq 10 ] || { echo "FAILED contact_study: not all runs are solved: $(cat "$work/out")"; exit 1; }
grep -qE '^turning-box +[0-9.]+e-1[0-9] +1 +6 ' "$work/out" || { echo "FAILED contact_study: reference, change of rank or redundant equations of the box: $(grep turning "$work/out")"; exit 1; }
[ -s "$work/paper2/profile.svg" ] && [ "$(grep -c , "$work/paper2/set2.csv")" -eq 21 ] || { echo "FAILED contact_study: no figure, or not 20 runs in the table"; exit 1; }
echo "ok contact_study"
