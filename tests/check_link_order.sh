#!/usr/bin/env bash
# Folders refer only to folders before them at link time too (nm), not in includes alone: a function that is declared below
# and defined above would tie them together all the same. And the core (cmake/targets.cmake) needs the C library and libm: no files, no
# shared libraries, no threads, no processes.
#   integrate -> sundials   the table of methods names cvode and ida; without SUNDIALS they are rows that refuse (sundials/without.c)
#   math -> suitesparse    the tables of sparse solvers name klu and amd; without SuiteSparse they are rows that are absent (suitesparse/without.c)
#   io -> catalog           the converter compiles what it writes
cd "$(dirname "$0")/.." || exit 1
build=${SARRUS_BUILD:-build/test}
objects=$build/CMakeFiles/sarrus_objects.dir/src
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -d "$objects" ]; then
  echo "skipped link order: no objects in $objects"
  exit 77
fi

# Objects of the sources that there are; a build folder may hold older ones.
objects_of() {  # objects_of FOLDER...
  for folder in "$@"; do
    for source in src/"$folder"/*.c src/"$folder"/*/*.c; do
      [ -e "$objects/${source#src/}.o" ] && echo "$objects/${source#src/}.o"
    done
  done
}
# "folder file D|U symbol": what objects define and what they need.
objects_of $(ls src) | xargs nm -g -A | awk -v skip=$((${#objects} + 1)) '
{ name = $1; sub(/:.*/, "", name); split(substr(name, skip + 1), part, "/"); sub(/\.o$/, "", part[2]) }
$(NF - 1) == "U" { print part[1], part[2], "U", $NF; next }
NF >= 3 { print part[1], part[2], "D", $NF }' > "$work/symbols"

# 1. Downwards only.
program='
BEGIN { allowed["integrate", "sundials"] = allowed["math", "suitesparse"] = allowed["io", "catalog"] = 1 }
NR == FNR { if ($3 == "D") home[$4] = $1; next }
$3 == "U" && $4 in home && home[$4] != $1 && !(($1, home[$4]) in allowed) {
  print "src/" $1 "/" $2 ": refers to " $4 " of src/" home[$4]; bad = 1
}
END { exit bad }'
if ! faults=$(awk "$(cat tests/folder_order.awk)$program" "$work/symbols" "$work/symbols"); then
  echo "FAILED link order:"
  echo "$faults" | sed 's/^/  /'
  exit 1
fi

# 2. The core, from the same objects but for the files that depend on what is built, and a program on it.
core=$(objects_of base math collide nonsmooth expr law model dynamics force constraint contact record system analysis simulate advise report integrate access | grep -v '/base/\(file\|output\|team\)\.c\.o$')
flags="-std=c17 -O1 -Wall -Wextra -Werror -Wno-psabi -Isrc -Iinclude"
{ cc $flags -DSARRUS_NO_PLUGINS -c src/catalog/catalog.c -o "$work/catalog.o" &&
  cc $flags -DSARRUS_NO_THREADS -c src/base/team.c -o "$work/team.o" &&
  cc $flags -c src/sundials/without.c -o "$work/without.o" &&
  cc $flags -c src/suitesparse/without.c -o "$work/without_klu.o" &&
  cc $flags -c tests/core/core.c -o "$work/core.o" &&
  cc "$work"/*.o $core -lm -o "$work/core" && "$work/core"; } > "$work/log" 2>&1 || {
  echo "FAILED link order: the core by itself"
  tail -n 15 "$work/log" | sed 's/^/  /'
  exit 1
}
# Names of the C library, libm and the compiler's own library (__muldc3, __divdc3: complex numbers) that need no operating system; setjmp and longjmp serve the lack of memory (docs/developing/decisions/targets.md).
known=$(tr '\n' ' ' << 'NAMES'
acos asin atan atan2 cabs carg cbrt ceil cos cosh exp exp2 expm1 fabs floor fmax fmin fmod frexp hypot ldexp log log1p log2 lround llround
modf nextafter pow remainder rint round scalbn sin sincos sinh sqrt tan tanh trunc
memcmp memcpy memmove memset strchr strcmp strcpy strcspn strlen strncmp strpbrk strrchr strspn strstr strtod strtol strtok
free malloc realloc calloc qsort bsearch abs snprintf vsnprintf sscanf __isoc99_sscanf clock timespec_get __errno_location
__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc setjmp _setjmp longjmp __longjmp_chk __assert_fail __stack_chk_fail
__muldc3 __divdc3 __cpu_model __cpu_indicator_init _GLOBAL_OFFSET_TABLE_
NAMES
)
others=$(nm -g $core "$work/catalog.o" "$work/team.o" "$work/without.o" "$work/without_klu.o" | awk -v known="$known" '
BEGIN { n = split(known, names, " "); for (i = 1; i <= n; i++) fine[names[i]] = 1 }
NF == 3 { fine[$3] = 1 } NF == 2 && $1 == "U" { need[$2] = 1 }
END { for (x in need) if (!(x in fine) && x !~ /^__(asan|ubsan|tsan|gcov|sanitizer|memcpy_chk|snprintf_chk|vsnprintf_chk)/) print x }' | sort)
if [ -n "$others" ]; then
  echo "FAILED link order: the core needs $(echo $others)"
  exit 1
fi
echo "ok link order"
