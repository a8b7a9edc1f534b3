#define _GNU_SOURCE
#include "Confinement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// What a filter of system calls cannot decide: how many processes there are, and whose file a path leads to. Runs in a
// keeper, so nothing here may need memory of the heap, or a lock.

/// Adds the process ids in a file of `children` to those that are known; at most `most` in all.
static unsigned add_children(int folder, const char *path, pid_t *known, unsigned count, unsigned most) {
    char text[1024];
    pid_t number = 0;
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return count;
    for (ssize_t length; (length = read(file, text, sizeof text)) > 0;)
        for (ssize_t index = 0; index < length; index++) {
            if (text[index] >= '0' && text[index] <= '9') {
                number = number * 10 + (text[index] - '0');
                continue;
            }
            if (number > 0 && count < most) known[count++] = number;
            number = 0;
        }
    close(file);
    return count;
}

/// How many threads the descendants of the calling process have, as far as `most`.
static unsigned count_threads(unsigned most) {
    static pid_t known[dm_most_processes];
    unsigned threads = 0;
    unsigned count = add_children(AT_FDCWD, "/proc/thread-self/children", known, 0, most);
    for (unsigned next = 0; next < count && threads < most; next++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/task", known[next]);
        int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) continue;
        _Alignas(struct dirent64) char entries[2048];
        for (ssize_t length; (length = getdents64(folder, entries, sizeof entries)) > 0;)
            for (ssize_t place = 0; place < length;) {
                struct dirent64 *entry = (struct dirent64 *)(entries + place);
                place += entry->d_reclen;
                if (entry->d_name[0] == '.') continue;
                threads++;
                snprintf(path, sizeof path, "%.20s/children", entry->d_name);
                count = add_children(folder, path, known, count, most);
            }
        close(folder);
    }
    return threads;
}

/// 0 where one more process may be started. `started` is never too small, and counted anew when it seems too large.
static int check_start(unsigned most, unsigned *started) {
    if (*started >= most) *started = count_threads(most);
    if (*started >= most) return EAGAIN;
    (*started)++;
    return 0;
}

/// Reads up to `size` bytes of the memory of a process.
static ssize_t read_memory(pid_t process, uint64_t address, void *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    if (memory < 0) return -1;
    ssize_t count = pread(memory, buffer, size, (off_t)address);
    close(memory);
    return count;
}

/// The text of what a link in /proc leads to; its length, or -1.
static ssize_t link_text(const char *link, char *text, size_t size) {
    ssize_t length = readlink(link, text, size - 1);
    if (length < 0 || (size_t)length >= size - 1) return -1;
    text[length] = 0;
    return length;
}

/// What follows the folder and a slash in a path; NULL where it is not below the folder.
static const char *below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/// Opens (O_PATH) what a call names by a folder and a path, or by a descriptor alone (`address` 0), if it lies in the
/// program's own folder. -1 with EPERM otherwise; no link is followed on the way.
static int open_own(
    pid_t process, int at, uint64_t address, int flags, const struct dm_confinement *confinement, int folder) {
    char link[64], path[2 * PATH_MAX];
    char *name = path;
    path[0] = 0;
    if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", process);
    else snprintf(link, sizeof link, "/proc/%d/fd/%d", process, at);
    char given[PATH_MAX] = "";
    if (address != 0) {
        ssize_t count = read_memory(process, address, given, sizeof given);
        if (count <= 0 || memchr(given, 0, (size_t)count) == NULL) goto refused;
    }
    if (given[0] == 0) {
        if (address != 0 && !(flags & AT_EMPTY_PATH)) {
            errno = ENOENT;
            return -1;
        }
        int descriptor = open(link, O_PATH | O_CLOEXEC);
        if (descriptor < 0) return -1;
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        if (link_text(link, path, sizeof path) >= 0 && below(path, confinement->folder)) return descriptor;
        close(descriptor);
        goto refused;
    }
    if (given[0] != '/') {
        ssize_t length = link_text(link, path, PATH_MAX);
        if (length < 0) goto refused;
        path[length] = '/';
        name = path + length + 1;
    }
    memcpy(name, given, strlen(given) + 1);
    const char *rest = below(path, confinement->folder);
    if (rest == NULL || rest[0] == 0) goto refused;
    return dm_open_beneath(folder, rest, O_PATH | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), 0);
refused:
    errno = EPERM;
    return -1;
}

/// Changes the mode or the times, for the program. Returns 0, or the error.
static int change(const struct seccomp_notif *call, const struct dm_confinement *confinement, int folder) {
    const __u64 *arguments = call->data.args;
    pid_t process = (pid_t)call->pid;
    int at = (int)arguments[0], flags = 0;
    uint64_t path = arguments[1];
    mode_t mode = (mode_t)arguments[2];
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    switch (call->data.nr) {
#if defined(__x86_64__)
    case SYS_chmod:
        at = AT_FDCWD;
        path = arguments[0];
        mode = (mode_t)arguments[1];
        break;
#endif
    case SYS_fchmod:
        path = 0;
        mode = (mode_t)arguments[1];
        break;
    case SYS_utimensat:
        if (arguments[2] != 0 && read_memory(process, arguments[2], times, sizeof times) != sizeof times) return EPERM;
        flags = (int)arguments[3];
        break;
    case SYS_fchmodat: break;
    default: flags = (int)arguments[3];
    }
    int target = open_own(process, at, path, flags, confinement, folder);
    if (target < 0) return errno;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", target);
    // Nothing that it makes is to run with our rights later.
    int result = call->data.nr == SYS_utimensat ? utimensat(AT_FDCWD, link, times, 0) : chmod(link, mode & 01777);
    int error = result == 0 ? 0 : errno;
    close(target);
    return error;
}

int dm_answer_call(int listener, const struct dm_confinement *confinement, int folder, unsigned *started) {
    struct seccomp_notif call;
    memset(&call, 0, sizeof call);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return errno == EINTR || errno == ENOENT ? 0 : -1;
    struct seccomp_notif_resp reply = {.id = call.id};
    switch (call.data.nr) {
#if defined(__x86_64__)
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_clone:
        reply.error = -check_start(confinement->processes, started);
        if (reply.error == 0) reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        break;
    default:
        // What was read may be another's, had the asker ended meanwhile; then nobody gets the answer, and what was
        // changed lies in the folder all the same.
        reply.error = -change(&call, confinement, folder);
    }
    // Fails where the asker is gone.
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    return 0;
}
