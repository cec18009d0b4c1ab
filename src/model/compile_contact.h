// What the two ways of compiling a <contact> of shapes share: an element for every pair (compile_contact.c), or a set whose
// instances are made while running (compile_set.c).
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
  double radius;            // of curvature: plane INFINITY, hollow sphere negative
} srContactShape;

typedef struct srContactShapes {
  srContactShape* shape;
  int n, capacity;
} srContactShapes;

// What a <contact> of shapes is made of.
typedef struct srContactPairs {
  int i;  // of the <contact>
  srContactShapes a, b;
  bool same;        // a and b are one name: each pair once
  srSurfaceLaws x;  // what does not depend on the pair
  double tau;
  long long total;  // pairs that can move against each other
  int first;        // elements that were there before
  bool told;        // that a pair is there already
} srContactPairs;

// The laws of a pair by its materials, checked; E and nu of the two. K is NaN where it is Hertz'. False after an error.
bool sr_c_pair_law(srCompiler* c, const srContactPairs* p, const srContactShape* a, const srContactShape* b,
                   const char* name, srSurfaceLaws* out, srElastic elastic[2]);
// The kind of a pair that can touch, with a error where it cannot: NULL. *swap: two is a.
const srPairKind* sr_c_pair_kind(srCompiler* c, const srContactPairs* p, const srContactShape* one,
                                 const srContactShape* two, bool* swap);
// Warns where the two shapes have a contact already, once in a <contact>.
void sr_c_tell_twice(srCompiler* c, srContactPairs* p, const srContactShape* one, const srContactShape* two);

void sr_compile_set(srCompiler* c, srContactPairs* p);

#endif
