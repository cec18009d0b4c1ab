// The loader of shared libraries that a catalogue may have.
#ifndef SR_PLUGIN_PLUGIN_H
#define SR_PLUGIN_PLUGIN_H

#include "model/catalog.h"

extern const srPluginLoader sr_plugin_loader;

// The real path of a library that a file in the folder `home` names, which must be in one of the folders, or without any in home; in the
// pool, whose on_fail must be set. NULL: *reason is a sentence.
const char* sr_plugin_path(srPool* pool, const char* home, const char* const* folders, int nfolder, const char* library,
                           const char** reason);
// The sentence for a library that the caller has not asked for.
const char* sr_plugin_untrusted(srPool* pool, const char* library);

#endif
