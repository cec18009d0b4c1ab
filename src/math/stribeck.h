// The slip speed of a bristle whose limit falls with it.
#ifndef SRM_STRIBECK_H
#define SRM_STRIBECK_H

// The x >= 0 with x + a exp(-x^delta) = b, for delta >= 1 and an a >= 0 so small that the left side rises. 0 where b <= a: there is
// none above 0.
double srm_stribeck_root(double a, double b, double delta);

#endif
