// What is reached from an open folder and never leaves it.
#ifndef DROPMILL_CLINUX_BENEATH_H
#define DROPMILL_CLINUX_BENEATH_H

#include <sys/stat.h>
#include <sys/types.h>

/// Opens what lies below `folder` and returns its descriptor, closed on exec. No `..`, no absolute path (EXDEV), no
/// symbolic and no magic link on the way or at the end (ELOOP): a link itself can be had with O_PATH | O_NOFOLLOW.
///
/// One call of openat2(2) (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS). Where that is not to be had
/// (ENOSYS before Linux 5.6 or below systemd's RestrictSUIDSGID=, EPERM in some containers) one of openat(2) for each
/// name, with O_NOFOLLOW: a folder that is moved meanwhile is walked on in, and never out of where it is by then.
int dm_open_beneath(int folder, const char *path, int flags, mode_t mode);

/// fstat(2) as a call of its own, also of what was opened with O_PATH: the C library asks newfstatat(2), which a
/// confined process may not.
int dm_status(int descriptor, struct stat *status);

/// lstat(2) of `name` in `folder`, or fstat(2) of `folder` itself where the name is empty, answered by whoever keeps the
/// file system and not from what the kernel remembers (statx(2), AT_STATX_FORCE_SYNC).
int dm_status_asked(int folder, const char *name, struct stat *status);

/// lstat(2) of what lies below `folder`, by the same rules: of a link itself.
int dm_status_beneath(int folder, const char *path, struct stat *status);

#endif
