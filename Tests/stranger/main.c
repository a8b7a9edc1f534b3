// A local user who may write to an inbox and means no good. Gives up all rights but those of the user and group, then
// does one thing, as an ordinary program of that user could:
//
//   stranger UID GID exec PROGRAM [ARGUMENT…]     becomes the program
//   stranger UID GID lease FILE                   holds a write lease on it, and never gives it back
//   stranger UID GID hold HOW FILE TEXT GATE      keeps a way to write to the file: open (for writing), flight (open for
//                                                 writing, the descriptor in a socket), map (shared memory), reopen
//                                                 (open for reading); writes TEXT by it once GATE exists
//   stranger UID GID swap …                       folders.c
//   stranger UID GID exchange FOLDER A B          swaps two names, again and again
//   stranger UID GID decorate FILE…               gives them an attribute, a list of rights, and as root a capability
//   stranger UID GID attributes FILE              says which of these it has
//   stranger UID GID nest FOLDER LEVELS WIDTH     folders in folders, with WIDTH empty ones beside each
//   stranger UID GID anything …                   anything.c
//
// It says a line when it is ready ("ready") and when it is done; SIGTERM ends it with "rounds N" where it goes on for ever.
#define _GNU_SOURCE
#include "stranger.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

volatile int is_over;

void say(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
    fflush(stdout);
}

noreturn void fail(const char *what) {
    say("failed: %s: %s", what, strerror(errno));
    exit(70);
}

void await(const char *gate) {
    struct stat status;
    while (lstat(gate, &status) < 0) usleep(1000);
}

int exchange(int folder, const char *a, int other, const char *b) {
    return (int)syscall(SYS_renameat2, folder, a, other, b, 2 /* RENAME_EXCHANGE */);
}

void send_descriptor(int socket, int descriptor) {
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(socket, &message, 0) < 0) fail("sendmsg");
    close(descriptor);
}

int receive_descriptor(int socket) {
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int descriptor = -1;
    if (recvmsg(socket, &message, 0) < 0 || CMSG_FIRSTHDR(&message) == NULL) fail("recvmsg");
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

static void end(int signal) {
    (void)signal;
    is_over = 1;
}

static int lease(int count, char **words) {
    if (count != 1) return 64;
    int file = open(words[0], O_RDWR);
    if (file < 0 || fcntl(file, F_SETLEASE, F_WRLCK) < 0) fail("lease");
    signal(SIGIO, SIG_IGN);
    say("ready");
    long again = 0;
    while (!is_over) {
        // Somebody wants to open the file: given up and taken anew, before the kernel takes it away (lease-break-time).
        if (fcntl(file, F_GETLEASE) != F_WRLCK) {
            fcntl(file, F_SETLEASE, F_UNLCK);
            if (fcntl(file, F_SETLEASE, F_WRLCK) == 0) again++;
        }
        usleep(1000);
    }
    say("rounds %ld", again);
    return 0;
}

static int hold(int count, char **words) {
    if (count != 4) return 64;
    const char *how = words[0], *file = words[1], *text = words[2], *gate = words[3];
    int is_reopened = strcmp(how, "reopen") == 0, pair[2] = {-1, -1};
    int descriptor = open(file, is_reopened ? O_RDONLY : O_RDWR);
    char *memory = NULL;
    if (descriptor < 0) fail(file);
    if (strcmp(how, "flight") == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) fail("socketpair");
        send_descriptor(pair[0], descriptor);
    } else if (strcmp(how, "map") == 0) {
        memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (memory == MAP_FAILED) fail("mmap");
        close(descriptor);
    }
    say("ready");
    await(gate);
    if (memory) {
        memcpy(memory, text, strlen(text));
        say("wrote");
        return 0;
    }
    if (pair[1] >= 0) descriptor = receive_descriptor(pair[1]);
    if (is_reopened) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        descriptor = open(path, O_WRONLY);
    }
    if (descriptor >= 0 && pwrite(descriptor, text, strlen(text), 0) > 0) say("wrote");
    else say("refused: %s", strerror(errno));
    return 0;
}

int swap_names(int count, char **words) {
    if (count != 3) return 64;
    int folder = open(words[0], O_PATH | O_DIRECTORY);
    if (folder < 0) fail(words[0]);
    long rounds = 0;
    while (!is_over) {
        if (exchange(folder, words[1], folder, words[2]) < 0 && rounds == 0) fail("exchange");
        if (rounds++ == 0) say("ready");
    }
    say("rounds %ld", rounds);
    return 0;
}

static const char *const attribute_names[] = {"user.note", "system.posix_acl_access", "security.capability"};

static int decorate(int count, char **words) {
    // acl(5), version 2: the owner, user 64002, the group, the mask, all others.
    static const unsigned char list[] = {2,    0, 0, 0, 1,    0, 7,    0,    255,  255,  255, 255, 2,   0, 7,
                                         0,    2, 250, 0, 0,  4, 0,    5,    0,    255,  255, 255, 255, 0x10, 0,
                                         7,    0, 255, 255, 255, 255, 0x20, 0, 5,  0,    255, 255, 255, 255};
    // capabilities(7), version 2: to bind low ports.
    static const unsigned char capability[20] = {1, 0, 0, 2, 0, 4};
    for (int index = 0; index < count; index++) {
        if (setxattr(words[index], attribute_names[0], "hers", 4, 0) < 0) fail(attribute_names[0]);
        if (setxattr(words[index], attribute_names[1], list, sizeof list, 0) < 0) fail(attribute_names[1]);
        if (geteuid() == 0 && setxattr(words[index], attribute_names[2], capability, sizeof capability, 0) < 0)
            fail(attribute_names[2]);
    }
    say("ready");
    return 0;
}

static int tell_attributes(int count, char **words) {
    if (count != 1) return 64;
    for (int index = 0; index < 3; index++)
        if (getxattr(words[0], attribute_names[index], NULL, 0) >= 0) say("%s", attribute_names[index]);
    say("ready");
    return 0;
}

static int become(int count, char **words) {
    if (count < 1) return 64;
    signal(SIGTERM, SIG_DFL);
    execv(words[0], words);
    fail(words[0]);
}

static const struct {
    const char *name;
    int (*deed)(int count, char **words);
} deeds[] = {
    {"exec", become},         {"lease", lease}, {"hold", hold},           {"swap", swap_folders},
    {"exchange", swap_names}, {"nest", nest},   {"anything", do_anything}, {"decorate", decorate},
    {"attributes", tell_attributes}, {"shut", shut},
};

int main(int count, char **words) {
    if (count < 4) return 64;
    uid_t user = (uid_t)strtoul(words[1], NULL, 10);
    gid_t group = (gid_t)strtoul(words[2], NULL, 10);
    if (geteuid() == 0 && user != 0 &&
        (setgroups(1, &group) < 0 || setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0))
        fail("setresuid");
    umask(022);
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    for (size_t index = 0; index < sizeof deeds / sizeof *deeds; index++)
        if (strcmp(deeds[index].name, words[3]) == 0) return deeds[index].deed(count - 4, words + 4);
    return 64;
}
