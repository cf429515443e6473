/* The objects behind the driver's handles, and what its files share. One lock guards all of it: every entry holds it while it
 * runs (API below), and lets go of it while it waits, compiles or executes. */
#ifndef PTERA_CUDA_DRIVER_H
#define PTERA_CUDA_DRIVER_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/launch.h"

/* ---- entries ------------------------------------------------------------------------------------------- */

/* The body of an entry: `return API(call)`. Takes the lock, tells PTERA_LOG=api of the call and its result. */
#define API(call) (pt_cu_enter(), pt_cu_leave(__func__, (call)))
void pt_cu_enter(void);
CUresult pt_cu_leave(const char *entry, CUresult result);

/* An entry that works on the default stream, or on one that is given, and its twin for programs whose default stream is one for each
 * thread. `call` is called with the default stream in front. */
#define PER_THREAD_API(symbol, twin, call, parameters, ...) \
    CUresult symbol parameters \
    { \
        return API(call(CU_STREAM_LEGACY, __VA_ARGS__)); \
    } \
    CUresult symbol##twin parameters \
    { \
        return API(call(CU_STREAM_PER_THREAD, __VA_ARGS__)); \
    }

/* For calls that leave the lock for a while. */
void pt_cu_lock(void);
void pt_cu_unlock(void);
bool pt_cu_try_lock(void);
/* Waits for `change`; the lock is held again afterwards. */
void pt_cu_wait(pthread_cond_t *change);
/* In a process that was forked: it may be held by a thread that is gone. */
void pt_cu_lock_renew(void);

enum pt_cu_log { PT_CU_LOG_API = 1, PT_CU_LOG_LOAD = 2, PT_CU_LOG_LAUNCH = 4 };
/* Whether PTERA_LOG (a list of api, load, launch) asks for it. */
bool pt_cu_logs(enum pt_cu_log what);
__attribute__((format(printf, 1, 2))) void pt_cu_log(const char *format, ...);
/* An entry begins; whether anything was written since. By thread. */
void pt_cu_log_begin_call(void);
bool pt_cu_log_has_written(void);

/* account.c: whether somebody wants to be told of launches and copies: PTERA_LOG=launch, `ptera exec --summary`. */
struct pt_job;
struct pt_cu_op;
bool pt_cu_accounts(void);
/* Runs a launch, and tells of it. */
ptera_result pt_cu_account_launch(struct pt_job *job);
/* Does what `move` does for a PT_CU_COPY or PT_CU_SET, and tells of it. */
void pt_cu_account_move(const struct pt_cu_op *op, void (*move)(const struct pt_cu_op *op));

/* error_log.c: a message about an error, for programs that ask for them. */
__attribute__((format(printf, 1, 2))) void pt_cu_logs_add(const char *format, ...);
/* In a process that was forked: its lock may be held by a thread that is gone. */
void pt_cu_logs_renew(void);

/* ---- handles ------------------------------------------------------------------------------------------- */

/* What a handle may be of. Every object begins with its kind. */
enum pt_cu_kind {
    PT_CU_CONTEXT = 1,
    PT_CU_MODULE,
    PT_CU_LIBRARY,
    PT_CU_FUNCTION,
    PT_CU_KERNEL,
    PT_CU_STREAM,
    PT_CU_EVENT,
    PT_CU_POOL,
    PT_CU_ARRAY,
    PT_CU_MIPMAP,
    PT_CU_GRAPH,
    PT_CU_NODE,
    PT_CU_EXEC,
    PT_CU_LINK,
    PT_CU_ALLOCATION,
    PT_CU_MULTICAST_OBJECT
};

struct pt_cu_object {
    enum pt_cu_kind kind;
    uint64_t id; /* never given twice */
};

/* handle.c: a zeroed object of `bytes` bytes that is known as a handle, or NULL. */
void *pt_cu_new(enum pt_cu_kind kind, size_t bytes);
/* Forgets and frees it. */
void pt_cu_delete(void *object);
/* Whether a handle, whatever it is, is one of an object of that kind. */
bool pt_cu_is(const void *handle, enum pt_cu_kind kind);
uint64_t pt_cu_new_id(void);

/* ---- devices ------------------------------------------------------------------------------------------- */

enum { PT_CU_DEVICES_MAX = 32 };

struct pt_cu_device {
    CUcontext primary;  /* made once; its handle stays the same */
    unsigned primary_flags, retained;
    size_t used_bytes;  /* of its memory */
    CUmemoryPool default_pool, pool;
};

/* The newest release whose PTX runs here, 9.5. Programs that compile compare it with their compiler's, and give an older driver machine
 * code. CUDA_VERSION is that of our header. */
enum { PT_CU_DRIVER_VERSION = 13050 };

struct pt_cu_driver {
    bool is_initialised, is_inherited; /* inherited: by a process that was forked afterwards */
    const struct pt_device *profile;
    const struct pt_device_limits *limits; /* of it */
    bool has_name;                         /* PTERA_DEVICE gave it */
    int n_devices;
    struct pt_cu_device *devices;
    size_t device_bytes; /* memory of each */
    bool launches_block; /* CUDA_LAUNCH_BLOCKING=1: they return when the kernel is done */
    bool traps_host;     /* PTERA_HOST_ACCESS=trap */
};
extern struct pt_cu_driver pt_cu_driver;

/* device.c */
CUresult pt_cu_devices_init(void);
bool pt_cu_is_device(CUdevice device);
int pt_cu_attribute(CUdevice_attribute attribute, CUdevice device);

/* ---- contexts ------------------------------------------------------------------------------------------ */

struct pt_cu_command;

enum { PT_CU_KEPT_LISTS = 64 };

struct CUctx_st {
    struct pt_cu_object object;
    CUdevice device;
    bool is_primary, is_alive;
    CUcontext next, previous; /* live ones */
    unsigned api_version, flags;
    unsigned uses;         /* cuCtxAttach and cuCtxDetach count them: goes with the last one */
    unsigned refs;         /* of threads' stacks; a dead context stays while there are any */
    ptera_engine *engine;
    CUresult error;        /* of a kernel: every later call returns it */
    size_t limits[CU_LIMIT_MAX];
    CUfunc_cache cache_config;
    uint64_t peers;        /* devices whose memory it may use: bits */
    CUstream null_stream;  /* the legacy default stream */
    CUstream streams;      /* all, the default one first */
    CUevent events;
    CUmodule modules;
    CUarray arrays;
    struct pt_cu_range *kept[PT_CU_KEPT_LISTS]; /* freed blocks, by size: memory.c */
    size_t kept_bytes;
    struct pt_cu_range *doomed; /* freed as soon as nothing is under way */
    size_t pending;        /* commands that are not done: its own, and others' that use its memory */
    size_t outside;        /* calls that use it while they have left the lock */
    char *printed;         /* text of kernels that goes out at the next synchronising call */
    size_t n_printed, cap_printed;
    pthread_mutex_t print_lock;
};

/* What a thread has: its contexts, the last one current, and its default streams. */
struct pt_cu_thread {
    CUcontext *stack;
    size_t depth, cap;
    uint64_t id;
    CUstream stream; /* its default stream that was used last */
    CUstreamCaptureMode capture_mode;
    bool is_in_host_function; /* of a stream, which may not call CUDA */
};
/* thread.c: the caller's, or NULL if there is no memory. */
struct pt_cu_thread *pt_cu_thread(void);
/* What is called for each thread that ends, before it is freed. */
void pt_cu_thread_at_end(void (*end)(struct pt_cu_thread *thread));
/* context.c: such a function. */
void pt_cu_context_end_thread(struct pt_cu_thread *thread);
/* current.c: puts a context on the caller's stack. */
CUresult pt_cu_current_push(CUcontext ctx);
/* It is not current any more, if it was. */
void pt_cu_current_leave(CUcontext ctx);
void pt_cu_current_leave_all(struct pt_cu_thread *thread);
/* A stack no longer has it: a dead one goes with the last. */
void pt_cu_current_unref(CUcontext ctx);
/* The current context; an error if there is none, it is gone or a kernel in it has failed. */
CUresult pt_cu_current(CUcontext *ctx);
/* Likewise, also if a kernel has failed in it. */
CUresult pt_cu_current_any(CUcontext *ctx);
CUresult pt_cu_check_init(void);
/* `given` (NULL: the current one) if it can be used. */
CUresult pt_cu_context(CUcontext given, CUcontext *ctx);
/* The error of a context after a result of the engine; what a kernel did stays its error. */
CUresult pt_cu_result(ptera_result result);
/* The live context behind another (NULL: the first), or NULL. */
CUcontext pt_cu_next_context(CUcontext ctx);
void pt_cu_context_list_enter(CUcontext ctx);
void pt_cu_context_list_leave(CUcontext ctx);
/* Whether what is given is a live context. */
CUresult pt_cu_context_list_check(CUcontext ctx);
/* Hands out what kernels have printed. */
void pt_cu_flush_printed(CUcontext ctx);
/* ptera_options.print of every context (`ud`). From any worker. */
void pt_cu_printed_take(void *ud, const char *text, size_t bytes);
/* limit.c: as they are in a new context. */
void pt_cu_limits_reset(CUcontext ctx);

/* ---- memory -------------------------------------------------------------------------------------------- */

/* A range of addresses that the driver knows. */
enum pt_cu_memory {
    PT_CU_DEVICE = 1,
    PT_CU_HOST,       /* pinned */
    PT_CU_REGISTERED, /* the program's own */
    PT_CU_MANAGED,
    PT_CU_VARIABLES,  /* of a module */
    PT_CU_POOLED,     /* of a memory pool */
    PT_CU_TEXELS,     /* of an array */
    PT_CU_MAPPED,     /* part of a reservation that has memory */
    PT_CU_IMPORTED,   /* opened by an IPC handle */
    PT_CU_MULTICAST   /* as PT_CU_MAPPED, of a multicast object: for multimem instructions alone */
};
struct pt_cu_range {
    uint64_t first, bytes;
    enum pt_cu_memory memory;
    unsigned flags;
    CUcontext ctx;      /* whose it is; NULL: its device's */
    CUdevice device;
    uint64_t id;
    void *
        owner; /* PT_CU_DEVICE: a graph's block, or NULL; PT_CU_POOLED: the pool; PT_CU_MAPPED, PT_CU_MULTICAST: what is mapped */
    uint64_t offset;    /* PT_CU_MAPPED, PT_CU_MULTICAST: in that */
    struct pt_cu_range *next, *doomed;
    /* managed memory: what was advised */
    bool is_read_mostly, sync_memops;
    bool is_going;      /* a command is to free it */
    bool is_shut;       /* its pages are inaccessible: trap.c */
    size_t charged;     /* of its device's memory */
    /* PT_CU_POOLED: */
    const CUmemAccess_flags *access; /* of the pool, by device; NULL: it is being made */
    bool (*keep)(struct pt_cu_range *range); /* the range is being freed; true: the pool keeps it */
    size_t room;        /* bytes that the block can have */
    uint64_t freed_in;  /* the stream that is to free it */
    unsigned frees, void_frees; /* commands that are to free it; so many of them were made void: it was given out again */
    CUmemLocation preferred, prefetched;
    uint64_t accessed_by; /* devices, bits; the host is bit 63 */
    uint64_t pages_before, pages_bytes; /* PT_CU_IMPORTED: what was mapped around it */
    int fd;             /* the file behind it once an IPC handle was asked for; -1: none */
};

/* range.c: the range that holds `address`, or NULL. */
struct pt_cu_range *pt_cu_find(uint64_t address);
/* Whether all of it lies in one range that kernels may use. */
bool pt_cu_is_usable(uint64_t address, size_t bytes);
/* Enters a range. NULL: no memory, or it overlaps with one. */
struct pt_cu_range *pt_cu_add(uint64_t first, uint64_t bytes, enum pt_cu_memory memory, CUcontext ctx);
void pt_cu_remove(struct pt_cu_range *range);
/* The same without making and freeing the record. */
bool pt_cu_enter_range(struct pt_cu_range *range);
void pt_cu_leave_range(struct pt_cu_range *range);
/* Calls visit for every range; it may remove the one it is given. */
void pt_cu_each_range(void (*visit)(struct pt_cu_range *range, void *ud), void *ud);
/* memory.c: allocates device memory for the context. */
CUresult pt_cu_alloc(CUcontext ctx, size_t bytes, enum pt_cu_memory memory, struct pt_cu_range **range);
void pt_cu_free(struct pt_cu_range *range);
/* Gives the memory of a range that is none any more back to the context. */
void pt_cu_release(struct pt_cu_range *range);
/* trap.c, where the host may not access device memory: a kernel of the context, or (NULL) something that reaches all devices, is about to, or
 * through with it. */
void pt_cu_reach(CUcontext ctx);
void pt_cu_unreach(CUcontext ctx);
/* A range has got its memory. */
void pt_cu_trap_new(struct pt_cu_range *range);
void pt_cu_trap_init(void);
/* As soon as nothing of its context is under way. */
void pt_cu_free_later(struct pt_cu_range *range);
void pt_cu_free_doomed(CUcontext ctx);
/* graph_memory.c: the block of a graph's memory that begins there, or NULL. */
struct pt_cu_graph_block *pt_cu_graph_block_at(CUdeviceptr address);
/* The program frees what a launch has allocated; false: nothing has. */
bool pt_cu_graph_block_release(struct pt_cu_graph_block *block);
/* pool.c: what is a device's synchronisation: its pools give back what is above their thresholds. */
void pt_cu_pools_trim(CUdevice device);
/* Pools give back what they keep of a context that goes. */
void pt_cu_pools_forget(CUcontext ctx);
/* ipc.c */
void pt_cu_close_import(struct pt_cu_range *range);
/* multicast.c: ptera_engine.replicas of every context. */
const char *pt_cu_replicas(uint64_t address, bool is_write, struct pt_replicas *found);
/* block.c: frees what the context keeps. */
void pt_cu_block_drop_kept(CUcontext ctx);

/* An array: elements of up to four channels in rows, rows in slices, layers or faces. */
struct CUarray_st {
    struct pt_cu_object object;
    CUcontext ctx;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    size_t element_bytes, pitch, slice;
    uint8_t *data;
    struct pt_cu_range *texels; /* the memory; of a mipmapped array the first level's */
    CUmipmappedArray mipmap;    /* whose level it is, or NULL */
    CUarray next;
};

/* array.c */
void pt_cu_array_delete(CUarray array);

/* ---- functions ----------------------------------------------------------------------------------------- */

/* What can be set of a function; a library's kernel hands it on to its functions. */
struct pt_cu_settings {
    int values[CU_FUNC_ATTRIBUTE_MAX];
    uint32_t is_set; /* bits */
};
struct pt_cu_legacy;
struct CUfunc_st {
    struct pt_cu_object object;
    CUmodule module;
    ptera_kernel *kernel;
    CUkernel of;           /* the library's kernel that it is, or NULL */
    struct pt_cu_settings settings;
    bool is_told;          /* the log knows why it cannot run */
    struct pt_cu_legacy *legacy; /* legacy.c: set for cuLaunch; NULL: nothing yet */
    CUfunction next;
};
struct CUmod_st {
    struct pt_cu_object object;
    CUcontext ctx;
    ptera_module *ptera;
    CUlibrary library;     /* NULL: loaded by itself */
    CUfunction functions;
    CUmodule next;
};
struct CUkern_st {
    struct pt_cu_object object;
    CUlibrary library;
    char *name;
    struct pt_cu_settings settings;
    CUfunction used;       /* the function it was last; perhaps gone */
    CUkernel next;
};
struct CUlib_st {
    struct pt_cu_object object;
    char *text;            /* PTX */
    size_t bytes;
    CUkernel kernels;
    CUlibrary next;
};

/* module.c: the function behind a CUfunction or a CUkernel, loaded into the current context. */
CUresult pt_cu_function(const void *handle, CUfunction *function);
/* function.c: what the function or its kernel was set to, or what it is. */
CUresult pt_cu_function_value(CUfunction function, CUfunction_attribute attribute, int *value);
/* How many threads of a block have registers; 0: as many as are asked for, or as many as the
 * function declares. */
CUresult pt_cu_function_most_threads(CUfunction function, unsigned threads, uint32_t *most);
CUresult pt_cu_module_of(CUlibrary library, CUcontext ctx, CUmodule *module);
/* Unloads a module; no kernel of it is running. */
void pt_cu_module_delete(CUmodule module);

/* image.c: the PTX text in an image (PTX, fatbinary or its wrapper) that is best for the device; allocated. `bytes` is 0 where
 * it is not known: the image says itself where it ends. `log` gets, if it fails, why. */
struct pt_cu_text {
    char *text;
    size_t bytes;
    char log[512];
};
CUresult pt_cu_image_text(const void *image, size_t bytes, struct pt_cu_text *text);

/* A buffer of the program's for messages. Its size option is overwritten with what was written. */
struct pt_cu_jit_log {
    char *text;
    size_t size;
    void **size_option;
};
struct pt_cu_jit_options {
    struct pt_cu_jit_log info, error;
    void **wall_time;
};
/* module.c: reads what a program gives with an image; false if an option is not one. */
bool pt_cu_read_options(struct pt_cu_jit_options *o, unsigned n, const CUjit_option *options, void **values);
void pt_cu_write_log(struct pt_cu_jit_log *log, const char *text);

/* ---- work ---------------------------------------------------------------------------------------------- */

enum pt_cu_work {
    PT_CU_EMPTY,
    PT_CU_KERNEL_LAUNCH,
    PT_CU_COPY,
    PT_CU_SET,
    PT_CU_HOST_CALL,
    PT_CU_CALLBACK,    /* cuStreamAddCallback: called after a failure, too */
    PT_CU_RECORD,
    PT_CU_WAIT_VALUE,
    PT_CU_WRITE_VALUE,
    PT_CU_FREE_POOLED,
    PT_CU_WAIT_EVENT   /* in graphs */
};

struct pt_cu_shared;

struct pt_cu_launch {
    CUfunction function;
    ptera_launch launch;   /* without parameters */
    int priority;
    size_t bytes;          /* of parameters */
    uint8_t *parameters;   /* the block; NULL in a job's */
    struct pt_job *job;    /* ready to run */
};
/* A box of bytes; linear copies are one row. */
struct pt_cu_copy {
    uint8_t *to;
    const uint8_t *from;
    size_t to_pitch, to_slice, from_pitch, from_slice; /* bytes from row to row, from slice to slice */
    size_t width, height, depth;
};
struct pt_cu_set {
    uint8_t *to;
    size_t pitch, width, height; /* width: in elements */
    unsigned element_bytes;
    uint32_t value;
};

/* One piece of work, for a stream or a node of a graph. */
struct pt_cu_op {
    enum pt_cu_work work;
    union {
        struct pt_cu_launch launch;
        struct pt_cu_copy copy;
        struct pt_cu_set set;
        struct {
            CUhostFn call;
            void *ud;
        } host;
        struct {
            CUstreamCallback call;
            CUstream stream;
            void *ud;
        } callback;
        struct {
            CUevent event;
            struct pt_cu_shared
                *shared; /* of an event of several processes, or NULL; with the record's number */
            uint64_t number;
        } record;
        struct {
            void *address;
            uint64_t value;
            unsigned bytes, flags;
            struct pt_cu_shared *shared; /* whose page it is in, or NULL */
        } value;
        struct {
            struct pt_cu_range *range;
            void (*call)(struct pt_cu_range *range); /* when its turn has come */
        } free;
    };
};

/* command.c: an operation under way. It runs when all that it waits for is done. */
struct pt_cu_command {
    struct pt_cu_command *next; /* in the queue of what can run */
    CUcontext ctx;
    CUcontext owners[2]; /* of the memory that it uses, if they are others */
    struct pt_cu_op op;
    unsigned refs, unmet, n_owners;
    int priority;
    bool is_done, by_caller;
    CUresult failed;            /* this itself, not the context */
    uint64_t done_ns;           /* CLOCK_MONOTONIC */
    struct pt_cu_command **dependents;
    size_t n_dependents, cap_dependents;
};

/* A new command that takes the operation over; NULL if there is no memory. The caller has a reference. */
struct pt_cu_command *pt_cu_command_new(CUcontext ctx, const struct pt_cu_op *op);
/* Makes it wait for another one (NULL: for nothing). False: no memory, and it does not. */
bool pt_cu_command_after(struct pt_cu_command *command, struct pt_cu_command *earlier);
/* It is to do nothing when its turn comes. */
void pt_cu_command_cancel(struct pt_cu_command *command);
/* All dependencies are there: it runs as soon as they are done; short ones at once, here. */
void pt_cu_command_start(struct pt_cu_command *command);
/* Waits until it is done. Returns the context's error, or the command's. */
CUresult pt_cu_command_finish(struct pt_cu_command *command);
void pt_cu_command_put(struct pt_cu_command *command);
struct pt_cu_command *pt_cu_command_ref(struct pt_cu_command *command);
/* op.c: frees what the operation owns. */
void pt_cu_op_drop(struct pt_cu_op *op);
/* Worth no other thread: it waits for nobody, and is done sooner than one would have woken up. */
bool pt_cu_op_is_short(const struct pt_cu_op *op);
bool pt_cu_op_touches_memory(const struct pt_cu_op *op);
/* execute.c: does it, after nothing (CUDA_SUCCESS) or a context's error: then callbacks alone. */
CUresult pt_cu_execute_op(struct pt_cu_op *op, CUresult error);
/* Tells observers what a copy, or a fill, moves: row by row. */
void pt_cu_execute_observe(const struct pt_cu_op *op, const struct pt_observer *const *observers);
/* All that is under way in any context is done. */
void pt_cu_command_drain_all(void);
/* Waits until nothing of the context is under way. */
CUresult pt_cu_drain(CUcontext ctx);
/* Leaves the lock for work on what belongs to the context, which stays until the call takes the lock back and lets it go. */
void pt_cu_step_out(CUcontext ctx);
void pt_cu_step_in(CUcontext ctx);
/* Waits, before its end, until no call is outside either. */
void pt_cu_quiesce(CUcontext ctx);

/* ---- streams ------------------------------------------------------------------------------------------- */

enum { PT_CU_PRIORITY_GREATEST = -5 }; /* the least is 0 */

struct pt_cu_capture;

/* Attributes of streams and kernel nodes that are only kept. */
struct pt_cu_hints {
    CUlaunchAttributeValue window, sync_policy, domain_map, domain, carveout;
};

/* hint.c: whether an attribute may have the value; those that are no hints may. */
bool pt_cu_hint_is_valid(CUlaunchAttributeID id, const CUlaunchAttributeValue *value,
                         CUdevice device);
/* CUDA_ERROR_INVALID_VALUE: none of them, or a value that it may not have. */
CUresult pt_cu_hint_get(const struct pt_cu_hints *hints, CUlaunchAttributeID id,
                        CUlaunchAttributeValue *value);
CUresult pt_cu_hint_set(struct pt_cu_hints *hints, CUlaunchAttributeID id,
                        const CUlaunchAttributeValue *value, CUdevice device);

struct CUstream_st {
    struct pt_cu_object object;
    CUcontext ctx;
    unsigned flags;
    int priority;
    struct pt_cu_command *tail; /* the last one; NULL: none yet */
    struct pt_cu_capture *capture;
    CUgraphNode *capture_tail;  /* what the next node depends on */
    size_t n_capture_tail;
    struct pt_cu_hints hints;
    uint64_t thread; /* whose default stream it is; 0: none's */
    CUstream next;
};

struct CUevent_st {
    struct pt_cu_object object;
    CUcontext ctx;
    unsigned flags;
    struct pt_cu_shared *shared;    /* with other processes, or NULL */
    struct pt_cu_command *recorded; /* NULL: never */
    struct pt_cu_capture *capture;  /* recorded while capturing */
    CUgraphNode *captured;
    size_t n_captured;
    CUevent next;
};

/* stream.c: what a handle means: 0 is `null` (CU_STREAM_LEGACY or CU_STREAM_PER_THREAD), in the current context. */
CUresult pt_cu_stream(CUstream null, CUstream given, CUstream *stream);
/* Adds the operation behind all that is in the stream (or to its graph, if it is captured) and takes it over, also if it fails. */
CUresult pt_cu_submit(CUstream stream, struct pt_cu_op *op);
/* A command behind all that is in the stream, its last one from now on; it takes the operation over. Add further dependencies, start
 * it and put it. NULL: no memory, and nothing is done. Not for streams that are captured. `by_caller`: who finishes it runs it. */
struct pt_cu_command *pt_cu_stream_append(CUstream stream, struct pt_cu_op *op, bool by_caller);
/* As pt_cu_submit, and waits for it: for calls that are synchronous. */
CUresult pt_cu_submit_and_wait(CUstream stream, struct pt_cu_op *op);
CUresult pt_cu_stream_finish(CUstream stream);
CUstream pt_cu_stream_new(CUcontext ctx, unsigned flags, int priority);
/* The default stream goes on waiting for what is under way in a stream that goes. */
void pt_cu_stream_hand_over(CUstream stream);
/* The default stream is through when all that it would wait for is. */
bool pt_cu_stream_is_idle(CUstream stream);
/* stream_management.c */
void pt_cu_stream_management_delete(CUstream stream);
/* capture.c: an error if a capture forbids to use the stream at all. */
CUresult pt_cu_capture_check(CUstream stream);
/* An error, and the end of the capture, if the stream is captured: for what cannot be. */
CUresult pt_cu_capture_forbid(CUstream stream);
CUresult pt_cu_capture_spoil(CUstream stream, CUresult error);
/* Likewise if any stream of the context is captured: for what would wait for all of them. */
CUresult pt_cu_capture_forbid_context(CUcontext ctx);
/* Likewise if a capture forbids this thread what could be unsafe meanwhile (cuThreadExchangeStreamCaptureMode tells when). */
CUresult pt_cu_capture_forbid_unsafe(void);
/* What cannot be asked of an event that stands for a place in a graph. */
CUresult pt_cu_capture_forbid_event(CUevent event);
/* Adds the operation to the graph of the stream's capture, taking it over. */
CUresult pt_cu_capture_add(CUstream stream, struct pt_cu_op *op);
/* Waiting for an event where the stream or the event is captured. */
CUresult pt_cu_capture_wait(CUstream stream, CUevent event, unsigned flags);
CUresult pt_cu_capture_record(CUstream stream, CUevent event);
CUresult pt_cu_capture_child(CUstream stream, CUgraph graph);
/* Memory that is allocated and freed in the order of a stream becomes the graph's. */
CUresult pt_cu_capture_alloc(CUstream stream, size_t bytes, CUdeviceptr *address);
CUresult pt_cu_capture_free(CUstream stream, CUdeviceptr address);
void pt_cu_capture_leave(CUstream stream);
void pt_cu_capture_forget(CUevent event);
/* event.c: takes `shared` over, also if it fails. */
CUresult pt_cu_event_new(CUcontext ctx, unsigned flags, struct pt_cu_shared *shared, CUevent *out);
void pt_cu_event_delete(CUevent event);
CUresult pt_cu_event_record(CUevent event, CUstream stream, unsigned flags);

/* event_page.c: what an event of several processes shares; NULL: no memory. */
struct pt_cu_shared *pt_cu_shared_new(void);
struct pt_cu_shared *pt_cu_shared_ref(struct pt_cu_shared *shared);
void pt_cu_shared_put(struct pt_cu_shared *shared);
/* The number of a new record, which is done when pt_cu_shared_done says so. */
uint64_t pt_cu_shared_record(struct pt_cu_shared *shared);
void pt_cu_shared_done(struct pt_cu_shared *shared, uint64_t number);
bool pt_cu_shared_is_done(const struct pt_cu_shared *shared);
/* What waits for the last record so far. */
struct pt_cu_op pt_cu_shared_wait(struct pt_cu_shared *shared);

/* copy.c: operations from descriptions; one of no bytes has no width. *is_pageable: memory that the driver does not know takes part. */
CUresult pt_cu_copy_op(const CUDA_MEMCPY3D *copy, struct pt_cu_op *op, bool *is_pageable);
CUresult pt_cu_set_op(const CUDA_MEMSET_NODE_PARAMS *params, struct pt_cu_op *op);
/* function.c */
size_t pt_cu_parameter_bytes(CUfunction function);
/* occupancy.c: blocks that an SM has room for. */
CUresult pt_cu_active_blocks(CUfunction function, int threads, size_t dynamic_shared, int *blocks);
/* Launches what a CUfunction or a CUkernel is; `cooperative`: the call says so. */
CUresult pt_cu_launch(CUstream null, const CUlaunchConfig *config, const void *handle,
                      void **parameters, void **extra, bool cooperative);
/* A launch ready to run, from dimensions and parameters. */
CUresult pt_cu_launch_ready(struct pt_cu_launch *launch, void **parameters, void **extra);
/* Why the calling thread's last pt_cu_launch did not fit. */
enum pt_misfit pt_cu_launch_last_misfit(void);

#endif
