/* Runs random kernels and compares with what an H100 made of them.
 *
 *     golden_random FOLDER [--every N]     compares, every N-th kernel
 *     golden_random FOLDER --print         prints digests as random_run.c does
 *
 * FOLDER holds an unpacked random.tar.xz: kernels.ptx (random_case.h) and digests.tsv. */
#include "tests/check/found.h"
#include "tests/hardware/golden/random_engine.h"

static ptera_result run(ptera_engine *engine, const struct random_case *c, uint64_t digest[2])
{
    void *buffer[2] = {NULL, NULL};
    ptera_result r = random_run_on(engine, c, buffer);
    for (int i = 0; i < 2; i++) {
        digest[i] = r == PTERA_OK ? random_digest(buffer[i], c->bytes[i]) : 0;
        ptera_buffer_free(engine, buffer[i]);
    }
    return r;
}

/* The next line of digests.tsv; false: there is none for this kernel. */
static bool next_digests(char **list, unsigned number, unsigned long long digest[2])
{
    unsigned found;
    bool ok = *list && sscanf(*list, "%u\t%llx\t%llx", &found, &digest[0], &digest[1]) == 3 &&
              found == number;
    *list = *list ? strchr(*list, '\n') : NULL;
    *list += *list != NULL;
    return ok;
}

int main(int argc, char **argv)
{
    bool prints = argc > 2 && !strcmp(argv[2], "--print");
    unsigned every = argc > 3 && !strcmp(argv[2], "--every") ? (unsigned)atoi(argv[3]) : 1;
    char *kernels = argc > 1 ? random_read(argv[1], "kernels.ptx") : NULL, *text = kernels;
    char *digests = text && !prints ? random_read(argv[1], "digests.tsv") : NULL, *list = digests;
    struct random_case c;
    ptera_engine *engine;
    unsigned passed = 0, failed = 0, number = 0;
    if (!text || !every || ptera_engine_create(NULL, &engine) != PTERA_OK) {
        fprintf(stderr, "usage: golden_random FOLDER [--every N | --print]\n");
        return 2;
    }
    for (; random_next(&text, &c); number++) {
        uint64_t digest[2];
        unsigned long long expected[2];
        bool is_listed = !prints && next_digests(&list, number, expected);
        if (number % every)
            continue;
        ptera_result r = run(engine, &c, digest);
        if (prints && r == PTERA_OK) {
            printf("%u\t%016llx\t%016llx\n", number, (unsigned long long)digest[0],
                   (unsigned long long)digest[1]);
            continue;
        }
        bool is_good =
            r == PTERA_OK && is_listed && digest[0] == expected[0] && digest[1] == expected[1];
        passed += is_good;
        failed += !is_good;
        if (r != PTERA_OK)
            fprintf(stderr, "kernel %u: %s\n%s\n", number, ptera_result_text(r),
                    ptera_engine_error(engine));
        else if (!is_good)
            printf("FAILED kernel %u: %s\n", number,
                   is_listed ? "other bytes than an H100's" : "it is not in digests.tsv");
    }
    failed += found_print(engine, &(unsigned){0});
    ptera_engine_destroy(engine);
    free(kernels);
    free(digests);
    if (!prints)
        printf("golden_random: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed || !number;
}
