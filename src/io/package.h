// Where the files of a robot are: package://NAME/path and its family, as ROS writes them. docs/robots/meshes.md
#ifndef SR_IO_PACKAGE_H
#define SR_IO_PACKAGE_H

#include "io/root.h"

// Where a file was searched.
typedef struct srLookup {
  const char* package;  // that the address names; NULL: none
  bool has_package;     // its folder is there, but not the file
  const char* outside;  // folder of the file, which is there but may not be read (root.h); NULL: no such file
  const char* places;   // that were tried, "a, b"; NULL: the model comes from memory, and nothing is searched
} srLookup;

// The path of a uri to be opened from the working folder, in r->pool; NULL: not found, or not to be read.
//   uri    package://NAME/path, model://NAME/path, file:///path, or a path seen from how->folder
const char* sr_package_find(srReader* r, const srImport* how, const char* uri, srReach reach, srLookup* lookup);
// Every --package must name a folder that is there; errors otherwise.
void sr_package_check(srReader* r);

// <name> of folder/package.xml; NULL: none, or it is broken. package_crawl.c
const char* sr_package_name(srReader* r, const char* folder);
// The folder of a package in a folder or some levels below it; NULL: none. package_crawl.c
const char* sr_package_below(srReader* r, const char* root, const char* name);

#endif
