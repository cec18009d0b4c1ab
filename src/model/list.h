// Lists in attributes: "l1 + 1 0 0" is three values. One rule for every list of the model file.
//
//   Values are separated by blanks or by a comma, outside parentheses. A blank does not separate where an operator
//   joins both sides: before an operator that cannot begin a value (* / ^ < > = !), after any operator, and around + and
//   - with blanks on both sides. So "a - b" and "a-b" are one value and "a -b" is two, as in "1 -2 3".
#ifndef SR_MODEL_LIST_H
#define SR_MODEL_LIST_H

#include <sarrus/spec.h>

#include "base/base.h"

typedef struct srListItem {
  const char* text;  // the formula, trimmed; NULL when the attribute was given as numbers
  double number;     // when text is NULL
  srPlace place;     // of its first character
} srListItem;

// The values of an attribute, in the pool (whose on_fail must be set); returns their number (0 when the attribute is
// not given). An empty value ("1,,2") has an empty text, which the formula parser refuses.
int sr_split_list(srPool* pool, const srAttr* attr, srListItem** items);
// Names: separated by commas where there is one, so that names may contain blanks, else by blanks.
int sr_split_names(srPool* pool, const srAttr* attr, srListItem** items);

#endif
