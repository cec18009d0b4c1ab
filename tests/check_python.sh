#!/usr/bin/env bash
# The Python module: its tests, its examples, and the installed module. Needs a Python with numpy (Debian's has one after
# tools/setup); another python3 may stand first on PATH.
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${SARRUS_BUILD:-build/test}")
SARRUS=$(realpath "${SARRUS:-$build/sarrus}")
export SARRUS PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {  # fail WHAT: what it printed, cut
  echo "FAILED python: $1"
  tail -n 30 "$work/log" | sed 's/^/  /'
  failed=1
}

for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import numpy' 2> /dev/null && python=$candidate && break
done
if [ -z "${python:-}" ]; then
  echo "FAILED python: no python3 with numpy; tools/setup installs it"
  exit 1
fi

# In the repository: the library of this build.
export SARRUS_LIBRARY=${SARRUS_LIBRARY:-$(ls "$build"/libsarrus.so* 2> /dev/null | head -n 1)}
export PYTHONPATH=$PWD/bindings/python
for test in tests/python/test_*.py; do
  "$python" "$test" > "$work/log" 2>&1 || fail "$test"
done
for example in bindings/python/examples/*.py; do
  [ "${example##*/}" = run_notebook.py ] && continue
  (cd "$work" && "$python" -W error "$OLDPWD/$example") > "$work/log" 2>&1 || fail "$example"
done
for notebook in bindings/python/examples/*.ipynb; do
  "$python" -W error bindings/python/examples/run_notebook.py --folder "$work" "$notebook" > "$work/log" 2>&1 || fail "$notebook"
done

# The wheel of this build, unpacked: complete, and independent of this tree. Only the build needs Python 3.11.
if [ -e "$build/cmake_install.cmake" ] && /usr/bin/python3 -c 'import tomllib' 2> /dev/null; then
  if tools/wheel --build-dir "$build" "$work/dist" > "$work/log" 2>&1 &&
    "$python" -m zipfile -e "$work"/dist/sarrus-*.whl "$work/site" && chmod +x "$work/site/sarrus/bin/sarrus"; then
    here=$PWD
    (cd / && env -i PYTHONPATH="$work/site" "$python" -W error -c '
import csv, hashlib, base64, pathlib, sarrus, sys
site = pathlib.Path(sys.argv[1])
assert sarrus.library.startswith(str(site)) and sarrus.program().startswith(str(site)), (sarrus.library, sarrus.program())
assert sarrus.run(sys.argv[2], t_end=0.1).report["t"] == 0.1 and "run" in sarrus.verbs()
info = site / f"sarrus-{sarrus.__version__}.dist-info"
files = {str(p.relative_to(site)) for p in site.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
rows = list(csv.reader((info / "RECORD").open()))
assert {row[0] for row in rows} == files, files ^ {row[0] for row in rows}
for name, digest, size in rows[:-1]:
    data = (site / name).read_bytes()
    assert len(data) == int(size) and "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() == digest
assert "Requires-Dist: numpy" in (info / "METADATA").read_text() and (site / "sarrus" / "py.typed").exists()
' "$work/site" "$here/models/pendulum.xml") > "$work/log" 2>&1 || fail "the wheel"
  else
    fail "the wheel cannot be built"
  fi
fi

# Installed, and moved: the module finds the library and the program of its own tree.
if [ -e "$build/cmake_install.cmake" ]; then
  if cmake --install "$build" --prefix "$work/prefix" > "$work/log" 2>&1 && mv "$work/prefix" "$work/moved"; then
    env -u SARRUS -u SARRUS_LIBRARY PYTHONPATH="$work/moved/share/sarrus/python" "$python" -c '
import sarrus, sys
where = sys.argv[1]
assert sarrus.__file__.startswith(where) and sarrus.library.startswith(where), (sarrus.__file__, sarrus.library)
assert sarrus.program().startswith(where), sarrus.program()
assert sarrus.load(where + "/share/sarrus/models/pendulum.xml").compile().run(t_end=0.1).report["t"] == 0.1
assert "run" in sarrus.verbs()' "$(realpath "$work/moved")" > "$work/log" 2>&1 || fail "the installed module"
  else
    fail "cmake --install"
  fi
fi
[ $failed -eq 0 ] && echo "ok python"
exit $failed
