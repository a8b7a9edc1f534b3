// Places in the file system, held without opening what is there (O_PATH of open(2)).
#ifndef DROPMILL_CLINUX_PLACE_H
#define DROPMILL_CLINUX_PLACE_H

#include <sys/types.h>

/// Holds what has the name in a folder, whatever it is; a symbolic link itself, not what it points to. It takes no right
/// but that to search the folder. What is held can be examined with fstat(2), and used as a folder by the `*at` calls.
int dm_open_place(int folder, const char *name);

/// What the symbolic link says that is held so; without a NUL. Returns its length, cut to that of the buffer.
ssize_t dm_read_link(int link, char *buffer, size_t length);

#endif
