// Which files a model may have read. The folders are
//   that of the model;
//   its package: the closest folder above it that holds a package.xml (ROS) or model.config (Gazebo);
//   packages that package:// addresses have found, by the rules of package.c;
//   folders that the user names: --package, ROS_PACKAGE_PATH, AMENT_PREFIX_PATH;
// and for meshes the folder that holds the model's. Links are resolved before a path is compared; only links inside folders that
// the user has named may lead out of them (colcon build --symlink-install makes such).
#include "io/root.h"

#include <string.h>

#include "io/file.h"

#define MAX_LEVELS 64

typedef struct Root {
  const char* real;
  const char* given;  // as the user has named it; NULL: not by the user
} Root;

struct srRoots {
  Root* root;
  int n, capacity;
  const char* sibling;  // for meshes; NULL: none
};

static void add(srReader* r, const char* real, const char* given) {
  struct srRoots* s = r->roots;
  for (int i = 0; i < s->n; i++)
    if (strcmp(s->root[i].real, real) == 0 && (s->root[i].given || !given)) return;
  SR_PUSH(&r->pool, s->root, s->n, s->capacity) = (Root){real, given};
}

static bool is_top(const char* folder) { return strcmp(folder, "/") == 0; }

// The folder of a model, and its package.
static void add_home(srReader* r, const char* real) {
  add(r, real, NULL);
  for (int level = 0; level < MAX_LEVELS && !is_top(real); level++) {
    if (sr_path_is_file(sr_path_join(&r->pool, real, "package.xml")) ||
        sr_path_is_file(sr_path_join(&r->pool, real, "model.config"))) {
      add(r, real, NULL);
      return;
    }
    real = sr_path_folder(&r->pool, real);
  }
}

static struct srRoots* roots_of(srReader* r) {
  if (r->roots) return r->roots;
  r->roots = sr_pool_alloc(&r->pool, sizeof *r->roots);
  const char* home = r->folder ? sr_path_real(&r->pool, r->folder) : NULL;
  if (home) {
    add_home(r, home);
    const char* above = sr_path_folder(&r->pool, home);
    if (!is_top(above)) r->roots->sibling = above;
  }
  for (int i = 0; i < r->options->npackage; i++) {
    const char *given = r->options->packages[i], *equals = strchr(given, '=');
    sr_root_allow(r, equals ? equals + 1 : given, true);
  }
  return r->roots;
}

void sr_root_model(srReader* r, const char* path) {
  const char* real = sr_path_real(&r->pool, path);
  (void)roots_of(r);
  if (real) add_home(r, sr_path_folder(&r->pool, real));
}

void sr_root_allow(srReader* r, const char* folder, bool trusted) {
  (void)roots_of(r);
  const char* real = sr_path_real(&r->pool, folder);
  if (real) add(r, real, trusted ? sr_pool_text(&r->pool, folder) : NULL);
}

// A path written below a folder that the user has named, without a way back up.
static bool is_below(const char* folder, const char* path) {
  if (!sr_file_is_inside(folder, path)) return false;
  for (const char* p = path + strlen(folder); p; p = strchr(p + 1, '/'))
    if (strncmp(p, "/..", 3) == 0 && (p[3] == '/' || !p[3])) return false;
  return true;
}

static bool lies_in_root(srReader* r, const char* path, const char* real) {
  const struct srRoots* s = roots_of(r);
  for (int i = 0; i < s->n; i++) {
    if (sr_file_is_inside(s->root[i].real, real)) return true;
    if (s->root[i].given && is_below(s->root[i].given, path)) return true;
  }
  return false;
}

bool sr_root_reaches(srReader* r, const char* path, srReach reach) {
  const char* real = sr_path_real(&r->pool, path);
  if (!real) return false;
  const char* sibling = roots_of(r)->sibling;
  return lies_in_root(r, path, real) || (reach == SR_REACH_MESH && sibling && sr_file_is_inside(sibling, real));
}
