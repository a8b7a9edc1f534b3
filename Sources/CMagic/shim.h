// What is called of libmagic, which is loaded where it is needed and not linked: a list, a place for the address of each,
// and their names in the same order.
#include <magic.h>

#define DM_MAGIC_CALLS(CALL) CALL(magic_close) CALL(magic_descriptor) CALL(magic_errno) CALL(magic_error) \
    CALL(magic_load) CALL(magic_open) CALL(magic_setparam) CALL(magic_version)

#define DM_PLACE(call) __typeof__(call) *call;
#define DM_NAME(call) #call,

struct dm_magic_calls {
    DM_MAGIC_CALLS(DM_PLACE)
};

static inline const char *const *dm_magic_names(void) {
    static const char *const names[] = {DM_MAGIC_CALLS(DM_NAME)};
    return names;
}
