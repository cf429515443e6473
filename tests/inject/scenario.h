/* Scenarios whose operations fail one by one. A scenario is a list of steps over state that they
 * keep; each step may be done again after it was refused. */
#ifndef PTERA_TESTS_INJECT_SCENARIO_H
#define PTERA_TESTS_INJECT_SCENARIO_H

#include <stdbool.h>

enum outcome {
    GOOD,
    REFUSED, /* an error that says what is the matter, and nothing has happened */
    WRONG    /* anything else */
};

/* Says what is wrong. */
__attribute__((format(printf, 1, 2))) enum outcome wrong(const char *format, ...);

struct scenario {
    const char *name;
    enum outcome (*steps[16])(void);
    void (*end)(void);     /* gives everything back, however far it came */
    void (*prepare)(void); /* before anything counts; may be NULL */
    bool starts_again;     /* what was refused is not done once more by itself: everything is, from
                            * the start */
};

/* main() of a program of scenarios. */
int scenarios_main(const char *program, const struct scenario *scenarios, unsigned n, int argc,
                   char **argv);

#endif
