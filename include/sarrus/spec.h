// srSpec: what the user wrote. Editable, nothing resolved yet; every number may be a formula.
//
//   srSpec* s = srs_create();
//   int arm = srs_add_body(s, SR_NO_OWNER, &(srBodyDef){.name = sr_text("arm")});
//   srs_add_joint(s, arm, &(srJointDef){.type = sr_text("revolute"), .axis = SR_NUMBERS(0, 1, 0), .q = sr_number(0.5)});
//   srs_add_inertial(s, arm, &(srInertialDef){.mass = sr_number(1), .com = SR_NUMBERS(0, 0, -1)});
//
// An all-zero definition struct is the default: meaning, unit and default of each attribute are in
// fields.h.
#ifndef SARRUS_SPEC_H
#define SARRUS_SPEC_H

#include <sarrus/base.h>
#include <sarrus/closure.h>
#include <sarrus/fields.h>
#include <sarrus/force.h>
#include <sarrus/function.h>
#include <sarrus/sensor.h>

#ifdef __cplusplus
extern "C" {
#endif

// One attribute as it was given: a text (name, word, formula, or list of formulas separated by blanks) or numbers.
// All zero: not given.
typedef struct srAttr {
  const char* text;
  const double* numbers;  // n of them; NULL with n == 1: see number
  double number;
  int n;
  srPlace place;
} srAttr;

static inline srAttr sr_text(const char* text) {
  srAttr a = {0};
  a.text = text;
  return a;
}
static inline srAttr sr_number(double number) {
  srAttr a = {0};
  a.number = number;
  a.n = 1;
  return a;
}
static inline srAttr sr_numbers(const double* numbers, int n) {
  srAttr a = {0};
  a.numbers = numbers;
  a.n = n;
  return a;
}
#define SR_NUMBERS(...)                                                                                                \
  sr_numbers((const double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))
static inline bool sr_given(srAttr a) { return a.text != NULL || a.n > 0; }

// Definition structs: srBodyDef, srJointDef, ... one srAttr per attribute, in the order of fields.h.
#define SR_DEF_MEMBER(member, word, kind, count, default_text, unit, doc) srAttr member;
typedef struct srModelDef {
  SR_MODEL_FIELDS(SR_DEF_MEMBER)
} srModelDef;
typedef struct srParameterDef {
  SR_PARAMETER_FIELDS(SR_DEF_MEMBER)
} srParameterDef;
typedef struct srOptionDef {
  SR_OPTION_FIELDS(SR_DEF_MEMBER)
} srOptionDef;
typedef struct srMaterialDef {
  SR_MATERIAL_FIELDS(SR_DEF_MEMBER)
} srMaterialDef;
typedef struct srPairDef {
  SR_PAIR_FIELDS(SR_DEF_MEMBER)
} srPairDef;
typedef struct srBodyDef {
  SR_BODY_FIELDS(SR_DEF_MEMBER)
} srBodyDef;
typedef struct srJointDef {
  SR_JOINT_FIELDS(SR_DEF_MEMBER)
} srJointDef;
typedef struct srInertialDef {
  SR_INERTIAL_FIELDS(SR_DEF_MEMBER)
} srInertialDef;
typedef struct srPointDef {
  SR_POINT_FIELDS(SR_DEF_MEMBER)
} srPointDef;
typedef struct srShapeDef {
  SR_SHAPE_FIELDS(SR_DEF_MEMBER)
} srShapeDef;
typedef struct srMeshDef {
  SR_MESH_FIELDS(SR_DEF_MEMBER)
} srMeshDef;
typedef struct srMotionDef {
  SR_MOTION_FIELDS(SR_DEF_MEMBER)
} srMotionDef;
typedef struct srTableDef {
  SR_TABLE_FIELDS(SR_DEF_MEMBER)
} srTableDef;
typedef struct srStateDef {
  SR_STATE_FIELDS(SR_DEF_MEMBER)
} srStateDef;
typedef struct srSensorDef {
  SR_SENSOR_FIELDS(SR_DEF_MEMBER)
} srSensorDef;

typedef struct srRecordDef {
  SR_RECORD_FIELDS(SR_DEF_MEMBER)
} srRecordDef;
typedef struct srEventDef {
  SR_EVENT_FIELDS(SR_DEF_MEMBER)
} srEventDef;
typedef struct srDriverDef {
  SR_DRIVER_FIELDS(SR_DEF_MEMBER)
} srDriverDef;
typedef struct srClosureDef {
  SR_CLOSURE_FIELDS(SR_DEF_MEMBER)
} srClosureDef;
typedef struct srCouplingDef {
  SR_COUPLING_FIELDS(SR_DEF_MEMBER)
} srCouplingDef;
typedef struct srGearDef {
  SR_GEAR_FIELDS(SR_DEF_MEMBER)
} srGearDef;
typedef struct srConstraintDef {
  SR_CONSTRAINT_FIELDS(SR_DEF_MEMBER)
} srConstraintDef;
typedef struct srTorqueDef {
  SR_TORQUE_FIELDS(SR_DEF_MEMBER)
} srTorqueDef;
typedef struct srDistanceForceDef {
  SR_DISTANCE_FORCE_FIELDS(SR_DEF_MEMBER)
} srDistanceForceDef;
typedef struct srSpringDef {
  SR_SPRING_FIELDS(SR_DEF_MEMBER)
} srSpringDef;
typedef struct srDamperDef {
  SR_DAMPER_FIELDS(SR_DEF_MEMBER)
} srDamperDef;
typedef struct srInerterDef {
  SR_INERTER_FIELDS(SR_DEF_MEMBER)
} srInerterDef;
typedef struct srBushingDef {
  SR_BUSHING_FIELDS(SR_DEF_MEMBER)
} srBushingDef;
typedef struct srTyreDef {
  SR_TYRE_FIELDS(SR_DEF_MEMBER)
} srTyreDef;
typedef struct srForceDef {
  SR_FORCE_FIELDS(SR_DEF_MEMBER)
} srForceDef;
typedef struct srFrictionDef {
  SR_FRICTION_FIELDS(SR_DEF_MEMBER)
} srFrictionDef;
typedef struct srContactDef {
  SR_CONTACT_FIELDS(SR_DEF_MEMBER)
} srContactDef;
typedef struct srExcludeDef {
  SR_EXCLUDE_FIELDS(SR_DEF_MEMBER)
} srExcludeDef;
typedef struct srUserDef {
  SR_USER_FIELDS(SR_DEF_MEMBER)
} srUserDef;
typedef struct srPluginDef {
  SR_PLUGIN_FIELDS(SR_DEF_MEMBER)
} srPluginDef;
typedef struct srRunDef {
  SR_RUN_FIELDS(SR_DEF_MEMBER)
} srRunDef;
#undef SR_DEF_MEMBER

typedef enum srElementKind {
#define SR_KIND(KIND, member, Name, word, where, doc) SR_ELEMENT_##KIND,
  SR_ELEMENT_LIST(SR_KIND)
#undef SR_KIND
      SR_ELEMENT_KINDS
} srElementKind;

// --set NAME=VALUE: overrides the value of a parameter of the model file. The value may be a formula of numbers and of
// parameters that are defined before.
typedef struct srSetting {
  const char* name;
  const char* value;
} srSetting;

typedef struct srSpec srSpec;

SR_API srSpec* srs_create(void);  // NULL when out of memory
SR_API void srs_destroy(srSpec* spec);

// Owner of elements that belong to no body (the top level), and of points and shapes of the ground.
#define SR_NO_OWNER (-1)
#define SR_GROUND (-2)

// Adds an element; def is the kind's definition struct, deeply copied. Returns its index among those of its kind, or -1
// when out of memory. place may be NULL.
SR_API int srs_add(srSpec* spec, srElementKind kind, int owner, const void* def, const srPlace* place);
SR_API int srs_count(const srSpec* spec, srElementKind kind);
SR_API const void* srs_get(const srSpec* spec, srElementKind kind, int i);  // the definition struct
SR_API int srs_owner(const srSpec* spec, srElementKind kind, int i);        // body index, SR_GROUND or SR_NO_OWNER
SR_API srPlace srs_place(const srSpec* spec, srElementKind kind, int i);
// Replaces an attribute of an element (index of the member in its definition struct). Returns false when out of memory.
SR_API bool srs_set(srSpec* spec, srElementKind kind, int i, int attribute, srAttr value);

// srs_add_body(spec, owner, &def), srs_add_joint(...), ... one for every kind.
#define SR_ADD(KIND, member, Name, word, where, doc)                                                                   \
  static inline int srs_add_##member(srSpec* spec, int owner, const sr##Name##Def* def) {                              \
    return srs_add(spec, SR_ELEMENT_##KIND, owner, def, NULL);                                                         \
  }
SR_ELEMENT_LIST(SR_ADD)
#undef SR_ADD

// Laws and functions by C code: `user` elements and formulas find them by name. The structs are copied, names too.
SR_API bool srs_register_impedance(srSpec* spec, const srImpedance* law);
SR_API bool srs_register_function(srSpec* spec, const srFunction* function);
// The same for <closure type="user"> and <sensor law>; names of equations are not copied.
SR_API bool srs_register_closure(srSpec* spec, const srClosureLaw* law);
SR_API bool srs_register_sensor(srSpec* spec, const srSensorLaw* law);
// A copy, with places, registered laws and folder. NULL when out of memory.
SR_API srSpec* srs_copy(const srSpec* spec);
// A copy in which every FORMULA attribute is evaluated to numbers. Laws keep their text, and the parameters
// stay for them, as numbers. NULL after errors, which go to messages, or when out of memory.
SR_API srSpec* srs_numbers(const srSpec* spec, srMessages* messages);
// Folder that relative FILE attributes are resolved in (set by the reader). NULL: the working folder.
SR_API bool srs_set_folder(srSpec* spec, const char* folder);
SR_API const char* srs_folder(const srSpec* spec);
// The files that sr_load has read for this spec: the model, what it includes, its motions, meshes and so on. A path as the working
// folder sees it; NULL beyond the last one.
SR_API int srs_file_count(const srSpec* spec);
SR_API const char* srs_file(const srSpec* spec, int i);
// Lets sr_compile load the shared libraries that <plugin> names and run their code: those that are, links resolved, in one of
// these folders, or, without any, in the folder of the model. Before this call a <plugin> is an error. False: out of memory.
SR_API bool srs_allow_plugins(srSpec* spec, const char* const* folders, int nfolder);

// The language as data: elements and attributes, for readers, writers, editors and the reference page.
typedef struct srField {
  const char* word;   // as in the file: "limit-stiffness"
  const char* kind;   // "NAME", "REF", "WORD", "FORMULA", "LAW", "ACTIONS", "FILE", "PATH"
  const char* count;  // number of values, or the allowed words of a WORD
  const char* default_text;
  const char* unit;
  const char* doc;
} srField;
typedef struct srElement {
  const char* word;
  const char* where;
  const char* doc;
  const srField* fields;
  int nfield;  // the definition struct is an array of so many srAttr
} srElement;
SR_API const srElement* srs_element(srElementKind kind);

#ifdef __cplusplus
}
#endif
#endif
