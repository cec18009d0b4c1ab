// xacro: a URDF file with properties, formulas, macros, includes and conditions, written out into plain XML.
// The language as the ROS documentation of xacro describes it; docs/robots/xacro.md states what is supported.
#ifndef SR_IO_XACRO_XACRO_H
#define SR_IO_XACRO_XACRO_H

#include "io/xml/reader.h"

// The tree without xacro: the same tree when root has none of it, otherwise a new one in r->pool. NULL after errors.
const srXmlNode* sr_xacro_expand(srReader* r, const srXmlNode* root, const srImport* how);

#endif
