// A test begins when it can run. With all of them begun at once, one that waits for an event is resumed only after every
// other had its turn, minutes later, and its time limit counts that too. swift-testing has no setting for this but a
// variable that it reads when it begins, so it is set before `main`. A caller's own value stands.
#include "width.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void limit_width(void) {
    char width[24];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(width, sizeof width, "%ld", 4 * (processors > 0 ? processors : 1));
    setenv(DM_WIDTH_VARIABLE, width, 0);
}
