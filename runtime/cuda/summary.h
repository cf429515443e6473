/* What `ptera exec --summary` and the driver in the program that it runs share: a file, mapped by
 * both, so that nothing is lost however the program ends. PTERA_SUMMARY names the file. Counters
 * are atomic, since several threads and processes add to them. */
#ifndef PTERA_RUNTIME_CUDA_SUMMARY_H
#define PTERA_RUNTIME_CUDA_SUMMARY_H

#include <stdatomic.h>
#include <stdint.h>

enum { PT_SUMMARY_KERNELS = 4096, PT_SUMMARY_NAME_BYTES = 256 };

/* Of a name; the last row is for all that find no other. Times are in nanoseconds. */
struct pt_summary_kernel {
    atomic_uint_fast64_t hash; /* of the name; 0: nobody has the row yet */
    char name[PT_SUMMARY_NAME_BYTES];
    /* launches; mixed: interpreted at first, native then */
    atomic_uint_fast64_t begun, ended, failed, native, mixed;
    atomic_uint_fast64_t ns, ns_least, ns_most; /* ns_least: 0 if there was none */
    atomic_uint_fast64_t compile_ns;
};

enum pt_summary_move {
    PT_SUMMARY_TO_DEVICE,
    PT_SUMMARY_FROM_DEVICE,
    PT_SUMMARY_ON_DEVICE,
    PT_SUMMARY_ON_HOST,
    PT_SUMMARY_SET,
    PT_SUMMARY_MOVES
};

struct pt_summary {
    struct {
        atomic_uint_fast64_t count, bytes, ns;
    } moves[PT_SUMMARY_MOVES];
    struct pt_summary_kernel kernels[PT_SUMMARY_KERNELS];
};

#endif
