// The type of a C expression as srType. Enumerations without negative values are unsigned int to gcc and clang.
#ifndef SR_ACCESS_TYPE_H
#define SR_ACCESS_TYPE_H

#include <sarrus/access.h>

#define SR_TYPE_OF(x)                                                                                                  \
  _Generic((x), double                                                                                                 \
           : SR_TYPE_DOUBLE, int                                                                                       \
           : SR_TYPE_INT, unsigned int                                                                                 \
           : SR_TYPE_INT, long                                                                                         \
           : SR_TYPE_LONG, bool                                                                                        \
           : SR_TYPE_BOOL, const char*                                                                                 \
           : SR_TYPE_TEXT, char*                                                                                       \
           : SR_TYPE_CHARS, default                                                                                    \
           : SR_TYPE_POINTER)

#endif
