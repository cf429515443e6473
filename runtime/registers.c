/* Registers that a kernel would need on a GPU: the estimate of runtime/registers/ within what
 * directives allow. */
#include "runtime/registers.h"

#include "runtime/registers/estimate.h"
#include "runtime/shape.h"

uint32_t pt_registers_bound(const struct pt_func *f)
{
    enum { WARP = PT_DEVICE_WARP, UNIT = PT_DEVICE_REGISTER_UNIT / WARP, FEWEST = UNIT };
    enum { PARTS = PT_DEVICE_SM_PARTITIONS, PART_REGISTERS = PT_DEVICE_SM_REGISTERS / PARTS };
    uint32_t most = f->maxnreg && f->maxnreg < PT_DEVICE_THREAD_REGISTERS
                        ? f->maxnreg
                        : PT_DEVICE_THREAD_REGISTERS;
    uint64_t threads = pt_shape_declared_threads(f);
    if (!threads || threads > PT_DEVICE_BLOCK_THREADS)
        return most;
    uint64_t warps = (threads + WARP - 1) / WARP * (f->minnctapersm ? f->minnctapersm : 1);
    uint64_t room = PART_REGISTERS / ((warps + PARTS - 1) / PARTS * WARP) / UNIT * UNIT;
    /* Out of range, .minnctapersm is ignored, as ptxas does. */
    return room >= FEWEST && room < most ? (uint32_t)room : most;
}

/* What a kernel that there is no memory to look at is said to need. */
enum { UNKNOWN = 8 };

static unsigned count(const ptera_kernel *kernel)
{
    const ptera_module *module = kernel->module;
    const struct pt_func *f = &module->ir.funcs.v[kernel->func];
    uint32_t bound = pt_registers_bound(f);
    int32_t features[PT_FEATURES];
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &module->engine->allocator);
    arena.oom = &oom;
    if (setjmp(oom)) {
        pt_arena_free(&arena);
        return pt_registers_bound(f) < UNKNOWN ? pt_registers_bound(f) : UNKNOWN;
    }
    pt_features_find(&module->ir, f, bound, features, &arena);
    pt_arena_free(&arena);
    unsigned n = pt_estimate_registers(features);
    return n < bound ? n : bound;
}

unsigned pt_registers_count(ptera_kernel *kernel)
{
    if (!kernel->registers)
        kernel->registers = count(kernel);
    return kernel->registers;
}
