// What the keeper of a confined program shares with the code that confines it.
#ifndef DROPMILL_CONFINEMENT_H
#define DROPMILL_CONFINEMENT_H

#include <sys/types.h>

#include "CLinux.h"

/// Takes the rights of the calling process away, for good, but for what the confinement leaves it. `listener` becomes
/// the descriptor on which the kernel asks for what is decided call by call (seccomp_unotify(2)).
int dm_enter_confinement(const struct dm_confinement *confinement, int *listener);

/// Answers one question of the kernel's. The caller must be the parent, or the subreaper, of all that is confined.
/// `folder`: the program's own, open; `started`: for its use, 1 at first. Returns -1 once nobody is left to ask.
int dm_answer_call(int listener, const struct dm_confinement *confinement, int folder, unsigned *started);

#endif
