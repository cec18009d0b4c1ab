#!/usr/bin/env bash
# tools/release to its end, and what it makes on a machine that has nothing else: in a bare Debian (debootstrap --variant=minbase, of the release and the
# mirror of this machine) apt installs the Debian package with what it depends on, and pip the wheel into a virtual environment. Needs root and
# the mirror; the build tree is not visible there. Under ./test --long alone.
cd "$(dirname "$0")/.." || exit 1
work=$(realpath "$(mktemp -d)")
root=$work/debian
clean() {  # nothing of this machine is mounted there any more when the folder goes
  awk -v root="$root" 'index($2, root "/") == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount
  rm -rf --one-file-system "$work"
}
trap clean EXIT

fail() {
  echo "FAILED package: $1"
  tail -n 20 "$work/log" | sed 's/^/  /'
  exit 1
}
step() {  # step NAME COMMAND...
  local name=$1
  shift
  "$@" > "$work/log" 2>&1 || fail "$name"
}
inside() {  # inside SCRIPT: in the bare Debian, with its own processes and without variables of this machine
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" bash -ec "$1"
}
install() { inside "apt-get -y -q install --no-install-recommends $*"; }

# ------------------------------------------------------------------------------------------------------- the files of a release
step "a clone" git clone -q . "$work/clone"
step "tools/release" "$work/clone/tools/release"
dist=$work/clone/dist
step "checksums" env -C "$dist" sha256sum --check --strict SHA256SUMS
[ "$(wc -l < "$dist/SHA256SUMS")" -eq 3 ] || fail "the release has not its three files"
step "the Debian package" dpkg-deb --contents "$dist"/sarrus_*.deb
for file in ./usr/bin/sarrus ./usr/share/man/man1/sarrus.1 ./usr/share/bash-completion/completions/sarrus ./usr/share/sarrus/models/pendulum.xml \
  ./usr/share/doc/sarrus/README.md ./usr/share/doc/sarrus/docs/using/tutorial.md ./usr/include/sarrus/sarrus.h ./usr/lib/python3/dist-packages/sarrus/__init__.py; do
  grep -qE " ${file//./\\.}(\.gz)?\$" "$work/log" || fail "the Debian package lacks $file"
done

# -------------------------------------------------------------------------------------------------------------- a bare Debian
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2> /dev/null |
  awk -v release="$codename" '$2 == release && $3 == "main" { print $1; exit }')
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap > /dev/null || [ -z "$mirror" ]; then
  echo "skipped package: the release is made and its checksums hold; a bare Debian needs root, debootstrap (tools/setup --long) and a mirror"
  exit 77
fi
step "debootstrap of $codename from $mirror" debootstrap --variant=minbase "$codename" "$root" "$mirror"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
grep -lsiE 'proxy|Acquire' /etc/apt/apt.conf /etc/apt/apt.conf.d/* | xargs -r cp -t "$root/etc/apt/apt.conf.d/"
mkdir "$root/try"
cp -r "$dist"/*.deb "$dist"/*.whl tests/install "$root/try/"
awk '/^```c program.c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md > "$root/try/readme.c"
step "apt-get update" inside "apt-get -q update"

step "apt-get install ./sarrus*.deb" install "/try/sarrus_*.deb"
step "sarrus -V" inside "sarrus -V"
grep -q "$(sed -n 's/.*SR_VERSION_STRING "\([^"]*\)".*/\1/p' include/sarrus/base.h)" "$work/log" || fail "sarrus -V prints another version"
# As a user without rights, in a folder of his own; implicit methods of SUNDIALS, a loop with the sparse solver, a robot.
step "the installed models" inside "install -d -o nobody /try/user && cd /try/user && setpriv --reuid nobody --clear-groups bash -ec '
  sarrus run /usr/share/sarrus/models/double-pendulum.xml --t-end 2 --out out/double.csv
  sarrus plot out/double.csv --y \"q.*\" --out out/double.svg
  sarrus run /usr/share/sarrus/models/benchmark/n-four-bar.xml --set N=40 --t-end 0.1
  sarrus run /usr/share/sarrus/models/pendulum.xml --method cvode --t-end 1
  sarrus check /usr/share/sarrus/models/robots/leg-closed.urdf
  test -s out/double.csv && test -s out/double.svg'"
! inside 'cd /try && sarrus run /usr/share/sarrus/models/pendulum.xml --out r.h5' > "$work/log" 2>&1 && grep -q libhdf5-103-1 "$work/log" ||
  fail "without the library of HDF5 the message does not name its package"
step "what the package recommends" install libhdf5-103-1 librsvg2-2
step "HDF5, PNG and PDF" inside 'cd /try && sarrus run /usr/share/sarrus/models/pendulum.xml --out r.h5 && sarrus plot r.h5 --out r.png &&
  sarrus plot r.h5 --out r.pdf && test -s r.png && test -s r.pdf'
step "the manual page" inside "test -s /usr/share/man/man1/sarrus.1.gz || test -s /usr/share/man/man1/sarrus.1"

step "compiler, pkg-config and cmake" install gcc libc6-dev pkg-config cmake make
step "programs by pkg-config" inside 'cd /try && cp -r /usr/share/sarrus/models . &&
  cc -std=c17 -Wall -Wextra -Werror readme.c $(pkg-config --cflags --libs sarrus) -o readme && ./readme | grep "^done: t = 10 s" &&
  cc -std=c17 install/program.c $(pkg-config --cflags --libs sarrus) -o program && ./program'
step "a program by find_package" inside 'cd /try && cmake -S install -B build && cmake --build build && build/program'
step "sarrus init" inside 'cd /try && sarrus init mylaws && make -C mylaws && sarrus run mylaws/model.xml --plugins'

step "python3, numpy and venv" install python3 python3-numpy python3-venv
short='import sarrus
r = sarrus.run("/usr/share/sarrus/models/double-pendulum.xml", t_end=1)
assert r.report["t"] == 1
model = sarrus.load("/usr/share/sarrus/models/robots/arm-seven.xml").compile()
data = model.data()
model.step(data, 1e-3, 10)
assert abs(data.t - 0.01) < 1e-12
assert "run" in sarrus.verbs()
print(sarrus.__file__, sarrus.library, sarrus.program())'
echo "$short" > "$root/try/short.py"
step "the Python module of the Debian package" inside 'cd / && python3 -W error /try/short.py'
grep -q '^/usr/lib/python3/dist-packages/sarrus/.* /usr/lib/.*/libsarrus.so.* /usr/bin/sarrus$' "$work/log" || fail "another module than that of the package"

# The wheel alone: the package is removed, its models stay.
step "removing the Debian package" inside 'cp -r /usr/share/sarrus/models /try/kept && apt-get -y -q remove sarrus && apt-get -y -q autoremove &&
  mkdir -p /usr/share/sarrus && cp -r /try/kept /usr/share/sarrus/models && ! command -v sarrus'
step "pip install of the wheel" inside 'python3 -m venv --system-site-packages /try/venv && /try/venv/bin/pip install --no-index /try/sarrus-*.whl'
step "the wheel" inside 'cd / && /try/venv/bin/python -W error /try/short.py && /try/venv/bin/sarrus -V'
grep -q '^/try/venv/.* /try/venv/.* /try/venv/' "$work/log" || fail "another module than that of the wheel"
echo "ok package: $(cd "$dist" && echo *.deb *.whl) in a bare $codename"
