// What compile needs of the laws of friction and of normal forces beyond <sarrus/laws.h>.
#ifndef SR_LAW_LAW_H
#define SR_LAW_LAW_H

#include <sarrus/laws.h>

// What is wrong with the numbers of a law, as a sentence in the words of a model file: one for each parameter of the law in the
// order of its list, of friction then those for tau and the limits. The answer is the place of the wrong one among them.
enum { SR_LAW_WHOLE = -1, SR_LAW_GOOD = -2 };  // none of them alone; nothing is wrong
enum { SR_FRICTION_TAU = SR_FRICTION_PARAMETERS, SR_FRICTION_KINETIC, SR_FRICTION_STATIC, SR_FRICTION_WORDS };
int sr_friction_wrong(const srFrictionLaw* law, const srFrictionParameters* p, double tau, double Fs, double Fk,
                      const char* const* word, char* text, size_t size);
int sr_normal_wrong(const srNormalLaw* law, const srNormalParameters* p, const char* const* word, char* text,
                    size_t size);

#endif
