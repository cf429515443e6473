/* A kernel of the suite, loaded and launched by a driver. */
#ifndef PTERA_TOOLS_CONFORM_LAUNCH_H
#define PTERA_TOOLS_CONFORM_LAUNCH_H

#include <stdint.h>

#include "tools/conform/driver.h"
#include "tools/conform/row.h"

enum { LAUNCH_PARAMETERS = 32 };

struct launch_buffer {
    size_t bytes;
    const void *from; /* what it holds before, or NULL: bytes of `fill` */
    unsigned char fill;
    void *to; /* what it holds after goes here, or NULL */
};

struct worker;

struct launch {
    const char *ptx, *kernel;
    unsigned grid[3], block[3], cluster; /* CTAs along x; 0: none */
    unsigned shared;                     /* bytes that the launch adds */
    bool is_cooperative;
    int level;         /* how far the driver optimises; -1: as it does by itself */
    unsigned patience; /* seconds to wait for the end; 0: for ever */
    struct launch_buffer buffer[LAUNCH_PARAMETERS];
    unsigned n_buffers;
    uint64_t scalar[LAUNCH_PARAMETERS];
    unsigned n_scalars;
    void *value;                   /* a parameter of more bytes */
    char order[LAUNCH_PARAMETERS]; /* of the parameters: 'b', 's', 'v'; buffers that are not there
                                      are none. Empty: buffers, then scalars */
    /* What is done when the buffers are there, at `at`; or NULL. False: it is not to be launched,
     * and the result says what came of it. */
    bool (*prepare)(struct worker *worker, struct launch *launch, const CUdeviceptr *at,
                    struct result *result);
    const void *data; /* for it */
    /* what came of it */
    bool has_started;
    CUresult ended; /* CUDA_ERROR_NOT_READY: it has not */
};

/* A module that stays loaded, since the next row has the same text. */
struct kept_module {
    CUmodule module; /* NULL: none */
    char *ptx;
    int level;
};

/* What a worker has. */
struct worker {
    struct driver driver;
    bool is_spoiled;     /* an error like a fault: the context is of no use any more */
    bool is_module_kept; /* of the row at hand */
    struct kept_module kept;
};

/* Whether a call returned an error, which the result then says. */
bool conform_launch_failed(struct worker *worker, const char *call, CUresult r,
                           struct result *result);

/* Whether what a call was to make came out as it must: `want`; if not, the result says so. */
bool conform_launch_made(struct worker *worker, const char *what, CUresult r, CUresult want,
                         struct result *result);

/* Whether the device and the driver claim to know what the text is for; if not, the result says
 * so. */
bool conform_launch_claims(const struct worker *worker, const char *ptx, struct result *result);

/* False: it is not loaded; the result says why. */
bool conform_launch_load(struct worker *worker, const char *ptx, int level, CUmodule *module,
                         struct result *result);

/* Loads, launches and waits. True: it ended, and the buffers are read. */
bool conform_launch_run(struct worker *worker, struct launch *launch, struct result *result);

/* Whether it was launched and ended as it must, by `want` (0 or a fault), which the result then
 * says as well; if not, what else. */
bool conform_launch_ended(const struct launch *launch, CUresult want, struct result *result);

#endif
