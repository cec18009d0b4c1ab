// Generated dynamics for many states at once on a GPU: forward dynamics a second, Runge-Kutta steps a second, and their distance from the C code on the processor.
//   sarrus gen MODEL --lang c,cuda --what accel,qdot -o DIR
//   gcc -O2 -DNAME_accel=NAME_accel_host -DNAME_qdot=NAME_qdot_host -c DIR/NAME.c
//   nvcc -O3 -arch=sm_90 -IDIR -DMODEL=NAME [-DSR_FLOAT] [-DSR_ROOM=0] [-DSR_IN_LANES=1] benchmarks/batch.cu NAME.o -o batch && ./batch 1000000
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#include TEXT(MODEL.cu)

extern "C" void JOIN(MODEL, _accel_host)(const double* q, const double* v, const double* tau, double* a);
extern "C" void JOIN(MODEL, _qdot_host)(const double* q, const double* v, double* qdot);

enum { NQ = JOIN(MODEL, _nq), NV = JOIN(MODEL, _nv) };

static double random_in(double low, double high) { return low + (high - low) * rand() / RAND_MAX; }

static sr_real* to_device(const std::vector<sr_real>& x) {
  sr_real* out;
  cudaMalloc(&out, x.size() * sizeof x[0]);
  cudaMemcpy(out, x.data(), x.size() * sizeof x[0], cudaMemcpyHostToDevice);
  return out;
}

static std::vector<sr_real> to_host(const sr_real* x, size_t n) {
  std::vector<sr_real> out(n);
  cudaMemcpy(out.data(), x, n * sizeof *x, cudaMemcpyDeviceToHost);
  return out;
}

template <class F>
static double median_seconds(F launch) {
  std::vector<float> ms;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  for (int k = 0; k < 15; k++) {
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float t;
    cudaEventElapsedTime(&t, begin, end);
    ms.push_back(t);
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2] * 1e-3;
}

// The quaternion of a root that floats has unit length.
static void to_unit(double* q) {
  if (NQ != NV + 1) return;
  const double length = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  for (int k = 3; k < 7; k++) q[k] /= length;
}

// One step of the processor, in double.
static void host_step(double h, double* q, double* v, const double* tau) {
  double qs[NQ], vs[NV], qe[NQ], ve[NV], dq[NQ], dv[NV];
  for (int k = 0; k < NQ; k++) qs[k] = qe[k] = q[k];
  for (int k = 0; k < NV; k++) vs[k] = ve[k] = v[k];
  for (int s = 0; s < 4; s++) {
    const double weight = (s == 0 || s == 3 ? 1.0 / 6 : 1.0 / 3) * h, ahead = (s == 2 ? 1 : 0.5) * h;
    JOIN(MODEL, _accel_host)(qs, vs, tau, dv);
    JOIN(MODEL, _qdot_host)(qs, vs, dq);
    for (int k = 0; k < NQ; k++) qe[k] += weight * dq[k], qs[k] = q[k] + ahead * dq[k];
    for (int k = 0; k < NV; k++) ve[k] += weight * dv[k], vs[k] = v[k] + ahead * dv[k];
  }
  for (int k = 0; k < NQ; k++) q[k] = qe[k];
  for (int k = 0; k < NV; k++) v[k] = ve[k];
  to_unit(q);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1000000, checked = 200, steps = 100;
  const double h = 1e-3;
  std::vector<sr_real> q((size_t)n * NQ), v((size_t)n * NV), tau((size_t)n * NV), zero((size_t)n * NV);
  for (int i = 0; i < n; i++) {
    double x[NQ];
    for (int k = 0; k < NQ; k++) x[k] = random_in(-1.5, 1.5);
    to_unit(x);
    for (int k = 0; k < NQ; k++) q[(size_t)k * n + i] = (sr_real)x[k];
  }
  for (auto& x : v) x = (sr_real)random_in(-1, 1);
  for (auto& x : tau) x = (sr_real)random_in(-1, 1);
  sr_real *dq = to_device(q), *dv = to_device(v), *dt = to_device(tau), *da = to_device(zero);
  const double t_accel = median_seconds([&] { JOIN(MODEL, _accel_launch)(n, dq, dv, dt, da, 0); });
  const std::vector<sr_real> a = to_host(da, zero.size());
  double off = 0;
  for (int i = 0; i < checked; i++) {
    double x[NQ], y[NV], f[NV], b[NV], size = 0, worst = 0;
    for (int k = 0; k < NQ; k++) x[k] = q[(size_t)k * n + i];
    for (int k = 0; k < NV; k++) y[k] = v[(size_t)k * n + i], f[k] = tau[(size_t)k * n + i];
    JOIN(MODEL, _accel_host)(x, y, f, b);
    for (int k = 0; k < NV; k++) size = fmax(size, fabs(b[k])), worst = fmax(worst, fabs(b[k] - a[(size_t)k * n + i]));
    off = fmax(off, worst / size);
  }
  printf("%s %s n=%d: forward dynamics %.3g /s, largest error %.2g of the largest entry\n", TEXT(MODEL), sizeof(sr_real) == 4 ? "float" : "double", n, n / t_accel, off);
  JOIN(MODEL, _rk4_launch)(n, steps, (sr_real)h, dq, dv, dt, 0);
  const std::vector<sr_real> q1 = to_host(dq, q.size()), v1 = to_host(dv, v.size());
  double off_q = 0, off_v = 0;
  for (int i = 0; i < checked; i++) {
    double x[NQ], y[NV], f[NV];
    for (int k = 0; k < NQ; k++) x[k] = q[(size_t)k * n + i];
    for (int k = 0; k < NV; k++) y[k] = v[(size_t)k * n + i], f[k] = tau[(size_t)k * n + i];
    for (int s = 0; s < steps; s++) host_step(h, x, y, f);
    for (int k = 0; k < NQ; k++) off_q = fmax(off_q, fabs(x[k] - q1[(size_t)k * n + i]));
    for (int k = 0; k < NV; k++) off_v = fmax(off_v, fabs(y[k] - v1[(size_t)k * n + i]));
  }
  const double t_rk4 = median_seconds([&] { JOIN(MODEL, _rk4_launch)(n, steps, (sr_real)h, dq, dv, dt, 0); });
  printf("  RK4 %.3g steps/s; after %d steps positions differ by %.2g, velocities by %.2g\n", (double)n * steps / t_rk4, steps, off_q, off_v);
  return cudaGetLastError() != cudaSuccess;
}
