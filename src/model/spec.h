// What the compiler and the readers need of a spec beyond the public interface.
#ifndef SR_MODEL_SPEC_H
#define SR_MODEL_SPEC_H

#include <sarrus/spec.h>

// Laws and functions registered by C code: their number, and the array in *out (lives as long as the spec, until the
// next registration).
int sr_spec_impedances(const srSpec* spec, const srImpedance** out);
int sr_spec_functions(const srSpec* spec, const srFunction** out);
int sr_spec_closure_laws(const srSpec* spec, const srClosureLaw** out);
int sr_spec_sensor_laws(const srSpec* spec, const srSensorLaw** out);

// Folders whose libraries may be loaded: their number, and the array in *out; NULL: none is loaded.
int sr_spec_plugin_folders(const srSpec* spec, const char* const** out);

// Attributes of an element as an array, in the order of srs_element(kind)->fields; NULL when there is no such element.
const srAttr* sr_spec_attributes(const srSpec* spec, srElementKind kind, int i);

// Index of an attribute by its word, which ends at a zero or a bar; -1: the element has none.
int sr_element_field(srElementKind kind, const char* word);

// Location of an element, when another replaces it by srs_set. False when out of memory.
bool sr_spec_set_place(srSpec* spec, srElementKind kind, int i, srPlace place);

// A joint that a reader has added because the file does not define how the first body is attached to the ground: it is not
// counted among those of the file.
void sr_spec_imply(srSpec* spec, int joint);
bool sr_spec_is_implied(const srSpec* spec, int joint);

// Names that the spec lacks because what defines them has errors, which are reported: what refers to such a name is not an error of
// its own. NULL: any name may be missing (a file could not be read). False when out of memory.
bool sr_spec_lose(srSpec* spec, const char* name);
bool sr_spec_is_lost(const srSpec* spec, const char* name);
bool sr_spec_is_partial(const srSpec* spec);            // it lacks names
bool sr_spec_add_file(srSpec* spec, const char* path);  // see srs_file; false when out of memory

// A copy with what every <inerter> stands for (inerter.c), or without them. NULL when out of memory.
srSpec* sr_spec_expand_inerters(const srSpec* spec);
srSpec* sr_spec_without_inerters(const srSpec* spec);

// What is wrong with the name of an element ("is empty", "holds '/'"), or NULL when nothing is. Names must survive as
// part of "body/point" and as an argument in formulas: no / , ( ) { } quotes or control characters, no blanks at the
// ends.
const char* sr_name_problem(const char* name);
// The same for names that formulas use as they are (parameters, states, motions): letters, digits and _, not beginning
// with a digit, none of the words pi, t, z, zdot, and no built-in function.
const char* sr_identifier_problem(const char* name);

#endif
