// Which columns of result tables go to which panel: names, patterns, and a choice when none is given.
#include "plot_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find(const PlotColumns* c, const char* name) {
  for (int i = 0; i < c->n; i++)
    if (strcmp(c->names[i], name) == 0) return i;
  return -1;
}

static bool collect(srResultTable* const* tables, int ntable, PlotColumns* c) {
  size_t room = 1;
  for (int t = 0; t < ntable; t++) room += (size_t)tables[t]->ncolumn;
  c->names = malloc(room * sizeof *c->names);
  c->units = malloc(room * sizeof *c->units);
  if (!c->names || !c->units) return false;
  for (int t = 0; t < ntable; t++)
    for (int i = 0; i < tables[t]->ncolumn; i++) {
      if (find(c, tables[t]->names[i]) >= 0) continue;
      c->names[c->n] = tables[t]->names[i];
      c->units[c->n++] = tables[t]->units[i];
    }
  return true;
}

// Tells that a word is no column, with the nearest one and all that there are.
static void refuse(Cli* cli, const PlotColumns* c, const char* option, const char* word) {
  char list[700];
  words_join(c->names, c->n, list, sizeof list);
  if (strlen(list) + 1 == sizeof list) strcpy(list + sizeof list - 6, ", ...");
  const char* meant = strpbrk(word, "*?") ? NULL : sr_nearest_word(word, c->names, c->n);
  if (meant)
    cli_error(cli, "%s: there is no column '%s'; did you mean '%s'? Columns: %s", option, word, meant, list);
  else
    cli_error(cli, "%s: no column fits '%s'. Columns: %s", option, word, list);
}

// ------------------------------------------------------------------------------------------------------------- panels
static PlotPanel* new_panel(PlotColumns* c) {
  PlotPanel* panel = realloc(c->panel, (size_t)(c->npanel + 1) * sizeof *panel);
  if (!panel) return NULL;
  c->panel = panel;
  panel[c->npanel] =
      (PlotPanel){.column = malloc((size_t)(c->n + 1) * sizeof(int)), .over = malloc((size_t)(c->n + 1) * sizeof(int))};
  c->npanel++;
  return panel[c->npanel - 1].column && panel[c->npanel - 1].over ? &panel[c->npanel - 1] : NULL;
}

static void add(PlotPanel* panel, int column, int over) {
  for (int i = 0; i < panel->n; i++)
    if (panel->column[i] == column) return;  // two patterns may fit the same column
  panel->over[panel->n] = over;
  panel->column[panel->n++] = column;
}

// One word of a list: a literal name, or a pattern, which leaves out the column on the horizontal axis.
static bool add_word(Cli* cli, PlotColumns* c, PlotPanel* panel, const char* option, int over, const char* word) {
  const int before = panel->n, exact = find(c, word);
  if (exact >= 0) {
    add(panel, exact, over);
    return true;
  }
  bool any = false;
  for (int i = 0; i < c->n && strpbrk(word, "*?"); i++) {
    if (i == over || !sr_pattern_fits(word, c->names[i])) continue;
    add(panel, i, over);
    any = true;
  }
  if (!any && panel->n == before) refuse(cli, c, option, word);
  return any;
}

// The next word of a list, which is cut there; NULL at its end. Blanks around it are left out.
static char* next_word(char** list) {
  char* word = *list;
  if (!word) return NULL;
  *list = strchr(word, ',');
  if (*list) *(*list)++ = 0;
  while (*word == ' ') word++;
  for (size_t n = strlen(word); n > 0 && word[n - 1] == ' '; n--) word[n - 1] = 0;
  return word;
}

static char* copy_of(const char* text) {
  char* copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

static bool add_list(Cli* cli, PlotColumns* c, const char* list) {
  PlotPanel* panel = new_panel(c);
  char *copy = copy_of(list), *rest = copy;
  bool good = panel && copy;
  for (char* word; good && (word = next_word(&rest)) != NULL;) good = add_word(cli, c, panel, "--y", c->x, word);
  free(copy);
  return good;
}

// The first word is the column of the horizontal axis.
static bool add_path(Cli* cli, PlotColumns* c, const char* list) {
  PlotPanel* panel = new_panel(c);
  char *copy = copy_of(list), *rest = copy;
  bool good = panel && copy;
  char* word = good ? next_word(&rest) : NULL;
  const int over = word ? find(c, word) : -1;
  if (good && over < 0) refuse(cli, c, "--xy", word);
  if (good && over >= 0 && !rest) cli_error(cli, "--xy needs two columns or more: X,Y[,Y...], not '%s'", list);
  good = good && over >= 0 && rest;
  while (good && (word = next_word(&rest)) != NULL) good = add_word(cli, c, panel, "--xy", over, word);
  free(copy);
  return good;
}

// Velocities over positions of the coordinates that fit a word. Those of a joint with a quaternion have none of the same name.
static bool add_phase_word(Cli* cli, PlotColumns* c, PlotPanel* panel, const char* word) {
  bool any = false;
  for (int i = 0; i < c->n; i++) {
    char name[256];
    if (strncmp(c->names[i], "q.", 2) != 0 || !sr_pattern_fits(word, c->names[i] + 2)) continue;
    if (snprintf(name, sizeof name, "v.%s", c->names[i] + 2) >= (int)sizeof name || find(c, name) < 0) continue;
    add(panel, find(c, name), i);
    any = true;
  }
  if (!any) refuse(cli, c, "--phase", word);
  return any;
}

static bool add_phase(Cli* cli, PlotColumns* c, const char* list) {
  PlotPanel* panel = new_panel(c);
  char *copy = copy_of(list), *rest = copy;
  bool good = panel && copy;
  for (char* word; good && (word = next_word(&rest)) != NULL;) good = add_phase_word(cli, c, panel, word);
  free(copy);
  return good;
}

// Columns that fit a pattern, a panel for each unit.
static bool add_by_unit(PlotColumns* c, const char* pattern) {
  const int first = c->npanel;
  for (int i = 0; i < c->n; i++) {
    if (i == c->x || !sr_pattern_fits(pattern, c->names[i])) continue;
    PlotPanel* panel = NULL;
    for (int p = first; p < c->npanel && !panel; p++)
      if (strcmp(c->units[c->panel[p].column[0]], c->units[i]) == 0) panel = &c->panel[p];
    if (!panel) panel = new_panel(c);
    if (!panel) return false;
    add(panel, i, c->x);
  }
  return true;
}

static bool choose_panels(Cli* cli, PlotColumns* c, const PlotWish* wish) {
  bool good = true;
  for (int i = 0; i < wish->y->n; i++) good = add_list(cli, c, wish->y->item[i]) && good;
  for (int i = 0; i < wish->xy->n; i++) good = add_path(cli, c, wish->xy->item[i]) && good;
  if (wish->phase) good = add_phase(cli, c, wish->phase) && good;
  if (good && c->npanel == 0) good = add_by_unit(c, "q.*") && add_by_unit(c, "v.*");
  if (good && c->npanel == 0) good = add_by_unit(c, "*");
  if (good && c->npanel == 0) {
    cli_error(cli, "the table has one column alone; a plot needs two");
    return false;
  }
  if (good && c->npanel > SR_PLOT_MAX_PANELS) {
    cli_error(cli, "%d panels are too many; a figure has at most %d", c->npanel, SR_PLOT_MAX_PANELS);
    return false;
  }
  return good;
}

static bool choose_x(Cli* cli, srResultTable* const* tables, int ntable, const char* x, PlotColumns* c) {
  c->x = x ? find(c, x) : 0;
  if (c->x < 0) {
    refuse(cli, c, "--x", x);
    return false;
  }
  for (int t = 0; x && t < ntable; t++) {
    if (sr_table_column(tables[t], x) >= 0) continue;
    cli_error(cli, "--x: table %d has no column '%s'", t + 1, x);
    return false;
  }
  return true;
}

bool plot_columns_choose(Cli* cli, srResultTable* const* tables, int ntable, const PlotWish* wish, PlotColumns* out) {
  if (!collect(tables, ntable, out)) return false;
  return choose_x(cli, tables, ntable, wish->x, out) && choose_panels(cli, out, wish);
}

void plot_columns_free(PlotColumns* columns) {
  for (int i = 0; i < columns->npanel; i++) {
    free(columns->panel[i].column);
    free(columns->panel[i].over);
  }
  free(columns->panel);
  free(columns->names);
  free(columns->units);
  *columns = (PlotColumns){0};
}
