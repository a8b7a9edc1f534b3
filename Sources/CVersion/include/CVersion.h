// Which version of Dropmill this is.
#ifndef DROPMILL_CVERSION_H
#define DROPMILL_CVERSION_H

/// What the file VERSION holds, with its line break.
const char *dm_version(void);

/// The commit that the program was built from; empty where the build was not told.
const char *dm_commit(void);

#endif
