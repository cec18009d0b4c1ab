// Words that stand in model files, flags, JSON and code alike, once each. A new joint or integrator is its own file and one
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

// Integrators: X(word); defined in src/integrate/<word>.c
#define SR_METHOD_LIST(X) X(euler) X(rk4) X(dopri5)

// The words as the one text that the attribute lists of fields.h take: "revolute|prismatic|...|"
#define SR_JOINT_WORD(NAME, word) #word "|"
#define SR_METHOD_WORD(word) #word "|"

#endif
