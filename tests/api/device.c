/* The device that an engine stands for: by option, by the environment; what its limits refuse. */
#include "tests/api/support.h"

static const char text[] =
    HEADER ".extern .shared .align 16 .b8 room[];\n"
           ".visible .entry empty() { ret; }\n"
           ".visible .entry two() .reqnctapercluster 2 { ret; }\n"
           ".visible .entry sizes(.param .u64 to)\n{\n    .reg .b64 %rd; .reg .b32 %r<3>;\n"
           "    ld.param.u64 %rd, [to]; mov.u32 %r1, %nsmid; mov.u32 %r2, %nwarpid;\n"
           "    st.global.u32 [%rd], %r1; st.global.u32 [%rd+4], %r2;\n    ret;\n}\n";

static ptera_result create(const char *device, ptera_engine **engine)
{
    ptera_options options;
    ptera_options_init(&options);
    options.threads = 2;
    options.device = device;
    return ptera_engine_create(&options, engine);
}

static ptera_info info_of(const ptera_engine *engine)
{
    ptera_info info = {.size = sizeof info};
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    return info;
}

/* A launch with so much shared memory. */
static ptera_result launch(ptera_module *module, size_t shared, unsigned grid, unsigned block,
                           int cooperative)
{
    ptera_launch l;
    ptera_launch_init(&l);
    l.grid[0] = grid;
    l.block[0] = block;
    l.shared_bytes = (unsigned)shared;
    l.cooperative = cooperative;
    return ptera_kernel_launch(kernel_of(module, "empty"), &l);
}

/* What a kernel reads of it, in both engines. */
static void check_registers(ptera_engine *engine, ptera_module *module, unsigned sms)
{
    const ptera_backend backends[] = {PTERA_BACKEND_INTERP, best_backend(engine)};
    uint32_t *to = new_buffer(engine, 8);
    ptera_launch l;
    ptera_launch_init(&l);
    l.parameters = (const void *const[]){&to};
    l.n_parameters = 1;
    for (int i = 0; i < 2; i++) {
        l.backend = backends[i];
        to[0] = to[1] = 0;
        CHECK_INT(ptera_kernel_launch(kernel_of(module, "sizes"), &l), PTERA_OK);
        CHECK_INT(to[0], sms);
        CHECK(to[1] == 32 || to[1] == 48 || to[1] == 64);
    }
}

static void check_all(void)
{
    ptera_device d = {.size = sizeof d};
    unsigned n = 0;
    for (; ptera_device_get(n, &d) == PTERA_OK; n++) {
        ptera_engine *engine = NULL;
        CHECK_INT(create(d.id, &engine), PTERA_OK);
        ptera_info info = info_of(engine);
        CHECK_TEXT(info.device, d.id);
        CHECK_INT(info.compute_capability_major, d.compute_capability_major);
        CHECK_INT(info.compute_capability_minor, d.compute_capability_minor);
        CHECK(d.name && *d.name && d.multiprocessors && d.memory_bytes >= (size_t)2 << 30);
        CHECK(d.clock_khz && d.memory_clock_khz && d.memory_bus_bits);
        int is_old = d.compute_capability_major < 7; /* an SM has room for two of the largest */
        unsigned most = is_old ? 2 * d.multiprocessors : d.multiprocessors;
        CHECK(d.block_registers == 65536 || (is_old && d.block_registers == 32768));
        ptera_module *module = load(engine, text);
        CHECK_INT(launch(module, d.shared_bytes, 1, 32, 0), PTERA_OK);
        CHECK_INT(launch(module, d.shared_bytes + 1024, 1, 32, 0), PTERA_ERROR_INVALID_LAUNCH);
        CHECK_HAS(ptera_engine_error(engine), "of dynamic shared memory, a CTA has");
        CHECK_INT(launch(module, d.shared_bytes, d.multiprocessors, 32, 1), PTERA_OK);
        CHECK_INT(launch(module, d.shared_bytes, most + 1, 32, 1), PTERA_ERROR_INVALID_LAUNCH);
        CHECK_HAS(ptera_engine_error(engine), "in a cooperative launch");
        check_registers(engine, module, d.multiprocessors);
        ptera_engine_destroy(engine);
    }
    CHECK(n >= 7);
    CHECK_INT(ptera_device_get(n, &d), PTERA_ERROR_NOT_FOUND);
    CHECK_INT(ptera_device_get(0, NULL), PTERA_ERROR_INVALID_ARGUMENT);
}

/* One launch, three devices. */
static void check_fits(void)
{
    static const struct {
        const char *device;
        ptera_result shared, cluster; /* 150 KiB of shared memory; a kernel of clusters */
    } table[] = {{"h100", PTERA_OK, PTERA_OK},
                 {"A100", PTERA_OK, PTERA_ERROR_INVALID_LAUNCH},
                 {"RTX 4090", PTERA_ERROR_INVALID_LAUNCH, PTERA_ERROR_INVALID_LAUNCH},
                 {"rtx-5090", PTERA_ERROR_INVALID_LAUNCH, PTERA_OK}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ptera_engine *engine = NULL;
        ptera_launch l;
        CHECK_INT(create(table[i].device, &engine), PTERA_OK);
        ptera_module *module = load(engine, text);
        CHECK_INT(launch(module, 150 << 10, 1, 32, 0), table[i].shared);
        ptera_launch_init(&l);
        l.grid[0] = 2;
        CHECK_INT(ptera_kernel_launch(kernel_of(module, "two"), &l), table[i].cluster);
        if (table[i].cluster != PTERA_OK)
            CHECK_HAS(ptera_engine_error(engine), "has no clusters");
        ptera_engine_destroy(engine);
    }
}

static char told[512];

static void take(void *ud, ptera_severity severity, const char *line)
{
    (void)ud;
    CHECK_INT(severity, PTERA_ERROR);
    snprintf(told, sizeof told, "%s", line);
}

static void check_refused(const char *device, const char *why)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.device = device;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_ERROR_INVALID_ARGUMENT);
    options.log = take;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_ERROR_INVALID_ARGUMENT);
    CHECK(!engine);
    CHECK_HAS(told, why);
}

static void check_environment_is(const char *device, const char *capability, const char *want)
{
    ptera_engine *engine = NULL;
    setenv("PTERA_DEVICE", device, 1);
    setenv("PTERA_COMPUTE_CAPABILITY", capability, 1);
    CHECK_INT(create(NULL, &engine), PTERA_OK);
    CHECK_TEXT(info_of(engine).device, want);
    ptera_engine_destroy(engine);
}

static void check_environment(void)
{
    ptera_engine *engine = NULL;
    check_environment_is("", "", "h200");
    check_environment_is("", "8.9", "l40s");
    check_environment_is("l4", "", "l4");
    check_environment_is("b200", "10.0", "b200");
    CHECK_INT(create("h100", &engine), PTERA_OK); /* the option is nearer */
    CHECK_TEXT(info_of(engine).device, "h100");
    ptera_engine_destroy(engine);
    check_refused("h101", "PTERA_DEVICE: there is no 'h101', but k40");
    check_refused("", "rtx5090");
    setenv("PTERA_DEVICE", "gtx480", 1);
    check_refused(NULL, "there is no 'gtx480', but k40");
    setenv("PTERA_DEVICE", "a100", 1);
    check_refused(NULL, "a100 has compute capability 8.0, PTERA_COMPUTE_CAPABILITY says 10.0");
    setenv("PTERA_DEVICE", "", 1);
    setenv("PTERA_COMPUTE_CAPABILITY", "6.1x", 1);
    check_refused(NULL, "PTERA_COMPUTE_CAPABILITY: no device has '6.1x'");
}

int main(void)
{
    unsetenv("PTERA_DEVICE");
    unsetenv("PTERA_COMPUTE_CAPABILITY");
    check_all();
    check_fits();
    check_environment();
    return CHECK_DONE("api_device");
}
