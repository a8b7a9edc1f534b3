// Everything that comes to mind, in an order that follows from a seed:
//
//   anything SEED SECONDS TARGETS HOME INBOX…
//
// TARGETS: folders, parted by colons, that links lead to. HOME: a folder of one's own beside the inboxes. Only names of
// its own (`x…`) are touched: what others drop in a sticky folder could not be. Nothing that fails matters.
#define _GNU_SOURCE
#include "stranger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static unsigned long long state;

// SplitMix64, as the tests' own generator.
static unsigned random_below(unsigned limit) {
    unsigned long long value = state += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return (unsigned)((value ^ (value >> 31)) % limit);
}

enum { most_open = 64, names = 24 };

static int home, inboxes[8], inbox_count, pair[2], in_flight;
static int opened[most_open];
static char *targets[8];
static int target_count;

// A place: the home or an inbox, in it perhaps a folder of its own.
static int place(void) { return random_below(3) == 0 ? home : inboxes[random_below((unsigned)inbox_count)]; }

static const char *name(void) {
    static char buffers[4][64];
    static int next;
    char *buffer = buffers[next++ & 3];
    static const char *const shapes[] = {"x%u", "x%u", "x%u.txt", "x%u.zip", ".x%u", "x%u/b", "x%u/b/shadow", "x%u/f"};
    snprintf(buffer, sizeof buffers[0], shapes[random_below(8)], random_below(names));
    return buffer;
}

static const char *target(void) {
    static char path[PATH_MAX];
    const char *folder = targets[random_below((unsigned)target_count)];
    static const char *const ends[] = {"", "/shadow", "/passwd", "/b", "/../.."};
    snprintf(path, sizeof path, "%s%s", folder, ends[random_below(5)]);
    return path;
}

static int *slot(void) {
    int *found = &opened[random_below(most_open)];
    return found;
}

static void keep(int descriptor) {
    int *into = slot();
    if (descriptor < 0) return;
    if (*into >= 0) close(*into);
    *into = descriptor;
}

// A whole folder drop at once, as a sender would make it.
static void make_tree(void) {
    const char *top = name();
    int at = place();
    if (mkdirat(at, top, 0775) < 0) return;
    int folder = openat(at, top, O_RDONLY | O_DIRECTORY);
    if (folder < 0) return;
    fchmod(folder, 0775);
    mkdirat(folder, "b", 0775);
    static const char *const files[] = {"f", "b/shadow", "b/passwd"};
    for (int index = 0; index < 3; index++) {
        int file = openat(folder, files[index], O_WRONLY | O_CREAT, 0664);
        if (file >= 0 && write(file, "stranger\n", 9) == 9) close(file);
    }
    keep(folder);
}

static void write_somewhere(void) {
    int *file = slot();
    char text[64];
    int count = snprintf(text, sizeof text, "stranger %u\n", random_below(1000000));
    if (*file >= 0) (void)!pwrite(*file, text, (size_t)count, random_below(8192));
}

static void reopen(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", *slot());
    keep(open(path, O_RDWR | O_NONBLOCK));
}

static void set_times(void) {
    static const long long seconds[] = {1ll << 33, 1ll << 34, 1ll << 62, -(1ll << 62), 0, 1700000000};
    long long second = seconds[random_below(6)];
    struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    utimensat(place(), name(), times, AT_SYMLINK_NOFOLLOW);
}

// Names within a folder that is open, wherever it is by now.
static void swap_below(void) {
    int folder = *slot();
    if (folder < 0) return;
    symlinkat(target(), folder, ".l");
    for (int index = 0; index < 20; index++) exchange(folder, "b", folder, ".l");
}

static void fly(void) {
    if (in_flight > 0 && random_below(2)) {
        keep(receive_descriptor(pair[1]));
        in_flight--;
        return;
    }
    int *from = slot();
    if (*from < 0 || in_flight > 8) return;
    send_descriptor(pair[0], *from);
    *from = -1;
    in_flight++;
}

static void map(void) {
    int file = *slot();
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size < 4096) return;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return;
    // Cut short meanwhile, it would be the end of this program; write(2) into it is told instead.
    int pipes[2];
    if (pipe(pipes) == 0) {
        if (write(pipes[1], "stranger", 8) == 8) (void)!read(pipes[0], memory, 8);
        close(pipes[0]);
        close(pipes[1]);
    }
    munmap(memory, 4096);
}

static void step(void) {
    int a = place(), b = place();
    const char *first = name(), *second = name();
    switch (random_below(24)) {
    case 0: case 1: keep(openat(a, first, O_RDWR | O_CREAT | O_NONBLOCK, 0664)); break;
    case 2: keep(openat(a, first, O_RDONLY | O_NONBLOCK)); break;
    case 3: keep(openat(a, first, O_RDONLY | O_DIRECTORY)); break;
    case 4: case 5: make_tree(); break;
    case 6: renameat(a, first, b, second); break;
    case 7: exchange(a, first, b, second); break;
    case 8: linkat(a, first, b, second, 0); break;
    case 9: symlinkat(target(), a, first); break;
    case 10: if (*slot() >= 0) (void)!ftruncate(*slot(), random_below(1 << 20)); break;
    case 11: {
        static const mode_t modes[] = {0, 0600, 0644, 0777, 06755, 02775, 0444};
        fchmodat(a, first, modes[random_below(7)], 0);
        break;
    }
    case 12: (void)!fchownat(a, first, geteuid(), getegid(), AT_SYMLINK_NOFOLLOW); break;
    case 13: mknodat(a, first, (random_below(2) ? S_IFIFO : S_IFSOCK) | 0644, 0); break;
    case 14: fcntl(*slot(), F_SETLEASE, F_WRLCK); break;
    case 15: fcntl(*slot(), F_SETLEASE, F_UNLCK); break;
    case 16: fly(); break;
    case 17: reopen(); break;
    case 18: case 19: write_somewhere(); break;
    case 20: swap_below(); break;
    case 21: set_times(); break;
    case 22: map(); break;
    case 23: {
        int *file = slot();
        if (*file >= 0) close(*file);
        *file = -1;
        unlinkat(a, first, random_below(2) ? AT_REMOVEDIR : 0);
        break;
    }
    }
}

int do_anything(int count, char **words) {
    if (count < 5) return 64;
    state = strtoull(words[0], NULL, 10);
    long seconds = atol(words[1]);
    signal(SIGIO, SIG_IGN);
    for (char *rest = words[2], *one; (one = strsep(&rest, ":")) != NULL && target_count < 8;)
        targets[target_count++] = one;
    home = open(words[3], O_RDONLY | O_DIRECTORY);
    for (int index = 4; index < count && inbox_count < 8; index++)
        inboxes[inbox_count++] = open(words[index], O_RDONLY | O_DIRECTORY);
    if (home < 0 || inboxes[0] < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) fail("anything");
    for (int index = 0; index < most_open; index++) opened[index] = -1;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    say("ready");
    long rounds = 0;
    do {
        for (int index = 0; index < 8; index++) step();
        rounds += 8;
        // The machine is to have time for the others, whose time is measured.
        usleep(500 + random_below(1500));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!is_over && now.tv_sec - start.tv_sec < seconds);
    say("rounds %ld", rounds);
    return 0;
}
