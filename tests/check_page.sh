#!/usr/bin/env bash
# sarrus run --page and modes --page: the page holds the model, opens without network in a headless Chromium, animates, shows places and columns as they
# were computed, works by keyboard; names never become markup; it is light. --glb keeps the rules of glTF and is read by three.js. SARRUS_TEST_LONG=1: also script time of a frame and pictures in both themes
# and sizes, which are kept in build/page.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
out=$PWD/build/page
bad=0
fail() {
  echo "FAILED page: $*"
  bad=1
}
skip() {
  echo "skipped page: $*"
  exit 77
}
front=$(dirname "$sarrus")/share/sarrus/page/page.html
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ------------------------------------------------------------------------------------------------------------- glTF
# Models with all kinds of shapes, events at one time, an up that is not z: by the rules of the specification; places by another reader (below).
for run in "pendulum" "contact/bouncing-ball" "contact/bead-in-bowl" "contact/wheel-on-terrain" "robots/quadruped-stand --t-end 0.2" "mechanisms/four-bar"; do
  # shellcheck disable=SC2086
  set -- $run
  model=$1
  shift
  "$sarrus" run "models/$model.xml" --every 0.02 --glb "$work/$(basename "$model").glb" --quiet "$@" > "$work/log" 2>&1 || fail "run $model --glb: $(head -c 300 "$work/log")"
done
cat > "$work/solids.xml" << 'END'
<sarrus version="1" name="solids"><option gravity="0 -9.81 0"/>
  <ground><shape type="plane" rpy="-pi/2 0 0"/></ground>
  <body name="b"><joint type="free"/><inertial mass="1" inertia="1 1 1"/>
    <shape name="s" type="sphere" size="0.1" color="1 0 0 1"/><shape type="sphere" size="-0.3" use="visual"/><shape type="box" size="0.1 0.2 0.3" at="0 0 1"/>
    <shape type="cylinder" size="0.1 0.4"/><shape type="cylinder" size="-0.1 0.4" use="visual"/><shape type="capsule" size="0.1 0.3"/><shape type="ellipsoid" size="0.1 0.2 0.3"/>
    <shape type="cone" size="0.1 0.2" color="0 0.5 1 0.5"/></body>
  <run t-end="0.1"/>
</sarrus>
END
"$sarrus" run "$work/solids.xml" --glb "$work/solids.glb" --quiet > "$work/log" 2>&1 || fail "solids: $(head -c 300 "$work/log")"
python3 tests/page/glb.py "$work"/*.glb || bad=1
[ "$(find "$work" -name '*.glb' | wc -l)" = 7 ] || fail "not all scenes were written"
"$sarrus" run models/pendulum.xml --glb "$work/x.png" > "$work/log" 2>&1
[ $? -eq 2 ] && grep -q ".png is not the suffix of a scene" "$work/log" || fail "--glb x.png: $(head -c 300 "$work/log")"

# A build without the front end, everything else the same: one sentence, before anything is computed.
cp "$sarrus" "$work/sarrus"
LD_LIBRARY_PATH=$(dirname "$sarrus") "$work/sarrus" run models/pendulum.xml --page "$work/p.html" > "$work/log" 2>&1
[ $? -eq 2 ] && grep -q "no front end for pages.*npm ci" "$work/log" && [ ! -e "$work/p.html" ] || fail "without a front end: $(head -c 300 "$work/log")"
[ -e "$front" ] || skip "the front end is not built: it needs nodejs, npm, and npm ci in page/ (tools/setup)"

# ---------------------------------------------------------------------------------------------------------- the file
status() {  # status N WORDS ARGUMENTS...
  local wanted=$1 words=$2
  shift 2
  "$sarrus" run "$@" > "$work/log" 2>&1
  local got=$?
  [ $got -eq "$wanted" ] || fail "run $*: status $got, expected $wanted: $(head -c 300 "$work/log")"
  grep -qF -- "$words" "$work/log" || fail "run $*: does not say: $words"
}
status 0 "page        $work/p.html" models/pendulum.xml --page "$work/p.html" --out "$work/p.csv"
"$sarrus" run models/pendulum.xml --out "$work/q.csv" > /dev/null
cmp -s "$work/p.csv" "$work/q.csv" || fail "a page changes the table beside it"
cp "$work/p.html" "$work/before.html"
status 0 page models/pendulum.xml --page "$work/p.html"
# the time that the run took is in its report: everything else has the same bytes
[ "$(grep -v 'id="sarrus-report"' "$work/p.html" | sha256sum)" = "$(grep -v 'id="sarrus-report"' "$work/before.html" | sha256sum)" ] || fail "the same run gave other bytes"
[ "$(wc -c < "$front")" -lt 3000000 ] || fail "the front end has $(wc -c < "$front") bytes, at most 3 MB"
[ -s "$(dirname "$front")/THIRD-PARTY.txt" ] && grep -q "three 0" "$(dirname "$front")/THIRD-PARTY.txt" || fail "licences of the bundle are missing"
grep -qE '(src|href)="?(https?:)?//' "$work/p.html" && fail "the page names an address of the network"
status 2 ".csv is not the suffix of a page" models/pendulum.xml --page "$work/p.csv"
status 2 "both write to" models/pendulum.xml --page - --out -
status 2 "a page shows one model" models/paper3/networks/turntable.xml --page "$work/n.html"
"$sarrus" modes models/pendulum.xml --sweep mass=1:2:2 --page "$work/m.html" > "$work/log" 2>&1
[ $? -eq 2 ] && grep -q "not for --sweep" "$work/log" || fail "modes --sweep --page: $(head -c 300 "$work/log")"
# no names of registries in the lock file
grep -qE '"resolved"|https?://[^"]*registry' page/package-lock.json && fail "page/package-lock.json names a registry"
# markup is made of constants alone
grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function' page/src/*.js && fail "page/src makes markup or code of texts"

# ------------------------------------------------------------------------------------------------------- in a browser
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "chromium is not installed (tools/setup --tests)"
command -v node > /dev/null || skip "nodejs is not installed (tools/setup --tests)"
rm -rf "$out" && mkdir -p "$out"
"$sarrus" run models/paper1/hexapod.xml --t-end 1.2 --every 0.01 --page "$out/hexapod.html" --out "$out/hexapod.csv" --quiet \
  --record 'point(torso).*' --record 'point(tibia3).*' --record 'point(foot6).*' 2> "$work/err" || fail "hexapod: $(head -c 300 "$work/err")"
"$sarrus" run models/contact/heap-of-balls.xml --set N=1000 --set side=10 --t-end 0.2 --page "$out/balls.html" --quiet 2> "$work/err" || fail "balls: $(head -c 300 "$work/err")"
"$sarrus" modes models/double-pendulum.xml --set angle1=0 --set angle2=0 --page "$out/modes.html" --shapes "$out" --quiet > "$work/err" 2>&1 || fail "modes: $(head -c 300 "$work/err")"
"$sarrus" run models/paper1/charmie.xml --t-end 0.02 --every 0.01 --page "$out/charmie.html" --quiet 2> "$work/err" || fail "charmie: $(head -c 300 "$work/err")"
"$sarrus" run models/mechanisms/five-rod-suspension.xml --t-end 0.1 --page "$out/suspension.html" --quiet 2> "$work/err" || fail "suspension: $(head -c 300 "$work/err")"
mkdir "$work/<"
cat > "$work/</script><img src=x onerror=boom=4>.xml" << 'END'
<sarrus version="1" name="&lt;script&gt;boom=1&lt;!--">
  <ground><point name="hook" at="0.6 0 0.5"/></ground>
  <body name="&lt;img src=x onerror=boom=2&gt;">
    <joint name="&lt;!-- crank" type="revolute" axis="0 1 0" q="-1.2"/>
    <inertial mass="1" com="0.1 0 0" inertia="1e-3 1e-3 1e-3"/>
  </body>
  <body name="rod" parent="&lt;img src=x onerror=boom=2&gt;">
    <joint name="phi" type="revolute" axis="0 1 0" at="0.2 0 0" q="0.9"/>
    <inertial mass="1" com="0.3 0 0" inertia="1e-3 1e-3 1e-3"/>
    <point name="tip" at="0.6 0 0"/>
  </body>
  <body name="rocker">
    <joint name="r" type="revolute" axis="0 1 0" at="0.7 0 0" q="-1.3"/>
    <inertial mass="1" com="0.2 0 0" inertia="1e-3 1e-3 1e-3"/>
    <point name="tip" at="0.4 0 0"/>
  </body>
  <closure name="close&lt;b&gt;" type="ball" a="rod/tip" b="rocker/tip"/>
  <spring name="&amp;&lt;svg onload=boom=3&gt;" a="rod/tip" b="ground/hook" stiffness="50" length="0.3" damping="1"/>
  <sensor name="&lt;i&gt;tip" point="rod/tip"/>
  <run t-end="2"/>
</sarrus>
END
(cd "$work" && "$sarrus" run "</script><img src=x onerror=boom=4>.xml" --page "$out/hostile.html" --quiet 2> "$work/err") || fail "hostile names: $(head -c 300 "$work/err")"
grep -c 'boom' "$out/hostile.html" | grep -qx 0 || fail "a name of the model is in the page as it is"
parts="motion topology names modes embed"
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && parts=
# shellcheck disable=SC2086
# A video: as many pictures as asked for, both ends of the run among them, of their size, not all the same; what is missing is said before anything is computed.
status 2 "expects two even numbers" models/pendulum.xml --video "$work/v.mp4" --video-size 641x360
status 2 ".html is not the suffix of a video" models/pendulum.xml --video "$work/v.html"
status 2 "are for --video FILE.mp4" models/pendulum.xml --video-fps 10
PATH=/nowhere "$sarrus" run models/pendulum.xml --video "$work/v.mp4" > "$work/log" 2>&1
[ $? -eq 2 ] && grep -q "needs node chromium ffmpeg: install" "$work/log" && [ ! -e "$work/v.mp4" ] || fail "--video without programs: $(head -c 300 "$work/log")"
if command -v ffmpeg > /dev/null && command -v ffprobe > /dev/null; then
  for video in "mp4 h264 --video-fps 5" "webm vp9 --video-fps 10 --video-speed 2 --video-theme dark"; do
    # shellcheck disable=SC2086
    set -- $video
    file=$out/four-bar.$1 codec=$2
    shift 2
    timeout 300 "$sarrus" run models/mechanisms/four-bar.xml --t-end 1 --video "$file" --video-size 320x180 --quiet "$@" > "$work/log" 2>&1 || fail "--video: $(head -c 300 "$work/log")"
    got=$(ffprobe -v error -count_frames -select_streams v:0 -show_entries stream=codec_name,width,height,nb_read_frames -of csv=p=0 "$file")
    [ "$got" = "$codec,320,180,6" ] || fail "the video is $got, expected $codec,320,180,6"
    different=$(ffmpeg -v error -i "$file" -f framemd5 - | grep -v '^#' | awk '{ print $NF }' | sort -u | wc -l)
    [ "$different" = 6 ] || fail "of 6 pictures of a four-bar that turns $different are different"
  done
  find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'sarrus-video-*' -user "$(id -u)" -mmin -2 2> /dev/null | grep -q . && fail "a video left its folder behind"
else
  echo "page: no ffmpeg: no video is made"
fi
# The page in a frame of another one, as notebooks have it.
"$sarrus" run models/mechanisms/four-bar.xml --t-end 1 --page "$out/four-bar.html" --quiet 2> "$work/err" || fail "four-bar: $(head -c 300 "$work/err")"
python3 - "$out" << 'END' || fail "embed.html"
import html, pathlib, sys
folder = pathlib.Path(sys.argv[1])
text = (folder / "four-bar.html").read_text().replace("<script", '<script type="text/plain" id="sarrus-options">embed=1&play=0&quality=low</script><script', 1)
frame = f'<iframe sandbox="allow-scripts" style="width:100%;height:420px;border:0" srcdoc="{html.escape(text)}"></iframe>'
script = "<script>window.sarrus = {}; window.heard = []; addEventListener('message', (e) => window.heard.push(e.data));</script>"
(folder / "embed.html").write_text(f'<!doctype html><link rel="icon" href="data:,"><body>{script}{frame}')
END
"$sarrus" run models/paper1/hexapod.xml --t-end 1.2 --every 0.01 --glb "$work/hexapod.glb" --quiet 2> "$work/err" || fail "hexapod --glb: $(head -c 300 "$work/err")"
node tests/page/glb.mjs page/node_modules/three "$work/hexapod.glb" "$out/hexapod.csv" torso tibia3 foot6 || fail "three.js reads another motion"
if [ $bad -eq 0 ]; then timeout 900 node tests/page/check.mjs "$chromium" "$out" $parts || bad=1; fi
exit $bad
