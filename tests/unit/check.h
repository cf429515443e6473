/* Checks of test programs: each counts, a failed one says where and goes on. main ends with `return
 * CHECK_DONE("name")`. */
#ifndef PTERA_TESTS_UNIT_CHECK_H
#define PTERA_TESTS_UNIT_CHECK_H

#include <stdio.h>
#include <string.h>

static _Atomic int check_passed, check_failed; /* threads of a test may check as well */

static inline void check_true(_Bool holds, const char *condition, const char *file, int line)
{
    if (holds) {
        check_passed++;
        return;
    }
    check_failed++;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, condition);
}

#define CHECK(condition) check_true(!!(condition), #condition, __FILE__, __LINE__)

/* Two integers are equal. */
#define CHECK_INT(have, want)                                                                   \
    do {                                                                                        \
        long long have_ = (long long)(have), want_ = (long long)(want);                         \
        if (have_ == want_) {                                                                   \
            check_passed++;                                                                     \
        } else {                                                                                \
            check_failed++;                                                                     \
            fprintf(stderr, "%s:%d: failed: %s is %lld, not %lld\n", __FILE__, __LINE__, #have, \
                    have_, want_);                                                              \
        }                                                                                       \
    } while (0)

/* Two texts are equal. */
#define CHECK_TEXT(have, want) \
    do { \
        const char *have_ = (have), *want_ = (want); \
        if (have_ && strcmp(have_, want_) == 0) { \
            check_passed++; \
        } else { \
            check_failed++; \
            fprintf(stderr, "%s:%d: failed: %s is\n%s\nnot\n%s\n", __FILE__, __LINE__, #have, \
                    have_ ? have_ : "(null)", want_); \
        } \
    } while (0)

/* A text holds another. */
#define CHECK_HAS(have, part) \
    do { \
        const char *have_ = (have), *part_ = (part); \
        if (have_ && strstr(have_, part_)) { \
            check_passed++; \
        } else { \
            check_failed++; \
            fprintf(stderr, "%s:%d: failed: no \"%s\" in\n%s\n", __FILE__, __LINE__, part_, \
                    have_ ? have_ : "(null)"); \
        } \
    } while (0)

#define CHECK_DONE(name) \
    (printf("%s: %d passed, %d failed, 0 skipped\n", (name), check_passed, check_failed), \
     check_failed > 0 || check_passed == 0)

#endif
