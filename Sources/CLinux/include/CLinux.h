// The few Linux calls that Swift's Glibc module does not show: it is compiled without _GNU_SOURCE, and cannot import
// variadic functions. Nothing here decides anything; each is one call that returns 0 (or a count) or -1 with errno set.
#ifndef DROPMILL_CLINUX_H
#define DROPMILL_CLINUX_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "CLinuxBeneath.h"
#include "CLinuxConfinement.h"
#include "CLinuxDescriptor.h"
#include "CLinuxHelper.h"
#include "CLinuxKeeper.h"
#include "CLinuxLibrary.h"
#include "CLinuxMemory.h"
#include "CLinuxPlace.h"

/// rename(2) that fails with EEXIST where the target exists (renameat2(2), RENAME_NOREPLACE).
int dm_rename_noreplace(int old_folder, const char *old_name, int new_folder, const char *new_name);

/// Exchanges two names atomically (renameat2(2), RENAME_EXCHANGE).
int dm_rename_exchange(int old_folder, const char *old_name, int new_folder, const char *new_name);

/// Makes `target` share the blocks of `source` (ioctl_ficlone(2)); EOPNOTSUPP where the file system cannot.
int dm_clone(int source, int target);

/// copy_file_range(2) at the descriptors' own offsets.
ssize_t dm_copy_range(int source, int target, size_t length);

/// Brings everything of the file system that holds `descriptor` to the disk (syncfs(2); reports errors since Linux
/// 5.8).
int dm_syncfs(int descriptor);

/// Has the kernel begin to write a part of a file to the disk (sync_file_range(2)); waits only where the disk has more to
/// write already than it takes. Fails where writing cannot begin; it does not say what becomes of it: a sync has to follow.
int dm_begin_writeback(int descriptor, int64_t offset, int64_t length);

/// Ignores the signal of broken leases in the whole process: for a program, which saves a call for each lease by that.
void dm_ignore_broken_leases(void);

/// Takes a read lease and gives it back at once (fcntl(2), F_SETLEASE). Fails with EAGAIN while anybody has the file
/// open for writing, EACCES where the caller neither owns it nor has CAP_LEASE, EINVAL where the file system has no
/// leases.
int dm_probe_read_lease(int descriptor);

/// Removes what a file's owner said of it besides its mode: access control lists, `user.*` attributes and capabilities
/// (xattr(7)), but for the one named `kept` (NULL: for none). 0 also where the file system has none of these.
int dm_strip_attributes(int descriptor, const char *kept);

/// Writes, reads and removes a text as an extended attribute of a file or folder (lsetxattr(2); a link is not followed).
/// `dm_get_attribute` returns its length.
int dm_set_attribute(const char *path, const char *name, const char *text);
ssize_t dm_get_attribute(const char *path, const char *name, char *buffer, size_t size);
int dm_remove_attribute(const char *path, const char *name);

/// What has the name in the folder, a link not followed, as the server of a network file system says now and not as the
/// kernel remembers it (statx(2), AT_STATX_FORCE_SYNC). The folder is asked for first, so that a name that was looked for
/// before, and was not there, is looked for again.
int dm_status_now(int folder, const char *name, struct stat *status);

/// The number of the mount that the path is on (statx(2), STATX_MNT_ID), or -1 where the kernel (before 5.8) has none.
/// Two mounts of one file system have the same device, but a rename between them fails with EXDEV.
int64_t dm_mount_id(const char *path);

/// The same for what is open.
int64_t dm_mount_id_of(int descriptor);

/// A number of the mount that no other has until the machine is started again (statx(2), STATX_MNT_ID_UNIQUE); 0 where the
/// kernel (before 6.8) has none. A file system that is mounted once more has another one.
uint64_t dm_mounting(const char *path);

/// 1 for a folder with no entries, 0 for one with some, -1 with errno where that cannot be told. Without the buffer and
/// the two questions that fdopendir(3) begins with.
int dm_is_empty_folder(const char *path);

/// The magic number of the file system that holds the path (statfs(2), f_type), or -1.
int64_t dm_file_system_type(const char *path);

/// The process at the other end of a Unix socket (unix(7), SO_PEERCRED), or -1.
pid_t dm_peer_process(int socket);

/// Who connected the other end (SO_PEERCRED): 0, or -1 with errno.
int dm_peer(int socket, uid_t *user, gid_t *group);

/// The other end's further groups (SO_PEERGROUPS, Linux 4.13): how many, or -1 with errno.
int dm_peer_groups(int socket, gid_t *groups, int most);

/// A file in memory with these bytes that nobody can change any more (memfd_create(2), fcntl(2), F_ADD_SEALS).
int dm_sealed_memory(const void *bytes, size_t count);

/// A pipe whose ends no program inherits by chance (pipe2(2), O_CLOEXEC): the reading end first.
int dm_pipe(int ends[2]);

#endif
