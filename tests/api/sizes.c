/* Structs of another version than the library's: an older program's are smaller, a newer program's
 * larger. */
#include <stdbool.h>

#include "tests/api/support.h"

/* A struct of ptera.h with room behind it, as a newer program has it: OLD bytes of it are an older
 * program's. */
#define WITH_ROOM(type)           \
    union {                       \
        type ours;                \
        size_t size;              \
        unsigned char bytes[512]; \
    }

static bool all_are(const unsigned char *bytes, size_t from, size_t to, unsigned char value)
{
    for (size_t i = from; i < to; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* ---- what the library reads ------------------------------------------------------------------ */

/* The defaults are written as far as the program's struct goes, and no farther. */
static void check_init(void)
{
    enum {
        OLD_OPTIONS = offsetof(ptera_options, heap_bytes),
        OLD_LAUNCH = offsetof(ptera_launch, cluster)
    };
    WITH_ROOM(ptera_options) options;
    WITH_ROOM(ptera_launch) launch;
    memset(&options, 0x55, sizeof options);
    memset(&launch, 0x55, sizeof launch);
    ptera_options_init_sized(&options.ours, OLD_OPTIONS);
    ptera_launch_init_sized(&launch.ours, OLD_LAUNCH);
    CHECK_INT(options.size, OLD_OPTIONS);
    CHECK_INT(options.ours.fmad, 1);
    CHECK_INT(options.ours.stack_bytes, 65536);
    CHECK(all_are(options.bytes, OLD_OPTIONS, sizeof options, 0x55));
    CHECK_INT(launch.size, OLD_LAUNCH);
    CHECK(launch.ours.grid[2] == 1 && launch.ours.block[2] == 1);
    CHECK(all_are(launch.bytes, OLD_LAUNCH, sizeof launch, 0x55));
    ptera_options_init_sized(&options.ours, sizeof options);
    ptera_launch_init_sized(&launch.ours, sizeof launch);
    CHECK_INT(options.size, sizeof options);
    CHECK_INT(options.ours.heap_bytes, 8 << 20);
    CHECK(all_are(options.bytes, sizeof options.ours, sizeof options, 0));
    CHECK_INT(launch.size, sizeof launch);
    CHECK(all_are(launch.bytes, sizeof launch.ours, sizeof launch, 0));
    memset(&launch, 0x55, sizeof launch);
    ptera_launch_init_sized(&launch.ours, sizeof launch.size - 1);
    ptera_options_init_sized(NULL, sizeof options);
    ptera_launch_init_sized(NULL, sizeof launch);
    CHECK(all_are(launch.bytes, 0, sizeof launch, 0x55));
}

static ptera_result create(const ptera_options *options, unsigned *threads)
{
    ptera_engine *engine = NULL;
    ptera_info info = {.size = sizeof info};
    ptera_result result = ptera_engine_create(options, &engine);
    CHECK((result == PTERA_OK) == (engine != NULL));
    if (engine)
        CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    *threads = info.threads;
    ptera_engine_destroy(engine);
    return result;
}

static void check_options(void)
{
    WITH_ROOM(ptera_options) options;
    unsigned threads;
    ptera_options_init_sized(&options.ours, sizeof options);
    options.ours.threads = 2;
    CHECK_INT(create(&options.ours, &threads), PTERA_OK);
    CHECK_INT(threads, 2);
    options.bytes[sizeof options.ours] = 1; /* what this library does not know is asked for */
    CHECK_INT(create(&options.ours, &threads), PTERA_ERROR_INVALID_ARGUMENT);
    options.size = sizeof options.ours;
    CHECK_INT(create(&options.ours, &threads), PTERA_OK);
    options.size = offsetof(ptera_options, cpu); /* what lies behind is not looked at */
    memset(options.bytes + options.size, 0x55, sizeof options - options.size);
    CHECK_INT(create(&options.ours, &threads), PTERA_OK);
    CHECK_INT(threads, 2);
    options.size = sizeof options.size - 1;
    CHECK_INT(create(&options.ours, &threads), PTERA_ERROR_INVALID_ARGUMENT);
    options.size = SIZE_MAX;
    CHECK_INT(create(&options.ours, &threads), PTERA_ERROR_INVALID_ARGUMENT);
}

static void check_launch(ptera_kernel *kernel)
{
    unsigned word = 0, *p = &word;
    WITH_ROOM(ptera_launch) launch;
    ptera_launch_init_sized(&launch.ours, sizeof launch);
    launch.ours.parameters = (const void *const[]){&p};
    launch.ours.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel, &launch.ours), PTERA_OK);
    CHECK_INT(word, 1);
    launch.bytes[sizeof launch - 1] = 1;
    CHECK_INT(ptera_kernel_launch(kernel, &launch.ours), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK_INT(ptera_kernel_launch_async(kernel, &launch.ours, NULL, NULL),
              PTERA_ERROR_INVALID_ARGUMENT);
    launch.size = offsetof(ptera_launch, parameter_block);
    memset(launch.bytes + launch.size, 0x55, sizeof launch - launch.size);
    CHECK_INT(ptera_kernel_launch(kernel, &launch.ours), PTERA_OK);
    CHECK_INT(word, 2);
    launch.size = 0;
    CHECK_INT(ptera_kernel_launch(kernel, &launch.ours), PTERA_ERROR_INVALID_ARGUMENT);
    launch.size = SIZE_MAX;
    CHECK_INT(ptera_kernel_launch(kernel, &launch.ours), PTERA_ERROR_INVALID_ARGUMENT);
}

/* ---- what the library writes ----------------------------------------------------------------- */

/* CALL fills `s`: an older program's up to MEMBER, a newer program's, and one whose size is
 * none. */
#define CHECK_GIVEN(type, member, call)                                                    \
    do {                                                                                   \
        WITH_ROOM(type) s;                                                                 \
        enum { OLD = offsetof(type, member) };                                             \
        memset(&s, 0x55, sizeof s);                                                        \
        s.size = OLD;                                                                      \
        CHECK_INT(call, PTERA_OK);                                                         \
        CHECK_INT(s.size, OLD);                                                            \
        CHECK(all_are(s.bytes, OLD, sizeof s, 0x55));                                      \
        CHECK(!all_are(s.bytes, sizeof s.size, OLD, 0x55));                                \
        s.size = sizeof s;                                                                 \
        CHECK_INT(call, PTERA_OK);                                                         \
        CHECK_INT(s.size, sizeof s);                                                       \
        CHECK(!all_are(s.bytes, OLD, sizeof s.ours, 0x55));                                \
        CHECK(all_are(s.bytes, sizeof s.ours, sizeof s, 0x55));                            \
        s.size = sizeof s.size - 1;                                                        \
        CHECK_INT(call, PTERA_ERROR_INVALID_ARGUMENT);                                     \
    } while (0)

static void check_given(ptera_engine *engine, ptera_kernel *kernel)
{
    static const char bad[] = HEADER ".visible .entry k()\n{\n    nothing;\n}\n";
    ptera_module *module = NULL;
    CHECK_INT(ptera_module_load(engine, "bad.ptx", bad, strlen(bad), &module),
              PTERA_ERROR_INVALID_PTX);
    CHECK_GIVEN(ptera_info, threads, ptera_engine_info(engine, &s.ours));
    CHECK_GIVEN(ptera_isa_row, chapter, ptera_isa_row_get(0, &s.ours));
    CHECK_GIVEN(ptera_diagnostic, message, ptera_module_diagnostic(module, 0, &s.ours));
    CHECK_GIVEN(ptera_module_properties, target_feature,
                ptera_module_properties_get(module, &s.ours));
    CHECK_GIVEN(ptera_parameter, offset, ptera_kernel_parameter(kernel, 0, &s.ours));
    CHECK_GIVEN(ptera_kernel_properties, max_threads, ptera_kernel_properties_get(kernel, &s.ours));
    CHECK_GIVEN(ptera_kernel_status, versions, ptera_kernel_info(kernel, &s.ours));
}

int main(void)
{
    static const char text[] = HEADER ".visible .entry k(.param .u64 p)\n{\n    .reg .b64 %rd;\n"
                                      "    ld.param.u64 %rd, [p];\n    red.add.u32 [%rd], 1;\n"
                                      "    ret;\n}\n";
    ptera_engine *engine = new_engine(1);
    ptera_kernel *kernel = kernel_of(load(engine, text), "k");
    check_init();
    check_options();
    check_launch(kernel);
    check_given(engine, kernel);
    ptera_engine_destroy(engine);
    return CHECK_DONE("sizes");
}
