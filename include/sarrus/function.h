// A named function of one argument with its derivatives: motions of a model file, and functions of a plugin.
// In a formula it is called by its name: gait(t), profile(q(theta)).
#ifndef SARRUS_FUNCTION_H
#define SARRUS_FUNCTION_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srFunction {
  const char* name;
  // The derivative of this order (0: the value) at x. Orders up to 3 are asked for: a driver needs 2, its tangent 3.
  double (*evaluate)(const void* self, double x, int order);
  const void* self;  // handed back to evaluate
} srFunction;

#ifdef __cplusplus
}
#endif
#endif
