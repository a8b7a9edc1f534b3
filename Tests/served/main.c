// Serves helpers as the program that unpacks does, but each becomes a program of another kind once it is asked for
// something:
//
//   served PROGRAM [ARGUMENT…]
#define _GNU_SOURCE
#include "CLinux.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static char **command;

static void help(void) {
    // By then the daemon knows of this process.
    struct pollfd request = {.fd = 3, .events = POLLIN};
    poll(&request, 1, -1);
    execv(command[0], command);
    perror(command[0]);
    _exit(72);
}

int main(int count, char **arguments) {
    if (count < 2) return 64;
    command = arguments + 1;
    dm_serve_helpers("served", help);
}
