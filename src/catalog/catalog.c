// The built-in kinds, collected for the compiler, which is below them. A library that loads no
// others (cmake/targets.cmake) has no loader among them.
#include "catalog/catalog.h"

#include "constraint/closure.h"
#include "contact/kinds.h"
#include "dynamics/coordinate_inertia.h"
#include "force/laws.h"
#include "record/columns.h"
#ifndef SARRUS_NO_PLUGINS
#include "plugin/plugin.h"
#endif

static const srCatalog all = {
    .impedance = sr_builtin_impedance,
    .contact = sr_contact_kind,
    .closure = sr_closure_find,
    .inertia = sr_coordinate_inertia,
#ifndef SARRUS_NO_PLUGINS
    .plugins = &sr_plugin_loader,
#endif
};

// What a run is to record is checked where everything else has a name.
srStatus sr_compile_as(const srSpec* spec, const srAbsolute* absolute, srMessages* messages, srModel** out) {
  const srStatus status = sr_compile_from(&all, spec, absolute, messages, out);
  if (status != SR_OK) return status;
  const srStatus recorded = sr_record_check(*out, messages);
  if (recorded == SR_OK) return SR_OK;
  sr_model_destroy(*out);
  *out = NULL;
  return recorded;
}

srStatus sr_compile(const srSpec* spec, srMessages* messages, srModel** out) {
  return sr_compile_as(spec, NULL, messages, out);
}

srStatus sr_lock_massless(srSpec* spec, srMessages* messages) { return sr_lock_massless_from(&all, spec, messages); }
