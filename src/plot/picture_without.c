// Builds that load no libraries write SVG alone.
#include "plot/plot.h"

srPicture sr_picture_of(const char* path) {
  (void)path;
  return SR_PICTURE_SVG;
}

srStatus sr_plot_picture(const char* svg, size_t size, srPicture kind, srMessages* messages, srText* out) {
  (void)svg, (void)size, (void)kind, (void)messages, (void)out;
  return SR_INPUT;
}
