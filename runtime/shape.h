/* The shape of a launch: grid, block, cluster and shared memory, and whether they fit the kernel
 * and the device. The one place where that is judged; callers translate the reason. */
#ifndef PTERA_RUNTIME_SHAPE_H
#define PTERA_RUNTIME_SHAPE_H

#include "backend/exec.h"
#include "ptera.h"
#include "runtime/device.h"
#include "runtime/misfit.h"

/* What a caller demands beyond device and kernel. 0: nothing. */
struct pt_shape_bounds {
    uint32_t threads; /* of a block: as many have registers */
    uint32_t
        registers; /* of a thread, which a cooperative launch must have for all that is resident */
    uint32_t cluster; /* blocks */
    uint32_t sms;     /* of the device that it may use; 0: all */
    bool has_dynamic;
    uint32_t dynamic; /* bytes of dynamic shared memory */
};

struct pt_shape {
    uint32_t grid[3], block[3], cluster[3]; /* grid: in blocks */
    bool is_explicit_cluster;               /* the launch or the kernel says what a cluster is */
    uint32_t threads, n_warps;              /* of a block */
    uint32_t cluster_ctas, clusters[3];
    uint64_t n_clusters;
    uint32_t dynamic_offset, shared_bytes; /* as struct pt_launch has them */
    uint32_t capacity;                     /* clusters that the device has running at once */
};

/* Whether any kernel may have such blocks. */
bool pt_shape_is_block(const uint32_t block[3]);
/* Block and grid alone, which can be judged before the kernel is compiled. `given` is complete. */
enum pt_misfit pt_shape_check_size(const struct pt_func *f, const ptera_launch *given,
                                   struct pt_shape *shape);
/* All of it. `shape` is what the launch becomes; where it does not fit, it is as far as it was
 * judged. */
enum pt_misfit pt_shape_check(const struct pt_device *device, const struct pt_func *f,
                              const struct pt_program *program, const ptera_launch *given,
                              const struct pt_shape_bounds *bounds, struct pt_shape *shape);

/* Threads of a block that .reqntid demands, or .maxntid allows; 0: the kernel declares neither. */
uint64_t pt_shape_declared_threads(const struct pt_func *f);

#endif
