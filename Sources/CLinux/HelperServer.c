#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sysexits.h>
#include <unistd.h>

// To start the program anew for each archive would cost ten times what a copy of the running one does: a hundred
// thousand relocations, dozens of libraries.

/// Where a server has its conversation with the daemon, and a helper its own; and where a helper's last words go.
enum { log_end = 2, channel_end = 3, first_other = 4 };

/// fork(2), but the child is one of the caller's parent. The thread that the child consists of gets its number where
/// the C library looks for it, as in _Fork(3).
static pid_t fork_sibling(int *thread_number) {
    const unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
#if defined(__x86_64__)
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, thread_number, 0);
#elif defined(__aarch64__)
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, 0, thread_number);
#else
#error "the order of clone's arguments is known for x86-64 and AArch64"
#endif
}

/// Gives the calling process the descriptors of a helper. They came after the server's own, so their numbers are none
/// of those that they get.
static void become_helper(int channel, int log) {
    if (dup2(log, log_end) < 0 || dup2(channel, channel_end) < 0) _exit(EX_OSERR);
    closefrom(first_other);
    prctl(PR_SET_NAME, "dropmill-helper");
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(EX_OSERR);
}

/// A thread that has run nothing but this: Swift's runtime remembers for each thread what its number is, for its locks,
/// and in a copy of a thread that it knows it would be the wrong one. Returns where the process itself is to be the
/// helper.
static void *serve(void *argument) {
    void (*const *helper)(void) = argument;
    int *thread_number = NULL;
    // Not there in a kernel without CONFIG_CHECKPOINT_RESTORE.
    if (prctl(PR_GET_TID_ADDRESS, &thread_number, 0, 0, 0) != 0) thread_number = NULL;
    for (;;) {
        char order;
        int descriptors[4], count;
        ssize_t received = dm_receive_packet(channel_end, &order, sizeof order, descriptors, &count);
        if (received == 0) _exit(EX_OK);
        if (received < 0 || count != 2) _exit(EX_PROTOCOL);
        pid_t answer = thread_number ? fork_sibling(thread_number) : getpid();
        if (answer == 0) {
            become_helper(descriptors[0], descriptors[1]);
            (*helper)();
            _exit(EX_OK);
        }
        if (answer < 0) answer = -errno;
        // Before the answer: nobody but the helper may hold its end, or its death would not be seen.
        if (thread_number) {
            close(descriptors[0]);
            close(descriptors[1]);
        }
        if (dm_send_packet(channel_end, &answer, sizeof answer, NULL, 0) < 0) _exit(EX_OK);
        if (!thread_number) {
            become_helper(descriptors[0], descriptors[1]);
            return NULL;
        }
    }
}

void dm_serve_helpers(const char *name, void (*helper)(void)) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(EX_OSERR);
    // May fail where /proc is not what it should be; the helpers are no less safe then.
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, "1000", 4);
        close(file);
    }
    prctl(PR_SET_NAME, name);
    pthread_t thread;
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || pthread_create(&thread, NULL, serve, &helper) != 0) _exit(EX_OSERR);
    pthread_join(thread, NULL);
    helper();
    _exit(EX_OK);
}
