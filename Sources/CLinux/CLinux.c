#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

int dm_rename_noreplace(int old_folder, const char *old_name, int new_folder, const char *new_name) {
    return renameat2(old_folder, old_name, new_folder, new_name, RENAME_NOREPLACE);
}

int dm_rename_exchange(int old_folder, const char *old_name, int new_folder, const char *new_name) {
    return renameat2(old_folder, old_name, new_folder, new_name, RENAME_EXCHANGE);
}

int dm_clone(int source, int target) {
    return ioctl(target, FICLONE, source);
}

ssize_t dm_copy_range(int source, int target, size_t length) {
    return copy_file_range(source, NULL, target, NULL, length, 0);
}

int dm_syncfs(int descriptor) {
    return syncfs(descriptor);
}

int dm_begin_writeback(int descriptor, int64_t offset, int64_t length) {
    return sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

static _Atomic int ignores_broken_leases;

void dm_ignore_broken_leases(void) {
    signal(SIGIO, SIG_IGN);
    ignores_broken_leases = 1;
}

int dm_probe_read_lease(int descriptor) {
    // Whoever opens the file meanwhile breaks the lease, and its holder gets a signal: SIGIO, which ends a process that
    // does not expect it. SIGURG ends none.
    if (!ignores_broken_leases && fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -1;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return -1;
    return fcntl(descriptor, F_SETLEASE, F_UNLCK);
}

int dm_strip_attributes(int descriptor, const char *kept) {
    char names[65536]; // XATTR_LIST_MAX
    ssize_t length = flistxattr(descriptor, names, sizeof names);
    if (length < 0) return errno == EOPNOTSUPP ? 0 : -1;
    for (const char *name = names; name < names + length; name += strlen(name) + 1) {
        if (strncmp(name, "user.", 5) != 0 && strncmp(name, "system.posix_acl_", 17) != 0 &&
            strcmp(name, "security.capability") != 0)
            continue;
        if (kept != NULL && strcmp(name, kept) == 0) continue;
        if (fremovexattr(descriptor, name) != 0 && errno != ENODATA && errno != EOPNOTSUPP) return -1;
    }
    return 0;
}

int dm_set_attribute(const char *path, const char *name, const char *text) {
    return lsetxattr(path, name, text, strlen(text), 0);
}

ssize_t dm_get_attribute(const char *path, const char *name, char *buffer, size_t size) {
    return lgetxattr(path, name, buffer, size);
}

int dm_remove_attribute(const char *path, const char *name) { return lremovexattr(path, name); }

// Where the kernel does not know the flag it is asked without: it is none of those whose caches matter.
static int ask_now(int folder, const char *name, struct statx *info) {
    int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
    if (statx(folder, name, flags | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, info) == 0) return 0;
    return errno == EINVAL ? statx(folder, name, flags, STATX_BASIC_STATS, info) : -1;
}

int dm_status_now(int folder, const char *name, struct stat *status) {
    struct statx info;
    const char *slash = strrchr(name, '/');
    char above[PATH_MAX];
    if (slash == NULL) {
        if (folder != AT_FDCWD) ask_now(folder, "", &info);
    } else if (slash > name && (size_t)(slash - name) < sizeof above) {
        memcpy(above, name, (size_t)(slash - name));
        above[slash - name] = 0;
        ask_now(folder, above, &info);
    }
    if (ask_now(folder, name, &info) != 0) return -1;
    *status = (struct stat){
        .st_dev = makedev(info.stx_dev_major, info.stx_dev_minor),
        .st_ino = info.stx_ino,
        .st_mode = info.stx_mode,
        .st_nlink = info.stx_nlink,
        .st_uid = info.stx_uid,
        .st_gid = info.stx_gid,
        .st_size = (off_t)info.stx_size,
        .st_blocks = (blkcnt_t)info.stx_blocks,
        .st_atim = {info.stx_atime.tv_sec, info.stx_atime.tv_nsec},
        .st_mtim = {info.stx_mtime.tv_sec, info.stx_mtime.tv_nsec},
        .st_ctim = {info.stx_ctime.tv_sec, info.stx_ctime.tv_nsec},
    };
    return 0;
}

int64_t dm_mount_id(const char *path) {
    struct statx info;
    if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &info) != 0) return -1;
    return info.stx_mask & STATX_MNT_ID ? (int64_t)info.stx_mnt_id : -1;
}

int64_t dm_mount_id_of(int descriptor) {
    struct statx info;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) return -1;
    return info.stx_mask & STATX_MNT_ID ? (int64_t)info.stx_mnt_id : -1;
}

uint64_t dm_mounting(const char *path) {
    struct statx info;
    const unsigned unique = 0x4000; // STATX_MNT_ID_UNIQUE; headers of older kernels do not have it.
    if (statx(AT_FDCWD, path, 0, unique, &info) != 0) return 0;
    return info.stx_mask & unique ? info.stx_mnt_id : 0;
}

int dm_is_empty_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    _Alignas(struct dirent64) char entries[1024];
    ssize_t length = 0;
    int is_empty = 1;
    while (is_empty && (length = getdents64(folder, entries, sizeof entries)) > 0) {
        for (ssize_t place = 0; place < length;) {
            struct dirent64 *entry = (struct dirent64 *)(entries + place);
            place += entry->d_reclen;
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) is_empty = 0;
        }
    }
    int error = errno;
    close(folder);
    errno = error;
    return length < 0 ? -1 : is_empty;
}

int64_t dm_file_system_type(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    return (int64_t)(uint32_t)info.f_type;
}

pid_t dm_peer_process(int socket) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}

int dm_peer(int socket, uid_t *user, gid_t *group) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    *user = peer.uid;
    *group = peer.gid;
    return 0;
}

int dm_peer_groups(int socket, gid_t *groups, int most) {
    socklen_t size = (socklen_t)most * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) return -1;
    return (int)(size / sizeof *groups);
}

int dm_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int dm_sealed_memory(const void *bytes, size_t count) {
    int memory = memfd_create("dropmill", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -1;
    if (write(memory, bytes, count) == (ssize_t)count &&
        fcntl(memory, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
        return memory;
    int error = errno;
    close(memory);
    errno = error;
    return -1;
}
