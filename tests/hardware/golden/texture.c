/* Runs the texture group and compares with what an H100 made of it.
 *
 *     golden_texture FOLDER [STEP]
 *
 * FOLDER holds an unpacked texture.tar.xz: texture.ptx and texture.txt of texture_gen.py,
 * texture.out of texture_run.c. Compared are a hash of each case's words and which of its calls
 * fail. What is not there yet, by CUDA_ERROR_NOT_SUPPORTED, is counted as skipped. STEP: only each
 * so manieth case. */
#include <stdbool.h>

#include "runtime/cuda/abi.h"
#define cuArray3DCreate cuArray3DCreate_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemcpy3D cuMemcpy3D_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemsetD8 cuMemsetD8_v2
#include "tests/hardware/golden/texture_device.h"

static bool is_missing(const struct texture_result *r)
{
    return r->created == CUDA_ERROR_NOT_SUPPORTED || r->object == CUDA_ERROR_NOT_SUPPORTED ||
           r->launched == CUDA_ERROR_NOT_SUPPORTED;
}

int main(int argc, char **argv)
{
    static uint32_t words[MAX_LANES * LANE_WORDS];
    char path[4096];
    struct texture_case c;
    struct texture_result want;
    CUmodule module;
    uint64_t hash;
    int passed = 0, failed = 0, skipped = 0, step = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2 || step < 1 || !prepare(argv[1], &module))
        return 2;
    snprintf(path, sizeof path, "%s/texture.txt", argv[1]);
    FILE *cases = fopen(path, "r");
    snprintf(path, sizeof path, "%s/texture.out", argv[1]);
    FILE *results = fopen(path, "rb");
    if (!cases || !results)
        return 2;
    for (int line = 1; texture_case_read(cases, &c); line++) {
        bool is_read = fread(&want, sizeof want, 1, results) == 1 &&
                       fread(&hash, sizeof hash, 1, results) == 1;
        if (line % step)
            continue;
        struct texture_result have = run_case(module, &c, words);
        bool is_same = is_read && have.created == want.created && have.object == want.object &&
                       have.launched == want.launched && hash_words(&c, words) == hash;
        if (!is_same && !is_missing(&have))
            printf("texture.txt:%d: %s: differs (%u %u %u)\n", line, c.kernel, have.created,
                   have.object, have.launched);
        passed += is_same;
        skipped += !is_same && is_missing(&have);
        failed += !is_same && !is_missing(&have);
    }
    fclose(cases);
    fclose(results);
    printf("golden_texture: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed || !passed;
}
