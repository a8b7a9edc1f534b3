// A double of kqueue(2) for tests on Linux: the calls, numbers and rules of Darwin, as far as `KqueueEvents` uses them.
//
// As there, the watch of a folder tells of its names only and not of what becomes of the files behind them; that of a
// file follows it wherever it is moved; and what happened to one before it was asked for is told as one event. Unlike
// there, a watch has to be deleted before its descriptor is closed, a user event is triggered once at most, and the
// only filters are these two.
#ifndef DROPMILL_FAKE_KQUEUE_H
#define DROPMILL_FAKE_KQUEUE_H

#include <stdint.h>
#include <time.h>

#define EVFILT_VNODE (-4)
#define EVFILT_USER (-10)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_CLEAR 0x0020

#define NOTE_DELETE 0x00000001
#define NOTE_WRITE 0x00000002
#define NOTE_EXTEND 0x00000004
#define NOTE_ATTRIB 0x00000008
#define NOTE_LINK 0x00000010
#define NOTE_RENAME 0x00000020
#define NOTE_REVOKE 0x00000040
#define NOTE_TRIGGER 0x01000000

struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};

/// A queue, which close(2) ends.
int kqueue(void);

/// Makes changes, then waits for events if there is room for any. A wait with a time limit may be longer than that. A
/// change that fails has the call fail.
int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout);

#endif
