// What the compiler uses from folders above the model, passed in by its caller (src/catalog): the kinds of force laws, contacts and
// closures by name, and the loader of shared libraries. So the model refers to nothing above it.
#ifndef SR_MODEL_CATALOG_H
#define SR_MODEL_CATALOG_H

#include "base/base.h"
#include "model/absolute.h"
#include "model/closure.h"

struct srCompiler;

// Friction and contact: a force law and its derivatives.
typedef struct srContactKind {
  const srImpedance* law;
  int (*jacobian)(const srImpedanceIn* in, double* J);  // as srForceElement.slope
  // Derivatives of its laws, in pool, or those of `like` where the laws are the same (NULL: none).
  void (*prepare)(srPool* pool, srSurfaceLaws* contact, const srSurfaceLaws* like);
} srContactKind;

typedef struct srPluginLoader {
  void (*load)(struct srCompiler* c, const char* library, srPlace place);  // and registers the laws of the library
  void (*close)(void* handle);
} srPluginLoader;

typedef struct srCatalog {
  const srImpedance* (*impedance)(const char* name);  // "formula", "spring", ...; NULL: none of this name
  const srContactKind* (*contact)(const char* name);  // joint-friction, joint-end, contact, contact-formula
  const srClosureWord* (*closure)(const char* word);  // of <closure type>
  const srPluginLoader* plugins;                      // NULL: this build loads none
  // M_ii and 1/(M^-1)_ii of the coordinates of a tree at q: dynamics/coordinate_inertia.h
  void (*inertia)(const srModel* m, srPool* pool, const double* q, double* carried, double* effective);
} srCatalog;

// absolute NULL: in relative coordinates.
srStatus sr_compile_from(const srCatalog* catalog, const srSpec* spec, const srAbsolute* absolute, srMessages* messages,
                         srModel** out);
srStatus sr_lock_massless_from(const srCatalog* catalog, srSpec* spec, srMessages* messages);

#endif
