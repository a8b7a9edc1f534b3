// Programs that may do their work and nothing else.
#ifndef DROPMILL_CLINUX_CONFINEMENT_H
#define DROPMILL_CLINUX_CONFINEMENT_H

#include <stdint.h>

/// What a program may do that is started by `dm_spawn_kept`.
struct dm_confinement {
    /// A Landlock ruleset of `dm_new_rules`: which files it may reach.
    int rules;
    /// Its own folder, absolute: the only place where it may change modes and times.
    const char *folder;
    /// Whether it may make sockets (of the internet, of Unix, and netlink).
    int network;
    /// Bytes of address space of each process, and of each file; 0: as many as the caller may have.
    uint64_t memory, file_size;
    /// How many processes and threads there may be at once, to `dm_most_processes`.
    unsigned processes;
};

/// What a process is given below a folder, or of a file.
enum dm_access { dm_access_read, dm_access_device, dm_access_all };

/// The most processes that `dm_confinement.processes` may say.
enum { dm_most_processes = 4096 };

/// A new Landlock ruleset, closed on exec, under which no file may be reached, and no TCP port unless `network`; where
/// the kernel knows how, no process outside may be signalled and no abstract socket reached (landlock(7)).
int dm_new_rules(int network);

/// Lets the rules give access to a file, or to a folder and all below it: to read and to run it, to read and to write it
/// (a device), or to do everything but to make devices. Returns -1 with errno set where it cannot be opened, and -2 where
/// the rules do not take it.
int dm_allow(int rules, const char *path, enum dm_access access);

/// Makes the calling process, and what it starts, unreadable for all but root (prctl(2), PR_SET_DUMPABLE): its memory,
/// its environment, its descriptors. It leaves no core, nor does what it starts.
int dm_keep_private(void);

#endif
