// From Sarrus's coordinates to a peer's and back, at one state:
//
//   v' = T v        a' = T a + s        f' = T f        M = T^T M' T
//
// T holds rotations and a permutation of the coordinates, so its transpose is its inverse. s is dT/dt v: the velocity of
// a free body's origin turns with the body on our side.
#ifndef SARRUS_BENCH_COORDINATES_H
#define SARRUS_BENCH_COORDINATES_H

#include <sarrus/model.h>

#include <cmath>
#include <string>
#include <vector>

namespace bench {

using Numbers = std::vector<double>;

struct Matrix3 {
  double at[3][3];  // rows
};

inline Matrix3 identity3() { return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }

inline Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 c{};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) c.at[i][j] += a.at[i][k] * b.at[k][j];
  return c;
}

inline void times(const Matrix3& a, const double* x, double* y) {
  for (int i = 0; i < 3; i++) y[i] = a.at[i][0] * x[0] + a.at[i][1] * x[1] + a.at[i][2] * x[2];
}

inline Matrix3 transpose(const Matrix3& a) {
  Matrix3 b;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) b.at[i][j] = a.at[j][i];
  return b;
}

inline Matrix3 rotation_of(const double* quat) {  // w x y z, of any length
  double n = std::sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
  double w = quat[0] / n, x = quat[1] / n, y = quat[2] / n, z = quat[3] / n;
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

inline void quaternion_of(const Matrix3& r, double* quat) {  // the largest of the four is computed from a square root
  const auto& a = r.at;
  double four[4] = {1 + a[0][0] + a[1][1] + a[2][2], 1 + a[0][0] - a[1][1] - a[2][2], 1 - a[0][0] + a[1][1] - a[2][2],
                    1 - a[0][0] - a[1][1] + a[2][2]};
  int k = 0;
  for (int i = 1; i < 4; i++)
    if (four[i] > four[k]) k = i;
  double s = 0.5 / std::sqrt(four[k]);
  double wx = s * (a[2][1] - a[1][2]), wy = s * (a[0][2] - a[2][0]), wz = s * (a[1][0] - a[0][1]);
  double xy = s * (a[0][1] + a[1][0]), xz = s * (a[0][2] + a[2][0]), yz = s * (a[1][2] + a[2][1]);
  double big = s * four[k];
  double all[4][4] = {{big, wx, wy, wz}, {wx, big, xy, xz}, {wy, xy, big, yz}, {wz, xz, yz, big}};
  for (int i = 0; i < 4; i++) quat[i] = all[k][i];
}

// Principal axes of a symmetric matrix: J = R diag(d) R^T, R a rotation. Jacobi's method, to the last bits.
inline Matrix3 principal_axes(Matrix3 J, double* d) {
  Matrix3 R = identity3();
  for (int sweep = 0; sweep < 30; sweep++)
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        if (J.at[p][q] == 0) continue;
        const double theta = (J.at[q][q] - J.at[p][p]) / (2 * J.at[p][q]);
        const double t = std::copysign(1, theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        Matrix3 turn = identity3();
        turn.at[p][p] = turn.at[q][q] = c;
        turn.at[p][q] = s;
        turn.at[q][p] = -s;
        J = product(transpose(turn), product(J, turn));
        J.at[p][q] = J.at[q][p] = 0;
        R = product(R, turn);
      }
  for (int i = 0; i < 3; i++) d[i] = J.at[i][i];
  return R;
}

struct Pose {
  Matrix3 rotation = identity3();
  double origin[3] = {0, 0, 0};
};

inline Pose product(const Pose& a, const Pose& b) {
  Pose c;
  c.rotation = product(a.rotation, b.rotation);
  times(a.rotation, b.origin, c.origin);
  for (int i = 0; i < 3; i++) c.origin[i] += a.origin[i];
  return c;
}

inline Pose link_tree(const srModel* m, int link) {
  const double* x = m->link_tree + 16 * link;
  Pose p;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) p.rotation.at[i][j] = x[4 * j + i];
    p.origin[i] = x[12 + i];
  }
  return p;
}

// Mass, centre and inertia about the centre, from the inertia about the link's origin: J_c = J + m [c][c].
struct Inertia {
  double mass = 0, com[3] = {0, 0, 0};
  Matrix3 about_com = {};
  Matrix3 about_origin = {};
};

inline Inertia link_inertia(const srModel* m, int link) {
  const double* x = m->link_inertia + 16 * link;
  Inertia I;
  I.mass = x[15];
  for (int i = 0; i < 3; i++) I.com[i] = I.mass > 0 ? x[12 + i] / I.mass : 0;
  double cc = I.com[0] * I.com[0] + I.com[1] * I.com[1] + I.com[2] * I.com[2];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      I.about_origin.at[i][j] = x[4 * j + i];
      I.about_com.at[i][j] = x[4 * j + i] - I.mass * ((i == j ? cc : 0) - I.com[i] * I.com[j]);
    }
  return I;
}

inline bool is_massless(const srModel* m, int link) {
  for (int k = 0; k < 16; k++)
    if (m->link_inertia[16 * link + k] != 0) return false;
  return true;
}

inline const char* link_word(int type) {
  static const char* const words[] = {"ground", "revolute", "prismatic", "helical", "ball", "free"};
  return type >= 0 && type <= SR_LINK_FREE ? words[type] : "unknown";
}

// Where a peer keeps the coordinates of a link, and in which axes.
struct Place {
  int link = 0;
  int position = -1, quaternion = -1;  // first of them in the peer's q; position also for scalar joints
  int angular = -1, linear = -1;       // first of them in the peer's v; one of them for scalar joints
  bool angular_in_parent = false;      // ball, free: in the axes of the parent side, not of the body
  Pose base;                           // free: pose of the joint's fixed frame in the peer's
};

class Coordinates {
 public:
  void set(const srModel* m, const std::vector<Place>& places, int nq_peer, const double* q, const double* v) {
    n_ = m->nv;
    q_.assign(nq_peer, 0);
    T_.assign(n_ * n_, 0);
    s_.assign(n_, 0);
    for (const Place& p : places) set_link(m, p, q + m->link_q[p.link], v + m->link_v[p.link]);
  }
  const Numbers& q() const { return q_; }
  Numbers velocity(const double* v) const { return forward(v); }
  Numbers force(const double* f) const { return forward(f); }
  Numbers acceleration(const double* a) const {
    Numbers x = forward(a);
    for (int i = 0; i < n_; i++) x[i] += s_[i];
    return x;
  }
  void force_back(const double* f, double* out) const { back(f, out); }
  void acceleration_back(const double* a, double* out) const {
    Numbers x(a, a + n_);
    for (int i = 0; i < n_; i++) x[i] -= s_[i];
    back(x.data(), out);
  }
  void mass_back(const double* M, double* out) const {  // T^T M T, column by column of T, then of (M T)^T
    Numbers MT(n_ * n_, 0);
    for (int i = 0; i < n_; i++)
      for (int k = 0; k < n_; k++)
        if (T_[k * n_ + i] != 0)
          for (int j = 0; j < n_; j++) MT[j * n_ + i] += M[j * n_ + k] * T_[k * n_ + i];
    for (int i = 0; i < n_; i++)
      for (int j = 0; j < n_; j++) {
        out[i * n_ + j] = 0;
        for (int k = 0; k < n_; k++) out[i * n_ + j] += T_[k * n_ + i] * MT[k * n_ + j];
      }
  }

 private:
  int n_ = 0;
  Numbers q_, T_, s_;

  void put(int row, int column, const Matrix3& R) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) T_[(row + i) * n_ + column + j] = R.at[i][j];
  }
  void set_link(const srModel* m, const Place& p, const double* q, const double* v) {
    int column = m->link_v[p.link], type = m->link_type[p.link];
    if (type == SR_LINK_BALL) {
      for (int k = 0; k < 4; k++) q_[p.quaternion + k] = q[k];
      put(p.angular, column, p.angular_in_parent ? rotation_of(q) : identity3());
    } else if (type == SR_LINK_FREE) {
      Pose x;
      x.rotation = rotation_of(q + 3);
      for (int k = 0; k < 3; k++) x.origin[k] = q[k];
      x = product(p.base, x);
      for (int k = 0; k < 3; k++) q_[p.position + k] = x.origin[k];
      quaternion_of(x.rotation, &q_[p.quaternion]);
      put(p.angular, column, p.angular_in_parent ? x.rotation : identity3());
      put(p.linear, column + 3, x.rotation);
      double turn[3] = {v[1] * v[5] - v[2] * v[4], v[2] * v[3] - v[0] * v[5], v[0] * v[4] - v[1] * v[3]};  // w x v
      times(x.rotation, turn, &s_[p.linear]);
    } else {
      q_[p.position] = q[0];
      T_[p.angular * n_ + column] = 1;
    }
  }
  Numbers forward(const double* x) const {
    Numbers y(n_, 0);
    for (int i = 0; i < n_; i++)
      for (int j = 0; j < n_; j++) y[i] += T_[i * n_ + j] * x[j];
    return y;
  }
  void back(const double* x, double* y) const {
    for (int j = 0; j < n_; j++) {
      y[j] = 0;
      for (int i = 0; i < n_; i++) y[j] += T_[i * n_ + j] * x[i];
    }
  }
};

}  // namespace bench
#endif
