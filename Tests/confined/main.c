// What a process that has given up its rights can still do: confines itself to a folder as a helper does, or with
// `without-folder` as its second argument to none, then makes one call. It exits with 0 where that went well and with the
// error's number where it was refused; a call that is on no list ends it by SIGSYS. With neither `without-folder` nor
// `confined` it makes the call with all its rights, which shows that the call is one that would go well.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int folder;

static int end_well(void *nothing) {
    (void)nothing;
    _exit(0);
}

static long outside(void) {
    // As if the code that sets RESOLVE_BENEATH were not asked.
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0600};
    char path[4096];
    snprintf(path, sizeof path, "%s/../escaped", getenv("FOLDER"));
    return syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

static long inside(void) { return dm_open_beneath(folder, "made", O_WRONLY | O_CREAT, 0600); }
static long above(void) { return dm_open_beneath(folder, "../escaped", O_WRONLY | O_CREAT, 0600); }
static long hard_link_out(void) { return linkat(AT_FDCWD, getenv("VICTIM"), folder, "linked", 0); }
static long make_device(void) { return syscall(SYS_mknodat, folder, "fifo", S_IFIFO | 0600, 0); }
static long set_user_id(void) { return fchmod(folder, 04755); }
static long start_process(void) { return syscall(SYS_fork) == 0 ? (_exit(0), 0) : 0; }
static long run_program(void) { return execl("/bin/true", "true", (char *)NULL); }
static long use_network(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static long signal_parent(void) { return kill(getppid(), 0); }
static long signal_parent_thread(void) { return syscall(SYS_tgkill, getppid(), getppid(), 0); }
static long limit_parent(void) {
    const struct rlimit more = {4096, 4096};
    return prlimit(getppid(), RLIMIT_MSGQUEUE, &more, NULL);
}
static long ask_limit(void) {
    struct rlimit value;
    return prlimit(0, RLIMIT_NOFILE, NULL, &value);
}
static long map_code(void) {
    void *made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? -1 : 0;
}
static long read_open(void) {
    struct stat status;
    return fstat(folder, &status) | (read(0, &status, 0) < 0);
}
static long look_outside(void) {
    struct stat status;
    return fstatat(AT_FDCWD, getenv("VICTIM"), &status, AT_SYMLINK_NOFOLLOW);
}
static long read_host_file(void) { return open("/etc/passwd", O_RDONLY); }
static long rename_within(void) { return renameat2(folder, "a", folder, "b", RENAME_NOREPLACE); }
static long set_times(void) { return utimensat(AT_FDCWD, getenv("VICTIM"), NULL, 0); }
static long set_times_beneath(void) { return utimensat(folder, "a", NULL, AT_SYMLINK_NOFOLLOW); }
static long set_own_times(void) { return futimens(dm_open_beneath(folder, "a", O_WRONLY, 0), NULL); }
static long examine(void) {
    struct stat status;
    return fstatat(AT_FDCWD, getenv("VICTIM"), &status, 0);
}
static long examine_own(void) {
    struct stat status;
    return dm_status_beneath(folder, "a", &status);
}
// Whether a file is there, which an open by O_PATH tells and Landlock does not see.
static long find(void) {
    struct open_how how = {.flags = O_PATH};
    return syscall(SYS_openat2, AT_FDCWD, getenv("VICTIM"), &how, sizeof how);
}
static void *idle(void *unused) { return unused; }
static long start_thread(void) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, idle, NULL);
    return errno == 0 ? 0 : -1;
}
static long trace(void) { return ptrace(PTRACE_TRACEME, 0, 0, 0); }

static const struct {
    const char *name;
    long (*call)(void);
} deeds[] = {
    {"inside", inside},         {"outside", outside},
    {"above", above},           {"hard_link_out", hard_link_out},
    {"make_device", make_device}, {"set_user_id", set_user_id},
    {"start_process", start_process}, {"run_program", run_program},
    {"use_network", use_network}, {"signal_parent", signal_parent},
    {"signal_parent_thread", signal_parent_thread}, {"limit_parent", limit_parent},
    {"ask_limit", ask_limit},   {"map_code", map_code},
    {"read_host_file", read_host_file}, {"rename_within", rename_within},
    {"trace", trace},           {"read_open", read_open},
    {"look_outside", look_outside}, {"set_times", set_times},
    {"set_times_beneath", set_times_beneath}, {"set_own_times", set_own_times},
    {"examine", examine},       {"examine_own", examine_own},
    {"find", find},             {"start_thread", start_thread},
};

int main(int count, char **arguments) {
    const struct dm_limits limits = {.cpu = 10, .descriptors = 64};
    if (count != 3) return 64;
    const char *path = getenv("FOLDER");
    folder = path ? open(path, O_RDONLY | O_DIRECTORY) : -1;
    if (folder < 0) return 65;
    const char *refused;
    if (strcmp(arguments[2], "confined") == 0 && dm_confine(folder, &limits, &refused) < 0) return 66;
    if (strcmp(arguments[2], "without-folder") == 0 && dm_confine(-1, &limits, &refused) < 0) return 66;
    for (size_t index = 0; index < sizeof deeds / sizeof *deeds; index++)
        if (strcmp(deeds[index].name, arguments[1]) == 0) _exit(deeds[index].call() < 0 ? errno : 0);
    return 67;
}
