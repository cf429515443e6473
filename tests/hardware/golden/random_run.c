/* Runs random kernels on an NVIDIA GPU: the maker of random.tar.xz.
 *
 *     cc -O2 -I ROOT random_run.c -ldl -o random_run      (ROOT: the top folder of the sources)
 *     ptera fuzz --show --seed 1 --count 1000 > FOLDER/kernels.ptx
 *     ./random_run FOLDER [PART PARTS] > FOLDER/digests.tsv
 *
 * For each kernel, or each whose number is PART modulo PARTS, a line: its number, and the digests
 * of both buffers, or "refused N" (the module does not load) or "fault N" (of the CUresult). Where
 * FOLDER/digests.tsv is there already, both buffers of kernels that differ from it go to
 * FOLDER/NUMBER.bin. Not part of the build: needs a GPU. */
#include "tests/hardware/golden/random_device.h"

/* The number's line in a list of digests; NULL: there is none. */
static const char *line_of(const char *list, unsigned number)
{
    for (const char *at = list; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strtoul(at, NULL, 10) == number)
            return at;
    return NULL;
}

static void keep_if_different(const char *folder, const char *list, const char *line,
                              unsigned number, const char *after, size_t bytes)
{
    char path[4096];
    const char *known = line_of(list, number);
    snprintf(path, sizeof path, "%s/%u.bin", folder, number);
    FILE *f = known && strncmp(known, line, strlen(line)) ? fopen(path, "wb") : NULL;
    if (f) {
        fwrite(after, 1, bytes, f);
        fclose(f);
    }
}

int main(int argc, char **argv)
{
    unsigned part = argc == 4 ? (unsigned)atoi(argv[2]) : 0,
             parts = argc == 4 ? (unsigned)atoi(argv[3]) : 1;
    char *text = argc > 1 ? random_read(argv[1], "kernels.ptx") : NULL,
         *list = text ? random_read(argv[1], "digests.tsv") : NULL;
    struct random_case c;
    if (!text) {
        fprintf(stderr, "usage: random_run FOLDER [PART PARTS], on a machine with an NVIDIA GPU\n");
        return 2;
    }
    random_open();
    for (unsigned number = 0; random_next(&text, &c); number++) {
        char line[80], *after = calloc(1, c.bytes[0] + c.bytes[1]);
        if (number % parts == part) {
            bool is_loaded;
            result r = random_on_device(&c, after, &is_loaded);
            snprintf(line, sizeof line, "%u\t%016llx\t%016llx\n", number,
                     (unsigned long long)random_digest(after, c.bytes[0]),
                     (unsigned long long)random_digest(after + c.bytes[0], c.bytes[1]));
            if (r)
                snprintf(line, sizeof line, "%u\t%s %d\n", number, is_loaded ? "fault" : "refused",
                         r);
            fputs(line, stdout);
            fflush(stdout);
            keep_if_different(argv[1], list, line, number, after, c.bytes[0] + c.bytes[1]);
            if (r && is_loaded)
                return 1;
        }
        free(after);
    }
    return 0;
}
