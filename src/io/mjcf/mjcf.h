// MJCF, taken apart: what the parts of the reader share. mjcf.c reads the file into this, body by body; the sections behind
// the bodies (equality, actuator, tendon, contact, keyframe, sensor) each have a file.
#ifndef SR_IO_MJCF_MJCF_H
#define SR_IO_MJCF_MJCF_H

#include "io/xml/reader.h"

typedef enum srMjcfJointType { SR_MJCF_FREE, SR_MJCF_BALL, SR_MJCF_SLIDE, SR_MJCF_HINGE } srMjcfJointType;

// A body of MJCF. Several joints in one body are several native bodies, all but the last without mass; `name` is the last.
// Our body's frame is its last joint's frame at q = 0: the anchor, with the axes of the MJCF body.
typedef struct srMjcfBody {
  const char* word;  // name in the file, NULL: none
  const char* name;  // in the spec; "ground" for the world
  int index;         // in the spec; SR_GROUND for the world
  int parent;        // index in srMjcf.body; -1 for the world, which is body 0
  double inner[16];  // frame of the MJCF body in our body's frame
  double outer[16];  // frame of the MJCF body in the world at qpos0
  bool welded;       // no joint between it and the world
  double mass;       // kg, of its <inertial> or geoms
  double gravcomp;   // part of its weight that is carried
  const char* childclass;
  int scope;  // of its node
  srPlace place;
} srMjcfBody;

typedef struct srMjcfJoint {
  const char* word;  // name in the file, NULL: none
  const char* name;  // in the spec
  srMjcfJointType type;
  int body;         // index in srMjcf.body
  int index;        // of the <joint> in the spec
  int qpos, qvel;   // first coordinates in MuJoCo's order: depth first, as in Sarrus
  double ref;       // hinge, slide: q at qpos0, rad or m
  double range[2];  // of a limited one, rad or m, with limits switched off too; else 0 0
  srPlace place;
  const srXmlNode* node;
  const char* childclass;  // around it, for sr_mjcf_attribute
} srMjcfJoint;

typedef struct srMjcfSite {
  const char* word;
  int body;
  double pose[16];    // in the MJCF body's frame
  const char* point;  // "body/point" in the spec
} srMjcfSite;

typedef struct srMjcfGeom {
  const char* word;
  const char* shape;  // "body/shape" in the spec; NULL: it was left out (hfield, a mesh without triangles)
  const char* type;   // sphere, capsule, ... as in the file; NULL: left out
  int index;          // of the <shape> in the spec
  int body;
  double pose[16];  // in the MJCF body's frame
  double size[3];   // as in the file, fromto resolved
  int contype, conaffinity, condim, priority;
  double friction[3], solref[2], solimp[5], margin, gap;
  srPlace place;
} srMjcfGeom;

typedef struct srMjcfTendon {  // fixed: length = sum of coef q
  const char* word;
  int n;
  const int* joint;  // index in srMjcf.joint
  const double* coef;
  srPlace place;
} srMjcfTendon;

// A class of defaults: the elements of its <default>, and the class around it.
typedef struct srMjcfClass {
  const char* name;
  int parent;  // index in srMjcf.classes; -1 for the main class, which is 0
  const srXmlNode** node;
  int nnode, node_capacity;
  struct srMjcfGain* drive;  // of actuators; NULL: not worked out yet
} srMjcfClass;

// What an actuator makes of its control and its length, before clamping; numbers as in <general>.
typedef struct srMjcfGain {
  const char *dyntype, *gaintype, *biastype;
  double time;  // dynprm0
  double gain[3], bias[3];
} srMjcfGain;

// <compiler> of a model: how the content of its files is interpreted.
typedef struct srMjcfCompiler {
  bool degree, autolimits, balance_inertia;
  char euler_sequence[4];
  int inertia_from_geom;        // 0 never, 1 always, 2 where a body has no <inertial>
  int least_group, most_group;  // groups of geoms that give inertia
  double bound_mass, bound_inertia;
  double total_mass;        // <= 0: as it comes
  const char* mesh_folder;  // "": that of the file
  const char* folder;       // of the model's file, seen from that of the main file; "": the same
  bool strip_path, exact_mesh_inertia, fit_aabb;
  int main_class;  // index in srMjcf.classes
} srMjcfCompiler;

typedef struct srMjcfTree {  // a file that was read
  const char* real;
  const srXmlNode* root;  // NULL: it had errors, already reported
} srMjcfTree;

typedef struct srMjcf {
  srReader* r;
  const srImport* how;
  const srXmlNode* root;     // its children are those of all included files, in order
  srMjcfCompiler* compiler;  // by scope of a node: of the file itself, then of each model that it attaches
  int ncompiler, compiler_capacity;
  srNames attachments;  // model and prefix
  srMjcfTree* trees;
  int ntree, tree_capacity;
  bool with_limits, with_friction, with_springs, with_dampers;  // of joints: <flag>
  double gravity[3];
  bool gravity_given;
  srPlace gravity_place;
  srPlace* bad;  // of attributes whose numbers were reported
  int nbad, bad_capacity;
  srNames errors;  // already reported: "file:line:column text"
  // assets
  struct srMjcfMesh* mesh;
  int nmesh, mesh_capacity;
  struct srMjcfMaterial* material;
  int nmaterial, material_capacity;
  const srXmlNode** hfield;
  int nhfield, hfield_capacity;
  srNames mesh_names, material_names, hfield_names;
  // names: of the file (to the index in `spec_name`), and those of the spec that they become
  srNames given_bodies, given_joints;
  const char** spec_name;
  int nspec_name, spec_name_capacity;
  int unnamed_bodies, unnamed_geoms, unnamed_sites;
  struct srMjcfInertia* inertia;  // one a body
  int ninertia, inertia_capacity;
  struct srMjcfClass* classes;
  int nclass, class_capacity;
  srNames class_names;
  srMjcfBody* body;
  int nbody, body_capacity;
  srMjcfJoint* joint;
  int njoint, joint_capacity;
  srMjcfSite* site;
  int nsite, site_capacity;
  srMjcfGeom* geom;
  int ngeom, geom_capacity;
  srMjcfTendon* tendon;
  int ntendon, tendon_capacity;
  struct srMjcfActuator* actuator;  // law.h
  int nactuator, actuator_capacity;
  srNames body_names, joint_names, site_names, geom_names, tendon_names, actuator_names;  // words of the file -> index
  srNames points, shapes, bodies, joints;                                                 // names taken in the spec
  srNames identifiers, sensors, constraints;  // names taken by the sections; made when first used
  int nq, nv;
  double timestep;         // s
  srPlace timestep_place;  // line 0: not given
} srMjcf;

// ------------------------------------------------------------------------------------------- default.c, value.c
// An attribute of an element: its own, or that of its class, of the childclass around it, or of the main class. NULL: none.
// All actuators share one set of defaults.
const srXmlAttribute* sr_mjcf_attribute(const srMjcf* m, const srXmlNode* node, const char* childclass,
                                        const char* name);
// Numbers of it; as sr_reader_numbers, 0: not given.
int sr_mjcf_numbers(srMjcf* m, const srXmlNode* node, const char* childclass, const char* name, int least, int most,
                    double* out);
// The same of an attribute at hand. Numbers beyond 1e30 are refused; an error of an attribute is reported once.
int sr_mjcf_values(srMjcf* m, const srXmlAttribute* a, int least, int most, double* out);
// An error reported once, though copies of an element (<replicate>) and users of a default class raise it again.
void sr_mjcf_error(srMjcf* m, srPlace place, const char* format, ...) SR_PRINTF(3, 4);
bool sr_mjcf_number(srMjcf* m, const srXmlNode* node, const char* childclass, const char* name, double value,
                    double* out);
bool sr_mjcf_flag(srMjcf* m, const srXmlNode* node, const char* childclass, const char* name,
                  bool value);  // true, false
// pos with quat, axisangle, euler, xyaxes or zaxis. False after an error.
bool sr_mjcf_pose(srMjcf* m, const srXmlNode* node, const char* childclass, double pose[16]);
// Attributes of node that are in none of the lists ("a|b|c"): ignored, or errors where they are no words of MJCF.
void sr_mjcf_check_attributes(srMjcf* m, const srXmlNode* node, const char* used, const char* ignored);

// Index of a thing that an attribute names; -1 after an error with the nearest name, or when it is not given.
int sr_mjcf_find(srMjcf* m, const srXmlNode* node, const char* attribute, const srNames* names, const char* what);
int sr_mjcf_find_value(srMjcf* m, const srXmlAttribute* a, const srNames* names, const char* what);

// The same with its distance: 0 the element itself, then outwards through its classes.
const srXmlAttribute* sr_mjcf_attribute_level(const srMjcf* m, const srXmlNode* node, const char* childclass,
                                              const char* name, int* level);
// The class of an element; -1: an unknown one, which is reported elsewhere.
int sr_mjcf_class(const srMjcf* m, const srXmlNode* node, const char* childclass);
void sr_mjcf_start_defaults(srMjcf* m);
void sr_mjcf_defaults(srMjcf* m, const srXmlNode* section);
// False after an error: the attribute names a class that is not there.
bool sr_mjcf_check_class(srMjcf* m, const srXmlNode* node, const char* attribute);
// Which of the words a is; `value` where it is NULL or, after an error, none of them.
int sr_mjcf_choice(srMjcf* m, const srXmlAttribute* a, const char* const* words, int n, int value);
void sr_mjcf_turn(const double axis[3], double angle, double pose[16]);  // sets the rotation alone; axis unit, rad
void sr_mjcf_turn_z(const double z[3], double pose[16]);                 // ... that brings 0 0 1 to the unit vector z
// In the units of the node's file.
void sr_mjcf_euler(const srMjcf* m, const srXmlNode* node, const double angles[3], double pose[16]);
double sr_mjcf_angle(const srMjcf* m, const srXmlNode* node, double value);  // rad

// ------------------------------------------------------------------------------------------------------------ the core
typedef struct srMjcfFile {  // a file that is being read, and who includes or attaches it
  const char* real;
  const char* folder;  // seen from the model's; "": the same
  const struct srMjcfFile* outer;
  int depth;
} srMjcfFile;
// The file's tree with its includes, then with its replicates written out. NULL: too much. include.c
srXmlNode* sr_mjcf_include(srMjcf* m, const srXmlNode* root);
srXmlNode* sr_mjcf_replicate(srMjcf* m, srXmlNode* root);
#define SR_MJCF_SUFFIX "(suffix)"  // of an <attach> in a replicate: what is behind the names; no file can have it
srMjcfFile sr_mjcf_main_file(srMjcf* m, const srXmlNode* root);
// The tree of the file that a <model> names, with its includes, as a scope of its own; `here` becomes the file. NULL after
// an error.
// Name of a <model> that gives none: that of the model in its file, as MuJoCo has it. NULL after an error.
const char* sr_mjcf_model_word(srMjcf* m, const srXmlNode* node, const srMjcfFile* outer);
srXmlNode* sr_mjcf_open_model(srMjcf* m, const srXmlNode* node, const srMjcfFile* outer, srMjcfFile* here);
// The tree with the models that it attaches, in place. NULL after an error. attach.c
srXmlNode* sr_mjcf_attach(srMjcf* m, srXmlNode* root, const srMjcfFile* file);
// The settings of the model that a node belongs to. option.c
const srMjcfCompiler* sr_mjcf_compiler_of(const srMjcf* m, const srXmlNode* node);
int sr_mjcf_new_compiler(srMjcf* m, const char* folder);  // with MuJoCo's settings; its scope

void sr_mjcf_compiler(srMjcf* m, const srXmlNode* section);  // option.c
void sr_mjcf_option(srMjcf* m, const srXmlNode* section);
void sr_mjcf_put_options(srMjcf* m);  // name, gravity and step into the spec

// What of a mesh has mass: tetrahedra all counted as positive, its inside, that of its convex hull, its surface.
typedef enum srMjcfFilling { SR_MJCF_LEGACY, SR_MJCF_EXACT, SR_MJCF_CONVEX, SR_MJCF_SHELL } srMjcfFilling;
typedef struct srMjcfMesh {
  const srXmlNode* node;
  const char* word;
  const char* name;  // in the spec, NULL: not used yet
  double scale[3];
  double inverse[16];  // of the frame given by refpos, refquat
  bool failed;
  bool weighed;
  srMjcfFilling filling;
  double measure, com[3], J[9];  // volume or area, 0: not known; J about com, by density
} srMjcfMesh;
typedef struct srMjcfMaterial {
  double rgba[4];
} srMjcfMaterial;
void sr_mjcf_assets(srMjcf* m, const srXmlNode* section);  // asset.c
// Sizes and heights of a height field into a shape; false: it has none here, which is reported. hfield.c
bool sr_mjcf_hfield(srMjcf* m, const srXmlNode* hfield, srShapeDef* def);
const char* sr_mjcf_mesh_word(srMjcf* m, const srXmlNode* node);  // its name, or that of its file; NULL: neither
const char* sr_mjcf_behind_slash(const char* path);
// The <mesh> in the spec; NULL: it has no triangles, which is reported once. mesh.c
const char* sr_mjcf_mesh_use(srMjcf* m, int mesh);
// The one that its file requests; shell: of a geom that does, in files of older versions.
srMjcfFilling sr_mjcf_mesh_filling(srMjcf* m, const srMjcfMesh* mesh, bool shell);
const srMeshDef* sr_mjcf_mesh_def(const srMjcf* m, const srMjcfMesh* mesh);   // NULL: it has no triangles
bool sr_mjcf_mesh_weigh(srMjcf* m, srMjcfMesh* mesh, srMjcfFilling filling);  // false: it has no volume, or area

void sr_mjcf_collect_names(srMjcf* m, const srXmlNode* section);  // body.c
void sr_mjcf_start_world(srMjcf* m);
void sr_mjcf_worldbody(srMjcf* m, const srXmlNode* section);
// Our name of a body or joint of the file, or a new one from `stem`.
const char* sr_mjcf_new_name(srMjcf* m, const char* stem, int* count, srNames* taken);
const char* sr_mjcf_our_name(const srMjcf* m, const srNames* given, const char* word);

// An element inside a body: its enclosing <frame>s, and the childclass that holds for it.
typedef struct srMjcfInside {
  const srXmlNode* node;
  const char* childclass;
  double frame[16];  // of the <frame>s around it, in the body's
} srMjcfInside;
// Adds our bodies and joints for a body with these joints; fills body->name, index, inner. `pose`: the body in its parent.
// joint.c
void sr_mjcf_joints(srMjcf* m, int body, const double pose[16], const srMjcfInside* joints, int n);
// Springs and dampers of joints that are given by time and damping ratio; behind the bodies.
void sr_mjcf_spring_dampers(srMjcf* m);
void sr_mjcf_gravity_compensation(srMjcf* m);                   // passive.c
void sr_mjcf_stops(srMjcf* m);                                  // behind all sections; limit.c
void sr_mjcf_geom(srMjcf* m, int body, const srMjcfInside* x);  // geom.c
// Size of a primitive of type g->type that holds or resembles the mesh, and its place: g->pose is the mesh's before. False: it
// has no volume. fit.c
bool sr_mjcf_fit(srMjcf* m, srMjcfMesh* mesh, bool aabb, srMjcfGeom* g);
void sr_mjcf_site(srMjcf* m, int body, const srMjcfInside* x);

// Mass of a body in the frame of the MJCF body. inertia.c
typedef struct srMjcfInertia {
  bool given;  // by <inertial>
  double mass, com[3], J[9];
  srPlace place;
} srMjcfInertia;
void sr_mjcf_inertial(srMjcf* m, int body, const srMjcfInside* x);
// The geom's mass is added to its body's.
typedef struct srMjcfMatter {
  double mass, density;  // mass < 0: by density
  bool shell;            // on the surface: the density is that of an area
} srMjcfMatter;
void sr_mjcf_geom_inertia(srMjcf* m, const srMjcfGeom* geom, const srMjcfMatter* matter);
void sr_mjcf_mesh_inertia(srMjcf* m, const srMjcfGeom* geom, int mesh, const srMjcfMatter* matter);
bool sr_mjcf_wants_geoms(const srMjcf* m, int body);
void sr_mjcf_put_inertia(srMjcf* m);  // bounds, balance, total mass; into the spec

// ---------------------------------------------------------------------------------------------------------- sections
// Each reads all elements of its section, after the bodies; all sections of that name in the file, one after the other.
void sr_mjcf_tendons(srMjcf* m, const srXmlNode* section);             // tendon.c; before the others
void sr_mjcf_equalities(srMjcf* m, const srXmlNode* section);          // equality.c
void sr_mjcf_actuators(srMjcf* m, const srXmlNode* section);           // actuator.c
bool sr_mjcf_gain(srMjcf* m, const srXmlNode* node, srMjcfGain* out);  // gain.c; false after an error
void sr_mjcf_contacts(srMjcf* m, const srXmlNode* section);            // contact.c: pair and exclude are noted
void sr_mjcf_touching(srMjcf* m);                                      // contact.c: once, behind all sections
void sr_mjcf_keyframes(srMjcf* m, const srXmlNode* section);           // keyframe.c
void sr_mjcf_sensors(srMjcf* m, const srXmlNode* section);             // sensor.c

#endif
