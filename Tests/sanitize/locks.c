// Preloaded by `make sanitize`: tells the thread sanitizer of Swift's Mutex. Its quick way is compiled into our code,
// where the sanitizer sees it; where two threads meet, it goes on in libswiftSynchronization and the kernel
// (FUTEX_LOCK_PI), where the sanitizer sees nothing and takes what the lock guards for a race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

// Of the sanitizer's runtime; absent in programs without it, which the tests start too.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// _MutexHandle._lockSlow(_: UInt32), and _unlockSlow().
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

static SWIFT void (*real_lock)(uint32_t thread, SELF);
static SWIFT void (*real_unlock)(SELF);

SWIFT void lock_slowly(uint32_t thread, SELF lock) __asm__(LOCK);
SWIFT void unlock_slowly(SELF lock) __asm__(UNLOCK);

SWIFT void lock_slowly(uint32_t thread, SELF lock) {
    real_lock(thread, lock);
    if (__tsan_acquire) __tsan_acquire(lock);
}

SWIFT void unlock_slowly(SELF lock) {
    if (__tsan_release) __tsan_release(lock);
    real_unlock(lock);
}

__attribute__((constructor)) static void find_real_ones(void) {
    real_lock = dlsym(RTLD_NEXT, LOCK);
    real_unlock = dlsym(RTLD_NEXT, UNLOCK);
}
