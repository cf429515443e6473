/* The interpreter as an engine: one table a CPU level, and the choice among them. Compiled once,
 * for the base level. */
#include <string.h>

#include "backend/observer.h"

#define ENGINE(level, label)                                                                      \
    struct pt_program *pt_program_compile_##level(const struct pt_image *image, uint32_t kernel,  \
                                                  uint32_t tests,                                 \
                                                  const struct pt_allocator *allocator);          \
    void pt_program_release_##level(struct pt_program *program);                                  \
    void pt_frame_prepare_##level(const struct pt_launch *launch, struct pt_warp *warp);          \
    void pt_frame_start_##level(struct pt_warp *warp);                                            \
    enum pt_run pt_loop_resume_##level(struct pt_warp *warp);                                     \
    void pt_locate_fault_##level(struct pt_warp *warp, uint64_t address);                         \
    void pt_locate_waiting_##level(                                                               \
        const struct pt_warp *warp,                                                               \
        void (*report)(void *ud, uint32_t func, uint32_t insn, uint32_t lanes, uint32_t bar),     \
        void *ud);                                                                                \
    const struct pt_lanes *pt_lanes_of_##level(struct pt_module *module,                          \
                                               const struct pt_form *form, uint64_t *kind);       \
    const struct pt_lanes *pt_lanes_named_##level(const char *name);                              \
    const struct pt_product *pt_product_of_##level(const struct pt_form *form, bool is_fast);     \
    const struct pt_product *pt_product_named_##level(const char *name);                          \
    void *pt_step_frame_##level(struct pt_warp *warp, uint32_t func);                             \
    uint32_t pt_step_slot_##level(const struct pt_program *program, uint32_t func, uint32_t reg); \
    bool pt_step_##level(struct pt_warp *warp, uint32_t func, uint32_t insn, uint32_t lanes,      \
                         bool is_fast);                                                           \
    bool pt_texture_sample_##level(struct pt_sampled *s, uint32_t sampling, uint32_t lanes,       \
                                   struct pt_fault *fault);                                       \
    void pt_isolate_check_##level(struct pt_warp *warp, uint32_t func, uint32_t insn,             \
                                  uint32_t lanes, const uint64_t *address, uint64_t bytes,        \
                                  uint32_t origin, struct pt_extent *recent);                     \
    extern const struct pt_observer *const pt_observers_##level[PT_OBSERVERS];                    \
    static const struct pt_engine engine_##level;                                                 \
    static struct pt_program *compile_##level(const struct pt_image *image, uint32_t kernel,      \
                                              uint32_t tests,                                     \
                                              const struct pt_allocator *allocator)               \
    {                                                                                             \
        struct pt_program *program = pt_program_compile_##level(image, kernel, tests, allocator); \
        if (program)                                                                              \
            program->engine = &engine_##level;                                                    \
        return program;                                                                           \
    }                                                                                             \
    static const struct pt_engine engine_##level = {                                              \
        label,                                                                                    \
        compile_##level,                                                                          \
        pt_program_release_##level,                                                               \
        pt_frame_prepare_##level,                                                                 \
        pt_frame_start_##level,                                                                   \
        pt_loop_resume_##level,                                                                   \
        pt_locate_fault_##level,                                                                  \
        pt_locate_waiting_##level,                                                                \
        pt_lanes_of_##level,                                                                      \
        pt_lanes_named_##level,                                                                   \
        pt_product_of_##level,                                                                    \
        pt_product_named_##level,                                                                 \
        pt_step_frame_##level,                                                                    \
        pt_step_slot_##level,                                                                     \
        pt_step_##level,                                                                          \
        pt_texture_sample_##level,                                                                \
        pt_isolate_check_##level,                                                                 \
        pt_observers_##level,                                                                     \
    };

#ifdef PT_HAVE_LEVEL_v2
ENGINE(v2, "v2")
#endif
#ifdef PT_HAVE_LEVEL_v3
ENGINE(v3, "v3")
#endif
#ifdef PT_HAVE_LEVEL_v4
ENGINE(v4, "v4")
#endif
#ifdef PT_HAVE_LEVEL_aarch64
ENGINE(aarch64, "aarch64")
#endif

/* Best first; NULL where the machine lacks what the level needs. */
static const struct pt_engine *engine_at(int rank)
{
    switch (rank) {
#ifdef PT_HAVE_LEVEL_v4
    case 0:
        return __builtin_cpu_supports("x86-64-v4") ? &engine_v4 : NULL;
#endif
#ifdef PT_HAVE_LEVEL_v3
    case 1:
        return __builtin_cpu_supports("x86-64-v3") ? &engine_v3 : NULL;
#endif
#ifdef PT_HAVE_LEVEL_v2
    case 2:
        return __builtin_cpu_supports("x86-64-v2") ? &engine_v2 : NULL;
#endif
#ifdef PT_HAVE_LEVEL_aarch64
    case 3:
        return &engine_aarch64;
#endif
    default:
        return NULL;
    }
}

const struct pt_engine *pt_interp(const char *level)
{
#if defined(__x86_64__)
    __builtin_cpu_init(); /* another library's constructor may call before our own */
#endif
    for (int rank = 0; rank < 4; rank++) {
        const struct pt_engine *engine = engine_at(rank);
        if (engine && (!level || strcmp(level, engine->name) == 0))
            return engine;
    }
    return NULL;
}

/* The linker gives the bounds of a section whose name is a C name. */
extern const char __start_pt_access[] __attribute__((visibility("hidden")));
extern const char __stop_pt_access[] __attribute__((visibility("hidden")));

bool pt_is_access_code(uintptr_t pc)
{
    return pc >= (uintptr_t)__start_pt_access && pc < (uintptr_t)__stop_pt_access;
}
