/* Feeds the files of folders to a fuzz target, as other builds' tests: replay_NAME FOLDER... */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1 << 20 };

static int replay_file(const char *folder, const char *name)
{
    static uint8_t bytes[BYTES_MAX];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, n);
    return 1;
}

static int replay_folder(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] != '.')
            n += replay_file(folder, d->d_name);
    if (dir)
        closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');
    int n = 0;
    for (int i = 1; i < argc; i++)
        n += replay_folder(argv[i]);
    printf("%s: %d passed, %d failed, 0 skipped\n", name ? name + 1 : argv[0], n, !n);
    return !n;
}
