// kqueue(2) of Darwin and the BSDs. On Linux the tests have a double of it: Tests/fakekqueue.
#include <sys/types.h>
#include <sys/event.h>
#include <sys/time.h>
