// Words used alike in model files, flags, JSON and code, listed once. A new joint or integrator is its own file and one
// row here: enumerations, tables, the reader's checks and the reference of the format follow.
#ifndef SARRUS_WORDS_H
#define SARRUS_WORDS_H

// Kinds of joints: X(NAME, word); word is defined in src/model/joint_<word>.c
#define SR_JOINT_LIST(X)                                                                                               \
  X(REVOLUTE, revolute)                                                                                                \
  X(PRISMATIC, prismatic)                                                                                              \
  X(HELICAL, helical)                                                                                                  \
  X(CYLINDRICAL, cylindrical)                                                                                          \
  X(UNIVERSAL, universal)                                                                                              \
  X(BALL, ball)                                                                                                        \
  X(PLANAR, planar)                                                                                                    \
  X(FREE, free)                                                                                                        \
  X(WELD, weld)

// Kinds of shapes: X(NAME, word)   (docs/using/format.md, docs/robots/meshes.md)
#define SR_SHAPE_LIST(X)                                                                                               \
  X(SPHERE, "sphere")                                                                                                  \
  X(BOX, "box")                                                                                                        \
  X(CYLINDER, "cylinder")                                                                                              \
  X(CAPSULE, "capsule")                                                                                                \
  X(ELLIPSOID, "ellipsoid")                                                                                            \
  X(CONE, "cone")                                                                                                      \
  X(PLANE, "plane")                                                                                                    \
  X(HULL, "hull")                                                                                                      \
  X(MESH, "mesh")                                                                                                      \
  X(HEIGHTFIELD, "heightfield")                                                                                        \
  X(SURFACE, "surface")

// Integrators: X(name, word); sri_<name>_ops is defined in src/integrate/<name>.c; cvode, ida: src/sundials
#define SR_METHOD_LIST(X)                                                                                              \
  X(auto, "auto")                                                                                                      \
  X(euler, "euler")                                                                                                    \
  X(rk4, "rk4")                                                                                                        \
  X(dopri5, "dopri5")                                                                                                  \
  X(mdop5, "mdop5")                                                                                                    \
  X(hem5, "hem5")                                                                                                      \
  X(phem56, "phem56")                                                                                                  \
  X(genalpha_index3, "genalpha-index3")                                                                                \
  X(genalpha_index2, "genalpha-index2")                                                                                \
  X(genalpha_ggl, "genalpha-ggl")                                                                                      \
  X(radau5, "radau5")                                                                                                  \
  X(cvode, "cvode")                                                                                                    \
  X(ida, "ida")                                                                                                        \
  X(moreau, "moreau")                                                                                                  \
  X(moreau_compliant, "moreau-compliant")

// How contacts act: X(NAME, word)   (docs/theory/time-stepping.md)
#define SR_CONTACT_MODE_LIST(X)                                                                                        \
  X(CONTINUOUS, "continuous")                                                                                          \
  X(TIMESTEPPING, "timestepping")                                                                                      \
  X(EVENT, "event")                                                                                                    \
  X(HYBRID, "hybrid")
typedef enum srContactMode {
  SR_CONTACT_CONTINUOUS,    // by their force laws
  SR_CONTACT_TIMESTEPPING,  // rigid: impulses in steps of fixed length, by the method moreau
  SR_CONTACT_EVENT,         // rigid: constraint equations while a contact is closed, impulses at impacts
  SR_CONTACT_HYBRID,        // by events while they are sparse, else by time-stepping
} srContactMode;

// Laws of restitution at impacts of rigid contact by events: X(NAME, word)   (docs/theory/event-driven.md)
#define SR_IMPACT_RULE_LIST(X)                                                                                         \
  X(AUTO, "auto")                                                                                                      \
  X(NEWTON, "newton")                                                                                                  \
  X(POISSON, "poisson")                                                                                                \
  X(STRONGE, "stronge")
typedef enum srImpactRule {
  SR_IMPACT_RULE_AUTO,  // Poisson's law where there is friction, else Newton's
  SR_IMPACT_RULE_NEWTON,
  SR_IMPACT_RULE_POISSON,
  SR_IMPACT_RULE_STRONGE,  // the work of the normal impulse in the expansion is e^2 of that in the compression
} srImpactRule;

// Friction in these impacts: X(NAME, word)
#define SR_IMPACT_FRICTION_LIST(X)                                                                                     \
  X(AUTO, "auto")                                                                                                      \
  X(ALGEBRAIC, "algebraic")                                                                                            \
  X(SHOCK, "shock")
typedef enum srImpactFrictionRule {
  SR_IMPACT_FRICTION_AUTO,       // shock with Stronge's law, else algebraic
  SR_IMPACT_FRICTION_ALGEBRAIC,  // opposite to the slip after each phase
  SR_IMPACT_FRICTION_SHOCK,      // opposite to the slip at every moment of the impact: it may turn, stop and reverse
} srImpactFrictionRule;

// Impacts of several contacts at one instant: X(NAME, word)
#define SR_IMPACT_ORDER_LIST(X)                                                                                        \
  X(AUTO, "auto")                                                                                                      \
  X(SIMULTANEOUS, "simultaneous")                                                                                      \
  X(SEQUENTIAL, "sequential")
typedef enum srImpactOrder {
  SR_IMPACT_ORDER_AUTO,          // sequential with the shock law of friction, else simultaneous
  SR_IMPACT_ORDER_SIMULTANEOUS,  // all contacts that touch together
  SR_IMPACT_ORDER_SEQUENTIAL,    // one after the other, the fastest approach first
} srImpactOrder;

// Step-size rules: X(NAME, word)   (docs/theory/integrators.md)
#define SR_CONTROL_LIST(X)                                                                                             \
  X(DEFAULT, "default")                                                                                                \
  X(POSITIONS, "positions")                                                                                            \
  X(FIXED, "fixed")
typedef enum srControlRule {
  SR_CONTROL_DEFAULT,  // PI controller, exponent 1/(p+1)
  // The error of positions alone, h = s h (tol/|e|)^(1/p): Haddouni et al. (2017), eq 29, 30, 33, with its Table 1 (sri_positions_options)
  SR_CONTROL_POSITIONS,
  SR_CONTROL_FIXED,  // all of length `step`; the error is not used
} srControlRule;

// Parameters of the generalized-alpha methods from rho: X(NAME, word)
#define SR_FAMILY_LIST(X)                                                                                              \
  X(CHUNG_HULBERT, "chung-hulbert")                                                                                    \
  X(HHT, "hht")                                                                                                        \
  X(NEWMARK, "newmark")
typedef enum srFamily { SR_FAMILY_CHUNG_HULBERT, SR_FAMILY_HHT, SR_FAMILY_NEWMARK } srFamily;

// Where implicit methods take their matrix from: X(NAME, word)
#define SR_TANGENT_LIST(X)                                                                                             \
  X(EXACT, "exact")                                                                                                    \
  X(DIFFERENCE, "difference")
typedef enum srTangentWay { SR_TANGENT_EXACT, SR_TANGENT_DIFFERENCE } srTangentWay;

// Where a run starts: X(NAME, word)   (docs/using/cli.md)
#define SR_START_LIST(X)                                                                                               \
  X(GIVEN, "given")                                                                                                    \
  X(INSIDE_LIMITS, "inside-limits")                                                                                    \
  X(APART, "apart")                                                                                                    \
  X(EQUILIBRIUM, "equilibrium")
typedef enum srStart {
  SR_START_GIVEN,          // as given by the file or the caller
  SR_START_INSIDE_LIMITS,  // the nearest start inside the joint limits
  SR_START_APART,          // the nearest start where no shapes with a contact overlap
  SR_START_EQUILIBRIUM,    // a static equilibrium, from the given start
} srStart;

// Kinds of closures: X(NAME, kind, word); kind is defined in src/constraint/closure_<kind>.c, and may have two words.
#define SR_CLOSURE_LIST(X)                                                                                             \
  X(BODY, body, "body")                                                                                                \
  X(WELD, body, "weld")                                                                                                \
  X(BALL, ball, "ball")                                                                                                \
  X(ROD, rod, "rod")                                                                                                   \
  X(DISTANCE, rod, "distance")                                                                                         \
  X(REVOLUTE, revolute, "revolute")                                                                                    \
  X(PRISMATIC, prismatic, "prismatic")                                                                                 \
  X(CYLINDRICAL, cylindrical, "cylindrical")                                                                           \
  X(UNIVERSAL, universal, "universal")                                                                                 \
  X(PLANAR, planar, "planar")                                                                                          \
  X(HELICAL, helical, "helical")                                                                                       \
  X(POINT_LINE, point_line, "point-line")                                                                              \
  X(POINT_PLANE, point_plane, "point-plane")                                                                           \
  X(ROLL, roll, "roll")                                                                                                \
  X(USER, user, "user")

// Ways to enforce the constraints while an explicit method steps: X(NAME, word)
#define SR_STABILIZATION_LIST(X)                                                                                       \
  X(NONE, "none")                                                                                                      \
  X(BAUMGARTE, "baumgarte")                                                                                            \
  X(PROJECTION, "projection")                                                                                          \
  X(PARTITION, "partition")                                                                                            \
  X(AUGMENTED, "augmented")

typedef enum srStabilization {
#define SR_STABILIZATION_ENUM(NAME, word) SR_STABILIZATION_##NAME,
  SR_STABILIZATION_LIST(SR_STABILIZATION_ENUM)
#undef SR_STABILIZATION_ENUM
} srStabilization;

// What the coordinates of the equations are: X(NAME, word)   (docs/theory/formulations.md)
#define SR_FORMULATION_LIST(X)                                                                                         \
  X(RELATIVE, "relative")                                                                                              \
  X(ABSOLUTE, "absolute")                                                                                              \
  X(PENALTY, "penalty")

// Friction laws: X(name, word); sr_friction_<name> is defined in src/law/friction_<name>.c   (docs/theory/friction.md)
#define SR_FRICTION_LIST(X)                                                                                            \
  X(coulomb, "coulomb")                                                                                                \
  X(threlfall, "threlfall")                                                                                            \
  X(bengisu_akay, "bengisu-akay")                                                                                      \
  X(ambrosio, "ambrosio")                                                                                              \
  X(dahl, "dahl")                                                                                                      \
  X(lugre, "lugre")                                                                                                    \
  X(kikuuwe, "kikuuwe")                                                                                                \
  X(iwan, "iwan")

// Normal laws of continuous contact: X(name, word); sr_normal_<name> in src/law/normal_<name>.c   (docs/theory/contact.md)
#define SR_NORMAL_LIST(X)                                                                                              \
  X(hooke, "hooke")                                                                                                    \
  X(hertz, "hertz")                                                                                                    \
  X(kelvin_voigt, "kelvin-voigt")                                                                                      \
  X(hunt_crossley, "hunt-crossley")                                                                                    \
  X(lankarani_nikravesh, "lankarani-nikravesh")                                                                        \
  X(flores, "flores")                                                                                                  \
  X(exact, "exact")

// The words as one text, for the attribute lists of fields.h: "revolute|prismatic|...|"
#define SR_JOINT_WORD(NAME, word) #word "|"
#define SR_METHOD_WORD(name, word) word "|"
#define SR_SHAPE_WORD(NAME, word) word "|"
#define SR_CLOSURE_WORD(NAME, kind, word) word "|"
#define SR_STABILIZATION_WORD(NAME, word) word "|"
#define SR_CONTACT_MODE_WORD(NAME, word) word "|"
#define SR_CONTROL_WORD(NAME, word) word "|"
#define SR_FAMILY_WORD(NAME, word) word "|"
#define SR_TANGENT_WORD(NAME, word) word "|"
#define SR_IMPACT_RULE_WORD(NAME, word) word "|"
#define SR_IMPACT_FRICTION_WORD(NAME, word) word "|"
#define SR_IMPACT_ORDER_WORD(NAME, word) word "|"
#define SR_FRICTION_WORD(name, word) word "|"
#define SR_NORMAL_WORD(name, word) word "|"
#define SR_LAW_TEXT(name, word) word ", "  // in a sentence: laws of plugins are not among the words

#endif
