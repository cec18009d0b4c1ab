// The rows of a contact problem as operators on velocities: u = H v + s and v += M^-1 H^T dp of a contact between two bodies; of a matrix
// u += A dp. Loading sorts bodies, contacts and joints by islands: sets of bodies that contacts and equations connect. Fixed bodies connect
// nothing.
#include <string.h>

#include "base/base.h"
#include "math/vector3.h"
#include "nonsmooth/operator.h"

// ---- bodies -------------------------------------------------------------------------------------------------------------

void sr_joint_velocity(const srContactSolver* s, const srLoadedJoint* j, double w[SR_JOINT_ROWS]) {
  for (int k = 0; k < j->rows; ++k)
    w[k] = sr_times_row(j->J[0][k], s->body[j->a].v) + sr_times_row(j->J[1][k], s->body[j->b].v);
}

void sr_joint_change(srContactSolver* s, const srLoadedJoint* j, const double dl[SR_JOINT_ROWS]) {
  for (int k = 0; k < j->rows; ++k) {
    sr_push_row(&s->body[j->a], j->J[0][k], dl[k]);
    sr_push_row(&s->body[j->b], j->J[1][k], dl[k]);
  }
}

double sr_island_residual(const srContactSolver* s, const srIsland* island) {
  double most = 0;
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    double u[3];
    sr_loaded_velocity(s, &s->contact[i], u);
    const double r = sr_cone_residual(&s->contact[i].cone, s->contact[i].rho, s->contact[i].p, u);
    if (!(r <= most)) most = r;
  }
  for (int i = island->joint[0]; i < island->joint[1]; ++i) {
    double w[SR_JOINT_ROWS];
    sr_joint_velocity(s, &s->joint[i], w);
    for (int k = 0; k < s->joint[i].rows; ++k) {
      const double r = fabs(w[k] + s->joint[i].shift[k]);
      if (!(r <= most)) most = r;
    }
  }
  return most;
}

// ---- islands ------------------------------------------------------------------------------------------------------------

static int root(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static bool moves(const srContactProblem* p, int body) {
  if (body < 0) return false;
  const srContactBody* b = &p->body[body];
  return b->inverse_mass > 0 || b->inverse_inertia[0] + b->inverse_inertia[1] + b->inverse_inertia[2] > 0;
}

static void connect(srContactSolver* s, const srContactProblem* p, const int body[2]) {
  if (!moves(p, body[0]) || !moves(p, body[1])) return;
  const int a = root(s->parent, body[0]), b = root(s->parent, body[1]);
  if (a < b) {
    s->parent[b] = a;
  } else {
    s->parent[a] = b;
  }
}

// The smallest body of the island, or -1 where nothing moves.
static int island_root(srContactSolver* s, const srContactProblem* p, const int body[2]) {
  if (moves(p, body[0])) return root(s->parent, body[0]);
  return moves(p, body[1]) ? root(s->parent, body[1]) : -1;
}

static bool same_block(const srContactProblem* p, int first, int i) {
  return i < p->nequation && i - first < SR_JOINT_ROWS && p->equation[i].body[0] == p->equation[first].body[0] &&
         p->equation[i].body[1] == p->equation[first].body[1];
}

static void occupy(srContactSolver* s, int r) {
  if (r >= 0) s->mark[r] = 0;
}

// Islands in the order of their smallest body; mark[body]: island of its root, or -1.
static void find_islands(srContactSolver* s, const srContactProblem* p) {
  for (int i = 0; i < p->nbody; ++i) s->parent[i] = i, s->mark[i] = -1;
  for (int i = 0; i < p->ncontact; ++i) connect(s, p, p->point[i].body);
  for (int i = 0; i < p->nequation; ++i) connect(s, p, p->equation[i].body);
  for (int i = 0; i < p->ncontact; ++i) occupy(s, island_root(s, p, p->point[i].body));
  for (int i = 0; i < p->nequation; ++i) occupy(s, island_root(s, p, p->equation[i].body));
  s->nisland = 0;
  for (int i = 0; i < p->nbody; ++i) {
    if (s->mark[i] < 0) continue;
    s->island[s->nisland] = (srIsland){0};
    s->mark[i] = s->nisland++;
  }
}

// Counts what belongs to each island, then turns counts into ranges; [1] is where the next one is put.
static void count_ranges(srContactSolver* s, const srContactProblem* p) {
  for (int i = 0; i < p->nbody; ++i) {
    if (moves(p, i) && s->mark[root(s->parent, i)] >= 0) s->island[s->mark[root(s->parent, i)]].body[1]++;
  }
  for (int i = 0; i < p->ncontact; ++i) {
    const int r = island_root(s, p, p->point[i].body);
    if (r >= 0) s->island[s->mark[r]].contact[1]++;
  }
  for (int i = 0; i < p->nequation;) {
    const int first = i, r = island_root(s, p, p->equation[i].body);
    while (same_block(p, first, i)) ++i;
    if (r >= 0) s->island[s->mark[r]].joint[1]++;
  }
  int at[3] = {0, 0, 0};
  for (int k = 0; k < s->nisland; ++k) {
    int* ranges[3] = {s->island[k].contact, s->island[k].joint, s->island[k].body};
    for (int j = 0; j < 3; ++j) {
      const int n = ranges[j][1];
      ranges[j][0] = ranges[j][1] = at[j];
      at[j] += n;
    }
  }
  s->ncontact = at[0];
  s->njoint = at[1];
  s->moving = at[2];
}

// ---- loading bodies -----------------------------------------------------------------------------------------------------

static void load_body(srContactSolver* s, const srContactProblem* p, int i, int at) {
  const srContactBody* from = &p->body[i];
  srLoadedBody* b = &s->body[at];
  s->place[i] = at;
  b->inverse_mass = from->inverse_mass;
  memcpy(b->inverse_inertia, from->inverse_inertia, sizeof b->inverse_inertia);
  memcpy(s->free[at], from->velocity, sizeof s->free[at]);
  memcpy(b->v, from->velocity, sizeof b->v);
}

static void load_bodies(srContactSolver* s, const srContactProblem* p) {
  int rest = s->moving;
  for (int i = 0; i < p->nbody; ++i) {
    const int k = moves(p, i) ? s->mark[root(s->parent, i)] : -1;
    load_body(s, p, i, k >= 0 ? s->island[k].body[1]++ : rest++);
  }
  s->nbody = rest;
  s->body[rest] = (srLoadedBody){0};  // the world
  memset(s->free[rest], 0, sizeof s->free[rest]);
}

static int loaded_body(const srContactSolver* s, int body) { return body < 0 ? s->nbody : s->place[body]; }

// W += H M^-1 H^T of one body.
static void add_block(const srLoadedBody* b, const double frame[9], const double arm[3], double W[SR_BLOCK]) {
  double torque[3][3], turn[3];
  for (int k = 0; k < 3; ++k) srm_cross3(arm, frame + 3 * k, torque[k]);
  for (int k = 0, at = 0; k < 3; ++k) {
    sr_times_inertia(b->inverse_inertia, torque[k], turn);
    for (int l = k; l < 3; ++l) W[at++] += srm_dot3(turn, torque[l]) + (k == l ? b->inverse_mass : 0);
  }
}

static double row_product(const srLoadedBody* b, const double x[6], const double y[6]) {
  double turn[3];
  sr_times_inertia(b->inverse_inertia, x, turn);
  return srm_dot3(turn, y) + b->inverse_mass * srm_dot3(x + 3, y + 3);
}

// The same of given rows.
static void add_rows(const srLoadedBody* b, const double row[3][6], double W[SR_BLOCK]) {
  for (int k = 0, at = 0; k < 3; ++k) {
    for (int l = k; l < 3; ++l) W[at++] += row_product(b, row[k], row[l]);
  }
}

static void load_contact(srContactSolver* s, const srContactProblem* p, int i, const double* impulse) {
  const srContactPoint* from = &p->point[i];
  const int r = island_root(s, p, from->body);
  if (r < 0) return;  // nothing moves: sr_contact_check refuses it, and its residual is not a number
  srLoadedContact* c = &s->contact[s->island[s->mark[r]].contact[1]++];
  *c = (srLoadedContact){.a = loaded_body(s, from->body[0]),
                         .b = loaded_body(s, from->body[1]),
                         .rows = 3,
                         .shift = {p->cone[i].shift, p->cone[i].slip[0], p->cone[i].slip[1]},
                         .cone = {p->cone[i].mu, p->cone[i].lower},
                         .index = i,
                         .offset = p->nequation + 3 * i};
  memcpy(c->p, impulse + c->offset, sizeof c->p);
  if (p->row != NULL) {
    c->row = (const double(*)[3][6])p->row[i];
    add_rows(&s->body[c->a], c->row[0], c->W);
    add_rows(&s->body[c->b], c->row[1], c->W);
  } else {
    sr_contact_frame(from->normal, c->frame);
    memcpy(c->arm, from->arm, sizeof c->arm);
    add_block(&s->body[c->a], c->frame, c->arm[0], c->W);
    add_block(&s->body[c->b], c->frame, c->arm[1], c->W);
  }
  c->rho = 1 / c->W[SR_NN];
  c->soft[0] = p->compliance * c->W[SR_NN] + p->cone[i].compliance[0];
  c->soft[1] = p->cone[i].compliance[1];
  c->W[SR_NN] += c->soft[0];
  c->W[SR_TT] += c->soft[1];
  c->W[SR_BB] += c->soft[1];
}

// Equations first .. end-1 as one block.
static void load_joint(srContactSolver* s, const srContactProblem* p, int first, int end, const double* impulse) {
  const int r = island_root(s, p, p->equation[first].body);
  if (r < 0) return;
  srLoadedJoint* j = &s->joint[s->island[s->mark[r]].joint[1]++];
  j->rows = end - first;
  j->first = first;
  j->a = loaded_body(s, p->equation[first].body[0]);
  j->b = loaded_body(s, p->equation[first].body[1]);
  for (int k = 0; k < j->rows; ++k) {
    memcpy(j->J[0][k], p->equation[first + k].row[0], sizeof j->J[0][k]);
    memcpy(j->J[1][k], p->equation[first + k].row[1], sizeof j->J[1][k]);
    j->shift[k] = p->equation[first + k].shift;
    j->lambda[k] = impulse[first + k];
  }
  for (int k = 0; k < j->rows; ++k) {
    for (int l = 0; l < j->rows; ++l)
      j->S[k * j->rows + l] =
          row_product(&s->body[j->a], j->J[0][k], j->J[0][l]) + row_product(&s->body[j->b], j->J[1][k], j->J[1][l]);
    j->diagonal[k] = j->S[k * j->rows + k];
  }
  sr_dense_factor(j->rows, j->S, j->reciprocal, 1e-10);
}

static void apply_impulses(srContactSolver* s) {
  for (int i = 0; i < s->ncontact; ++i) sr_loaded_change(s, &s->contact[i], s->contact[i].p);
  for (int i = 0; i < s->njoint; ++i) sr_joint_change(s, &s->joint[i], s->joint[i].lambda);
}

static void load_system(srContactSolver* s, const srContactProblem* p, const double* impulse) {
  find_islands(s, p);
  count_ranges(s, p);
  load_bodies(s, p);
  for (int i = 0; i < p->ncontact; ++i) load_contact(s, p, i, impulse);
  for (int i = 0; i < p->nequation;) {
    const int first = i;
    while (same_block(p, first, i)) ++i;
    load_joint(s, p, first, i, impulse);
  }
  apply_impulses(s);
}

// ---- loading a matrix ---------------------------------------------------------------------------------------------------

static void load_matrix(srContactSolver* s, const srContactProblem* p, const double* impulse) {
  const size_t size = (size_t)sr_contact_rows(p);
  s->ncontact = p->ncontact;
  s->njoint = s->nbody = s->moving = 0;
  s->nisland = 1;
  s->island[0] = (srIsland){.contact = {0, p->ncontact}};
  int row = 0;
  for (int i = 0; i < p->ncontact; ++i) {
    srLoadedContact* c = &s->contact[i];
    *c = (srLoadedContact){.rows = p->cone[i].rows,
                           .first = row,
                           .cone = {p->cone[i].mu, p->cone[i].lower},
                           .index = i,
                           .offset = p->nequation + row};
    for (int k = 0; k < c->rows; ++k) c->p[k] = impulse[c->offset + k];
    c->rho = 1 / fabs(p->W[(size_t)c->offset * size + (size_t)c->offset]);
    row += c->rows;
  }
  sr_dense_load(s, &s->island[0]);
  const int n = s->dense.n;
  for (int i = 0; i < p->ncontact; ++i) {
    srLoadedContact* c = &s->contact[i];
    const double* A = s->dense.A + (size_t)c->first * (size_t)n + c->first;
    c->W[SR_TT] = c->W[SR_BB] = 1;  // of rows that it does not have
    for (int k = 0, at = 0; k < 3; ++k) {
      for (int l = k; l < 3; ++l, ++at) {
        if (l < c->rows) c->W[at] = A[k * n + l];
      }
    }
  }
}

void sr_contact_load(srContactSolver* s, const srContactProblem* problem, const double* impulse) {
  s->problem = problem;
  s->matrix = problem->W != NULL;
  if (s->matrix) {
    load_matrix(s, problem, impulse);
  } else {
    load_system(s, problem, impulse);
  }
}

void sr_contact_store(const srContactSolver* s, double* impulse) {
  if (!s->matrix) memset(impulse, 0, (size_t)s->problem->nequation * sizeof *impulse);
  for (int i = 0; i < s->ncontact; ++i) {
    const srLoadedContact* c = &s->contact[i];
    for (int k = 0; k < c->rows; ++k) impulse[c->offset + k] = c->p[k];
  }
  for (int i = 0; i < s->njoint; ++i) {
    const srLoadedJoint* j = &s->joint[i];
    for (int k = 0; k < j->rows; ++k) impulse[j->first + k] = j->lambda[k];
  }
  if (s->matrix) {  // the equations follow from the contacts: y + X p
    const srDense* d = &s->dense;
    for (int e = 0; e < d->m; ++e) {
      double sum = d->y[e];
      for (int i = 0; i < s->ncontact; ++i) {
        const srLoadedContact* c = &s->contact[i];
        for (int k = 0; k < c->rows; ++k) sum += d->X[(size_t)e * (size_t)d->n + (size_t)(c->first + k)] * c->p[k];
      }
      impulse[e] = -sum;
    }
  }
}
