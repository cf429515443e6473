/* The inside of the interpreter: decoded functions, a warp's state, and how lanes move between
 * blocks.
 *
 * Only code.c, loop.c, ctl.c, warp.c, mem.c, atom.c and move.c include this; handlers of
 * arithmetic need interp.h alone.
 *
 * A decoded function numbers its own blocks: those of the IR in their order, split behind every
 * barrier, so that lanes that wait for a phase have a block to wait at. A block's lanes are in
 * one of these places:
 *   frame->mask               they run now (one block of one activation of the warp)
 *   frame->wait[b], eligible  they may run from the start of b
 *   frame->wait[b], parked    b begins with an instruction that waits for other lanes of the warp
 *   state->groups             they arrived at a CTA barrier and go on at b when its phase is over
 *   a deeper frame            they are in a function that this activation called
 *
 * With PT_TEST_ORDER a warp's lanes do not run together. Before an instruction that needs other lanes, and before calls, stands
 * pt_loop_meet: lanes wait there as long as others can run. Behind it, and where functions begin, pt_loop_part lets one lane go on.
 */
#ifndef PTERA_BACKEND_INTERP_LOOP_H
#define PTERA_BACKEND_INTERP_LOOP_H

#include "backend/interp/interp.h"

enum {
    PT_CODES_UNTIL_POLL = 1 << 17, /* about; with isolated launches' tests the slowest take a microsecond each */
    PT_RECENT = 16 /* extents a warp remembers, by access */
};
#define PT_GROUP_KINDS 3u /* kinds of asynchronous operations that have groups: async.h */

/* A constant slot of the frame. */
struct pt_constant {
    uint32_t offset;
    uint32_t width; /* bytes of one element: 4, 8, 16; 0: a predicate */
    uint64_t lo, hi;
};

/* A parameter or result: of a function as it declares it, or of a call as it passes it. */
struct pt_pass {
    bool is_reg;
    uint32_t at;    /* the slot in the frame, or the offset in the local variables */
    uint32_t bytes; /* of a slot's element (0: predicate), or in memory */
    uint32_t align;
    bool is_variadic; /* parameter: as many bytes as the call passes, behind the function's local variables */
};

/* The codes of an instruction, without those that end its block. */
struct pt_span {
    uint32_t first, n;
};

/* A decoded function. */
struct pt_body {
    const struct pt_func *func;
    uint32_t index; /* function index */
    uint32_t n_blocks;
    uint32_t n_words;             /* of the block sets */
    const struct pt_code **start; /* of each block */
    PT_VEC(struct pt_code) codes;
    PT_VEC(struct pt_constant) constants;
    uint32_t wait_offset, set_offset; /* in the frame: wait[]; eligible[], parked[] and aside[] */
    uint32_t frame_bytes;             /* a multiple of 64 */
    uint32_t budget;                  /* back edges between two polls of launch->stop */
    uint32_t local_bytes;
    struct pt_pass *params, *results; /* func->params.n and func->results.n of them */
    uint32_t *slots;                  /* of registers, in the frame */
    struct pt_span *spans;            /* by instruction */
};

struct pt_interp_program {
    struct pt_program base;
    struct pt_arena arena;
    struct pt_body **bodies; /* by function index; NULL: not reachable */
    uint32_t callee_bytes;   /* room of one callee's activation */
    uint32_t n_callees;      /* how many a warp may have at once */
    uint32_t entry_bytes;    /* room of the kernel's own */
    bool is_unbounded;       /* alloca is used: local memory is not known */
};

/* Lanes that wait for the end of a barrier's phase. */
struct pt_group {
    struct pt_frame *frame;
    const struct pt_code *code; /* the barrier; NULL: lanes that passed by it and wait with the others of the warp */
    uint32_t mask, block, bar, phase;
};

/* What happens when the inner loop is left. */
enum pt_next {
    PT_NEXT_FRAME, /* go on at state->frame, state->code */
    PT_NEXT_PICK,  /* choose among the waiting lanes */
    PT_NEXT_STOP   /* return state->run */
};

struct pt_state {
    struct pt_warp *warp;
    const struct pt_interp_program *program;
    struct pt_frame *frame;     /* the activation that runs */
    const struct pt_code *code; /* where it goes on; inside memory handlers, the code that runs */
    enum pt_next next;
    enum pt_run run;
    struct pt_frame *deepest; /* activations, deepest first */
    struct pt_frame *free;    /* unused callee frames */
    uint32_t used;            /* callee frames handed out at least once */
    struct pt_frame *entry;
    uint8_t *callees;
    uint32_t acting; /* inside handlers that access memory lane by lane: the lane that does, as a mask; else 0 */
    uint32_t committed[PT_GROUP_KINDS][PT_WARP_SIZE]; /* groups that each lane has committed */
    bool is_fast; /* the step that runs need not be exact */
    bool is_serial;  /* PT_TEST_ORDER */
    uint32_t turned; /* likewise: lanes that took the back edge of a loop that waits for others, and let all of them run first */
    uint32_t unbudgeted; /* codes of functions called, and activations searched, since the launch's stop was last looked at */
    uint32_t n_groups;
    struct pt_group groups[PT_WARP_SIZE];
    struct pt_extent recent[PT_RECENT]; /* isolated launches: what accesses were found in */
};

/* A warp's state begins at the first 64-byte boundary of warp->state. */
static inline struct pt_state *pt_state_of(const struct pt_warp *warp)
{
    return (struct pt_state *)(((uintptr_t)warp->state + 63) & ~(uintptr_t)63);
}

/* ---- loop.c: lanes between blocks ------------------------------------------------------------ */

#define pt_loop_goto PT_LEVEL_NAME(pt_loop_goto)
#define pt_loop_wait PT_LEVEL_NAME(pt_loop_wait)
#define pt_loop_park PT_LEVEL_NAME(pt_loop_park)
#define pt_loop_clear PT_LEVEL_NAME(pt_loop_clear)
#define pt_loop_set_aside PT_LEVEL_NAME(pt_loop_set_aside)
#define pt_loop_other PT_LEVEL_NAME(pt_loop_other)
#define pt_loop_unpark PT_LEVEL_NAME(pt_loop_unpark)
#define pt_loop_resume PT_LEVEL_NAME(pt_loop_resume)
#define pt_loop_start PT_LEVEL_NAME(pt_loop_start)
#define pt_loop_outside PT_LEVEL_NAME(pt_loop_outside)
#define pt_loop_turn PT_LEVEL_NAME(pt_loop_turn)
#define pt_loop_poll PT_LEVEL_NAME(pt_loop_poll)
#define pt_loop_locate PT_LEVEL_NAME(pt_loop_locate)
#define pt_loop_prepare PT_LEVEL_NAME(pt_loop_prepare)
#define pt_loop_places PT_LEVEL_NAME(pt_loop_places)
#define pt_loop_meet PT_LEVEL_NAME(pt_loop_meet)
#define pt_loop_part PT_LEVEL_NAME(pt_loop_part)
#define pt_loop_is_stopped PT_LEVEL_NAME(pt_loop_is_stopped)
#define pt_loop_give_way PT_LEVEL_NAME(pt_loop_give_way)
#define pt_loop_frame PT_LEVEL_NAME(pt_loop_frame)
#define pt_loop_drop PT_LEVEL_NAME(pt_loop_drop)

/* All running lanes go to `block`, while others wait at a block not above it. Returns the code
 * to run, as a handler does. */
const struct pt_code *pt_loop_goto(struct pt_frame *f, uint32_t block);
/* `lanes` of the activation wait at the start of `block`, ready to run. */
void pt_loop_wait(struct pt_frame *f, uint32_t block, uint32_t lanes);
/* The same, but they wait for other lanes of the warp. */
void pt_loop_park(struct pt_frame *f, uint32_t block, uint32_t lanes);
/* The same, but they run when no others can. */
void pt_loop_set_aside(struct pt_frame *f, uint32_t block, uint32_t lanes);
/* No lane waits at the start of `block` any more. */
void pt_loop_clear(struct pt_frame *f, uint32_t block);
/* No lane runs any more (all were put somewhere): chooses another block of the activation, or
 * leaves the loop to choose one elsewhere. */
const struct pt_code *pt_loop_other(struct pt_frame *f);
/* Every lane left waits at a CTA barrier (state->groups): leaves the warp. */
const struct pt_code *pt_loop_outside(struct pt_state *s);
/* All running lanes take a back edge to `block` of a loop that waits for other threads: others
 * run first, and where there are none the warp yields. */
const struct pt_code *pt_loop_turn(struct pt_frame *f, uint32_t block);
/* The same when the budget of another loop is used up: the warp yields if the launch is to stop. */
const struct pt_code *pt_loop_poll(struct pt_frame *f, uint32_t block);
/* Looks at the launch's stop where state->unbudgeted says that it is time. */
bool pt_loop_is_stopped(struct pt_state *s);
/* Lanes have exited: whoever waits for lanes of the warp looks again. */
void pt_loop_unpark(struct pt_state *s);
enum pt_run pt_loop_resume(struct pt_warp *warp);
void pt_loop_start(struct pt_warp *warp);
void pt_loop_prepare(const struct pt_launch *launch, struct pt_warp *warp);
void pt_loop_locate(struct pt_warp *warp, uint64_t address);
void pt_loop_places(const struct pt_warp *warp,
                    void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                   uint32_t bar),
                    void *ud);
/* Codes of serial programs. o = block: of the instruction behind, where all running lanes wait; where those wait that let one
 * go on. */
const struct pt_code *pt_loop_meet(const struct pt_code *c, struct pt_frame *f);
const struct pt_code *pt_loop_part(const struct pt_code *c, struct pt_frame *f);
/* Behind an access, of a program whose warps take turns: other warps go on, then the lanes at block o[0]. */
const struct pt_code *pt_loop_give_way(const struct pt_code *c, struct pt_frame *f);
/* The first code of a block that belongs to an instruction. */
static inline const struct pt_code *pt_loop_first(const struct pt_body *body, uint32_t block)
{
    const struct pt_code *c = body->start[block];
    return c + (c->fn == pt_loop_meet);
}
/* A new activation of `body` called from `caller`, without lanes; NULL: no room. */
struct pt_frame *pt_loop_frame(struct pt_frame *caller, const struct pt_body *body);
/* Gives back an activation without lanes. */
void pt_loop_drop(struct pt_frame *f);

/* All running lanes go to `block`, which starts at `code`. */
static inline const struct pt_code *pt_goto(struct pt_frame *f, uint32_t block,
                                            const struct pt_code *code)
{
    return __builtin_expect(block < f->lowest, 1) ? code : pt_loop_goto(f, block);
}

/* Leaves the inner loop and the warp. */
static inline const struct pt_code *pt_stop(struct pt_state *s, enum pt_run run)
{
    s->next = PT_NEXT_STOP;
    s->run = run;
    return NULL;
}

/* ---- step.c ---------------------------------------------------------------------------------- */

#define pt_step_frame PT_LEVEL_NAME(pt_step_frame)
#define pt_step_slot PT_LEVEL_NAME(pt_step_slot)
#define pt_step PT_LEVEL_NAME(pt_step)
/* As frame, slot and step of struct pt_engine. */
void *pt_step_frame(struct pt_warp *warp, uint32_t func);
uint32_t pt_step_slot(const struct pt_program *program, uint32_t func, uint32_t reg);
bool pt_step(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes, bool is_fast);

/* ---- code.c ---------------------------------------------------------------------------------- */

#define pt_code_compile PT_LEVEL_NAME(pt_code_compile)
#define pt_code_release PT_LEVEL_NAME(pt_code_release)
struct pt_program *pt_code_compile(const struct pt_image *image, uint32_t kernel, uint32_t tests,
                                   const struct pt_allocator *allocator);
void pt_code_release(struct pt_program *program);
/* The handler of a form whose selector looks at nothing else; NULL: none. */
#define pt_code_handler PT_LEVEL_NAME(pt_code_handler)
pt_handler pt_code_handler(struct pt_module *module, const struct pt_form *form, uint64_t *imm);

/* ---- for selectors that place operands themselves ---- */

/* A slot of `bytes` a lane (0: predicate) for temporary values. */
#define pt_code_slot PT_LEVEL_NAME(pt_code_slot)
uint32_t pt_code_slot(struct pt_select *s, uint32_t bytes);
/* The slot of a source, made `bytes` wide (0: predicate); UINT32_MAX after reporting. */
#define pt_code_source PT_LEVEL_NAME(pt_code_source)
uint32_t pt_code_source(struct pt_select *s, const struct pt_operand *o, uint32_t bytes);
/* The slot of a destination register as it is, or for _ one that nobody reads. */
#define pt_code_dest PT_LEVEL_NAME(pt_code_dest)
uint32_t pt_code_dest(struct pt_select *s, const struct pt_operand *o);
/* A zeroed array that lives as long as the program. */
#define pt_code_array PT_LEVEL_NAME(pt_code_array)
void *pt_code_array(struct pt_select *s, size_t bytes);
/* Number and start of the decoded block that follows the instruction, or of an IR block. */
#define pt_code_after PT_LEVEL_NAME(pt_code_after)
uint32_t pt_code_after(const struct pt_select *s);
#define pt_code_block PT_LEVEL_NAME(pt_code_block)
uint32_t pt_code_block(const struct pt_select *s, uint32_t ir_block);
/* The address or offset of a variable, and where it counts from: .param of functions is LOCAL. */
#define pt_code_symbol PT_LEVEL_NAME(pt_code_symbol)
uint64_t pt_code_symbol(const struct pt_select *s, uint32_t symbol, enum pt_space *space);
/* Where the window of constants begins; 0: there are none. */
#define pt_code_constants PT_LEVEL_NAME(pt_code_constants)
uint64_t pt_code_constants(const struct pt_select *s);
/* The instruction's .param is the kernel's parameters, not those of an activation, which are local memory. */
#define pt_code_is_of_kernel PT_LEVEL_NAME(pt_code_is_of_kernel)
bool pt_code_is_of_kernel(const struct pt_select *s);
/* code->ptr becomes the start of decoded block `block`. */
#define pt_code_link PT_LEVEL_NAME(pt_code_link)
void pt_code_link(struct pt_select *s, uint32_t block);
#define pt_code_here PT_LEVEL_NAME(pt_code_here)
uint32_t pt_code_here(const struct pt_select *s);
/* The IR block being decoded. */
#define pt_code_ir_block PT_LEVEL_NAME(pt_code_ir_block)
uint32_t pt_code_ir_block(const struct pt_select *s);
/* True if back edges of it let other work run first. */
#define pt_code_communicates PT_LEVEL_NAME(pt_code_communicates)
bool pt_code_communicates(const struct pt_select *s);
/* Code that runs before the instruction; c->fn and operands are the caller's to fill. */
#define pt_code_before PT_LEVEL_NAME(pt_code_before)
struct pt_code *pt_code_before(struct pt_select *s, pt_handler fn);
/* The same, behind it. */
#define pt_code_behind PT_LEVEL_NAME(pt_code_behind)
struct pt_code *pt_code_behind(struct pt_select *s, pt_handler fn);
/* The same for a code that pt_mem_address has filled, which writes memory: a second access of the instruction. */
#define pt_code_access_behind PT_LEVEL_NAME(pt_code_access_behind)
void pt_code_access_behind(struct pt_select *s, const struct pt_code *access);
/* By function: 1 for those that the indirect call may find at its address. */
#define pt_code_callees PT_LEVEL_NAME(pt_code_callees)
const uint8_t *pt_code_callees(const struct pt_select *s);
/* The program being made; its other functions may not be decoded yet. */
#define pt_code_program PT_LEVEL_NAME(pt_code_program)
struct pt_interp_program *pt_code_program(const struct pt_select *s);

/* ---- move.c: what the decoder inserts -------------------------------------------------------- */

#define pt_move_sreg PT_LEVEL_NAME(pt_move_sreg)
pt_handler pt_move_sreg(enum pt_sreg sreg, uint32_t bytes);
#define pt_move_address PT_LEVEL_NAME(pt_move_address)
pt_handler pt_move_address(enum pt_space space, bool generic, uint32_t bytes);
#define pt_move_extend PT_LEVEL_NAME(pt_move_extend)
/* Copies operand 1 to 0, `from` bits extended to `to` bits (32 or 64 bit slots as the widths
 * say). */
pt_handler pt_move_extend(uint32_t from, uint32_t to, bool is_signed);
/* Copies the low 32 bits of 64-bit operand 1 to 0. */
#define pt_move_narrow PT_LEVEL_NAME(pt_move_narrow)
pt_handler pt_move_narrow(void);

/* ---- ctl.c: codes that belong to no row ------------------------------------------------------ */

#define pt_ctl_guard PT_LEVEL_NAME(pt_ctl_guard)
const struct pt_code *pt_ctl_guard(const struct pt_code *c, struct pt_frame *f);
#define pt_ctl_fall PT_LEVEL_NAME(pt_ctl_fall)
const struct pt_code *pt_ctl_fall(const struct pt_code *c, struct pt_frame *f);
#define pt_ctl_bra PT_LEVEL_NAME(pt_ctl_bra)
const struct pt_code *pt_ctl_bra(const struct pt_code *c, struct pt_frame *f);
#define pt_ctl_split PT_LEVEL_NAME(pt_ctl_split)
const struct pt_code *pt_ctl_split(const struct pt_code *c, struct pt_frame *f);
/* The same along a back edge: of any loop, of one that communicates. */
#define pt_ctl_back PT_LEVEL_NAME(pt_ctl_back)
const struct pt_code *pt_ctl_back(const struct pt_code *c, struct pt_frame *f);
#define pt_ctl_turn PT_LEVEL_NAME(pt_ctl_turn)
const struct pt_code *pt_ctl_turn(const struct pt_code *c, struct pt_frame *f);
#define pt_ctl_end PT_LEVEL_NAME(pt_ctl_end)
const struct pt_code *pt_ctl_end(const struct pt_code *c, struct pt_frame *f);
/* True if the row's handler looks at the guard itself. */
static inline bool pt_ctl_takes_guard(const struct pt_form *form)
{
    return form->op == PT_OP_bra;
}
/* Writes what a barrier returns (bar.red) to the lanes of a group that it releases. */
#define pt_ctl_barrier_result PT_LEVEL_NAME(pt_ctl_barrier_result)
void pt_ctl_barrier_result(const struct pt_group *g);
/* The function a call names; PT_NONE if it is indirect. */
#define pt_ctl_callee PT_LEVEL_NAME(pt_ctl_callee)
uint32_t pt_ctl_callee(const struct pt_func *f, const struct pt_insn *insn);

/* ---- isolate.c: codes before accesses in isolated programs ----------------------------------- */

#define pt_isolate_test PT_LEVEL_NAME(pt_isolate_test)
/* Makes the test of an access of `func` from a copy of its code; `number` tells the function's
 * accesses apart. Returns false if none is needed. */
bool pt_isolate_test(struct pt_code *test, const struct pt_func *func, bool is_write,
                     uint32_t number);

/* ---- race_test.c: codes before instructions of programs with PT_TEST_ASYNC -------------------- */

#define pt_race_test PT_LEVEL_NAME(pt_race_test)
/* Makes the test of an access from a copy of its code. Returns false if none is needed. */
bool pt_race_test(struct pt_code *test, const struct pt_form *form, bool is_write);
/* A register that an instruction uses and an operation in flight may use. */
struct pt_race_reg {
    uint32_t reg, slot;
    bool is_def;
};
#define pt_race_test_registers PT_LEVEL_NAME(pt_race_test_registers)
/* The test of `n` registers that the array holds, which lives as long as the program. */
struct pt_code pt_race_test_registers(uint32_t insn, const struct pt_race_reg *regs, uint32_t n);

/* ---- mem.c ----------------------------------------------------------------------------------- */

#define pt_mem_locate PT_LEVEL_NAME(pt_mem_locate)
/* The lanes of `mask` whose access by `c` touches the page of `address`, and the address of the
 * lowest. */
uint32_t pt_mem_locate(const struct pt_code *c, struct pt_frame *f, uint64_t address,
                       uint64_t *first);
#define pt_mem_misaligned_lanes PT_LEVEL_NAME(pt_mem_misaligned_lanes)
/* The lanes of `mask` whose access by `c` is misaligned, and the address of the lowest. */
uint32_t pt_mem_misaligned_lanes(const struct pt_code *c, struct pt_frame *f, uint64_t *first);

#endif
