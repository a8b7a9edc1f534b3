#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// What headers older than the kernel do not name (linux/landlock.h of Linux 6.12).
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_ALL 3ULL
#define SCOPE_ALL 3ULL

// linux/landlock.h of Linux 6.12; older kernels take the shorter ones as long as the rest is zero.
struct ruleset {
    uint64_t fs, net, scoped;
};

int dm_landlock_version(void) {
    int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : version;
}

int dm_landlock_refusal(void) {
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0 ? errno : 0;
}

/// Everything below the folder that an unpacked tree is made of, and nothing anywhere else; without a folder (-1),
/// nothing at all. Returns the version in force.
static int restrict_files(int folder, const char **refused) {
    int version = dm_landlock_version();
    if (version < 1) return 0;
    uint64_t allowed = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                       LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                       LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM;
    uint64_t denied = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                      LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
    if (version >= 2) allowed |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) allowed |= FS_TRUNCATE;
    if (version >= 5) denied |= FS_IOCTL_DEV;
    struct ruleset attributes = {
        .fs = allowed | denied,
        .net = version >= 4 ? NET_ALL : 0,
        .scoped = version >= 6 ? SCOPE_ALL : 0,
    };
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    *refused = "landlock_create_ruleset";
    if (rules < 0) return -1;
    struct landlock_path_beneath_attr rule = {.allowed_access = allowed, .parent_fd = folder};
    int result = 0;
    *refused = "landlock_add_rule";
    if (folder >= 0) result = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    if (result == 0) {
        *refused = "landlock_restrict_self";
        result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    }
    int error = errno;
    close(rules);
    errno = error;
    return result == 0 ? version : -1;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the list of system calls is written for x86-64 and AArch64"
#endif

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
// The low half of an argument, on the little-endian machines above.
#define ARGUMENT(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (index))
#define HIGH_ARGUMENT(index) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (index) + 4)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
#define REFUSE(call, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), ANSWER(SECCOMP_RET_ERRNO | (error))
// Allowed unless the memory is to hold code.
#define ALLOW_DATA(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), ARGUMENT(2), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), ANSWER(SECCOMP_RET_KILL_PROCESS), \
        ANSWER(SECCOMP_RET_ALLOW)
// Allowed where that argument, a pointer, is NULL.
#define ALLOW_NULL(call, index) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 6), ARGUMENT(index), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3), HIGH_ARGUMENT(index), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), ANSWER(SECCOMP_RET_ALLOW), ANSWER(SECCOMP_RET_KILL_PROCESS)

// Allowed for the process itself alone; the number is put in when it is known.
#define OWN_PROCESS 0
#define ALLOW_SELF(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), ARGUMENT(0), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_PROCESS, 0, 1), ANSWER(SECCOMP_RET_ALLOW), \
        ANSWER(SECCOMP_RET_KILL_PROCESS)

static const struct sock_filter allowed_calls[] = {
    FIELD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    FIELD(nr),
    // The tree that is made. Every path goes through openat2, mkdirat and their like, below the folder; times are given
    // to what is open, and to nothing by a path, which could lead anywhere.
    ALLOW(pwrite64), ALLOW(write), ALLOW(openat2), ALLOW(close), ALLOW(pread64), ALLOW(read), ALLOW(lseek),
    ALLOW_NULL(utimensat, 1), ALLOW(fstat), ALLOW(mkdirat), ALLOW(ftruncate), ALLOW(symlinkat),
    ALLOW(linkat), ALLOW(unlinkat), ALLOW(fadvise64), ALLOW(fstatfs),
    ALLOW(sync_file_range),
    // What is told to the daemon.
    ALLOW(sendmsg),
    // Memory, threads, and the end.
    ALLOW(futex), ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(getrandom),
    ALLOW_DATA(mmap), ALLOW_DATA(mprotect),
    ALLOW(set_robust_list), ALLOW(rseq), ALLOW(rt_sigprocmask), ALLOW(rt_sigaction), ALLOW(rt_sigreturn),
    ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(restart_syscall), ALLOW(clock_gettime),
    ALLOW(gettid), ALLOW(getpid), ALLOW(exit), ALLOW(exit_group),
    // abort(3) sends a signal; to nobody else.
    ALLOW_SELF(tgkill),
    // Asking for a limit has no new value; setting one would reach any process of the same user.
    ALLOW_NULL(prlimit64, 2),
    // All threads there will be run already. The C library asks for clone3, then for clone.
    REFUSE(clone3, ENOSYS), REFUSE(clone, EAGAIN),
    // A path could be any here, whatever the flags: dm_status asks fstat.
    REFUSE(newfstatat, EACCES),
    // In place of openat2, where that is missing: one name, which is no link. The C library may look for a character
    // set, or for how the kernel shares out memory; it does without.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
    ARGUMENT(2),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_NOFOLLOW, 0, 1),
    ANSWER(SECCOMP_RET_ALLOW),
    ANSWER(SECCOMP_RET_ERRNO | EACCES),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
};

// Without a folder: what is handed in is read, and questions are answered. No call opens, makes or changes a file,
// whether the kernel has Landlock or not; newfstatat is how the C library asks of a descriptor.
static const struct sock_filter calls_without_folder[] = {
    FIELD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    FIELD(nr),
    ALLOW(pread64), ALLOW(read), ALLOW(lseek), ALLOW(recvmsg), ALLOW(sendmsg), ALLOW(close), ALLOW(write),
    ALLOW(fstat),
    ALLOW(futex), ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(getrandom),
    ALLOW_DATA(mmap), ALLOW_DATA(mprotect),
    ALLOW(rt_sigprocmask), ALLOW(rt_sigaction), ALLOW(rt_sigreturn), ALLOW(restart_syscall), ALLOW(clock_gettime),
    ALLOW(gettid), ALLOW(getpid), ALLOW(exit), ALLOW(exit_group),
    ALLOW_SELF(tgkill),
    REFUSE(openat, EACCES),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 3),
    ARGUMENT(3),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AT_EMPTY_PATH, 0, 1),
    ANSWER(SECCOMP_RET_ALLOW),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
};

// `grace`: how much more there is between the first word of it and the last, as for computing (SIGXCPU, then SIGKILL).
static int limit(__rlimit_resource_t resource, uint64_t most, uint64_t grace) {
    struct rlimit value;
    if (most == 0) return 0;
    if (getrlimit(resource, &value) != 0) return -1;
    if (value.rlim_max == RLIM_INFINITY || most + grace < value.rlim_max) value.rlim_max = most + grace;
    value.rlim_cur = most < value.rlim_max ? most : value.rlim_max;
    return setrlimit(resource, &value);
}

// What root may do beyond others, and what a service was given; a helper needs none of it.
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return (int)syscall(SYS_capset, &header, none);
}

#define FILTER(calls) filter_calls(calls, sizeof calls / sizeof *calls)
static int filter_calls(const struct sock_filter *allowed, size_t count) {
    struct sock_filter calls[count];
    memcpy(calls, allowed, sizeof calls);
    for (size_t index = 0; index + 2 < count; index++)
        if (calls[index].code == (BPF_JMP | BPF_JEQ | BPF_K) && calls[index].k == SYS_tgkill)
            calls[index + 2].k = (uint32_t)getpid();
    struct sock_fprog filter = {.len = (unsigned short)count, .filter = calls};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

int dm_confine(int folder, const struct dm_limits *limits, const char **refused) {
    const struct rlimit none = {0, 0};
    *refused = "setrlimit";
    if (setrlimit(RLIMIT_CORE, &none) != 0 || limit(RLIMIT_AS, limits->memory, 0) != 0 ||
        limit(RLIMIT_CPU, limits->cpu, 2) != 0 || limit(RLIMIT_FSIZE, limits->file_size, 0) != 0 ||
        limit(RLIMIT_NOFILE, limits->descriptors, 0) != 0)
        return -1;
    *refused = "prctl(PR_SET_NO_NEW_PRIVS)";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    // For whoever may: nothing but the folder is there to be named, with Landlock or without.
    if (folder >= 0 && fchdir(folder) == 0) (void)!chroot(".");
    int version = restrict_files(folder, refused);
    if (version < 0) return -1;
    *refused = "capset";
    if (drop_capabilities() != 0) return -1;
    *refused = "seccomp";
    int filtered = folder >= 0 ? FILTER(allowed_calls) : FILTER(calls_without_folder);
    return filtered == 0 ? version : -1;
}
