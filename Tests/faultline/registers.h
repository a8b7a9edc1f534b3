// The registers of a traced thread as it enters or leaves a system call; the one file that knows the processor.
#pragma once

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined(__x86_64__)
typedef struct user_regs_struct registers;
static long number_of(const registers *r) { return (long)r->orig_rax; }
static long result_of(const registers *r) { return (long)r->rax; }
static void set_result(registers *r, long result) { r->rax = (unsigned long)result; }
static unsigned long argument(const registers *r, int i) {
    const unsigned long all[] = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9};
    return all[i];
}
static void set_argument(registers *r, int i, unsigned long value) {
    if (i == 2) r->rdx = value;
    if (i == 4) r->r8 = value;
}
static void leave_out(pid_t thread, registers *r, long result) {
    (void)thread;
    r->orig_rax = -1UL;
    r->rax = (unsigned long)result;
}
#elif defined(__aarch64__)
typedef struct user_regs_struct registers;
static long number_of(const registers *r) { return (long)r->regs[8]; }
static long result_of(const registers *r) { return (long)r->regs[0]; }
static void set_result(registers *r, long result) { r->regs[0] = (unsigned long)result; }
static unsigned long argument(const registers *r, int i) { return r->regs[i]; }
static void set_argument(registers *r, int i, unsigned long value) { r->regs[i] = value; }
static void leave_out(pid_t thread, registers *r, long result) {
    int none = -1;
    struct iovec part = {&none, sizeof none};
    ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &part);
    r->regs[0] = (unsigned long)result;
}
#else
#error "faultline knows x86_64 and aarch64"
#endif

static int get(pid_t thread, registers *r) {
    struct iovec part = {r, sizeof *r};
    return ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &part);
}

static void set(pid_t thread, registers *r) {
    struct iovec part = {r, sizeof *r};
    ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &part);
}
