#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/// Whether the kernel, or what stands before it, has no openat2(2): learned once, kept by copies of the process.
static atomic_bool is_missing;

static int ask(int folder, const char *path, int flags, mode_t mode) {
    bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = makes ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int descriptor;
    do {
        descriptor = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

/// Whether an error is the word of something that stands before the kernel: a file can be the reason too (immutable, on
/// a file system that lacks a call), but not of this question.
static bool lacks_call(int folder, int error) {
    if (error != ENOSYS && error != EPERM) return false;
    int self = ask(folder, ".", O_PATH | O_DIRECTORY, 0);
    bool lacks = self < 0 && errno == error;
    if (self >= 0) close(self);
    errno = error;
    return lacks;
}

int dm_status(int descriptor, struct stat *status) { return (int)syscall(SYS_fstat, descriptor, status); }

int dm_status_asked(int folder, const char *name, struct stat *status) {
    const int flags = AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH);
    struct statx found;
    if (statx(folder, name, flags | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &found) != 0)
        return errno == ENOSYS ? fstatat(folder, name, status, flags) : -1;
    *status = (struct stat){
        .st_dev = makedev(found.stx_dev_major, found.stx_dev_minor),
        .st_ino = found.stx_ino,
        .st_mode = found.stx_mode,
        .st_nlink = found.stx_nlink,
        .st_uid = found.stx_uid,
        .st_gid = found.stx_gid,
        .st_rdev = makedev(found.stx_rdev_major, found.stx_rdev_minor),
        .st_size = (off_t)found.stx_size,
        .st_blksize = (blksize_t)found.stx_blksize,
        .st_blocks = (blkcnt_t)found.stx_blocks,
        .st_atim = {.tv_sec = found.stx_atime.tv_sec, .tv_nsec = found.stx_atime.tv_nsec},
        .st_mtim = {.tv_sec = found.stx_mtime.tv_sec, .tv_nsec = found.stx_mtime.tv_nsec},
        .st_ctim = {.tv_sec = found.stx_ctime.tv_sec, .tv_nsec = found.stx_ctime.tv_nsec},
    };
    return 0;
}

/// Opens one name. Who does not ask for links themselves (O_NOFOLLOW) gets ELOOP for one, as openat2 has it.
static int open_name(int folder, const char *name, int flags, mode_t mode) {
    int descriptor;
    do {
        descriptor = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    } while (descriptor < 0 && errno == EINTR);
    // A link is opened with O_PATH, and with O_DIRECTORY it is said to be no folder; else it is ELOOP already.
    bool may_be_link = descriptor >= 0 ? flags & O_PATH : errno == ENOTDIR;
    if (flags & O_NOFOLLOW || !may_be_link) return descriptor;
    int error = errno;
    int found = descriptor >= 0 ? descriptor : openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    bool is_link = found >= 0 && dm_status(found, &status) == 0 && S_ISLNK(status.st_mode);
    if (descriptor >= 0 && !is_link) return descriptor;
    if (found >= 0) close(found);
    errno = is_link ? ELOOP : error;
    return -1;
}

/// The same as openat2, by one name after the other: each is opened in the folder before it.
static int walk(int folder, const char *path, int flags, mode_t mode) {
    int place = folder;
    for (;;) {
        // One byte more than a name may have: what is longer is the kernel's to refuse.
        char name[NAME_MAX + 2];
        const char *rest = path + strcspn(path, "/");
        size_t length = (size_t)(rest - path);
        const char *next = rest + strspn(rest, "/");
        int found = -1;
        if (length > NAME_MAX) length = NAME_MAX + 1;
        memcpy(name, path, length);
        name[length] = 0;
        if (*next == 0 && *rest == '/' && flags & O_CREAT) {
            errno = EISDIR;
        } else {
            // A slash behind the last name wants a folder, and what a link leads to.
            found = *next          ? open_name(place, name, O_PATH, 0)
                    : *rest == '/' ? open_name(place, name, (flags & ~O_NOFOLLOW) | O_DIRECTORY, mode)
                                   : open_name(place, name, flags, mode);
        }
        int error = errno;
        if (place != folder) close(place);
        errno = error;
        if (found < 0 || *next == 0) return found;
        place = found;
        path = next;
    }
}

/// Whether a path could lead up: absolute, or with `..` for a name.
static bool leads_up(const char *path) {
    if (*path == '/') return true;
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.') return true;
        path += length;
        path += strspn(path, "/");
    }
    return false;
}

int dm_open_beneath(int folder, const char *path, int flags, mode_t mode) {
    if (leads_up(path)) {
        errno = EXDEV;
        return -1;
    }
    if (atomic_load_explicit(&is_missing, memory_order_relaxed)) return walk(folder, path, flags, mode);
    int descriptor = ask(folder, path, flags, mode);
    if (descriptor >= 0 || !lacks_call(folder, errno)) return descriptor;
    atomic_store_explicit(&is_missing, true, memory_order_relaxed);
    return dm_open_beneath(folder, path, flags, mode);
}

int dm_status_beneath(int folder, const char *path, struct stat *status) {
    int descriptor = dm_open_beneath(folder, path, O_PATH | O_NOFOLLOW, 0);
    if (descriptor < 0) return -1;
    int result = dm_status(descriptor, status);
    int error = errno;
    close(descriptor);
    errno = error;
    return result;
}
