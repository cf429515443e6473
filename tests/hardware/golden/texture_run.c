/* Runs the texture group's cases on a GPU and writes what comes of each.
 *
 *     texture_run FOLDER OUT [-h]
 *
 * FOLDER holds texture.ptx and texture.txt of texture_gen.py. OUT gets a texture_result for each
 * case, then its lanes' words, four each; with -h a hash of them in their place. */
#include <cuda.h>

#include "texture_device.h"

int main(int argc, char **argv)
{
    static uint32_t words[MAX_LANES * LANE_WORDS];
    char path[4096];
    struct texture_case c;
    CUmodule module;
    int n = 0;
    if (argc < 3 || !prepare(argv[1], &module))
        return 2;
    snprintf(path, sizeof path, "%s/texture.txt", argv[1]);
    FILE *cases = fopen(path, "r"), *to = fopen(argv[2], "wb");
    if (!cases || !to)
        return 2;
    for (; texture_case_read(cases, &c); n++) {
        struct texture_result result = run_case(module, &c, words);
        uint64_t hash = hash_words(&c, words);
        fwrite(&result, sizeof result, 1, to);
        if (argc > 3)
            fwrite(&hash, sizeof hash, 1, to);
        else
            fwrite(words, 16, c.lanes, to);
    }
    printf("%d cases\n", n);
    return fclose(to) != 0;
}
