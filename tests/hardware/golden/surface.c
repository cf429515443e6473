/* Runs the surface group and compares with what an H100 made of it.
 *
 *     golden_surface FOLDER [STEP]
 *
 * FOLDER holds an unpacked surface.tar.xz: surface.ptx and surface.txt of surface_gen.py,
 * surface.out of surface_run.c. Compared are a hash of each case's words and texels, and which of
 * its calls fail. Textures that cannot be made yet are counted as skipped. STEP: only each so
 * manieth case. After a fault it starts itself again behind that case. */
#include <stdbool.h>
#include <unistd.h>

#include "runtime/cuda/abi.h"
#include "tests/hardware/golden/versions.h"
#include "tests/hardware/golden/surface_device.h"

struct counts {
    int first, passed, failed, skipped;
};

static void go_on_behind(char **argv, int step, const struct counts *n)
{
    char number[5][16];
    fflush(stdout);
    snprintf(number[0], sizeof number[0], "%d", step);
    snprintf(number[1], sizeof number[1], "%d", n->first);
    snprintf(number[2], sizeof number[2], "%d", n->passed);
    snprintf(number[3], sizeof number[3], "%d", n->failed);
    snprintf(number[4], sizeof number[4], "%d", n->skipped);
    execl(argv[0], argv[0], argv[1], number[0], number[1], number[2], number[3], number[4], NULL);
}

static bool run_all(char **argv, CUmodule module, FILE *cases, FILE *results, int step,
                    struct counts *n)
{
    static uint32_t words[SURFACE_LANES * SURFACE_LANE_WORDS];
    static unsigned char bytes[SURFACE_BYTES];
    struct surface_case c;
    struct surface_result want;
    uint64_t hash;
    for (int line = 1; surface_case_read(cases, &c); line++) {
        bool is_read = fread(&want, sizeof want, 1, results) == 1 &&
                       fread(&hash, sizeof hash, 1, results) == 1;
        if (line <= n->first || line % step || surface_case_is_undefined(&c))
            continue;
        struct surface_result have = run_case(module, &c, words, bytes);
        bool is_same = is_read && memcmp(&have, &want, sizeof have) == 0 &&
                       surface_resource_hash(&c, &have, words, bytes) == hash;
        bool is_missing = !is_same && have.object == CUDA_ERROR_NOT_SUPPORTED;
        if (!is_same && !is_missing)
            printf("surface.txt:%d: %s: differs (%u %u %u, wanted %u %u %u)\n", line, c.kernel,
                   have.created, have.object, have.launched, want.created, want.object,
                   want.launched);
        n->passed += is_same;
        n->failed += !is_same && !is_missing;
        n->skipped += is_missing;
        n->first = line;
        if (have.launched) {
            go_on_behind(argv, step, n);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    char path[4096];
    CUmodule module;
    int step = argc > 2 ? atoi(argv[2]) : 1;
    struct counts n = {0};
    if (argc > 6)
        n = (struct counts){atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), atoi(argv[6])};
    if (argc < 2 || step < 1 || !prepare(argv[1], &module))
        return 2;
    snprintf(path, sizeof path, "%s/surface.txt", argv[1]);
    FILE *cases = fopen(path, "r");
    snprintf(path, sizeof path, "%s/surface.out", argv[1]);
    FILE *results = fopen(path, "rb");
    if (!cases || !results || !run_all(argv, module, cases, results, step, &n))
        return 2;
    fclose(cases);
    fclose(results);
    printf("golden_surface: %d passed, %d failed, %d skipped\n", n.passed, n.failed, n.skipped);
    return n.failed || !n.passed;
}
