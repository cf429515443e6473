/* The contract between the runtime and the compiler (backend/jit), which lives in a shared object
 * of its own, libptera-jit.so, with one entry: ptera_jit(). The runtime loads it when it is first
 * needed.
 *
 * The compiler turns one kernel into native code for one block shape. LLVM does that in a process
 * of its own (backend/jit/process/process.h), where it can be stopped, and can fail, without harm
 * to this one. Native code runs whole CTAs, one or several of a row: the runtime sets up struct
 * pt_cta (its warps only if needs_warps) and calls `run`. Where a thread may wait for others other
 * than at barriers of all, it runs warps, and the runtime resumes each as it would by the
 * interpreter (pt_engine.resume). A kernel that the compiler does not turn into native code runs,
 * under the same engine name, by the handlers of the interpreter.
 */
#ifndef PTERA_BACKEND_NATIVE_H
#define PTERA_BACKEND_NATIVE_H

#include "backend/exec.h"

enum { PT_JIT_VERSION = 8 };

/* How the reasons begin why a kernel is not native, where that is a mistake of the compiler's
 * own. */
#define PT_NATIVE_BROKEN "LLVM's verifier: "
#define PT_NATIVE_ENDED "the compiler process has ended"

struct pt_native_options {
    uint32_t block[3]; /* the shape; block[0] == 0: any */
    bool math_fast;    /* --math fast: see docs/native.md */
    bool has_cluster;  /* for launches of clusters of several CTAs, and for those alone */
    const char *level; /* CPU level of the interpreter: the code uses no more than that has */
};

enum pt_native_print {                 /* as ptera_native_emit */
                       PT_NATIVE_LLVM, /* LLVM IR, optimised */
                       PT_NATIVE_ASSEMBLY,
                       PT_NATIVE_OBJECT /* an ELF object */
};

struct pt_native {
    /* Runs a CTA from its start to its end, and those behind it in the row, up to x ==
     * cta->row_end: cta->id is the one that runs. Returns PT_RUN_EXITED, or PT_RUN_FAULT with
     * *fault set; where the launch is stopped, PT_RUN_YIELDED at some back edge, or before a
     * CTA. `covered`: the worker's counters of the program's coverage, of programs that have
     * one. */
    enum pt_run (*run)(struct pt_cta *cta, struct pt_fault *fault, uint64_t *covered);
    /* NULL, or in place of `run`: runs one warp until it ends, waits or yields, as pt_engine.resume
     * does. PT_RUN_FAULT with *fault set, or with cta->stepping, whose fault is set then. Where the
     * launch is stopped, PT_RUN_YIELDED with fault->insn set. */
    enum pt_run (*resume)(struct pt_warp *warp, struct pt_fault *fault, uint64_t *covered);
    /* `resume`: so much of the scratch memory's start is a warp's own, and zero when its CTA
     * begins */
    uint32_t front_bytes;
    /* memory of one worker's CTA that `run` finds at cta->scratch, aligned to 64 */
    uint32_t scratch_bytes;
    /* of a thread's local window that it takes: launches with smaller windows are interpreted */
    uint32_t local_bytes;
    /* 0, or so many CTAs had better take turns, each by itself: `run` may then return
     * PT_RUN_YIELDED with cta->turn set, and is to be called for other CTAs before it goes on with
     * this one. cta->turn is 0 at a CTA's start. With cta->is_alone it runs to its end at once */
    uint32_t together;
    /* cta->warps are there, prepared and started, and each CTA is a row: the engine runs some
     * instructions (pt_engine.step) */
    bool needs_warps;
    uint64_t code_bytes;
};

/* What compiling one kernel needs, apart from its module. */
struct pt_native_request;

/* What compiling may take. */
struct pt_native_limits {
    double seconds; /* 0: as long as it takes */
    /* of the compiler process, beyond what it has at its start; 0: as much as there is */
    uint64_t memory_bytes;
    /* in this process, where neither limit holds, nobody stops it, and a failure inside LLVM ends
     * the process */
    bool is_inside;
    /* asked again and again meanwhile, by the thread that compiles: true, nobody wants it any more.
     * May be NULL */
    bool (*is_stopped)(void *ud);
    /* the compiler process has a processor only while nobody else wants it */
    bool is_nice;
    /* where is_nice: asked likewise; true, it is wanted soon. May be NULL */
    bool (*is_urgent)(void *ud);
    void *ud; /* of both */
};

enum pt_native_end {
    PT_NATIVE_MADE,
    PT_NATIVE_REFUSED,   /* the kernel stays interpreted: see `why` */
    PT_NATIVE_NO_MEMORY, /* here or in the compiler process */
    PT_NATIVE_STOPPED,
    PT_NATIVE_STARVED /* is_nice: it is urgent, and has had no processor for most of the time */
};

struct pt_native_result {
    enum pt_native_end end;
    char why[512];
};

struct pt_jit {
    uint32_t version; /* PT_JIT_VERSION */
    /* Takes what compiling the kernel of `program` (the interpreter's, shared memory laid out)
     * needs. The caller holds the module's lock, which nothing else here needs. NULL: no memory. */
    struct pt_native_request *(*request)(const struct pt_program *program,
                                         const struct pt_native_options *options);
    void (*drop)(struct pt_native_request *request);
    /* Finds it in the cache; NULL: it is not there. */
    struct pt_native *(*find)(const struct pt_native_request *request,
                              const struct pt_program *program);
    /* Compiles it, or finds it in the cache. NULL unless result->end is PT_NATIVE_MADE. From any
     * number of threads at once. */
    struct pt_native *(*compile)(const struct pt_native_request *request,
                                 const struct pt_program *program,
                                 const struct pt_native_limits *limits,
                                 struct pt_native_result *result);
    void (*release)(struct pt_native *native);
    /* What `compile` would make of it, malloc'ed, with a zero byte behind its *bytes; NULL
     * likewise. */
    char *(*print)(const struct pt_native_request *request, enum pt_native_print what,
                   const struct pt_native_limits *limits, size_t *bytes,
                   struct pt_native_result *result);
    /* The work of a compiler process: compiles what comes from `socket` until the process `host`
     * ends, or the socket's other end is closed. */
    void (*serve)(int socket, int host);
    /* pt_engine.places for a warp that native->resume ran. */
    void (*places)(const struct pt_native *native, const struct pt_warp *warp,
                   void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes,
                                  uint32_t bar),
                   void *ud);
    /* True if `pc` lies in native code, whoever compiled it. Safe in a signal handler. */
    bool (*holds)(uintptr_t pc);
    /* The instruction that native code at `pc` belongs to; false if unknown. */
    bool (*locate)(uintptr_t pc, uint32_t *func, uint32_t *insn);
    /* The folder where compiled kernels are kept from one process to the next; NULL: they are
     * not. */
    const char *(*cache)(void);
    /* Why they are not though there is such a folder: its name and the reason; NULL: nothing is
     * wrong. */
    const char *(*cache_refusal)(void);
    /* Lanes of 32 bits in a vector at a CPU level (pt_engine.name). */
    unsigned (*width)(const char *level);
    const char *llvm_version; /* "19.1.7" */
};

/* The only symbol the shared object exports. */
const struct pt_jit *ptera_jit(void);

#endif
