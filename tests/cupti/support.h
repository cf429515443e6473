/* What the tests of CUPTI share: buffers whose records are kept, and the subscriber's counts. */
#ifndef PTERA_TESTS_CUPTI_SUPPORT_H
#define PTERA_TESTS_CUPTI_SUPPORT_H

#include <string.h>

#include "runtime/cupti/abi.h"
#include "tests/cuda/support.h"

#define CUPTI_OK(call) CHECK_INT(call, CUPTI_SUCCESS)

enum { BUFFER_BYTES = 64 << 10, BUFFERS_MOST = 64 };

static struct {
    uint8_t *data;
    size_t valid;
} taken[BUFFERS_MOST];
static unsigned n_taken, n_given;

static inline void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *bytes = BUFFER_BYTES;
    *most = 0;
    n_given++;
}

static inline void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                            size_t valid)
{
    (void)context;
    (void)stream;
    CHECK_INT(bytes, BUFFER_BYTES);
    if (n_taken < BUFFERS_MOST) {
        taken[n_taken].data = buffer;
        taken[n_taken++].valid = valid;
    }
}

/* Flushes, and forgets what was there before. */
static inline void forget(void)
{
    CUPTI_OK(cuptiActivityFlushAll(1));
    while (n_taken)
        free(taken[--n_taken].data);
}

/* The `index`th record of a kind, or NULL. */
static inline const void *find(uint32_t kind, unsigned index)
{
    for (unsigned i = 0; i < n_taken; i++) {
        CUpti_Activity *record = NULL;
        while (cuptiActivityGetNextRecord(taken[i].data, taken[i].valid, &record) == CUPTI_SUCCESS)
            if (record->kind == kind && index-- == 0)
                return record;
    }
    return NULL;
}

static inline unsigned count(uint32_t kind)
{
    unsigned n = 0;
    while (find(kind, n))
        n++;
    return n;
}

/* The record of a driver's call by its name, or NULL. */
static inline const CUpti_ActivityAPI *find_call(uint32_t kind, const char *name)
{
    const CUpti_ActivityAPI *api;
    for (unsigned i = 0; (api = find(kind, i)); i++) {
        const char *its = NULL;
        CUPTI_OK(cuptiGetCallbackName(kind == CUPTI_ACTIVITY_KIND_DRIVER
                                          ? CUPTI_CB_DOMAIN_DRIVER_API
                                          : CUPTI_CB_DOMAIN_RUNTIME_API,
                                      api->id, &its));
        if (its && !strcmp(its, name))
            return api;
    }
    return NULL;
}

#endif
