#define _GNU_SOURCE
#include "CLinuxPlace.h"

#include <fcntl.h>
#include <unistd.h>

int dm_open_place(int folder, const char *name) {
    return openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

ssize_t dm_read_link(int link, char *buffer, size_t length) {
    return readlinkat(link, "", buffer, length);
}
