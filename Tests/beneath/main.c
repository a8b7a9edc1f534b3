// Opens what lies below a folder:
//
//   beneath opens FOLDER          for each line `FLAGS PATH` of standard input says what came of it: the error's number,
//                                 or 0 with the mode and, of a file, the size
//   beneath race FOLDER ROUNDS    opens `d/file` at least so many times while another thread exchanges `d` and `link` as
//                                 often; says how many were of another device or inode than `d/file` has at first
//   beneath careless FOLDER ROUNDS the same by a path
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int folder;

static void opens(void) {
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *path;
        int flags = (int)strtol(line, &path, 10);
        struct stat status = {0};
        int descriptor = dm_open_beneath(folder, path + 1, flags, 0640);
        int error = descriptor < 0 ? errno : dm_status(descriptor, &status) < 0 ? -errno : 0;
        printf("%d %o %ld\n", error, status.st_mode, S_ISREG(status.st_mode) ? (long)status.st_size : 0);
        if (descriptor >= 0) close(descriptor);
    }
}

static atomic_bool is_over;
static atomic_int exchanged;

static void *exchange(void *unused) {
    while (!atomic_load(&is_over)) {
        if (dm_rename_exchange(folder, "d", folder, "link") != 0) exit(71);
        atomic_fetch_add(&exchanged, 1);
        sched_yield();
    }
    return unused;
}

static void race(int rounds, int (*open_file)(void)) {
    struct stat own, found;
    if (fstatat(folder, "d/file", &own, 0) != 0) exit(66);
    pthread_t thread;
    if (pthread_create(&thread, NULL, exchange, NULL) != 0) exit(71);
    int opened = 0, others = 0;
    while (opened < rounds || atomic_load(&exchanged) < rounds) {
        // The other thread may have the same core.
        sched_yield();
        int descriptor = open_file();
        if (descriptor < 0) continue;
        opened++;
        if (dm_status(descriptor, &found) != 0 || found.st_dev != own.st_dev || found.st_ino != own.st_ino) others++;
        close(descriptor);
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    printf("%d\n", others);
}

static int careful(void) { return dm_open_beneath(folder, "d/file", O_RDONLY, 0); }
static int careless(void) { return openat(folder, "d/file", O_RDONLY | O_CLOEXEC | O_NOFOLLOW); }

int main(int count, char **arguments) {
    if (count < 3) return 64;
    umask(0);
    folder = open(arguments[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return 66;
    if (strcmp(arguments[1], "opens") == 0) opens();
    else if (count < 4) return 64;
    else race(atoi(arguments[3]), strcmp(arguments[1], "careless") == 0 ? careless : careful);
    return 0;
}
