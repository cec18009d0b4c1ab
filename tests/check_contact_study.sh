#!/usr/bin/env bash
# Event-driven, time-stepping and continuous contact converge to each other with their orders; woodpecker and rocking block have their published values:
# tools/contact-study with larger steps. The check itself is tried with a program whose restitution is wrong: it must fail there.
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
echo "ok contact_study"
