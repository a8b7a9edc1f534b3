// Offers nothing: what this target does, it does before `main`.
#ifndef DROPMILL_CSTART_H
#define DROPMILL_CSTART_H

#endif
