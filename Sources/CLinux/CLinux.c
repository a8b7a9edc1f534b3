#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

int dm_rename_noreplace(int old_folder, const char *old_name, int new_folder, const char *new_name) {
    return renameat2(old_folder, old_name, new_folder, new_name, RENAME_NOREPLACE);
}

int dm_rename_exchange(int old_folder, const char *old_name, int new_folder, const char *new_name) {
    return renameat2(old_folder, old_name, new_folder, new_name, RENAME_EXCHANGE);
}

int dm_clone(int source, int target) {
    return ioctl(target, FICLONE, source);
}

ssize_t dm_copy_range(int source, int target, size_t length) {
    return copy_file_range(source, NULL, target, NULL, length, 0);
}

int dm_syncfs(int descriptor) {
    return syncfs(descriptor);
}

int dm_probe_read_lease(int descriptor) {
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return -1;
    return fcntl(descriptor, F_SETLEASE, F_UNLCK);
}

int64_t dm_mount_id(const char *path) {
    struct statx info;
    if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &info) != 0) return -1;
    return info.stx_mask & STATX_MNT_ID ? (int64_t)info.stx_mnt_id : -1;
}

int64_t dm_mount_id_of(int descriptor) {
    struct statx info;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) return -1;
    return info.stx_mask & STATX_MNT_ID ? (int64_t)info.stx_mnt_id : -1;
}

int64_t dm_file_system_type(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    return (int64_t)(uint32_t)info.f_type;
}

int dm_spawn_in_folder(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int dm_spawn_close_others(posix_spawn_file_actions_t *actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

int dm_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
