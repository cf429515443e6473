/* Runs the tensor group and compares with what an H100 made of it.
 *
 *     golden_tensor FOLDER
 *
 * FOLDER holds an unpacked tensor.tar.xz: tensor.ptx and tensor.txt of tensor_gen.py, tensor.out of
 * tensor_run.c. Compared are which arguments of a tensor map are allowed, every bit of the map, and
 * every byte of tiles, tensors and changed maps; of kernels that fail, that they do so for the same
 * reason. */
#include <stdbool.h>
#include <stdlib.h>

#include "ptera.h"
#include "backend/semantics/tensormap_encode.h"
#include "tests/check/found.h"
#include "tools/conform/tensor_case.h"

enum { CUDA_ERROR_ILLEGAL_INSTRUCTION = 715, CUDA_ERROR_MISALIGNED_ADDRESS = 716 };

static ptera_engine *engine;
static ptera_module *module;
static uint8_t *tensor, *data, *args;
static unsigned n_found;

static bool encode(const struct tensor_case *c, uint64_t address, uint64_t *map)
{
    struct pt_tensormap_arguments a = {.type = c->type,
                                       .rank = c->rank,
                                       .address = address,
                                       .size = c->dims,
                                       .stride = c->strides,
                                       .step = c->steps,
                                       .interleave = c->interleave,
                                       .swizzle = c->swizzle,
                                       .l2 = c->l2,
                                       .fill = c->fill};
    if (c->im2col >= IM2COL_WIDE)
        return pt_tensormap_encode_im2col_wide(map, &a, c->lower[0], c->upper[0], c->channels,
                                               c->pixels, (uint32_t)(c->im2col - IM2COL_WIDE));
    return c->im2col
               ? pt_tensormap_encode_im2col(map, &a, c->lower, c->upper, c->channels, c->pixels)
               : pt_tensormap_encode_tiled(map, &a, c->box);
}

static ptera_result run(struct tensor_case *c, uint64_t *map)
{
    ptera_kernel *kernel;
    ptera_launch launch;
    ptera_result r = ptera_module_kernel(module, c->kernel, 0, &kernel);
    if (r != PTERA_OK)
        return r;
    ptera_launch_init(&launch);
    launch.timeout_seconds = 60;
    if (tensor_case_is_replace(c)) {
        memset(data, c->byte, 128);
        memcpy(args, &c->value, sizeof c->value);
        launch.parameters = (const void *[]){&args, &data};
        launch.n_parameters = 2;
        return ptera_kernel_launch(kernel, &launch);
    }
    uint8_t *address = tensor + c->shift;
    memcpy(&c->args[12], &address, sizeof address);
    memcpy(args, c->args, sizeof c->args);
    tensor_case_fill(tensor, TENSOR_BYTES, c->type, c->pattern, 0);
    tensor_case_fill(data, TENSOR_BYTES, c->type, c->pattern, 1 << 20);
    launch.block[0] = TENSOR_THREADS;
    launch.shared_bytes = TENSOR_SHARED;
    launch.parameters = (const void *[]){map, &args, &data};
    launch.n_parameters = 3;
    return ptera_kernel_launch(kernel, &launch);
}

static ptera_result result_of(uint32_t error)
{
    return error == CUDA_ERROR_ILLEGAL_INSTRUCTION  ? PTERA_ERROR_ILLEGAL_INSTRUCTION
           : error == CUDA_ERROR_MISALIGNED_ADDRESS ? PTERA_ERROR_MISALIGNED_ADDRESS
                                                    : PTERA_OK;
}

/* NULL: as on the H100. */
static const char *compare(struct tensor_case *c, const struct tensor_result *want,
                           const uint8_t *bytes, uint32_t *at)
{
    uint64_t map[16] = {0};
    if (!tensor_case_is_replace(c)) {
        bool is_allowed = encode(c, want->address, map);
        if (is_allowed != !want->encoded)
            return is_allowed ? "the map is refused there" : "the map is allowed there";
        if (is_allowed && memcmp(map, want->map, sizeof map))
            return "the map differs";
        if (tensor_case_is_encode(c) || !is_allowed)
            return NULL;
        encode(c, (uint64_t)(uintptr_t)tensor + c->shift, map);
    }
    if (run(c, map) != result_of(want->launched))
        return ptera_engine_error(engine);
    if (want->launched)
        found_skip(engine, &n_found); /* that it fails is what is found */
    if (found_print(engine, &n_found))
        return "there are findings";
    const uint8_t *got = tensor_case_is_load(c) || tensor_case_is_replace(c) ? data : tensor;
    for (*at = 0; *at < want->bytes; ++*at)
        if (got[*at] != bytes[*at])
            return "a byte differs";
    return NULL;
}

int main(int argc, char **argv)
{
    char path[4096], text[TENSOR_LINE];
    static struct tensor_case c;
    static uint8_t bytes[TENSOR_BYTES];
    struct tensor_result want;
    int passed = 0, failed = 0;
    if (argc != 2 || ptera_engine_create(NULL, &engine) != PTERA_OK)
        return 2;
    snprintf(path, sizeof path, "%s/tensor.ptx", argv[1]);
    if (ptera_module_load_file(engine, path, &module) != PTERA_OK ||
        ptera_buffer_alloc(engine, TENSOR_BYTES, (void **)&tensor) != PTERA_OK ||
        ptera_buffer_alloc(engine, TENSOR_BYTES, (void **)&data) != PTERA_OK ||
        ptera_buffer_alloc(engine, 4096, (void **)&args) != PTERA_OK) {
        printf("%s\n", ptera_engine_error(engine));
        return 2;
    }
    snprintf(path, sizeof path, "%s/tensor.txt", argv[1]);
    FILE *cases = fopen(path, "r");
    snprintf(path, sizeof path, "%s/tensor.out", argv[1]);
    FILE *results = fopen(path, "rb");
    if (!cases || !results)
        return 2;
    for (int line = 1; fgets(text, sizeof text, cases) && tensor_case_read(text, &c); line++) {
        uint32_t at = 0;
        bool is_read = fread(&want, sizeof want, 1, results) == 1 && want.bytes <= sizeof bytes &&
                       fread(bytes, 1, want.bytes, results) == want.bytes;
        const char *bad = is_read ? compare(&c, &want, bytes, &at) : "tensor.out ends";
        if (bad)
            printf("tensor.txt:%d: %s: %s (byte %u)\n", line, c.kernel, bad, at);
        passed += !bad;
        failed += bad != NULL;
    }
    fclose(cases);
    fclose(results);
    ptera_engine_destroy(engine);
    printf("golden_tensor: %d passed, %d failed, 0 skipped\n", passed, failed);
    return failed || !passed;
}
