/* Register pressure in the order of the text. */
#include "runtime/registers/pressure.h"

#include "runtime/registers/live_set.h"
#include "runtime/registers/remat.h"

static void raise(int32_t *most, int32_t n)
{
    if (*most < n)
        *most = n;
}

struct peak {
    int32_t size;
    uint32_t insn; /* before it; the one behind the block's last: at its end */
};

static struct peak block_peak(const struct pt_code *code, uint64_t *live, uint32_t b,
                              const int32_t *size)
{
    const struct pt_block *block = &code->f->blocks.v[b];
    pt_live_set_start(code, live, b);
    int32_t n = pt_live_set_size(code, live, size);
    struct peak peak = {n, block->first + block->count};
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        n -= pt_live_set_named(code, live, i, size);
        pt_live_set_step(code, live, i);
        n += pt_live_set_named(code, live, i, size);
        if (n > peak.size)
            peak = (struct peak){n, i};
    }
    return peak;
}

static int32_t kept_at(const struct pt_code *code, const struct pt_register_file *file,
                       uint64_t *live, uint32_t b, uint32_t insn)
{
    const struct pt_block *block = &code->f->blocks.v[b];
    int32_t n = 0;
    pt_live_set_start(code, live, b);
    for (uint32_t i = block->first + block->count; i-- > insn;)
        pt_live_set_step(code, live, i);
    for (uint32_t r = pt_live_set_next(live, code->words, 0); r != UINT32_MAX;
         r = pt_live_set_next(live, code->words, r + 1))
        if (file->vector[r] && !pt_remat_is_cheap(code, file, live, r))
            n += file->vector[r];
    return n;
}

struct pt_pressure pt_pressure_find(const struct pt_code *code, const struct pt_register_file *file)
{
    const struct pt_func *f = code->f;
    struct pt_pressure p = {0};
    int32_t *uniform = pt_arena_alloc(code->arena, f->regs.n * sizeof *uniform);
    int32_t *wide = pt_arena_alloc(code->arena, f->regs.n * sizeof *wide);
    uint64_t *live = pt_arena_alloc(code->arena, code->words * sizeof *live);
    for (uint32_t r = 1; r < f->regs.n; r++) {
        uniform[r] = file->size[r] - file->vector[r];
        wide[r] = file->vector[r] > 2 ? file->vector[r] : 0;
    }
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        raise(&p.all, block_peak(code, live, b, file->size).size);
        raise(&p.uniform, block_peak(code, live, b, uniform).size);
        raise(&p.wide, block_peak(code, live, b, wide).size);
        raise(&p.spread, block_peak(code, live, b, file->spread).size);
        struct peak vector = block_peak(code, live, b, file->vector);
        raise(&p.vector, vector.size);
        if (f->blocks.v[b].loop)
            raise(&p.loop, vector.size);
        if (vector.size > p.kept)
            raise(&p.kept, kept_at(code, file, live, b, vector.insn));
    }
    return p;
}
