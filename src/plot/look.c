// How series are distinguished: seven colours that colour-blind readers can tell apart (after Okabe and Ito 2008, without
// yellow, which is lost on white; orange and sky blue a little stronger), in a lighter set on dark pages; and a second
// cue that survives grey printing: dashes for lines, shapes for markers. The second seven have the same colours with
// other dashes and hollow markers.
#include "plot/plot.h"

enum { COLORS = 7 };

static const char* const light[COLORS] = {"#0072b2", "#d55e00", "#009e73", "#b8559a", "#d18f00", "#3aa6e0", "#333333"};
static const char* const dark[COLORS] = {"#4aa3f0", "#ff8a4c", "#2fcf9f", "#e99acb", "#f2bd4b", "#a3dcff", "#e4e4e4"};

// The gaps are wide enough to show a curve beneath.
static const char* const dashes[COLORS] = {"", "8 4", "9 3.5 2 3.5", "4 3", "14 4", "2 3", "9 3 2 3 2 3"};

static const char* const markers[COLORS] = {
    "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",  // circle
    "m-2.9-2.9h5.8v5.8h-5.8z",                           // square
    "m0-4.1l3.7 6.4h-7.4z",                              // triangle, up
    "m0-4.1l4.1 4.1l-4.1 4.1l-4.1-4.1z",                 // diamond
    "m0 4.1l3.7-6.4h-7.4z",                              // triangle, down
    "m0-3.8l3.61 2.63l-1.38 4.24h-4.46l-1.38-4.24z",     // pentagon
    "m0-4.7l1.12 3.16l3.25.12l-2.56 2.01l.89 3.13l-2.7-1.82l-2.7 1.82l.89-3.13l-2.56-2.01l3.25-.12z"};  // star

const char* sr_look_color(int look, bool on_dark) { return (on_dark ? dark : light)[look % COLORS]; }

bool sr_look_hollow(int look) { return look >= COLORS; }

const char* sr_look_marker(int look) { return markers[look % COLORS]; }

// Steps of several series overlap, at few heights: dashes alone would not distinguish them.
bool sr_look_marked(const srPanel* panel, const srPanelSeries* series) {
  return series->style == SR_PLOT_MARKERS || series->style == SR_PLOT_LINE_MARKERS ||
         (series->style == SR_PLOT_STEP && panel->nseries > 1);
}

bool sr_look_dashed(const srPanel* panel) { return panel->nseries > 1; }

// With markers, dashes would only disturb: there they distinguish the second seven from the first.
const char* sr_look_dash(int look, bool marked) {
  if (marked) return sr_look_hollow(look) ? "5 2.5" : "";
  return dashes[sr_look_hollow(look) ? (look + 3) % COLORS : look % COLORS];
}
