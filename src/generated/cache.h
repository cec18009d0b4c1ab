// The user's folder of compiled code: $XDG_CACHE_HOME/sarrus/generated, else ~/.cache/sarrus/generated.
// A file there is named by the hash of what it was made of (text, compiler, flags, processor), and ends with the hash of itself and of its name: what
// was cut off or written by others is noticed, and compiled again. Files are written beside it and renamed, so that two runs may compile at the same time.
#ifndef SR_GENERATED_CACHE_H
#define SR_GENERATED_CACHE_H

#include "base/file.h"

// Made where it is missing. False: it cannot be had, or others may write there.
bool sr_cache_folder(char folder[SR_PATH_SIZE], srReason* reason);
// Is there a whole file of this key that the user has written?
bool sr_cache_holds(const char* path, const char* key);
// Puts the hash at the end of a file. False: it cannot be written.
bool sr_cache_seal(const char* path, const char* key);
// A new folder in another one, for the user alone; and its end, with all files that compiling leaves there.
bool sr_cache_work(const char* folder, char work[SR_PATH_SIZE]);
void sr_cache_work_end(const char* work);

#endif
