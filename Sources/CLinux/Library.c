#include "CLinuxLibrary.h"

#include <dlfcn.h>
#include <string.h>

const char *dm_load_library(const char *soname, const char *const *names, size_t count, void *calls) {
    // Bound at once, as the program's own calls are.
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
    for (size_t index = 0; index < count; index++) {
        void *address = dlsym(library, names[index]);
        if (address == NULL) return dlerror();
        // POSIX has a function's address fit where one of data does; C does not say so.
        memcpy((char *)calls + index * sizeof address, &address, sizeof address);
    }
    return NULL;
}
