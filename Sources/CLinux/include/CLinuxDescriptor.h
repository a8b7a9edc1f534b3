// Descriptors that go from process to process on a Unix socket (unix(7), SCM_RIGHTS).
#ifndef DROPMILL_CLINUX_DESCRIPTOR_H
#define DROPMILL_CLINUX_DESCRIPTOR_H

#include <sys/types.h>

/// Sends bytes, and with the first of them a descriptor; says how many bytes went out. Raises no SIGPIPE.
ssize_t dm_send_descriptor(int socket, const void *bytes, size_t count, int descriptor);

/// Receives bytes, and into `descriptor` the one that came with them, which no program inherits; -1 there where none
/// came. Of several the others are closed.
ssize_t dm_receive_descriptor(int socket, void *bytes, size_t count, int *descriptor);

#endif
