/* An input as a sequence of choices; past its end all are 0. */
#ifndef PTERA_TESTS_FUZZ_INPUT_H
#define PTERA_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
    const uint8_t *p;
    size_t left;
};

static inline unsigned take(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->p++;
}

/* One of the n elements of an array. */
#define PICK(in, array) ((array)[take(in) % (sizeof(array) / sizeof *(array))])

#endif
