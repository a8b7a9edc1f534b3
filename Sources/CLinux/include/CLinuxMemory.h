// What an idle process need not keep in memory.
#ifndef DROPMILL_CLINUX_MEMORY_H
#define DROPMILL_CLINUX_MEMORY_H

/// Gives back the pages of the program's and its libraries' code and constants, as they are in their files, and the free
/// memory of the heap. What is needed again is mapped again, from the page cache. Any thread may go on meanwhile.
void dm_release_idle_memory(void);

#endif
