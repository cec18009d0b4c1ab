// cvode and ida in a build without SUNDIALS (CMake option SARRUS_SUNDIALS off): the words are known, and refused.
#include "integrate/integrator.h"

static size_t no_room(const srSystem* system, int n) {
  (void)system, (void)n;
  return 0;
}

static void nothing(srIntegrator* integrator) { (void)integrator; }

static srStatus refuse(srIntegrator* integrator, srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "this build has no SUNDIALS, and the method '%s' is made of it: configure with -DSARRUS_SUNDIALS=ON",
                  integrator->ops->method.name);
  return SR_INPUT;
}

// Never called: nothing is created.
static srStatus no_step(srIntegrator* integrator, double t_limit) {
  (void)t_limit;
  return sri_fail(integrator, "this build has no SUNDIALS");
}

#define WITHOUT(word, form)                                                                                            \
  {                                                                                                                    \
    .method = {.name = word,                                                                                           \
               .order = 5,                                                                                             \
               .adaptive = true,                                                                                       \
               .implicit = true,                                                                                       \
               .index = form,                                                                                          \
               .absent = true,                                                                                         \
               .family = "bdf",                                                                                        \
               .about = "not in this build, which has no SUNDIALS"},                                                   \
    .room = no_room, .init = nothing, .create = refuse, .start = nothing, .step = no_step,                             \
  }

const srIntegratorOps sri_cvode_ops = WITHOUT("cvode", 1);
const srIntegratorOps sri_ida_ops = WITHOUT("ida", 2);
