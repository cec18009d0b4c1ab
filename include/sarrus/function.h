// Named functions with their derivatives: of one argument, motions of a model file and functions of a plugin; of two, tables and functions
// of a plugin. In a formula they are called by their names: gait(t), profile(q(theta)), torque(v(crank), throttle).
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

typedef struct srFunction2 {
  const char* name;
  // The derivative of these orders by x and by y (0, 0: the value) at (x, y). Orders up to 3 in all are asked for.
  double (*evaluate)(const void* self, double x, double y, int order_x, int order_y);
  const void* self;  // handed back to evaluate
} srFunction2;

#ifdef __cplusplus
}
#endif
#endif
