// Pairs of shapes that the contacts of a model hold apart.
#ifndef SR_ANALYSIS_OVERLAP_H
#define SR_ANALYSIS_OVERLAP_H

#include <sarrus/analysis.h>

// Calls `visit` for every such pair whose gap is not above the margin, at the positions of d, whose kinematics are known. Pairs of contact
// sets are those near each other: the margin reaches at least as far as their list.
srStatus sr_contact_pairs(const srModel* m, srData* d, double margin, srShapePairVisitor* visit, void* user);

// body/shape, or the body alone where the shape has no name.
const char* sr_shape_title(const srModel* m, int shape, char* text, int size);

// The start moved by the least motion that ends all overlaps. apart.c
srStatus sr_start_apart(const srModel* m, srData* d, srMessages* messages);

#endif
