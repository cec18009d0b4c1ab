// The loader of shared libraries that a catalogue may have.
#ifndef SR_PLUGIN_PLUGIN_H
#define SR_PLUGIN_PLUGIN_H

#include "model/catalog.h"

extern const srPluginLoader sr_plugin_loader;

#endif
