// The language of network files: elements and their attributes, as srElement has them. tools/format-reference makes the page from it.
#ifndef SR_NETFILE_ELEMENTS_H
#define SR_NETFILE_ELEMENTS_H

#include <sarrus/spec.h>

typedef enum srNetKind {
  SR_NET_NETWORK,
  SR_NET_PARAMETER,
  SR_NET_PLUGIN,
  // components
  SR_NET_MASS,
  SR_NET_BODY,
  SR_NET_MECHANISM,
  SR_NET_EQUATIONS,
  SR_NET_ADMITTANCE,
  SR_NET_SPRING,
  SR_NET_DAMPER,
  SR_NET_STOP,
  SR_NET_BUSHING,
  SR_NET_HINGE,
  SR_NET_FRICTION,
  SR_NET_PLANE,
  SR_NET_IMPEDANCE,
  SR_NET_FORMULA_IMPEDANCE,
  SR_NET_MAP,
  // inside of them
  SR_NET_SET,
  SR_NET_INPUT,
  SR_NET_POSITION,
  SR_NET_VELOCITY,
  SR_NET_STATE,
  SR_NET_OUTPUT,
  SR_NET_FORCE,
  // terminals and connections
  SR_NET_TERMINAL,
  SR_NET_GROUND,
  SR_NET_AXIS,
  SR_NET_WIRE,
  SR_NET_CONSTANT,
  SR_NET_PUSH,
  SR_NET_APPLY,
  SR_NET_RECORD,
  SR_NET_RUN,
  SR_NET_REPEAT,
  SR_NET_KINDS
} srNetKind;

const srElement* sr_net_element(srNetKind kind);
int sr_net_element_find(const char* word);           // its kind, or -1
int sr_net_field(srNetKind kind, const char* word);  // place of an attribute; it must be there

#endif
