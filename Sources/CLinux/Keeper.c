#define _GNU_SOURCE
#include "Confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// The keeper is a fork that never calls exec: there are a few pages of it, and it is there in a moment. What it may
// call is what a signal handler may, since other threads of the caller may have held any lock.

/// Where a keeper has its descriptors; those of the program are 0, 1 and 2. The rules are there if it is confined.
enum { lifeline_end = 3, report_end = 4, rules_end = 5, first_other = 6 };

struct kept {
    const char *program;
    char *const *arguments;
    char *const *environment;
    const char *folder;
    /// NULL where it may do what the caller may.
    const struct dm_confinement *confinement;
};

/// Tells an error of the program's start; one of its confinement with a minus sign.
static _Noreturn void report(int end, int error) {
    (void)!write(end, &error, sizeof error);
    _exit(EXIT_FAILURE);
}

/// Gives the descriptors the numbers above, and closes all others.
static int arrange(const int descriptors[3], int lifeline, int errors, int rules) {
    int all[first_other] = {descriptors[0], descriptors[1], descriptors[2], lifeline, errors, rules};
    int count = rules < 0 ? rules_end : first_other;
    // Out of the way first: each may have the number that another is to get.
    for (int index = 0; index < count; index++) {
        all[index] = fcntl(all[index], F_DUPFD, first_other);
        if (all[index] < 0) return -1;
    }
    for (int index = 0; index < count; index++)
        if (dup2(all[index], index) < 0) return -1;
    closefrom(count);
    if (rules >= 0 && fcntl(rules_end, F_SETFD, FD_CLOEXEC) != 0) return -1;
    return fcntl(report_end, F_SETFD, FD_CLOEXEC);
}

/// Confines the calling process, and hands the keeper what the kernel asks by.
static void confine(const struct dm_confinement *confinement, int channel) {
    struct dm_confinement own = *confinement;
    own.rules = rules_end;
    int listener;
    if (dm_enter_confinement(&own, &listener) != 0 || dm_send_packet(channel, "", 1, &listener, 1) < 0)
        report(report_end, -errno);
    close(listener);
}

/// What `confine` handed over; -1 where it could not.
static int receive_listener(int channel) {
    char byte;
    int received[4], count = 0;
    ssize_t size;
    do {
        size = dm_receive_packet(channel, &byte, 1, received, &count);
    } while (size < 0 && errno == EINTR);
    return count == 1 ? received[0] : -1;
}

/// Tells the caller, if there still is one.
static void tell(int value) { (void)!send(lifeline_end, &value, sizeof value, MSG_NOSIGNAL); }

/// What becomes the program.
static _Noreturn void become(const struct kept *kept, pid_t keeper, int channel) {
    // Even a keeper that is killed takes the program along.
    if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || chdir(kept->folder) != 0)
        report(report_end, errno);
    if (getppid() != keeper) _exit(EXIT_FAILURE);
    // By itself: it may end the keeper before that runs again.
    tell(getpid());
    close(lifeline_end);
    // Signals as a shell gives them: the daemon ignores some, and that is inherited.
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (kept->confinement != NULL) confine(kept->confinement, channel);
    execve(kept->program, kept->arguments, kept->environment);
    report(report_end, errno);
}

/// Whether the program is over. It is left to be reaped, so that no other process can have its number; whoever else is
/// over (a child of the program's that was left to the keeper) is reaped.
static int is_over(pid_t program) {
    for (;;) {
        siginfo_t ended = {0};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return 0;
        if (ended.si_pid == program) return 1;
        waitpid(ended.si_pid, NULL, 0);
    }
}

/// Kills the keeper's children. Returns how many there are, without those that have another user's rights.
static int kill_children(void) {
    char text[4096];
    int count = 0;
    int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text);
    close(file);
    pid_t number = 0;
    for (ssize_t index = 0; index < length; index++) {
        if (text[index] >= '0' && text[index] <= '9') {
            number = number * 10 + (text[index] - '0');
            continue;
        }
        if (number > 0 && kill(number, SIGKILL) == 0) count++;
        number = 0;
    }
    return count;
}

/// Ends the program and all that it has started, and returns how the program ended.
static int end_all(pid_t program) {
    int status = 0;
    kill(-program, SIGKILL);
    kill(program, SIGKILL);
    while (waitpid(program, &status, 0) < 0 && errno == EINTR) {}
    // Those that left the group are the keeper's by now, and the children of each once it is gone.
    for (;;) {
        int left = kill_children();
        pid_t ended = waitpid(-1, NULL, left > 0 ? 0 : WNOHANG);
        if (ended == 0 || (ended < 0 && errno != EINTR)) return status;
    }
}

static _Noreturn void keep(const struct kept *kept, const int descriptors[3], int lifeline, int errors) {
    const struct dm_confinement *confinement = kept->confinement;
    if (arrange(descriptors, lifeline, errors, confinement == NULL ? -1 : confinement->rules) != 0)
        report(errors, errno);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    int children = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    // A group of its own: what a terminal sends to the daemon's is for the daemon to judge.
    if (children < 0 || setpgid(0, 0) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) report(report_end, errno);
    prctl(PR_SET_NAME, "dropmill-keeper");
    int channel[2] = {-1, -1}, folder = -1, listener = -1;
    if (confinement != NULL) {
        folder = open(confinement->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0 || dm_packet_sockets(channel) != 0) report(report_end, errno);
    }
    pid_t keeper = getpid();
    pid_t program = _Fork();
    if (program == 0) become(kept, keeper, channel[1]);
    if (program < 0) report(report_end, errno);
    close(0);
    close(1);
    close(2);
    close(report_end);
    if (confinement != NULL) {
        close(rules_end);
        close(channel[1]);
        listener = receive_listener(channel[0]);
        close(channel[0]);
    }
    unsigned started = 1;
    struct pollfd waits[] = {
        {.fd = lifeline_end, .events = POLLIN}, {.fd = children, .events = POLLIN},
        {.fd = listener, .events = POLLIN}};
    while (!is_over(program)) {
        if (poll(waits, 3, -1) < 0) continue;
        struct signalfd_siginfo ended;
        while (read(children, &ended, sizeof ended) > 0) {}
        if (waits[2].revents != 0 && dm_answer_call(listener, confinement, folder, &started) != 0) waits[2].fd = -1;
        if (waits[0].revents == 0) continue;
        unsigned char number;
        if (read(lifeline_end, &number, 1) != 1) break;
        kill(-program, number);
    }
    // From here on it cannot start anything: the kernel refuses what nobody answers.
    if (listener >= 0) close(listener);
    tell(end_all(program));
    _exit(EXIT_SUCCESS);
}

pid_t dm_spawn_kept(
    const char *program, char *const arguments[], char *const environment[], const char *folder,
    const int descriptors[3], const struct dm_confinement *confinement, int *lifeline) {
    int life[2], errors[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life) != 0) return -1;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        int error = errno;
        close(life[0]);
        close(life[1]);
        errno = error;
        return -1;
    }
    struct kept kept = {
        .program = program, .arguments = arguments, .environment = environment, .folder = folder,
        .confinement = confinement};
    // The caller's handlers are not for the keeper.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t keeper = _Fork();
    if (keeper == 0) keep(&kept, descriptors, life[1], errors[1]);
    int failure = keeper < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(life[1]);
    close(errors[1]);
    ssize_t count = 0;
    if (keeper > 0) {
        // It closes by itself once the program runs.
        do {
            count = read(errors[0], &failure, sizeof failure);
        } while (count < 0 && errno == EINTR);
        if (count == 0) failure = 0;
        if (failure != 0)
            while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR) {}
    }
    close(errors[0]);
    if (failure == 0) {
        *lifeline = life[0];
        return keeper;
    }
    close(life[0]);
    errno = failure < 0 ? -failure : failure;
    return failure < 0 ? -2 : -1;
}
