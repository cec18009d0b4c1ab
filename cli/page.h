// --page FILE.html of `run` and `modes`: rows go to a page beside the table.
#ifndef SARRUS_CLI_PAGE_H
#define SARRUS_CLI_PAGE_H

#include "video.h"

typedef struct PageFile {
  const char* path;  // NULL: none is written
  const char* glb;   // --glb, from the same rows; NULL: none
  Video video;       // --video, of such a page
  char front[4352];  // file of the front end
  srPage* page;
  const char* stability;  // of modes; NULL
  size_t size, glb_size;  // of the written file, bytes
} PageFile;

static inline bool page_wanted(const PageFile* x) { return x->path || x->glb || x->video.path; }
// The file of the front end, page.html for runs and view.html for live sessions; `who` asks for it, for the message. False: reported.
bool front_find(Cli* cli, const char* who, const char* file, char* out, size_t size);
// Before anything is computed: the name of the page is free, and the front end is there. False: reported.
bool page_begin(Cli* cli, PageFile* x, const char* model, const char* table);
// Writes what is wanted. report, provenance: as in srPageDef. False: reported.
bool page_write(Cli* cli, PageFile* x, const Model* m, const char* report, const char* provenance);
void page_show(const Cli* cli, const PageFile* x);  // a line for people: what was written
void page_free(PageFile* x);

#endif
