// Runs a program and does something to it at its N-th system call of some kinds: kills it, makes the call fail, says that
// it failed though it was made, makes a write short, has it stand still, or cuts the power of the file system that it
// works on.
//
//   faultline --calls CALL,… [--path GLOB] [--from GLOB] [--at N[+]]
//             [--kill | --error ERRNO | --deny ERRNO | --short | --stop before | --stop after | --cut FOLDER …]
//             [--busy FOLDER …] [--without CALL,…]
//             [--skip CALL,… [--skip-path GLOB] [--skip-after GLOB] [--skip-until GLOB]] [--log FILE]
//             -- PROGRAM [ARGUMENT…]
//
// Calls are counted over all threads together, in the order in which they are entered: strace(1) counts for each thread,
// so that its `when=N` cannot reach every point of a program that works on many. Only calls that touch a path matching
// GLOB count (`*` matches `/` too, `@(a|b)` either), with `--from` from the first one on such a path on. `create` is an
// openat or openat2 that may make the file. What is done is done before the call is made. `--at N+`: the N-th and all
// later ones; with EINTR every other one, since a call that is interrupted for ever can only be made for ever. `--busy`:
// somebody else syncs a file there just before the power cut. `--skip`: these calls are never made and say that they
// succeeded, whether they count or not; with `--skip-path` only those on such a path; with `--skip-after` and
// `--skip-until` only once, or until, a call on such a path begins, of the calls that are named here. `--deny`: the call
// is made, and says that it failed, as one does over a network whose answer was lost. `--without`: the file system does
// not know these calls (EINVAL). `--stop`: all its threads stand still as of SIGSTOP, the one that makes the call right
// before or after that, until SIGCONT comes, which is handed on.
//
// FILE gets `call SEQUENCE NUMBER NAME PATH PATH` as a call begins, `done SEQUENCE RESULT` as it ends, and `total NUMBER`.
// The exit status is the program's, 128 + N where signal N ended it, 125 for trouble of its own. SIGTERM is handed on.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "registers.h"

// What an argument is, one letter each: p a path, d a folder that the next path starts from, f a descriptor, n a length.
struct call {
    const char *name;
    long number;
    const char *arguments;
};

static const struct call calls[] = {
#ifdef SYS_rename
    {"rename", SYS_rename, "pp"},
    {"mkdir", SYS_mkdir, "p"},
    {"unlink", SYS_unlink, "p"},
    {"rmdir", SYS_rmdir, "p"},
    {"link", SYS_link, "pp"},
    {"open", SYS_open, "p"},
#endif
    {"renameat", SYS_renameat, "dpdp"},
    {"renameat2", SYS_renameat2, "dpdp"},
    {"mkdirat", SYS_mkdirat, "dp"},
    {"unlinkat", SYS_unlinkat, "dp"},
    {"linkat", SYS_linkat, "dpdp"},
    {"openat", SYS_openat, "dp"},
    {"openat2", SYS_openat2, "dp"},
    {"create", SYS_openat, "dp"},
    {"create", SYS_openat2, "dp"},
    {"fsync", SYS_fsync, "f"},
    {"fdatasync", SYS_fdatasync, "f"},
    {"syncfs", SYS_syncfs, "f"},
    {"sync_file_range", SYS_sync_file_range, "f"},
    {"ftruncate", SYS_ftruncate, "f"},
    {"write", SYS_write, "f.n"},
    {"pwrite64", SYS_pwrite64, "f.n"},
    {"copy_file_range", SYS_copy_file_range, "..f.n"},
};
enum { callCount = sizeof calls / sizeof *calls };

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO},     {"EDQUOT", EDQUOT}, {"EROFS", EROFS}, {"EMFILE", EMFILE},
    {"EXDEV", EXDEV},   {"EINTR", EINTR}, {"EACCES", EACCES}, {"ENOENT", ENOENT},
    {"EEXIST", EEXIST}, {"ETIMEDOUT", ETIMEDOUT}, {"ESTALE", ESTALE},
};

static int counted[callCount], skipped[callCount], unknown[callCount];
static const char *glob = "*", *from, *skipGlob = "*", *skipAfter, *skipUntil;
static long at, count, sequence;
static int andLater, hasFired, isSkipOver;
static enum { nothing, killing, failing, denying, shortening, stopping, cutting } action;
static int isStopAfter;
// The thread that stands still at its call, and how it goes on.
static pid_t held;
static int heldHow;
static int injected;
static const char *cuts[8], *busy[8];
static int cutCount, busyCount;
static FILE *logFile;
static pid_t child;

static void give_up(const char *what) {
    perror(what);
    if (child > 0) kill(child, SIGKILL);
    exit(125);
}

static void hold(pid_t thread) {
    kill(child, SIGSTOP);
    held = thread;
}

static void hand_on(int signal) { kill(child, signal); }

static void wake(int signal) {
    kill(child, signal);
    if (held) ptrace(heldHow, held, 0, 0L);
    held = 0;
}

static void choose(char *names, int *chosen) {
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        for (int i = 0; i < callCount; i++)
            if (!strcmp(calls[i].name, name)) chosen[i] = 1;
    }
}

// ---- The paths of a call

static void link_target(pid_t thread, const char *what, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/%s", thread, what);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

static void path_of(pid_t thread, int descriptor, char *path) {
    char what[32];
    snprintf(what, sizeof what, "fd/%d", descriptor);
    link_target(thread, descriptor == AT_FDCWD ? "cwd" : what, path);
}

static void text_at(pid_t thread, unsigned long address, char *text) {
    size_t length = 0;
    while (length < PATH_MAX - 1) {
        size_t piece = 4096 - (address + length) % 4096;
        if (piece > PATH_MAX - 1 - length) piece = PATH_MAX - 1 - length;
        struct iovec here = {text + length, piece}, there = {(void *)(address + length), piece};
        ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);
        if (got <= 0) break;
        if (memchr(text + length, 0, (size_t)got)) return;
        length += (size_t)got;
    }
    text[length] = 0;
}

// Fills in up to two paths.
static void paths_of(pid_t thread, const struct call *call, const registers *r, char paths[2][PATH_MAX * 2]) {
    int found = 0, folder = AT_FDCWD;
    paths[0][0] = paths[1][0] = 0;
    for (int i = 0; call->arguments[i] && found < 2; i++) {
        unsigned long value = argument(r, i);
        switch (call->arguments[i]) {
            case 'd': folder = (int)value; break;
            case 'f': path_of(thread, (int)value, paths[found++]); break;
            case 'p': {
                char name[PATH_MAX];
                text_at(thread, value, name);
                if (name[0] == '/') {
                    strcpy(paths[found], name);
                } else {
                    path_of(thread, folder, paths[found]);
                    strcat(strcat(paths[found], "/"), name);
                }
                found++;
                break;
            }
        }
    }
}

// ---- What happens at a call

static void cut_power(void) {
    unsigned argument = 2;  // EXT4_GOING_FLAGS_NOLOGFLUSH: what is not on the disk by now never gets there.
    // Somebody else syncs a file of theirs just before: names get to the disk by that, but not the data behind them.
    for (int i = 0; i < busyCount; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/somebody-else", busy[i]);
        int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (file < 0 || write(file, "x", 1) != 1 || fsync(file) != 0) give_up(path);
        close(file);
    }
    for (int i = 0; i < cutCount; i++) {
        int folder = open(cuts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0 || ioctl(folder, 0x8004587d, &argument) != 0) give_up(cuts[i]);
        close(folder);
    }
    kill(child, SIGKILL);
}

static void shorten(const struct call *call, registers *r) {
    const char *length = strchr(call->arguments, 'n');
    if (!length) return;
    int index = (int)(length - call->arguments);
    unsigned long value = argument(r, index);
    if (value > 1) set_argument(r, index, value / 2);
}

// The flags of an openat, or of an openat2, which has them in memory.
static unsigned long flags_of(pid_t thread, const registers *r) {
    if (number_of(r) != SYS_openat2) return argument(r, 2);
    unsigned long flags = 0;
    struct iovec here = {&flags, sizeof flags}, there = {(void *)argument(r, 2), sizeof flags};
    return process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)sizeof flags ? flags : 0;
}

// Which of the wanted calls this is, or NULL.
static const struct call *wanted(pid_t thread, const registers *r, const int *chosen) {
    for (int i = 0; i < callCount; i++) {
        if (!chosen[i] || calls[i].number != number_of(r)) continue;
        if (!strcmp(calls[i].name, "create") && !(flags_of(thread, r) & O_CREAT)) continue;
        return &calls[i];
    }
    return NULL;
}

// What is known of a call until it ends.
struct mark {
    long sequence;
    // What it is to say although it was made.
    int denied;
    // Whether the program is to stand still then.
    int stops;
};

static int is_on(const char *wanted, char paths[2][PATH_MAX * 2]) {
    return fnmatch(wanted, paths[0], FNM_EXTMATCH) == 0 || fnmatch(wanted, paths[1], FNM_EXTMATCH) == 0;
}

// Returns whether the call's end is to be seen.
static int at_call(pid_t thread, struct mark *mark) {
    static char paths[2][PATH_MAX * 2];
    registers r;
    if (get(thread, &r) != 0) return 0;
    const struct call *skip = wanted(thread, &r, skipped), *call = wanted(thread, &r, counted);
    const struct call *strange = wanted(thread, &r, unknown);
    if (!skip && !call && !strange) return 0;
    paths_of(thread, call ? call : skip ? skip : strange, &r, paths);
    if (skipAfter && is_on(skipAfter, paths)) skipAfter = NULL;
    if (skipUntil && is_on(skipUntil, paths)) isSkipOver = 1;
    if (skip && !skipAfter && !isSkipOver && fnmatch(skipGlob, paths[0], FNM_EXTMATCH) == 0) {
        // What is written seems to be written whole.
        const char *length = strchr(skip->arguments, 'n');
        leave_out(thread, &r, length ? (long)argument(&r, (int)(length - skip->arguments)) : 0);
        set(thread, &r);
    }
    if (!is_on(glob, paths)) return 0;
    if (strange) {
        leave_out(thread, &r, -EINVAL);
        set(thread, &r);
        return 0;
    }
    if (!call || (from && !is_on(from, paths))) return 0;
    from = NULL;
    count++;
    *mark = (struct mark){++sequence, 0, 0};
    if (logFile) fprintf(logFile, "call\t%ld\t%ld\t%s\t%s\t%s\n", mark->sequence, count, call->name, paths[0], paths[1]);
    if (at == 0 || count < at || (count > at && !andLater)) return logFile != NULL;
    if (action == failing && injected == EINTR && (count - at) % 2 != 0) return logFile != NULL;
    hasFired = 1;
    switch (action) {
        case nothing: break;
        case killing: kill(child, SIGKILL); break;
        case cutting: cut_power(); break;
        case failing: leave_out(thread, &r, -injected); break;
        case denying: mark->denied = injected; return 1;
        case shortening: shorten(call, &r); break;
        case stopping:
            if (!isStopAfter) hold(thread);
            mark->stops = isStopAfter;
            return isStopAfter || logFile != NULL;
    }
    if (action == failing || action == shortening) set(thread, &r);
    return logFile != NULL;
}

// ---- Running

static void run(char **program, int gate) {
    char byte;
    if (read(gate, &byte, 1) != 1) _exit(125);
    struct sock_filter filter[2 * callCount + 3];
    int length = 0;
    filter[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < callCount; i++) {
        if (!counted[i] && !skipped[i] && !unknown[i]) continue;
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog all = {(unsigned short)length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
        give_up("seccomp");
    execvp(program[0], program);
    perror(program[0]);
    _exit(125);
}

static int marksOf(pid_t thread, struct mark **mark) {
    enum { most = 256 };
    static struct {
        pid_t thread;
        struct mark mark;
    } marks[most];
    for (int i = 0; i < most; i++) {
        if (marks[i].thread != thread && marks[i].thread != 0) continue;
        marks[i].thread = thread;
        *mark = &marks[i].mark;
        return 1;
    }
    return 0;
}

static int watch(void) {
    int status, end = 125;
    pid_t thread;
    while ((thread = waitpid(-1, &status, __WALL)) > 0 || (thread < 0 && errno == EINTR)) {
        if (thread < 0) continue;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child) end = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        struct mark *mark = NULL;
        int signal = WSTOPSIG(status), event = status >> 16, how = PTRACE_CONT;
        if (event == PTRACE_EVENT_SECCOMP) {
            if (marksOf(thread, &mark) && at_call(thread, mark)) how = PTRACE_SYSCALL;
            signal = 0;
        } else if (event == PTRACE_EVENT_STOP) {
            if (signal != SIGTRAP) how = PTRACE_LISTEN;
            signal = 0;
        } else if (event != 0) {
            signal = 0;
        } else if (signal == (SIGTRAP | 0x80)) {
            registers r;
            if (get(thread, &r) == 0 && marksOf(thread, &mark)) {
                if (mark->denied && result_of(&r) >= 0) {
                    set_result(&r, -mark->denied);
                    set(thread, &r);
                }
                if (mark->stops) hold(thread);
                if (logFile) fprintf(logFile, "done\t%ld\t%ld\n", mark->sequence, result_of(&r));
            }
            signal = 0;
        }
        if (thread == held) {
            heldHow = how;
            continue;
        }
        // A thread that was just killed is gone: ESRCH, as it should be.
        ptrace(how, thread, 0, (long)signal);
    }
    return end;
}

int main(int argc, char **argv) {
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *option = argv[i];
        if (!strcmp(option, "--kill")) {
            action = killing;
            continue;
        }
        if (!strcmp(option, "--short")) {
            action = shortening;
            continue;
        }
        char *value = i + 1 < argc ? argv[++i] : "";
        if (!strcmp(option, "--calls")) choose(value, counted);
        if (!strcmp(option, "--skip")) choose(value, skipped);
        if (!strcmp(option, "--without")) choose(value, unknown);
        if (!strcmp(option, "--path")) glob = value;
        if (!strcmp(option, "--from")) from = value;
        if (!strcmp(option, "--skip-path")) skipGlob = value;
        if (!strcmp(option, "--skip-after")) skipAfter = value;
        if (!strcmp(option, "--skip-until")) skipUntil = value;
        if (!strcmp(option, "--busy") && busyCount < 8) busy[busyCount++] = value;
        if (!strcmp(option, "--at")) {
            at = atol(value);
            andLater = strchr(value, '+') != NULL;
        }
        if (!strcmp(option, "--log")) {
            if (!(logFile = fopen(value, "we"))) give_up(value);
            // Whoever reads it meanwhile is to see all.
            setvbuf(logFile, NULL, _IOLBF, BUFSIZ);
        }
        if (!strcmp(option, "--cut") && cutCount < 8) {
            action = cutting;
            cuts[cutCount++] = value;
        }
        if (!strcmp(option, "--stop")) {
            action = stopping;
            isStopAfter = !strcmp(value, "after");
        }
        if (!strcmp(option, "--error") || !strcmp(option, "--deny")) {
            action = !strcmp(option, "--deny") ? denying : failing;
            for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
                if (!strcmp(errors[e].name, value)) injected = errors[e].number;
        }
    }
    if (i + 1 >= argc) {
        fputs("usage: faultline --calls CALL,… [OPTION…] -- PROGRAM [ARGUMENT…]\n", stderr);
        return 64;
    }
    int gate[2];
    if (pipe2(gate, O_CLOEXEC) != 0) give_up("pipe");
    child = fork();
    if (child < 0) give_up("fork");
    if (child == 0) run(argv + i + 1, gate[0]);
    const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACESECCOMP
                         | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, child, 0, options) != 0) give_up("ptrace");
    signal(SIGTERM, hand_on);
    signal(SIGCONT, wake);
    if (write(gate[1], "", 1) != 1) give_up("pipe");
    int end = watch();
    if (logFile) fprintf(logFile, "total\t%ld\t%d\n", count, hasFired);
    return end;
}
