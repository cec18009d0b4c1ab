// Analyses of a model at one time: its assembly, its start, its formulation.
#ifndef SARRUS_ANALYSIS_H
#define SARRUS_ANALYSIS_H

#include <sarrus/constraint.h>
#include <sarrus/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

// Corrects d's positions, then its velocities, with the least change, so that all constraints hold; what was changed is said
// in notes. Values that the file gave are kept where the others can do it alone. SR_INPUT: a loop cannot be closed; the
// message names it and tells the residual that is left. SR_FAILED: it was stopped (d->stop), and d's state is as it was. d->t
// is the time.
typedef struct srAssembly {
  int iterations;
  double residual_position, residual_velocity;  // largest that is left
  double moved_position, moved_velocity;        // largest change
} srAssembly;
SR_API srStatus sr_assemble(const srModel* m, srData* d, srMessages* messages, srAssembly* out);
// The state of d at the time d->t. Nothing given: d holds the initial state, which is that of t = 0; driven coordinates are put
// on their motion and loops are closed, as the drivers are followed from 0 to d->t (a way that cannot be followed is warned of:
// the loops may then be on another branch). Coordinates that nothing moves keep their start. Positions or velocities given: the
// state is taken as it is, but for what was not given of driven coordinates, which is put on their motion; a driven coordinate
// that was given elsewhere is warned of. Answers as sr_assemble.
SR_API srStatus sr_state_at_time(const srModel* m, srData* d, bool q_given, bool v_given, srMessages* messages,
                                 srAssembly* out);

// Moves the start in d as asked for. Inside the limits: every joint that is outside goes to the nearest end, and the
// constraints are met again; SR_INPUT, with a sentence, where no such start is found. Driven coordinates stay. For models in
// joint coordinates, before sr_formulate.
SR_API srStatus sr_start(const srModel* m, srData* d, srStart start, srMessages* messages);
// How many joints are outside of their limits, after sr_assemble; one warning names them.
SR_API int sr_start_outside(const srModel* m, const srData* d, srMessages* messages);

// A copy of the spec whose joints begin at the assembled state, for other programs, which do not assemble (sr_convert writes
// the state that the spec has). Without loops it is the spec as it was. *out is NULL unless SR_OK.
SR_API srStatus sr_assembled_spec(const srSpec* spec, srMessages* messages, srSpec** out);

// The model of a spec in another formulation (docs/theory/formulations.md), beginning at the state of d: m is the spec compiled, d
// one of its data, assembled before where it has loops. The names, joints, joint coordinates (jq, jv), sensors and columns of *out are those of m;
// *out_data holds the same t, y and tau. Both are the caller's, NULL on failure.
SR_API srStatus sr_formulate(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation,
                             srMessages* messages, srModel** out, srData** out_data);

#ifdef __cplusplus
}
#endif
#endif
