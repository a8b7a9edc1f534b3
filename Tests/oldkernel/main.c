// Runs a program, and all that it starts, as an older kernel would, or one that was built with less:
//
//   oldkernel landlock|landlock-refused|capset|tid-address|openat2|openat2-refused PROGRAM [ARGUMENT…]
//
// `landlock`: there is none (before Linux 5.13, or switched off). `tid-address`: prctl(2) knows no PR_GET_TID_ADDRESS.
// `landlock-refused`, `capset`: a service's SystemCallFilter= does not allow them.
// `openat2`: there is none (before Linux 5.6, or below systemd's RestrictSUIDSGID=); `openat2-refused`: a container that
// does not know it answers with EPERM.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LENGTH(filter) (sizeof(filter) / sizeof *(filter))
#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))

int main(int count, char **arguments) {
    // Without these three calls nothing else of Landlock can be asked for; the first is how programs learn of it.
    struct sock_filter landlock[] = {
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_add_rule, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_restrict_self, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter thread_address[] = {
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        FIELD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_GET_TID_ADDRESS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter openat2[] = {
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter openat2_refused[LENGTH(openat2)];
    memcpy(openat2_refused, openat2, sizeof openat2);
    openat2_refused[2].k = SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter landlock_refused[LENGTH(landlock)];
    memcpy(landlock_refused, landlock, sizeof landlock);
    landlock_refused[4].k = SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter capset_refused[LENGTH(openat2)];
    memcpy(capset_refused, openat2_refused, sizeof openat2_refused);
    capset_refused[1].k = SYS_capset;
    const struct {
        const char *name;
        struct sock_fprog filter;
    } kernels[] = {
        {"landlock", {.len = LENGTH(landlock), .filter = landlock}},
        {"landlock-refused", {.len = LENGTH(landlock_refused), .filter = landlock_refused}},
        {"capset", {.len = LENGTH(capset_refused), .filter = capset_refused}},
        {"tid-address", {.len = LENGTH(thread_address), .filter = thread_address}},
        {"openat2", {.len = LENGTH(openat2), .filter = openat2}},
        {"openat2-refused", {.len = LENGTH(openat2_refused), .filter = openat2_refused}},
    };
    if (count < 3) return 64;
    size_t chosen = 0;
    while (chosen < LENGTH(kernels) && strcmp(arguments[1], kernels[chosen].name) != 0) chosen++;
    if (chosen == LENGTH(kernels)) return 64;
    const struct sock_fprog *filter = &kernels[chosen].filter;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) != 0) {
        perror("oldkernel");
        return 71;
    }
    execv(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 72;
}
