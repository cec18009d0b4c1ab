// The core of a page: a live session (sarrus/live.h) as functions that JavaScript calls (page/src/worker.js). Files that a model includes lie
// in a folder in the memory of the page, which holds nothing else.
#include <dirent.h>
#include <emscripten.h>
#include <sarrus/live.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/model"
static srLive* live;
static srText answer;

// clang-format off
EM_JS(void, tell_progress, (double part), { Module.progress(part); });
// clang-format on

static int progress(void* user, double t, double t_end) {
  (void)user;
  tell_progress(t_end > 0 ? t / t_end : 0);
  return 0;
}

EMSCRIPTEN_KEEPALIVE int core_open(void) {
  static const srLiveOptions options = {.folder = FOLDER, .progress = progress};
  mkdir(FOLDER, 0700);
  live = sr_live_create(&options);
  return live != NULL;
}

// The answer is there until the next request. 0: out of memory.
EMSCRIPTEN_KEEPALIVE int core_request(const char* json, size_t n) {
  sr_text_free(&answer);
  return sr_live_request(live, json, n, &answer) == SR_OK && !answer.failed;
}
EMSCRIPTEN_KEEPALIVE const char* core_answer(void) { return answer.data; }
EMSCRIPTEN_KEEPALIVE size_t core_answer_size(void) { return answer.n; }

static bool path_of(const char* name, char out[1024]) {
  const int n = snprintf(out, 1024, "%s/%s", FOLDER, name);
  return n > 0 && n < 1024;
}

// A file of the folder; a name with slashes makes the folders in it. 0: there is no room for it.
EMSCRIPTEN_KEEPALIVE int core_file(const char* name, const void* data, size_t n) {
  char path[1024];
  if (!path_of(name, path)) return 0;
  for (char* p = path + strlen(FOLDER) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
    *p = '\0';
    mkdir(path, 0700);
  }
  FILE* to = fopen(path, "wb");
  if (to == NULL) return 0;
  const bool good = fwrite(data, 1, n, to) == n;
  return fclose(to) == 0 && good;
}

static void clear_folder(const char* path, int depth) {
  DIR* folder = opendir(path);
  for (struct dirent* entry; folder != NULL && depth < 16 && (entry = readdir(folder)) != NULL;) {
    char inner[1024];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= (int)sizeof inner) continue;
    if (unlink(inner) == 0) continue;
    clear_folder(inner, depth + 1);
    rmdir(inner);
  }
  if (folder != NULL) closedir(folder);
}

EMSCRIPTEN_KEEPALIVE void core_forget_files(void) { clear_folder(FOLDER, 0); }
