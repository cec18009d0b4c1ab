// MJCF out: force laws that are affine in one source, as actuators of MJCF have them, found in the graphs of the formulas.
#ifndef SR_IO_MJCF_WRITE_LAW_H
#define SR_IO_MJCF_WRITE_LAW_H

#include "expr/expr.h"
#include "io/convert.h"

#define SR_MJCF_CONTROL "ctrl_"  // beginning of the names of controls
#define SR_MJCF_STATE "act_"     // and of activations

// A coordinate of a joint, or its rate.
typedef struct srMjcfVariable {
  bool is_rate;
  int joint, coordinate;  // of the model; coordinate among those of v
} srMjcfVariable;

// Formulas of one model in one graph. Variables of kind Q and V are `variable`, of kind STATE first the parameters of the
// spec, then its states, of kind SENSOR nine for each sensor of the spec: its axes rxx, rxy, ... rzz.
typedef struct srMjcfLaws {
  srConvert* c;
  srGraph* graph;
  srMjcfVariable* variable;
  int nvariable, variable_capacity;
} srMjcfLaws;

// scale F, or scale F (turn . r) with the axes r of a sensor;
//   F = g0 w + sum g_i x_i w + b0 + sum b_i x_i, clamped or not; x the variables, w the source.
typedef struct srMjcfForm {
  double scale;
  double *gain, *bias;  // (1 + nvariable)
  bool is_clamped;
  double range[2];
  int sensor;  // -1: none
  double turn[9];
} srMjcfForm;

// The source w of a law: a control, clamped in the same way wherever it is, or a state.
typedef struct srMjcfSource {
  int index;  // of the variable; -1: none
  bool is_bare, is_clamped;
  double range[2];
} srMjcfSource;

srMjcfLaws sr_mjcf_laws(srConvert* c);
int sr_mjcf_laws_state(const srMjcfLaws* laws, int state);  // variable of a state of the spec
// SR_NO_NODE: it is no formula.
srNode sr_mjcf_laws_parse(srMjcfLaws* laws, const char* text, srPlace place);

// max(low, min(high, inside))
bool sr_mjcf_is_clamp(const srGraph* graph, srNode node, double range[2], srNode* inside);
// Is it the control itself, clamped or not? False also where it is clamped otherwise than before.
bool sr_mjcf_is_source(const srMjcfLaws* laws, srNode node, srMjcfSource* source);
// False: it is not affine. All formulas have to be parsed before.
bool sr_mjcf_form(srMjcfLaws* laws, srNode node, srMjcfSource* source, srMjcfForm* out);
// Is a law the other one times a number? That in *factor.
bool sr_mjcf_is_multiple(const srMjcfLaws* laws, const srMjcfForm* form, const srMjcfForm* of, double* factor);

#endif
