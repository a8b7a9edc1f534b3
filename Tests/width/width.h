// How many tests run at once; the file beside this sets it when the test program is loaded.
#ifndef DROPMILL_WIDTH_H
#define DROPMILL_WIDTH_H

/// The environment variable that swift-testing reads it from.
#define DM_WIDTH_VARIABLE "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"

#endif
