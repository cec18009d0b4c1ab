// Contacts by force laws at rest: normal force, friction, status of each.
#include "analysis/rest.h"

#include "contact/element.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"
#include "math/vector3.h"

const char* sr_rest_word(srRestStatus status) {
  return status == SR_REST_OPEN ? "open" : status == SR_REST_STICKS ? "sticks" : "slides";
}

srRestMemory* sr_rest_memory(void) {
  srRestMemory* x = sr_alloc(sizeof *x);
  if (x != NULL) sr_pool_init(&x->pool);
  return x;
}

void sr_rest_destroy(srRest* rest) {
  srRestMemory* x = (srRestMemory*)(void*)rest;
  if (x == NULL) return;
  sr_pool_free(&x->pool);
  sr_free(x);
}

srRestContact* sr_rest_add(srRestMemory* x, int capacity) {
  if (x->contact == NULL) x->contact = sr_pool_alloc(&x->pool, ((size_t)capacity + 1) * sizeof *x->contact);
  x->shown.contact = x->contact;
  return &x->contact[x->shown.n++];
}

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

// Ends of joints, and pairs of sets, are listed where they are closed.
static int put_element(srRestMemory* x, const srModel* m, srData* d, int i) {
  const srForceElement* e = sr_element(m, d, i);
  srPortMotion motion;
  srContactForce force;
  if (!is_contact(e)) return 0;
  int answer = sr_port_motion(m, d, e, &motion);
  if (answer != 0) return answer;
  const srImpedanceIn in = sr_element_input(d, e, &motion);
  answer = sr_contact_force(e, &in, d->ydot + e->y, &force);
  const bool open = force.state == SR_CONTACT_OPEN;
  if (answer != 0 || (open && (i >= m->nforce || e->law->port == SR_PORT_JOINT))) return answer;
  *sr_rest_add(x, sr_element_count(m, d)) =
      (srRestContact){.a = e->contact->a,
                      .b = e->contact->b,
                      .status = open                               ? SR_REST_OPEN
                                : force.state == SR_CONTACT_STICKS ? SR_REST_STICKS
                                                                   : SR_REST_SLIDES,
                      .gap = force.gap,
                      .normal_force = force.normal,
                      .friction_force = srm_norm3(force.friction),
                      .unique = true};
  x->shown.closed += !open;
  return 0;
}

static srStatus find(srRestMemory* x, const srModel* m, srData* d) {
  srRank* rank = NULL;
  if (setjmp(x->out_of_memory) != 0) return SR_MEMORY;
  x->pool.on_fail = &x->out_of_memory;
  if (m->ng > 0) {
    const srStatus status = sr_rank_create(m, d, &rank);
    if (status != SR_OK) return status;
    x->shown.indeterminate = rank->nredundant;
    sr_rank_destroy(rank);
  }
  if (sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_FORCE) != 0) return SR_FAILED;
  for (int i = 0; i < sr_element_count(m, d); i++) {
    if (put_element(x, m, d, i) != 0) return SR_FAILED;
  }
  return SR_OK;
}

srStatus sr_rest_create(const srModel* m, srData* d, srRest** out) {
  *out = NULL;
  srRestMemory* x = sr_rest_memory();
  if (x == NULL) return SR_MEMORY;
  const srStatus status = find(x, m, d);
  x->pool.on_fail = NULL;
  if (status == SR_OK)
    *out = &x->shown;
  else
    sr_rest_destroy(&x->shown);
  return status;
}
