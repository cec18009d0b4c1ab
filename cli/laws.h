// sarrus laws: what is computed, and who computes and shows it.
#ifndef SARRUS_CLI_LAWS_H
#define SARRUS_CLI_LAWS_H

#include "cli.h"

enum {
  LAW_POINTS = 201,    // of a curve
  CYCLE_POINTS = 401,  // of a reversal of slip
  MOST_LAWS = 16,      // of a kind
  MOST_ASKED = 32,     // coefficients of restitution
};

typedef struct NormalCurve {
  const srNormalLaw* law;
  double d[LAW_POINTS], f[LAW_POINTS];  // one impact, at equal times
  srImpact impact;
  double given[MOST_ASKED];  // NaN: the law refuses
} NormalCurve;

typedef struct FrictionCurve {
  const srFrictionLaw* law;
  double v[LAW_POINTS], f[LAW_POINTS];                                         // steady sliding
  double cycle_v[CYCLE_POINTS], cycle_x[CYCLE_POINTS], cycle_f[CYCLE_POINTS];  // back and forth, after the first cycle
} FrictionCurve;

typedef struct Laws {
  Cli* cli;
  const char *normal_names, *friction_names, *svg, *csv;
  Settings settings;
  NumberList asked, limits;
  double mass, speed, v_max, period, tau;
  srNormalParameters normal;
  srFrictionParameters friction;
  int nnormal, nfriction;
  NormalCurve* normal_curve;
  FrictionCurve* friction_curve;
} Laws;

bool laws_normal_curve(Laws* l, NormalCurve* c);      // false: reported in messages
bool laws_friction_curve(Laws* l, FrictionCurve* c);  // laws_curves.c
void laws_table(const Laws* l);                       // laws_show.c
void laws_json(const Laws* l);
bool laws_csv(Laws* l);
bool laws_svg(Laws* l);

#endif
