#!/usr/bin/env bash
# Functions with external linkage have the prefix of their family (the table of CONTRIBUTING.md), by the folder that defines them (nm);
# the inline functions of src/expr/build.h build expressions. Every prefix of the table is in use, and no other is.
cd "$(dirname "$0")/.." || exit 1
objects=${SARRUS_BUILD:-build/test}/CMakeFiles/sarrus_objects.dir/src
if [ ! -d "$objects" ]; then
  echo "skipped prefixes: no objects in $objects"
  exit 77
fi

{ grep -o '^  | `[a-z]*_`' CONTRIBUTING.md | tr -d ' |`' | sed 's/^/table - /'
  grep -oE '^(static inline|SRM_INLINE) [A-Za-z]+ [a-z0-9_]+' src/expr/build.h | awk '{ print "expr/build.h", $NF }' | sed 's/^/function /'
  find src -name '*.c' | while read -r source; do  # a build folder may hold older objects
    object=$objects/${source#src/}.o
    [ -e "$object" ] && nm -g --defined-only "$object" | awk -v file="${source#src/}" '$2 ~ /^[TiW]$/ { print "function", file, $3 }'
  done; } | awk '
function allowed(file) {
  if (file ~ /^(integrate|sundials)\//) return "sri_"
  if (file ~ /^(math|suitesparse)\//) return "srm_"
  if (file ~ /^expr\/build.h/) return "srx_"
  return file ~ /^model\// ? "sr_ srs_" : "sr_"
}
$1 == "table" { table[$3] = 1; next }
{
  prefix = $3
  sub(/_.*/, "_", prefix)
  used[prefix] = 1
  ++n
  if (index(" " allowed($2) " ", " " prefix " ") == 0) { print "src/" $2 ": " $3 " must begin with " allowed($2); bad = 1 }
}
END {
  if (n < 1000) { print "only " n " functions were found"; bad = 1 }
  for (prefix in used) if (!(prefix in table)) { print "the table of CONTRIBUTING.md has no " prefix; bad = 1 }
  for (prefix in table) if (!(prefix in used)) { print "no function begins with " prefix ", which is in the table of CONTRIBUTING.md"; bad = 1 }
  exit bad
}' > "${TMPDIR:-/tmp}/prefixes.$$"
status=$?
if [ $status -ne 0 ]; then
  echo "FAILED prefixes:"
  sed 's/^/  /' "${TMPDIR:-/tmp}/prefixes.$$"
fi
rm -f "${TMPDIR:-/tmp}/prefixes.$$"
[ $status -eq 0 ] && echo "ok prefixes"
exit $status
