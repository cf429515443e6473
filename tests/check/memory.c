/* What the checker of races remembers takes at most 8 bytes for each byte that a kernel touches,
 * whatever the order: words of all pages in turn, so that every page becomes cells while others
 * still have lines; and so that one page of six stays lines. */
#include "tests/api/support.h"

enum { WORDS = 1 << 17, BLOCK = 256, LIMIT = 8 };

struct meter {
    size_t now, peak;
};

/* Blocks have their size in front of them. */
static void *resize(void *ud, void *p, size_t bytes)
{
    enum { HEAD = 16 };
    struct meter *m = ud;
    char *block = p ? (char *)p - HEAD : NULL;
    size_t old = block ? *(size_t *)(void *)block : 0;
    char *q = bytes ? realloc(block, bytes + HEAD) : NULL;
    if (!bytes)
        free(block);
    if (bytes && !q)
        return NULL;
    m->now += bytes - old;
    m->peak = m->now > m->peak ? m->now : m->peak;
    if (!q)
        return NULL;
    *(size_t *)(void *)q = bytes;
    return q + HEAD;
}

/* Thread i reads word i * odd; of each page of six, where it is asked for, only the first. */
static const char text[] =
    HEADER ".visible .entry scatter(.param .u64 a, .param .u32 mask, .param .u32 keep)\n{\n"
           "    .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<3>;\n"
           "    ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [mask]; ld.param.u32 %r2, [keep];\n"
           "    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
           "    mad.lo.u32 %r6, %r3, %r4, %r5;\n"
           "    mul.lo.u32 %r6, %r6, 2654435761; and.b32 %r6, %r6, %r1;\n"
           "    shr.u32 %r7, %r6, 10; rem.u32 %r7, %r7, 6; setp.eq.u32 %p1, %r7, 0;\n"
           "    setp.ne.and.u32 %p2, %r2, 0, %p1; and.b32 %r8, %r6, 0xfffffc00;\n"
           "    selp.u32 %r6, %r8, %r6, %p2;\n"
           "    mul.wide.u32 %rd2, %r6, 4; add.s64 %rd1, %rd1, %rd2;\n"
           "    ld.volatile.global.u32 %r9, [%rd1]; ret;\n}\n";

/* Bytes that the launch of so many threads takes at most. */
static size_t peak_of(const char *observe, uint32_t words, uint32_t keep)
{
    struct meter m = {0};
    uint32_t mask = words - 1;
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.threads = 1;
    options.observe = observe;
    options.resize = resize;
    options.resize_ud = &m;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
    void *buffer = new_buffer(engine, (size_t)words * 4);
    memset(buffer, 0, (size_t)words * 4);
    ptera_module *module = load(engine, text);
    CHECK_INT(LAUNCH(kernel_of(module, "scatter"), words / BLOCK, BLOCK, &buffer, &mask, &keep),
              PTERA_OK);
    ptera_engine_destroy(engine);
    CHECK_INT(m.now, 0);
    return m.peak;
}

int main(void)
{
    for (uint32_t keep = 0; keep < 2; keep++) {
        size_t small = peak_of("race", WORDS, keep), large = peak_of("race", 2 * WORDS, keep);
        size_t none = peak_of(NULL, 2 * WORDS, keep) - peak_of(NULL, WORDS, keep);
        size_t bytes = large - small - none;
        printf("%.3f bytes a byte\n", (double)bytes / (4.0 * WORDS));
        CHECK(bytes > (size_t)4 * WORDS && bytes <= (size_t)LIMIT * 4 * WORDS);
    }
    return CHECK_DONE("memory");
}
