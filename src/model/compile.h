// Compilation in stages, each in its file; they share this context. Every stage reports all the errors it finds; a stage that
// depends on a failed one is not run.
#ifndef SR_COMPILE_H
#define SR_COMPILE_H

#include <sarrus/closure.h>
#include <sarrus/laws.h>
#include <sarrus/sensor.h>
#include <sarrus/spec.h>

#include "model/catalog.h"
#include "model/joint.h"
#include "model/private.h"

typedef struct srCompiler {
  const srSpec* spec;
  srMessages* messages;
  int errors_before;  // in messages before compilation
  srPool* pool;       // the model's: results
  srPool scratch;     // freed after compilation
  srModel* m;
  struct srModelPrivate* priv;
  srGraph* graph;
  const srCatalog* catalog;  // kinds of force laws, contacts and closures; the loader of plugins

  // formulas
  srNames parameters;  // name -> node
  srNames states;      // name -> state index
  srNames
      varying;  // parameters that events set or that are live: name -> their number; they are states with the rate 0 after those of <state>
  const char** of_varying;
  int nvarying, varying_capacity;
  srNames functions;      // motions, and functions of C code and plugins
  bool laws_open;         // laws may use t, q(), v(), sensor(), states
  bool surface_open;      // the formula of a surface, which may use u and v
  int distance_arg;       // argument of z while the law of a <link> is parsed, else -1
  bool records_open;      // a sensor's formula, which may use record()
  srPlace formula_place;  // of the formula that is parsed
  const char** known;     // words for "did you mean"
  int nknown, known_capacity;
  srNames lost;   // names of what could not be compiled, which is reported: those who use them repeat no error
  int nfollower;  // uses of such names in formulas so far; the formula has no value then

  // tree, in spec order (file order)
  int* body_of_spec;           // spec body -> body of the model
  int* spec_of_body;           // body of the model -> spec body; [0] unused
  int* joint_of_spec_body;     // spec body -> spec joint, -1 none
  int* inertial_of_spec_body;  // spec body -> spec inertial, -1 none
  double* body_pose;           // (nbody + 1) x 16: body frame in its link's frame
  srNames bodies, joints, points, sensors, materials, meshes;
  int force_point;     // point of action of the first <force>; the others follow
  int shape_point;     // frame of the first <shape>, where there are contacts; the others follow
  int contact_errors;  // of contacts: all of them are reported, unless others came first

  // absolute formulation
  const struct srAbsolute* absolute;  // NULL: relative
  srJointOut* joint_out;              // njoint: chains of the joints
  double* joint_frame;                // njoint x 16: joint frames in the parents' frames

  // formulas of recorded quantities
  srRecordRequest* quantity;
  int nquantity, quantity_capacity;
  srNode* late;  // of sensors
  int nlate, late_capacity;

  // laws
  srNode* roots;  // of the law program
  int nroot, root_capacity;
  srNode* driver_roots;      // 3 per driver
  srSwitchNode* switches;    // of drivers, then of constraint formulas, then of laws
  const char** switch_name;  // of their owners; NULL: a law
  int nswitch, switch_capacity, nswitch_name, switch_name_capacity;
  srForceElement* force;
  int nforce, force_capacity;
  struct srCollisionShape* collision;   // of the model's shapes
  const srSurfaceLaws* contact_before;  // the last one, NULL: none so far
  int* collider_of;                     // spec shape -> collider, -1 none; NULL: no sets
  srCollider* collider;
  int ncollider, collider_capacity;
  srContactSet* set;
  int nset, set_capacity;
  srNames laws;  // registered by C code and plugins: name -> impedances[]
  const srImpedance** impedances;
  int nimpedance, impedance_capacity;
  srNames friction_names, normal_names;  // laws of friction and contact that were registered
  const srFrictionLaw** friction_laws;
  const srNormalLaw** normal_laws;
  int nfriction, friction_capacity, nnormal, normal_capacity;
  srNames closure_names, sensor_names;  // laws of closures and sensors that were registered
  const srClosureLaw** closure_laws;
  const srSensorLaw** sensor_laws;
  int nclosure_law, closure_law_capacity, nsensor_law, sensor_law_capacity;
  srPlace registering;  // place of the plugin that is being loaded
  bool lacks_plugin;    // one could not be loaded, which is reported
} srCompiler;

// Index of a member in its definition struct, for the functions below.
#define SR_FIELD(Def, member) ((int)(offsetof(Def, member) / sizeof(srAttr)))

// ---------------------------------------------------------------------------------------------- compile_value.c
srPlace sr_c_place(const srCompiler* c, srElementKind kind, int i, int field);  // of the attribute, or of its element
srPlace sr_c_kept_place(srCompiler* c, srElementKind kind, int i);              // of the element, copied into the model
void sr_c_error(srCompiler* c, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
void sr_c_warning(srCompiler* c, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
const srAttr* sr_c_attr(const srCompiler* c, srElementKind kind, int i, int field);
// Text of a NAME, REF, WORD or FILE attribute, its default when not given; NULL when there is none.
const char* sr_c_text(srCompiler* c, srElementKind kind, int i, int field);
// Numbers of a FORMULA attribute (or of its default) into out, at most max; returns their number, 0 when not given and without
// default, -1 after an error. The count is checked against the field's.
int sr_c_numbers(srCompiler* c, srElementKind kind, int i, int field, double* out, int max);
// One number; false after an error.
bool sr_c_number(srCompiler* c, srElementKind kind, int i, int field, double* out);
// Nodes of a LAW attribute; as sr_c_numbers.
int sr_c_laws(srCompiler* c, srElementKind kind, int i, int field, srNode* out, int max);
// The node of a formula of u and v, the arguments 0 and 1; SR_NO_NODE after an error.
srNode sr_c_surface_law(srCompiler* c, int shape, int field);
srNode sr_c_law_text(srCompiler* c, const char* text, srPlace place);  // of one formula; SR_NO_NODE after an error
// Orientation from rot or rpy and position from at (field -1: none) as a pose; false after an error.
bool sr_c_pose(srCompiler* c, srElementKind kind, int i, int at, int rot, int rpy, double pose[16]);
// Enters "name" in its table; a duplicate is an error.
bool sr_c_new_name(srCompiler* c, srNames* names, const char* name, int index, const char* what, srPlace place);
// What has this name could not be compiled, which is reported.
void sr_c_lose(srCompiler* c, const char* name);
// Index of a name in a table, else an error with the nearest known one; -1. A name that was lost is not reported again.
int sr_c_find(srCompiler* c, const srNames* names, const char* name, const char* what, srPlace place);
void sr_c_know(srCompiler* c, const char* word);
bool sr_c_is_raw_call(const char* name);  // q, v, sensor, inertia, record: calls whose arguments are names
int sr_c_errors(const srCompiler* c);

// ------------------------------------------------------------------------------------------------------- stages
void sr_compile_varying(srCompiler* c);      // which parameters are set by events or live, before any evaluation
void sr_compile_parameters(srCompiler* c);   // compile_value.c
void sr_compile_tree(srCompiler* c);         // compile_tree.c: bodies, joints, links, coordinates
void sr_compile_free_bodies(srCompiler* c);  // compile_absolute.c: the tree as free bodies
void sr_compile_meshes(srCompiler* c);       // compile_shapes.c: surfaces; inertia needs them
void sr_compile_inertia(srCompiler* c);      // compile_inertia.c: bodies and links
void sr_compile_effective(srCompiler* c);    // compile_effective.c: inertias of the coordinates, after inertia
void sr_compile_shapes(srCompiler* c);       // compile_shapes.c: after inertia, which checks types, sizes and materials
void sr_compile_points(srCompiler* c);       // compile_points.c
void sr_compile_functions(srCompiler* c);    // compile_function.c: motions, plugins, registered laws and functions
void sr_compile_sensors(srCompiler* c);      // compile_law.c: states and sensors
void sr_compile_records(srCompiler* c);      // compile_record.c: after sensors
void sr_compile_drivers(srCompiler* c);      // compile_law.c
void sr_compile_forces(srCompiler* c);       // compile_force.c
void sr_compile_events(srCompiler* c);       // compile_event.c
void sr_compile_constraints(srCompiler* c);  // compile_constraint.c: constraint equations, after drivers and sensors
void sr_compile_massless(srCompiler* c);     // compile_massless.c: coordinates without inertia, after constraints
void sr_compile_elimination(srCompiler* c);  // compile_elimination.c: couplings without equations, after both
void sr_compile_constant_mass(srCompiler* c);  // compile_constant_mass.c: after elimination
void sr_compile_programs(srCompiler* c);       // compile_law.c
void sr_compile_run(srCompiler* c);            // compile.c: option and run
void sr_compile_unused(srCompiler* c);         // compile_unused.c: attributes without effect

// Appends the variables that a node depends on to n leaves, in the order of the graph, each once; time: with t. Returns their number.
int sr_c_leaves(srCompiler* c, srNode node, bool time, srNode** leaves, int n, int* capacity);
int sr_c_sensor_of(const srModel* m, int value, int* scalar);  // the sensor with this value, and which it is; -1: none
// The word of a function above one of the n leaves that a constraint formula may not contain there; NULL: none.
// velocity: the leaves are velocities, else coordinates. compile_nonsmooth.c
const char* sr_compile_nonsmooth(srCompiler* c, srNode node, const srNode* leaf, int n, bool velocity);

// Appends the equations of gears to a list of couplings in c->scratch. compile_gear.c
void sr_compile_gears(srCompiler* c, srCoupling** list, int* n, int* capacity);

// Parts of sr_compile_constraints in the absolute formulation. compile_absolute.c
int sr_compile_joint_closures(srCompiler* c, srClosure* out);  // fills at most njoint; returns their number
void sr_compile_free_ball(srCompiler* c, srClosure* closure);
void sr_compile_armature(srCompiler* c);  // pattern of M with the armature of joints
// The joint's chain of links and its frame in the parent's; false after an error. compile_tree.c
bool sr_c_expand_joint(srCompiler* c, int joint, const srJointKind* kind, srJointOut* out, double frame[16]);

// Spring, damper and stop of joint j: by stiffness and damping, or by natural frequency and damping ratio. False after an error.
// compile_effective.c
bool sr_c_joint_spring(srCompiler* c, int j, int joint, srJointLaw* out);
bool sr_c_joint_stop(srCompiler* c, int j, int joint, srJointLaw* out);
// n numbers, none of them below zero. compile_force.c
bool sr_c_not_negative(srCompiler* c, srElementKind kind, int i, int field, double* out, int n);
// A symmetric positive semidefinite 6 x 6 matrix, given by 6, 21 or 36 numbers: its upper triangle, row by row, and its diagonal.
// Returns how many numbers were given; -1 after an error. compile_symmetric.c
int sr_c_symmetric(srCompiler* c, srElementKind kind, int i, int field, double upper[21], double diagonal[6]);

// The mesh of a shape of this type; -1 after an error. compile_shapes.c
int sr_c_mesh(srCompiler* c, int shape);
bool sr_c_mesh_is_closed(srCompiler* c, const srMesh* mesh);  // compile_mesh_closed.c
// All numbers of an attribute in the pool; their count, -1 after an error. compile_shapes.c
int sr_c_all_numbers(srCompiler* c, srElementKind kind, int i, int field, srPool* pool, double** out);
// Surfaces that shape i is, for contacts: false where there is none. compile_triangles.c
struct srCollisionShape;
bool sr_c_mesh_surface(srCompiler* c, int i, const srShape* shape, struct srCollisionShape* out);
bool sr_c_field_heights(srCompiler* c, int i, srShape* shape);  // false after an error
bool sr_c_field_surface(srCompiler* c, const srShape* shape, struct srCollisionShape* out);
bool sr_c_smooth_surface(srCompiler* c, int i, struct srCollisionShape* out);  // compile_smooth.c

// Friction of joints, contacts of shapes and gaps: force elements. compile_friction.c, compile_contact.c
void sr_compile_tyre(srCompiler* c, int i);
void sr_compile_friction(srCompiler* c, int i);
void sr_compile_contact(srCompiler* c, int i);
void sr_compile_gap(srCompiler* c, int i);
void sr_compile_surfaces(srCompiler* c);  // compile_surface.c: direction of friction and velocity of shapes
void sr_compile_pairs(srCompiler* c);     // checks them
void sr_compile_excluded(srCompiler* c);
void sr_compile_joint_ends(srCompiler* c, int j, int joint, const char* law, double stiffness, double damping);
void sr_compile_sets(srCompiler* c);            // of contacts, after all elements. compile_set.c
void sr_compile_contact_states(srCompiler* c);  // discrete states of contacts, after all elements
// A new force element; its name is copied. compile_force.c
srForceElement* sr_c_add_force(srCompiler* c, const srImpedance* law, srAccount account, const char* name,
                               srPlace place);
// ... with laws of friction or contact, and ny states. compile_friction.c
srForceElement* sr_c_add_contact(srCompiler* c, const char* kind, const srSurfaceLaws* contact, const char* name,
                                 srPlace place);
// The law named by an attribute, or one of several by index; NULL after an error. compile_friction.c
const char* sr_c_choice(srCompiler* c, srElementKind kind, int i, int field, int choice);
const srFrictionLaw* sr_c_friction_law(srCompiler* c, const char* name, srPlace place);
const srNormalLaw* sr_c_normal_law(srCompiler* c, const char* name, srPlace place);
// Reports numbers that a law refuses as errors at their attributes; name: of the element, for the message, or NULL.
bool sr_c_check_friction(srCompiler* c, srElementKind kind, int i, const char* name, const srDryFriction* x,
                         double tau);
bool sr_c_check_normal(srCompiler* c, srElementKind kind, int i, const char* name, const srSurfaceLaws* x);
// An optional number: NaN when missing. False after an error.
bool sr_c_optional(srCompiler* c, srElementKind kind, int i, int field, double* out);
// Numbers of SR_BRISTLE_FIELDS from `first` on; warns of those that the law does not use. False after an error.
bool sr_c_bristle(srCompiler* c, srElementKind kind, int i, int first, srDryFriction* x, double* tau);
void sr_c_register_friction(srCompiler* c, const srFrictionLaw* law);
void sr_c_register_normal(srCompiler* c, const srNormalLaw* law);

// Index of a point "body/point" or "body"; -1 after an error.
int sr_c_point(srCompiler* c, srElementKind kind, int i, int field);
// Velocity coordinate of "joint" and "coordinate" attributes; -1 after an error. *qdof: its position coordinate, -1 for
// quaternion joints.
int sr_c_coordinate(srCompiler* c, srElementKind kind, int i, int joint, int coordinate, int* qdof, int* joint_index);
// The variable of a recorded quantity, by the name of its column. compile_record.c
srNode sr_c_record(srCompiler* c, const char* name);
// Adds a node to the law program; index of its value.
int sr_c_root(srCompiler* c, srNode node);
bool sr_c_of_time_alone(const srCompiler* c, srNode node);
// Numbers the jumps of formulas that affect the motion, before their program is made: the run holds their values within a step. name[i]: of the owner of
// root i, kept with the model; NULL: laws, whose owners are found later.
void sr_c_hold(srCompiler* c, const srNode* roots, int n, const char* const* name);
// Registers a law or a function, copied; a second one of the same name is an error. compile_function.c
void sr_c_register_impedance(srCompiler* c, const srImpedance* law);
void sr_c_register_function(srCompiler* c, const srFunction* function);
void sr_c_register_function2(srCompiler* c, const srFunction2* function);
void sr_c_register_closure(srCompiler* c, const srClosureLaw* law);
void sr_c_register_sensor(srCompiler* c, const srSensorLaw* law);
// The law that an attribute names; NULL after an error.
const srClosureLaw* sr_c_closure_law(srCompiler* c, const char* name, srPlace place);
const srSensorLaw* sr_c_sensor_law(srCompiler* c, const char* name, srPlace place);
// Numbers for a law that takes np of them (-1: any), kept with the model. Their number, or -1 after an error.
int sr_c_law_parameters(srCompiler* c, srElementKind kind, int i, int field, const char* law, int np,
                        const double** out);

#endif
