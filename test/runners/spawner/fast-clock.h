// A clock that goes on when it is read, as if the processor was taken away from clip at that moment.

#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

static int fast_clock(clockid_t clock, struct timespec *now) {
  static long ahead;
  int result = clock_gettime(clock, now);
  ahead += rand() % 2;
  long ms = now->tv_nsec / 1000000 + ahead;
  now->tv_sec += ms / 1000;
  now->tv_nsec = ms % 1000 * 1000000;
  return result;
}

#define clock_gettime fast_clock
