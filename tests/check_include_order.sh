#!/usr/bin/env bash
# Folders include only folders before them, so that each part can be read, tested and embedded without the later ones.
#   base < math < collide < expr < law < model < dynamics < force < constraint < contact < record < plugin < catalog < system < analysis < simulate < advise < report < network < symbolic < generated < batch
# access, the interface for other languages, uses all of them and io.
# Outside that order: nonsmooth uses base and math, integrate these and nonsmooth, sundials uses integrate; suitesparse uses base and math; plot base; io model; system joins integrate to the rest.
# The command line includes <sarrus/sarrus.h> and its own headers.
cd "$(dirname "$0")/.." || exit 1
shopt -s nullglob

program='
BEGIN {
  # Public headers belong to the folder of their name, but for these.
  home["words"] = home["text"] = home["table"] = "base"; home["function"] = "expr"; home["spec"] = home["fields"] = home["force"] = home["closure"] = home["sensor"] = "model"
  home["friction"] = home["normal"] = home["laws"] = "law"
  home["compare"] = home["recommend"] = "advise"; home["admittance"] = "network"; home["modes"] = home["sweep"] = "analysis"; home["generate"] = "symbolic"
  # Outside the C library: the doors to files and plugins, and the XML parser and HDF5 for the readers alone.
  split("assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdalign stdarg stdbool " \
        "stddef stdint stdio stdlib stdnoreturn string tgmath time wchar dlfcn unistd sys/stat dirent fcntl sys/file", c, " ")
  for (i in c) system_header[c[i]] = 1
  split("pthread stdatomic", c, " "); for (i in c) threads[c[i]] = 1  # for the team of threads, and the network that it steps
}
function fault(why) { print FILENAME ":" FNR ": " why; bad = 1 }
function public_folder(header) { return header in home ? home[header] : header }
function folder_of(file,   part) {
  split(file, part, "/")
  if (part[1] == "src") return part[2]
  if (part[1] == "cli") return "cli"
  sub(/\.h$/, "", part[3])
  return public_folder(part[3])
}
function exists(file,   text, found) { found = (getline text < file) >= 0; close(file); return found }

/^[ \t]*#[ \t]*include/ {
  here = folder_of(FILENAME)
  name = $0; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*$/, "", name)
  if ($0 ~ /"/) {
    split(name, part, "/")
    if (here == "cli") { if (name ~ /\// || !exists("cli/" name)) fault("cli includes its own headers and <sarrus/sarrus.h>, not \"" name "\"") }
    else if (FILENAME !~ /^src/) fault("a public header includes <sarrus/x.h>, not \"" name "\"")
    else if (!exists("src/" name)) fault("write \"folder/file.h\", seen from src: \"" name "\"")
    else if (!((here, part[1]) in allowed)) fault(here " may not include " name)
  } else if (name ~ /^sarrus\//) {
    sub(/^sarrus\//, "", name); sub(/\.h$/, "", name)
    if (here == "cli") { if (name != "sarrus") fault("cli includes <sarrus/sarrus.h> alone, not <sarrus/" name ".h>") }
    else if (here != "sarrus" && !((here, public_folder(name)) in allowed)) fault(here " may not include <sarrus/" name ".h>")
  } else {
    stem = name; sub(/\.h$/, "", stem)
    if (stem == "klu" || stem == "amd") { if (here != "suitesparse") fault(here " may not include <" name ">"); next }
    if (stem ~ /^(cvodes|idas|nvector|sundials)\//) { if (here != "sundials") fault(here " may not include <" name ">"); next }
    if (stem == "zlib" && here == "page") next
    if ((stem == "spawn" || stem == "sys/wait") && here == "generated") next  # it calls the compiler
    if (stem in threads && (here == "base" || here == "network")) next
    if (stem == "expat" || stem == "hdf5" ? here != "io" : !(stem in system_header) && here != "cli") fault(here " may not include <" name ">")
  }
}
END { exit bad }
'
if faults=$(awk "$(cat tests/folder_order.awk)$program" src/*/*.[ch] src/*/*/*.[ch] include/sarrus/*.h cli/*.[ch]); then
  echo "ok include order"
else
  echo "FAILED include order:"
  echo "$faults" | sed 's/^/  /'
  exit 1
fi
