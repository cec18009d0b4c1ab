// The elements of model files that leave no definition in the spec: see native.h.
#include "base/base.h"
#include "io/native/native.h"

static const srField repeat_fields[] = {
    {"count", "FORMULA", "1", "!", "", "how many times the content is repeated"},
    {"index", "NAME", "1", "i", "", "name of the index: {i} in names, i in formulas"},
    {"from", "FORMULA", "1", "0", "", "first value of the index"},
};
static const srField include_fields[] = {
    {"file", "FILE", "1", "!", "",
     "model file, URDF, MJCF or ROBOTRAN file whose elements are inserted here: path relative to this file, inside the "
     "model's folder"},
    {"base", "WORD", "fixed|floating", "fixed", "",
     "URDF: how the robot is attached to the ground; floating: by a free joint named root"},
};
static const srField extend_fields[] = {
    {"body", "REF", "1", "!", "", "body that is defined before, most often in an included file"},
};
static const srElement file_elements[SR_FILE_ELEMENTS] = {
    {"ground", "sarrus", "points and shapes that do not move", NULL, 0},
    {"repeat", "sarrus|body|ground", "its content several times", repeat_fields, SR_COUNT(repeat_fields)},
    {"include", "sarrus", "the elements of another model file", include_fields, SR_COUNT(include_fields)},
    {"extend", "sarrus",
     "a body once more: <point> and <shape> are added, <joint> and <inertial> change the attributes that they give",
     extend_fields, SR_COUNT(extend_fields)},
};

const srElement* sr_file_element(srFileElement which) { return &file_elements[which]; }
