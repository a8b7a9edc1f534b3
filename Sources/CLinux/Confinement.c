#define _GNU_SOURCE
#include "Confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// What headers older than the kernel do not name (linux/landlock.h of Linux 6.12, asm/unistd.h of 6.13).
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_ALL 3ULL
#define SCOPE_ALL 3ULL
enum { call_fchmodat2 = 452, call_setxattrat = 463, call_removexattrat = 466, call_file_setattr = 469 };

// linux/landlock.h of Linux 6.12; older kernels take the shorter ones as long as the rest is zero.
struct ruleset {
    uint64_t fs, net, scoped;
};

static const uint64_t reading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t devices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

/// Every right that this version knows; the first has 13.
static uint64_t all_rights(int version) {
    uint64_t rights = (1ULL << 13) - 1;
    if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) rights |= FS_TRUNCATE;
    if (version >= 5) rights |= FS_IOCTL_DEV;
    return rights;
}

int dm_new_rules(int network) {
    int version = dm_landlock_version();
    struct ruleset attributes = {
        .fs = all_rights(version),
        .net = version >= 4 && !network ? NET_ALL : 0,
        .scoped = version >= 6 ? SCOPE_ALL : 0,
    };
    return (int)syscall(SYS_landlock_create_ruleset, &attributes, version >= 6 ? 24 : version >= 4 ? 16 : 8, 0);
}

int dm_allow(int rules, const char *path, enum dm_access access) {
    int target = open(path, O_PATH | O_CLOEXEC);
    if (target < 0) return -1;
    struct stat status = {0};
    int result = fstat(target, &status);
    uint64_t of_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                        FS_TRUNCATE | FS_IOCTL_DEV;
    uint64_t wanted = access == dm_access_read     ? reading
                      : access == dm_access_device ? of_files & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE
                                                   : ~devices;
    if (!S_ISDIR(status.st_mode)) wanted &= of_files;
    struct landlock_path_beneath_attr rule = {
        .allowed_access = wanted & all_rights(dm_landlock_version()), .parent_fd = target};
    if (result == 0) result = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    int error = errno;
    close(target);
    errno = error;
    return result == 0 ? 0 : -2;
}

int dm_keep_private(void) {
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none) | prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the numbers of system calls are known for x86-64 and AArch64"
#endif

/// A filter while it is made; it has some 240 steps in the end.
struct filter {
    unsigned short count;
    struct sock_filter steps[400];
};

static const uint32_t allowed = SECCOMP_RET_ALLOW, asked = SECCOMP_RET_USER_NOTIF;
static uint32_t refused(int error) { return SECCOMP_RET_ERRNO | (uint32_t)error; }

static void step(struct filter *filter, uint16_t code, uint32_t value, uint8_t when_true, uint8_t when_false) {
    filter->steps[filter->count++] = (struct sock_filter){code, when_true, when_false, value};
}

static void load(struct filter *filter, size_t offset) {
    step(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/// The low half of an argument, on the little-endian machines above.
static void load_argument(struct filter *filter, int index) {
    load(filter, offsetof(struct seccomp_data, args) + 8 * (size_t)index);
}

static void answer(struct filter *filter, uint32_t value) { step(filter, BPF_RET | BPF_K, value, 0, 0); }

/// Answers if what is loaded is the value, or has one of its bits (BPF_JSET).
static void answer_if(struct filter *filter, uint16_t test, uint32_t value, uint32_t then) {
    step(filter, BPF_JMP | test | BPF_K, value, 0, 1);
    answer(filter, then);
}

static void answer_call(struct filter *filter, long call, uint32_t value) {
    answer_if(filter, BPF_JEQ, (uint32_t)call, value);
}

/// What follows, to `end_call`, is about one call.
static unsigned begin_call(struct filter *filter, long call) {
    step(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 0);
    return filter->count - 1u;
}

static void end_call(struct filter *filter, unsigned begin, uint32_t otherwise) {
    answer(filter, otherwise);
    filter->steps[begin].jf = (uint8_t)(filter->count - 1u - begin);
}

/// Refused unless the argument is 0: the process itself, or its current thread.
static void allow_self(struct filter *filter, long call, int argument) {
    unsigned begin = begin_call(filter, call);
    load_argument(filter, argument);
    answer_if(filter, BPF_JEQ, 0, allowed);
    end_call(filter, begin, refused(EPERM));
}

/// A change of the owner to whom all that it can own has anyway does nothing, and any other is refused.
static void answer_chown(struct filter *filter, long call, int argument) {
    unsigned begin = begin_call(filter, call);
    const uint32_t own[] = {geteuid(), getegid()};
    for (int index = 0; index < 2; index++) {
        load_argument(filter, argument + index);
        step(filter, BPF_JMP | BPF_JEQ | BPF_K, own[index], 2, 0);
        step(filter, BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 1, 0);
        answer(filter, refused(EPERM));
    }
    end_call(filter, begin, refused(0));
}

/// What Landlock has no word for. Files' attributes can be changed through any descriptor, also one for reading; so the
/// keeper is asked, or the answer is that of a file system without them.
static void filter_attributes(struct filter *filter) {
    static const long changes[] = {SYS_fchmod, SYS_fchmodat, call_fchmodat2, SYS_utimensat};
    for (size_t index = 0; index < sizeof changes / sizeof *changes; index++)
        answer_call(filter, changes[index], asked);
    answer_chown(filter, SYS_fchown, 1);
    answer_chown(filter, SYS_fchownat, 2);
#if defined(__x86_64__)
    answer_call(filter, SYS_chmod, asked);
    answer_chown(filter, SYS_chown, 1);
    answer_chown(filter, SYS_lchown, 1);
    static const long old[] = {SYS_utime, SYS_utimes, SYS_futimesat};
    for (size_t index = 0; index < sizeof old / sizeof *old; index++) answer_call(filter, old[index], refused(EPERM));
#endif
    static const long extended[] = {SYS_setxattr,    SYS_lsetxattr,    SYS_fsetxattr,   call_setxattrat,
                                    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, call_removexattrat,
                                    call_file_setattr};
    for (size_t index = 0; index < sizeof extended / sizeof *extended; index++)
        answer_call(filter, extended[index], refused(EOPNOTSUPP));
    // FS_IOC_* and XFS's: flags, projects, verity.
    unsigned begin = begin_call(filter, SYS_ioctl);
    load_argument(filter, 1);
    step(filter, BPF_ALU | BPF_AND | BPF_K, 0xFF00, 0, 0);
    answer_if(filter, BPF_JEQ, 'f' << 8, refused(ENOTTY));
    answer_if(filter, BPF_JEQ, 'X' << 8, refused(ENOTTY));
    end_call(filter, begin, allowed);
    // Whoever else opens what has a lease waits.
    begin = begin_call(filter, SYS_fcntl);
    load_argument(filter, 1);
    answer_if(filter, BPF_JEQ, F_SETLEASE, refused(EACCES));
    end_call(filter, begin, allowed);
}

/// Before version 3 Landlock does not see what truncates without writing.
static void filter_truncation(struct filter *filter) {
    answer_call(filter, SYS_truncate, refused(EACCES));
    answer_call(filter, SYS_openat2, refused(ENOSYS));
    const struct { long call; int flags; } opening[] = {
        {SYS_openat, 2},
#if defined(__x86_64__)
        {SYS_open, 1},
#endif
    };
    for (size_t index = 0; index < sizeof opening / sizeof *opening; index++) {
        unsigned begin = begin_call(filter, opening[index].call);
        load_argument(filter, opening[index].flags);
        step(filter, BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE, 0, 0);
        answer_if(filter, BPF_JEQ, O_TRUNC | O_RDONLY, refused(EACCES));
        end_call(filter, begin, allowed);
    }
}

/// What reaches other processes of the same user without a file and without a signal.
static void filter_processes(struct filter *filter) {
    unsigned begin = begin_call(filter, SYS_clone);
    load_argument(filter, 0);
    const uint32_t spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                            CLONE_NEWNET;
    answer_if(filter, BPF_JSET, spaces, refused(EPERM));
    end_call(filter, begin, asked);
    // Its flags lie in memory, where a filter cannot look; the C library then falls back to clone.
    answer_call(filter, SYS_clone3, refused(ENOSYS));
#if defined(__x86_64__)
    answer_call(filter, SYS_fork, asked);
    answer_call(filter, SYS_vfork, asked);
#endif
    // Setting a limit has a new value.
    begin = begin_call(filter, SYS_prlimit64);
    load_argument(filter, 0);
    answer_if(filter, BPF_JEQ, 0, allowed);
    load_argument(filter, 2);
    step(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load(filter, offsetof(struct seccomp_data, args) + 8 * 2 + 4);
    answer_if(filter, BPF_JEQ, 0, allowed);
    end_call(filter, begin, refused(EPERM));
    static const long first[] = {SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_sched_setaffinity};
    for (size_t index = 0; index < sizeof first / sizeof *first; index++) allow_self(filter, first[index], 0);
    allow_self(filter, SYS_setpriority, 1);
    allow_self(filter, SYS_ioprio_set, 1);
    // System V's and POSIX's queues, semaphores and memory belong to users, as the kernel's keys do; io_uring makes
    // sockets past this filter.
    static const long none[] = {
        SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop,
        SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink, SYS_add_key, SYS_request_key, SYS_keyctl,
        SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    };
    for (size_t index = 0; index < sizeof none / sizeof *none; index++)
        answer_call(filter, none[index], refused(EPERM));
    answer_call(filter, SYS_io_uring_setup, refused(ENOSYS));
}

/// A pair of sockets is no way out.
static void filter_sockets(struct filter *filter, int network) {
    unsigned begin = begin_call(filter, SYS_socket);
    load_argument(filter, 0);
    const uint32_t families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
    for (size_t index = 0; network && index < sizeof families / sizeof *families; index++)
        answer_if(filter, BPF_JEQ, families[index], allowed);
    end_call(filter, begin, refused(network ? EAFNOSUPPORT : EACCES));
}

static int filter_calls(const struct dm_confinement *confinement) {
    struct filter filter = {0};
    load(&filter, offsetof(struct seccomp_data, arch));
    step(&filter, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    answer(&filter, SECCOMP_RET_KILL_PROCESS);
    load(&filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    // The numbers of x32, which are others for the same calls.
    step(&filter, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    answer(&filter, SECCOMP_RET_KILL_PROCESS);
#endif
    filter_sockets(&filter, confinement->network);
    filter_processes(&filter);
    if (dm_landlock_version() < 3) filter_truncation(&filter);
    filter_attributes(&filter);
    answer(&filter, allowed);
    struct sock_fprog program = {.len = filter.count, .filter = filter.steps};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int limit(__rlimit_resource_t resource, uint64_t most) {
    struct rlimit value;
    if (most == 0) return 0;
    if (getrlimit(resource, &value) != 0) return -1;
    if (most < value.rlim_max) value.rlim_max = most;
    value.rlim_cur = value.rlim_max;
    return setrlimit(resource, &value);
}

/// What root may do beyond others, and what a service was given. Under no_new_privs not even root gets it back.
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return (int)syscall(SYS_capset, &header, none);
}

int dm_enter_confinement(const struct dm_confinement *confinement, int *listener) {
    if (dm_allow(confinement->rules, "/proc/self", dm_access_read) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_landlock_restrict_self, confinement->rules, 0) != 0 || drop_capabilities() != 0 ||
        limit(RLIMIT_AS, confinement->memory) != 0 || limit(RLIMIT_FSIZE, confinement->file_size) != 0)
        return -1;
    *listener = filter_calls(confinement);
    return *listener < 0 ? -1 : 0;
}
