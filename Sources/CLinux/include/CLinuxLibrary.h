// A library of the system that is loaded where it is needed.
#ifndef DROPMILL_CLINUX_LIBRARY_H
#define DROPMILL_CLINUX_LIBRARY_H

#include <stddef.h>

/// Loads a library for good and looks these names up in it: their addresses, in this order, go to `calls`, which has a
/// place for each. Gives NULL, or else the linker's words, which are the thread's until it loads another one.
const char *dm_load_library(const char *soname, const char *const *names, size_t count, void *calls);

#endif
