// What the explicit Runge-Kutta methods share: tableau, stages, closing evaluation, acceptance, cubic Hermite.
#ifndef SR_INTEGRATE_EXPLICIT_H
#define SR_INTEGRATE_EXPLICIT_H

#include "integrate/integrator.h"

#define SRI_STAGES_MAX 7

//   k_r = F(t + c_r h, x + h sum_{j<r} a_rj k_j; tau_r)     r = 0 .. stages-1
//   x_new = x + h sum_j a_sj k_j                            row s = stages: the weights b of the method
typedef struct srTableau {
  int stages;
  double c[SRI_STAGES_MAX];
  double a[SRI_STAGES_MAX + 1][SRI_STAGES_MAX];
  const double* tau;  // tau of each stage in units of h (stages); NULL: SR_TAU_ELEMENT
} srTableau;

// Where the first stage of the next step is stored.
typedef enum srFirstStage {
  SRI_FIRST_UNKNOWN,  // must be evaluated
  SRI_FIRST_READY,    // in k[0]
  SRI_FIRST_CLOSING,  // the closing evaluation of the last step, k[stages]
} srFirstStage;

typedef struct srRungeKutta {
  const srTableau* tableau;
  double* k[SRI_STAGES_MAX + 1];  // rates of the stages; k[stages]: at the end of the step
  srFirstStage first;
  double* quartic;  // (n) sums of dense output over the stages, in the step ...
  long of_step;     // ... that was taken as number so many
} srRungeKutta;

// Outcome of an evaluation, a trial or an acceptance: as the callbacks (0 done, > 0 smaller step, < 0 stop), and
// not finite.
enum { SRI_DONE = 0, SRI_REFUSED = 1, SRI_NOT_FINITE = 2, SRI_STOP = -1 };
// The same from the return value of a callback.
static inline int sri_outcome(int answer) { return answer == 0 ? SRI_DONE : answer > 0 ? SRI_REFUSED : SRI_STOP; }

// Up to the next multiple of four: states and rates have room for so many, so that sums over stages have no remainder.
static inline int sri_fours(int n) { return (n + 3) / 4 * 4; }

size_t sri_rk_room(const srTableau* tableau, int n);  // doubles
void sri_rk_init(srIntegrator* integrator, srRungeKutta* rk, const srTableau* tableau);

// tau of stage r in a step of length h.
double sri_rk_tau(const srTableau* tableau, int r, double h);
// out = x + h sum a_j k_j, j < count. out may be x.
void sri_combine(int n, const double* x, double h, int count, const double* a, double* const* k, double* out);
// out = h sum a_j k_j, j < count.
void sri_sum(int n, double h, int count, const double* a, double* const* k, double* out);

// Makes k[0] the rates at (t, x). On failure it writes the message.
srStatus sri_rk_first(srIntegrator* integrator, srRungeKutta* rk, double tau);
// All other stages of a step of length h from t to t_new, and x_new.
int sri_rk_stages(srIntegrator* integrator, srRungeKutta* rk, double h, double t_new);
// k[stages] = F(t_new, x_new; tau): first stage of the next step, derivative for dense output, error estimate.
int sri_rk_close(srIntegrator* integrator, srRungeKutta* rk, double t_new, double tau);
// Calls `accepted` on x_new and, when it agrees, makes x_new the state and counts the step. *same: rates
// evaluated earlier at x_new still hold; NULL: nobody asks.
int sri_accept(srIntegrator* integrator, double t_new, double h, bool* same);

// Cubic through both ends of the last step with derivatives k0 and k1:
//   x0 + theta (d + (1-theta) (b + theta (d - h k1 - b))),   d = x1 - x0,   b = h k0 - d
void sri_hermite(const srIntegrator* integrator, const double* k0, const double* k1, double theta, int first, int count,
                 double* out);

// The same with the rates of the first and the closing stage, and a quartic term that raises it to order 4:
//   + theta^2 (1-theta)^2 h sum_j dense_j k_j,   j <= stages
void sri_rk_interpolate(const srIntegrator* integrator, srRungeKutta* rk, const double* dense, double theta, int first,
                        int count, double* out);

// Index of the first entry of (q, v, y) that is not finite, or -1.
int sri_not_finite(const srIntegrator* integrator, const double* x);
// "velocity 3" into buffer: the name of entry i of the packed state.
void sri_entry_name(const srIntegrator* integrator, int i, char* buffer, size_t size);
// Why a trial ended with outcome (not SRI_DONE), as a clause into buffer.
void sri_reason(const srIntegrator* integrator, int outcome, char* buffer, size_t size);

#endif
