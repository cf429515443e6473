/* Runs the surface group's cases on a GPU and appends what comes of each to a file.
 *
 *     surface_run FOLDER OUT [-h | -w] [FIRST]
 *
 * FOLDER holds surface.ptx and surface.txt of surface_gen.py. OUT gets a surface_result for each
 * case, then a hash (-h), or (-w) its lanes' words, four each, and the array's bytes. After a fault
 * it starts itself again behind that case. */
#include <cuda.h>
#include <unistd.h>

#include "surface_device.h"

static void go_on_behind(char **argv, int case_number)
{
    char next[16];
    fflush(stdout);
    snprintf(next, sizeof next, "%d", case_number + 1);
    execl(argv[0], argv[0], argv[1], argv[2], argv[3], next, NULL);
}

int main(int argc, char **argv)
{
    static uint32_t words[SURFACE_LANES * SURFACE_LANE_WORDS];
    static unsigned char bytes[SURFACE_BYTES];
    char path[4096];
    struct surface_case c;
    CUmodule module;
    int first = argc > 4 ? atoi(argv[4]) : 0;
    if (argc < 4 || !prepare(argv[1], &module))
        return 2;
    snprintf(path, sizeof path, "%s/surface.txt", argv[1]);
    FILE *cases = fopen(path, "r"), *to = fopen(argv[2], first ? "ab" : "wb");
    if (!cases || !to)
        return 2;
    int n = 0;
    for (; surface_case_read(cases, &c); n++) {
        if (n < first)
            continue;
        struct surface_result result = run_case(module, &c, words, bytes);
        uint64_t hash = surface_resource_hash(&c, &result, words, bytes);
        fwrite(&result, sizeof result, 1, to);
        if (argv[3][1] == 'h')
            fwrite(&hash, sizeof hash, 1, to);
        else {
            fwrite(words, 16, c.lanes, to);
            fwrite(bytes, 1, result.bytes, to);
        }
        if (result.launched && result.launched != CUDA_ERROR_NOT_FOUND) {
            printf("case %d, %s: error %u\n", n, c.kernel, result.launched);
            if (fclose(to) == 0)
                go_on_behind(argv, n);
            return 2;
        }
    }
    printf("%d cases\n", n);
    return fclose(to) != 0;
}
