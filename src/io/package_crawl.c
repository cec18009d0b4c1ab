// Packages below a folder, as ROS finds them in a workspace (rospack, colcon): every folder with a package.xml is one,
// and its inside is not searched. A folder with a file CATKIN_IGNORE, COLCON_IGNORE or AMENT_IGNORE is left out.
// A folder is scanned once, level by level, however many files are searched in it.
#include <string.h>

#include "io/file.h"
#include "io/package.h"

#define MAX_LEVELS 5
#define MAX_FOLDERS 5000  // of one crawl
#define PACKAGE_XML_SIZE ((size_t)1 << 20)

struct srPackageCrawls {
  srNames known;  // "FOLDER" that was gone through; "FOLDER<line end>NAME": a package there, index of its folder
  const char** folder;
  int n, capacity;
};

typedef struct Folder {
  const char* path;
  int level;
} Folder;

typedef struct Crawl {
  srReader* r;
  const char* root;
  Folder* folder;
  int n, capacity;
} Crawl;

const char* sr_package_name(srReader* r, const char* folder) {
  const char *reason, *path = sr_path_join(&r->pool, folder, "package.xml");
  size_t size;
  if (!sr_path_is_file(path)) return NULL;
  const char* text = sr_file_read(&r->pool, path, PACKAGE_XML_SIZE, &size, &reason);
  const srXmlNode* root = text ? sr_xml_read(&r->pool, text, size, path, NULL) : NULL;
  const srXmlNode* name = root ? sr_xml_child(root, "name") : NULL;
  return name ? name->text : NULL;
}

static const char* key_of(srReader* r, const char* root, const char* name) {
  return sr_pool_printf(&r->pool, "%s\n%s", root, name);
}

static bool is_left_out(srReader* r, const char* folder) {
  static const char* const files[] = {"CATKIN_IGNORE", "COLCON_IGNORE", "AMENT_IGNORE"};
  for (int i = 0; i < SR_COUNT(files); i++)
    if (sr_path_is_file(sr_path_join(&r->pool, folder, files[i]))) return true;
  return false;
}

static void keep_package(Crawl* c, const char* name, const char* folder) {
  struct srPackageCrawls* k = c->r->crawls;
  if (sr_names_put(&k->known, key_of(c->r, c->root, name), k->n))  // of two the upper one holds
    SR_PUSH(&c->r->pool, k->folder, k->n, k->capacity) = folder;
}

static void look_into(Crawl* c, Folder f) {
  srPool* pool = &c->r->pool;
  int n;
  if (is_left_out(c->r, f.path)) return;
  const char* name = sr_package_name(c->r, f.path);
  if (name) {
    keep_package(c, name, f.path);
    return;
  }
  if (f.level == MAX_LEVELS) return;
  const char** inner = sr_path_folders(pool, f.path, &n);
  for (int i = 0; i < n && c->n < MAX_FOLDERS; i++)
    SR_PUSH(pool, c->folder, c->n, c->capacity) = (Folder){sr_path_join(pool, f.path, inner[i]), f.level + 1};
}

const char* sr_package_below(srReader* r, const char* root, const char* name) {
  if (!r->crawls) {
    r->crawls = sr_pool_alloc(&r->pool, sizeof *r->crawls);
    sr_names_init(&r->crawls->known, &r->pool);
  }
  if (sr_names_put(&r->crawls->known, sr_pool_text(&r->pool, root), 0)) {
    Crawl c = {.r = r, .root = root};
    look_into(&c, (Folder){root, 0});
    for (int i = 0; i < c.n; i++) look_into(&c, c.folder[i]);
  }
  const int i = sr_names_find(&r->crawls->known, key_of(r, root, name));
  return i >= 0 ? r->crawls->folder[i] : NULL;
}
