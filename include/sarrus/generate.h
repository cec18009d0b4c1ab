// Generated code: the equations of a model as source files (docs/using/gen.md).
#ifndef SARRUS_GENERATE_H
#define SARRUS_GENERATE_H

#include <sarrus/model.h>
#include <sarrus/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SR_LIMBS_FEWEST (-1)  // srGenerateOptions.limbs: 2, 4 or none, for each function what has the fewest operations

typedef struct srGenerateOptions {
  const char* what;      // functions, "accel,invdyna"; NULL: all that the model has
  const char* language;  // "c"
  const char* source;    // what the first line of the files states: the command; NULL: the version alone
  // Numbers of the model that are this near to 0 or +-1 (rotations), or below this part of the largest (lengths, inertia), are taken as that. 0: 1e-13, which is rounding.
  double snap;
  // Of functions with constraint equations: where independent and dependent coordinates are chosen (nq; NULL: where the model is assembled) and the time; coordinates that must be independent (nv; NULL: LU chooses).
  const double* q;
  double t;
  const unsigned char* independent;
  const char*
      parameters;      // "m1,l2": parameters of the model that become the argument p; "all": those that can. NULL: none
  const srSpec* spec;  // of the model, with its formulas; for parameters
  bool
      project;  // C with a program around it, and functions for the user to fill in; `what` and `language` are not used
  int limbs;  // C: limbs of the same kind in 2 or 4 lanes of a vector, NAME_accel_lanes2 and the like beside the functions; 0: not
} srGenerateOptions;

typedef struct srGeneratedFunction {
  const char* name;                                       // "accel"
  long add, mul, div, angle, other;                       // operations; angle: of sines and cosines
  long fused;                                             // of the multiplications: in a fused multiply-add
  long add_before, mul_before, div_before, angle_before;  // in the model's own frames, with its own inertias
  int lanes;                                              // NAME_accel_lanes2 is there, too: 2; 0: no such function
} srGeneratedFunction;

typedef struct srGeneratedFile {
  const char* name;
  const char* text;
  size_t size;
  bool once;  // of a project: the user's, to be written where there is none
} srGeneratedFile;

// An inertial parameter: of a body, "arm.Jxx", or a base parameter, with the sum of bodies' parameters that it is.
typedef struct srGeneratedTerm {
  const char* parameter;
  double coefficient;
} srGeneratedTerm;
typedef struct srGeneratedParameter {
  const char* name;
  double value;  // of the model
  int nterm;
  const srGeneratedTerm* term;  // of a base parameter
} srGeneratedParameter;

typedef struct srGenerated {
  int nfile, nfunction;
  const srGeneratedFile* file;
  const srGeneratedFunction* function;
  double snapped;  // the largest change by `snap`, relative
  int nargument;   // parameters that are arguments, with their values in the model
  const srGeneratedParameter* argument;
  // Of regressors: the columns of regressor, and of regressor_full.
  int nbase, nbody_parameter;
  const srGeneratedParameter *base, *body_parameter;
} srGenerated;

// SR_INPUT, with a message: an unknown function or language, or the model has what no code is generated for. *out is NULL unless SR_OK.
SR_API srStatus sr_generate(const srModel* m, const srGenerateOptions* options, srMessages* messages,
                            srGenerated** out);
SR_API void sr_generated_destroy(srGenerated* generated);

// Generated code in place of the interpreted recursions of this model: written, compiled by the system's C compiler ($CC, else cc), kept in the
// user's cache folder, loaded; from then on every run and analysis of the model calls it. The results are those of the recursions to
// rounding. Where that is not possible (no compiler, another formulation) a warning states the reason, and all is interpreted as before: SR_OK, too.
// on false: interpreted again; the code stays loaded. No other thread may use the model meanwhile. SR_MEMORY. docs/using/gen.md
SR_API srStatus sr_generated_use(srModel* m, bool on, srMessages* messages);
SR_API bool sr_generated_used(const srModel* m);

#ifdef __cplusplus
}
#endif
#endif
