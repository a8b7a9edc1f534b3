// Programs that must not outlive whoever started them.
#ifndef DROPMILL_CLINUX_KEEPER_H
#define DROPMILL_CLINUX_KEEPER_H

#include <sys/types.h>

#include "CLinuxConfinement.h"

/// Starts a program in `folder` and in a process group of its own, with default signal handling, nothing blocked, and
/// these descriptors as 0, 1 and 2 and no others: below a keeper, a small process in between. Once the program is over,
/// that ends whatever the program has left running, in its group or not, and then itself.
///
/// `lifeline` becomes one end of a socket to the keeper. A byte sent is a signal for the program's group (SIGTERM,
/// SIGKILL). Two ints come back: the program's process id, which is its group's, and at the end its status as of
/// wait(2). Without the second the keeper was killed, and with it the program, but not the rest of the group. Once this
/// end is closed, as the kernel does when the caller dies, the keeper kills everything at once.
///
/// `confinement`: what the program may do, and all that it starts; NULL: what the caller may.
///
/// Returns the keeper's process id, which is to be waited for, or -1 with errno set, also where the program itself
/// could not be started, and -2 where it could not be confined.
pid_t dm_spawn_kept(
    const char *program, char *const arguments[], char *const environment[], const char *folder,
    const int descriptors[3], const struct dm_confinement *confinement, int *lifeline);

#endif
