// What compile leaves for the folders above: programs of the formulas, plugins, memory.
#ifndef SR_MODEL_PRIVATE_H
#define SR_MODEL_PRIVATE_H

#include <sarrus/model.h>

#include "expr/expr.h"
#include "math/saddle.h"

struct srModelPrivate {
  srPool pool;         // everything the model points to
  srGraph* graph;      // all formulas of the model, for derivatives and the code generator
  srProgram* laws;     // inputs t, q, v, state, sensor, arg (link_arg) -> srData.formula
  srProgram* drivers;  // input t -> srData.motion: value, rate, second derivative of each driver
  srProgram* events;   // inputs as laws, without arg -> formulas of the events, then values of their actions
  int nevent_value;
  srProgram* rows;         // inputs t, q, v, sensor, arg (row_arg) -> srData.row_formula
  const srNode* law_root;  // of the law program (nformula), and ...
  const srNode* row_root;  // ... of the rows (nrow_formula): for derivatives
  int ny_user;             // the first ny_user states are <state> elements ...
  int formula_rate;        // ... whose rates are srData.formula[formula_rate ...]
  void** plugins;          // handles of loaded shared libraries
  int nplugin;
  const double* limits;  // njoint x 2, NaN where there are none
  bool has_limits;
};

// Of a data of a looped model: the solver of M a + c = f + G^T lambda, G a = gamma, and the rows that it counts.
struct srDataPrivate {
  srmPattern M, G;
  srmSaddleShape shape;
  srmSaddle* saddle;
  srmRows* rows;
  unsigned char* kept;    // ng: independent rows, held while an integrator steps
  unsigned char* taken;   // ng: those of the last classification
  unsigned char* unique;  // ng: rows whose multiplier is the only one possible
  bool chosen;            // kept belongs to the motion under way
  int rank;               // number of kept rows
  double* dense;          // memory of the augmented Lagrangian while it is used (nv^2 + ng), else NULL
};

// The laws that come with the program: {"formula", "spring", ...}, ended by NULL. Defined in src/force/table.c: laws
// stand above the model in the order of folders, and their table is the one thing that compile takes from there.
extern const srImpedance* const sr_builtin_impedances[];
const srImpedance* sr_builtin_impedance(const char* name);

// Friction and contact: a law and its derivatives. From src/contact, as above.
typedef struct srContactKind {
  const srImpedance* law;
  int (*slope)(const srImpedanceIn* in, double* J);  // as srForceElement.slope
  // Derivatives of its laws, in pool, or those of `like` where the laws are the same (NULL: none).
  void (*prepare)(srPool* pool, srContact* contact, const srContact* like);
} srContactKind;
const srContactKind* sr_contact_kind(const char* name);  // joint-friction, joint-end, contact, contact-formula

// What is wrong with the numbers of a law, as a sentence in the words of a model file: one for each parameter of the law in the
// order of its list, of friction then those for tau and the limits. The answer is the place of the wrong one among them.
enum { SR_LAW_WHOLE = -1, SR_LAW_GOOD = -2 };  // none of them alone; nothing is wrong
enum { SR_FRICTION_TAU = SR_FRICTION_PARAMETERS, SR_FRICTION_KINETIC, SR_FRICTION_STATIC, SR_FRICTION_WORDS };
int sr_friction_wrong(const srFrictionLaw* law, const srFrictionParameters* p, double tau, double Fs, double Fk,
                      const char* const* word, char* text, size_t size);
int sr_normal_wrong(const srNormalLaw* law, const srNormalParameters* p, const char* const* word, char* text,
                    size_t size);

int sr_data_work(const srModel* m);  // doubles of scratch that srData.work holds

#endif
