#pragma once

#include <stdnoreturn.h>

// Says a line to whoever started this program, at once.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Ends the program with a reason.
noreturn void fail(const char *what);

// Waits until something of that name exists.
void await(const char *gate);

// Puts a descriptor into a socket, where it is in no process's table, and takes it out again.
void send_descriptor(int socket, int descriptor);
int receive_descriptor(int socket);

// rename(2) that swaps two names.
int exchange(int folder, const char *a, int other, const char *b);

// Until SIGTERM came.
extern volatile int is_over;

int swap_folders(int count, char **words);
int swap_names(int count, char **words);
int nest(int count, char **words);
int shut(int count, char **words);
int do_anything(int count, char **words);
