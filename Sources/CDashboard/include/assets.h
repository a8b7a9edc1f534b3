#pragma once

#include <stddef.h>

// What the pages consist of: the files of `assets`, in the program itself.
typedef struct {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} dm_asset;

/// How many there are, and each of them.
size_t dm_asset_count(void);
const dm_asset *dm_asset_at(size_t index);
