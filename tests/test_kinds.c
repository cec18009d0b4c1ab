// Tables of kinds hang together: what a row of one table needs from another is there. docs/developing/extending.md
#include <string.h>

#include "constraint/closure.h"
#include "model/joint.h"
#include "runner.h"

// The absolute and the penalty formulation hold a joint by the loop closure of the same word (a weld: body).
TEST(every_joint_but_the_free_one_has_a_loop_closure) {
  for (int k = 0; k < SR_JOINT_TYPES; k++) {
    if (k == SR_JOINT_FREE) continue;
    const char* word = k == SR_JOINT_WELD ? "body" : sr_joint_word((srJointType)k);
    ENSURE(sr_closure_find(word) != NULL);
  }
}

static bool is_used(const char* uses, const char* attribute) { return uses && strstr(uses, attribute); }

// A joint and the loop closure that holds it take the same axes and pitch, else one of the two formulations would ignore some.
TEST(a_joint_and_its_loop_closure_use_the_same_axes_and_pitch) {
  static const char* const attributes[] = {"|axis|", "|axis2|", "|pitch|"};
  for (int k = 0; k < SR_JOINT_TYPES; k++) {
    const srJointKind* joint = sr_joint_kind((srJointType)k);
    const srClosureWord* closure = sr_closure_find(joint->word);
    for (int i = 0; i < 3 && closure; i++)
      ENSURE_EQUAL(is_used(joint->uses, attributes[i]), is_used(closure->kind->uses, attributes[i]));
  }
}

// Lists of attributes are "|a|b|": a name without its bars would never be found.
TEST(attributes_that_a_kind_uses_are_written_between_bars) {
  for (int i = 0; i < sr_closure_word_count; i++) {
    const char* uses = sr_closure_words[i].kind->uses;
    if (uses) ENSURE(uses[0] == '|' && strlen(uses) > 2 && uses[strlen(uses) - 1] == '|');
  }
  for (int k = 0; k < SR_JOINT_TYPES; k++) {
    const char* uses = sr_joint_kind((srJointType)k)->uses;
    if (uses) ENSURE(uses[0] == '|' && strlen(uses) > 2 && uses[strlen(uses) - 1] == '|');
  }
}
