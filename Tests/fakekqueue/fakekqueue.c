// The queue's descriptor is that of inotify, so that poll(2) waits for it and close(2) releases all of it. What is known
// of a queue stays until its number is another queue's.
#define _GNU_SOURCE
#include "CKqueue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

struct knote {
    struct knote *next;
    struct kevent event;
    /// What happened since it was last told.
    uint32_t pending;
    bool is_folder;
    nlink_t links;
    off_t size;
    /// The watches of inotify: its own, and of the folder above. That tells when a folder is removed: of itself it does
    /// only once nobody has it open.
    int self, above;
};

enum { MOST_QUEUES = 65536 };
static struct knote *queues[MOST_QUEUES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const uint32_t names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
static const uint32_t own = IN_ATTRIB | IN_MOVE_SELF;

int kqueue(void) {
    int queue = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (queue < 0) return -1;
    if (queue >= MOST_QUEUES) {
        close(queue);
        errno = EMFILE;
        return -1;
    }
    pthread_mutex_lock(&lock);
    for (struct knote *note = queues[queue], *next; note != NULL; note = next) {
        next = note->next;
        free(note);
    }
    queues[queue] = NULL;
    pthread_mutex_unlock(&lock);
    return queue;
}

static int watch(int queue, const struct knote *note, const char *what, uint32_t mask) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d%s", (int)note->event.ident, what);
    return inotify_add_watch(queue, path, mask);
}

/// Ends a watch of inotify, unless another knote has it too: there is one for each inode.
static void release(int queue, int number) {
    for (struct knote *note = queues[queue]; note != NULL; note = note->next)
        if (note->self == number || note->above == number) return;
    if (number >= 0) inotify_rm_watch(queue, number);
}

static bool attach(int queue, struct knote *note) {
    note->above = -1;
    if (note->event.filter == EVFILT_USER) {
        // Any that stays silent; its end wakes who waits.
        note->self = inotify_add_watch(queue, "/proc/self", IN_MOVE_SELF);
        return note->self >= 0;
    }
    struct stat status;
    if (fstat((int)note->event.ident, &status) != 0) return false;
    note->is_folder = S_ISDIR(status.st_mode);
    note->links = status.st_nlink;
    note->size = status.st_size;
    note->self = watch(queue, note, "", note->is_folder ? names | own : IN_MODIFY | own);
    if (note->self >= 0 && note->is_folder) note->above = watch(queue, note, "/..", names | own);
    return note->self >= 0;
}

static int change(int queue, const struct kevent *change) {
    struct knote **place = &queues[queue], *note;
    while ((note = *place) && (note->event.ident != change->ident || note->event.filter != change->filter))
        place = &note->next;
    if (note == NULL) {
        if (!(change->flags & EV_ADD)) return ENOENT;
        if ((note = calloc(1, sizeof *note)) == NULL) return ENOMEM;
        note->event = *change;
        if (!attach(queue, note)) {
            int error = errno;
            free(note);
            return error;
        }
        note->next = queues[queue];
        queues[queue] = note;
    } else if (change->flags & EV_DELETE) {
        *place = note->next;
        release(queue, note->self);
        release(queue, note->above);
        free(note);
        return 0;
    } else if (change->flags & EV_ADD) {
        note->event = *change;
    }
    if (change->filter == EVFILT_USER && change->fflags & NOTE_TRIGGER && !note->pending) {
        note->pending = NOTE_TRIGGER;
        inotify_rm_watch(queue, note->self);
    }
    return 0;
}

/// What became of the links to it: the last one gone, one more or less, or `otherwise`.
static uint32_t links(struct knote *note, uint32_t otherwise) {
    struct stat status;
    if (fstat((int)note->event.ident, &status) != 0) return 0;
    nlink_t before = note->links;
    note->links = status.st_nlink;
    if (status.st_nlink == 0) return before == 0 ? otherwise : NOTE_DELETE;
    return !note->is_folder && status.st_nlink != before ? NOTE_LINK : otherwise;
}

static uint32_t written(struct knote *note) {
    struct stat status;
    if (fstat((int)note->event.ident, &status) != 0) return NOTE_WRITE;
    bool is_longer = status.st_size > note->size;
    note->size = status.st_size;
    return is_longer ? NOTE_WRITE | NOTE_EXTEND : NOTE_WRITE;
}

static void hear(int queue, struct knote *note, const struct inotify_event *event) {
    uint32_t mask = event->mask;
    if (note->event.filter != EVFILT_VNODE) return;
    // What is lost could be anything.
    if (mask & IN_Q_OVERFLOW) note->pending |= written(note) | links(note, 0);
    if (event->wd == note->above && mask & names) note->pending |= links(note, 0);
    if (event->wd != note->self) return;
    if (event->len > 0) {
        // The metadata of a file in it is nothing to the folder.
        if (mask & names) note->pending |= NOTE_WRITE;
        if (mask & IN_ISDIR && mask & (IN_CREATE | IN_DELETE)) note->pending |= NOTE_LINK;
        return;
    }
    if (mask & IN_MODIFY) note->pending |= written(note);
    if (mask & IN_ATTRIB) note->pending |= links(note, NOTE_ATTRIB);
    if (mask & IN_UNMOUNT) note->pending |= NOTE_REVOKE;
    if (mask & IN_MOVE_SELF) {
        note->pending |= NOTE_RENAME;
        int above = note->above;
        if (note->is_folder) note->above = watch(queue, note, "/..", names | own);
        if (above != note->above) release(queue, above);
    }
}

static void drain(int queue) {
    _Alignas(struct inotify_event) char buffer[65536];
    ssize_t length;
    while ((length = read(queue, buffer, sizeof buffer)) > 0) {
        for (ssize_t place = 0; place < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(buffer + place);
            place += (ssize_t)(sizeof *event + event->len);
            for (struct knote *note = queues[queue]; note != NULL; note = note->next) hear(queue, note, event);
        }
    }
}

static int collect(int queue, struct kevent *events, int room) {
    int count = 0;
    for (struct knote *note = queues[queue]; note != NULL && count < room; note = note->next) {
        uint32_t told = note->event.filter == EVFILT_USER ? note->pending : note->pending & note->event.fflags;
        if (told == 0) continue;
        note->pending = 0;
        events[count] = note->event;
        events[count].flags = EV_CLEAR;
        events[count++].fflags = told;
    }
    return count;
}

int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout) {
    if (queue < 0 || queue >= MOST_QUEUES) {
        errno = EBADF;
        return -1;
    }
    int error = 0, result = 0;
    pthread_mutex_lock(&lock);
    for (int index = 0; index < change_count && error == 0; index++) error = change(queue, &changes[index]);
    while (error == 0 && event_count > 0) {
        drain(queue);
        result = collect(queue, events, event_count);
        if (result > 0) break;
        pthread_mutex_unlock(&lock);
        struct pollfd waiting = {.fd = queue, .events = POLLIN};
        int ready = poll(&waiting, 1, timeout ? (int)(timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000) : -1);
        error = ready < 0 ? errno : 0;
        pthread_mutex_lock(&lock);
        if (ready == 0) break;
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) errno = error;
    return error == 0 ? result : -1;
}
