// --page FILE.html, --glb FILE.glb, --video FILE.mp4: where the front end of pages is, and how a page is written.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "page.h"

#define LARGE 20e6  // bytes: more is slow to send and to open

// Beside the program in a build, or in the tree where it is installed. False: not found.
static bool find_front(const char* file, char* out, size_t size) {
  static const char* const places[] = {"share", "../share"};
  char program[PROGRAM_FOLDER_SIZE];
  if (!program_folder(program)) return false;
  for (int i = 0; i < 2; i++) {
    snprintf(out, size, "%s/%s/sarrus/page/%s", program, places[i], file);
    if (access(out, R_OK) == 0) return true;
  }
  return false;
}

bool front_find(Cli* cli, const char* who, const char* file, char* out, size_t size) {
  if (find_front(file, out, size)) return true;
  cli_error(cli,
            "%s: this build has no front end for pages (share/sarrus/page/%s). It is made where Node.js is: "
            "install nodejs and npm, run `npm ci` in the folder page/ of the sources (tools/setup does both), and "
            "build again",
            who, file);
  return false;
}

bool page_begin(Cli* cli, PageFile* x, const char* model, const char* table) {
  if (x->glb && (!output_is_free(cli, x->glb, model) || !output_begin(cli, "--glb", &x->glb, SR_CONTENT_SCENE)))
    return false;
  if (!video_begin(cli, &x->video, model)) return false;
  if (!x->path && !x->video.path) return true;
  if (!output_is_free(cli, x->path, model) || !output_begin(cli, "--page", &x->path, SR_CONTENT_PAGE)) return false;
  if (table && x->path && (strcmp(table, x->path) == 0 || (output_is_stdout(table) && output_is_stdout(x->path))))
    return cli_error(cli, "--page and --out both write to '%s': give one of them another name", table), false;
  return front_find(cli, "--page", "page.html", x->front, sizeof x->front);
}

static bool write_glb(Cli* cli, PageFile* x, const Model* m) {
  if (!x->glb) return true;
  const srStatus status = sr_page_write_glb(x->page, m->relative, x->glb, cli->messages, &x->glb_size);
  if (status == SR_MEMORY) cli_error(cli, "out of memory while writing '%s'", x->glb);
  return status == SR_OK;
}

static bool write_page(Cli* cli, PageFile* x, const char* path, const Model* m, const char* report,
                       const char* provenance) {
  const srPageDef def = {.front = x->front,
                         .described = m->relative,
                         .file = m->path,
                         .report = report,
                         .provenance = provenance,
                         .stability = x->stability};
  const srStatus status = sr_page_write(x->page, &def, path, cli->messages, &x->size);
  if (status == SR_MEMORY) cli_error(cli, "out of memory while writing the page '%s'", path);
  return status == SR_OK;
}

static bool write_video(Cli* cli, PageFile* x, const Model* m, const char* report, const char* provenance) {
  if (!x->video.path) return true;
  if (!video_open(cli, &x->video)) return false;
  const bool written = write_page(cli, x, x->video.page, m, report, provenance);
  return video_make(cli, &x->video) && written;
}

bool page_write(Cli* cli, PageFile* x, const Model* m, const char* report, const char* provenance) {
  bool good = write_glb(cli, x, m);
  good = write_video(cli, x, m, report, provenance) && good;
  if (!x->path) return good;
  good = write_page(cli, x, x->path, m, report, provenance) && good;
  if (good && (double)x->size > LARGE)
    cli_warning(cli, "the page has %.0f MB; fewer rows make it smaller: --every with a longer time",
                (double)x->size / 1e6);
  return good;
}

static const char* name_of(const char* path) { return output_is_stdout(path) ? "standard output" : path; }

void page_show(const Cli* cli, const PageFile* x) {
  if (cli->json || cli->quiet) return;
  if (x->path)
    fprintf(cli->report, "  page        %s (%.0f kB), for any browser\n", name_of(x->path), (double)x->size / 1e3);
  if (x->glb)
    fprintf(cli->report, "  scene       %s (%.0f kB), glTF 2.0\n", name_of(x->glb), (double)x->glb_size / 1e3);
  if (x->video.path)
    fprintf(cli->report, "  video       %s, %d x %d, %g pictures a second\n", name_of(x->video.path), x->video.width,
            x->video.height, x->video.fps);
}

void page_free(PageFile* x) { sr_page_destroy(x->page); }
