/* Images: the fatbinaries in tests/fatbin, which nvcc made (make.sh there), whole and damaged, and
 * wrappers around them. */
#include "frontend/fatbin.h"

#include <stdbool.h>
#include <stdlib.h>

#include "frontend/cubin.h"
#include "frontend/parse.h"
#include "ir/ir.h"
#include "tests/unit/check.h"

static struct pt_arena arena;
static jmp_buf oom;
static struct pt_image_text out;

struct file {
    uint8_t *data; /* of the exact size, so that a read past the end is seen */
    size_t bytes;
};

static struct file load(const char *name)
{
    static uint8_t buffer[1 << 16];
    char path[512];
    struct file f = {0};
    snprintf(path, sizeof path, "%s/tests/fatbin/%s", SOURCE_DIR, name);
    FILE *in = fopen(path, "rb");
    CHECK(in);
    if (!in)
        return f;
    f.bytes = fread(buffer, 1, sizeof buffer, in);
    fclose(in);
    f.data = malloc(f.bytes);
    memcpy(f.data, buffer, f.bytes);
    return f;
}

static enum pt_image_status read_file(const char *name, unsigned sm)
{
    struct file f = load(name);
    enum pt_image_status status =
        pt_image_read(f.data, f.bytes, sm, PT_IMAGE_JIT_ALLOWED, &arena, &out);
    if (status == PT_IMAGE_OK) /* it may lie in the image */
        out.text = pt_arena_text(&arena, out.text, out.len);
    free(f.data);
    return status;
}

static bool parses(const char *text, size_t len)
{
    struct pt_module m = {0};
    pt_arena_init(&m.arena, &pt_malloc_allocator);
    m.arena.oom = &oom;
    bool ok = pt_parse(&m, "image", text, len);
    pt_arena_free(&m.arena);
    return ok;
}

static void test_compressions(void)
{
    CHECK_INT(read_file("raw.fatbin", 75), PT_IMAGE_OK);
    const char *raw = out.text;
    CHECK_HAS(raw, ".entry fill(");
    CHECK(parses(raw, out.len));
    CHECK_INT(read_file("zstd.fatbin", 75), PT_IMAGE_OK);
    CHECK_TEXT(out.text, raw);
    CHECK_INT(read_file("lz4.fatbin", 75), PT_IMAGE_OK);
    CHECK_TEXT(out.text, raw);
    CHECK_INT(read_file("lineinfo.fatbin", 75), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".loc");
}

/* The newest that the device runs. */
static void test_choice(void)
{
    static const struct {
        unsigned sm;
        const char *target;
    } wants[] = {{75, "sm_75"}, {79, "sm_75"}, {80, "sm_80"}, {90, "sm_90"}, {121, "sm_100"}};
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        char line[32];
        CHECK_INT(read_file("several.fatbin", wants[i].sm), PT_IMAGE_OK);
        snprintf(line, sizeof line, ".target %s\n", wants[i].target);
        CHECK_HAS(out.text, line);
    }
    CHECK_INT(read_file("several.fatbin", 70), PT_IMAGE_NO_PTX);
    CHECK_HAS(out.message, "capability 7.0 inside, only PTX for sm_75, PTX for sm_80");
    CHECK_HAS(out.message, "code=compute_70; PTERA_COMPUTE_CAPABILITY=7.5 runs what is there");
    CHECK_INT(read_file("arch.fatbin", 90), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_90a\n");
    CHECK_INT(read_file("arch.fatbin", 100), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_90\n");
    CHECK_INT(read_file("family.fatbin", 103), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_100f\n");
    CHECK_INT(read_file("family.fatbin", 120), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_100\n");
}

static void test_no_ptx(void)
{
    CHECK_INT(read_file("machine.fatbin", 90), PT_IMAGE_NO_PTX);
    CHECK_TEXT(
        out.message,
        "no PTX for a device of compute capability 9.0 inside, only machine code for sm_75, "
        "machine code for sm_90; nvcc adds it with -gencode arch=compute_90,code=compute_90");
    CHECK(!out.is_later);
    CHECK_INT(read_file("lto.fatbin", 90), PT_IMAGE_NO_PTX);
    CHECK_HAS(out.message, "only LTO code for sm_90;");
    CHECK_INT(read_file("fill.cubin", 90), PT_IMAGE_NO_PTX);
    CHECK_TEXT(out.message, "the image is a cubin, machine code for sm_90, and holds no PTX");
}

/* Where a GPU would run machine code, and only there. */
static void test_later(void)
{
    CHECK_INT(read_file("later.fatbin", 90), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_100\n");
    CHECK(out.is_later);
    CHECK_INT(read_file("later.fatbin", 80), PT_IMAGE_NO_PTX);
    CHECK_INT(read_file("later.fatbin", 100), PT_IMAGE_OK);
    CHECK(!out.is_later);
}

/* Cut anywhere, and with any byte changed, a fatbinary gives a text or a message. */
static void test_damage(void)
{
    static const char *const names[] = {"zstd.fatbin", "lz4.fatbin", "raw.fatbin",
                                        "lineinfo.fatbin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct file f = load(names[i]);
        for (size_t n = 4; n < f.bytes; n++) {
            uint8_t *cut = malloc(n);
            memcpy(cut, f.data, n);
            CHECK_INT(pt_image_read(cut, n, 75, PT_IMAGE_JIT_ALLOWED, &arena, &out),
                      PT_IMAGE_INVALID);
            CHECK_TEXT(out.message, "the fatbinary is truncated or damaged");
            free(cut);
        }
        bool says = true;
        for (size_t n = 0; n < f.bytes; n++) {
            f.data[n] ^= 0xff;
            enum pt_image_status status =
                pt_image_read(f.data, f.bytes, 75, PT_IMAGE_JIT_ALLOWED, &arena, &out);
            says = says && (status == PT_IMAGE_OK ? out.len > 0 : out.message != NULL);
            f.data[n] ^= 0xff;
        }
        CHECK(says);
        free(f.data);
    }
}

static void test_texts(void)
{
    static const char text[] = "\n// x\n.version 8.0\n.target sm_80\n\0\0";
    CHECK_INT(pt_image_read(text, PT_IMAGE_UNSIZED, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_OK);
    CHECK_INT(out.len, strlen(text));
    CHECK_INT(pt_image_read(text, sizeof text, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_OK);
    CHECK_INT(out.len, strlen(text));
    CHECK_INT(pt_image_read("", PT_IMAGE_UNSIZED, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_INVALID);
    CHECK_TEXT(out.message, "the image is empty");
    CHECK_INT(pt_image_read("\177ELF", 4, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_INVALID);
    CHECK_TEXT(out.message, "the ELF image is truncated or damaged");
}

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *units;
};

static enum pt_image_status read_wrapper(struct wrapper w, unsigned sm)
{
    return pt_image_read(&w, PT_IMAGE_UNSIZED, sm, PT_IMAGE_JIT_ALLOWED, &arena, &out);
}

static void test_wrappers(void)
{
    struct file one = load("zstd.fatbin"), two = load("arch.fatbin"), none = load("machine.fatbin");
    const void *units[] = {one.data, two.data, none.data, NULL};
    CHECK_INT(read_wrapper((struct wrapper){0x466243b1, 1, one.data, NULL}, 90), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_75");
    CHECK_INT(read_wrapper((struct wrapper){0x466243b1, 1, none.data, NULL}, 90), PT_IMAGE_NO_PTX);
    CHECK_INT(read_wrapper((struct wrapper){0x466243b1, 2, none.data, units}, 90), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_75");
    CHECK_HAS(out.text + strlen(out.text) + 1, ".target sm_90a");
    CHECK_INT(read_wrapper((struct wrapper){0x466243b1, 2, none.data, units + 2}, 90),
              PT_IMAGE_NO_PTX);
    CHECK_HAS(out.message, "only machine code for sm_75");
    CHECK_INT(read_wrapper((struct wrapper){0x466243b1, 3, none.data, units}, 90),
              PT_IMAGE_INVALID);
    struct wrapper sized = {0x466243b1, 1, one.data, NULL};
    CHECK_INT(pt_image_read(&sized, sizeof sized, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_INVALID);
    CHECK_HAS(out.message, "wrapper");
    free(one.data);
    free(two.data);
    free(none.data);
}

static const void *write_cubin(const char *text, size_t len, unsigned sm, char feature,
                               size_t *bytes)
{
    return pt_cubin_write(
        &(struct pt_cubin){.text = text, .len = len, .sm = sm, .feature = feature}, &arena, bytes);
}

static void test_cubins(void)
{
    static const char text[] = ".version 8.0\0.version 8.1";
    size_t bytes;
    for (size_t n = 1; n < sizeof text; n++) {
        const void *cubin = write_cubin(text, n, 80, 0, &bytes);
        CHECK_INT(pt_image_read(cubin, bytes, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out), PT_IMAGE_OK);
        CHECK_INT(out.len, text[n - 1] ? n : n - 1);
        CHECK(!memcmp(out.text, text, out.len));
        CHECK_INT(pt_image_read(cubin, PT_IMAGE_UNSIZED, 75, PT_IMAGE_JIT_ALLOWED, &arena, &out),
                  PT_IMAGE_NO_PTX);
    }
    CHECK_HAS(out.message,
              "assembled for sm_80, which a device of compute capability 7.5 does not run");
    for (size_t n = 0; n < 3; n++) {
        const void *cubin = write_cubin("\0\0", n, 80, 0, &bytes);
        CHECK_INT(pt_image_read(cubin, bytes, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out),
                  PT_IMAGE_INVALID);
        CHECK_TEXT(out.message, "the PTX inside is empty");
    }
    const void *hopper = write_cubin(text, 12, 90, 'a', &bytes),
               *family = write_cubin(text, 12, 100, 'f', &bytes);
    CHECK_INT(pt_image_read(hopper, PT_IMAGE_UNSIZED, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_OK);
    CHECK_INT(pt_image_read(hopper, PT_IMAGE_UNSIZED, 100, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_NO_PTX);
    CHECK_INT(pt_image_read(family, PT_IMAGE_UNSIZED, 103, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_OK);
    CHECK_INT(pt_image_read(family, PT_IMAGE_UNSIZED, 120, PT_IMAGE_JIT_ALLOWED, &arena, &out),
              PT_IMAGE_NO_PTX);
}

/* Cut anywhere, and with any byte changed, a cubin gives a text or a message. */
static void test_damaged_cubins(void)
{
    size_t bytes;
    const uint8_t *whole = write_cubin(".version 8.0", 12, 90, 0, &bytes);
    bool says = true, is_cut = true;
    for (size_t n = 0; n < bytes; n++) {
        uint8_t *copy = malloc(bytes);
        memcpy(copy, whole, bytes);
        copy[n] ^= 0xff;
        enum pt_image_status status =
            pt_image_read(copy, bytes, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out);
        says = says && (status == PT_IMAGE_OK ? out.len > 0 : out.message != NULL);
        free(copy);
        copy = malloc(n ? n : 1);
        memcpy(copy, whole, n);
        is_cut = is_cut && (n < 4 || pt_image_read(copy, n, 90, PT_IMAGE_JIT_ALLOWED, &arena,
                                                   &out) != PT_IMAGE_OK);
        free(copy);
    }
    CHECK(says);
    CHECK(is_cut);
}

/* PTX entries go first; a cubin with PTX stands in for a missing one, packed or not. */
static void test_cubins_inside(void)
{
    CHECK_INT(read_file("cubin.fatbin", 90), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_90");
    CHECK_INT(read_file("cubin.fatbin", 80), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_80");
    CHECK_INT(read_file("cubin_zstd.fatbin", 90), PT_IMAGE_OK);
    CHECK_HAS(out.text, ".target sm_90");
    CHECK_INT(read_file("cubin.fatbin", 75), PT_IMAGE_NO_PTX);
    CHECK_HAS(out.message, "only machine code for sm_80, machine code for sm_90");
}

int main(void)
{
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    if (setjmp(oom)) {
        printf("out of memory\n");
        return 1;
    }
    test_compressions();
    test_choice();
    test_no_ptx();
    test_later();
    test_damage();
    test_texts();
    test_wrappers();
    test_cubins();
    test_damaged_cubins();
    test_cubins_inside();
    pt_arena_free(&arena);
    return CHECK_DONE("fatbin");
}
