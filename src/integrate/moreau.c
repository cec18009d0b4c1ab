// Moreau-Jean time-stepping: velocities and impulses in place of accelerations and forces. Impacts, sliding and sticking are no events: each step
// solves one contact problem (nonsmooth.h) over all contacts that may be closed at its end. Moreau (1988), Jean (1999), Stewart, Trinkle (1996).
//
//   M(q_0) (v_1 - v_0) = h f + G^T lambda + W^T p           f at (t_0, q_0, v_0, y_0); where the system has a tangent linear in v_1, at the end of the step (step_mass.h)
//   G(q_0) v_1 + b(t_1) = 0
//   u = W v_1 + b_c       0 <= s + u_N  _|_  p_N >= 0       p_T in the disc of radius mu p_N, opposite to u_T
//   q_1 = q_0 (+) h v_1,   y_1 = y_0 + h r,   w_1 = w_0 + h w'
//
// Velocities in axes that rotate with a body (free joints) are taken in the axes at q_0 throughout the step, then given in those at q_1. With v' of M v' = f in
// rotating axes, it is v' - (v' by their rotation alone) in axes that stand still: M (v_1 - v_0 + h axes_rate) = h f + ... Otherwise the explicit term w x v would let the energy of
// what spins and moves grow by w^2 h per time.
//
// Joints are eliminated by the saddle-point system of M and G, so that redundant equations and masses that only joints carry are treated as by the
// other methods; free bodies in large heaps are solved by sweeps (step_problem.h).
//
//   s = gap/h             the gap at the end of the step is not negative, to first order: nothing sinks in while it approaches
//   s = e u_N^-           Newton's restitution, where a contact would close in this step at a speed u_N^- that is more than the forces of a few
//                         steps give: otherwise what rests would be thrown by its weight
//   gap < 0               what is deeper than d, a small part of what the forces of a step give, is pushed out in one step, at most at sqrt(change of u_N by forces * depth/h), from
//                         which half of these forces bring it to rest at the surface, and by at most PUSH_MOST; of the rest PUSH_SOFT a step. Otherwise all that a solver leaves
//                         open would be pushed back and forth for ever, and heaps creep; more would throw what overlaps at the start. With no PUSH_SOFT what rests would sink by
//                         the compliance of redundant normals. A law that jumps at d keeps boxes moving
//
// Dry friction of joints has a given normal force, and h times it for the normal impulse: one more contact of the problem, |p_T| <= h F.
//
// The impulses of a contact are the start values of its next problem. Order 1.
//
// theta < 1 (Jean 1999), here with one evaluation in a step, for what flies:
//   q_a = q_0 (+) (1 - theta) h v_0          M, f, G, W and gaps there, with velocities v_0 + (1 - theta) (v_0 - v_{-1}) in f
//   M (v_1 - v_0) = h f + ...                with stiffness linear in v_1: step_mass.h. G ((1 - theta) v_0 + theta v_1) + b = 0
//   q_1 = q_a (+) theta h v_1                theta = 1/2: Moreau's midpoint rule, order 2
// gap = gap(q_a) - (1 - theta) h u_N^- is the one at the start of the step. An impact that closes a gap within the step acts at its time w h, w = gap/(h |u_N^-|):
//   q_1 = q_0 (+) h (w v_0 + (1 - w) v_1)    of the groups that it acts on: nothing is beyond the surface, with any restitution
// Contacts that are closed, or close slowly, have w = 0, which is theta = 1 for their groups; while they act, the whole system is taken with theta = 1: axes and arms at q_0.
//
// `moreau-compliant` has the normal laws of the contacts in place of rigid ones, Kelvin and Voigt's with the stiffness K and the damping D, over the step:
//   p_N = h K d_1 + D (d_1 - d_0) >= 0      d_1 = -(gap + h u_N), the depth at the end of the step, d_0 = max(0, -gap)
// It is the impulse of the law with the spring at the end of the step (implicit Euler) and the damper integrated exactly, from first touch on where a contact closes in the
// step. It makes the contact a compliant one of the same problem, so that neither K nor D limits h:
//   0 <= u_N + s + c p_N  _|_  p_N >= 0     c = 1/(h (h K + D)),   s = gap/h where gap > 0, else K gap/(h K + D)
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "integrate/constrained.h"
#include "integrate/fixed.h"
#include "integrate/points.h"
#include "integrate/sleep.h"
#include "integrate/step_mass.h"
#include "integrate/step_problem.h"
#include "math/vector3.h"

#define COARSE 0.19      // times the largest change of u_N by forces in a step: residual of large islands
#define APPROACH 4.0     // times the change of u_N by forces in a step: slower impacts are inelastic
#define PUSH_SOFT 0.01   // part of a small penetration that a step removes
#define PUSH_DEPTH 0.03  // times h |change of u_N by forces|: d, a small penetration
#define PUSH_MOST 10.0   // times |change of u_N by forces|: largest speed of the correction ...
#define PUSH_LEAST 1e-3  // ... or this part of gap/h: where forces are small or none
#define LATEST 0.999     // part of a step at which an impact in it is solved at the latest
#define ROUNDS 20        // solutions of a step, with the contacts that the one before has closed
#define HELD 1e-10       // part of the tangential rows that the normal one has at least, where a gap can change
#define JAM_MOST 64      // contacts of a problem in which Painleve's configurations are searched
#define LISTS 4          // attempts at a step, each with a wider list of contacts
#define CORRECTIONS 3    // of the problem by the gaps at the end of the step
#define SLOW 0.01        // m/s and rad/s: velocities of rest, for sleep
#define BLOCK                                                                                                          \
  64  // bodies or contacts that stay in the inner cache while a loop over them has several things to do; a multiple of four
#define MARGIN                                                                                                         \
  2.0  // times the largest approach in a step, or of slow impacts: contacts nearer than that are in the problem

typedef struct srMoreau {
  srGrid grid;
  srmSaddle* saddle;  // M and G; NULL: M by its blocks always
  bool by_blocks;     // M in this step
  bool has_mass;      // M of free bodies, in their own axes, is that of the first step
  srStepMass* stiff;  // M with the stiffness of a step in its place; NULL: forces are explicit
  srStepProblem* problem;
  srTeam* team;    // NULL: none
  srSleep* sleep;  // NULL: nothing ever does
  srUnilateral* listed;
  long* was;           // points, of each place of the list: the id of the contact that was there in the last step ...
  int *kept_at, nwas;  // ... and its entry in `kept`, -1: it was not in the problem; so many places
  srStepContact* chosen;    // of the listed: the problem of the step
  bool* chose;              // of the listed: is it among these?
  bool* fast;               // of these: it would close in this step, at more than what forces give
  bool marked;              // those that are chosen of points are not in `chosen` yet ...
  int marks[SR_TEAM_MOST];  // ... each member has found so many
  int count, nlisted, most;
  srUnilateral* ahead;  // of free bodies: the contacts at q_1, or of another list
  double coarse;        // tolerance of large islands
  srStepResult result;  // of the last solution
  double theta;         // of the options
  double now;           // of the step: theta, or 1 where contacts have acted from the start of the last one on
  bool rests;
  double t_at;                  // time, and state (q, v, y) ...
  const double* at;             // ... at which the step is evaluated
  const double* v0;             // velocities at the start of the step, in the axes at that state
  double *between, *v_between;  // room for both, theta < 1
  double *before_a,
      *way;  // theta < 1: (v_1 - v_0)/h of the last step, 0 where a contact has acted; motion of the step over h
  double*
      part;  // theta < 1, of groups (step_problem.h): when in the step contacts act on them, as a part of it; -1: they do not
  double* when;    // the same of the contacts of the problem (most)
  double* u_free;  // u_N of these without contacts (most)
  bool* strikes;   // of these: fast, and the first of its island, or it closes in spite of that one
  bool flew;       // no contact has acted
  bool levers;     // of free bodies: contacts of the problem turn their bodies
  bool compliant;
  double *M, *f, *ydot, *a, *v_free, *v_end, *force, *other;  // v_free, v_end: in the axes at q_0
  double* turn;                                               // h axes_rate (nv)
  double* before;                                             // u at the start of the step (3 most)
  double* impulse;                                            // (3 most)
  srKept* kept;                                               // of the last step
  long* struck;                                               // impacts in it (most)
  double *speed, *time;                                       // of these (most)
  srImpulses told;
  srFreeBody* body;   // NULL: contacts have rows
  double* motion[3];  // of the bodies: at the start, without contacts, at the end (points.h)
  double* wrench;
  srBodySize* size;
  double* change;     // (most) of the listed contacts of these: as change_of
  srPointWork* work;  // (most/4 + 1) of the contacts of the problem
} srMoreau;

enum { START, FREE, END };  // of `motion`

// ---- life -------------------------------------------------------------------------------------------------------------

static int most_of(const srSystem* s) { return (s->contacts == NULL ? 0 : s->ncontact) + s->nclamp; }

static size_t room(const srSystem* s, int n) {
  return sri_mass_count(s) + 10 * (size_t)s->nv + (size_t)s->ny + 2 * (size_t)n + 11 * (size_t)most_of(s);
}

static void init(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const size_t most = (size_t)most_of(s), nv = (size_t)s->nv;
  work->most = most_of(s);
  work->compliant = integrator->ops->method.laws;
  struct {
    double** to;
    size_t count;
  } parts[] = {{&work->M, sri_mass_count(s)},
               {&work->f, nv},
               {&work->a, nv},
               {&work->v_free, nv},
               {&work->v_end, nv},
               {&work->turn, nv},
               {&work->force, nv},
               {&work->ydot, (size_t)s->ny},
               {&work->other, (size_t)integrator->n},
               {&work->between, (size_t)integrator->n},
               {&work->v_between, nv},
               {&work->before_a, nv},
               {&work->way, nv},
               {&work->part, nv},
               {&work->when, most},
               {&work->u_free, most},
               {&work->change, most},
               {&work->speed, most},
               {&work->time, most},
               {&work->before, 3 * most},
               {&work->impulse, 3 * most}};
  double* at = integrator->room;
  for (int i = 0; i < SR_COUNT(parts); ++i) {
    *parts[i].to = at;
    at += parts[i].count;
  }
}

static bool take_bodies(srMoreau* work, int n) {
  work->body = sr_alloc(((size_t)n + 1) * sizeof *work->body);
  const size_t row = SRI_ROW * ((size_t)n + 1);
  work->motion[0] = sr_alloc(4 * row * sizeof(double));
  work->size = sr_alloc(((size_t)n + 1) * sizeof *work->size);
  work->work = sr_alloc(((size_t)work->most / 4 + 1) * sizeof *work->work);
  work->was = sr_alloc(((size_t)work->most + 1) * (sizeof *work->was + sizeof *work->kept_at));
  if (work->was == NULL) return false;
  work->kept_at = (int*)(void*)(work->was + work->most + 1);
  if (work->body == NULL || work->motion[0] == NULL || work->size == NULL || work->work == NULL) return false;
  for (int k = 1; k < 3; ++k) work->motion[k] = work->motion[k - 1] + row;
  work->wrench = work->motion[END] + row;
  return true;
}

// A problem of the step, for those who ask.
static void see_problem(void* user, const srSolvedProblem* solved) {
  const srIntegrator* integrator = user;
  srSolvedProblem all = *solved;
  all.t = integrator->t;
  all.step = integrator->stats.steps;
  integrator->options.problem(integrator->options.user, &all);
}

static bool take_contacts(srIntegrator* integrator, const srSparsity* pattern) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  if (work->most == 0) return true;
  const size_t most = (size_t)work->most;
  const int threads = integrator->options.threads;
  if (threads > 1 && (work->team = sr_team_create(threads)) == NULL) return false;
  work->listed = sri_contacts_create(s);
  work->chosen = sr_alloc(most * (sizeof *work->chosen + sizeof *work->struck + sizeof *work->fast +
                                  sizeof *work->chose + sizeof *work->strikes));
  work->kept = sri_kept_create(2 * work->most);  // those of the problem, and those that sleep
  work->problem = sri_step_problem_create(s, pattern, integrator->constrained != NULL, work->team);
  if (s->bodies != NULL && !take_bodies(work, s->nbody)) return false;
  if (s->bodies != NULL && (work->ahead = sri_contacts_create(s)) == NULL) return false;
  if (work->listed == NULL || work->chosen == NULL || work->kept == NULL || work->problem == NULL) return false;
  if (integrator->options.problem != NULL) sri_step_problem_see(work->problem, see_problem, integrator);
  work->struck = (long*)(void*)(work->chosen + most);
  work->fast = (bool*)(work->struck + most);
  work->chose = work->fast + most;
  work->strikes = work->chose + most;
  return true;
}

static srStatus out_of_memory(srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "out of memory for the contacts of the integrator 'moreau'");
  return SR_MEMORY;
}

// Below theta = 1 velocities are projected too: those of the middle of a step satisfy the constraints, and what its ends violate would alternate.
static bool take_theta(srIntegrator* integrator, srMessages* messages) {
  srMoreau* work = integrator->work;
  const double theta = integrator->options.theta;
  work->theta = work->now = theta == 0 ? 1 : theta;
  if (!sri_expect(messages, work->theta >= 0.5 && work->theta <= 1, "theta must be from 0.5 to 1, not %g", theta))
    return false;
  if (work->theta == 1) return true;
  if (integrator->options.project == SR_PROJECT_DEFAULT && integrator->project == SR_PROJECT_POSITION)
    integrator->project = SR_PROJECT_BOTH;
  return true;
}

static bool take_sleep(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  const srIntegratorOptions* o = &integrator->options;
  srMoreau* work = integrator->work;
  if (!(o->sleep > 0) || work->problem == NULL) return true;
  work->sleep = sri_sleep_create(s, work->problem, integrator->constrained != NULL, o->sleep,
                                 o->sleep_speed > 0 ? o->sleep_speed : SLOW, work->most);
  if (s->sleep != NULL) s->sleep(s->user, sri_sleep_islands(work->sleep));
  return work->sleep != NULL;
}

static srStatus create(srIntegrator* integrator, srMessages* messages) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const bool joints = integrator->constrained != NULL;
  if (!take_theta(integrator, messages)) return SR_INPUT;
  if (s->tangent != NULL) {
    work->stiff = sri_step_mass_create(s);
    if (work->stiff == NULL) return out_of_memory(messages);
  }
  const srSparsity* pattern = work->stiff != NULL ? sri_step_mass_pattern(work->stiff) : s->M_sparsity;
  const srmSaddleShape shape = {
      .nv = s->nv, .ng = joints ? s->ng : 0, .M = pattern, .G = joints ? s->G_sparsity : NULL, .mass = true};
  if (!take_contacts(integrator, pattern) || !take_sleep(integrator)) return out_of_memory(messages);
  if (work->team != NULL && s->share != NULL) s->share(s->user, work->team);
  if (work->problem != NULL && sri_step_problem_is_small(work->problem)) return SR_OK;
  work->saddle = srm_saddle_create(&shape);
  return work->saddle != NULL ? SR_OK : out_of_memory(messages);
}

static void destroy(srIntegrator* integrator) {
  srMoreau* work = integrator->work;
  const srSystem* s = &integrator->system;
  if (work->sleep != NULL && s->sleep != NULL) s->sleep(s->user, NULL);
  if (work->team != NULL && s->share != NULL) s->share(s->user, NULL);
  sri_sleep_destroy(work->sleep);
  srm_saddle_destroy(work->saddle);
  sri_step_mass_destroy(work->stiff);
  sri_step_problem_destroy(work->problem);
  sr_team_destroy(work->team);
  sri_kept_destroy(work->kept);
  sri_contacts_destroy(work->listed);
  sri_contacts_destroy(work->ahead);
  sr_free(work->chosen);
  sr_free(work->body);
  sr_free(work->size);
  sr_free(work->motion[0]);
  sr_free(work->work);
  sr_free(work->was);
}

static void start(srIntegrator* integrator) {
  srMoreau* work = integrator->work;
  sri_grid_start(&work->grid, integrator->t);
  sri_kept_clear(work->kept);
  sri_sleep_start(work->sleep, integrator->t);
  work->rests = work->has_mass = false;
  if (work->body != NULL) memset(work->body, 0, (size_t)integrator->system.nbody * sizeof *work->body);
  work->count = work->nwas = 0;
  if (integrator->system.nv > 0) memset(work->before_a, 0, (size_t)integrator->system.nv * sizeof(double));
  work->told = (srImpulses){.worst = work->told.worst,
                            .t_worst = work->told.t_worst,
                            .unsolved = work->told.unsolved,
                            .sweeps = work->told.sweeps,
                            .jam = -1};
}

// What the members of a team share in a loop.
typedef struct Share {
  srIntegrator* integrator;
  double h;
  int first;                    // contacts begin behind so many
  int fresh;                    // from here on they have no start values yet
  int count[SR_TEAM_MOST];      // of each member: contacts that it has chosen ...
  double change[SR_TEAM_MOST];  // ... largest change of u_N by forces
  double gap[SR_TEAM_MOST];     // ... and least gap of contacts of the problem
  bool levers[SR_TEAM_MOST];
} Share;

// ---- the contact problem ----------------------------------------------------------------------------------------------

// Rows that act: a stop of a joint has no tangential direction, a gap by formula one.
static int rows_of(const srMoreau* work, const srSystem* s, const srUnilateral* c) {
  if (work->body != NULL) return c->mu > 0 ? 3 : 1;
  if (c->clamp > 0) return 2;
  int rows = 1;
  while (c->mu > 0 && rows <= s->ntangent && !sri_contact_row_is_zero(c, rows)) ++rows;
  return rows;
}

// u of the rows of a contact.
static void velocity_of(const srMoreau* work, const srUnilateral* c, int rows, const double* v, int when, double* u) {
  if (work->body != NULL && rows == 1) {
    *u = sri_point_normal_velocity(c, work->motion[when]);
    return;
  }
  if (work->body != NULL) {
    double all[3];
    sri_point_velocity(c, work->motion[when], all);
    for (int k = 0; k < rows; ++k) u[k] = all[k];
    return;
  }
  for (int k = 0; k < rows; ++k) u[k] = sri_contact_velocity(c, k, v);
}

// The change of u_N that forces give in the step, however they act on the two sides: what is stacked falls together without impulses. Forces within a tree (servos) count by what they do to
// the point together.
static double change_of(const srMoreau* work, const srUnilateral* c, const double* v) {
  if (work->body != NULL) return work->change[c - work->listed];
  return sri_step_problem_change(work->problem, c, v, work->v_free);
}

// Its cone: set_contacts.
static void put_contact(srStepContact* to, srUnilateral* c, int rows) {
  to->from = c;
  to->id = c->id;
  to->pair = c->pair;
  to->rows = rows;
  srm_set3(to->b, c->b);
  srm_set3(to->point.normal, c->axis);
  for (int side = 0; side < 2; ++side) {
    const bool moves = c->body[side] >= 0;
    to->point.body[side] = c->body[side];
    for (int k = 0; k < 3; ++k) to->point.arm[side][k] = moves ? c->arm[side][k] : 0;  // the world's may be infinite
  }
}

static void put_chosen(srMoreau* work, srUnilateral* c, int rows) {
  put_contact(&work->chosen[work->count++], c, rows);
}

// Is it a contact of what sleeps? One with something awake that closes in the step, at the velocities of its start, without contacts or at its end, wakes it, and so does a surface
// that moves: then the step is repeated.
static bool sleeps(srIntegrator* integrator, const srUnilateral* c, double h, bool end) {
  srMoreau* work = integrator->work;
  const srSleepSide side = sri_sleep_side(work->sleep, c);
  double u, other;
  if (side == SRI_AWAKE) return false;
  if (side == SRI_ASLEEP) {
    if (sri_sleep_surface_moves(work->sleep, c)) sri_sleep_wake(work->sleep, integrator->t, c, SR_WAKE_MOTION);
    return true;
  }
  velocity_of(work, c, 1, end ? work->v_end : work->v0, end ? END : START, &u);
  velocity_of(work, c, 1, end ? work->v_end : work->v_free, end ? END : FREE, &other);
  if (c->gap + h * fmin(u, other) <= 0) sri_sleep_wake(work->sleep, integrator->t, c, SR_WAKE_CONTACT);
  return true;
}

static void choose_contact(srIntegrator* integrator, int i, double h, bool end) {
  srMoreau* work = integrator->work;
  srUnilateral* c = &work->listed[i];
  if (sleeps(integrator, c, h, end)) return;
  work->chose[i] = true;
  put_chosen(work, c, rows_of(work, &integrator->system, c));
}

// Does nothing that may move change the gap? A finger that slides along the surface, a turntable on the floor: what its row has is rounding.
static bool cannot_close(const srUnilateral* c, int ntangent) {
  double normal = 0, tangential = 0;
  for (int i = 0; i < c->n; ++i) normal = fmax(normal, fabs(c->W[i]));
  for (int i = c->n; i < (1 + ntangent) * c->n; ++i) tangential = fmax(tangential, fabs(c->W[i]));
  return normal <= HELD * tangential || normal == 0;
}

// Contacts that may close in this step.
static void choose_by_rows(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  const double* v = work->v0;
  double fastest = 0;
  for (int i = 0; i < work->nlisted; ++i) {
    const srUnilateral* c = &work->listed[i];
    const double approach = -fmin(sri_contact_velocity(c, 0, v), sri_contact_velocity(c, 0, work->v_free));
    fastest = fmax(fastest, fmax(approach, APPROACH * change_of(work, c, v)));
  }
  for (int i = 0; i < work->nlisted; ++i) {
    const srUnilateral* c = &work->listed[i];
    const bool apart = c->gap > MARGIN * h * fastest || cannot_close(c, integrator->system.ntangent);
    if (!apart || c->clamp > 0) choose_contact(integrator, i, h, false);
  }
}

// The same of points, each by the speeds of its two bodies and by what forces give: whatever strikes one of them pushes it on to the other one.
SRM_CLONES static void mark_points(void* user, int member, int from, int to) {
  const Share* of = user;
  srMoreau* work = of->integrator->work;
  int count = 0;
  for (int i = from; i < to; ++i) {
    const srUnilateral* c = &work->listed[i];
    const srPointSize size = sri_point_size(c, work->size);
    work->change[i] = size.change;
    work->chose[i] = c->gap <= MARGIN * of->h * (size.speed > size.change ? size.speed : size.change);
    count += work->chose[i];
  }
  work->marks[member] = count;
}

static void choose_by_points(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  Share share = {.integrator = integrator, .h = h};
  sr_team_loop(work->team, work->nlisted, mark_points, &share);
  if (work->sleep != NULL) {
    for (int i = 0; i < work->nlisted; ++i) {
      const bool near = work->chose[i];
      work->chose[i] = false;
      if (near) choose_contact(integrator, i, h, false);
    }
    return;
  }
  for (int k = 0; k < sr_team_hands(work->team, work->nlisted); ++k) work->count += work->marks[k];
  work->marked = work->count > 0;
}

enum { FETCHED = 16 };

// What changes from step to step of a listed contact.
static void fetch_listed(const srUnilateral* c) {
  const char* at = (const char*)c;
  for (size_t k = 0; k < offsetof(srUnilateral, clamp); k += 64) __builtin_prefetch(at + k);
}

// How many listed points are not in the problem, and would be closed by more than a small depth at the end of the step?
static void count_missed(void* user, int member, int from, int to) {
  Share* of = user;
  const srMoreau* work = of->integrator->work;
  int count = 0;
  for (int i = from; i < to;) {
    int some[FETCHED], n = 0;  // few are not in the problem, and far from each other in memory
    for (; i < to && n < FETCHED; ++i) {
      if (work->chose[i]) continue;
      fetch_listed(&work->listed[i]);
      some[n++] = i;
    }
    for (int k = 0; k < n; ++k) {
      const srUnilateral* c = &work->listed[some[k]];
      const double u = sri_point_normal_velocity(c, work->motion[END]);
      count += c->gap + of->h * u < -PUSH_DEPTH * of->h * work->change[some[k]];
    }
  }
  of->count[member] = count;
}

static bool misses_points(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  Share share = {.integrator = integrator, .h = h};
  int count = 0;
  sr_team_loop(work->team, work->nlisted, count_missed, &share);
  for (int k = 0; k < sr_team_hands(work->team, work->nlisted); ++k) count += share.count[k];
  return count > 0;
}

// Contacts that are not in the problem, and that its impulses close by more than a small depth. Returns their number.
static int choose_missed(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  const double* v = work->v0;
  const int before = work->count;
  if (work->body != NULL && !misses_points(integrator, h)) return 0;
  for (int i = 0; i < work->nlisted; ++i) {
    srUnilateral* c = &work->listed[i];
    if (work->chose[i] || (work->body == NULL && cannot_close(c, integrator->system.ntangent))) continue;
    double u;
    velocity_of(work, c, 1, work->v_end, END, &u);
    if (c->gap + h * u < -PUSH_DEPTH * h * change_of(work, c, v)) choose_contact(integrator, i, h, true);
  }
  return work->count - before;
}

// Gaps at the start of the step from those where it is evaluated: there a body that approaches may be beyond the surface.
static void gaps_at_start(srMoreau* work, double h) {
  for (int i = 0; i < work->nlisted; ++i) {
    double u;
    velocity_of(work, &work->listed[i], 1, work->v0, START, &u);
    work->listed[i].gap -= (1 - work->now) * h * u;
  }
}

static void choose(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  work->count = 0;
  work->marked = false;
  work->told.gap = HUGE_VAL;
  if (work->nlisted > 0) memset(work->chose, 0, (size_t)work->nlisted * sizeof *work->chose);
  if (work->now < 1) gaps_at_start(work, h);
  if (work->body == NULL) {
    choose_by_rows(integrator, h);
    return;
  }
  choose_by_points(integrator, h);
}

// Would it close in this step, at more than what forces give? u_N is `was` at the start of the step and would be `is` at its end without impulses; change: as above.
static bool is_fast(const srUnilateral* c, double was, double is, double change, double h) {
  return c->gap + h * is <= 0 && -was > APPROACH * change;
}

static inline double larger(double a, double b) { return a > b ? a : b; }  // fmax and fmin are calls
static inline double smaller(double a, double b) { return a < b ? a : b; }

// s of a rigid contact.
static double shift_of(const srUnilateral* c, double was, double change, double h, bool fast) {
  double s = c->gap / h;
  if (c->gap >= 0 && !fast) return s;
  if (c->gap < 0) {
    const double most = larger(smaller(PUSH_MOST * change, sqrt(-change * s)), -PUSH_LEAST * s);
    const double small = PUSH_DEPTH * change;
    s = larger(PUSH_SOFT * larger(s, -small) + smaller(s + small, 0), -most);
  }
  return fast ? smaller(s, c->restitution * was) : s;
}

// s and c of one with a law.
static void set_law(const srUnilateral* c, double h, srContactCone* cone) {
  const double both = h * c->stiffness + c->damping;
  cone->shift = c->gap > 0 ? c->gap / h : c->stiffness * c->gap / both;
  cone->compliance[0] = 1 / (h * both);
}

// The mass matrix of the step.
static const double* matrix_of(const srMoreau* work) {
  return work->stiff != NULL ? sri_step_mass_values(work->stiff) : work->M;
}

// When contact i would begin to act, as a part of the step: a fast one where it closes, one that is closed or closes slowly at the start.
static double time_of(const srMoreau* work, int i, double h) {
  const srUnilateral* c = work->chosen[i].from;
  const double was = work->before[3 * i];
  if (work->fast[i] && c->gap > 0 && !work->compliant) return fmin(c->gap / (-was * h), LATEST);
  return c->gap + h * fmin(was, work->u_free[i]) > 0 ? 1 : 0;
}

// Below theta = 1 the contacts of an island act together, at the part w of the step when the first of them does: bodies move with v_0 until then, with v_1 after it, and
//   s = e (u_N^- + w du) - (1 - w) du      of the one that strikes, du the change of u_N by forces in the step: what it has gained until then returns, and what it loses after it
//   s = (gap/h + w u_N^-)/(1 - w)          of the others: the gap at the end of the step is not negative
static void set_times(srMoreau* work, double h) {
  for (int i = 0; i < work->count; ++i) work->when[i] = time_of(work, i, h);
  sri_step_problem_least(work->problem, work->chosen, work->count, work->when);
  for (int i = 0; i < work->count; ++i) {
    work->strikes[i] = work->fast[i] && (work->strikes[i] || time_of(work, i, h) <= work->when[i]);
  }
  for (int i = 0; i < work->count; ++i) {
    srStepContact* c = &work->chosen[i];
    const double w = work->when[i], was = work->before[3 * i], change = work->u_free[i] - was;
    if (w == 1) work->when[i] = 0;  // none of them closes
    if (w == 1 || w == 0) continue;
    c->cone.shift = work->strikes[i] ? fmin(0, c->from->restitution * (was + w * change) - (1 - w) * change)
                                     : (c->from->gap / h + w * was) / (1 - w);
  }
}

// u at the start of the step and u_N without contacts, of those from .. to-1. True: normal impulses turn a body.
static bool set_velocities(const srIntegrator* integrator, int from, int to) {
  srMoreau* work = integrator->work;
  if (work->body != NULL) {
    return sri_points_velocity(work->chosen, from, to, integrator->system.nbody, work->motion[START],
                               work->motion[FREE], work->before, work->u_free);
  }
  for (int i = from; i < to; ++i) {
    const srStepContact* c = &work->chosen[i];
    velocity_of(work, c->from, c->rows, work->v0, START, work->before + 3 * i);
    velocity_of(work, c->from, 1, work->v_free, FREE, &work->u_free[i]);
  }
  return false;
}

// Their cones; largest change of u_N by forces and least gap of this member.
static void set_cones(Share* of, int member, int from, int to) {
  srMoreau* work = of->integrator->work;
  const double h = of->h;
  double change = of->change[member], gap = of->gap[member];
  for (int i = from; i < to; ++i) {
    srStepContact* c = &work->chosen[i];
    const double is = work->u_free[i], own = change_of(work, c->from, work->v0);
    c->cone = (srContactCone){.rows = c->rows, .mu = c->rows > 1 ? c->from->mu : 0};
    c->given = h * c->from->clamp;
    work->fast[i] = is_fast(c->from, work->before[3 * i], is, own, h);
    gap = smaller(c->from->gap, gap);
    if (work->compliant && c->given == 0) {
      set_law(c->from, h, &c->cone);
    } else {
      c->cone.shift = shift_of(c->from, work->before[3 * i], own, h, work->fast[i]);
    }
    change = larger(fabs(is - work->before[3 * i]), change);
  }
  of->change[member] = change;
  of->gap[member] = gap;
}

static const double no_impulse[3];

// The impulse of a contact of points in the last step, by its place in the list, where that had the same contact then. NULL: it is not known.
static const double* kept_by_place(const srMoreau* work, const srStepContact* c) {
  const long place = c->from - work->listed;
  if (place >= work->nwas || work->was[place] != c->id) return NULL;
  return work->kept_at[place] < 0 ? no_impulse : sri_kept_of(work->kept, work->kept_at[place]);
}

// The impulses of the same contacts in the last step; NAN: they are to be searched for by one alone.
static void find_starts(const Share* of, int from, int to, int* next) {
  srMoreau* work = of->integrator->work;
  for (int i = from > of->fresh ? from : of->fresh; i < to; ++i) {
    const double* kept = kept_by_place(work, &work->chosen[i]);
    if (kept == NULL) kept = sri_kept_near(work->kept, work->chosen[i].id, next);
    work->impulse[3 * i] = (double)NAN;
    work->strikes[i] = false;
    for (int k = 0; k < 3 && kept != NULL; ++k) work->impulse[3 * i + k] = k < work->chosen[i].rows ? kept[k] : 0;
  }
}

// The first one of a member is contact i.
static int begin_range(Share* of, int member, int i) {
  const srMoreau* work = of->integrator->work;
  of->change[member] = 0;
  of->gap[member] = HUGE_VAL;
  of->levers[member] = false;
  return sri_kept_guess(work->kept, i, work->count);
}

static void set_block(Share* of, int member, int from, int to, int* next) {
  const bool levers = set_velocities(of->integrator, from, to);
  of->levers[member] = of->levers[member] || levers;
  set_cones(of, member, from, to);
  find_starts(of, from, to, next);
}

static void set_range(void* user, int member, int from, int to) {
  Share* of = user;
  const int last = of->first + to;
  int next = begin_range(of, member, of->first + from);
  for (int i = of->first + from; i < last; i += BLOCK)
    set_block(of, member, i, i + BLOCK < last ? i + BLOCK : last, &next);
}

// The motion of the bodies of a contact: they are anywhere.
static void fetch_motion(const double* motion, const int body[2]) {
  for (int side = 0; side < 2; ++side) __builtin_prefetch(motion + SRI_ROW * (size_t)(body[side] < 0 ? 0 : body[side]));
}

// Those of the listed points that are chosen, behind those of the members before this one: into the problem, and the same.
static void put_marked(void* user, int member, int from, int to) {
  Share* of = user;
  srMoreau* work = of->integrator->work;
  int at = 0;
  for (int k = 0; k < member; ++k) at += work->marks[k];
  int next = begin_range(of, member, at), set = at;
  for (int i = from; i < to; ++i) {
    srUnilateral* c = &work->listed[i];
    if (!work->chose[i]) continue;
    fetch_motion(work->motion[START], c->body);
    fetch_motion(work->motion[FREE], c->body);
    put_contact(&work->chosen[at++], c, c->mu > 0 ? 3 : 1);
    if (at < set + BLOCK) continue;
    set_block(of, member, set, at, &next);
    set = at;
  }
  set_block(of, member, set, at, &next);
}

// Cones and start values of the contacts from `first` on: the impulses of the same contact in the last step. Returns the tolerance of large islands.
static double set_contacts(srIntegrator* integrator, double h, int first) {
  srMoreau* work = integrator->work;
  const int from = work->now < 1 ? 0 : first;  // below 1 all of them: the time of an island may change
  srTeam* team = work->body != NULL ? work->team : NULL;
  const int all = work->marked ? work->nlisted : work->count - from;
  Share share = {.integrator = integrator, .h = h, .first = from, .fresh = first};
  double change = 0;
  sr_team_loop(team, all, work->marked ? put_marked : set_range, &share);
  work->marked = false;
  for (int k = 0; k < sr_team_hands(team, all); ++k) {
    change = fmax(change, share.change[k]);
    work->told.gap = fmin(work->told.gap, share.gap[k]);
    work->levers = work->levers || share.levers[k];
  }
  for (int i = first; i < work->count; ++i) {
    if (!isnan(work->impulse[3 * i])) continue;
    sri_kept_want(work->kept, work->chosen[i].id, work->chosen[i].rows, work->impulse + 3 * i);
  }
  // Contacts that fell asleep in the last step have two entries.
  sri_kept_give(work->kept, work->sleep == NULL ? team : NULL);
  if (work->now < 1) set_times(work, h);
  return COARSE * change;
}

// And, of points, their work on the bodies in the step.
static void keep_range(void* user, int member, int from, int to) {
  const Share* of = user;
  srMoreau* work = of->integrator->work;
  (void)member;
  for (int i = from; i < to; ++i) {
    const srStepContact* c = &work->chosen[i];
    if (work->body != NULL) fetch_motion(work->motion[END], c->point.body);
    sri_kept_set(work->kept, of->first + i, c->id, work->impulse + 3 * i);
    if (work->nwas > 0) work->kept_at[c->from - work->listed] = of->first + i;
    if (work->body == NULL || (i % BLOCK != BLOCK - 1 && i != to - 1)) continue;
    const int block = i / BLOCK * BLOCK;
    sri_points_work(work->chosen, block > from ? block : from, i + 1, of->integrator->system.nbody, work->impulse,
                    work->before, work->motion[END], work->work);
  }
}

static void keep_places(void* user, int member, int from, int to) {
  srMoreau* work = ((const Share*)user)->integrator->work;
  (void)member;
  for (int i = from; i < to; ++i) {
    work->was[i] = work->listed[i].id;
    work->kept_at[i] = -1;
  }
}

static void keep(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  if (work->kept == NULL) return;
  sri_kept_clear(work->kept);
  Share share = {.integrator = integrator, .h = h, .first = sri_kept_add(work->kept, work->count)};
  work->nwas = work->body != NULL && work->sleep == NULL ? work->nlisted : 0;  // what sleeps is kept, too, and not here
  sr_team_loop(work->team, work->nwas, keep_places, &share);
  sr_team_loop(work->team, work->count, keep_range, &share);
  sri_sleep_keep(work->sleep, h, work->kept);
}

// ---- a step -----------------------------------------------------------------------------------------------------------

// q moved with `way` for the time h, and v in its axes.
static int drift(srIntegrator* integrator, const double* from, double h, const double* way, double* v, double* q) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  if (s->drift != NULL) return sri_outcome(s->drift(s->user, from, h, way, v, q));
  for (int i = 0; i < s->nv; ++i) work->force[i] = h * way[i];
  return sri_retract(s, from, work->force, q);
}

// Where the step is evaluated: after the part 1 - theta of its time, with the velocities of the start, and with the accelerations of the last step.
static int go_between(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  work->now = work->rests ? 1 : work->theta;
  const double part = (1 - work->now) * h;
  work->t_at = integrator->t;
  work->at = integrator->x;
  work->v0 = sri_v(integrator);
  if (work->now == 1) return SRI_DONE;
  memcpy(work->between, integrator->x, (size_t)integrator->ncontrol * sizeof(double));
  memcpy(work->v_between, work->v0, (size_t)s->nv * sizeof(double));
  const int outcome = drift(integrator, integrator->x, part, work->v0, work->v_between, work->between);
  for (int i = 0; i < s->nv; ++i) work->between[s->nq + i] = work->v_between[i] + part * work->before_a[i];
  work->t_at += part;
  work->at = work->between;
  work->v0 = work->v_between;
  return outcome;
}

// From now on the list of contacts where the step is evaluated has all that may close in it at the velocities v. *same: as it had before.
static int foresee(srIntegrator* integrator, const double* v, double h, bool* same) {
  const srSystem* s = &integrator->system;
  const srMoreau* work = integrator->work;
  const int answer = s->foresee != NULL ? s->foresee(s->user, work->t_at, work->at, v, h) : 0;
  *same = answer == 0;
  return answer < 0 ? SRI_STOP : SRI_DONE;
}

static int list_contacts(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  return sri_outcome(sri_list(s, work->t_at, work->at, work->listed, &work->nlisted));
}

static int evaluate(srIntegrator* integrator, double h, double t_new) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const double *x = work->at, *v = x + s->nq, t = work->t_at;
  const double t_rows = work->now == 1 ? t_new : integrator->t + work->now * h;
  srConstrained* c = integrator->constrained;
  int outcome = SRI_DONE;
  bool same;
  work->nlisted = 0;
  if (work->most > 0) outcome = foresee(integrator, work->v0, h, &same);
  if (outcome == SRI_DONE && work->most > 0) outcome = list_contacts(integrator);
  if (outcome == SRI_DONE && work->body != NULL) outcome = sri_outcome(s->bodies(s->user, x, work->body));
  if (outcome != SRI_DONE) return outcome;
  if (work->stiff != NULL) outcome = sri_step_mass_tangent(integrator, work->stiff, t, x);
  if (outcome != SRI_DONE) return outcome;
  ++integrator->stats.evaluations;
  // Last, for the powers: those of the energy balance are of this evaluation.
  if (c != NULL) outcome = sri_constraint(integrator, t_rows, x, NULL, c->G, c->b);
  if (outcome == SRI_DONE) {
    outcome = sri_outcome(s->dynamics(s->user, t, x, v, v + s->nv, SR_TAU_ELEMENT, work->has_mass ? NULL : work->M,
                                      work->f, work->ydot, s->D_differs && c != NULL ? c->D : NULL));
    work->has_mass = outcome == SRI_DONE && work->body != NULL;
    sri_sleep_check(work->sleep, integrator->t, work->f, c != NULL ? c->b : NULL);
  }
  return outcome;
}

// a and the multipliers (c != NULL) of a generalized force.
static void accelerate(srMoreau* work, const srConstrained* c, const double* force, double* lambda) {
  if (work->by_blocks) {
    sri_step_problem_accelerate(work->problem, force, work->a);
  } else {
    srm_saddle_solve(work->saddle, force, c != NULL ? c->r : NULL, work->a, lambda);
  }
}

// turn, and the right-hand side of the constraints: of the velocity (1 - theta) v_0 + theta v_1.
static int set_axes(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const double* v = work->v0;
  srConstrained* c = integrator->constrained;
  const int outcome =
      s->axes_rate != NULL ? sri_outcome(s->axes_rate(s->user, work->at + s->nq, work->turn)) : SRI_DONE;
  for (int i = 0; i < s->nv; ++i) {
    work->turn[i] = s->axes_rate != NULL ? h * work->turn[i] : 0;
    work->v_free[i] = v[i] - work->turn[i];
  }
  if (c != NULL) {
    const double more = 1 / work->now - 1;
    for (int i = 0; i < s->nv && more > 0; ++i) work->v_free[i] += more * v[i];
    (void)sri_residual_velocity(integrator, work->v_free);
    for (int k = 0; k < s->ng; ++k) c->r[k] = -(c->r[k] + more * c->b[k]) / h;
  }
  return outcome;
}

// Free bodies that sleep do not move.
static void hold_bodies(const srMoreau* work, int nbody, double* v, double* motion) {
  if (work->sleep == NULL) return;
  sri_sleep_hold(work->sleep, v, NULL);
  sri_body_motion(work->body, 0, nbody, v, motion);
}

// v_1 without contacts, and the motion with both velocities.
static void free_bodies(void* user, int member, int from, int to) {
  const Share* of = user;
  srMoreau* work = of->integrator->work;
  const srBodyStep step = {.v = work->v0, .turn = work->turn, .f = work->f, .h = of->h};
  (void)member;
  for (int i = from; i < to; i += BLOCK) {
    const int end = i + BLOCK < to ? i + BLOCK : to;
    sri_body_turn(work->body, i, end, of->h, work->at + of->integrator->system.nq, work->turn);
    sri_body_end(work->body, i, end, &step, work->v_free, work->motion[FREE]);
    sri_body_motion(work->body, i, end, work->v0, work->motion[START]);
    sri_body_sizes(i, end, work->motion[START], work->motion[FREE], work->size);
  }
}

static bool is_any_unknown(const srStepMotion* known, int from, int to) {
  for (int i = from; i < to; ++i) {
    if (!known->known[i]) return true;
  }
  return false;
}

static void end_bodies(void* user, int member, int from, int to) {
  const Share* of = user;
  srMoreau* work = of->integrator->work;
  const srBodyStep step = {.v = work->v0, .turn = work->turn, .f = work->f, .wrench = work->wrench, .h = of->h};
  const srStepMotion known = sri_step_problem_motion(work->problem);
  (void)member;
  if (work->count == 0 || known.row == NULL) {
    sri_points_push(work->chosen, work->count, work->impulse, of->h, from, to, work->wrench);
    sri_body_end(work->body, from, to, &step, work->v_end, work->motion[END]);
    return;
  }
  memset(work->wrench + SRI_ROW * (size_t)from, 0, SRI_ROW * (size_t)(to - from) * sizeof *work->wrench);
  for (int k = 0; k < known.nrest; ++k) {
    const int i = known.rest[k], *body = work->chosen[i].point.body;
    if ((body[0] < from || body[0] >= to) && (body[1] < from || body[1] >= to)) continue;
    sri_points_add(work->chosen + i, 1, work->impulse + 3 * i, of->h, from, to, work->wrench);
  }
  for (int i = from; i < to; i += 4) {
    const int end = i + 4 < to ? i + 4 : to;
    if (is_any_unknown(&known, i, end)) sri_body_end(work->body, i, end, &step, work->v_end, work->motion[END]);
  }
  sri_body_known(work->body, from, to, &known, work->v_end, work->motion[END]);
}

// v_1 without contacts.
static int free_motion(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const double* v = work->v0;
  srConstrained* c = integrator->constrained;
  const int outcome = work->body != NULL ? SRI_DONE : set_axes(integrator, h);
  if (outcome != SRI_DONE) return outcome;
  if (work->stiff != NULL) sri_step_mass_set(work->stiff, s, h, work->now, work->M, v, work->at + s->nq, work->f);
  ++integrator->stats.factorizations;
  const double* M = matrix_of(work);
  const double *D = c != NULL && s->D_differs ? c->D : NULL, *G = c != NULL ? c->G : NULL;
  // Free bodies by themselves have mass.
  work->by_blocks = work->problem != NULL && sri_step_problem_is_blocks(work->problem) &&
                    (work->body != NULL || sri_step_problem_factor(work->problem, M));
  const bool regular =
      work->by_blocks || (work->saddle != NULL && srm_saddle_factor(work->saddle, M, D, G, c != NULL ? c->kept : NULL));
  if (!regular) {
    (void)snprintf(integrator->reason, sizeof integrator->reason, "the mass matrix or the constraints are singular");
    return SRI_STOP;
  }
  if (work->body != NULL) {
    sr_team_loop(work->team, s->nbody, free_bodies, &(Share){.integrator = integrator, .h = h});
    hold_bodies(work, s->nbody, work->v_free, work->motion[FREE]);
    if (work->sleep != NULL) sri_body_sizes(0, s->nbody, work->motion[START], work->motion[FREE], work->size);
    return SRI_DONE;
  }
  accelerate(work, c, work->f, NULL);
  for (int i = 0; i < s->nv; ++i) work->v_free[i] = v[i] - work->turn[i] + h * work->a[i];
  sri_sleep_hold(work->sleep, work->v_free, NULL);
  return SRI_DONE;
}

// force += the impulses over h.
static void add_impulses(const srMoreau* work, const srSystem* s, double h, double* force) {
  if (work->body != NULL) {
    sri_points_push(work->chosen, work->count, work->impulse, h, 0, s->nbody, work->wrench);
    sri_body_force(work->body, s->nbody, work->wrench, force);
    return;
  }
  for (int i = 0; i < work->count; ++i) {
    const srStepContact* at = &work->chosen[i];
    for (int k = 0; k < at->rows; ++k) sri_contact_row_add(at->from, k, work->impulse[3 * i + k] / h, force);
  }
}

// Impulses of the contacts. SRI_DONE whether the residual is within its tolerance or not: it is reported.
static int solve_problem(srIntegrator* integrator, double coarse, srStepResult* result) {
  srMoreau* work = integrator->work;
  if (work->body != NULL) sri_step_problem_bodies(work->problem, work->body, work->motion[FREE]);
  const srStatus status =
      sri_step_problem_solve(work->problem, work->by_blocks ? NULL : work->saddle, matrix_of(work), work->v_free,
                             work->chosen, work->count, coarse, work->impulse, result);
  if (status != SR_OK && result->too_many > 0) {
    (void)snprintf(integrator->reason, sizeof integrator->reason,
                   "a mechanism with joints touches at %d points, more than one matrix takes", result->too_many);
    return SRI_STOP;
  }
  if (status != SR_OK) {
    (void)snprintf(integrator->reason, sizeof integrator->reason,
                   "the contact problem has numbers that are not finite");
    return SRI_STOP;
  }
  return SRI_DONE;
}

// v_1 and, with c != NULL, the multipliers from the impulses.
static void end_velocities(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const double* v = work->v0;
  srConstrained* c = integrator->constrained;
  if (work->body != NULL) {
    sr_team_loop(work->team, s->nbody, end_bodies, &(Share){.integrator = integrator, .h = h});
    hold_bodies(work, s->nbody, work->v_end, work->motion[END]);
    return;
  }
  memcpy(work->force, work->f, (size_t)s->nv * sizeof(double));
  add_impulses(work, s, h, work->force);
  accelerate(work, c, work->force, c != NULL ? c->lambda : NULL);
  for (int i = 0; i < s->nv; ++i) work->v_end[i] = v[i] - work->turn[i] + h * work->a[i];
  sri_sleep_hold(work->sleep, work->v_end, c != NULL ? c->lambda : NULL);
}

// Fast contacts that close in spite of the first impact of their island strike, too. Are there any?
static bool strike_more(srMoreau* work) {
  bool more = false;
  for (int i = 0; i < work->count && work->now < 1; ++i) {
    if (!work->fast[i] || work->strikes[i] || work->when[i] == 0 || !(work->impulse[3 * i] > 0)) continue;
    work->strikes[i] = more = true;
  }
  return more;
}

// Contacts that the impulses of others close join the problem, which is then solved again. first: of the contacts whose cones are not set.
static int solve_contacts(srIntegrator* integrator, double h, int first) {
  srMoreau* work = integrator->work;
  for (int round = 1;; ++round) {
    if (work->count > 0) {
      work->coarse = fmax(work->coarse, set_contacts(integrator, h, first));
      int outcome = solve_problem(integrator, work->coarse, &work->result);
      while (outcome == SRI_DONE && strike_more(work)) {
        set_times(work, h);
        outcome = solve_problem(integrator, work->coarse, &work->result);
      }
      if (outcome != SRI_DONE) return outcome;
      work->told.sweeps += work->result.sweeps;
    }
    end_velocities(integrator, h);
    first = work->count;
    if (round == ROUNDS || choose_missed(integrator, h) == 0) return SRI_DONE;
  }
}

// Groups whose contacts act in the step, or would be beyond their surfaces without.
static void touch(srMoreau* work, int nv, double h) {
  for (int i = 0; i < nv; ++i) work->part[i] = -1;
  work->flew = true;
  work->rests = false;
  for (int i = 0; i < work->count; ++i) {
    const srStepContact* c = &work->chosen[i];
    double u;
    velocity_of(work, c->from, 1, work->v_end, END, &u);
    const double end = c->from->gap + h * ((1 - work->now) * work->before[3 * i] + work->now * u);
    if (!(work->impulse[3 * i] > 0) && end >= 0) continue;
    const double when = work->now < 1 ? work->when[i] : 0;
    sri_step_problem_mark(work->problem, c->from, when, work->part);
    work->flew = false;
    work->rests = work->rests || when == 0;
  }
}

static double part_of(const srMoreau* work, int velocity) {
  return work->flew ? -1 : work->part[sri_step_problem_group(work->problem, velocity)];
}

// q_1, and v_1 in its axes.
static int move(srIntegrator* integrator, double h, double* q, double* v) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const double theta = work->now;
  if (work->theta < 1) touch(work, s->nv, h);
  if (theta == 1) return drift(integrator, integrator->x, h, v, v, q);
  for (int i = 0; i < s->nv; ++i) {
    const double part = part_of(work, i);
    work->way[i] = part < 0 ? theta * v[i] : (1 - part) * v[i] + (part - 1 + theta) * work->v0[i];
  }
  return drift(integrator, work->at, h, work->way, v, q);
}

// Accelerations for the next step: of what flies.
static void keep_accelerations(srMoreau* work, int nv, double h) {
  for (int i = 0; i < nv && work->theta < 1; ++i) {
    work->before_a[i] = part_of(work, i) >= 0 ? 0 : (work->v_end[i] - work->v0[i]) / h;
  }
}

// Rates of w, of the evaluation of the step.
static int powers(srIntegrator* integrator) {
  srMoreau* work = integrator->work;
  const srConstrained* c = integrator->constrained;
  double* rate = work->other + integrator->ncontrol;
  return sri_power(integrator, work->t_at, work->at, c != NULL ? c->lambda : NULL, work->other, rate);
}

// Work of the clamps, to their quadratures.
static void add_clamp_work(const srMoreau* work, int nclamp, double* w) {
  for (int i = 0; i < work->count && nclamp > 0; ++i) {
    const srUnilateral* c = work->chosen[i].from;
    if (c->clamp == 0 || c->work < 0) continue;
    const double after = sri_contact_velocity(c, 1, work->v_end);
    w[c->work] += work->impulse[3 * i + 1] * 0.5 * (work->before[3 * i + 1] + after);
  }
}

// x_new from the velocities at the end.
static int advance(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  const double* x = integrator->x;
  double *to = integrator->x_new, *v_new = to + s->nq;
  srMoreau* work = integrator->work;
  memcpy(v_new, work->v_end, (size_t)s->nv * sizeof *v_new);
  const int outcome = move(integrator, h, to, v_new);
  for (int i = 0; i < s->ny; ++i) to[s->nq + s->nv + i] = x[s->nq + s->nv + i] + h * work->ydot[i];
  double *w = to + integrator->ncontrol, *rate = work->other + integrator->ncontrol;
  for (int i = 0; i < s->nw; ++i) w[i] = x[integrator->ncontrol + i] + h * rate[i];
  add_clamp_work(work, s->nclamp, w);
  return outcome == SRI_DONE && sri_not_finite(integrator, to) >= 0 ? SRI_NOT_FINITE : outcome;
}

// Work of the forces F = M (v_free - v_0)/h, below theta = 1, on the way that contacts take from a group: h F.((v_0 + v_1)/2 - way). It goes into them.
static double work_on_way(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  double sum = 0;
  if (work->now == 1 || work->flew) return 0;
  sri_mass_times(s, work->M, work->turn, work->force);
  for (int i = 0; i < s->nv; ++i) {
    const double part = part_of(work, i);
    if (part >= 0) sum += (h * work->f[i] - work->force[i]) * (0.5 - part) * (work->v0[i] - work->v_end[i]);
  }
  return sum;
}

// What the contacts did in the step, for those who ask; it has been kept.
static void tell(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  srImpulses* told = &work->told;
  told->count = work->count;
  told->normal = work_on_way(integrator, h);
  told->friction = 0;
  told->nstruck = 0;
  told->asleep = sri_sleep_count(work->sleep);
  told->struck = work->struck;
  told->speed = work->speed;
  told->time = work->time;
  for (int i = 0; i < work->count; ++i) {
    const srStepContact* c = &work->chosen[i];
    if (work->fast[i] && work->impulse[3 * i] > 0) {
      const double when = work->now < 1 ? work->when[i] : 0, was = work->before[3 * i];
      work->struck[told->nstruck] = c->from->id;
      work->time[told->nstruck] = integrator->t_before + when * h;
      work->speed[told->nstruck++] = -(when > 0 ? was + when * (work->u_free[i] - was) : was);
    }
    if (work->body != NULL) continue;
    double after[3];
    velocity_of(work, c->from, c->rows, work->v_end, END, after);
    for (int k = 0; k < c->rows; ++k) {
      const double mean = 0.5 * (work->before[3 * i + k] + after[k]) - c->from->b[k];  // a belt does work, too
      *(k == 0 ? &told->normal : &told->friction) += work->impulse[3 * i + k] * mean;
    }
  }
  if (work->body == NULL) return;
  for (int i = 0; 4 * i < work->count; ++i) {
    told->normal += work->work[i].normal;
    told->friction += work->work[i].friction;
  }
}

// ---- Painleve's configurations ------------------------------------------------------------------------------------------

// n K (n - mu s/|s| t) of contact i, s its slip at the start of the step: forces of a contact that slides there change its normal acceleration by this. K = M^-1 with the reactions
// of the joints, whose right-hand side is taken off.
static double normal_mobility(srIntegrator* integrator, int i, const double slip[2], double size) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const srUnilateral* c = work->chosen[i].from;
  const double f[3] = {1, -c->mu * slip[0] / size, -c->mu * slip[1] / size};
  double u;
  memset(work->force, 0, (size_t)s->nv * sizeof(double));
  if (work->body != NULL) {
    sri_points_push(work->chosen + i, 1, f, 1, 0, s->nbody, work->wrench);
    sri_body_force(work->body, s->nbody, work->wrench, work->force);
    sri_body_acceleration(work->body, s->nbody, work->force, work->way);
    sri_body_motion(work->body, 0, s->nbody, work->way, work->motion[FREE]);
  } else {
    for (int k = 0; k < work->chosen[i].rows; ++k) sri_contact_row_add(c, k, f[k], work->force);
    if (work->by_blocks) {
      sri_step_problem_accelerate(work->problem, work->force, work->way);
    } else {
      srm_saddle_solve(work->saddle, work->force, NULL, work->way, NULL);
    }
  }
  velocity_of(work, c, 1, work->way, FREE, &u);
  return u - c->b[0];
}

// The first contact that slides and whose force would accelerate it into the surface: Coulomb's law has no motion there without a jump of the velocity, or several (Painleve 1895), and
// what the step takes depends on its length. Of few contacts: it costs a solution of the equations of motion for each that slides.
static void find_jam(srIntegrator* integrator) {
  srMoreau* work = integrator->work;
  work->told.jam = -1;
  for (int i = 0; i < work->count && work->count <= JAM_MOST && work->told.jam < 0; ++i) {
    const srStepContact* at = &work->chosen[i];
    const double* was = work->before + 3 * i;
    const double slip[2] = {at->rows > 1 ? was[1] : 0, at->rows > 2 ? was[2] : 0}, size = hypot(slip[0], slip[1]);
    if (at->given > 0 || at->rows < 2 || !(at->from->mu > 0) || work->fast[i] || !(work->impulse[3 * i] > 0)) continue;
    if (size > change_of(work, at->from, work->v0) && normal_mobility(integrator, i, slip, size) <= 0)
      work->told.jam = at->from->id;
  }
}

// ---- gaps at the end of a step ----------------------------------------------------------------------------------------

// A gap is linear in the velocities of its step: exact for a plane, safe for two balls. Where bodies turn, another feature may come first, or the same one sooner: the
// contacts are listed at q_1 too, and what is deeper there than the problem knows is corrected, with the velocities v of this round,
//   gap_1 + h W_1 (v_1 - v) >= 0     of a contact that was not in the problem, by its point at q_1;   s + (gap_1 - gap - h u_N)/h in place of s of one that was.

// NULL: it is not in the problem. Few contacts are searched for.
static srStepContact* find_chosen(srMoreau* work, long id) {
  for (int i = 0; i < work->count; ++i) {
    if (work->chosen[i].id == id) return &work->chosen[i];
  }
  return NULL;
}

// A contact of `ahead` joins the list and the problem.
static bool join(srMoreau* work, const srUnilateral* c, double gap) {
  if (work->nlisted == work->most) return false;
  srUnilateral* to = &work->listed[work->nlisted];
  double* W = to->W;
  int* column = to->column;
  *to = *c;
  to->W = W;
  to->column = column;
  to->gap = gap;
  work->change[work->nlisted] = sri_point_size(c, work->size).change;
  work->chose[work->nlisted++] = true;
  put_chosen(work, to, c->mu > 0 ? 3 : 1);
  return true;
}

// Is it a contact of what sleeps? Of something awake that is too deep at q_1: it wakes it.
static bool sleeps_at_end(srIntegrator* integrator, const srUnilateral* c) {
  srMoreau* work = integrator->work;
  const srSleepSide side = sri_sleep_side(work->sleep, c);
  if (side == SRI_BETWEEN) sri_sleep_wake(work->sleep, integrator->t, c, SR_WAKE_CONTACT);
  return side != SRI_AWAKE;
}

// Corrects the problem by a contact at q_1. True: it has changed.
static bool correct(srIntegrator* integrator, const srUnilateral* c, double h) {
  srMoreau* work = integrator->work;
  const double small = h * (PUSH_DEPTH * sri_point_size(c, work->size).change + work->coarse);
  if (c->gap >= -small || sleeps_at_end(integrator, c)) return false;
  srStepContact* at = find_chosen(work, c->id);
  double u;
  if (at == NULL) {  // with the gap at q_0 from which it has this one at q_1
    velocity_of(work, c, 1, work->v_end, END, &u);
    return join(work, c, c->gap - h * u);
  }
  if (work->fast[at - work->chosen]) return false;  // by its velocity
  velocity_of(work, at->from, 1, work->v_end, END, &u);
  const double off = c->gap - at->from->gap - h * u;
  if (off >= -small) return false;
  at->cone.shift += off / h;
  return true;
}

static int correct_all(srIntegrator* integrator, double h, bool* changed) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  int nahead = 0;
  *changed = false;
  const int outcome = sri_outcome(s->contacts(s->user, integrator->t + h, integrator->x_new, work->ahead, &nahead));
  for (int i = 0; i < nahead && outcome == SRI_DONE; ++i) {
    if (correct(integrator, &work->ahead[i], h)) *changed = true;
  }
  return outcome;
}

static int settle_end(srIntegrator* integrator, double h) {
  srMoreau* work = integrator->work;
  int outcome = SRI_DONE;
  bool changed = work->ahead != NULL && work->now == 1 && work->levers;
  for (int k = 0; k < CORRECTIONS && changed && outcome == SRI_DONE; ++k) {
    const int first = work->count;
    outcome = correct_all(integrator, h, &changed);
    if (outcome == SRI_DONE && changed) outcome = solve_contacts(integrator, h, first);
    if (outcome == SRI_DONE && changed) outcome = advance(integrator, h);
  }
  return outcome;
}

// ---- all --------------------------------------------------------------------------------------------------------------

// The step with the contacts that are listed.
static int attempt(srIntegrator* integrator, double h, double t_new) {
  srMoreau* work = integrator->work;
  work->result = (srStepResult){.solved = true};
  work->coarse = 0;
  work->levers = false;
  int outcome = go_between(integrator, h);
  if (outcome == SRI_DONE) outcome = evaluate(integrator, h, t_new);
  if (outcome == SRI_DONE) outcome = free_motion(integrator, h);
  if (outcome == SRI_DONE) choose(integrator, h);
  if (outcome == SRI_DONE) outcome = solve_contacts(integrator, h, 0);
  if (outcome == SRI_DONE) outcome = powers(integrator);
  if (outcome == SRI_DONE) outcome = advance(integrator, h);
  return outcome;
}

// Of free bodies: what another list has, and the velocities at the end have closed, joins the problem.
static int join_missed(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const int first = work->count;
  int nahead = 0;
  int outcome = sri_outcome(s->contacts(s->user, work->t_at, work->at, work->ahead, &nahead));
  for (int i = 0; i < nahead && outcome == SRI_DONE; ++i) {
    const srUnilateral* c = &work->ahead[i];
    double u;
    if (i < work->nlisted && work->listed[i].id == c->id) continue;  // most of them
    velocity_of(work, c, 1, work->v_end, END, &u);
    if (c->gap + h * u < -PUSH_DEPTH * h * sri_point_size(c, work->size).change && find_chosen(work, c->id) == NULL &&
        !sleeps(integrator, c, h, true))
      (void)join(work, c, c->gap);
  }
  if (outcome != SRI_DONE || work->count == first) return outcome;
  outcome = solve_contacts(integrator, h, first);
  return outcome == SRI_DONE ? advance(integrator, h) : outcome;
}

// Where the velocities at its end reach beyond the list of contacts there is another one, with which the step is repeated, unless free bodies are solved further.
static int attempts(srIntegrator* integrator, double h, double t_new) {
  srMoreau* work = integrator->work;
  int outcome = attempt(integrator, h, t_new);
  for (int k = 1; k < LISTS && outcome == SRI_DONE && work->most > 0; ++k) {
    bool same;
    outcome = foresee(integrator, work->v_end, h, &same);
    if (outcome != SRI_DONE || same) break;
    if (work->ahead != NULL) {
      outcome = join_missed(integrator, h);
      continue;
    }
    keep(integrator, h);  // start values
    outcome = attempt(integrator, h, t_new);
  }
  return outcome;
}

static void tell_problem(srIntegrator* integrator) {
  srMoreau* work = integrator->work;
  work->told.unsolved += !work->result.solved;
  if (work->result.residual > work->told.worst) {
    work->told.worst = work->result.residual;
    work->told.t_worst = integrator->t;
  }
}

// What rests falls asleep; returns the kinetic energy that it had.
static double fall_asleep(srIntegrator* integrator, double h, double t_new) {
  const srSystem* s = &integrator->system;
  srMoreau* work = integrator->work;
  const srConstrained* c = integrator->constrained;
  double* v_new = integrator->x_new + s->nq;
  double energy = 0;
  if (work->sleep == NULL) return 0;
  const int n = sri_sleep_fall(work->sleep, t_new, h, work->chosen, work->count, work->impulse, work->v_end,
                               c != NULL ? c->b : NULL, c != NULL ? c->lambda : NULL, v_new);
  if (n == 0) return 0;
  memcpy(work->way, work->v_end, (size_t)s->nv * sizeof(double));
  sri_sleep_hold(work->sleep, work->way, NULL);
  for (int i = 0; i < s->nv; ++i) work->way[i] = work->v_end[i] - work->way[i];
  sri_mass_times(s, work->M, work->way, work->force);
  for (int i = 0; i < s->nv; ++i) energy += 0.5 * work->way[i] * work->force[i];
  memcpy(work->force, work->f, (size_t)s->nv * sizeof(double));
  add_impulses(work, s, h, work->force);
  sri_sleep_put_forces(work->sleep, work->force, work->f);
  return energy;
}

static int try_step(srIntegrator* integrator, double h, double t_new) {
  srMoreau* work = integrator->work;
  int outcome;
  do {  // until nothing that sleeps wakes up
    outcome = attempts(integrator, h, t_new);
    if (outcome == SRI_DONE) outcome = settle_end(integrator, h);
  } while (sri_sleep_woke(work->sleep) && outcome == SRI_DONE);
  if (outcome != SRI_DONE) return outcome;
  tell_problem(integrator);
  const double lost = fall_asleep(integrator, h, t_new);
  outcome = sri_accept(integrator, t_new, h, NULL);
  if (outcome != SRI_DONE) return outcome;
  if (integrator->constrained != NULL) integrator->lambda = integrator->constrained->lambda;
  keep(integrator, h);
  keep_accelerations(work, integrator->system.nv, h);
  tell(integrator, h);
  work->told.friction -= lost;
  if (!work->compliant) find_jam(integrator);
  return SRI_DONE;
}

static srStatus step(srIntegrator* integrator, double t_limit) {
  srMoreau* work = integrator->work;
  double h = 0;
  const double t_new = sri_grid_next(&work->grid, integrator, t_limit, &h);
  if (!(t_new > integrator->t)) {
    return sri_fail(integrator, "the step %.3g is too small to advance t = %.17g", h, integrator->t);
  }
  const srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  const int outcome = try_step(integrator, h, t_new);
  if (outcome != SRI_DONE) return sri_grid_failed(integrator, t_new, outcome);
  sri_grid_taken(&work->grid, integrator, t_limit);
  return SR_OK;
}

// Positions are linear in time; velocities too where theta < 1 and no contact has acted, else they jump at the start of the step.
static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  const srMoreau* work = integrator->work;
  const int nq = integrator->system.nq, nv = integrator->system.nv;
  const bool jumps = work->theta == 1 || !work->flew;
  for (int i = 0; i < count; ++i) {
    const int k = first + i;
    const double x0 = integrator->x_before[k], x1 = integrator->x[k];
    out[i] = jumps && k >= nq && k < nq + nv ? x1 : x0 + theta * (x1 - x0);
  }
}

const srImpulses* sri_impulses(const srIntegrator* integrator) {
  return integrator->ops->method.impulses ? &((const srMoreau*)integrator->work)->told : NULL;
}

const int* sri_asleep(const srIntegrator* integrator) {
  return integrator->ops->method.impulses ? sri_sleep_islands(((const srMoreau*)integrator->work)->sleep) : NULL;
}

const double* sri_asleep_forces(const srIntegrator* integrator) {
  return integrator->ops->method.impulses ? sri_sleep_forces(((const srMoreau*)integrator->work)->sleep) : NULL;
}

const srSleepEvent* sri_sleep_events(srIntegrator* integrator, int* count) {
  *count = 0;
  return integrator->ops->method.impulses ? sri_sleep_take_events(((srMoreau*)integrator->work)->sleep, count) : NULL;
}

const srUnilateral* sri_contact_of_step(const srIntegrator* integrator, int i) {
  const srMoreau* work = integrator->ops->method.impulses ? integrator->work : NULL;
  return work != NULL && i >= 0 && i < work->count ? work->chosen[i].from : NULL;
}

bool sri_impulse_forces(const srIntegrator* integrator, double* f) {
  const srMoreau* work = integrator->ops->method.impulses ? integrator->work : NULL;
  const double h = sri_time(integrator) - sri_time_before(integrator);
  if (work == NULL || !(h > 0)) return false;
  add_impulses(work, &integrator->system, h, f);
  return true;
}

const double* sri_impulse_of(const srIntegrator* integrator, long id) {
  const srMoreau* work = integrator->ops->method.impulses ? integrator->work : NULL;
  return work != NULL ? sri_kept_find(work->kept, id) : NULL;
}

#define CALLBACKS                                                                                                      \
  .needs = SRI_NEEDS(dynamics), .needs_constrained = SRI_NEEDS(dynamics) | SRI_NEEDS(constraint),                      \
  .project = SR_PROJECT_POSITION, .work_size = sizeof(srMoreau), .room = room, .init = init, .create = create,         \
  .start = start, .step = step, .interpolate = interpolate, .destroy = destroy

const srIntegratorOps sri_moreau_ops = {
    .method = {.name = "moreau",
               .order = 1,
               .adaptive = false,
               .impulses = true,
               .about = "Moreau-Jean time-stepping: rigid contact with friction, fixed step"},
    CALLBACKS,
};

const srIntegratorOps sri_moreau_compliant_ops = {
    .method = {.name = "moreau-compliant",
               .order = 1,
               .adaptive = false,
               .impulses = true,
               .laws = true,
               .about = "the same with linear normal laws of the contacts, implicit: stiff contact at long steps"},
    CALLBACKS,
};
