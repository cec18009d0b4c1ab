// The compiler with all that this library has.
#ifndef SR_CATALOG_CATALOG_H
#define SR_CATALOG_CATALOG_H

#include "model/catalog.h"

// absolute NULL: as sr_compile.
srStatus sr_compile_as(const srSpec* spec, const srAbsolute* absolute, srMessages* messages, srModel** out);

#endif
