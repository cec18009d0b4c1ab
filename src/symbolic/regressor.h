// Inverse dynamics linear in inertia, tau = Y(q, v, a) pi, and the base parameters of a tree (regressor.c, base.c).
#ifndef SR_SYMBOLIC_REGRESSOR_H
#define SR_SYMBOLIC_REGRESSOR_H

#include <sarrus/generate.h>

#include "symbolic/frames.h"

// Parameters of a link in its frame, in this order: mass, first moment, inertia about the origin.
enum { SR_LINK_PARAMETERS = 10 };
extern const char* const sr_link_parameter[SR_LINK_PARAMETERS];  // "m", "mx", ...

// Columns of Y by parameters of links, 10 for each link from the ground on, then the armature of each coordinate: nv x ncolumn into Y.
// column: where the parameter's is, -1: not wanted.
void sr_sym_regressor(srSymPass* pass, const srNode* a, const int* column, int ncolumn, srNode* Y);

// Parameters of bodies, in their frames, then armatures that are not 0, and the base parameters: those combinations of them that motion depends on.
typedef struct srSymBase {
  int nlink_parameter;  // 10 nlink + nv, of the reduced links
  int nbody_parameter, nbase;
  int ncolumn;            // independent columns of Y by parameters of links
  const int* column;      // nlink_parameter: its column, -1: none
  const double* combine;  // ncolumn x nbase: from these columns to those of the base parameters, mostly the same
  const srGeneratedParameter* body;  // nbody_parameter: names and values
  const srGeneratedParameter* base;  // nbase, with their terms
  const int* body_link;              // nbody_parameter: link, -1: an armature
  const double*
      own;  // nbody_parameter x 10: what it is in the parameters of its link, in the frame of the tree. Of armatures the first entry is the coordinate
} srSymBase;
// tree: reframed and regrouped.
const srSymBase* sr_sym_base(srPool* pool, const srSymTree* tree);

#endif
