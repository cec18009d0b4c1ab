// The table of built-in force laws, in which compile looks up names.
#include <stddef.h>
#include <string.h>

#include "force/laws.h"
#include "model/private.h"

const srImpedance* const sr_builtin_impedances[] = {
#define LAW_ROW(law) &sr_law_##law,
    SR_LAW_LIST(LAW_ROW, LAW_ROW)
#undef LAW_ROW
        NULL,
};

const srImpedance* sr_builtin_impedance(const char* name) {
  for (const srImpedance* const* law = sr_builtin_impedances; *law != NULL; ++law) {
    if (strcmp((*law)->name, name) == 0) return *law;
  }
  return NULL;
}
