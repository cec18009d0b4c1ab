// Parts of the model's system that the run loop uses too.
#ifndef SR_SYSTEM_SYSTEM_H
#define SR_SYSTEM_SYSTEM_H

#include <sarrus/system.h>

#include "collide/points.h"
#include "contact/place.h"
#include "force/ports.h"

static inline bool sr_stop_requested(const srData* d) { return d->stop != NULL && d->stop(d->stop_user) != 0; }

// ---- contacts.c: the callback `contacts` of the system, with two tangents, and its capacity
// Coefficient of restitution of a contact that is rigid: its own, 1 for elastic laws, 0 for kelvin-voigt, which has none.
double sr_rigid_restitution(const srSurfaceLaws* c);
int sr_contact_capacity(const srModel* m, const srData* d);
int sr_contact_columns(const srModel* m);  // velocities in the rows of one contact, at the most
// Names of both sides of the contact with this id; b NULL: a stop of a joint.
void sr_contact_names(const srModel* m, long id, const char** a, const char** b);
// The pair of shapes, stop or gap that a contact belongs to: the same for all points of a pair, which follow each other in the list.
long sr_contact_key(const srModel* m, long id);
// The same by numbers: the set and its colliders; set -1: a is the force element.
void sr_contact_sides(const srModel* m, long id, int* set, int* a, int* b);
bool sr_contact_is_length(const srModel* m, long id);  // its gap is in m: it is no stop of a joint
// What contacts have that rigid contact has not.
void sr_rigid_warn(const srModel* m, bool by_events, srMessages* messages);
// Have all contacts a normal law that is linear, and touch at one point? Otherwise false, and why, of the first one.
bool sr_compliant_check(const srModel* m, const char* method, srMessages* messages);
bool sr_contact_points_fit(
    const srModel* m);  // everything that moves is a free body: contacts may be given by their points
int sr_free_bodies(void* user, const double* q, srFreeBody* out);
int sr_contacts(void* user, double t, const double* q, srUnilateral* out, int* count);
void sr_sleep(void* user, const int* asleep);
int sr_contacts_chosen(void* user, double t, const double* q, const srContactChoice* choice, srUnilateral* out,
                       int* count);

// ---- contact_tangents.c: the two tangents of a contact, in the axes of a
typedef struct srTangents {
  double excess;                  // mu2/mu - 1; 0: friction is the same in all directions
  srFrictionDirection direction;  // where it is not 0
} srTangents;
// Unit vectors, the second one along the direction; returns the factor r of the second one.
double sr_contact_tangents(const srTangents* x, const double n[3], double t[2][3]);
// t, the second one times its factor, and their rates; n turns with the rate `turn`, b with w.
void sr_contact_tangents_turn(const srTangents* x, const double n[3], const double turn[3], const double w[3],
                              double t[2][3], double rate[2][3]);

// ---- contact_rates.c
// seen: b observed from a, with accelerations for v' = 0. out: normal, two tangents.
void sr_contact_point_rates(const srTangents* tangents, const srFrameMotion* seen, const srPairPoint* at,
                            const srPointRates* rates, double out[3]);
// The same of a stop of a joint and of a gap by formula; d has the accelerations for v' = 0.
void sr_contact_port_rates(const srModel* m, srData* d, const srForceElement* e, const srPortMotion* motion,
                           double out[3]);
int sr_foresee(void* user, double t, const double* q, const double* v, double h);

// ---- clamps.c: the callback `clamps` of the system. Their ids are the indices of their force elements.
int sr_clamp_count(const srModel* m);
int sr_clamps(void* user, double t, const double* q, const double* v, srUnilateral* out, double* rate);
// Friction of a joint or contact that contact by force laws cannot have: the law of the first one, its name and place; NULL: there is none.
const srFrictionLaw* sr_set_valued_friction(const srModel* m, const char** name, srPlace* place);

#endif
