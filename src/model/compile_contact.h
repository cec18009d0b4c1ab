// What the two ways of compiling a <contact> of shapes share: one element per pair (compile_contact.c), or a set whose
// instances are created while running (compile_set.c).
#ifndef SR_COMPILE_CONTACT_H
#define SR_COMPILE_CONTACT_H

#include "collide/pair.h"
#include "model/compile.h"

typedef struct srContactShape {
  int index;  // of the <shape>
  int body;
  int link;
  srShapeKind kind;
  const char *type, *name;  // name for reports: body/shape
  const char* material;     // NULL: none
  double radius;            // of curvature: plane INFINITY, hollow sphere negative; of other shapes a size
} srContactShape;

typedef struct srContactShapes {
  srContactShape* shape;
  int n, capacity;
} srContactShapes;

// The parts of a <contact> of shapes.
typedef struct srContactPairs {
  int i;  // of the <contact>
  srContactShapes a, b;
  bool same;        // a and b have one name: each pair once
  bool by_default;  // all shapes that may touch: pairs without a contact are left out
  bool joined;      // of these, also across a joint
  srSurfaceLaws x;  // independent of the pair
  double tau;
  long long total;  // pairs that can move relative to each other
  int first;        // number of elements before it
  bool told;        // a duplicate pair was reported
} srContactPairs;

// The laws of a pair by its materials, checked; E and nu of the two. K is NaN where Hertz applies. False after an error.
bool sr_c_pair_law(srCompiler* c, const srContactPairs* p, const srPairKind* kind, const srContactShape* a,
                   const srContactShape* b, const char* name, srSurfaceLaws* out, srElastic elastic[2]);
// The kind of a pair that can touch; NULL, with an error, where it cannot. *swap: two is a.
const srPairKind* sr_c_pair_kind(srCompiler* c, const srContactPairs* p, const srContactShape* one,
                                 const srContactShape* two, bool* swap);
// Are two shapes, which exist, a pair of this contact?
bool sr_c_may_touch(const srCompiler* c, const srContactPairs* p, const srContactShape* one, const srContactShape* two);
// Warns where the two shapes already have a contact, once per <contact>.
void sr_c_tell_twice(srCompiler* c, srContactPairs* p, const srContactShape* one, const srContactShape* two);

void sr_compile_set(srCompiler* c, srContactPairs* p);

#endif
