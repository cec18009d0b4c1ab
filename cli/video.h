// --video FILE.mp4|webm of `run`: the page of the run, drawn picture by picture by a headless browser (page/video.mjs).
#ifndef SARRUS_CLI_VIDEO_H
#define SARRUS_CLI_VIDEO_H

#include "cli.h"

typedef struct Video {
  const char* path;  // NULL: none is made
  const char *size, *theme;
  double fps, speed;  // or NOT_GIVEN
  int width, height;
  char script[4352];
  char folder[3000], page[3100];  // of its files, and the page in it; made by video_open
  char node[4096], chromium[4096], ffmpeg[4096];
} Video;

#define VIDEO_OPTIONS(x)                                                                                               \
  {"--video", OPTION_TEXT, &(x)->path, "FILE.mp4", "make a video of it, or a FILE.webm: with chromium and ffmpeg"},    \
      {"--video-size", OPTION_TEXT, &(x)->size, "WxH", "pixels of the video (1280x720)"},                              \
      {"--video-fps", OPTION_NUMBER, &(x)->fps, "NUMBER", "pictures a second (30)"},                                   \
      {"--video-speed", OPTION_NUMBER, &(x)->speed, "NUMBER", "seconds of the run in a second of the video (1)"}, {    \
    "--video-theme", OPTION_TEXT, &(x)->theme, "NAME", "light (default) or dark"                                       \
  }

// Before anything is computed: the options, the name, and the programs that it needs. False: reported.
bool video_begin(Cli* cli, Video* x, const char* model);
// A folder for x->page, which is to be written; video_make draws it, and removes both. False: reported.
bool video_open(Cli* cli, Video* x);
bool video_make(Cli* cli, Video* x);

#endif
