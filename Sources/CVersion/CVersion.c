// A target of its own: a new commit recompiles this file and nothing else.
#include "CVersion.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
static const char version[] = {
#embed "../../VERSION"
    , 0};

const char *dm_version(void) { return version; }

const char *dm_commit(void) { return DROPMILL_COMMIT; }
