// Words of enumerations, for callers that do not read headers.
#include <sarrus/simulate.h>
#include <string.h>

#include "access/type.h"

#define WORD(NAME, word) word,
#define BARE_WORD(NAME, word) #word,
#define TEXT(name, value, text) text,
static const char* const joints[] = {SR_JOINT_LIST(BARE_WORD)};
static const char* const controls[] = {SR_CONTROL_LIST(WORD)};
static const char* const contacts[] = {SR_CONTACT_MODE_LIST(WORD)};
static const char* const impacts[] = {SR_IMPACT_RULE_LIST(WORD)};
static const char* const impact_frictions[] = {SR_IMPACT_FRICTION_LIST(WORD)};
static const char* const impact_orders[] = {SR_IMPACT_ORDER_LIST(WORD)};
static const char* const families[] = {SR_FAMILY_LIST(WORD)};
static const char* const starts[] = {SR_START_LIST(WORD)};
static const char* const tangents[] = {SR_TANGENT_LIST(WORD)};
static const char* const stabilizations[] = {SR_STABILIZATION_LIST(WORD)};
static const char* const formulations[] = {SR_FORMULATION_LIST(WORD)};
static const char* const accounts[] = {SR_ACCOUNT_LIST(WORD)};
static const char* const shapes[] = {SR_SHAPE_LIST(WORD)};
static const char* const uses[] = {"both", "collision", "visual"};  // srShapeUse
static const char* const statuses[] = {SR_STATUS_LIST(TEXT)};

#define LIST(name, words)                                                                                              \
  { name, words, (int)(sizeof(words) / sizeof(words)[0]) }
static const struct {
  const char* name;
  const char* const* words;
  int n;
} lists[] = {LIST("joint", joints),
             LIST("control", controls),
             LIST("contact", contacts),
             LIST("family", families),
             LIST("impact", impacts),
             LIST("impact_friction", impact_frictions),
             LIST("impact_order", impact_orders),
             LIST("start", starts),
             LIST("tangent", tangents),
             LIST("stabilization", stabilizations),
             LIST("formulation", formulations),
             LIST("account", accounts),
             LIST("shape", shapes),
             LIST("use", uses),
             LIST("status", statuses)};

// Methods have a table of their own.
static const char* method(int i) { return i < sri_method_count() ? sri_method(i)->name : NULL; }

const char* sr_word(const char* list, int i) {
  if (i < 0) return NULL;
  if (strcmp(list, "method") == 0) return method(i);
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
    if (strcmp(lists[k].name, list) == 0) return i < lists[k].n ? lists[k].words[i] : NULL;
  return NULL;
}
