// sarrus laws: force against penetration and against slip speed for all laws (Figures 7 and 8 of Rodrigues da Silva et al. 2024), and the
// restitution that each normal law really gives. It needs no model.
#include <stdlib.h>
#include <string.h>

#include "laws.h"

// -------------------------------------------------------------------------------------------------------- which laws
// The words of a comma list that are known go to chosen, in this order; "none" is no law. False: a message names the one that is not.
static bool choose(Laws* l, const char* option, const char* list, const char* const* words, int n, int* chosen,
                   int* count) {
  bool good = true;
  *count = 0;
  if (list && strcmp(list, "none") == 0) return true;
  for (const char* at = list; at && good; at = *at ? at + 1 : NULL) {
    char word[64];
    const size_t size = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1), at);
    good = word_exists(l->cli, option, word, words, n, n);
    for (int i = 0; good && i < n; i++)
      if (strcmp(words[i], word) == 0 && *count < MOST_LAWS) chosen[(*count)++] = i;
    at += size;
    if (!*at) break;
  }
  for (int i = 0; !list && i < n; i++) chosen[(*count)++] = i;
  return good;
}

static bool choose_laws(Laws* l) {
  static const char* const normal_words[] = {
#define WORD(name, word) word,
      SR_NORMAL_LIST(WORD)};
  static const char* const friction_words[] = {SR_FRICTION_LIST(WORD)};
#undef WORD
  int normal[MOST_LAWS], friction[MOST_LAWS];
  bool good = choose(l, "--normal", l->normal_names, normal_words, sr_normal_count(), normal, &l->nnormal);
  good =
      choose(l, "--friction", l->friction_names, friction_words, sr_friction_count(), friction, &l->nfriction) && good;
  if (!good) return false;
  l->normal_curve = calloc((size_t)l->nnormal + 1, sizeof *l->normal_curve);
  l->friction_curve = calloc((size_t)l->nfriction + 1, sizeof *l->friction_curve);
  if (!l->normal_curve || !l->friction_curve) return cli_error(l->cli, "out of memory"), false;
  for (int i = 0; i < l->nnormal; i++) l->normal_curve[i].law = sr_normal_law(normal[i]);
  for (int i = 0; i < l->nfriction; i++) l->friction_curve[i].law = sr_friction_law(friction[i]);
  return true;
}

// --------------------------------------------------------------------------------------------------------- parameters
typedef struct Named {
  const char* name;
  double* target;
} Named;

static bool set_parameters(Laws* l) {
  const Named named[] = {
#define NORMAL_ROW(field, value, unit, doc) {"normal." #field, &l->normal.field},
      SR_NORMAL_PARAMETER_LIST(NORMAL_ROW)
#undef NORMAL_ROW
#define FRICTION_ROW(field, value, sliding, turning, doc) {"friction." #field, &l->friction.field},
          SR_FRICTION_PARAMETER_LIST(FRICTION_ROW)
#undef FRICTION_ROW
  };
  enum { NAMED = sizeof named / sizeof named[0] };
  const char* words[NAMED];
  bool good = true;
  for (int i = 0; i < NAMED; i++) words[i] = named[i].name;
  for (int k = 0; k < l->settings.n; k++) {
    const srSetting* s = &l->settings.item[k];
    if (!word_exists(l->cli, "--set", s->name, words, NAMED, NAMED)) {
      good = false;
      continue;
    }
    char* end;
    const double value = strtod(s->value, &end);
    if (*end || !isfinite(value))
      cli_error(l->cli, "--set %s expects a number, not '%s'", s->name, s->value), good = false;
    for (int i = 0; i < NAMED && good; i++)
      if (strcmp(named[i].name, s->name) == 0) *named[i].target = value;
  }
  return good;
}

static bool positive(Laws* l, const char* option, double value) {
  if (value > 0) return true;
  cli_error(l->cli, "%s must be larger than 0, not %g", option, value);
  return false;
}

static bool numbers_fit(Laws* l) {
  bool good = positive(l, "--mass", l->mass);
  good = positive(l, "--speed", l->speed) && good;
  good = positive(l, "--v-max", l->v_max) && good;
  good = positive(l, "--period", l->period) && good;
  good = positive(l, "--tau", l->tau) && good;
  if (l->period > 1e6 * l->tau) cli_error(l->cli, "--period is longer than a million tau"), good = false;
  if (l->limits.n != 2) cli_error(l->cli, "--limits expects two numbers, static and kinetic"), good = false;
  if (l->asked.n > MOST_ASKED) cli_error(l->cli, "--restitution takes at most %d numbers", MOST_ASKED), good = false;
  for (int i = 0; i < l->asked.n; i++)
    if (!(l->asked.x[i] >= 0 && l->asked.x[i] <= 1))
      cli_error(l->cli, "--restitution must be between 0 and 1, not %g", l->asked.x[i]), good = false;
  return good;
}

static bool default_list(NumberList* list, const double* x, int n) {
  if (list->x) return true;
  list->x = calloc((size_t)n, sizeof *x);
  if (!list->x) return false;
  memcpy(list->x, x, (size_t)n * sizeof *x);
  list->n = n;
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- verb
static int laws(Laws* l) {
  static const double asked[] = {0.1, 0.3, 0.5, 0.7, 0.9, 0.99}, limits[] = {12, 10};
  if (!default_list(&l->asked, asked, 6) || !default_list(&l->limits, limits, 2))
    return cli_refuse(l->cli, EXIT_FAILED);
  bool good = output_begin(l->cli, "--csv", &l->csv, SR_CONTENT_TABLE);
  good = folder_begin(l->cli, "--svg", l->svg) && good;
  good = set_parameters(l) && good;
  good = numbers_fit(l) && good;
  good = choose_laws(l) && good;
  if (isnan(l->normal.D)) l->normal.D = 0.5 * sqrt(l->normal.K * l->mass);  // a quarter of the critical damping
  for (int i = 0; good && i < l->nnormal; i++) good = laws_normal_curve(l, &l->normal_curve[i]);
  for (int i = 0; good && i < l->nfriction; i++) good = laws_friction_curve(l, &l->friction_curve[i]);
  if (!good) return cli_refuse(l->cli, EXIT_INPUT);
  if ((l->csv && !laws_csv(l)) || (l->svg && !laws_svg(l))) return cli_refuse(l->cli, EXIT_FAILED);
  cli_show(l->cli);
  if (l->cli->json)
    laws_json(l);
  else if (!l->cli->quiet)
    laws_table(l);
  return EXIT_DONE;
}

int cmd_laws(Cli* cli, const Verb* verb, int argc, char** argv) {
  Laws l = {.cli = cli, .mass = 1, .speed = 1, .v_max = 0.05, .period = 0.5, .tau = 1e-4};
  l.normal = sr_normal_defaults();
  l.friction = sr_friction_defaults();
  l.normal.e = 0.5;  // the defaults of a material lose nothing, and show no loop
  l.normal.D = NOT_GIVEN;
  const char* none = verb->name;  // there is no argument
  int status = EXIT_DONE;
  const Option options[] = {
      {"--normal", OPTION_TEXT, &l.normal_names, "NAMES", "normal laws, a comma list (default: all; none)"},
      {"--friction", OPTION_TEXT, &l.friction_names, "NAMES", "friction laws, a comma list (default: all; none)"},
      {"--restitution", OPTION_NUMBERS, &l.asked, "LIST", "coefficients to ask for (default 0.1,0.3,0.5,0.7,0.9,0.99)"},
      {"--mass", OPTION_NUMBER, &l.mass, "KG", "of the body that hits (default 1)"},
      {"--speed", OPTION_NUMBER, &l.speed, "M/S", "with which it touches (default 1)"},
      {"--limits", OPTION_NUMBERS, &l.limits, "Fs,Fk", "static and kinetic limit of friction, N (default 12,10)"},
      {"--v-max", OPTION_NUMBER, &l.v_max, "M/S", "largest slip speed (default 0.05)"},
      {"--period", OPTION_NUMBER, &l.period, "SECONDS", "of the back-and-forth slip (default 0.5)"},
      {"--tau", OPTION_NUMBER, &l.tau, "SECONDS", "constant of the bristles (default 1e-4)"},
      {"--set", OPTION_SETTING, &l.settings, "NAME=VALUE",
       "a parameter: normal.K, friction.vs, ... (docs/theory/contact.md)"},
      {"--svg", OPTION_TEXT, &l.svg, "DIR", "write the figures laws-normal.svg and laws-friction.svg into this folder"},
      {"--csv", OPTION_TEXT, &l.csv, "FILE.csv", "write the curves as a table; - is standard output"},
      VERBOSE_OPTION(cli),
      {"--json", OPTION_FLAG, &cli->json, NULL, "print one JSON object on standard output"}};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &none, &status) == 0)
    status = laws(&l);
  free(l.normal_curve);
  free(l.friction_curve);
  numbers_free(&l.asked);
  numbers_free(&l.limits);
  settings_free(&l.settings);
  return status;
}
