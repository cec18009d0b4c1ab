// Building blocks of loop-closure equations.
#ifndef SR_CONSTRAINT_CLOSURE_H
#define SR_CONSTRAINT_CLOSURE_H

#include "model/closure.h"

#define SR_CLOSURE_EXTERN(NAME, kind, word) extern const srClosureKind sr_closure_##kind;
SR_CLOSURE_LIST(SR_CLOSURE_EXTERN)
#undef SR_CLOSURE_EXTERN
extern const srClosureWord sr_closure_words[];
extern const int sr_closure_word_count;
const srClosureWord* sr_closure_find(const char* word);  // NULL: none of this word

// Names of equations along or about x, y, z of the observer; [3] .. [5]: other directions.
extern const char* const sr_row_translation[6];
extern const char* const sr_row_rotation[6];
// Index into them of a unit vector; `other` (0 to 2) selects the name when it is no axis.
int sr_row_axis(const double e[3], int other);

// Three equations, 0 to 2: the origins coincide, g = d.
void sr_row_origin(const srClosureIn* in, srClosureOut* out);
// Component of the displacement along e, fixed in the observer: g = e.d. Fills equation i.
void sr_row_displacement(const srClosureIn* in, const double e[3], int i, srClosureOut* out);
// g = scale (e.(R f) - offset), e fixed in the observer, f in the observed frame.
//   W = scale (R f) x e over w,   bias = scale e.(w x (w x R f))
void sr_row_cosine(const srClosureIn* in, const double e[3], const double f[3], double scale, double offset, int i,
                   srClosureOut* out);
// Two equations: rotation about the two cross axes of the axis, g = -t2.(R n) and t1.(R n), which are the angles when small.
void sr_row_tilt(const srClosure* c, const srClosureIn* in, int i, srClosureOut* out);
// Three equations: no rotation. g = 2 q_v of the quaternion of R with q_0 >= 0:
//   W = q_0 1 - [q_v],   bias = -|w|^2 q_v / 2.   The only root is R = 1, for any angle below 180 degrees.
void sr_row_orientation(const srClosureIn* in, int i, srClosureOut* out);

// Names of three translation equations, of those along the two cross axes, of the tilt, of the orientation.
void sr_name_translation(srClosure* c, int i);
void sr_name_cross_translation(srClosure* c, int i);
void sr_name_tilt(srClosure* c, int i);
void sr_name_orientation(srClosure* c, int i);

// R f
void sr_turned(const srClosureIn* in, const double f[3], double out[3]);

#endif
