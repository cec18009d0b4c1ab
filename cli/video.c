// --video FILE.mp4|webm: the page of a run in a headless Chromium, each picture handed to ffmpeg, by a script of Node.js.
#define _POSIX_C_SOURCE 200809L
#include "video.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_PIXELS 7680

extern char** environ;

// ---- what it needs -----------------------------------------------------------------------------------------------------------
static bool find_script(char* out, size_t size) {
  static const char* const places[] = {"share", "../share"};
  char program[PROGRAM_FOLDER_SIZE];
  if (!program_folder(program)) return false;
  for (int i = 0; i < 2; i++) {
    snprintf(out, size, "%s/%s/sarrus/page/video.mjs", program, places[i]);
    if (access(out, R_OK) == 0) return true;
  }
  return false;
}

// The first of some programs that a folder of PATH has.
static bool find_program(const char* const* names, char* out, size_t size) {
  const char* path = getenv("PATH");
  struct stat there;
  for (; *names; names++) {
    for (const char* at = path ? path : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
      const int n = (int)strcspn(at, ":");
      const bool whole = n > 0 && (size_t)snprintf(out, size, "%.*s/%s", n, at, *names) < size;
      if (whole && access(out, X_OK) == 0 && stat(out, &there) == 0 && S_ISREG(there.st_mode)) return true;
    }
  }
  return false;
}

static bool find_programs(Cli* cli, Video* x) {
  static const char* const node[] = {"node", "nodejs", NULL};
  static const char* const chromium[] = {"chromium", "chromium-browser", "google-chrome", NULL};
  static const char* const ffmpeg[] = {"ffmpeg", NULL};
  const bool script = find_script(x->script, sizeof x->script);
  const bool has_node = find_program(node, x->node, sizeof x->node);
  const bool has_chromium = find_program(chromium, x->chromium, sizeof x->chromium);
  const bool has_ffmpeg = find_program(ffmpeg, x->ffmpeg, sizeof x->ffmpeg);
  if (script && has_node && has_chromium && has_ffmpeg) return true;
  cli_error(cli, "--video needs%s%s%s%s: install %s (Debian: apt install nodejs chromium ffmpeg)",
            script ? "" : " the front end of pages (npm ci in the folder page/ of the sources, and build again)",
            has_node ? "" : " node", has_chromium ? "" : " chromium", has_ffmpeg ? "" : " ffmpeg", "what is missing");
  return false;
}

static bool take_size(Cli* cli, Video* x) {
  char rest;
  x->width = 1280;
  x->height = 720;
  if (!x->size) return true;
  const bool two = sscanf(x->size, "%5dx%5d%c", &x->width, &x->height, &rest) == 2;
  if (two && x->width >= 16 && x->height >= 16 && x->width <= MOST_PIXELS && x->height <= MOST_PIXELS &&
      x->width % 2 == 0 && x->height % 2 == 0)
    return true;
  cli_error(cli, "--video-size expects two even numbers from 16 to %d, such as 1280x720, not '%s'", MOST_PIXELS,
            x->size);
  return false;
}

bool video_begin(Cli* cli, Video* x, const char* model) {
  static const char* const themes[] = {"light", "dark"};
  double fps = 30, speed = 1;
  if (!x->path) {
    if (!x->size && !x->theme && isnan(x->fps) && isnan(x->speed)) return true;
    return cli_error(cli, "--video-size, --video-fps, --video-speed and --video-theme are for --video FILE.mp4"), false;
  }
  bool good = output_is_free(cli, x->path, model) && output_begin(cli, "--video", &x->path, SR_CONTENT_VIDEO);
  good = take_size(cli, x) && good;
  good = number_take(cli, "--video-fps", x->fps, false, &fps) && good;
  good = number_take(cli, "--video-speed", x->speed, false, &speed) && good;
  if (good && (fps < 1 || fps > 240)) good = (cli_error(cli, "--video-fps must be from 1 to 240, not %g", fps), false);
  if (x->theme) good = word_exists(cli, "--video-theme", x->theme, themes, 2, 2) && good;
  x->fps = fps;
  x->speed = speed;
  return good && find_programs(cli, x);
}

// ---- making it ---------------------------------------------------------------------------------------------------------------
// Runs it without a shell; its words go to the file log. The exit status, 127: it could not be started.
static int run_program(char* const* words, const char* log) {
  posix_spawn_file_actions_t files;
  pid_t pid;
  int status = 0;
  if (posix_spawn_file_actions_init(&files) != 0) return 127;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", 0, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log, 01 | 0100 | 01000, 0600);  // written, made, emptied
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  const bool started = posix_spawn(&pid, words[0], &files, NULL, words, environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  if (!started) return 127;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void report(Cli* cli, const char* path, const char* log, int status) {
  char text[400] = "";
  FILE* file = fopen(log, "r");
  if (file && fgets(text, sizeof text, file)) text[strcspn(text, "\n")] = '\0';
  if (file) fclose(file);
  if (*text)
    cli_error(cli, "the video '%s' could not be made: %s", path, text);
  else
    cli_error(cli, "the video '%s' could not be made: its script ended with status %d", path, status);
}

static bool copy(Cli* cli, const char* from, const char* to) {
  char part[1 << 14];
  srOutput* output = NULL;
  FILE* file = fopen(from, "rb");
  if (!file || sr_output_create(to, cli->messages, &output) != SR_OK) {
    if (!file) cli_error(cli, "the video '%s' could not be made: nothing was written", to);
    if (file) fclose(file);
    return false;
  }
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) fwrite(part, 1, n, sr_output_stream(output));
  fclose(file);
  return sr_output_close(output, cli->messages) == SR_OK;
}

bool video_open(Cli* cli, Video* x) {
  const char* tmp = getenv("TMPDIR");
  if (!tmp || !*tmp) tmp = "/tmp";
  snprintf(x->folder, sizeof x->folder, "%s/sarrus-video-XXXXXX", tmp);
  if (!mkdtemp(x->folder)) return cli_error(cli, "--video: no folder can be made in '%s'", tmp), false;
  snprintf(x->page, sizeof x->page, "%s/page.html", x->folder);
  return true;
}

bool video_make(Cli* cli, Video* x) {
  const char* dot = strrchr(x->path, '.');
  const bool webm = dot && (dot[1] == 'w' || dot[1] == 'W');
  char log[3100], out[3100], numbers[4][40], theme[8];
  snprintf(log, sizeof log, "%s/log", x->folder);
  snprintf(out, sizeof out, "%s/video.%s", x->folder, webm ? "webm" : "mp4");
  snprintf(numbers[0], sizeof numbers[0], "%d", x->width);
  snprintf(numbers[1], sizeof numbers[1], "%d", x->height);
  snprintf(numbers[2], sizeof numbers[2], "%.17g", x->fps);
  snprintf(numbers[3], sizeof numbers[3], "%.17g", x->speed);
  snprintf(theme, sizeof theme, "%s", x->theme ? x->theme : "light");
  char* const words[] = {x->node,    x->script,  x->chromium, x->ffmpeg,  x->page, out,
                         numbers[0], numbers[1], numbers[2],  numbers[3], theme,   NULL};
  const int status = access(x->page, R_OK) == 0 ? run_program(words, log) : -1;
  if (status > 0) report(cli, x->path, log, status);
  const bool good = status == 0 && copy(cli, out, x->path);
  unlink(x->page);
  unlink(log);
  unlink(out);
  rmdir(x->folder);
  return good;
}
