// What compile provides for the folders above: programs of the formulas, plugins, memory.
#ifndef SR_MODEL_PRIVATE_H
#define SR_MODEL_PRIVATE_H

#include <sarrus/laws.h>
#include <sarrus/model.h>

#include "expr/expr.h"
#include "law/law.h"
#include "math/saddle.h"

// A jump of a force law, or a corner of the motion of a driver or the formula of a constraint.
typedef struct srLawSwitch {
  srOp op;           // < or <=, sign, step, floor
  const char* name;  // of the element, state, driver or constraint
  bool of_time;      // depends on nothing else
  bool of_motion;    // of a driver or a constraint: velocities may jump there
} srLawSwitch;

// The overshoot of a stop, rad or m, at which its damping has the ratio limit-damping-ratio.
#define SR_STOP_OVERSHOOT 0.01

// Spring, damper and stop of a joint, as the attributes of these names; NaN: it has none, or is not compiled.
typedef struct srJointLaw {
  double stiffness, damping, limit_stiffness, limit_damping;
} srJointLaw;

// A column of results, or a pattern of their names, and where it was written.
typedef struct srRecordRequest {
  const char* pattern;
  srPlace place;
} srRecordRequest;

// Generated code in place of recursions, of the tree of joints with armature; NULL: that one is interpreted.
typedef struct srKernels {
  void (*accel)(const double* q, const double* v, const double* tau,
                double* a);  // of trees without drivers, of couplings that are eliminated
  void (*invdyna)(const double* q, const double* v, const double* a, double* tau);
  void (*bias)(const double* q, const double* v, double* c);
  void (*mass)(const double* q, double* M);     // nv x nv, below and on the diagonal
  void (*entries)(const double* q, double* M);  // by M_row, M_column
} srKernels;

// M (nv x nv) and c of  M a + c = f  of a tree where neither depends on the state (compile_constant_mass.c).
typedef struct srConstantMass {
  const double *M, *inverse, *c;
  bool is_all;  // nothing is driven, coupled or closed: a = M^-1 (f - c)
} srConstantMass;

// Code that was loaded for a model (src/generated).
typedef struct srLoadedCode {
  srKernels kernels;
  bool asked, used;
  char reason[200];  // why it is not used
  void* library;
  void (*close)(void* library);
} srLoadedCode;

struct srModelPrivate {
  const srKernels* kernels;  // in use; NULL: all is interpreted
  srLoadedCode generated;
  bool
      only_contacts;  // no force but contacts, no formula, sensor, driver or user state: with rigid contact only tau acts between impacts
  const srConstantMass* constant_mass;  // NULL: M depends on the state, or is too large
  srPool pool;                          // everything the model points to
  srGraph* graph;                       // all formulas of the model, for derivatives and the code generator
  srProgram* laws;                      // inputs t, q, v, state, sensor, arg (distance_arg) -> srData.formula
  srProgram* drivers;                   // input t -> srData.motion: value, rate, second derivative of each driver
  srProgram* events;  // inputs as laws, without arg -> formulas of the events, then values of their actions
  int nevent_value;
  // Jumps of force laws, rates, motions of drivers and formulas of constraints (expr/switch.c): their switching functions, inputs as laws.
  srProgram* switches;
  int nswitch;
  const srLawSwitch* of_switch;  // nswitch
  bool switches_of_time;         // none depends on anything else
  // Kinks of force laws and rates (expr/switch.c): functions that change their sign there, inputs as laws.
  srProgram* kinks;
  int nkink;
  bool kinks_measure;  // they need more than t, q, v and the states
  srProgram* rows;     // inputs t, q, v, sensor, arg (row_arg) -> srData.row_formula
  int nrecord;
  const srRecordRequest* record;  // nrecord: what <record> asks for
  srProgram* late;                // formulas of recorded quantities, inputs as laws and record -> values of sensors
  int nlate, nquantity;
  const srRecordRequest* quantity;  // nquantity: column names that they use
  const srNode* law_root;           // of the law program (nformula), and ...
  const srNode* row_root;           // ... of the constraint formulas (nrow_formula): for derivatives, and ...
  const srNode* driver_root;        // ... of the drivers (3 ndriver)
  int nstate;                       // the first nstate states are <state> elements, ...
  int ny_user;                      // ... those up to ny_user parameters that change, ...
  int formula_rate;                 // ... whose rates are srData.formula[formula_rate ...]
  int formula_belt;  // velocities of surfaces (srCollisionShape.belt) are srData.formula[formula_belt ...]; -1: none
  void** plugins;    // handles of loaded shared libraries
  int nplugin;
  void (*close_plugin)(void* handle);
  bool user_closures;  // there are closures by laws of plugins or of C code, which may depend on time
  srRunSettings run;
  int nexcluded;
  const long long* excluded;          // nexcluded, ascending: sr_shape_key of pairs that do not touch
  struct srTriangleMesh** triangles;  // nmesh: for contacts, where a shape needs them; else NULL
  const int* body_weld;               // nbody + 1: the first body of those that are welded to each other
  const double* limits;               // njoint x 2, NaN where there are none
  bool has_limits;
  // Inertia of the joint coordinates (njv), M_ii and 1/(M^-1)_ii, where the joints are at 'reference', and the latter at q = 0.
  const double *carried_inertia, *effective_inertia, *inertia_at_zero;
  const srJointLaw* joint_law;  // of the spec's joints
};

// Of a data of a constrained model: the solver of M a + c = f + G^T lambda, G a = gamma, and the independent equations.
struct srDataPrivate {
  srmPattern M, G;
  srmSaddleShape shape;
  srmSaddle* saddle;
  srmRows* rows;
  unsigned char* taken;   // ng: independent equations of the last acceleration
  unsigned char* unique;  // ng: equations whose multiplier is unique
  // The time and the held switches that d->motion belongs to: stages, constraints and forces of one time ask for it in turn.
  bool motion_known, motion_held;
  double motion_t, *motion_switch;
};

// What depends on the two shapes of a contact: geometry, Hertz stiffness where K is NaN, lever arms of rolling and spinning. one, two:
// of a and of b, with the radii; patch: memory for it, as long as x is used. contact_pair.c
struct srCollisionShape;
struct srPatch;
void sr_contact_of_pair(srSurfaceLaws* x, const struct srPairKind* pair, srElastic one, srElastic two,
                        const struct srCollisionShape* a, const struct srCollisionShape* b, struct srPatch* patch);
// Hertz's stiffness, by the radii or by the curvatures that two shapes have wherever they touch; NaN: these change with the pose.
double sr_contact_stiffness(const struct srPairKind* pair, srElastic one, srElastic two,
                            const struct srCollisionShape* a, const struct srCollisionShape* b);
int sr_contact_wheel(const struct srCollisionShape* a,
                     const struct srCollisionShape* b);  // the one that is round: 0 or 1; -1: both or none
int sr_contact_likeness(const srSurfaceLaws* x);         // its index in srContactSet.like
int sr_contact_states(srSurfaceLaws* x);                 // lays out its bristles; returns their number

// Two shapes that collide and can move relative to each other; and not of bodies that a joint connects directly, unless one of them is
// fixed to the ground. shape_filter.c
bool sr_shapes_move(const srModel* m, int a, int b);
bool sr_shapes_may_touch(const srModel* m, int a, int b);
bool sr_shapes_are_excluded(const srModel* m, int a, int b);  // by an <exclude>
static inline long long sr_shape_key(int n, int a, int b) {
  return a < b ? (long long)a * n + b : (long long)b * n + a;
}

int sr_data_work(const srModel* m);  // doubles of scratch that srData.work holds

#endif
