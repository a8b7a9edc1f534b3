// What is called of libarchive, which is loaded where it is needed and not linked: a list, a place for the address of each,
// and their names in the same order.
#include <archive.h>
#include <archive_entry.h>

#define DM_ARCHIVE_CALLS(CALL) CALL(archive_version_string) CALL(archive_read_new) CALL(archive_read_free) CALL(archive_read_open) \
    CALL(archive_read_open1) CALL(archive_read_next_header) CALL(archive_read_data_block) \
    CALL(archive_read_data_skip) CALL(archive_read_add_passphrase) CALL(archive_read_append_filter) \
    CALL(archive_read_set_format) CALL(archive_read_set_format_option) CALL(archive_read_set_read_callback) \
    CALL(archive_read_set_skip_callback) CALL(archive_read_set_seek_callback) CALL(archive_read_set_callback_data) \
    CALL(archive_read_support_filter_bzip2) CALL(archive_read_support_filter_compress) \
    CALL(archive_read_support_filter_gzip) CALL(archive_read_support_filter_lzma) \
    CALL(archive_read_support_filter_rpm) CALL(archive_read_support_filter_xz) \
    CALL(archive_read_support_filter_zstd) CALL(archive_read_support_format_7zip) \
    CALL(archive_read_support_format_ar) CALL(archive_read_support_format_cab) \
    CALL(archive_read_support_format_cpio) CALL(archive_read_support_format_iso9660) \
    CALL(archive_read_support_format_lha) CALL(archive_read_support_format_rar) \
    CALL(archive_read_support_format_rar5) CALL(archive_read_support_format_tar) \
    CALL(archive_read_support_format_xar) CALL(archive_read_support_format_zip_seekable) CALL(archive_filter_bytes) \
    CALL(archive_filter_count) CALL(archive_errno) CALL(archive_error_string) CALL(archive_write_new) \
    CALL(archive_write_free) CALL(archive_write_open_fd) CALL(archive_write_close) CALL(archive_write_header) \
    CALL(archive_write_data) CALL(archive_write_finish_entry) CALL(archive_write_add_filter_gzip) \
    CALL(archive_write_add_filter_xz) CALL(archive_write_add_filter_zstd) \
    CALL(archive_write_set_bytes_in_last_block) CALL(archive_write_set_filter_option) \
    CALL(archive_write_set_format_7zip) CALL(archive_write_set_format_pax_restricted) \
    CALL(archive_write_set_format_raw) CALL(archive_write_set_format_zip) CALL(archive_write_set_options) \
    CALL(archive_entry_new) CALL(archive_entry_free) CALL(archive_entry_filetype) CALL(archive_entry_hardlink) \
    CALL(archive_entry_is_encrypted) CALL(archive_entry_mode) CALL(archive_entry_mtime) \
    CALL(archive_entry_mtime_is_set) CALL(archive_entry_mtime_nsec) CALL(archive_entry_pathname) \
    CALL(archive_entry_set_mode) CALL(archive_entry_set_mtime) CALL(archive_entry_set_pathname) \
    CALL(archive_entry_set_size) CALL(archive_entry_set_symlink) CALL(archive_entry_size) \
    CALL(archive_entry_size_is_set) CALL(archive_entry_symlink)

#define DM_PLACE(call) __typeof__(call) *call;
#define DM_NAME(call) #call,

struct dm_archive_calls {
    DM_ARCHIVE_CALLS(DM_PLACE)
};

static inline const char *const *dm_archive_names(void) {
    static const char *const names[] = {DM_ARCHIVE_CALLS(DM_NAME)};
    return names;
}
