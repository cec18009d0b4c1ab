// Sensors by a plugin or by C code: <sensor name="..." law="NAME" point="..." relative-to="..." parameters="..." unit="..."/>.
// A law makes one number of the motion of a frame. It is evaluated after the accelerations, where results are recorded: laws of
// forces cannot use it, formulas of other sensors can. This header is self-contained: a plugin needs nothing else and links with nothing.
#ifndef SARRUS_SENSOR_H
#define SARRUS_SENSOR_H

#ifdef __cplusplus
extern "C" {
#endif

// Motion of the frame `point`, observed from the frame `relative-to` and in its axes.
typedef struct srSensorIn {
  double t;                            // s
  const double* position;              // 3, m
  const double* rotation;              // 9, rows
  const double* velocity;              // 3, m/s
  const double* angular_velocity;      // 3, rad/s
  const double* acceleration;          // 3, m/s^2
  const double* angular_acceleration;  // 3, rad/s^2
  const double* p;                     // parameters of this sensor
  int np;                              // their number
} srSensorIn;

typedef struct srSensorLaw {
  const char* name;
  int np;  // number of parameters; -1 any
  // Return 0: done; else there is no value here: it is recorded as NaN.
  int (*evaluate)(const srSensorIn* in, double* value);
} srSensorLaw;

#ifdef __cplusplus
}
#endif
#endif
