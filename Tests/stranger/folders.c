// Drops of folders whose sender keeps a way into them, and swaps a folder in them for a symbolic link at the moment in
// which the daemon is at work there.
//
//   swap HOME INBOX PREFIX COUNT FILES TARGET WHEN
//
// makes COUNT folders of the layout
//
//   PREFIX-N/aaa                    1 MiB, read first by whoever goes through it by name
//   PREFIX-N/b/f0000 … , passwd, shadow      FILES and two small files; `b` is swapped for a link to TARGET
//
// and puts them into INBOX. Their descriptors are in flight until it is time: WHEN is `read` (somebody reads `aaa`),
// `delete` (the first file of `b` is gone) or `claim` (the drop has left the inbox). From then on `b` and the link change
// places again and again, until SIGTERM: "rounds N", of which so many "swapped" as the kernel let happen.
#define _GNU_SOURCE
#include "stranger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_file(int folder, const char *name, size_t size) {
    static char content[1 << 20];
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0664);
    if (file < 0 || write(file, content, size) != (ssize_t)size) fail(name);
    close(file);
}

static int make_folder(int above, const char *name) {
    // The group may write: a daemon that is an ordinary user could not move it otherwise.
    if (mkdirat(above, name, 0775) < 0) fail(name);
    int folder = openat(above, name, O_RDONLY | O_DIRECTORY);
    if (folder < 0 || fchmod(folder, 0775) < 0) fail(name);
    return folder;
}

struct drop {
    char name[64];
    // What it will be found by: the socket that its descriptor is in, then the descriptor.
    int socket, folder, watch, is_swapped;
};

static void make(struct drop *drop, int home, int files) {
    int top = make_folder(home, drop->name), below = make_folder(top, "b");
    make_file(top, "aaa", 1 << 20);
    for (int index = 0; index < files; index++) {
        char name[16];
        snprintf(name, sizeof name, "f%04d", index);
        make_file(below, name, 1);
    }
    make_file(below, "passwd", 1);
    make_file(below, "shadow", 1);
    close(below);
    drop->folder = top;
}

// Lets go of its descriptors, and puts it where the daemon finds it.
static void hand_in(struct drop *drop, int home, const char *inbox, int events, const char *when) {
    char path[PATH_MAX];
    int pair[2];
    int is_read = strcmp(when, "read") == 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", drop->folder, is_read ? "aaa" : "b");
    drop->watch = inotify_add_watch(events, path, is_read ? IN_ACCESS : IN_DELETE);
    if (drop->watch < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) fail("watch");
    send_descriptor(pair[0], drop->folder);
    close(pair[0]);
    drop->socket = pair[1];
    drop->folder = -1;
    snprintf(path, sizeof path, "%s/%s", inbox, drop->name);
    if (renameat(home, drop->name, AT_FDCWD, path) < 0) fail("rename");
}

static void take_back(struct drop *drop, const char *target) {
    drop->folder = receive_descriptor(drop->socket);
    // It may not be let happen any more; then there is nothing to swap with.
    (void)!symlinkat(target, drop->folder, ".l");
}

int swap_folders(int count, char **words) {
    if (count != 7) return 64;
    const char *inbox = words[1], *target = words[5], *when = words[6];
    int number = atoi(words[3]), home = open(words[0], O_RDONLY | O_DIRECTORY), events = inotify_init1(IN_NONBLOCK);
    struct drop *drops = calloc((size_t)number, sizeof *drops);
    if (home < 0 || events < 0 || drops == NULL) fail("swap");
    for (int index = 0; index < number; index++) {
        snprintf(drops[index].name, sizeof drops[index].name, "%s-%d", words[2], index);
        make(&drops[index], home, atoi(words[4]));
    }
    for (int index = 0; index < number; index++) hand_in(&drops[index], home, inbox, events, when);
    say("ready");
    long rounds = 0, swapped = 0;
    int open = 0;
    while (!is_over) {
        struct pollfd wait = {.fd = events, .events = POLLIN};
        if (poll(&wait, 1, open > 0 || strcmp(when, "claim") == 0 ? 0 : 10) > 0) {
            char buffer[64 << 10] __attribute__((aligned(8)));
            ssize_t size = read(events, buffer, sizeof buffer);
            for (char *next = buffer; size > 0 && next < buffer + size;) {
                const struct inotify_event *event = (const struct inotify_event *)next;
                for (int index = 0; index < number; index++)
                    if (drops[index].watch == event->wd && drops[index].folder < 0 &&
                        (event->mask & (IN_ACCESS | IN_DELETE))) {
                        take_back(&drops[index], target);
                        open++;
                    }
                next += sizeof *event + event->len;
            }
        }
        for (int index = 0; index < number; index++) {
            struct drop *drop = &drops[index];
            if (drop->folder < 0 && strcmp(when, "claim") == 0) {
                char path[PATH_MAX];
                struct stat status;
                snprintf(path, sizeof path, "%s/%s", inbox, drop->name);
                if (lstat(path, &status) == 0) continue;
                take_back(drop, target);
                open++;
            }
            if (drop->folder < 0) continue;
            rounds++;
            if (exchange(drop->folder, "b", drop->folder, ".l") == 0) swapped++;
        }
        // The daemon is to come to something, too.
        usleep(20);
    }
    say("rounds %ld swapped %ld", rounds, swapped);
    return 0;
}

int nest(int count, char **words) {
    if (count != 3) return 64;
    int levels = atoi(words[1]), width = atoi(words[2]);
    if (mkdir(words[0], 0775) < 0) fail(words[0]);
    int folder = open(words[0], O_RDONLY | O_DIRECTORY);
    if (folder < 0) fail(words[0]);
    fchmod(folder, 0775);
    for (int level = 0; level < levels; level++) {
        for (int index = 0; index < width; index++) {
            char name[16];
            snprintf(name, sizeof name, "s%d", index);
            close(make_folder(folder, name));
        }
        int next = make_folder(folder, "d");
        close(folder);
        folder = next;
    }
    say("ready");
    return 0;
}

// Takes back everybody's right to change a folder once it has left a place.
int shut(int count, char **words) {
    if (count != 2) return 64;
    int folder = open(words[0], O_RDONLY | O_DIRECTORY);
    if (folder < 0) fail(words[0]);
    say("ready");
    while (access(words[1], F_OK) != 0) usleep(1000);
    while (access(words[1], F_OK) == 0) usleep(1000);
    if (fchmod(folder, 0555) < 0) fail("fchmod");
    say("shut");
    return 0;
}
