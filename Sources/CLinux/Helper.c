#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int dm_packet_sockets(int pair[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

int dm_log_pipe(int pair[2]) {
    if (pipe2(pair, O_CLOEXEC) != 0) return -1;
    return fcntl(pair[1], F_SETFL, O_NONBLOCK) | fcntl(pair[0], F_SETFL, O_NONBLOCK);
}

pid_t dm_spawn_server(const char *program, char *const arguments[], char *const environment[], int channel) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0) {
        errno = failure;
        return -1;
    }
    failure = posix_spawnattr_init(&attributes);
    if (failure != 0) {
        posix_spawn_file_actions_destroy(&actions);
        errno = failure;
        return -1;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    pid_t process = -1;
    // The channel first: it may have one of the other numbers.
    (void)((failure = posix_spawn_file_actions_adddup2(&actions, channel, 3)) ||
           (failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) ||
           (failure = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)) ||
           (failure = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)) ||
           (failure = posix_spawn_file_actions_addclosefrom_np(&actions, 4)) ||
           (failure = posix_spawnattr_setsigmask(&attributes, &none)) ||
           (failure = posix_spawnattr_setsigdefault(&attributes, &all)) ||
           (failure = posix_spawnattr_setpgroup(&attributes, 0)) ||
           (failure = posix_spawnattr_setflags(
                &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP)) ||
           (failure = posix_spawn(&process, program, &actions, &attributes, arguments, environment)));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    errno = failure;
    return failure == 0 ? process : -1;
}

enum { most_descriptors = 4 };

ssize_t dm_send_packet(int channel, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
    if (descriptor_count < 0 || descriptor_count > most_descriptors) {
        errno = EINVAL;
        return -1;
    }
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(most_descriptors * sizeof(int))] = {0};
    if (descriptor_count > 0) {
        size_t size = (size_t)descriptor_count * sizeof(int);
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    ssize_t sent;
    do {
        sent = sendmsg(channel, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t dm_receive_packet(int channel, void *buffer, size_t size, int descriptors[4], int *descriptor_count) {
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(most_descriptors * sizeof(int))];
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    *descriptor_count = 0;
    ssize_t received;
    do {
        received = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + (size_t)index * sizeof(int), sizeof descriptor);
            if (*descriptor_count < most_descriptors) descriptors[(*descriptor_count)++] = descriptor;
            else close(descriptor);
        }
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        while (*descriptor_count > 0) close(descriptors[--*descriptor_count]);
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}

void dm_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int dm_ended_by(const siginfo_t *info) {
    return info->si_code == CLD_EXITED ? -info->si_status : info->si_status;
}
