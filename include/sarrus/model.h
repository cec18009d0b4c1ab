// srModel: flat constant arrays made by sr_compile; shared by threads. srData: one state and its results; one per thread.
//
// Bodies and joints are what the user named. Links are what the recursions run over: every joint is a short chain of
// elementary links with their axis along z (a universal joint is two, a planar joint three, a weld none: its body rides on
// the parent's link). Link 0 and body 0 are the ground. parent[i] < i throughout.
//
// Layout: 3-vectors that kernels use are padded to 4 doubles and aligned to 32 bytes. A pose is 16 doubles: the three
// columns of the rotation (child to parent coordinates), then the origin. A twist or wrench is 8: angular, then linear.
#ifndef SARRUS_MODEL_H
#define SARRUS_MODEL_H

#include <sarrus/base.h>
#include <sarrus/force.h>
#include <sarrus/friction.h>
#include <sarrus/normal.h>
#include <sarrus/spec.h>
#include <sarrus/words.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum srJointType {
#define SR_JOINT_ENUM(NAME, word) SR_JOINT_##NAME,  // words.h
  SR_JOINT_LIST(SR_JOINT_ENUM)
#undef SR_JOINT_ENUM
      SR_JOINT_TYPES
} srJointType;

typedef enum srLinkType {
  SR_LINK_GROUND,     // link 0
  SR_LINK_REVOLUTE,   // q: angle about z
  SR_LINK_PRISMATIC,  // q: displacement along z
  SR_LINK_HELICAL,    // q: angle about z, with pitch*q along z
  SR_LINK_BALL,       // q: quaternion w x y z; v: angular velocity in the link's axes
  SR_LINK_FREE,       // q: position, quaternion; v: angular velocity, velocity of the origin, in the link's axes
} srLinkType;

typedef enum srFormulation {
#define SR_FORMULATION_ENUM(NAME, word) SR_FORMULATION_##NAME,  // words.h
  SR_FORMULATION_LIST(SR_FORMULATION_ENUM)
#undef SR_FORMULATION_ENUM
} srFormulation;

typedef enum srShapeType {
#define SR_SHAPE_ENUM(NAME, word) SR_SHAPE_##NAME,  // words.h
  SR_SHAPE_LIST(SR_SHAPE_ENUM)
#undef SR_SHAPE_ENUM
      SR_SHAPE_TYPES
} srShapeType;
typedef enum srShapeUse { SR_SHAPE_BOTH, SR_SHAPE_COLLISION, SR_SHAPE_VISUAL } srShapeUse;

// A shape as attached to its body: for contacts, pictures and other programs.
typedef struct srShape {
  const char* name;  // NULL: none
  int body;          // 0: the ground
  srShapeType type;
  double size[3];        // as in the file, 0 where the type has none; negative for a hollow sphere
  double pose[16];       // in the body's frame
  int mesh;              // index in srModel.mesh, -1 none
  int rows, columns;     // of a height field, else 0
  const double* height;  // rows x columns, m; NULL: none
  srShapeUse use;
  double color[4];  // red green blue alpha, 0 to 1; grey where none is given
  bool has_color;
  const char *material, *group;  // NULL: none
  srPlace place;
} srShape;

// A surface of triangles, counterclockwise seen from outside; scaled, and reoriented where the scale mirrors it.
typedef struct srMesh {
  const char* name;
  const char* file;  // as in the spec; NULL: the model file has the vertices
  int nvertex, ntriangle;
  const double* vertex;  // nvertex x 3, m
  const int* triangle;   // ntriangle x 3, from 0
  // Its convex hull, where a shape of type hull has it: corners, and triangles between them; else none.
  int ncorner, nhull;
  const double* corner;  // ncorner x 3, m
  const int* hull;       // nhull x 3, indices of corners
  srPlace place;
} srMesh;

// Accounts of the energy balance: where power that has no stored energy goes.
#define SR_ACCOUNT_LIST(X)                                                                                             \
  X(APPLIED, "applied")       /* tau given by the caller */                                                            \
  X(TORQUE, "torque")         /* laws on joint coordinates */                                                          \
  X(DISTANCE, "link")         /* force laws between two points */                                                      \
  X(FORCE, "force")           /* external forces */                                                                    \
  X(USER, "user")             /* laws from plugins and C code */                                                       \
  X(DRIVER, "driver")         /* driving forces, and what moves gaps and belts by formula */                           \
  X(FRICTION, "friction")     /* dissipation of dry friction in joints and contacts; <= 0 */                           \
  X(CONTACT, "contact")       /* dissipation of normal laws of contacts; <= 0 */                                       \
  X(DISSIPATED, "dissipated") /* dissipation of dampers and all other laws that store energy; <= 0 */
typedef enum srAccount {
#define SR_ACCOUNT_ENUM(NAME, word) SR_ACCOUNT_##NAME,
  SR_ACCOUNT_LIST(SR_ACCOUNT_ENUM)
#undef SR_ACCOUNT_ENUM
      SR_ACCOUNTS
} srAccount;

// Dry friction of a joint, or of a contact, whose limits are coefficients times the normal force.
typedef struct srDryFriction {
  const srFrictionLaw* law;  // NULL: none
  srFrictionParameters p;
  double s, k;  // static and kinetic: N or Nm for a joint; mu for a contact, lever arms in m for rolling and spinning
  int n;        // directions
  int e, ne;    // its states among those of the element: first, count
  const struct srProgram* derivative;  // of the law; NULL: differences
} srDryFriction;

// The laws of a <friction>, a <contact> or a stop of a joint (docs/using/contact-elements.md).
typedef struct srSurfaceLaws {
  const char *a, *b;       // names for reports: shapes, or the joint
  const srNormalLaw* law;  // NULL: friction of a joint
  srNormalParameters p;
  const struct srProgram* derivative;  // of the law; NULL: differences
  const struct srPairKind* pair;       // of two shapes, a and b (src/collide/pair.h); NULL: not between shapes
  double radius[2];                    // of curvature: infinite for a plane, negative for a hollow sphere; else a size
  const struct srCollisionShape* shape[2];  // where pair has no closed form (src/collide/collision.h)
  const struct srPatch* patch;  // of two shapes with flat faces, or a capsule on a plane; NULL: they touch at a point
  double lever;                 // of a patch: added to that of its pressure in the friction of spinning, m
  double along[2];              // mu2/mu-k where the direction of friction is that of a, of b; NaN: no direction counts
  int directed;                 // the shape whose direction it is, 0 or 1; -1: friction is the same in all directions
  double relaxation;            // relaxation length of a tyre, m; NaN: bristles stay where they are
  int wheel;                    // the shape that has the tyre, 0 or 1; -1: none
  double side, end;             // stop of a joint: gap = side (end - q), side 1 the upper end, -1 the lower one
  srDryFriction slip, roll, spin;
  // A gap by formula: values of the law program from srForceElement.formula on are the gap, its rate, the slip rate, then for each
  // variable the derivatives of gap and slip, then the explicit time derivatives of both.
  int nvariable;
  const struct srContactVariable* variable;
  bool
      located;  // first contact is located as an event: z is the approach velocity (0: unknown), and whether it is closed
} srSurfaceLaws;

// A variable of a gap by formula.
typedef struct srContactVariable {
  int kind;    // srVarKind: q, v, sensor
  int index;   // of the coordinate, or of the sensor
  int scalar;  // of a sensor: which of its scalars
  int dof;     // of a coordinate: its velocity
} srContactVariable;

enum { SR_Z_SPEED, SR_Z_CLOSED, SR_Z_CONTACT };  // discrete states of a contact

// One force element: a force law at a port of the model.
typedef struct srForceElement {
  const char* name;
  srPlace place;
  const srImpedance* law;
  srAccount account;
  int dof;          // SR_PORT_JOINT: velocity coordinate (srData.jv)
  int qdof;         // SR_PORT_JOINT: position coordinate (srData.jq), -1 for coordinates of ball and free joints
  int point[2];     // SR_PORT_POINT: [0]; SR_PORT_DISTANCE and SR_PORT_FRAMES: a, b. Indices of points
  const double* p;  // parameters (np)
  int np;
  int formula;       // first value of its formulas in srData.formula, -1 none
  int distance_arg;  // SR_PORT_DISTANCE with a formula: its z is argument distance_arg, zdot distance_arg + 1; else -1
  int y, ny;         // its own states: first, count
  double tau;        // s
  int z;             // first of its discrete states, -1 none
  const srSurfaceLaws* contact;  // of friction and contact, else NULL
  // Derivatives of (f, y') by (x, x', y), as sr_law_jacobian; NULL: differences.
  int (*jacobian)(const srImpedanceIn* in, double* J);
} srForceElement;

// A shape checked for the contacts of a set.
typedef struct srCollider {
  const char* name;  // body/shape
  int shape, point;  // index of the shape, and of the point at its frame
  int kind;          // srShapeKind of src/collide/pair.h
  double radius;     // as srSurfaceLaws.radius
  double reach;      // of a ball about the origin of its frame that contains it; infinite for a plane
} srCollider;

// One <contact> between many shapes. Its laws are constants of the model, one per pair of materials; its instances, with
// their states, are in srData, created where two shapes touch and removed when they separate (docs/using/contact-elements.md).
typedef struct srContactSet {
  const char* name;
  srPlace place;
  int nmember;
  const int* member;          // nmember: colliders
  const unsigned char* side;  // nmember: 1 among a, 2 among b, 3 both
  const int* card;            // nmember: which material
  int ncard;
  const srSurfaceLaws* law;  // ncard x ncard, of a's and of b's material; without what depends on shapes and radii
  const double* E;           // ncard, INFINITY: rigid
  const double* nu;          // ncard
  const struct srContactKind* kind;
  // With the derivatives of its laws, for 2 and 3 components of slip, then the same of patches, then of lists of points; NULL: no pair is
  // like it.
  const srSurfaceLaws* like[5];
  const srNormalLaw* normal;  // of all pairs
  double floor;               // its least approach velocity
  bool located;               // as srSurfaceLaws.located
  long long npair;            // pairs that can move against each other
  bool balls;                 // some of them are of two bounded shapes
  bool by_default, joined;    // all shapes that may touch, across joints too: pairs are filtered
  double tau;                 // s
  int most;                   // largest number of instances at the same time
  int first;                  // its first slot among the instances of srData
  int y, ny;                  // states: the first, and how many a slot has
  int z;                      // the first discrete state; SR_Z_CONTACT a slot
} srContactSet;

typedef struct srSensor {
  const char* name;
  int point;        // frame measured, -1: a formula
  int relative_to;  // point index of the frame it is measured in; 0: the ground
  int formula;      // of a formula sensor: its value in srData.formula; -1: it uses recorded quantities, see late
  int late;         // its index among the formulas of recorded quantities, which no law may use; else -1
  const char* unit;
  int value;                      // of a frame sensor used in laws: first of its 18 scalars in srData.sensor, else -1
  const struct srSensorLaw* law;  // sensor.h; NULL: none
  int law_point;                  // the frame that it measures; `point` is -1
  const double* parameter;        // of the law
  int nparameter;
} srSensor;
#define SR_SENSOR_SCALARS 18  // x y z, vx vy vz, wx wy wz, rxx rxy rxz ryx ... rzz

typedef struct srDriver {
  int dof, qdof;  // velocity and position coordinate (srData.jv, jq)
  srPlace place;
  const char* name;  // of the joint
} srDriver;

// Two frames constrained to each other. Its equations act on the pose and twist of frame point[1] observed from frame point[0] and
// expressed in its axes, or in those of the youngest common ancestor (docs/theory/loops.md).
typedef struct srClosure {
  const char* name;
  srPlace place;
  const struct srClosureKind* kind;  // src/model/closure.h
  const char* word;                  // of its type: "ball"
  int point[2];                      // observer and observed: a and b, b and a for a roll
  int common;                        // point that is the frame of the youngest common ancestor
  int row, np;                       // first position equation, their number
  int vrow, nvel;                    // first velocity equation, their number
  const char* row_name[6];           // position equations, then velocity equations: "translation along x"
  double frame[3][3];                // unit vectors: two cross axes, then the axis (ball: the normal)
  double axis2[3];                   // universal: unit, fixed in b
  double pitch, length, radius;      // m/rad, m, m
  bool has_axis, has_axis2, has_pitch, has_length, has_radius, has_normal, sphere, disc;  // what the file gave
  double tolerance;
  int joint;  // absolute formulation: the joint it represents, -1: a closure of the file
  bool soft;  // penalty formulation: its position equations are springs, not constraints (row is -1)
  const struct srClosureLaw* law;  // user: closure.h
  const double* parameter;         // of the law
  int nparameter;
} srClosure;

// The coordinate of a joint, measured between two free bodies (absolute formulation; src/dynamics/measurement.c).
typedef enum srMeasurementKind {
  SR_MEASUREMENT_ANGLE,     // atan2(e0.(R e1), e2.(R e3)), turns counted
  SR_MEASUREMENT_SLIDE,     // e0.d
  SR_MEASUREMENT_ROTATION,  // quaternion of R; rate: angular velocity in the body's axes
  SR_MEASUREMENT_ORIGIN,    // d; rate: velocity in the body's axes
} srMeasurementKind;

typedef struct srMeasurement {
  srMeasurementKind kind;
  int body;        // (R, d): pose of its frame, observed from its joint's frame on the parent
  int q, v;        // first joint coordinates
  int z;           // angle, rotation: first discrete state
  double e[4][3];  // unit vectors: e0, e2 in the joint's frame, e1, e3 in the body's
} srMeasurement;

// What an equation of a gear does to a member: the torque (of a rack: the force) is factor times the multiplier.
typedef struct srGearMesh {
  int body;
  bool rack;
  double factor;
} srGearMesh;

// A linear relation of joint coordinates: sum of factor[k] q[k] = offset, of a <coupling> or of two members of a <gear>.
typedef struct srCoupling {
  const char* name;
  srPlace place;
  int row;
  int gear;               // number of the <gear>, -1: a <coupling>
  int n;                  // coordinates
  const int *dof, *qdof;  // n: follower, then leaders (srData.jv, jq)
  const int* entry;       // n: place in the row of G, in relative coordinates
  const double* factor;   // n: the first is 1, so that the multiplier is the force on this coordinate
  double offset;
  srGearMesh mesh[2];  // of a <gear>: the member, the reference member
} srCoupling;

// A variable of a constraint formula, and the composition of its rate.
typedef struct srFormulaVariable {
  int kind;    // srVarKind: time, q, v, sensor
  int index;   // of the coordinate, or of the sensor
  int scalar;  // of a sensor: which of its 18 scalars
} srFormulaVariable;

// A constraint by formula: a position equation, or a velocity equation.
typedef struct srFormulaRow {
  const char* name;
  srPlace place;
  int row;
  bool velocity;
  int nvar;
  const srFormulaVariable* var;  // nvar
  int value;  // first of its values in srData.row_formula: the formula, its nvar derivatives, for a position equation their
              //   second derivative along the rates
  int arg;  // first of the rates of its variables in srData.row_arg
  double tolerance;
} srFormulaRow;

// Actions when a formula changes its sign.
typedef struct srEventAction {
  int y;      // state that is set, or ...
  int v;      // ... joint velocity; -1 where it is the other one
  int value;  // to this value of the event program
} srEventAction;

typedef struct srEvent {
  const char* name;
  srPlace place;
  signed char direction;  // +1 rising, -1 falling, 0 both
  bool stop;              // the run ends
  int naction;
  const srEventAction* action;
} srEvent;

typedef enum srCoordinateRole { SR_ROLE_NONE, SR_ROLE_INDEPENDENT, SR_ROLE_DEPENDENT } srCoordinateRole;

typedef enum srRowKind { SR_ROW_CLOSURE, SR_ROW_COUPLING, SR_ROW_FORMULA, SR_ROW_DRIVER } srRowKind;

typedef struct srRow {
  const char* name;  // "closure guide, rotation about y"
  srPlace place;
  srRowKind kind;
  int index;  // of the closure, coupling, constraint formula or driver
  double tolerance;
} srRow;

// Simulation settings of the file's <run>, or defaults. No equation of the model depends on them: sr_run_options starts from them.
typedef struct srRunSettings {
  double t_end, step, rtol, atol, every;  // every 0: t_end/1000
  const char* method;
  srContactMode contact;
  srImpactRule impact;
  srImpactFrictionRule impact_friction;
  srImpactOrder impact_order;
  srControlRule control;
  srFamily family;
  srTangentWay tangent;
  double rho, theta;
  double sleep, sleep_speed;  // s, 0: never; m/s and rad/s
  srStabilization stabilization;
  double alpha, beta;  // 1/s
  bool metric_identity;
} srRunSettings;

typedef struct srModel {
  const char* name;
  double gravity[4];  // m/s^2

  int nq, nv, ny, nz;  // positions, velocities, continuous states, discrete states
  int njq, njv;        // joint coordinates: used by formulas, laws, drivers and results. Relative: nq and nv
  srFormulation formulation;
  bool absolute;  // not relative: every body is a link of its own, free on the ground; joint coordinates are measured
  int nbody;      // without the ground; body arrays hold nbody + 1, [0] the ground
  int njoint;     // entries of the joint arrays, implied free joints included
  int njoint_given;  // joints of the file, welds counted; not free joints that are implied, nor the base of a URDF
  int nlink;         // links, the ground included
  int npoint;        // points; [0] is the ground's frame, [i] for i <= nbody the frame of body i
  int nforce, nsensor, ndriver;
  int ncontact;       // pairs of shapes that can touch, and gaps by formula
  int nformula;       // values of the law program
  int ndistance_arg;  // arguments of force laws between two points
  int nsensor_value;  // sensor scalars that laws use

  const char* const* body_name;  // nbody + 1
  const int* body_parent;   // nbody + 1; [0] is -1. The inbody vector of the ROBOTRAN manual is body_parent[1..nbody]
  const int* body_joint;    // nbody + 1; [0] is -1
  const int* body_link;     // nbody + 1: link that the body rides on
  const double* body_mass;  // nbody + 1, kg
  const double* body_com;   // nbody + 1 x 4, body frame
  const double* body_inertia;  // nbody + 1 x 9, about the centre of mass, body frame
  const srPlace* body_place;

  const char* const* joint_name;  // njoint, depth first from the ground, children in file order
  const int* joint_type;          // njoint, srJointType
  const int* joint_body;          // njoint
  const int* joint_implied;       // njoint: 1 when the file gave no joint
  const int* joint_q;             // njoint: first position coordinate (srData.jq)
  const int* joint_nq;
  const int* joint_v;  // njoint: first velocity coordinate (srData.jv)
  const int* joint_nv;
  const double* joint_armature;  // njv, kg or kg m^2
  const int* joint_role;         // njoint, srCoordinateRole: a hint which coordinates of a loop are independent

  const char* const* q_name;  // njq: "theta", "base.x", "base.qw"
  const char* const* q_unit;
  const char* const* v_name;  // njv
  const char* const* v_unit;
  const char* const* y_name;  // ny
  const double* q0;           // nq, initial state
  const double* v0;           // nv
  const double* y0;           // ny
  const double* z0;           // nz; absolute: time, then what each angle and rotation was then

  const int* link_parent;    // nlink; [0] is -1
  const int* link_type;      // nlink, srLinkType
  const int* link_q;         // nlink: first position coordinate
  const int* link_v;         // nlink: first velocity coordinate
  const int* link_joint;     // nlink: joint it is part of; [0] is -1
  const int* link_body;      // nlink: body at the end of that joint
  const double* link_tree;   // nlink x 16: pose of the link frame in the parent's link frame at q = 0
  const double* link_pitch;  // nlink, m/rad
  const double*
      link_inertia;       // nlink x 16: columns of the inertia about the link's origin, then m*com with the mass as 4th
  const int* dof_link;    // nv
  const int* dof_parent;  // nv: the coordinate before it on the path to the ground, -1 none
  const double* dof_armature;  // nv, kg or kg m^2, 1 where dof_massless is; absolute: 0, see joint_armature
  const int* dof_massless;  // nv: 0; else nothing with inertia moves with it, and srData.a of it means nothing: 1 + the
                            // first coordinate that it is coupled with
  int nmassless;            // how many of them; sr_run refuses such a model
  const int* dof_driver;    // nv: index of its driver or -1 (trees)
  int nangle;               // revolute and helical links
  const int* angle_link;    // nangle: their links
  bool has_armature;

  // Absolute formulations only.
  int nmeasurement;
  const srMeasurement* measurement;  // nmeasurement, by bodies
  const int* joint_point;            // njoint: point that is the joint's frame on the parent
  const int* jv_joint;               // njv: joint of a velocity coordinate
  const int* armature_place;  // njoint x 144: where its 12 x 12 entries are in srData.M, -1 none; NULL: no armature

  const char* const* point_name;  // npoint: "ground", "arm", "arm/tip"
  const int* point_body;          // npoint
  const int* point_link;          // npoint
  const double* point_pose;       // npoint x 16: pose of the point's frame in its link's frame

  const srForceElement* force;  // nforce
  const srSensor* sensor;       // nsensor
  const srDriver* driver;       // ndriver
  int ncollider, nset, ninstance;
  const srCollider* collider;  // ncollider
  const srContactSet* set;     // nset
  int ny_slot;  // the last ny_slot states belong to slots of instances: they have no names and no columns
  int nshape, nmesh;
  const srShape* shape;                      // nshape, in file order
  const struct srCollisionShape* collision;  // nshape: what contacts need of them
  const srMesh* mesh;                        // nmesh
  int nevent;
  const srEvent* event;  // nevent; the first nevent values of the event program are their formulas

  // Constraint equations G v + b = 0. First the np position equations (closures in file order, couplings, formulas, drivers),
  // then the velocity equations. A model whose only constraints are drivers is solved as a tree; otherwise it is constrained.
  int ng, np;
  int nclosure, ncoupling, nformula_row;
  int row_driver;                   // first equation of the drivers
  bool constrained;                 // ng > ndriver, or absolute
  const srClosure* closure;         // nclosure
  const srCoupling* coupling;       // ncoupling
  const srFormulaRow* formula_row;  // nformula_row
  // Constrained by couplings only: accelerations come from the recursion over the tree, with the couplings eliminated; methods that
  // need the equations have them too. NULL: not so, or the couplings are redundant.
  const struct srElimination* elimination;
  const srRow* row;            // ng
  const int* G_start;          // ng + 1: rows of G are sparse, with entries in srData.G ...
  const int* G_index;          // ... at these velocity coordinates, ascending
  const int* M_row;            // nv + 1: M is sparse too: its entries in srData.M ...
  const int* M_column;         // ... at these coordinates, ascending: those before and beyond it in the tree
  const int* M_start;          // nv + 1: the path of coordinate i to the ground (i, dof_parent[i], ...) begins here ...
  const int* M_place;          // ... 2 a coordinate of the path: where M_ij and M_ji are in srData.M
  int nrow_formula, nrow_arg;  // sizes of srData.row_formula and row_arg
  const int* q_given;          // nv: 1 where the file gave an initial position; -1: of an inerter, its equation sets it
  const int* v_given;          // nv: 1 where the file gave an initial velocity; -1 as above

  // of the formulation penalty
  double run_penalty_stiffness, run_penalty_rotation, run_penalty_damping;  // N/m, Nm/rad, s
  double run_penalty_inertia;                                               // kg m^2, 0: none

  struct srModelPrivate* priv;  // programs of the formulas, plugins, memory
} srModel;

SR_API const srRunSettings* sr_run_settings(const srModel* model);

// Checks everything once: names, topology, inertia, formulas. All errors go to messages, then SR_INPUT; warnings
// are there after SR_OK too. The spec may be destroyed afterwards.
SR_API srStatus sr_compile(const srSpec* spec, srMessages* messages, srModel** out);
// Locks joints that move nothing with mass or inertia at their initial position, by drivers, and names them in warnings: such a
// model compiles, but cannot run. Of coupled coordinates the first is locked. SR_INPUT: a ball or free joint
// is among them. Call before sr_compile.
SR_API srStatus sr_lock_massless(srSpec* spec, srMessages* messages);
SR_API void sr_model_destroy(srModel* model);
SR_API const char* sr_formulation_word(srFormulation formulation);

SR_API const char* sr_joint_word(srJointType type);
SR_API const char* sr_shape_word(srShapeType type);
SR_API int sr_body_find(const srModel* model, const char* name);    // -1: unknown
SR_API int sr_joint_find(const srModel* model, const char* name);   // -1: unknown
SR_API int sr_point_find(const srModel* model, const char* name);   // "body/point" or "body"; -1: unknown
SR_API int sr_sensor_find(const srModel* model, const char* name);  // -1: unknown
// The state in srData.y that a parameter is which is live or which events set; -1: its value is fixed in the model, or it is unknown.
SR_API int sr_parameter_find(const srModel* model, const char* name);

// Evaluation stages of a state (sr_evaluate): up to which the results in srData are valid for its state.
typedef enum srStage {
  SR_STAGE_NONE,
  SR_STAGE_POSITION,      // link_X, link_E, link_pose, jq
  SR_STAGE_VELOCITY,      // link_twist, jv
  SR_STAGE_FORCE,         // motion, sensor, formula, f, ydot, power
  SR_STAGE_ACCELERATION,  // a, lambda, rank, row_residual; of a constrained model also g, G, b, gamma, M, bias
  SR_STAGE_FRAMES         // link_accel: accelerations of links and frames
} srStage;

// Fields of srData that depend on the model's sizes:  X(name, count, doc). All double.
#define SR_DATA_FIELDS(X)                                                                                              \
  X(q, m->nq, "positions")                                                                                             \
  X(v, m->nv, "velocities")                                                                                            \
  X(a, m->nv, "accelerations dv/dt")                                                                                   \
  X(y, m->ny, "continuous states")                                                                                     \
  X(ydot, m->ny, "their rates")                                                                                        \
  X(z, m->nz, "discrete states")                                                                                       \
  X(tau, m->njv, "forces on joint coordinates, applied by the caller")                                                 \
  X(f, m->nv, "tau and all laws, generalized")                                                                         \
  X(bias, m->nv, "c of M a + c = f + G^T lambda, gravity included")                                                    \
  X(lambda, m->ng, "multipliers of all constraint equations; those of the drivers are the driving forces")             \
  X(g, m->np, "residuals of the position constraints")                                                                 \
  X(G, m->G_start[m->ng], "constraint Jacobian, sparse by rows: G_start, G_index")                                     \
  X(b, m->ng, "their part that depends on time: G v + b = 0")                                                          \
  X(gamma, m->ng, "-(dG/dt v + db/dt), so that G a = gamma")                                                           \
  X(M, m->M_row ? m->M_row[m->nv] : 0, "mass matrix with armature, sparse: M_row, M_column")                           \
  X(row_formula, m->nrow_formula, "values of the constraint formulas")                                                 \
  X(row_arg, m->nrow_arg, "rates of their variables")                                                                  \
  X(row_scatter, m->nformula_row || m->absolute ? m->nv : 0, "a row, not sparse; zero between uses")                   \
  X(row_work, m->constrained ? 2 * m->ng + 4 * m->nv : 0, "scratch of the solver of the constraints")                  \
  X(motion, 3 * m->ndriver, "value, rate and second derivative of every driver")                                       \
  X(power, SR_ACCOUNTS, "power of every account of the energy balance, W")                                             \
  X(formula, m->nformula, "values of the law program")                                                                 \
  X(distance_arg, m->ndistance_arg, "z and zdot of force laws between two points")                                     \
  X(sensor, m->nsensor_value, "sensor scalars that laws use")                                                          \
  X(link_X, 16 * m->nlink, "pose of the link in its parent's frame")                                                   \
  X(link_E, 12 * m->nlink, "columns of its transpose: parent to link coordinates")                                     \
  X(link_pose, 16 * m->nlink, "pose of the link in the ground frame")                                                  \
  X(link_twist, 8 * m->nlink, "angular velocity, velocity of the origin, in link axes")                                \
  X(link_accel, 8 * m->nlink, "angular acceleration, acceleration of the origin (of the point), in link axes")         \
  X(link_wrench, 8 * m->nlink, "moment about the origin, force, in link axes: laws, or scratch of the recursions")     \
  X(sincos, 8 * ((m->nangle + 3) / 4), "packs of four angles: 4 sines, 4 cosines")                                     \
  X(jq, m->absolute ? m->njq : 0, "joint coordinates; relative: q itself")                                             \
  X(jv, m->absolute ? m->njv : 0, "their rates; relative: v itself")                                                   \
  X(jf, m->absolute ? m->njv : 0, "tau and the laws on joint coordinates; relative: f itself")                         \
  X(jJ, m->absolute ? 12 * m->njv : 0, "jv = jJ (v of the parent, v of the body)")                                     \
  X(jbias, m->absolute ? m->njv : 0, "jv' = jJ a + jbias")                                                             \
  X(soft_lambda, m->formulation == SR_FORMULATION_PENALTY ? 6 * m->nclosure : 0,                                       \
    "multipliers of soft closures: springs")                                                                           \
  X(known, m->nq + m->nv + (m->absolute ? m->nz + 1 : 0), "q, v (z, t) that the kinematics belong to, up to `stage`")  \
  X(assembled, m->constrained ? 4 + m->nq + m->nv + m->nz : 0,                                                         \
    "1, residuals, t, q, v, z of the last state of sr_assemble")                                                       \
  X(work, sr_data_work(m), "scratch of the recursions and programs")

typedef struct srData {
  const struct srModel* model;
  double t;
  srStage stage;
#define SR_DATA_MEMBER(name, count, doc) double* name;
  SR_DATA_FIELDS(SR_DATA_MEMBER)
#undef SR_DATA_MEMBER
  int rank;                    // of the constraints at the last acceleration, constrained models
  bool closures_known;         // g and G of the loop closures belong to the kinematics
  long positions;              // how often the poses of the links were computed: what follows from them knows its own
  srStage measured;            // up to which jq, jv do, in absolute coordinates: integrators may not need them
  double row_residual;         // largest |G a - gamma| of the last acceleration
  double soft_energy;          // stored in soft closures, of the last sr_forces
  struct srDataPrivate* priv;  // solver of the constraints
  bool rigid;                  // contacts exert no forces: the method of the run solves them with the motion
  const double* held;          // branches of laws that jump, while a run holds them; NULL: as the state gives them
  struct srInstances* instances;  // of contacts of sets; NULL: the model has none
  double*
      element_power;  // f . x' of each force element (nforce) and contact set (nset), W, of the last sr_forces; NULL: not kept
  // Generalized forces of rigid contacts (nv), added to all others while a run evaluates its results; NULL: none.
  const double* contact_force;
  // Forces of set-valued friction, at the places of its elements (nforce), where a run has found them; NULL: there is none.
  const double* friction_force;
  // Rigid contacts with their forces while a run records a row; NULL: unknown.
  const struct srFoundContacts* found;
  // Whose members share the loops over links, while a run in steps has it: all of them are free bodies on the ground then (base/team.h). NULL: none.
  struct srTeam* team;
  // A stop request: called before every evaluation of a run, an assembly or a survey on this data, so it must
  // be cheap (read a flag). Nonzero ends the analysis, which keeps its results so far; from then on it must stay nonzero. NULL: none.
  int (*stop)(void* user);
  void* stop_user;
  // Why the last evaluation failed: the joint or body by name, the largest force and its source.
  char error_message[256];
} srData;

// One allocation, sized by the model; starts at the initial state. NULL when out of memory.
SR_API srData* sr_data_create(const srModel* model);
SR_API void sr_data_destroy(srData* data);
SR_API void sr_data_reset(const srModel* model, srData* data);  // initial state, t = 0
SR_API void sr_data_copy(const srModel* model, const srData* from, srData* to);

#ifdef __cplusplus
}
#endif
#endif
