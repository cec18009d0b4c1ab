// The built-in laws of friction and normal contact, by name; checks of their parameters; limits of
// rolling and spinning; Hertz stiffness; and the simulated outcome of one impact.
#ifndef SARRUS_LAWS_H
#define SARRUS_LAWS_H

#include <sarrus/base.h>
#include <sarrus/friction.h>
#include <sarrus/normal.h>
#include <sarrus/words.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------------ friction
SR_API int sr_friction_count(void);
SR_API const srFrictionLaw* sr_friction_law(int i);              // in the order of SR_FRICTION_LIST; NULL outside of it
SR_API const srFrictionLaw* sr_friction_find(const char* name);  // NULL: none of this name
SR_API srFrictionParameters sr_friction_defaults(void);
SR_API int sr_friction_states(const srFrictionLaw* law, const srFrictionParameters* p, int n);  // how many e has

// Why the law cannot work with these parameters, as a sentence in text; false: it can. tau: the smallest value it will
// receive. limits: those of a joint (Fs, Fk), or the coefficients of a contact (mu_s, mu_k).
SR_API bool sr_friction_refusal(const srFrictionLaw* law, const srFrictionParameters* p, double tau, double Fs,
                                double Fk, char* text, size_t size);

// The limit at slip speed s >= 0: Fk + (Fs - Fk) exp(-(s/vs)^delta), without the viscous term.
SR_API double sr_stribeck(double Fs, double Fk, double vs, double delta, double s);

// A contact resists rolling and spinning with moments. They use the same laws, on the components of the relative angular velocity
// in the tangent plane (n = 2) and along the normal (n = 1), with these limits instead of mu N, in Nm.
SR_API double sr_rolling_limit(double lever, double N);  // lever: coefficient of rolling resistance, m (C_rr times R)
typedef enum srPressure { SR_PRESSURE_UNIFORM, SR_PRESSURE_HERTZ } srPressure;
// Drilling friction of a circular patch of radius a: 2/3 mu N a, or 3 pi/16 mu N a under Hertz pressure.
SR_API double sr_spinning_limit(double mu, double N, double a, srPressure pressure);

// -------------------------------------------------------------------------------------------------------- normal force
SR_API int sr_normal_count(void);
SR_API const srNormalLaw* sr_normal_law(int i);
SR_API const srNormalLaw* sr_normal_find(const char* name);
SR_API srNormalParameters sr_normal_defaults(void);
SR_API bool sr_normal_refusal(const srNormalLaw* law, const srNormalParameters* p, char* text, size_t size);
SR_API void sr_normal_prepare(const srNormalLaw* law, srNormalParameters* p);  // sets p->chi; needs no refusal

// Rodrigues da Silva et al. (2024), eq 39-40: K = 4/(3 (s_i + s_j)) sqrt(R), s = (1 - nu^2)/E, 1/R = 1/R_i + 1/R_j. Convex radii are positive,
// concave ones negative, a plane has INFINITY; a rigid body has E = INFINITY. NaN where two bodies do not make
// point contact (1/R <= 0) or both are rigid.
typedef struct srElastic {
  double E, nu, R;  // Pa, 1, m
} srElastic;
SR_API double sr_hertz_stiffness(srElastic i, srElastic j);
SR_API double sr_hertz_radius(srElastic i, srElastic j);  // R, m
// The same of any point of contact, by Hertz's ellipse (Johnson 1985); R of both is not used. curvature: the two principal ones of both surfaces together, in 1/m, as
// sr_relative_curvatures computes them from those of each (convex > 0) and the angle between their first directions. NaN where one is <= 0: a line, or a concave pair
// that touches elsewhere.
SR_API double sr_hertz_ellipse(srElastic i, srElastic j, const double curvature[2]);
SR_API void sr_relative_curvatures(const double i[2], const double j[2], double angle, double out[2]);
// Radius of the patch at penetration d: sqrt(R d).
SR_API double sr_hertz_patch(double R, double d);

// The damping factor D of f = K d^n (1 + D ddot/ddot0) that gives restitution e: (1+e) D = ln((1+D)/(1 - e D)).
// e < 1e-3 is taken as 1e-3: at e = 0 no such factor exists.
SR_API double sr_restitution_factor(double e);
SR_API double sr_factor_restitution(double D);  // and back: the e that a factor D >= 0 gives

// ---------------------------------------------------------------------------------------------------------- one impact
// A mass m makes contact at `speed` and nothing else acts: m d'' = -f(d, d', speed).
typedef struct srImpactPoint {
  double t, d, ddot, f;
} srImpactPoint;
typedef struct srImpact {
  double restitution;   // speed of leaving over speed of touching
  double duration;      // s
  double d_max, f_max;  // m, N
  double residual;      // energy lost minus dissipation, over the initial energy: error of the energy balance
  bool clamped;         // the formula gave a force below zero at some time
  int steps;
} srImpact;
// visit, if not NULL, receives the start and every step. SR_FAILED: the body does not separate again (within a million steps).
SR_API srStatus sr_impact(const srNormalLaw* law, const srNormalParameters* p, double m, double speed,
                          void (*visit)(void* user, const srImpactPoint* point), void* user, srImpact* out);

#ifdef __cplusplus
}
#endif
#endif
