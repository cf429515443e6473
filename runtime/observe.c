/* Observers: which of them watch, and telling them what hosts do. */
#include "runtime/observe.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned check;
    uint32_t test;
} checkers[] = {
    {"race", PTERA_CHECK_RACE, PT_TEST_race | PT_TEST_conflict},
    {"mem", PTERA_CHECK_MEM, PT_TEST_mem},
    {"init", PTERA_CHECK_INIT, PT_TEST_init},
    {"init-load", PTERA_CHECK_INIT_LOAD, PT_TEST_init_load},
    {"sync", PTERA_CHECK_SYNC, PT_TEST_sync},
    {"order", PTERA_CHECK_ORDER, PT_TEST_order},
    /* a name alone: what `ptera check all` has */
    {"all", 0, PT_TEST_mem | PT_TEST_init | PT_TEST_race | PT_TEST_conflict | PT_TEST_sync}};
enum { N_CHECKERS = sizeof checkers / sizeof *checkers };

static bool is_name(const char *its, const char *name, size_t length)
{
    return length && strlen(its) == length && !memcmp(its, name, length);
}

/* Of a checker, which may be several observers, or else of an observer. 0: there is none. */
static uint32_t find(const struct pt_engine *backend, const char *name, size_t length)
{
    for (size_t i = 0; i < N_CHECKERS; i++)
        if (is_name(checkers[i].name, name, length))
            return checkers[i].test;
    for (uint32_t i = 0; i < PT_OBSERVERS; i++)
        if (is_name(backend->observers[i]->name, name, length))
            return (uint32_t)PT_TEST_OBSERVER << i;
    return 0;
}

static void say_unknown(const struct pt_engine *backend, const char *name, size_t length, char *why,
                        size_t size)
{
    int n = snprintf(why, size, "there is no observer '%.*s', but", (int)length, name);
    for (uint32_t i = 0; i < PT_OBSERVERS && n > 0 && (size_t)n < size; i++)
        if (*backend->observers[i]->name)
            n += snprintf(why + n, size - (size_t)n, "%s %s", i ? "," : "",
                          backend->observers[i]->name);
}

bool pt_observe_find(const struct pt_engine *backend, const char *names, uint32_t *tests, char *why,
                     size_t size)
{
    *tests = 0;
    for (const char *at = names; at && *at;) {
        size_t length = strcspn(at, ",");
        uint32_t test = find(backend, at, length);
        if (!test) {
            say_unknown(backend, at, length, why, size);
            return false;
        }
        *tests |= test;
        at += length + (at[length] == ',');
    }
    return true;
}

uint32_t pt_observe_checks(unsigned checks)
{
    uint32_t tests = 0;
    for (size_t i = 0; i < N_CHECKERS; i++)
        tests |= checks & checkers[i].check ? checkers[i].test : 0;
    return tests;
}

/* The observers that `tests` asks for: a bit each, by number. */
static uint32_t observing(uint32_t tests)
{
    return (tests & PT_TEST_OBSERVERS) / PT_TEST_OBSERVER;
}

const struct pt_observer *const *
pt_observe_list_memory(const struct pt_engine *backend, uint32_t tests,
                       const struct pt_observer *list[PT_OBSERVERS_MOST + 1])
{
    uint32_t n = 0;
    for (uint32_t left = observing(tests); left; left &= left - 1) {
        const struct pt_observer *o = backend->observers[__builtin_ctz(left)];
        if (o->memory)
            list[n++] = o;
    }
    list[n] = NULL;
    return n ? list : NULL;
}

void pt_observe_launch(struct pt_launch *launch, bool is_over)
{
    const struct pt_program *p = launch->program;
    for (uint32_t left = observing(p->tests); left; left &= left - 1) {
        const struct pt_observer *o = p->engine->observers[__builtin_ctz(left)];
        if (o->launched)
            o->launched(launch, is_over);
    }
}

void pt_observe_begun(const struct pt_cta *cta)
{
    const struct pt_program *p = cta->launch->program;
    for (uint32_t left = observing(p->tests); left; left &= left - 1) {
        const struct pt_observer *o = p->engine->observers[__builtin_ctz(left)];
        if (o->begun)
            o->begun(cta);
    }
}

void pt_observe_ended(const struct pt_cta *cta)
{
    const struct pt_program *p = cta->launch->program;
    for (uint32_t left = observing(p->tests); left; left &= left - 1) {
        const struct pt_observer *o = p->engine->observers[__builtin_ctz(left)];
        if (o->ended)
            o->ended(cta);
    }
}
