// Kinds of quantities that a run records on request. Every kind is a file src/record/quantity_<kind>.c with one srQuantityKind,
// and one row of SR_QUANTITY_LIST. A kind has objects (joints, force elements, contacts ...), an object has members: numbers with a
// word and a unit.
//
//   column name   form with the name of the object in place of NAME, "." and the word of the member:  reaction(crankpin).fx
//                 where the vectors are wanted in other axes:                                          reaction(crankpin in ground).fx
#ifndef SR_RECORD_KINDS_H
#define SR_RECORD_KINDS_H

#include "record/recorder.h"

#define SR_QUANTITY_LIST(X)                                                                                            \
  X(coordinate)                                                                                                        \
  X(sensor)                                                                                                            \
  X(law)                                                                                                               \
  X(point)                                                                                                             \
  X(reaction)                                                                                                          \
  X(force)                                                                                                             \
  X(contact)                                                                                                           \
  X(multiplier)                                                                                                        \
  X(driver)                                                                                                            \
  X(coupling)                                                                                                          \
  X(gear)                                                                                                              \
  X(balance)

#define SR_MEMBERS_MOST 32

typedef struct srQuantityMember {
  const char* word;  // "": the object is one number, and its column has no dot
  const char* unit;
} srQuantityMember;

// Axes that vectors are expressed in, by the words of a request; any other word is the name of a point or body.
typedef enum srAxes {
  SR_AXES_DEFAULT,  // of the kind, where the request names none
  SR_AXES_PARENT,   // "parent"
  SR_AXES_BODY,     // "body"
} srAxes;

typedef struct srQuantityKind {
  const char* form;   // "reaction(NAME)"
  const char* about;  // one line, for lists
  srStage stage;      // that its values need
  int (*count)(const srModel* m);
  const char* (*name)(const srModel* m, int i, srPool* pool);  // of object i; NULL: it cannot be recorded
  const char* (*lacks)(
      const srModel* m);  // reason why a model in this formulation has none, NULL: it has. NULL: all have
  int (*members)(const srModel* m, int i, srQuantityMember* out);  // at most SR_MEMBERS_MOST; returns their number
  // The point whose frame has these axes, -1: the object has none. NULL: no member is a vector, and no axes can be chosen.
  int (*axes)(const srModel* m, int i, srAxes which);
  // The power whose integral a member is; false: it is none. NULL: none of them is.
  bool (*meter)(const srModel* m, int i, const char* member, srMeter* out);
  // All members at the state of r->d. axes: pose of the frame that vectors are expressed in. Nonzero: they are undefined here.
  int (*fill)(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out);
} srQuantityKind;

extern const srQuantityKind sr_quantity_contact;  // whose values a run with rigid contact finds itself

// Members of a frame: position, velocity, angular velocity; acceleration, angular acceleration, quaternion, angles.
#define SR_FRAME_MEMBERS 22
#define SR_FRAME_DEFAULT 9  // those that every sensor has without request
extern const srQuantityMember sr_frame_members[SR_FRAME_MEMBERS];
void sr_frame_values(const srFrameMotion* motion, double* out);

// Rows of r->meter of the meters that a member may be.
static inline srMeter sr_meter_of_element(int element) { return (srMeter){.element = element, .driver = -1}; }

// u of ground axes in the axes of a frame.
void sr_record_rotate(const double axes[16], const double* u, double* out);

#endif
