/* How handlers tell observers what happens: nothing is asked where nobody watches. */
#ifndef PTERA_BACKEND_INTERP_OBSERVE_H
#define PTERA_BACKEND_INTERP_OBSERVE_H

#include "backend/interp/async.h"
#include "backend/observer.h"

static inline bool pt_is_observed(const struct pt_frame *f)
{
    return f->state->observers;
}

/* An access by `lanes`, of `bytes` at each one's address. False after pt_fail: it may not be. */
#define pt_observe_access PT_LEVEL_NAME(pt_observe_access)
bool pt_observe_access(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                       const uint64_t *address, uint64_t bytes, uint32_t use, const void *data);
/* The same of the asynchronous operation that a lane is about to issue. No bytes: no access. */
#define pt_observe_lane PT_LEVEL_NAME(pt_observe_lane)
bool pt_observe_lane(const struct pt_code *c, struct pt_frame *f, uint32_t lane, uint64_t address,
                     uint64_t bytes, enum pt_space space, uint32_t use);
static inline bool pt_observe_async(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                                    uint64_t address, uint64_t bytes, enum pt_space space,
                                    uint32_t use)
{
    return !pt_is_observed(f) || pt_observe_lane(c, f, lane, address, bytes, space, use);
}
/* What an asynchronous operation does where it writes, or joins. */
/* What a warp reads of a texture, or copies by cp.async. False after pt_fail. */
#define pt_observe_texels PT_LEVEL_NAME(pt_observe_texels)
#define pt_observe_copies PT_LEVEL_NAME(pt_observe_copies)
bool pt_observe_texels(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                       const struct pt_texels *texels, uint64_t bytes);
bool pt_observe_copies(const struct pt_code *c, struct pt_frame *f, const struct pt_copies *copies);

static inline uint32_t pt_observe_use(const struct pt_async_op *op)
{
    return op->join ? PT_USE_WRITE | PT_USE_ATOMIC : PT_USE_WRITE;
}
/* An update of an mbarrier by the operation that it counts. */
static inline bool pt_observe_counting(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                                       uint64_t mbarrier)
{
    return pt_observe_async(c, f, lane, mbarrier, 8, PT_SPACE_SHARED, PT_USE_WRITE | PT_USE_ATOMIC);
}

#define pt_observe_sync PT_LEVEL_NAME(pt_observe_sync)
void pt_observe_sync(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                     struct pt_sync sync);
/* False if there is no memory. */
#define pt_observe_misused PT_LEVEL_NAME(pt_observe_misused)
void pt_observe_misused(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                        enum pt_misuse what, uint32_t others);
#define pt_observe_mbarrier PT_LEVEL_NAME(pt_observe_mbarrier)
void pt_observe_mbarrier(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                         uint64_t address, enum pt_mbarrier_use use);
#define pt_observe_exited PT_LEVEL_NAME(pt_observe_exited)
void pt_observe_exited(const struct pt_code *c, struct pt_frame *f);
#define pt_observe_issued PT_LEVEL_NAME(pt_observe_issued)
bool pt_observe_issued(struct pt_async_op *op);
#define pt_observe_done PT_LEVEL_NAME(pt_observe_done)
void pt_observe_done(const struct pt_async_op *op);
#define pt_observe_waited PT_LEVEL_NAME(pt_observe_waited)
void pt_observe_waited(const struct pt_code *c, struct pt_frame *f, enum pt_async_kind kind,
                       uint32_t pending, bool is_read);
#define pt_observe_allocated PT_LEVEL_NAME(pt_observe_allocated)
void pt_observe_allocated(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                          uint64_t address, uint64_t bytes);
#define pt_observe_accessed PT_LEVEL_NAME(pt_observe_accessed)
void pt_observe_accessed(const struct pt_code *c, struct pt_frame *f);
#define pt_observe_returned PT_LEVEL_NAME(pt_observe_returned)
void pt_observe_returned(const struct pt_frame *f);

/* ---- for the decoder: codes before others ---- */

/* Makes the codes before an access from its own. Returns how many. */
#define pt_observe_make_accesses PT_LEVEL_NAME(pt_observe_make_accesses)
uint32_t pt_observe_make_accesses(const struct pt_interp_program *p, const struct pt_func *func,
                                  const void *const *facts, const struct pt_form *form,
                                  const struct pt_code *access, bool is_write, uint32_t number,
                                  struct pt_code codes[PT_OBSERVERS]);
/* Those before an instruction that observers make themselves, or before its guard. */
#define pt_observe_make_instructions PT_LEVEL_NAME(pt_observe_make_instructions)
uint32_t pt_observe_make_instructions(const struct pt_interp_program *p, const struct pt_func *func,
                                      const void *const *facts, uint32_t insn, bool is_guard,
                                      struct pt_code codes[PT_OBSERVERS]);
#define pt_observe_analyse PT_LEVEL_NAME(pt_observe_analyse)
/* What observers find of a function before its instructions are decoded. */
void pt_observe_analyse(const struct pt_interp_program *p, const struct pt_func *func,
                        struct pt_arena *arena, const void **facts);
/* The code that tells of `n` registers in an array that lives as long as the program. */
#define pt_observe_make_registers PT_LEVEL_NAME(pt_observe_make_registers)
struct pt_code pt_observe_make_registers(uint32_t insn, const struct pt_register_use *uses,
                                         uint32_t n);
/* Codes before the first instruction of a block, and before every instruction. */
#define pt_observe_block PT_LEVEL_NAME(pt_observe_block)
#define pt_observe_instruction PT_LEVEL_NAME(pt_observe_instruction)
const struct pt_code *pt_observe_block(const struct pt_code *c, struct pt_frame *f);
const struct pt_code *pt_observe_instruction(const struct pt_code *c, struct pt_frame *f);
/* The code before a fence. */
#define pt_observe_fence PT_LEVEL_NAME(pt_observe_fence)
const struct pt_code *pt_observe_fence(const struct pt_code *c, struct pt_frame *f);
/* Somebody wants to be told of them. */
#define pt_observe_asks_blocks PT_LEVEL_NAME(pt_observe_asks_blocks)
#define pt_observe_asks_instructions PT_LEVEL_NAME(pt_observe_asks_instructions)
#define pt_observe_asks_fences PT_LEVEL_NAME(pt_observe_asks_fences)
#define pt_observe_asks_registers PT_LEVEL_NAME(pt_observe_asks_registers)
bool pt_observe_asks_blocks(const struct pt_interp_program *p);
bool pt_observe_asks_instructions(const struct pt_interp_program *p);
bool pt_observe_asks_fences(const struct pt_interp_program *p);
bool pt_observe_asks_registers(const struct pt_interp_program *p);

#endif
