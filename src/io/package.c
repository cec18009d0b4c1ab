// Where the files of a robot are: package://NAME/path and its family, as ROS writes them.
//
// A package is a folder; its name is that of the folder, or <name> of the package.xml in it. It is searched in the
// folders that the user gives (--package), then around the model, going up, then where the environment points:
// ROS_PACKAGE_PATH (ROS 1: folders that hold packages) and AMENT_PREFIX_PATH (ROS 2: prefixes that hold share/NAME).
#include "io/package.h"

#include <stdlib.h>
#include <string.h>

#include "io/file.h"

#define MAX_LEVELS 64

typedef struct Search {
  srReader* r;
  const char* name;     // of the package
  const char* rest;     // path in it
  const char* places;   // where the package was searched
  const char* homes;    // folders that are the package
  const char* outside;  // folder of a file that may not be read
  srReach reach;
  bool trusted;  // the user has named the folders that are tried
  const char* found;
} Search;

// -------------------------------------------------------------------------------------------------------------- parts
// The part after "scheme://"; NULL: another scheme.
static const char* behind(const char* uri, const char* scheme) {
  const size_t n = strlen(scheme);
  return strncmp(uri, scheme, n) == 0 && strncmp(uri + n, "://", 3) == 0 ? uri + n + 3 : NULL;
}

static void add_to(Search* s, const char** list, const char* word) {
  *list = *list ? sr_pool_printf(&s->r->pool, "%s, %s", *list, word) : sr_pool_text(&s->r->pool, word);
}

// Takes a file that is there, unless it may not be read.
static void take(Search* s, const char* path) {
  if (sr_root_reaches(s->r, path, s->reach))
    s->found = sr_pool_text(&s->r->pool, path);
  else if (!s->outside)
    s->outside = sr_path_folder(&s->r->pool, path);
}

static bool try_file(Search* s, const char* path) {
  if (sr_path_is_file(path))
    take(s, path);
  else
    add_to(s, &s->places, path);
  return s->found != NULL;
}

// ----------------------------------------------------------------------------------------------------------- packages
// A folder around the model is a package where it declares so. Any other one has the name by chance: package://etc/passwd must not
// lead to /etc.
static bool is_declared(Search* s, const char* folder) {
  return sr_package_name(s->r, folder) || sr_path_is_file(sr_path_join(&s->r->pool, folder, "model.config"));
}

// A mesh may also come from a folder of that name which holds the model.
static bool is_mesh_around(Search* s, const char* folder, const char* path) {
  const char *home = sr_path_real(&s->r->pool, s->r->folder), *real = sr_path_real(&s->r->pool, path);
  return s->reach == SR_REACH_MESH && home && real && strcmp(folder, "/") != 0 && sr_file_is_inside(folder, home) &&
         sr_file_is_inside(folder, real);
}

// In a folder that is the package.
static bool try_home(Search* s, const char* folder) {
  const char* path = sr_path_join(&s->r->pool, folder, s->rest);
  if (sr_path_is_file(path)) {
    if (s->trusted || is_declared(s, folder)) sr_root_allow(s->r, folder, s->trusted);
    if (is_mesh_around(s, folder, path))
      s->found = path;
    else
      take(s, path);
  } else if (sr_path_is_folder(folder))
    add_to(s, &s->homes, folder);
  return s->found != NULL;
}

static bool is_package(Search* s, const char* folder) {
  const char* slash = strrchr(folder, '/');
  if (strcmp(slash ? slash + 1 : folder, s->name) == 0) return true;
  const char* name = sr_package_name(s->r, folder);
  return name && strcmp(name, s->name) == 0;
}

// The folder itself, or one that it holds.
static bool try_folder(Search* s, const char* folder) {
  if (is_package(s, folder) && try_home(s, folder)) return true;
  return try_home(s, sr_path_join(&s->r->pool, folder, s->name));
}

// The same, and below it.
static bool try_workspace(Search* s, const char* folder) {
  if (try_folder(s, folder)) return true;
  const char* home = sr_package_below(s->r, folder, s->name);
  return home && try_home(s, home);
}

static bool try_options(Search* s) {
  const srLoadOptions* o = s->r->options;
  const size_t n = strlen(s->name);
  for (int i = 0; i < o->npackage; i++) {
    const char *given = o->packages[i], *equals = strchr(given, '=');
    const bool named = equals && (size_t)(equals - given) == n && strncmp(given, s->name, n) == 0;
    if (named ? try_home(s, equals + 1) : !equals && try_workspace(s, given)) return true;
    if (named || !equals) add_to(s, &s->places, named ? equals + 1 : given);
  }
  return false;
}

static bool try_ancestors(Search* s, const char* folder) {
  const char* at = sr_path_real(&s->r->pool, folder);
  add_to(s, &s->places, sr_pool_printf(&s->r->pool, "%s and the folders above it", at ? at : folder));
  for (int level = 0; at && level < MAX_LEVELS; level++) {
    if (try_folder(s, at)) return true;
    const char* up = sr_path_folder(&s->r->pool, at);
    if (strcmp(up, at) == 0 || strcmp(up, ".") == 0) break;
    at = up;
  }
  return false;
}

// Folders of a variable, separated by ':'.
static bool try_environment(Search* s, const char* variable, bool prefixes) {
  const char* list = getenv(variable);
  if (list && *list) add_to(s, &s->places, variable);
  for (const char* p = list; p && *p;) {
    const size_t n = strcspn(p, ":");
    const char* folder = sr_pool_text_n(&s->r->pool, p, n);
    if (n > 0 && (prefixes ? try_folder(s, sr_path_join(&s->r->pool, folder, "share")) : try_workspace(s, folder)))
      return true;
    p += n + (p[n] == ':');
  }
  return false;
}

static void find_in_package(Search* s, const srImport* how, const char* address) {
  const size_t n = strcspn(address, "/");
  s->name = sr_pool_text_n(&s->r->pool, address, n);
  s->rest = address + n + (address[n] == '/');
  if (n == 0 || !*s->rest) {
    s->name = NULL;
    s->places = "nothing: the address names no package or no file in it";
    return;
  }
  s->trusted = true;
  if (try_options(s)) return;
  s->trusted = false;
  if (try_ancestors(s, how->folder)) return;
  s->trusted = true;
  if (!try_environment(s, "ROS_PACKAGE_PATH", false)) (void)try_environment(s, "AMENT_PREFIX_PATH", true);
}

// -------------------------------------------------------------------------------------------------------------- entry
const char* sr_package_find(srReader* r, const srImport* how, const char* uri, srReach reach, srLookup* lookup) {
  Search s = {.r = r, .reach = reach};
  *lookup = (srLookup){0};
  if (!how->folder) return NULL;
  const char* package = behind(uri, "package");
  const char* path = behind(uri, "file");
  if (!package) package = behind(uri, "model");
  if (package)
    find_in_package(&s, how, package);
  else if (path)
    try_file(&s, path);
  else if (strstr(uri, "://"))
    s.places = "nothing: only package://, model:// and file:// addresses are resolved";
  else
    try_file(&s, sr_path_is_fixed(uri) ? uri : sr_path_join(&r->pool, how->folder, uri));
  *lookup = (srLookup){.package = s.name,
                       .has_package = s.homes != NULL,
                       .outside = s.found ? NULL : s.outside,
                       .places = s.homes ? s.homes : s.places};
  return s.found;
}

void sr_package_check(srReader* r) {
  for (int i = 0; i < r->options->npackage; i++) {
    const char *given = r->options->packages[i], *equals = strchr(given, '=');
    const char* folder = equals ? equals + 1 : given;
    const srPlace place = {.file = sr_pool_printf(&r->pool, "--package %s", given)};
    if (equals == given || !*folder)
      sr_reader_error(r, place, "expected NAME=FOLDER, or a folder that holds packages");
    else if (!sr_path_is_folder(folder))
      sr_reader_error(r, place, "there is no folder '%.200s'", folder);
  }
}
