// Attributes of an element by its table (srElement): what is not in the table is an error with the nearest known word. For the
// readers of model files and of networks.
#ifndef SR_IO_NATIVE_ATTRIBUTES_H
#define SR_IO_NATIVE_ATTRIBUTES_H

#include <sarrus/spec.h>

#include "io/scope.h"
#include "io/xml/reader.h"

#define SR_ELEMENT_MAX_FIELDS 64

// Attributes of node into values (one for each field); false when something is wrong with them. meant: fields whose names are
// misspelt, may be NULL. Texts are in r->text, or those of the node.
bool sr_element_given(srReader* r, srScope* scope, const srXmlNode* node, const srElement* e, srAttr* values,
                      bool* meant);
// ... and those that must be there are.
bool sr_element_read(srReader* r, srScope* scope, const srXmlNode* node, const srElement* e, srAttr* values);
// Text between the tags is an error.
void sr_element_text(srReader* r, const srXmlNode* node);

// Of the attributes of <repeat>: count, first value and name of the index. False after an error.
bool sr_repeat_begin(srReader* r, srScope* scope, const srAttr* values, long long* count, long long* from,
                     const char** index);

// A <parameter>: its value, or that of a setting, into the scope.
void sr_parameter_read(srReader* r, srScope* scope, srParameterDef* def);
// The parameters of a file that are still to come, for a better message.
void sr_parameters_note(srScope* scope, const srXmlNode* root);

#endif
