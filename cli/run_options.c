// Words of the options that `run` and `compare` share.
#include "run_options.h"

#include <string.h>

#define WORD(NAME, word) word,
static const char* const stabilizations[] = {SR_STABILIZATION_LIST(WORD)};
static const char* const controls[] = {SR_CONTROL_LIST(WORD)};
static const char* const families[] = {SR_FAMILY_LIST(WORD)};
static const char* const impacts[] = {SR_IMPACT_RULE_LIST(WORD)};
static const char* const frictions[] = {SR_IMPACT_FRICTION_LIST(WORD)};
static const char* const orders[] = {SR_IMPACT_ORDER_LIST(WORD)};
static const char* const tangents[] = {SR_TANGENT_LIST(WORD)};
static const char* const starts[] = {SR_START_LIST(WORD)};
#undef WORD
// In the order of srContactMode.
static const char* const contacts[] = {"continuous", "timestepping", "event", "hybrid"};
static const char* const metrics[] = {"mass", "identity"};

bool start_exists(Cli* cli, const char* word) {
  return !word || word_exists(cli, "--start", word, starts, COUNT(starts), COUNT(starts));
}

srStart start_of(const char* word) { return (srStart)word_index(word, starts, COUNT(starts), SR_START_GIVEN); }

const char* contact_word(srContactMode mode) { return contacts[mode]; }

int word_index(const char* word, const char* const* words, int n, int before) {
  for (int i = 0; word && i < n; i++)
    if (strcmp(word, words[i]) == 0) return i;
  return before;
}

bool run_words_exist(Cli* cli, const RunWords* given) {
  const struct {
    const char *option, *word, *const *words;
    int n;
  } list[] = {{"--metric", given->metric, metrics, COUNT(metrics)},
              {"--stabilization", given->stabilization, stabilizations, COUNT(stabilizations)},
              {"--control", given->control, controls, COUNT(controls)},
              {"--family", given->family, families, COUNT(families)},
              {"--tangent", given->tangent, tangents, COUNT(tangents)},
              {"--impact", given->impact, impacts, COUNT(impacts)},
              {"--impact-friction", given->impact_friction, frictions, COUNT(frictions)},
              {"--impact-order", given->impact_order, orders, COUNT(orders)}};
  bool good =
      !given->contact || word_exists(cli, "--contact", given->contact, contacts, COUNT(contacts), COUNT(contacts));
  for (int i = 0; i < COUNT(list); i++)
    if (list[i].word && !word_exists(cli, list[i].option, list[i].word, list[i].words, list[i].n, list[i].n))
      good = false;
  return good;
}

void run_words_settle(const RunWords* given, srRunOptions* o) {
  o->stabilization =
      (srStabilization)word_index(given->stabilization, stabilizations, COUNT(stabilizations), (int)o->stabilization);
  o->control = (srControlRule)word_index(given->control, controls, COUNT(controls), (int)o->control);
  o->family = (srFamily)word_index(given->family, families, COUNT(families), (int)o->family);
  o->tangent = (srTangentWay)word_index(given->tangent, tangents, COUNT(tangents), (int)o->tangent);
  o->impact = (srImpactRule)word_index(given->impact, impacts, COUNT(impacts), (int)o->impact);
  o->impact_friction =
      (srImpactFrictionRule)word_index(given->impact_friction, frictions, COUNT(frictions), (int)o->impact_friction);
  o->impact_order = (srImpactOrder)word_index(given->impact_order, orders, COUNT(orders), (int)o->impact_order);
  o->contact = (srContactMode)word_index(given->contact, contacts, COUNT(contacts), (int)o->contact);
  if (given->metric) o->metric_identity = strcmp(given->metric, "identity") == 0;
}

static void help_words(char* text, size_t size, const char* what, const char* const* words, int n) {
  char list[128];
  snprintf(text, size, "%s: %s", what, words_join(words, n, list, sizeof list));
}

RunHelp run_words_help(void) {
  RunHelp h;
  help_words(h.stabilization, sizeof h.stabilization, "how explicit methods keep loops closed", stabilizations,
             COUNT(stabilizations));
  help_words(h.control, sizeof h.control, "rule of the step of adaptive methods", controls, COUNT(controls));
  help_words(h.family, sizeof h.family, "genalpha: parameters from rho", families, COUNT(families));
  help_words(h.tangent, sizeof h.tangent, "implicit methods: their matrix", tangents, COUNT(tangents));
  return h;
}
