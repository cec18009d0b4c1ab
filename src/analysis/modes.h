// What the files of modes share: the memory behind the public structs.
#ifndef SR_ANALYSIS_MODES_H
#define SR_ANALYSIS_MODES_H

#include <sarrus/modes.h>

#include "base/base.h"

typedef struct srLinearMemory {
  srLinear shown;  // first: what the caller sees
  srPool pool;
  jmp_buf out_of_memory;
} srLinearMemory;

typedef struct srModesMemory {
  srModes shown;  // first: what the caller sees
  srPool pool;
  jmp_buf out_of_memory;
  double norm;  // of A, balanced
  bool loose;   // of the linear equations
} srModesMemory;

// ---- modes.c
// frequency and damping of re, im.
void sr_mode_numbers(srMode* mode);
// Shape and states of the vector of displacements of joint coordinates (njv), followed by states (nstate); z is scratch afterwards. size: of the whole
// eigenvector.
void sr_mode_shape(srPool* pool, int njv, int nstate, double _Complex* z, double size, srMode* mode);
void sr_modes_sort(srModes* modes);

#endif
