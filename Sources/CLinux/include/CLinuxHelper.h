// What a helper process needs that Swift cannot say: starting it with exactly its descriptors, passing descriptors over
// a socket, and taking its own rights away (prctl, Landlock and seccomp are variadic or raw system calls).
#ifndef DROPMILL_CLINUX_HELPER_H
#define DROPMILL_CLINUX_HELPER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A pair of connected sockets that keep packets apart (SOCK_SEQPACKET), closed on exec.
int dm_packet_sockets(int pair[2]);

/// A pipe whose writing end never blocks: what does not fit is lost. Closed on exec.
int dm_log_pipe(int pair[2]);

/// Starts a program that serves helpers, in a process group of its own, with default signal handling, nothing blocked,
/// and these descriptors: 0, 1 and 2 /dev/null, 3 `channel`, and no other. Returns its process id, or -1.
pid_t dm_spawn_server(const char *program, char *const arguments[], char *const environment[], int channel);

/// Makes the calling process, of one thread, a server of helpers, for good, called `name` by ps(1). For each packet of one byte and two
/// descriptors, a channel and a log, that comes on descriptor 3 it makes a copy of itself, which calls `helper` with
/// the log as 2, the channel as 3, and no others but 0 and 1. It answers with an int: the copy's process id, or the
/// number of an error with a minus sign. A copy is a child of the server's own parent. Server and helpers are killed
/// when the thread that started the server ends, are the first to be killed when memory is short, and leave no core.
///
/// Where the kernel does not tell what a copy needs to know of itself (PR_GET_TID_ADDRESS) the server answers with its
/// own id, becomes the helper, and serves no more.
_Noreturn void dm_serve_helpers(const char *name, void (*helper)(void));

/// Sends one packet, with up to 4 descriptors. Never raises SIGPIPE.
ssize_t dm_send_packet(int channel, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Receives one packet, with up to 4 descriptors (closed on exec), whose number is written to `descriptor_count`. 0 at
/// the end of the conversation; EMSGSIZE where the packet was larger than the buffer.
ssize_t dm_receive_packet(int channel, void *buffer, size_t size, int descriptors[4], int *descriptor_count);

/// Names the calling thread: at most 15 bytes, for ps(1) and debuggers.
void dm_name_thread(const char *name);

/// What a child that waitid(2) told of ended by: the signal, or its exit status with a minus sign.
int dm_ended_by(const siginfo_t *info);

/// What a confined process may use at most; 0 leaves a limit as it is.
struct dm_limits {
    uint64_t memory;      // bytes of address space
    uint64_t cpu;         // seconds
    uint64_t file_size;   // bytes of each file
    uint64_t descriptors; // open at once
};

/// The version of Landlock that the kernel has; 0 for none (before Linux 5.13, or switched off).
int dm_landlock_version(void);

/// Why the kernel has no Landlock to give: ENOSYS for one without it, EOPNOTSUPP where it is switched off, EPERM where
/// something before the kernel refuses the call; 0 where it has.
int dm_landlock_refusal(void);

/// Takes the rights of the calling thread away, for good; every thread of the process must do it. Afterwards it can work
/// below `folder` and with what it has open, and do nothing else, start threads least of all; with -1 for the folder it
/// can only read what it has open and is handed. It has resource limits, no new privileges, Landlock, the folder as the
/// root where the process may have that, no capabilities, and a list of allowed system calls. A call that is not on it
/// ends the process with SIGSYS; a thread is refused with EAGAIN. Returns the version of Landlock in force, 0 where the
/// kernel has none, or -1 with errno set.
///
/// `refused`: where that fails, it is set to the name of the call that was refused.
int dm_confine(int folder, const struct dm_limits *limits, const char **refused);

#endif
