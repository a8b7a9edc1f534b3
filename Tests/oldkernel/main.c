// Runs a program, and all that it starts, as an older kernel would, or one that was built with less:
//
//   oldkernel landlock|tid-address PROGRAM [ARGUMENT…]
//
// `landlock`: there is none (before Linux 5.13, or switched off). `tid-address`: prctl(2) knows no PR_GET_TID_ADDRESS.
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
    struct sock_fprog filter = {.len = sizeof landlock / sizeof *landlock, .filter = landlock};
    if (count < 3) return 64;
    if (strcmp(arguments[1], "tid-address") == 0)
        filter = (struct sock_fprog){.len = sizeof thread_address / sizeof *thread_address, .filter = thread_address};
    else if (strcmp(arguments[1], "landlock") != 0) return 64;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) {
        perror("oldkernel");
        return 71;
    }
    execv(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 72;
}
