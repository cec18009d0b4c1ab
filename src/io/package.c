// Where the files of a robot are: package://NAME/path and its kin, as ROS writes them.
//
// A package is a folder; its name is that of the folder, or <name> of the package.xml in it. It is looked for in the
// folders that the user gives (--package), then around the model, going up, then where the environment says:
// ROS_PACKAGE_PATH (ROS 1: folders that hold packages) and AMENT_PREFIX_PATH (ROS 2: prefixes that hold share/NAME).
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/mesh.h"

#define MAX_LEVELS 64
#define PACKAGE_XML_SIZE ((size_t)1 << 20)

typedef struct Search {
  srReader* r;
  const char* name;  // of the package
  const char* rest;  // path in it
  const char* tried;
  const char* found;
} Search;

// -------------------------------------------------------------------------------------------------------------- parts
// What stands behind "scheme://"; NULL: another scheme.
static const char* behind(const char* uri, const char* scheme) {
  const size_t n = strlen(scheme);
  return strncmp(uri, scheme, n) == 0 && strncmp(uri + n, "://", 3) == 0 ? uri + n + 3 : NULL;
}

bool sr_path_is_fixed(const char* path) {
  return path[0] == '/' || strstr(path, "://") != NULL || (path[0] && path[1] == ':');
}

static bool try_file(Search* s, const char* path) {
  if (sr_path_is_file(path))
    s->found = sr_pool_text(&s->r->pool, path);
  else
    s->tried = sr_pool_printf(&s->r->pool, s->tried ? "%s, %s" : "%s%s", s->tried ? s->tried : "", path);
  return s->found != NULL;
}

static bool try_in(Search* s, const char* folder) { return try_file(s, sr_path_join(&s->r->pool, folder, s->rest)); }

// ----------------------------------------------------------------------------------------------------------- packages
// <name> of folder/package.xml, NULL: none. A broken one is none.
static const char* manifest_name(srReader* r, const char* folder) {
  const char *why, *path = sr_path_join(&r->pool, folder, "package.xml");
  size_t size;
  if (!sr_path_is_file(path)) return NULL;
  const char* text = sr_file_read(&r->pool, path, PACKAGE_XML_SIZE, &size, &why);
  const srXmlNode* root = text ? sr_xml_read(&r->pool, text, size, path, NULL) : NULL;
  for (const srXmlNode* node = root ? root->first : NULL; node; node = node->next)
    if (strcmp(node->name, "name") == 0) return node->text;
  return NULL;
}

// Is this folder the package itself?
static bool is_package(Search* s, const char* folder) {
  const char* slash = strrchr(folder, '/');
  if (strcmp(slash ? slash + 1 : folder, s->name) == 0) return true;
  const char* name = manifest_name(s->r, folder);
  return name && strcmp(name, s->name) == 0;
}

// The folder itself, or one that it holds.
static bool try_folder(Search* s, const char* folder) {
  if (is_package(s, folder) && try_in(s, folder)) return true;
  return try_in(s, sr_path_join(&s->r->pool, folder, s->name));
}

static bool try_options(Search* s) {
  const srLoadOptions* o = s->r->options;
  const size_t n = strlen(s->name);
  for (int i = 0; i < o->npackage; i++) {
    const char *given = o->packages[i], *equals = strchr(given, '=');
    if (equals && (size_t)(equals - given) == n && strncmp(given, s->name, n) == 0 && try_in(s, equals + 1))
      return true;
    if (!equals && try_folder(s, given)) return true;
  }
  return false;
}

static bool try_ancestors(Search* s, const char* folder) {
  const char* at = sr_path_real(&s->r->pool, folder);
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
  for (const char* p = list; p && *p;) {
    const size_t n = strcspn(p, ":");
    const char* folder = sr_pool_text_n(&s->r->pool, p, n);
    const char* share = prefixes ? sr_path_join(&s->r->pool, folder, "share") : folder;
    if (n > 0 && try_folder(s, share)) return true;
    p += n + (p[n] == ':');
  }
  return false;
}

static void find_in_package(Search* s, const srImport* how, const char* address) {
  const size_t n = strcspn(address, "/");
  s->name = sr_pool_text_n(&s->r->pool, address, n);
  s->rest = address + n + (address[n] == '/');
  if (n == 0 || !*s->rest) {
    s->tried = "nothing: the address names no package or no file in it";
    return;
  }
  if (try_options(s) || try_ancestors(s, how->folder)) return;
  if (!try_environment(s, "ROS_PACKAGE_PATH", false)) (void)try_environment(s, "AMENT_PREFIX_PATH", true);
}

const char* sr_package_find(srReader* r, const srImport* how, const char* uri, const char** tried) {
  Search s = {.r = r};
  *tried = NULL;
  if (!how->folder) return NULL;
  const char* package = behind(uri, "package");
  const char* path = behind(uri, "file");
  if (!package) package = behind(uri, "model");
  if (package)
    find_in_package(&s, how, package);
  else if (path)
    try_file(&s, path);
  else if (strstr(uri, "://"))
    s.tried = "nothing: only package://, model:// and file:// addresses are looked for";
  else
    try_file(&s, sr_path_is_fixed(uri) ? uri : sr_path_join(&r->pool, how->folder, uri));
  *tried = s.tried;
  return s.found;
}
