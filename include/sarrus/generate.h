// Generated code: the equations of a model as source files (docs/using/gen.md).
#ifndef SARRUS_GENERATE_H
#define SARRUS_GENERATE_H

#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srGenerateOptions {
  const char* what;      // functions, "accel,invdyna"; NULL: all that the model has
  const char* language;  // "c"
  const char* source;    // what the first line of the files states: the command; NULL: the version alone
  // Numbers of the model that are this near to 0 or +-1 (rotations), or below this part of the largest (lengths, inertia), are taken as that. 0: 1e-13, which is rounding.
  double snap;
} srGenerateOptions;

typedef struct srGeneratedFunction {
  const char* name;                                       // "accel"
  long add, mul, div, angle, other;                       // operations; angle: of sines and cosines
  long fused;                                             // of the multiplications: in a fused multiply-add
  long add_before, mul_before, div_before, angle_before;  // in the model's own frames, with its own inertias
} srGeneratedFunction;

typedef struct srGeneratedFile {
  const char* name;
  const char* text;
  size_t size;
} srGeneratedFile;

typedef struct srGenerated {
  int nfile, nfunction;
  const srGeneratedFile* file;
  const srGeneratedFunction* function;
  double snapped;  // the largest change by `snap`, relative
} srGenerated;

// SR_INPUT, with a message: an unknown function or language, or the model has what no code is generated for. *out is NULL unless SR_OK.
SR_API srStatus sr_generate(const srModel* m, const srGenerateOptions* options, srMessages* messages,
                            srGenerated** out);
SR_API void sr_generated_destroy(srGenerated* generated);

#ifdef __cplusplus
}
#endif
#endif
