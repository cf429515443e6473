/* Objects as they lie in the cache, damaged in every byte and cut off everywhere:
 * tests/fuzz/object.c looks at each. */
#include <stdlib.h>

#include "tests/fuzz/object.c"
#include "tests/unit/check.h"

static uint8_t bytes[1 << 16];

static size_t read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    CHECK(n > 64 && n < sizeof bytes);
    return n;
}

static bool is_sound(size_t n)
{
    return jit_object_is_sound(&(struct jit_object){.bytes = bytes, .size = n});
}

static void check_damage(size_t n)
{
    static const uint8_t others[] = {0x00, 0xff};
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = bytes[i];
        for (size_t k = 0; k < sizeof others; k++) {
            bytes[i] = others[k];
            LLVMFuzzerTestOneInput(bytes, n);
        }
        bytes[i] = byte;
    }
}

static void check_file(const char *path)
{
    size_t n = read_file(path);
    CHECK(is_sound(n));
    LLVMFuzzerTestOneInput(bytes, n);
    check_damage(n);
    for (size_t cut = 0; cut < n; cut++) {
        LLVMFuzzerTestOneInput(bytes, cut);
        if (cut < sizeof(uint64_t) * 8)
            CHECK(!is_sound(cut));
    }
    CHECK(!is_sound(n - 64)); /* section headers stand at the end */
}

int main(void)
{
    check_file(SOURCE_DIR "/tests/fuzz/corpus/object/saxpy.o");
    check_file(SOURCE_DIR "/tests/fuzz/corpus/object/calls.o");
    return CHECK_DONE("object");
}
