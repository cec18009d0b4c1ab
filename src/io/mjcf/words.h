// The words of MJCF: which elements go where, and their attributes, used or not. What is in no list is a mistake.
#ifndef SR_IO_MJCF_WORDS_H
#define SR_IO_MJCF_WORDS_H

#include "io/mjcf/mjcf.h"

#define SR_MJCF_ACTUATORS                                                                                              \
  "general|motor|position|velocity|intvelocity|damper|cylinder|muscle|adhesion|plugin|dcmotor|orientation|pid"

// Every attribute of node is in `used`, or in `ignored` and then named as such; else an error with the nearest of both.
// False after one.
bool sr_mjcf_check_words(srMjcf* m, const srXmlNode* node, const char* used, const char* ignored);
// The same with the lists of the element itself (body, geom, joint, ...). False: unknown words among them.
bool sr_mjcf_check_own_words(srMjcf* m, const srXmlNode* node);
// An element inside <default>: true when it is allowed there.
bool sr_mjcf_check_default(srMjcf* m, const srXmlNode* node);
// An element that is not used: named once. One that MJCF does not have inside its parent: an error.
void sr_mjcf_other_element(srMjcf* m, const srXmlNode* node, const char* used, const char* ignored);

#endif
