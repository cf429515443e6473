/* The contract between the engines (backend/interp, backend/jit) and the runtime: what is compiled,
 * the state of a CTA and a warp, the services an engine may ask for, and the entry points of an
 * engine. Read this first.
 *
 * The runtime owns launches, CTAs, worker threads and barriers; an engine owns the inside of a
 * warp. A warp is resumable: `resume` runs it until every lane has exited, every lane waits at a
 * barrier, or it yields.
 */
#ifndef PTERA_BACKEND_EXEC_H
#define PTERA_BACKEND_EXEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend/finding.h"
#include "backend/lanes.h"
#include "ir/device.h"
#include "ir/ir.h"

enum {
    PT_WARP_SIZE = 32,
    PT_MAX_WARPS = 32, /* of a CTA: 1024 threads */
    PT_BARRIERS = 16,  /* of a CTA */
    /* barrier.cluster: `arrive` with this id; its phase is bar[] of it */
    PT_CLUSTER_BARRIER = PT_BARRIERS,
    PT_NO_BARRIER, /* wait_bar of a warp that does not wait at one barrier alone */
    /* user data in a CTA's shared window; the kilobyte below is reserved, as on an H200 */
    PT_SHARED_BASE = 0x400
};
#define PT_SHARED_RANK_SHIFT 24 /* shared address = rank in the cluster << 24 | offset */

/* A loaded module as one kernel sees it: the IR and where the variables lie. */
struct pt_image {
    struct pt_module *module;
    /* by symbol index: generic address of .global and .const variables, the offset in the CTA's
     * window (PT_SHARED_BASE or more) of the .shared ones that the kernel and what it calls use;
     * others unused */
    uint64_t *symbols;
    /* the address of function i, as PTX sees it, is func_base + 16 * i; never dereferenced */
    uint64_t func_base;
};

enum { PT_OBSERVERS_MOST = 16 };

/* What a program is compiled for beyond what every program does: a set. */
enum pt_test {
    PT_TEST_ASYNC = 1,    /* launches whose CTAs have `async`: registers that an operation in flight
                          uses stay its own */
    PT_TEST_ORDER = 2,    /* whether results depend on the order of lanes: they run one after the
                          other */
    PT_TEST_TURNS = 4,    /* likewise, of warps: each lets the others go on behind every access */
    PT_TEST_OBSERVER = 8, /* the first observer; each has its own bit: observer.h */
    PT_TEST_OBSERVERS = PT_TEST_OBSERVER * ((1 << PT_OBSERVERS_MOST) - 1) /* all of them */
};

/* What an engine made of one kernel and all functions it may call. The engine's own struct begins
 * with this. */
struct pt_program {
    const struct pt_engine *engine;
    const struct pt_image *image;
    uint32_t kernel;         /* function index */
    uint32_t tests;          /* enum pt_test: what it was compiled for */
    struct pt_program *next; /* the runtime's: another of the kernel */
    /* bytes of static shared memory, used from PT_SHARED_BASE on; set by the runtime, which lays it
     * out, after `compile` */
    uint32_t shared_static;
    uint32_t shared_align; /* alignment the dynamic shared memory behind it needs; likewise */
    /* local memory one thread needs, 0 if unbounded (recursion, alloca) */
    uint64_t local_bytes;
    size_t warp_bytes;                  /* engine's state for one warp (pt_warp.state) */
    const struct pt_coverage *coverage; /* PT_TEST_coverage: ir/coverage.h; else NULL */
};

struct pt_cta;
struct pt_shadow;
struct pt_warp;

enum pt_fault_kind {
    PT_FAULT_NONE,
    PT_FAULT_ILLEGAL_ADDRESS,
    PT_FAULT_BEYOND_LOCAL, /* an illegal address: outside the thread's local memory */
    PT_FAULT_INVALID_FREE, /* likewise: of what malloc did not give, or no more */
    PT_FAULT_MISALIGNED,
    PT_FAULT_TRAP,
    PT_FAULT_ASSERT,
    PT_FAULT_STACK_OVERFLOW,
    /* undefined by the ISA and stopped here: brx.idx out of range, wild call */
    PT_FAULT_ILLEGAL_INSTRUCTION,
    PT_FAULT_MASK,     /* an illegal instruction: its member mask leaves out the lane */
    PT_FAULT_BARRIER,  /* likewise: what a barrier is given, or what its threads give */
    PT_FAULT_MBARRIER, /* likewise: counts of an mbarrier that leave their range */
    PT_FAULT_DEADLOCK,
    PT_FAULT_TIMEOUT,
    PT_FAULT_CANCELLED, /* ptera_engine_cancel */
    PT_FAULT_OUT_OF_MEMORY,
    PT_FAULT_HOST_FUNCTION /* which said so itself */
};

/* What some faults are of, for both engines. */
#define PT_BEYOND_LOCAL "beyond the local memory of the thread"
#define PT_NO_TARGET "brx.idx beyond its list of targets"
#define PT_NO_FUNCTION "a call of an address that is no function"
#define PT_NO_DEBUGGER "a breakpoint, and no debugger to take it"

struct pt_fault {
    enum pt_fault_kind kind;
    uint32_t func, insn; /* place: function and instruction; insn is UINT32_MAX if unknown */
    uint32_t lanes;      /* lanes that did it; 0 if unknown */
    uint32_t warp;       /* of native code that runs a CTA by itself: whose lanes they are */
    bool has_address;
    uint64_t address;   /* generic */
    const char *detail; /* static text that says more, or NULL */
};

/* One launch, as the engines see it. */
struct pt_launch {
    const struct pt_program *program;
    uint32_t grid[3], block[3], cluster[3];
    bool is_explicit_cluster; /* the launch or the kernel says what a cluster is */
    uint32_t threads;         /* of a CTA */
    uint32_t n_warps;         /* of a CTA */
    uint32_t shared_dynamic;  /* bytes */
    uint32_t dynamic_offset;  /* where dynamic shared memory begins in the CTA's window */
    uint32_t shared_bytes;    /* reserved + static + dynamic */
    const uint8_t *params;    /* kernel parameter block, laid out as the symbols' offsets say */
    uint64_t local_stride;    /* bytes of one thread's local window */
    uint64_t grid_id;
    /* cooperative launches: address of the {u32 bytes, u32 barrier} workspace, which kernels read
     * as %envreg1 (high half) and %envreg2 (low half); else 0 */
    uint64_t grid_barrier;
    const struct pt_services *services;
    /* PT_TEST_isolate, PT_TEST_mem: grows when memory stops being the kernels'; else NULL */
    const atomic_uint_fast64_t *releases;
    struct pt_shadow *shadow; /* PT_TEST_init: which memory holds values; else NULL */
    bool is_reversed;         /* PT_TEST_ORDER: the highest lane first */
    /* nonzero (enum pt_fault_kind): warps yield at their next back edge and are not resumed */
    atomic_int stop;
    uint32_t sm_count, sm_warps;    /* of the device: %nsmid, %nwarpid */
    struct pt_causality *causality; /* PT_TEST_conflict: backend/interp/causality.h */
    struct pt_written *written;     /* PT_TEST_order: backend/written.h */
    struct pt_traced *traced;       /* PT_TEST_order_trace: backend/traced.h */
    const struct pt_counts *counts; /* PT_TEST_count, PT_TEST_coverage: backend/counts.h */
    struct pt_timed *timed;         /* PT_TEST_time: backend/timed.h */
    /* PT_TEST_TURNS: when warps go on, and whose turn it is: backend/schedule.h; NULL: behind each
     * access all others have a turn */
    struct pt_schedule *schedule;
};

#define PT_BARRIER_ALL \
    UINT32_MAX /* instead of a thread count: all of the CTA that have not exited */

/* A CTA barrier. The runtime changes it; engines read `phase` and the results of the last phase. */
struct pt_barrier {
    uint32_t phase;    /* number of completed phases */
    uint32_t arrived;  /* threads, in whole warps of 32 */
    uint32_t expected; /* threads of the running phase, or PT_BARRIER_ALL; 0: nobody has arrived */
    /* bar.red of the running phase: threads whose predicate is true, and how many took part */
    uint32_t popc;
    uint32_t popc_of;
    uint32_t result_popc, result_of; /* of the last completed phase */
    uint32_t warps;                  /* warps that are counted in `arrived` in this phase */
    /* warps of which some lanes have arrived: arrived_lanes (arrivals that are not aligned) */
    uint32_t partial;
    uint32_t arrived_lanes[PT_MAX_WARPS];
};

/* PT_TEST_race: what is known of a cluster's asynchronous operations in flight
 * (backend/interp/race.c). All arrays, and each watch, are from the module's allocator. */
struct pt_race {
    struct pt_watch **watches;
    uint32_t n, room, sweep_at;
    struct pt_watch_node *nodes;
    uint32_t n_nodes, room_nodes;
    uint32_t *lines;
    uint64_t *keys;
    uint64_t issued;
};

/* Asynchronous operations of a cluster: backend/interp/async.h. */
struct pt_async {
    bool is_late; /* they are put off */
    /* put off, in the order of issue; the array and each are from the module's allocator */
    struct pt_async_op **ops;
    uint32_t n, room;
    uint64_t starts; /* of clusters, here */
    struct pt_race race;
    struct pt_mbarriers *mbarriers; /* PT_TEST_sync: backend/mbarriers.h */
    bool is_busy; /* likewise: somebody has done more to an mbarrier than to test it in vain */
    struct pt_known_cluster *known; /* PT_TEST_conflict: of the pt_causality of that number */
    uint64_t known_by;
};

struct pt_cta {
    struct pt_launch *launch;
    uint32_t id[3]; /* %ctaid */
    /* native code that runs whole CTAs: the x up to which it goes on with the next of the row */
    uint32_t row_end;
    uint32_t cluster_rank;
    uint8_t *shared; /* generic base of the cluster's 4-GiB-aligned range */
    uint32_t window; /* shared address of this CTA's window: cluster_rank << 24 */
    uint8_t *local;  /* local windows: thread t's is local + t * launch->local_stride */
    uint32_t worker; /* index of the worker running it, reported as %smid */
    struct pt_barrier bar[PT_BARRIERS + 1]; /* the last is this CTA's part of the cluster's */
    uint32_t live_warps;                    /* warps with a lane that has not exited */
    uint64_t phases;       /* of mbarriers, that its threads have completed: signs of progress */
    struct pt_warp *warps; /* launch->n_warps of them */
    uint8_t *scratch;      /* native code's: see backend/native.h */
    /* the cluster's; NULL: asynchronous operations take place at once, unchecked */
    struct pt_async *async;
    /* native code has the engine run an instruction of this warp, or did as it failed */
    struct pt_warp *stepping;
    /* likewise, an instruction that samples textures: function << 32 | instruction + 1; 0: none */
    uint64_t sampling;
    uint64_t steps; /* how many it had it run so far */
    /* native code of CTAs that take turns: nonzero where it goes on in the middle of a loop */
    uint32_t turn;
    uint32_t is_alone; /* likewise: nonzero, it takes none */
    /* observers', of all CTAs of a cluster: blocks from the module's allocator, which end with the
     * memory of the CTAs; each begins with the address of the next */
    void **kept;
};

enum pt_run {
    PT_RUN_EXITED,  /* all lanes have exited */
    PT_RUN_WAITING, /* every lane left waits at a CTA barrier (or wider) */
    PT_RUN_YIELDED, /* can go on, but asks for others to run first */
    PT_RUN_FAULT    /* see warp->fault */
};

/* Its number in the grid. */
static inline uint64_t pt_cta_number(const struct pt_cta *cta)
{
    const uint32_t *grid = cta->launch->grid;
    return (cta->id[2] * (uint64_t)grid[1] + cta->id[1]) * grid[0] + cta->id[0];
}

struct pt_warp {
    struct pt_cta *cta;
    uint32_t index; /* in the CTA */
    uint32_t live;  /* lanes that exist and have not exited; maintained by the engine */
    uint32_t tid[3][PT_WARP_SIZE];
    /* While waiting: the barrier of the only waiting group, so that the scheduler can skip the warp
     * until cta->bar[wait_bar].phase != wait_phase. wait_bar is PT_NO_BARRIER if there are several
     * groups. */
    uint32_t wait_bar, wait_phase;
    struct pt_fault fault;
    /* the engine's, program->warp_bytes of zeroed-once memory (see `start`) */
    void *state;
    /* launches that have a schedule: the highest of those that can go on does; it has let others
     * go on first, and none could */
    uint32_t rank;
    bool has_let;
};

/* Warp `index` of a CTA, and which threads it has. */
static inline void pt_warp_place(struct pt_warp *warp, struct pt_cta *cta,
                                 const struct pt_launch *launch, uint32_t index)
{
    const uint32_t *block = launch->block;
    warp->cta = cta;
    warp->index = index;
    for (uint32_t lane = 0; lane < PT_WARP_SIZE; lane++) {
        uint32_t t = index * PT_WARP_SIZE + lane;
        warp->tid[0][lane] = t % block[0];
        warp->tid[1][lane] = t / block[0] % block[1];
        warp->tid[2][lane] = t / block[0] / block[1];
    }
}

/* Memory that a kernel may touch: a buffer, its module's variables, a window. */
struct pt_extent {
    uint64_t first, bytes; /* generic address */
    /* *launch->releases when it was found: another count may have made it stale */
    uint64_t releases;
    bool is_read_only;
    bool is_private;     /* of one lane only: its local window */
    bool may_adjoin;     /* others beside it may be of one array with it: the host's */
    uint32_t origin;     /* it is that of this origin alone (ir/origin.h); 0: it is all there is */
    enum pt_space space; /* global, shared, local, const or param */
};

/* True if the extent holds all of an access. */
static inline bool pt_extent_holds(const struct pt_extent *e, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - e->first;
    return offset < e->bytes && bytes <= e->bytes - offset;
}

enum { PT_REPLICAS_MAX = 32 };

/* A part of multicast memory, which multimem instructions access: each device has a replica of
 * it. */
struct pt_replicas {
    uint64_t first, bytes;        /* its addresses; of no bytes: unknown */
    uint32_t n;                   /* devices, in the order in which they were added */
    uint64_t at[PT_REPLICAS_MAX]; /* what is at `first` in each one's replica */
};

/* What the runtime does for an engine while a warp runs. */
struct pt_services {
    /* Lanes `mask` of the warp arrive at barrier `id` (aligned: the whole warp counts). `expected`
     * is the thread count of the instruction or PT_BARRIER_ALL. `preds` holds the lanes whose
     * predicate is true (bar.red). Returns false if the counts contradict each other (then
     * warp->fault is set). The phase may complete at once. */
    bool (*arrive)(struct pt_warp *warp, uint32_t id, uint32_t mask, bool aligned,
                   uint32_t expected, uint32_t preds);
    /* Lanes of the warp have exited (warp->live is already updated). */
    void (*exited)(struct pt_warp *warp);
    /* Functions that the runtime provides, called for one lane: an enum pt_device_function, or
     * PT_DEVICE_COUNT + the function index of one that is_host. `args` holds the parameter bytes as
     * the PTX signature lays them out; the result is written to `result`, of PT_DEVICE_BYTES.
     * Returns false on a fault (warp->fault set). */
    bool (*call)(struct pt_warp *warp, uint32_t lane, uint32_t f, const void *args, void *result);
    /* Isolated launches: the memory that holds the address and is this lane's to touch. False if
     * there is none. */
    bool (*find)(const struct pt_warp *warp, uint32_t lane, uint64_t address,
                 struct pt_extent *extent);
    /* The part of multicast memory that holds the address, for an access that writes or does not.
     * Returns NULL, or what is wrong: static text. */
    const char *(*replicas)(const struct pt_warp *warp, uint64_t address, bool is_write,
                            struct pt_replicas *replicas);
    /* Checked launches: the warp has done, or is about to do, what is told, and goes on. */
    void (*found)(const struct pt_warp *warp, const struct pt_finding *finding);
    uint64_t (*clock)(void);       /* %clock64 */
    uint64_t (*globaltimer)(void); /* %globaltimer, ns */
};

#define PT_ADDRESS_UNKNOWN (UINT64_C(1) << 63)

struct pt_observer;

struct pt_engine {
    const char *name; /* of the CPU level: "v2", "v3", "v4", "aarch64" */
    /* Compiles a kernel, with a set of tests. On failure returns NULL: diagnostics are in the
     * module's list, or memory ran out (then the list has no new error). */
    struct pt_program *(*compile)(const struct pt_image *image, uint32_t kernel, uint32_t tests,
                                  const struct pt_allocator *allocator);
    void (*release)(struct pt_program *program);
    /* Prepares warp->state for the program: once a worker and launch (constants), before the first
     * CTA. */
    void (*prepare)(const struct pt_launch *launch, struct pt_warp *warp);
    /* Puts the warp at the kernel's entry; cta, index, live, tid are set. Cheap: runs for every
     * CTA. */
    void (*start)(struct pt_warp *warp);
    enum pt_run (*resume)(struct pt_warp *warp);
    /* After a memory fault interrupted `resume`: fills warp->fault (kind, place, lanes, address)
     * for a fault at `address`, which is PT_ADDRESS_UNKNOWN where the machine does not tell
     * (non-canonical addresses of x86-64). */
    void (*locate)(struct pt_warp *warp, uint64_t address);
    /* Where the warp stands: calls report(ud, func, insn, lanes, barrier id or UINT32_MAX) for each
     * waiting group. */
    void (*places)(const struct pt_warp *warp,
                   void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                  uint32_t bar),
                   void *ud);
    /* The function over n lanes that computes what a pure instruction of this form computes, and
     * the kind that it takes if it takes one; NULL if there is none. */
    const struct pt_lanes *(*lanes)(struct pt_module *module, const struct pt_form *form,
                                    uint64_t *kind);
    /* The same by its name, for code that was compiled in another process. */
    const struct pt_lanes *(*lanes_named)(const char *name);
    /* The function of a warp's product of matrices of this form (mma), where it need not be exact
     * (is_fast) or where it must; NULL if there is none. By its name. */
    const struct pt_product *(*product)(const struct pt_form *form, bool is_fast);
    const struct pt_product *(*product_named)(const char *name);
    /* Steps: other engines have this one run single instructions of the program's functions.
     * Registers are then in the memory that `frame` gives for the next step of a started warp,
     * which need not stand there (that of the kernel itself stays where it is, and holds what was
     * put there, until the warp ends): register `reg` of the function is `slot` bytes behind its
     * start, the same in each process, as 32 elements of 16 bytes, of 8 or of 4 (narrower ones
     * zero-extended), aligned to 64, or, a predicate, as a mask. */
    void *(*frame)(struct pt_warp *warp, uint32_t func);
    uint32_t (*slot)(const struct pt_program *program, uint32_t func, uint32_t reg);
    /* Runs one instruction for `lanes`: one that does not branch, call or wait for threads of other
     * warps. Its guard is taken to hold, and no other lane to be live. Registers that it reads are
     * in the frame before, those it writes afterwards, where a lane that does not run holds any
     * value. `is_fast`: as math_fast of struct pt_native_options. Returns false on a fault
     * (warp->fault). */
    bool (*step)(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes, bool is_fast);
    /* Samples textures for lanes of a warp, as enum pt_sampling says; what others get is any value.
     * Returns false with kind, lanes, address and detail of *fault set, if it may not be. */
    bool (*sample)(struct pt_sampled *s, uint32_t sampling, uint32_t lanes, struct pt_fault *fault);
    /* PT_TEST_mem: says what is wrong with accesses that an instruction of native code is about to
     * do, of `bytes` each, at addresses by lane, which are aligned; `origin`: what they are made
     * of (ir/origin.h). *recent is memory in which the last good ones lie and others
     * may; of no bytes: none is known. */
    void (*check)(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes,
                  const uint64_t *address, uint64_t bytes, uint32_t origin,
                  struct pt_extent *recent);
    /* PT_OBSERVERS of them, by number: backend/observer.h. */
    const struct pt_observer *const *observers;
};

/* The interpreter for the best level of this machine, or the one PTERA_CPU names ("v2", "v3",
 * "v4"); NULL if that name is unknown or the machine lacks it. */
const struct pt_engine *pt_interp(const char *level);

/* True if `pc` lies in code that touches kernel memory: a fault there is the kernel's. */
bool pt_is_access_code(uintptr_t pc);

#endif
