// Analyses of a model at one time: assembly, initial state, formulation.
#ifndef SARRUS_ANALYSIS_H
#define SARRUS_ANALYSIS_H

#include <sarrus/constraint.h>
#include <sarrus/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

// Corrects d's positions, then its velocities, by the smallest change that satisfies all constraints; notes report what
// changed. Values given in the file are kept where the others suffice. SR_INPUT: a loop cannot be closed; the
// message names it and states the remaining residual. SR_FAILED: stopped (d->stop), and d's state is unchanged. d->t
// is the time.
typedef struct srAssembly {
  int iterations;
  double residual_position, residual_velocity;  // largest remaining
  double moved_position, moved_velocity;        // largest change
} srAssembly;
SR_API srStatus sr_assemble(const srModel* m, srData* d, srMessages* messages, srAssembly* out);
// The same from d's positions, of which those of the velocity coordinates marked in held (nv) stay as they are: the others follow to the nearest
// positions that close the loops, or none are found: SR_INPUT, and d's positions are then of no use.
SR_API srStatus sr_assemble_held(const srModel* m, srData* d, const unsigned char* held, srMessages* messages,
                                 srAssembly* out);
// The state of d at time d->t. Nothing given: d holds the initial state, that of t = 0; driven coordinates follow their motion
// and loops are closed along the way from 0 to d->t (a warning reports a path that cannot be followed: the loops may then be
// on another branch). Coordinates that nothing moves keep their initial values. Positions or velocities given: the
// state is taken as it is, except that driven coordinates not given are put on their motion; a driven coordinate
// given a different value is reported by a warning. Returns as sr_assemble.
SR_API srStatus sr_state_at_time(const srModel* m, srData* d, bool q_given, bool v_given, srMessages* messages,
                                 srAssembly* out);

// Moves the initial state in d as requested. Inside the limits: every joint beyond a limit moves to the nearest end, and the
// constraints are satisfied again. Apart: by the least motion (least s^T M s, M the mass matrix at the start) that ends all overlaps of shapes with a contact,
// with constraints satisfied and joints inside their limits where they are. Equilibrium: as sr_equilibrium_create. SR_INPUT or SR_FAILED, with a message, where no such state is found. Driven
// coordinates stay. For models in joint coordinates, before sr_formulate.
SR_API srStatus sr_start(const srModel* m, srData* d, srStart start, srMessages* messages);
// Number of joints beyond their limits, after sr_assemble; one warning names them.
SR_API int sr_start_outside(const srModel* m, const srData* d, srMessages* messages);

// Pairs of shapes that overlap at the positions of d though a contact of the model (not one by a gap function) acts between them; d is evaluated there. *out is NULL unless SR_OK.
typedef struct srOverlaps {
  int n;
  struct srShapePair* pair;  // in the order of the contacts, gap < 0
} srOverlaps;
SR_API srStatus sr_overlaps_create(const srModel* m, srData* d, srOverlaps** out);
SR_API void sr_overlaps_destroy(srOverlaps* overlaps);
// Number of those that are deeper than 5 % of the smaller shape, which a contact at rest is not; one warning names them.
SR_API int sr_start_overlaps(const srModel* m, srData* d, srMessages* messages);

// Inverse kinematics: moves d->q, in joint coordinates, until every target is reached, with loops closed and joints within their
// limits, by the least change in each iteration. Driven coordinates move as others do: their motion is what is looked for. move (nv): 1
// for the velocity coordinates that may move, NULL: all. SR_INPUT, with a message, where no such position was found; d->q is then the nearest one.
typedef struct srTarget {
  int point, relative_to;  // points of the model; relative_to 0: the ground
  double position[3];      // of the point's frame, observed from relative_to and in its axes
  double quaternion[4];    // w x y z, any length; used where oriented
  bool oriented;
} srTarget;
typedef struct srInverseKinematics {
  int iterations;
  double residual;  // largest remaining, m or rad
} srInverseKinematics;
SR_API srStatus sr_inverse_kinematics(const srModel* m, srData* d, const srTarget* target, int n,
                                      const unsigned char* move, srMessages* messages, srInverseKinematics* out);

// A copy of the spec whose joints start at the assembled state, for programs that do not assemble (sr_convert writes
// the state of the spec). Without loops it is an unchanged copy. *out is NULL unless SR_OK.
SR_API srStatus sr_assembled_spec(const srSpec* spec, srMessages* messages, srSpec** out);

// The model of a spec in another formulation (docs/theory/formulations.md), starting at the state of d: m is the compiled spec, d
// one of its data, assembled before where it has loops. The names, joints, joint coordinates (jq, jv), sensors and columns of *out are those of m;
// *out_data holds the same t, y and tau. Both are the caller's, NULL on failure.
SR_API srStatus sr_formulate(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation,
                             srMessages* messages, srModel** out, srData** out_data);

// ---------------------------------------------------------------------------------------------------------- partition
// Independent and dependent velocity coordinates at d's position (docs/using/analyses.md): LU with pivoting of the rows of G, each scaled to
// length 1. Coordinates are those of the equations; driven ones of relative coordinates are neither.
typedef struct srPartitionOptions {
  const unsigned char*
      independent;  // nv: 1 where the coordinate must be independent; NULL: LU chooses, by the roles of the model
  bool by_rows;     // column pivoting: equations in their order. Else full pivoting
} srPartitionOptions;
typedef struct srCoordinatePartition {
  int nindependent, ndependent, ndriven, ntrivial;
  const int *independent, *dependent, *driven;  // coordinates, ascending
  const int* trivial;                           // equations that no coordinate enters
  int dof_position, dof_velocity;               // of motions with the drivers as they are; they differ with rolling
  double
      condition;  // 2-norm, of the dependent columns of the equations in use, rows and then columns scaled to length 1; 1: there are none
  const srRank* rank;
} srCoordinatePartition;
// *out is NULL unless SR_OK. SR_FAILED, with a message: the coordinates that must be independent are not, or the drivers are not, at this position.
// SR_INPUT: too many of them.
SR_API srStatus sr_partition_create(const srModel* m, srData* d, const srPartitionOptions* options,
                                    srMessages* messages, srCoordinatePartition** out);
SR_API void sr_partition_destroy(srCoordinatePartition* partition);
// Name of a velocity coordinate of the equations: "crank", "torso.wx"; of free bodies "rod.vx". Returns text.
SR_API const char* sr_coordinate_name(const srModel* m, int coordinate, char* text, size_t size);
// Marks the velocity coordinates that a word names: a joint with all of its components, or one, joint.component. False: there is none.
SR_API bool sr_coordinates_named(const srModel* m, const char* word, unsigned char* mark);

// --------------------------------------------------------------------------------------------------------- kinematics
// A driven mechanism over time (docs/using/analyses.md): positions by Newton's method with warm start, velocities, accelerations, driving forces; nothing is
// integrated. Coordinates that neither a driver nor an equation moves are held. States y keep their values.
typedef struct srSingular {
  double t;
  char reason[160];
} srSingular;
#define SR_SINGULARS 64

typedef struct srDriven {
  const srModel* m;
  srData* d;                                      // at the time reached
  int nheld;                                      // velocity coordinates that are held
  const int* held;                                // nheld
  double* held_force;                             // nheld: generalized forces that hold them, N or Nm
  double violation_position, violation_velocity;  // largest so far, of all equations
  double violation_acceleration;
  long steps, halvings, iterations;
  int nsingular;  // positions passed where the dependent coordinates are not determined; entries of singular: SR_SINGULARS at the most
  srSingular singular[SR_SINGULARS];
  char error_message[512];  // why it cannot be moved on
} srDriven;
// At d's state (assembled, relative coordinates may have free ones; absolute ones none). *out is NULL unless SR_OK. SR_INPUT: positions of rolling bodies do not
// follow from time alone. SR_FAILED: the drivers are not independent.
SR_API srStatus sr_driven_create(const srModel* m, srData* d, srMessages* messages, srDriven** out);
SR_API void sr_driven_destroy(srDriven* x);
// To time t, on the branch of the state before: t, q, v, a of d. SR_FAILED: it cannot be (error_message); d is then at the last position that was reached.
SR_API srStatus sr_driven_move(srDriven* x, double t);
// There, everything else of d: forces, multipliers with the driving forces, frames. SR_FAILED: a force is not defined.
SR_API srStatus sr_driven_evaluate(srDriven* x);

typedef struct srKinematicOptions {
  double t_end, every;  // s
  // Called for every row (the columns of a run with these requests); nonzero: stop.
  int (*row)(void* user, const double* row);
  const char* const* record;
  int nrecord;
  int (*progress)(void* user, double t, double t_end);
  void* user;
} srKinematicOptions;
// Moves x to t_end, with rows at its time + k every and at t_end. *rows: how many. SR_FAILED as sr_driven_move; the rows up to there are given.
SR_API srStatus sr_driven_run(srDriven* x, const srKinematicOptions* options, srMessages* messages, long* rows);

// ------------------------------------------------------------------------------------------------------------ inverse
// Inverse dynamics of a driven mechanism: the forces of actuators that cause the motion of its drivers (docs/using/analyses.md). Trees and loops; actuators in any joints.
typedef struct srInverse srInverse;
// actuator (n): velocity coordinates of joints (njv); NULL: the driven ones. The mechanism must be driven in all of its degrees of freedom, and have as many actuators at
// least. *out is NULL unless SR_OK; SR_INPUT, with a message, where it is not so.
SR_API srStatus sr_inverse_create(srDriven* driven, const int* actuator, int n, srMessages* messages, srInverse** out);
SR_API void sr_inverse_destroy(srInverse* x);
SR_API int sr_inverse_count(const srInverse* x);  // actuators
SR_API int sr_inverse_actuator(const srInverse* x, int i);
SR_API bool sr_inverse_redundant(
    const srInverse* x);  // more actuators than degrees of freedom: tau has the least 2-norm
// After sr_driven_move: tau (n) of the actuators; passive (nv) of all force laws, over the velocity coordinates of the equations. The forces of drivers are not in either. SR_FAILED:
// the actuators cannot cause the motion at this position, or a force is not defined (error_message of driven).
SR_API srStatus sr_inverse_forces(srInverse* x, double* tau, double* passive);

// -------------------------------------------------------------------------------------------------------- equilibrium
// Equilibrium: positions q, states y, multipliers and, of a steady motion, constant velocities v where all forces are in balance (docs/using/analyses.md). All zero: at rest,
// drivers at their positions of d->t.
typedef struct srEquilibriumOptions {
  const unsigned char* fixed;  // nv: coordinates that keep their values, whatever force that takes; NULL: none
  // A coordinate keeps its value, with no force but those of the model, and a parameter is found: {coordinate, parameter}; or {coordinate, "v(coordinate)"}: its velocity is found.
  const srSetting* exchange;
  int nexchange;
  const srSetting* speed;  // {coordinate, number}: velocity of a steady motion
  int nspeed;
  const char* const* equation;  // formulas of q(), v(), states, sensors and parameters that are 0, or left = right
  int nequation;
  const char* const* unknown;  // parameters, or v(coordinate), that are found by them, as many
  int nunknown;
  bool steady;         // a steady motion; so does a speed, or one that is found
  const srSpec* spec;  // of the model; where parameters are to be found
} srEquilibriumOptions;
typedef struct srEquilibrium {
  int iterations, starts;   // of Newton's method; initial positions that were tried
  double residual;          // largest force or rate that is left, relative to the largest force
  int nnonsensitive;        // velocity coordinates that no force depends on, or that grow: initial positions, or any
  const int* nonsensitive;  // nnonsensitive
  const char* const* nonsensitive_name;
  const double* force;           // nv: what holds coordinates that are driven or fixed, N or Nm; else what is left
  int nexchanged;                // parameters and velocities that were found
  const char* const* exchanged;  // their names
  const double* exchanged_value;
  bool steady;
} srEquilibrium;
// In joint coordinates or, without exchange, speed, equation and steady, in any. From d's state; d->v is 0 or steady then. On SR_OK d is evaluated at the equilibrium, with its multipliers. Where parameters were found
// its positions, velocities and states are those of the model with these values (sr_equilibrium_take). SR_FAILED, with a message: none was found. SR_INPUT: a name or number of the options is wrong, or they contradict each other. *out is NULL unless SR_OK.
SR_API srStatus sr_equilibrium_create(const srModel* m, srData* d, const srEquilibriumOptions* options,
                                      srMessages* messages, srEquilibrium** out);
// The model with the parameters that were found, its spec and its data in equilibrium; all are the caller's. False: there are none, as no parameter was looked for, or they were taken before.
SR_API bool sr_equilibrium_take(srEquilibrium* x, srSpec** spec, srModel** m, srData** d);
SR_API void sr_equilibrium_destroy(srEquilibrium* x);

// -------------------------------------------------------------------------------------------------- contacts at rest
typedef enum srRestStatus { SR_REST_OPEN, SR_REST_STICKS, SR_REST_SLIDES } srRestStatus;
typedef struct srRestContact {
  const char *a, *b;    // its shapes; b NULL: the end of a joint, or a gap by formula
  srRestStatus status;  // without friction it slides
  double gap;           // m, < 0: penetration; of the end of a joint in its unit
  double normal_force;  // N, >= 0; of the end of a joint in its unit
  double friction_force;
  bool unique;  // is the normal force the only one that keeps the balance?
} srRestContact;
typedef struct srRest {
  int n;  // contacts: those of elements, closed ones of contact sets
  const srRestContact* contact;
  int closed;         // of them
  int indeterminate;  // forces of constraints, drivers and rigid contacts that the balance leaves undetermined
  int iterations;     // of rigid contacts: of Newton's method for the position
  double residual;    // ... largest force that is left, relative to the largest force
} srRest;
// Contacts by force laws at the state of d, evaluated there. Forces of the laws are unique; what is indeterminate are the redundant equations of loops. *out is NULL unless SR_OK.
SR_API srStatus sr_rest_create(const srModel* m, srData* d, srRest** out);
// Static equilibrium with rigid contacts: closed ones are constraints, with forces inside of their friction cones, joints with Coulomb's friction are held by it. From d's position and states: contacts no farther apart than `gap` (m; 0: 1e-5) are
// closed, and put on each other. Where no admissible forces keep the balance there, the position is that of the equilibrium with force laws (sr_equilibrium_create). d is left at rest, with its
// multipliers. SR_FAILED, with a message that names what slides or tips: there is none.
SR_API srStatus sr_rest_rigid_create(const srModel* m, srData* d, double gap, srMessages* messages, srRest** out);
SR_API void sr_rest_destroy(srRest* rest);
SR_API const char* sr_rest_word(srRestStatus status);

// ------------------------------------------------------------------------------------------------------------- shapes
// Two shapes at their nearest points, world axes.
typedef struct srShapePair {
  int a, b;                       // indices of srModel.shape
  double gap;                     // > 0: apart; < 0: minus the least length of a translation that ends the overlap
  double normal[3];               // unit, from a to b
  double point_a[3], point_b[3];  // point_b = point_a + gap normal
} srShapePair;
typedef void srShapePairVisitor(void* user, const srShapePair* pair);

// At the positions of d, whose kinematics are known. False: two shapes of these kinds have no gap.
SR_API bool sr_shape_pair(const srModel* m, const srData* d, int a, int b, srShapePair* out);
// Calls `visit` for the pairs a < b of shapes that may touch (not those for pictures, of one body or welded to each other, or of bodies that a joint
// connects directly) and whose gap is not above the margin. all: whatever the gap, also across a joint.
SR_API srStatus sr_shape_pairs(const srModel* m, srData* d, bool all, double margin, srShapePairVisitor* visit,
                               void* user);

#ifdef __cplusplus
}
#endif
#endif
