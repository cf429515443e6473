/* Ptera: runs NVIDIA PTX on the CPU. This is the whole public C API; link with -lptera.
 *
 * Handles are opaque. Every call that can fail returns a ptera_result (0 is success) and writes its
 * outputs last. Handles of one engine may be used from several threads at once, except that a
 * module must not be unloaded while one of its kernels runs. A handle ends with what it belongs to
 * and must not be used afterwards: that is not recognised. The library keeps no global state, never
 * prints and never ends the process.
 *
 * Structs begin with their size, sizeof of the program's own, so that programs and libraries of
 * different versions fit: the library neither reads nor writes beyond it, and what it does not read
 * has its default. What a program built against a newer header has behind the library's struct must
 * be zero where the library reads it (otherwise PTERA_ERROR_INVALID_ARGUMENT: it would ask for what
 * this library cannot do), and stays as it is where the library writes.
 *
 * Sizes and offsets are in bytes. A device address is a host address: a buffer's contents can be
 * read and written directly while no launch uses it, and any host pointer can be passed to a
 * kernel.
 */
#ifndef PTERA_H
#define PTERA_H

#include <stddef.h>
#include <stdint.h>

#define PTERA_VERSION_MAJOR 0
#define PTERA_VERSION_MINOR 1
#define PTERA_VERSION_PATCH 0

#if defined(__GNUC__)
#define PTERA_API __attribute__((visibility("default")))
#else
#define PTERA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ptera_engine ptera_engine;
typedef struct ptera_module ptera_module;
typedef struct ptera_kernel ptera_kernel;

typedef enum ptera_result {
    PTERA_OK = 0,
    PTERA_ERROR_INVALID_ARGUMENT = 1, /* a null or out-of-range argument of this API */
    PTERA_ERROR_OUT_OF_MEMORY = 2,
    PTERA_ERROR_INVALID_PTX = 3,     /* see ptera_module_diagnostic */
    PTERA_ERROR_UNSUPPORTED_PTX = 4, /* the kernel uses what Ptera does not implement yet */
    PTERA_ERROR_FILE = 5,            /* a file could not be read */
    PTERA_ERROR_NOT_FOUND = 6,       /* no kernel or variable of that name */
    PTERA_ERROR_INVALID_LAUNCH = 7,  /* grid, block, cluster, shared size or parameters do not
                                         * fit the kernel */
    PTERA_ERROR_NOT_INITIALIZED = 8, /* the engine is of the process that this one was forked
                                         * from */
    /* The kernel failed; ptera_engine_error says where. */
    PTERA_ERROR_ILLEGAL_ADDRESS = 16,
    PTERA_ERROR_MISALIGNED_ADDRESS = 17,
    PTERA_ERROR_TRAP = 18,
    PTERA_ERROR_ASSERT = 19,
    PTERA_ERROR_STACK_OVERFLOW = 20,
    PTERA_ERROR_ILLEGAL_INSTRUCTION = 21,
    PTERA_ERROR_DEADLOCK = 22,
    PTERA_ERROR_TIMEOUT = 23,
    PTERA_ERROR_HOST_FUNCTION = 24, /* a registered function called ptera_function_fail */
    PTERA_ERROR_FINDINGS = 25,      /* the kernel ran to its end, but a checker found something:
                               * ptera_launch.finding */
    PTERA_ERROR_CANCELLED = 26      /* ptera_engine_cancel ended the kernel */
} ptera_result;

/* A short English text for a result; static. */
PTERA_API const char *ptera_result_text(ptera_result result);

/* The version of the library as "0.1.0"; static. */
PTERA_API const char *ptera_version(void);

/* ---- engine ---------------------------------------------------------------------------------- */

typedef enum ptera_severity { PTERA_NOTE, PTERA_WARNING, PTERA_ERROR } ptera_severity;

typedef struct ptera_options {
    size_t size;        /* set by ptera_options_init */
    unsigned threads;   /* worker threads, up to 4,096; 0: one for each core */
    int fmad;           /* contract mul and add into fma as ptxas does by default; 1 */
    const char *cpu;    /* "v2", "v3", "v4": force a CPU level; NULL: PTERA_CPU, else the best */
    size_t stack_bytes; /* local memory of a thread whose need is not known statically; 65,536 */
    size_t heap_bytes;  /* limit of device malloc; 8 MiB */
    /* Device printf and assert text, in whole calls; NULL: standard output and error are not
     * touched, text is dropped. May be called from any worker, one call at a time; it must not call
     * the engine. A call prints up to 1 MiB; one that would print more ends the launch with
     * PTERA_ERROR_OUT_OF_MEMORY. */
    void (*print)(void *ud, const char *text, size_t bytes);
    void *print_ud;
    /* Memory for the library's own data: resize(ud, NULL, n) allocates, resize(ud, p, 0) frees, as
     * realloc otherwise; NULL: malloc. Must be thread-safe. */
    void *(*resize)(void *ud, void *p, size_t bytes);
    void *resize_ud;
    /* After fork() an engine belongs to the parent: in the child every call on it, its modules and
     * kernels returns PTERA_ERROR_NOT_INITIALIZED, those that return nothing do nothing, and the
     * child creates engines of its own. Nonzero: an engine that has not started threads yet (by
     * launching anything) works in both, each on its own copy; 0. */
    int allow_fork;
    /* Limit of buffers, modules' variables, the device heap, local memory of the CTAs that are
     * resident, and text that is being printed, together; 0: none. Where it is too small for one
     * CTA a launch is PTERA_ERROR_OUT_OF_MEMORY. */
    size_t memory_bytes;
    /* Notes on what the library decided, one line each: why a kernel is interpreted that was to be
     * native, or compiled kernels are not kept. As errors, of several lines like those of
     * ptera_engine_error: accesses of kernels outside their allocations that went on
     * (PTERA_OOB=warn in the environment). From any thread,
     * several at once; it must not call the engine. NULL: nobody listens. */
    void (*log)(void *ud, ptera_severity severity, const char *text);
    void *log_ud;
    /* What compiling a kernel may take; one that would take more is interpreted. It is done by a
     * process of its own, ptera-compiler beside libptera-jit.so, which the first compile starts,
     * and which is no child of this one. */
    double compile_seconds; /* 60; 0: no limit */
    size_t compile_bytes;   /* memory of that process; 2 GiB; 0: no limit */
    /* Nonzero: this process compiles by itself and starts no other. Then neither limit holds, nor
     * do those of launches while they compile, and LLVM ends the process where it runs out of
     * memory; 0. */
    int compile_inside;
    /* The GPU that the engine stands for, by its id ("h100": ptera_device_get lists them): the
     * limits of launches and what kernels read of it. NULL: the one that PTERA_DEVICE in the
     * environment names, else the first of PTERA_COMPUTE_CAPABILITY, else an H200. */
    const char *device;
    /* Names of observers, separated by commas, that watch all launches of the engine, which are
     * interpreted then (but for "mem" and "coverage"), and its memory: "isolate" does what
     * ptera_launch.isolate says, "race", "mem", "init" and "init-load" what PTERA_CHECK_RACE and
     * the others say, "count", "time" and "coverage" what ptera_engine_counts_save does. NULL:
     * those that PTERA_OBSERVE in the environment names, else none. */
    const char *observe;
    /* Told when a checker finds what it has not found before: finding `index` of the engine, for
     * ptera_engine_finding. From any thread, several at once. NULL: nobody listens. */
    void (*finding)(void *ud, unsigned index);
    void *finding_ud;
    /* Findings are told of kernels alone whose names match (a pattern of the shell, of less than
     * 256 bytes; NULL: all), and of their launches only of those behind the first check_skip, and
     * of so many of these (0: all). */
    const char *check_kernels;
    unsigned check_skip, check_count;
    /* PTERA_CHECK_ORDER: how many schedules are tried (16), by seeds from 1 on: those of odd seeds
     * run the lanes of a warp apart, and under those with their second bit set strong reads may
     * see old values, as the memory consistency model allows. order_seed: that one alone (0: all).
     * Each is made by probabilistic concurrency testing: whoever runs loses its turn at
     * order_depth - 1 (1 to 16; 3) steps. order_tolerance: by how much, relatively, elements may
     * differ that were written as of a floating-point type (0; the log is told of those that do).
     * Nonzero order_text: what kernels print is compared as well. */
    unsigned order_schedules, order_depth;
    unsigned long long order_seed;
    double order_tolerance;
    int order_text;
    /* A file to which a timeline of the engine is appended, in Chrome's trace format: modules that
     * are loaded, kernels that are compiled, launches. Where it cannot be written from the start
     * the engine is not created: PTERA_ERROR_FILE; later the log is told. NULL: none. */
    const char *trace;
} ptera_options;

/* Sets the defaults. `size` is sizeof *options where the program is compiled. NULL is allowed. */
PTERA_API void ptera_options_init_sized(ptera_options *options, size_t size);
static inline void ptera_options_init(ptera_options *options)
{
    ptera_options_init_sized(options, sizeof *options);
}

/* Signals: while there are engines, handlers of the library's take SIGSEGV and SIGBUS. A kernel's
 * fault is a result; all others go to what the program has set, before or since. (What it sets
 * while a kernel runs gets the faults of that kernel, and may hand them on to the handler that it
 * found.) Threads may have any signals blocked, small stacks, and alternate stacks of their own. */

/* Creates an engine: worker threads and memory. `options` may be NULL. Names that PTERA_CPU,
 * PTERA_ENGINE, PTERA_ASYNC and PTERA_COMPILER do not have are invalid arguments, and so are
 * observers that do not exist, and a device that does not exist, or not with that compute
 * capability (the log, if there is one, is told why). */
PTERA_API ptera_result ptera_engine_create(const ptera_options *options, ptera_engine **engine);
/* Destroys an engine, its modules and its buffers, when launches that nobody waits for have ended.
 * Those that callers wait for must have. NULL is allowed. */
PTERA_API void ptera_engine_destroy(ptera_engine *engine);
/* Ends the launches that run or are queued: each fails with PTERA_ERROR_CANCELLED, whoever waits
 * for it, unless it comes to its end meanwhile. Does not wait for that; it is as soon as after a
 * time limit. Launches that are made, or compiled, later are not meant. From any thread. */
PTERA_API ptera_result ptera_engine_cancel(ptera_engine *engine);

/* What the last failed launch of this engine reported, several lines of text, without a final
 * newline; "" if none. Valid until the next launch that fails, of whichever thread: where several
 * launch at once, ptera_launch.error has each one's own.
 *
 * The first line of a kernel's failure always reads
 *     WHAT[ 0xADDRESS] in kernel 'NAME' at FILE.ptx:LINE[ (SOURCE:LINE)], CTA (X,Y,Z),
 *         thread (X,Y,Z)[ and N more of warp W]
 * (one line) where WHAT is "illegal address", "misaligned address", "trap", "failed assertion",
 * "stack overflow", "illegal instruction", "deadlock", "timeout", "cancelled", "out of memory" or
 * "failure of a host function", and ", warp W" takes the place of the thread where it is not known.
 * Indented lines follow: the function (if not the kernel), the line of PTX, what lies near the
 * address; for a deadlock, a timeout or what was cancelled each group of threads that waits. An
 * invalid launch reads "kernel 'NAME': " and the reason; invalid PTX found when a kernel is
 * compiled is the text of the first diagnostic. */
PTERA_API const char *ptera_engine_error(const ptera_engine *engine);

/* What the engine runs on. Strings are static. */
typedef struct ptera_info {
    size_t size; /* set to sizeof(ptera_info) by the caller */
    const char *version;
    const char *cpu_level; /* of the interpreter: "v2", "v3", "v4", "aarch64" */
    unsigned threads;
    int has_jit; /* the compiler can be opened (which this call tries) */
    unsigned compute_capability_major, compute_capability_minor;
    unsigned isa_rows, isa_rows_supported;
    const char *llvm_version; /* of the compiler, "19.1.7"; NULL without one */
    unsigned vector_lanes;    /* lanes of 32 bits that its vectors have at the CPU level; 0 without
                               * one */
    const char *cache;        /* folder where compiled kernels are kept; NULL: nowhere */
    const char *jit_error;    /* why there is no compiler, or NULL */
    const char *cache_error;  /* a folder that is not used for compiled kernels, and why: others may
                               * write to it, it cannot be opened; or NULL */
    const char *device;       /* id of the GPU that it stands for: "h200" */
} ptera_info;
PTERA_API ptera_result ptera_engine_info(const ptera_engine *engine, ptera_info *info);

/* A GPU that engines can stand for. Strings are static. */
typedef struct ptera_device {
    size_t size;           /* set by the caller */
    const char *id, *name; /* "h100", "NVIDIA H100 80GB HBM3" */
    unsigned compute_capability_major, compute_capability_minor;
    unsigned multiprocessors;
    size_t shared_bytes; /* that a CTA may have */
    size_t memory_bytes;
    unsigned block_registers; /* of 32 bits, that a CTA may have */
    unsigned clock_khz, memory_clock_khz, memory_bus_bits;
} ptera_device;
/* Returns PTERA_ERROR_NOT_FOUND past the last. */
PTERA_API ptera_result ptera_device_get(unsigned index, ptera_device *device);

/* One row of the instruction table (`ptera info --isa`). Returns PTERA_ERROR_NOT_FOUND past the
 * last. */
typedef struct ptera_isa_row {
    size_t size; /* set by the caller */
    const char *id, *syntax;
    int is_supported;         /* some engine runs it; the others are parsed and checked only */
    const char *chapter;      /* "integer", "float", ... */
    int interprets, compiles; /* which engine runs it; `compiles` is 2 where native code calls the
                               * interpreter for it */
    int is_golden;            /* part of kernels whose results are compared with those of an H200,
                               * word by word */
} ptera_isa_row;
PTERA_API ptera_result ptera_isa_row_get(unsigned index, ptera_isa_row *row);

/* ---- findings of checkers -------------------------------------------------------------------- */

/* What a checker found, once for all its repetitions: the same kind, at the same places. Strings
 * are never NULL, and live as long as the engine. */
typedef struct ptera_finding {
    size_t size;         /* set by the caller */
    const char *tool;    /* the checker: "race" */
    const char *kind;    /* name of the kind: "race-async" */
    const char *kernel;  /* that was running; "": none was */
    const char *message; /* one line, without the place */
    const char *text;    /* FILE:LINE:COL: error (or note): TOOL: message, the line and a caret */
    const char *detail;  /* the end of the message: what is wrong or missing; may be "" */
    uint64_t count;      /* how often, so far */
    uint64_t launch;     /* in which of the engine's launches first, from 1; 0: in none */
    unsigned parties;    /* that take part: 1 or 2 */
    int is_note;         /* it does no harm by itself, and does not fail the launch */
} ptera_finding;
/* Finding `index` of all launches so far, while kernels run as well. Returns PTERA_ERROR_NOT_FOUND
 * past the last. */
PTERA_API ptera_result ptera_engine_finding(const ptera_engine *engine, unsigned index,
                                            ptera_finding *finding);

/* A thread, or the host, that takes part in a finding, and what it did when that was found first.
 */
typedef struct ptera_party {
    size_t size; /* set by the caller */
    int is_thread, is_access;
    const char *function;  /* of the PTX */
    const char *file;      /* of the PTX, or a text for what has no place there */
    unsigned line, column; /* from 1; 0: not known */
    const char *source;    /* as .loc says; "": it does not */
    unsigned source_line;
    const char *frames;      /* "k.cu:12" and, a line each, where that was inlined */
    const char *instruction; /* the line of PTX */
    unsigned cta[3], thread[3];
    const char *action;      /* "reads", "writes", "updates"; "" */
    const char *what;        /* "shared address 0x400", "%r3"; "" */
    uint64_t address, bytes; /* bytes 0: not known */
    uint64_t value;          /* of an access that has_value */
    int has_value;
    const char *allocation; /* what lies there: its size, and who made it; "" */
} ptera_party;
/* Party `which` of finding `index`: 0 did what was found, 1 the other. Returns
 * PTERA_ERROR_NOT_FOUND past the last. */
PTERA_API ptera_result ptera_engine_finding_party(const ptera_engine *engine, unsigned index,
                                                  unsigned which, ptera_party *party);

/* Appends all findings so far to a file, which `ptera check --read FILE` reports: a line "finding",
 * a line "id ID", by which a later one takes the place of one before, and a line "NAME VALUE" for
 * each member of ptera_finding and, with "0." and "1." before the name,
 * of the parties; in texts \\ and \n stand for a backslash and a new line. "untold N": there were N
 * more that are not told apart; "launches N": so many were looked at. */
PTERA_API ptera_result ptera_engine_findings_save(const ptera_engine *engine, const char *path);

/* A kind of finding. Returns PTERA_ERROR_NOT_FOUND past the last. Strings are static. */
typedef struct ptera_finding_kind {
    size_t size; /* set by the caller */
    const char *tool, *name, *summary;
    int is_note; /* as findings of it are */
} ptera_finding_kind;
PTERA_API ptera_result ptera_finding_kind_get(unsigned index, ptera_finding_kind *kind);

/* ---- counts -------------------------------------------------------------------------------------
 *
 * The observer "count" (ptera_options.observe) counts how often each instruction runs, in how many
 * threads, and what it accesses; "time" also what the device's caches and units would be asked for
 * (launches run on one worker, their warps in turns). "coverage" counts only the threads that come
 * to each instruction and those for which its guard holds, which native code does, too; with
 * another of the three it does nothing. Of a launch that fails native code may lack what it counted
 * last. */

/* Appends what was counted so far to a file, which `ptera profile --read FILE` reports. Of each
 * kernel in each shape of its launches first lines "NAME VALUE": kernel, module, grid, block,
 * cluster, shared_static and shared_dynamic (bytes), registers, ctas (that the device's SM has at
 * once), sms, sm_warps, launches, ns, device; lines "run", of the first 256 launches, with when
 * each began (CLOCK_MONOTONIC, ns), how long it took, and its stream's number (0: the default one);
 * of observer "coverage" a line "coverage 1"; of "time" lines "time NAME VALUE", of all launches
 * (backend/timed.def says what they are), and behind an instruction's line may be one of the cycles
 * by which the timed warps were later for it, "waits". Then one line "insn" for each
 * instruction, with numbers: its line and column in the PTX; warps that came to it; their threads;
 * those for which its guard held; warps in which it held for a part. Then, for global, local,
 * shared and constant memory and textures each, requests of warps, threads, bytes, and parts:
 * sectors of 32 bytes of global and local memory and textures, wavefronts of shared memory,
 * different words of constant memory; and bank conflicts of shared memory (of cp.async past L1, for
 * global memory: sectors that the cache's tags count less). Then whether it has a guard (0 or 1);
 * what it does (load, store, copy, atom, red, ldgsts: cp.async, bulk_load, bulk_store, bulk_red,
 * branch, or its chapter: "float"), its row in the instruction table ("add_f32"), its spelling, its
 * function, and the source's line and file (0 and - if unknown). Behind it may come a line "worst",
 * of the warp that asked for the most parts at once: the memory (0 to 4, as above), bytes of each
 * thread, lanes as a mask, parts, the CTA's number, the warp's in it, and lanes' addresses, those
 * of global and constant memory and textures from the first 128 bytes on that they lie in.
 * Returns PTERA_ERROR_FILE if it cannot be written. */
PTERA_API ptera_result ptera_engine_counts_save(ptera_engine *engine, const char *path);

/* ---- modules and kernels --------------------------------------------------------------------- */

/* Loads PTX text (need not be NUL-terminated; not kept). `name` is used in messages. *module is set
 * on PTERA_OK and PTERA_ERROR_INVALID_PTX; in the latter case it only holds the diagnostics. A
 * module may hold forms that are not implemented yet (diagnostics with is_unsupported): only the
 * kernels that may reach them cannot be launched. Functions are compiled when first launched. A
 * text of several modules, each but the last ended by a zero byte, is linked: names with linkage
 * mean one thing in all of them. A first line `# 1 "NAME"` of a module names it in messages. */
PTERA_API ptera_result ptera_module_load(ptera_engine *engine, const char *name, const char *text,
                                         size_t bytes, ptera_module **module);
PTERA_API ptera_result ptera_module_load_file(ptera_engine *engine, const char *path,
                                              ptera_module **module);
/* Unloads a module and its variables. NULL is allowed. */
PTERA_API void ptera_module_unload(ptera_module *module);

typedef struct ptera_diagnostic {
    size_t size; /* set by the caller */
    ptera_severity severity;
    int is_unsupported;    /* valid PTX that is not implemented yet */
    unsigned line, column; /* from 1; 0: no position */
    const char *message;   /* without position; valid while the module lives */
    const char *text;      /* FILE:LINE:COL: severity: message, the line and a caret; several
                              * lines */
    const char *file;      /* as in `text`: the module of a text of several */
    unsigned file_line;    /* and the line in it; 0: no position */
} ptera_diagnostic;
/* Diagnostic `index` of the module. Returns PTERA_ERROR_NOT_FOUND past the last. */
PTERA_API ptera_result ptera_module_diagnostic(const ptera_module *module, unsigned index,
                                               ptera_diagnostic *diagnostic);

/* What a module says of itself; of linked ones version and target are the newest. */
typedef struct ptera_module_properties {
    size_t size;                         /* set by the caller */
    unsigned ptx_version;                /* 83: .version 8.3 */
    unsigned target;                     /* 90: .target sm_90 */
    char target_feature;                 /* 'a', 'f': sm_90a, sm_100f; 0: none */
    size_t global_bytes, constant_bytes; /* of all variables */
} ptera_module_properties;
PTERA_API ptera_result ptera_module_properties_get(const ptera_module *module,
                                                   ptera_module_properties *properties);

/* Checks every function of a module as `ptera verify` does: lowers all of them. */
PTERA_API ptera_result ptera_module_verify(ptera_module *module);

typedef enum ptera_emit { PTERA_EMIT_TOKENS, PTERA_EMIT_AST, PTERA_EMIT_IR } ptera_emit;
/* The module (or one kernel, if `kernel` is not NULL) in a text form. *text is NUL-terminated and
 * valid while the module lives. */
PTERA_API ptera_result ptera_module_emit(ptera_module *module, const char *kernel, ptera_emit what,
                                         const char **text);

/* What native code is made of. */
typedef enum ptera_native_emit {
    PTERA_EMIT_LLVM,
    PTERA_EMIT_ASM,
    PTERA_EMIT_OBJ
} ptera_native_emit;
/* What the compiler makes of a kernel for blocks of a shape (0,0,0: of any): LLVM IR after its
 * passes, assembly, or an ELF object. *data has a zero byte behind *bytes bytes and is valid while
 * the module lives. PTERA_ERROR_UNSUPPORTED_PTX if the kernel cannot be native, or there is no
 * compiler: ptera_engine_error says why. */
PTERA_API ptera_result ptera_kernel_emit(ptera_kernel *kernel, const unsigned block[3],
                                         int math_fast, ptera_native_emit what, const void **data,
                                         size_t *bytes);

/* The address and size of a .global or .const variable, for the host to read and write. (Kernels
 * see a .const variable at another, read-only address.) `address` and `bytes` may be NULL. */
PTERA_API ptera_result ptera_module_variable(ptera_module *module, const char *name, void **address,
                                             size_t *bytes);

/* Likewise by index, in order of the text, those of functions included; returns
 * PTERA_ERROR_NOT_FOUND past the last. */
PTERA_API ptera_result ptera_module_variable_at(ptera_module *module, unsigned index,
                                                const char **name, void **address, size_t *bytes);

/* A kernel by name; by index if `name` is NULL (in order of the text). Kernels live as long as
 * their module. */
PTERA_API ptera_result ptera_module_kernel(ptera_module *module, const char *name, unsigned index,
                                           ptera_kernel **kernel);

typedef struct ptera_parameter {
    size_t size; /* set by the caller */
    const char *name;
    const char *type;            /* PTX type of the parameter or its element, "u64" */
    size_t offset, bytes, align; /* in the parameter block */
    int is_array;                /* a by-value struct or array */
} ptera_parameter;
PTERA_API const char *ptera_kernel_name(const ptera_kernel *kernel);
/* Parameter `index`. Returns PTERA_ERROR_NOT_FOUND past the last. */
PTERA_API ptera_result ptera_kernel_parameter(const ptera_kernel *kernel, unsigned index,
                                              ptera_parameter *parameter);

/* What a kernel demands of a launch. */
typedef struct ptera_kernel_properties {
    size_t size;                  /* set by the caller */
    unsigned parameters;          /* how many */
    size_t parameter_bytes;       /* of the block */
    unsigned required_block[3];   /* .reqntid; 0,0,0: any */
    unsigned max_threads;         /* of a block: .maxntid or .reqntid, else 1,024 */
    unsigned required_cluster[3]; /* .reqnctapercluster; 0,0,0: any */
    unsigned max_cluster;         /* CTAs: .maxclusterrank or what is required, else 16 */
    size_t shared_bytes;          /* static shared memory */
    size_t local_bytes;           /* local memory of a thread, launched up to 512 KiB; 0: not
                                   * bounded (recursion, alloca) */
    unsigned registers;           /* of 32 bits, that a GPU's assembler would give a thread: an
                                   * estimate */
} ptera_kernel_properties;
/* Compiles the kernel if it was not: errors are those of a launch. */
PTERA_API ptera_result ptera_kernel_properties_get(ptera_kernel *kernel,
                                                   ptera_kernel_properties *properties);

/* How a kernel has been run. */
typedef struct ptera_kernel_status {
    size_t size; /* set by the caller */
    uint64_t native_launches, interpreted_launches;
    unsigned versions; /* in memory: native code for one shape of blocks each */
    size_t code_bytes; /* of these */
    const char *why;   /* the reason why the last launch that asked for native code was interpreted;
                        NULL if it was native. Valid until the module is unloaded */
    uint64_t stepped;  /* instructions, of a warp each, that native code had the interpreter
                              * run */
} ptera_kernel_status;
PTERA_API ptera_result ptera_kernel_info(const ptera_kernel *kernel, ptera_kernel_status *status);

/* ---- functions of the host ------------------------------------------------------------------- */

/* Gives kernels a C function: modules loaded from now on may declare it, `.extern .func (.param
 * .b64 r) name (.param .b64 a);`, and call it; each thread's call is one call, from any worker,
 * several at once. The signature is the C type, "RESULT (PARAMETER, ...)" of
 *     u8 s8 u16 s16 u32 s32 u64 s64 f32 f64 ptr
 * and structs by value, "{f64 s32 u8[4]}"; RESULT may be "void": "f64 (f64)",
 * "void (ptr, {f32 f32})". Sizes must be those of the declaration, which is otherwise an error of
 * the module; an integer below 32 bits may be declared with 32, as nvcc does. Parameters together
 * and the result are at most 1,024 bytes. In the function, floating-point control is the default,
 * and ptera calls on this engine must not wait (launch, unload, destroy). It lives as long as the
 * engine. PTERA_ERROR_INVALID_ARGUMENT for a signature that is none and for a name that is taken,
 * by an earlier call or by CUDA (vprintf, malloc, free, __assertfail). */
PTERA_API ptera_result ptera_function_register(ptera_engine *engine, const char *name,
                                               const char *signature, void (*function)(void));
/* Called by such a function while it runs for a kernel: the launch ends with
 * PTERA_ERROR_HOST_FUNCTION when the function has returned; ptera_engine_error says where, and
 * `text`. The first of several counts. Elsewhere it does nothing. */
PTERA_API void ptera_function_fail(const char *text);

/* A .visible .func of a module as a C function of the signature (as above): *function may be called
 * from any thread, not from within a kernel; a call is a launch of one thread on the default
 * engine. If it fails, the result is zero, and ptera_engine_error and the log tell why. It lives as
 * long as the module. PTERA_ERROR_NOT_FOUND: no visible function of that name is defined, or its
 * parameters cannot be a C function's (.reg, of unknown size). PTERA_ERROR_INVALID_ARGUMENT: the
 * signature is none, or not the function's: ptera_engine_error says which. */
PTERA_API ptera_result ptera_function_pointer(ptera_module *module, const char *name,
                                              const char *signature, void (**function)(void));

/* ---- memory ---------------------------------------------------------------------------------- */

/* Allocates `bytes` (> 0) of zeroed device memory, aligned to 256, between unmapped guard pages: an
 * access that leaves the buffer by up to a page is a fault. */
PTERA_API ptera_result ptera_buffer_alloc(ptera_engine *engine, size_t bytes, void **address);
/* Frees a buffer by the address ptera_buffer_alloc gave. NULL is allowed. */
PTERA_API ptera_result ptera_buffer_free(ptera_engine *engine, void *address);

/* Says that isolated launches (ptera_launch.isolate) of this engine may read and write `bytes` (>
 * 0) bytes of host memory at `address`; other launches may touch all host memory anyway. The memory
 * stays the caller's. It must be unregistered before it is freed; destroying the engine forgets it.
 * PTERA_ERROR_INVALID_ARGUMENT if any of it is registered already or lies in a buffer. */
PTERA_API ptera_result ptera_memory_register(ptera_engine *engine, void *address, size_t bytes);
/* Takes that back, by the same address; at once, for launches that run as well. NULL is allowed.
 * PTERA_ERROR_INVALID_ARGUMENT if nothing was registered from there. */
PTERA_API ptera_result ptera_memory_unregister(ptera_engine *engine, void *address);
/* Says that the host reads `bytes` bytes at `address`: where launches were checked for that
 * (PTERA_CHECK_INIT), what kernels left there and was made of what nobody wrote is a finding,
 * init-host, and PTERA_ERROR_FINDINGS is returned. */
PTERA_API ptera_result ptera_memory_read(ptera_engine *engine, const void *address, size_t bytes);

/* ---- launching ------------------------------------------------------------------------------- */

/* Who runs a kernel. Both engines give the same bits. */
typedef enum ptera_backend {
    PTERA_BACKEND_DEFAULT, /* what PTERA_ENGINE (auto, interp, jit) in the environment names, else
                            * PTERA_BACKEND_AUTO */
    PTERA_BACKEND_AUTO,    /* the interpreter, until the kernel proves hot and has been compiled
                            * meanwhile */
    PTERA_BACKEND_INTERP,  /* the interpreter */
    PTERA_BACKEND_JIT /* native code, compiled when the kernel is first launched with a block of
                         that shape; a kernel or a launch that cannot be native is interpreted:
                         ptera_kernel_info says why. Without a compiler (ptera_info.has_jit) the
                         launch is PTERA_ERROR_INVALID_LAUNCH */
} ptera_backend;

/* Checkers of a launch. */
typedef enum ptera_check {
    /* Races: two accesses of the same bytes, one of them a write, that are neither ordered by
     * causality (PTX ISA, "Memory Consistency Model") nor both strong with scopes that include each
     * other's thread; in global and shared memory, of threads of one launch. Accesses that race
     * with asynchronous operations (cp.async, cp.async.bulk, tensor copies and reductions,
     * st.async, red.async, wgmma with its registers): by a thread of the cluster that has not
     * observed the completion. The launch runs on one worker, takes 1.3 to 7.8 bytes for each byte
     * it touches, and is found to race on the order in which it ran. */
    PTERA_CHECK_RACE = 1,
    /* Accesses of what is not the kernel's (as ptera_launch.isolate says), freed memory, null
     * pointers, writes to constants and parameters, misaligned ones, other spaces than .global that
     * an instruction says it is. The access then happens: if there is no memory the kernel
     * fails, as it would without the checker. */
    PTERA_CHECK_MEM = 2,
    /* Values that nobody made (registers, shared and local memory and blocks of malloc before they
     * are written) where they decide a branch, an address, a barrier or an atomic; copies and what
     * is computed of them are followed. Buffers hold zeros, and count as written. */
    PTERA_CHECK_INIT = 4,
    PTERA_CHECK_INIT_LOAD = 8, /* every load of such memory */
    /* Synchronisation: aligned barriers in divergent code, member masks that differ or leave out
     * their lane, counts of barriers and mbarriers that do not fit, deadlocks. */
    PTERA_CHECK_SYNC = 16,
    /* Results that depend on the order of threads: the launch runs again from the memory that it
     * found, under as many schedules as ptera_options.order_schedules says, and what it leaves in
     * global memory is compared. Then memory is what the first run left. Such launches of an engine
     * run one at a time; what the host, or other launches, write meanwhile may be lost. Kernels
     * that call functions of the host are not run again (the log is told). */
    PTERA_CHECK_ORDER = 32
} ptera_check;

/* The order in which threads run that wait for nobody. PTX leaves it open: a kernel whose result
 * depends on it has a race, or asks for it (atomics that return what was there). All but the first
 * are interpreted, and slow. */
typedef enum ptera_order {
    PTERA_ORDER_LOCKSTEP, /* those of a warp together */
    PTERA_ORDER_LANES,    /* those of a warp one after the other, each until it waits for others */
    PTERA_ORDER_REVERSE,  /* likewise, the last first: of the grid's CTAs, of a CTA's warps, of a
                           * warp's threads */
    PTERA_ORDER_TURNS     /* those of a warp together, the warps of a CTA in turns: each up to its
                           * next access to memory or barrier */
} ptera_order;

typedef struct ptera_launch {
    size_t size;                   /* set by ptera_launch_init */
    unsigned grid[3];              /* CTAs; default 1,1,1 */
    unsigned block[3];             /* threads of a CTA; default 1,1,1 */
    unsigned cluster[3];           /* CTAs of a cluster; 0,0,0: as the kernel says, else 1,1,1 */
    unsigned shared_bytes;         /* dynamic shared memory */
    int cooperative;               /* all CTAs resident at once */
    double timeout_seconds;        /* 0: none */
    const void *const *parameters; /* one pointer to each parameter's value, in order */
    unsigned n_parameters;
    const void *parameter_block; /* or the whole block instead, laid out as ptera_kernel_parameter
                                    * says */
    size_t parameter_block_bytes;
    /* Nonzero: tests every access of the kernel before it happens. What is not the kernel's is an
     * illegal address even where memory is mapped: anything but the engine's buffers, registered
     * host memory, the module's own variables, blocks that malloc gave (rounded up to 16 bytes),
     * the parameters, the cluster's shared memory from 0x400 on, and the thread's own local memory.
     * The kernel is compiled once more for that, and runs slower. */
    int isolate;
    ptera_backend backend;
    int math_fast; /* nonzero: native code may trade exactness for speed */
    /* Asynchronous operations (copies, reductions, st.async, red.async, wgmma) take place when they
     * are issued. Nonzero, or with PTERA_ASYNC=late in the environment: as late as PTX allows (when
     * a thread waits for their group, after the first test of their mbarrier, at the thread's
     * exit), so that a kernel which does not wait for them goes wrong; such launches are
     * interpreted. */
    int async_late;
    /* If not NULL: the names of the parameters that the values are of, in any order. */
    const char *const *parameter_names;
    /* A set of ptera_check: the launch is interpreted, slowly (natively as well if it is
     * PTERA_CHECK_MEM alone), and each pair of places in the PTX that is at fault is told to
     * `finding` when the launch first comes there: ptera_finding.text.
     * The kernel goes on; the result is PTERA_ERROR_FINDINGS if it does not fail otherwise, and not
     * all of them are notes (which ptera_options.observe, for all launches, does not change).
     * `finding` may be NULL; it is called by any worker, one call at a time. */
    unsigned checks;
    void (*finding)(void *ud, const char *text);
    void *finding_ud;
    ptera_order order;
    /* 1 to 255: shared and local memory, variables of calls included, holds it in each byte where a
     * CTA begins; such launches are interpreted. 0: what the last CTA in the same place left there,
     * and zeros at first. A kernel whose result changes reads what it has not written. */
    unsigned unwritten;
    /* If not NULL: gets the text of ptera_engine_error if this launch fails, whatever other threads
     * launch meanwhile, cut to error_bytes, which has room for the 0 at its end; "" if it does not.
     * ptera_kernel_launch_async writes why it refuses, and no more. */
    char *error;
    size_t error_bytes;
} ptera_launch;

/* Sets the defaults. `size` is sizeof *launch where the program is compiled. NULL is allowed. */
PTERA_API void ptera_launch_init_sized(ptera_launch *launch, size_t size);
static inline void ptera_launch_init(ptera_launch *launch)
{
    ptera_launch_init_sized(launch, sizeof *launch);
}

/* Runs a kernel and waits for it. */
PTERA_API ptera_result ptera_kernel_launch(ptera_kernel *kernel, const ptera_launch *launch);

/* Told when a launch has ended: its result and, if that is not PTERA_OK, the text of
 * ptera_engine_error, else "". Called by a thread of the engine; it may launch, but must not wait
 * for the engine or destroy it. */
typedef void ptera_done(void *ud, ptera_result result, const char *error);
/* Runs a kernel without waiting: launches made this way run one after the other, in the order they
 * were made, beside those that callers wait for. Parameters are copied; `done` may be NULL. A
 * launch that does not fit the kernel is refused here, and `done` is not called; what happens while
 * it runs is told to `done`. The module must live until then. */
PTERA_API ptera_result ptera_kernel_launch_async(ptera_kernel *kernel, const ptera_launch *launch,
                                                 ptera_done *done, void *ud);
/* Waits until all of them have ended, and `done` has returned. */
PTERA_API ptera_result ptera_engine_wait(ptera_engine *engine);

#ifdef __cplusplus
}
#endif

#endif
