/* Points in time up to which something is waited for. */
#ifndef PTERA_RUNTIME_DEADLINE_H
#define PTERA_RUNTIME_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC */
static inline uint64_t pt_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* So many seconds from now, by CLOCK_MONOTONIC; no more than 31 years. */
static inline struct timespec pt_deadline_in(double seconds)
{
    const double most = 1e9;
    struct timespec t;
    if (seconds > most)
        seconds = most;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)seconds;
    t.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* Seconds that are left: below 0 once it is over. */
static inline double pt_deadline_left(const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(deadline->tv_sec - now.tv_sec) +
           1e-9 * (double)(deadline->tv_nsec - now.tv_nsec);
}

#endif
