// Many quadrupeds on their feet on a GPU: Runge-Kutta steps a second of the generated equations with contact and friction, and their distance from the C code on the processor over 100 steps. benchmarks/quadruped compiles and runs it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "quadruped_stand.cu"
#include "start.h"  // q0: where the robots stand

extern "C" void host_rates(const double* t, const double* q, const double* v, const double* y, const double* tau, const double* stage, double* a, double* ydot);
extern "C" void host_qdot(const double* q, const double* v, double* qdot);

enum { NQ = quadruped_stand_nq, NV = quadruped_stand_nv, NY = quadruped_stand_ny, STEPS = 100, CHECKED = 64 };
static const double h = 1e-3;

static double random_in(double low, double high) { return low + (high - low) * rand() / RAND_MAX; }

typedef std::vector<sr_real> Numbers;

static sr_real* to_device(const Numbers& x) {
  sr_real* out = NULL;
  cudaMalloc(&out, x.size() * sizeof x[0]);
  cudaMemcpy(out, x.data(), x.size() * sizeof x[0], cudaMemcpyHostToDevice);
  return out;
}

static Numbers to_host(const sr_real* x, size_t n) {
  Numbers out(n);
  cudaMemcpy(out.data(), x, n * sizeof *x, cudaMemcpyDeviceToHost);
  return out;
}

// One step of the processor, in double.
static void host_step(double t, double* q, double* v, double* y, const double* tau) {
  double qs[NQ], vs[NV], ys[NY], qe[NQ], ve[NV], ye[NY], dq[NQ], dv[NV], dy[NY];
  for (int k = 0; k < NQ; k++) qs[k] = qe[k] = q[k];
  for (int k = 0; k < NV; k++) vs[k] = ve[k] = v[k];
  for (int k = 0; k < NY; k++) ys[k] = ye[k] = y[k];
  for (int s = 0; s < 4; s++) {
    const double weight = (s == 0 || s == 3 ? 1.0 / 6 : 1.0 / 3) * h, ahead = (s == 2 ? 1 : 0.5) * h, at = t + (s == 0 ? 0 : s == 3 ? 1 : 0.5) * h, stage = (s < 2 ? 0.5 : 1) * h;
    host_rates(&at, qs, vs, ys, tau, &stage, dv, dy);
    host_qdot(qs, vs, dq);
    for (int k = 0; k < NQ; k++) qe[k] += weight * dq[k], qs[k] = q[k] + ahead * dq[k];
    for (int k = 0; k < NV; k++) ve[k] += weight * dv[k], vs[k] = v[k] + ahead * dv[k];
    for (int k = 0; k < NY; k++) ye[k] += weight * dy[k], ys[k] = y[k] + ahead * dy[k];
  }
  for (int k = 0; k < NQ; k++) q[k] = qe[k];
  for (int k = 0; k < NV; k++) v[k] = ve[k];
  for (int k = 0; k < NY; k++) y[k] = ye[k];
  const double length = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  for (int k = 3; k < 7; k++) q[k] /= length;
}

static int measure(int n) {
  const size_t N = (size_t)n;
  Numbers q(N * NQ), v(N * NV), y(N * NY), tau(N * NV);
  for (size_t i = 0; i < N; i++) {
    for (int k = 0; k < NQ; k++) q[k * N + i] = (sr_real)(q0[k] - (k == 2 ? 2e-3 : 0) + (k < 7 ? 0 : random_in(-0.02, 0.02)));
    for (int k = 0; k < NV; k++) v[k * N + i] = (sr_real)random_in(-0.1, 0.1), tau[k * N + i] = (sr_real)(k < 6 ? 0 : random_in(-2, 2));
  }
  sr_real *dq = to_device(q), *dv = to_device(v), *dy = to_device(y), *dt = to_device(tau);
  quadruped_stand_rk4_launch(n, STEPS, (sr_real)h, (sr_real)0, dq, dv, dy, dt, 0);
  const Numbers q1 = to_host(dq, q.size()), v1 = to_host(dv, v.size());
  double off_q = 0, off_v = 0, lowest = 1, highest = 0;
  for (int i = 0; i < CHECKED && i < n; i++) {
    double a[NQ], b[NV], c[NY] = {0}, f[NV];
    for (int k = 0; k < NQ; k++) a[k] = q[k * N + i];
    for (int k = 0; k < NV; k++) b[k] = v[k * N + i], f[k] = tau[k * N + i];
    for (int s = 0; s < STEPS; s++) host_step(s * h, a, b, c, f);
    for (int k = 0; k < NQ; k++) off_q = fmax(off_q, fabs(a[k] - q1[k * N + i]));
    for (int k = 0; k < NV; k++) off_v = fmax(off_v, fabs(b[k] - v1[k * N + i]));
    lowest = fmin(lowest, a[2]), highest = fmax(highest, a[2]);
  }
  std::vector<float> ms;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  for (int k = 0; k < 15; k++) {
    cudaEventRecord(begin);
    quadruped_stand_rk4_launch(n, STEPS, (sr_real)h, (sr_real)0, dq, dv, dy, dt, 0);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float t;
    cudaEventElapsedTime(&t, begin, end);
    ms.push_back(t);
  }
  std::sort(ms.begin(), ms.end());
  const cudaError_t error = cudaGetLastError();
#ifdef SR_IN_LANES
  printf("lanes=%d ", SR_IN_LANES);
#endif
  printf("%s n=%d blocks=%d: %.3g steps/s; after %d steps positions differ by %.2g, velocities by %.2g; trunks at %.4f to %.4f m; %s\n", sizeof(sr_real) == 4 ? "float" : "double", n, SR_BLOCKS,
         (double)n * STEPS / (ms[ms.size() / 2] * 1e-3), STEPS, off_q, off_v, lowest, highest, cudaGetErrorString(error));
  cudaFree(dq), cudaFree(dv), cudaFree(dy), cudaFree(dt);
  const double most = sizeof(sr_real) == 4 ? 1e-2 : 1e-9;  // of velocities, m/s and rad/s
  return error != cudaSuccess || !(off_v < most);
}

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++) failed |= measure(atoi(argv[i]));
  return failed;
}
