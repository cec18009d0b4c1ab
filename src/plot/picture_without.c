// Builds that load no libraries write SVG alone.
#include "plot/plot.h"

srStatus sr_plot_picture(const char* svg, size_t size, srPicture kind, srMessages* messages, srText* out) {
  (void)svg, (void)size, (void)kind, (void)out;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "this build of Sarrus writes figures as SVG alone");
  return SR_INPUT;
}
