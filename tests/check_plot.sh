#!/usr/bin/env bash
# sarrus plot keeps its contract: panels, patterns, overlays, foreign tables, messages, exit statuses; figures are XML,
# the same bytes each time, and small and fast for a million rows.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED plot: $*"
  bad=1
}

# status N ARGUMENTS...: the exit status is N; output in $work/out, $work/err
status() {
  local expected=$1 got
  shift
  "$sarrus" plot "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "plot $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}
says() { grep -qE -- "$1" "$work/err" || fail "expected a message like '$1', got: $(head -c 300 "$work/err")"; }
has() { grep -qF -- "$1" "$work/out" || fail "expected '$1' in: $(head -c 400 "$work/out")"; }

# svg FILE TEXT...: the figure is XML and holds the texts
svg() {
  local file=$1 text
  shift
  [ "$(head -c 4 "$file")" = "<svg" ] && [ "$(tail -n 1 "$file")" = "</svg>" ] || fail "$file is no figure"
  if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$file" 2> /dev/null || fail "$file is no XML"
  fi
  for text in "$@"; do grep -qF -- "$text" "$file" || fail "'$text' is not in $file"; done
}
lines() { grep -o '<path class="line ' "$1" | wc -l; }  # lines of data and of the legend

# -------------------------------------------------------------------------------------------------------- a result of run
a=$work/arm.csv
"$sarrus" run models/double-pendulum.xml --t-end 2 --every 0.01 --out "$a" > /dev/null || fail "no table to plot"
status 0 --help
has "example"
status 0 "$a"
has "figure $work/arm.svg"
has "panel 1   q.q1, q.q2"
has "panel 2   v.q1, v.q2"
has "columns   t, q.q1, q.q2, v.q1, v.q2, elbow.x"
svg "$work/arm.svg" ">t [s]</text>" ">q [rad]</text>" ">v [rad/s]</text>" ">q.q2</text>" "prefers-color-scheme:dark"
[ "$(lines "$work/arm.svg")" -eq 8 ] || fail "four columns are four lines, and four in the legends"
cp "$work/arm.svg" "$work/before.svg"
status 0 "$a"
cmp -s "$work/arm.svg" "$work/before.svg" || fail "the same table gave other bytes"

status 0 "$a" --y 'elbow.?' --y kinetic,potential --y 'q.q1' --title 'Arm <1> & "2"' --theme dark --json
has '"panels": [{"columns": ["elbow.x", "elbow.y", "elbow.z"]}, {"columns": ["kinetic", "potential"]}, {"columns": ["q.q1"]}]'
has '"rows": 201'
has "\"out\": \"$work/arm.svg\""
svg "$work/arm.svg" "Arm &lt;1&gt; &amp; &quot;2&quot;" ">elbow [m]</text>" ">[J]</text>" ">q.q1 [rad]</text>"
grep -q prefers-color-scheme "$work/arm.svg" && fail "--theme dark asks the page"
# axes of their own, limits, equal units, pictures
status 0 "$a" --y q.q1 --xy tip.x,tip.z --phase 'q?' --xlim=0,1,-3,3,-9,9 --json
has '"panels": [{"columns": ["q.q1"]}, {"columns": ["tip.z"]}, {"columns": ["v.q1", "v.q2"]}]'
svg "$work/arm.svg" ">tip.x [m]</text>" ">tip.z [m]</text>" ">q [rad]</text>" ">v [rad/s]</text>"
grep -o 'tip.z.*' "$work/arm.svg" | grep -q 'stroke-dasharray' && grep -o '<title>q.q1.*' "$work/arm.svg" | head -1 | grep -q dasharray &&
  fail "a curve alone in its panel is dashed"
status 0 "$a" --xy tip.x,tip.z --equal --width 700 --height 400
# px per metre along both axes, from the positions and labels of the ticks
python3 - "$work/arm.svg" << 'END' || fail "--equal: units of different length"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read().replace("\u2212", "-")
ticks = re.findall(r'<text[^>]*x="([-\d.]+)" y="([-\d.]+)"[^>]*>(-?[\d.]+)</text>', text)
def scale(along, across):
    groups = {}
    for t in ticks: groups.setdefault(t[across], []).append((float(t[along]), float(t[2])))
    best = max(groups.values(), key=len)
    return abs((best[-1][0] - best[0][0]) / (best[-1][1] - best[0][1]))
x, y = scale(0, 1), scale(1, 0)
assert abs(x / y - 1) < 5e-3, (x, y)
END
status 2 "$a" --xlim 1
says "--xlim takes two numbers"
status 2 "$a" --y q.q1 --ylim 3,1
says "no range"
status 2 "$a" --y q.q1 --ylim 0,1 --log y
says "above zero"
status 2 "$a" --xy tip.x
says "--xy needs two columns or more"
status 2 "$a" --phase nothing
says "--phase: no column fits|--phase: there is no column"
status 2 "$a" --equal --log x
says "linear axes"
status 0 "$a" --y q.q1 --out "$work/arm.png"
[ "$(head -c 8 "$work/arm.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "arm.png is no PNG"
status 0 "$a" --y q.q1 --out "$work/arm.pdf" --theme dark
[ "$(head -c 5 "$work/arm.pdf")" = "%PDF-" ] || fail "arm.pdf is no PDF"
status 0 "$a" --y q.q1 --out "$work/ARM.PDF"
[ "$(head -c 5 "$work/ARM.PDF")" = "%PDF-" ] || fail "ARM.PDF is no PDF"

status 0 "$a" --x tip.x --y tip.z --out - --theme light --width 500 --height 400
svg "$work/out" 'width="500" height="400"' ">tip.x [m]</text>" ">tip.z [m]</text>"
status 0 "$a" --y '*' --out "$work/all.svg"
says "series look like others"
svg "$work/all.svg" ">residual [J]</text>" # units differ, so the legend has them

# two tables over each other: the legend has the names of the files
cp "$a" "$work/other.csv"
status 0 "$a" "$work/other.csv" --y q.q1 --y v.q1 --out "$work/two.svg"
svg "$work/two.svg" ">arm</text>" ">other</text>" ">q.q1 [rad]</text>"
[ "$(lines "$work/two.svg")" -eq 6 ] || fail "two tables in two panels are four lines, and two in the legend"
status 0 "$a" "$work/other.csv" --y q.q1,q.q2 --out "$work/two.svg"
svg "$work/two.svg" ">q.q2, other</text>"
printf 't,w\n0,1\n1,2\n' > "$work/less.csv"
status 0 "$a" "$work/less.csv" --y q.q1,w --out "$work/two.svg"
says "less.csv has no column 'q.q1'"

# ---------------------------------------------------------------------------------------------------------- foreign tables
printf 'Zeit (s);Kraft (kN)\n0;1,5\n0,5;2,5\n' > "$work/foreign.csv"
status 0 "$work/foreign.csv" --json
svg "$work/foreign.svg" ">Zeit [s]</text>" ">Kraft [kN]</text>"
printf '1 2\n2 3\n' > "$work/bare.txt"
status 0 "$work/bare.txt"
svg "$work/bare.txt.svg" ">c1</text>" ">c2</text>"
printf 't,x\n1,10\n2,0\n3,-5\n4,1000\n' > "$work/log.csv"
status 0 "$work/log.csv" --log y --out "$work/log.svg"
says "warning: 2 points are not on the log axis"
svg "$work/log.svg" '10<tspan dy="-4.5" font-size="8.5">2</tspan>'

# ------------------------------------------------------------------------------------------------------------------ errors
status 2
says "needs an argument"
status 2 "$a" --y q.q7
says "no column 'q.q7'; did you mean 'q.q[12]'\? Columns: t, q.q1, "
status 2 "$a" --y 'zz*'
says "no column fits 'zz\*'"
status 2 "$a" --x tme
says "no column fits 'tme'"
status 2 "$a" --log z
says "--log: unknown word 'z'"
status 2 "$a" --theme drak
says "did you mean 'dark'"
status 2 "$a" --width 5
says "from 100 to 20000"
status 2 "$a" --out - --json
says "both want standard output"
status 2 "$work/none.csv" --json
has '"errors": ['
says "none.csv: error: cannot be read"
printf 't,x\n0,1\n1,2x\n' > "$work/wrong.csv"
status 2 "$work/wrong.csv"
says "wrong.csv:3:3: error: expected a number, found '2x'"
printf 't,x\n0,1\n1\n' > "$work/wrong.csv"
status 2 "$work/wrong.csv"
says "wrong.csv:3:2: error: the line has 1 values; there are 2 columns"
status 2 "$a" --out "$a/a.svg"
says "a.svg: error: cannot be written: Not a directory"
for name in a.jpg a.csv a; do  # not a figure under the name of something else
  status 2 "$a" --out "$work/$name"
  says "$name: error: .* a figure: write to a name that ends in .svg, .png or .pdf"
  [ -e "$work/$name" ] && fail "$name was written"
done
if [ -e /dev/full ]; then
  status 1 "$a" --out /dev/full
  says "could not be written to its end"
fi

# ------------------------------------------------------------------------------------------------------------ a million rows
awk 'BEGIN { print "t [s],x [m],y [m]"
  for (i = 0; i < 1000000; i++) printf "%.3f,%.15g,%.15g\n", i / 1000, sin(i / 7), i == 123456 ? 50 : cos(i / 50000) }' > "$work/big.csv"
status 0 "$work/big.csv"
size=$(wc -c < "$work/big.svg")
svg "$work/big.svg" ">40</text>" # the spike is in the range of y
[ "$size" -lt 100000 ] || fail "a million rows made $size bytes"

[ $bad -eq 0 ] && echo "ok plot"
exit $bad
