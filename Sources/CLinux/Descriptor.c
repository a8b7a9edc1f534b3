#define _GNU_SOURCE
#include "CLinuxDescriptor.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Room for more than the one that is meant: what does not fit would be closed by the kernel, and what fits by us.
enum { most = 4 };

ssize_t dm_send_descriptor(int socket, const void *bytes, size_t count, int descriptor) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {0};
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t dm_receive_descriptor(int socket, void *bytes, size_t count, int *descriptor) {
    *descriptor = -1;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(most * sizeof *descriptor)];
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof *descriptor;
        for (size_t index = 0; index < number; index++) {
            int found;
            memcpy(&found, CMSG_DATA(header) + index * sizeof found, sizeof found);
            if (*descriptor < 0)
                *descriptor = found;
            else
                close(found);
        }
    }
    return received;
}
