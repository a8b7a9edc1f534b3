// Holds SIGHUP back from the first instruction of the program on, where it is to be the daemon: one that comes while the
// daemon starts would end it, and is to be answered once it has started. Only in the program itself: a library changes
// nothing of the process that it is in.
#include "CStart.h"

#include <signal.h>
#include <string.h>

static void hold_reloads_back(int count, char **words, char **environment) {
    (void)environment;
    if (count < 2 || strcmp(words[1], "run") != 0) return;
    sigset_t reloads;
    sigemptyset(&reloads);
    sigaddset(&reloads, SIGHUP);
    sigprocmask(SIG_BLOCK, &reloads, NULL);
}

// Before all constructors, also those of the libraries, which take their time.
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = hold_reloads_back;
