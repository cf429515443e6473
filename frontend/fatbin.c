/* Fatbinaries. The format is not documented; it was found by looking at what nvcc 13 writes
 * under each of its options. */
#include "frontend/fatbin.h"

#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef PT_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef PT_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "frontend/cubin.h"
#include "frontend/device_runtime.h"
#include "frontend/link_text.h"

enum {
    WRAPPER_MAGIC = 0x466243b1,
    KIND_PTX = 1,
    KIND_ELF = 2,
    KIND_LTO = 8,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCH = 0x100000,   /* sm_90a */
    FLAG_FAMILY = 0x200000, /* sm_100f */
    MAX_UNITS = 1 << 16
};
static const uint32_t fatbin_magic = 0xba55ed50;

/* What __cudaRegisterFatBinary and cuModuleLoadData get from a program. */
struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *units; /* version 2: a fatbinary for each source file, up to NULL */
};

struct header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries, which follow */
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* of the payload, which follows; padding included */
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name, name_len; /* offset in the entry */
    uint64_t flags, hash, plain_bytes;
};
_Static_assert(sizeof(struct header) == PT_FATBIN_HEADER && sizeof(struct entry) == 64,
               "as nvcc writes them");

struct reader {
    unsigned sm;
    enum pt_image_jit jit;
    struct pt_arena *arena;
    struct pt_image_text *out;
};

struct candidate {
    const uint8_t *at;  /* an entry, or NULL */
    struct entry entry; /* a copy of it */
};

/* What a fatbinary has. */
struct found {
    struct candidate ptx;   /* the entry to take */
    struct candidate cubin; /* without one, this may hold PTX (cubin.h) */
    struct candidate later; /* of plain PTX for later devices, the earliest */
    char others[256];       /* what does not run here: "machine code for sm_75, PTX for sm_100" */
    bool has_machine_code;  /* that the device would run */
    unsigned newer;         /* the oldest of newer devices that run PTX inside, or 0 */
};

__attribute__((format(printf, 3, 4))) static enum pt_image_status
fail(struct reader *r, enum pt_image_status status, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t len = (size_t)n < sizeof message ? (size_t)n : sizeof message - 1;
    r->out->message = pt_arena_text(r->arena, message, len);
    return status;
}

static enum pt_image_status fail_truncated(struct reader *r)
{
    return fail(r, PT_IMAGE_INVALID, "the fatbinary is truncated or damaged");
}

static const char jit_disabled[] =
    "PTX alone is not taken while CUDA_DISABLE_PTX_JIT is set, and there is no machine code for "
    "the device";

/* ---- choosing an entry ----------------------------------------------------------------------- */

/* Does the device run PTX for an architecture? */
static bool runs(const struct reader *r, unsigned arch, char feature)
{
    return feature == 'a'   ? arch == r->sm
           : feature == 'f' ? arch <= r->sm && arch / 10 == r->sm / 10
                            : arch <= r->sm;
}

static char feature_of(const struct entry *e)
{
    return e->flags & FLAG_ARCH ? 'a' : e->flags & FLAG_FAMILY ? 'f' : 0;
}

static unsigned rank(const struct entry *e)
{
    return e->arch * 4 + (e->flags & FLAG_ARCH ? 2 : e->flags & FLAG_FAMILY ? 1 : 0);
}

static void consider(struct candidate *c, const uint8_t *at, const struct entry *e)
{
    if (!c->at || rank(e) > rank(&c->entry))
        *c = (struct candidate){at, *e};
}

static void note_other(struct found *f, const struct entry *e)
{
    const char *kind = e->kind == KIND_PTX   ? "PTX for"
                       : e->kind == KIND_ELF ? "machine code for"
                       : e->kind == KIND_LTO ? "LTO code for"
                                             : "unknown code for";
    const char feature[2] = {feature_of(e), 0};
    static const char more[] = ", ...";
    /* what does not fit is told by `more` */
    size_t n = strlen(f->others), room = sizeof f->others - sizeof more;
    char text[64];
    snprintf(text, sizeof text, "%s%s sm_%u%s", n ? ", " : "", kind, e->arch, feature);
    if (n + strlen(text) <= room)
        strcpy(f->others + n, text);
    else if (n <= room && (n < sizeof more || strcmp(f->others + n - (sizeof more - 1), more)))
        strcpy(f->others + n, more);
}

static enum pt_image_status look_at(struct reader *r, const uint8_t *fatbin, size_t bytes,
                                    struct found *f)
{
    struct header h;
    memset(f, 0, sizeof *f);
    if (bytes < sizeof h)
        return fail_truncated(r);
    memcpy(&h, fatbin, sizeof h);
    if (h.magic != fatbin_magic)
        return fail(r, PT_IMAGE_INVALID, "no fatbinary is where one should be");
    if (h.header_bytes < sizeof h || h.header_bytes > bytes || h.bytes > bytes - h.header_bytes)
        return fail_truncated(r);
    const uint8_t *at = fatbin + h.header_bytes;
    for (uint64_t left = h.bytes; left > 0;) {
        struct entry e;
        if (left < sizeof e)
            return fail_truncated(r);
        memcpy(&e, at, sizeof e);
        if (e.header_bytes < sizeof e || e.header_bytes > left || e.bytes > left - e.header_bytes)
            return fail_truncated(r);
        bool is_fit = runs(r, e.arch, feature_of(&e));
        if (e.kind == KIND_PTX && is_fit)
            consider(&f->ptx, at, &e);
        else
            note_other(f, &e);
        if (e.kind == KIND_PTX && e.arch > r->sm && (!f->newer || e.arch < f->newer))
            f->newer = e.arch;
        if (e.kind == KIND_PTX && e.arch > r->sm && !feature_of(&e) &&
            (!f->later.at || e.arch < f->later.entry.arch))
            f->later = (struct candidate){at, e};
        bool is_code = e.kind == KIND_ELF && is_fit && r->jit != PT_IMAGE_JIT_FORCED;
        if (is_code)
            consider(&f->cubin, at, &e);
        f->has_machine_code |= is_code && e.arch / 10 == r->sm / 10;
        at += e.header_bytes + e.bytes;
        left -= e.header_bytes + e.bytes;
    }
    return PT_IMAGE_OK;
}

/* ---- the text of an entry -------------------------------------------------------------------- */

static size_t decompress_lz4(char *to, size_t size, const uint8_t *from, size_t bytes)
{
#ifdef PT_HAVE_LZ4
    if (bytes > INT32_MAX || size > INT32_MAX)
        return 0;
    int n = LZ4_decompress_safe((const char *)from, to, (int)bytes, (int)size);
    return n > 0 ? (size_t)n : 0;
#else
    (void)to, (void)size, (void)from, (void)bytes;
    return 0;
#endif
}

static size_t decompress_zstd(struct pt_arena *arena, char *to, size_t size, const uint8_t *from,
                              size_t bytes)
{
#ifdef PT_HAVE_ZSTD
    size_t n = ZSTD_decompress(to, size, from, bytes);
    if (ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
        longjmp(*arena->oom, 1);
    return ZSTD_isError(n) ? 0 : n;
#else
    (void)arena, (void)to, (void)size, (void)from, (void)bytes;
    return 0;
#endif
}

#ifdef PT_HAVE_LZ4
static const bool have_lz4 = true;
#else
static const bool have_lz4 = false;
#endif
#ifdef PT_HAVE_ZSTD
static const bool have_zstd = true;
#else
static const bool have_zstd = false;
#endif

/* Neither compression makes text more than 2^14 times smaller, so a wrong size cannot ask for
 * much. */
enum { MAX_RATIO = 1 << 14 };

static enum pt_image_status decompress(struct reader *r, const struct entry *e,
                                       const uint8_t *payload, struct pt_link_unit *unit)
{
    bool is_zstd = e->flags & FLAG_ZSTD;
    if (!(is_zstd ? have_zstd : have_lz4))
        return fail(r, PT_IMAGE_NOT_SUPPORTED,
                    "the PTX is compressed with %s, which this build of Ptera has no library for",
                    is_zstd ? "zstd" : "lz4");
    if (e->compressed_bytes > e->bytes || e->plain_bytes / MAX_RATIO > e->compressed_bytes)
        return fail_truncated(r);
    char *text = pt_arena_alloc(r->arena, e->plain_bytes + 1);
    unit->text = text;
    unit->len = is_zstd
                    ? decompress_zstd(r->arena, text, e->plain_bytes, payload, e->compressed_bytes)
                    : decompress_lz4(text, e->plain_bytes, payload, e->compressed_bytes);
    return unit->len ? PT_IMAGE_OK : fail_truncated(r);
}

/* The payload as it was before compression. */
static enum pt_image_status read_entry(struct reader *r, const struct candidate *c,
                                       struct pt_link_unit *unit)
{
    const struct entry *e = &c->entry;
    const uint8_t *payload = c->at + e->header_bytes;
    if (e->name && e->name_len && e->name < e->header_bytes &&
        e->name_len <= e->header_bytes - e->name)
        unit->name = pt_arena_text(r->arena, (const char *)c->at + e->name, e->name_len);
    if (e->flags & (FLAG_LZ4 | FLAG_ZSTD))
        return decompress(r, e, payload, unit);
    unit->text = (const char *)payload;
    unit->len = e->bytes;
    return PT_IMAGE_OK;
}

static enum pt_image_status fail_no_ptx(struct reader *r, const struct found *f)
{
    char other[64] = "";
    if (f->newer)
        snprintf(other, sizeof other, "; PTERA_COMPUTE_CAPABILITY=%u.%u runs what is there",
                 f->newer / 10, f->newer % 10);
    return fail(
        r, PT_IMAGE_NO_PTX,
        "no PTX for a device of compute capability %u.%u inside, only %s; nvcc adds it with "
        "-gencode arch=compute_%u,code=compute_%u%s",
        r->sm / 10, r->sm % 10, *f->others ? f->others : "an empty fatbinary", r->sm, r->sm, other);
}

/* The text without the zeros behind it. */
static enum pt_image_status give(struct reader *r, const char *text, size_t len,
                                 const char *if_empty)
{
    while (len && !text[len - 1])
        len--;
    r->out->text = text;
    r->out->len = len;
    return len ? PT_IMAGE_OK : fail(r, PT_IMAGE_INVALID, "%s", if_empty);
}

/* PTX for a later device, in the place of machine code. */
static enum pt_image_status read_later(struct reader *r, const struct found *f,
                                       struct pt_link_unit *unit)
{
    if (!f->has_machine_code || !f->later.at)
        return fail_no_ptx(r, f);
    r->out->is_later = r->out->is_assembled = true;
    return read_entry(r, &f->later, unit);
}

/* The PTX that the device runs, the entry's own or a cubin's. */
static enum pt_image_status read_ptx(struct reader *r, const struct found *f,
                                     struct pt_link_unit *unit)
{
    struct pt_cubin cubin;
    if (r->jit == PT_IMAGE_JIT_DISABLED && !f->has_machine_code)
        return fail(r, PT_IMAGE_NO_JIT, "%s", jit_disabled);
    if (f->ptx.at)
        return read_entry(r, &f->ptx, unit);
    if (!f->cubin.at)
        return fail_no_ptx(r, f);
    enum pt_image_status status = read_entry(r, &f->cubin, unit);
    if (status != PT_IMAGE_OK)
        return status;
    if (pt_cubin_read(unit->text, unit->len, &cubin) != PT_CUBIN_PTX)
        return read_later(r, f, unit);
    r->out->is_assembled = true;
    unit->text = cubin.text;
    unit->len = cubin.len;
    return PT_IMAGE_OK;
}

/* Instead of the vendor's device runtime library, ours. */
static enum pt_image_status read_found(struct reader *r, const struct found *f,
                                       struct pt_link_unit *unit)
{
    const struct pt_image_text before = *r->out;
    enum pt_image_status status = read_ptx(r, f, unit);
    if (status != PT_IMAGE_OK || !pt_device_runtime_is_text(unit->text, unit->len))
        return status;
    *r->out = before;
    unit->text = pt_device_runtime_text;
    unit->len = strlen(pt_device_runtime_text);
    return PT_IMAGE_OK;
}

static enum pt_image_status read_fatbin(struct reader *r, const void *fatbin, size_t bytes)
{
    struct found f;
    struct pt_link_unit unit = {0};
    enum pt_image_status status = look_at(r, fatbin, bytes, &f);
    if (status == PT_IMAGE_OK)
        status = read_found(r, &f, &unit);
    return status == PT_IMAGE_OK ? give(r, unit.text, unit.len, "the PTX inside is empty") : status;
}

/* ---- wrappers -------------------------------------------------------------------------------- */

/* Each unit with PTX is linked. Those without are left out: so is the vendor's device runtime
 * library where it is machine code, whose functions Ptera has itself (its PTX, for later devices,
 * is not taken either); functions of others are missed by the kernels that call them. */
static enum pt_image_status read_units(struct reader *r, const void *const *fatbins)
{
    PT_VEC(struct pt_link_unit) units = {0};
    struct found f, last = {0};
    for (uint32_t i = 0; fatbins && fatbins[i] && i < MAX_UNITS; i++) {
        struct pt_link_unit unit = {0};
        enum pt_image_status status = look_at(r, fatbins[i], PT_IMAGE_UNSIZED, &f);
        if (status == PT_IMAGE_OK)
            status = read_found(r, &f, &unit);
        if (status == PT_IMAGE_OK)
            *pt_vec_push(r->arena, &units) = unit;
        else if (status != PT_IMAGE_NO_PTX)
            return status;
        else if (!*last.others)
            last = f;
    }
    if (!units.n)
        return fail_no_ptx(r, &last);
    r->out->text = pt_link_text_join(units.v, units.n, r->arena, &r->out->len);
    return PT_IMAGE_OK;
}

static enum pt_image_status read_wrapper(struct reader *r, const void *image, size_t bytes)
{
    struct wrapper w;
    if (bytes != PT_IMAGE_UNSIZED)
        return fail(r, PT_IMAGE_INVALID,
                    "the image is the wrapper of a fatbinary, which has a meaning only inside of "
                    "the program it is part of");
    memcpy(&w, image, sizeof w);
    if (w.version == 2)
        return read_units(r, w.units);
    if (w.version != 1)
        return fail(r, PT_IMAGE_INVALID, "wrappers of fatbinaries of version %u are not known",
                    w.version);
    return w.data ? read_fatbin(r, w.data, PT_IMAGE_UNSIZED) : fail_truncated(r);
}

/* ---- everything ------------------------------------------------------------------------------ */

static enum pt_image_status read_elf(struct reader *r, const void *image, size_t bytes)
{
    struct pt_cubin cubin;
    if (r->jit == PT_IMAGE_JIT_FORCED)
        return fail(r, PT_IMAGE_NO_PTX, "the image is a cubin, and CUDA_FORCE_PTX_JIT is set");
    switch (pt_cubin_read(image, bytes, &cubin)) {
    case PT_CUBIN_PTX:
        break;
    case PT_CUBIN_MACHINE_CODE:
        return fail(r, PT_IMAGE_NO_PTX,
                    "the image is a cubin, machine code for sm_%u, and holds no PTX", cubin.sm);
    case PT_CUBIN_FOREIGN:
        return fail(r, PT_IMAGE_INVALID, "the image is an ELF file, but not of a GPU");
    case PT_CUBIN_DAMAGED:
        return fail(r, PT_IMAGE_INVALID, "the ELF image is truncated or damaged");
    }
    const char feature[2] = {cubin.feature, 0};
    if (!runs(r, cubin.sm, cubin.feature))
        return fail(
            r, PT_IMAGE_NO_PTX,
            "the image holds PTX assembled for sm_%u%s, which a device of compute capability "
            "%u.%u does not run",
            cubin.sm, feature, r->sm / 10, r->sm % 10);
    r->out->is_assembled = true;
    return give(r, cubin.text, cubin.len, "the PTX inside is empty");
}

enum pt_image_status pt_image_read(const void *image, size_t bytes, unsigned sm,
                                   enum pt_image_jit jit, struct pt_arena *arena,
                                   struct pt_image_text *out)
{
    struct reader r = {sm, jit, arena, out};
    uint32_t magic = 0;
    memset(out, 0, sizeof *out);
    /* An image of unknown size may be a short text. */
    size_t n = bytes == PT_IMAGE_UNSIZED ? strnlen(image, sizeof magic) : bytes;
    memcpy(&magic, image, n < sizeof magic ? n : sizeof magic);
    if (magic == WRAPPER_MAGIC)
        return read_wrapper(&r, image, bytes);
    if (magic == fatbin_magic)
        return read_fatbin(&r, image, bytes);
    if (n >= SELFMAG && !memcmp(image, ELFMAG, SELFMAG))
        return read_elf(&r, image, bytes);
    if (jit == PT_IMAGE_JIT_DISABLED)
        return fail(&r, PT_IMAGE_NO_JIT, "%s", jit_disabled);
    return give(&r, image, bytes == PT_IMAGE_UNSIZED ? strlen(image) : bytes, "the image is empty");
}

size_t pt_fatbin_bytes(const void *p, size_t bytes)
{
    struct header h;
    if (bytes < sizeof h)
        return 0;
    memcpy(&h, p, sizeof h);
    if (h.magic != fatbin_magic || h.header_bytes < sizeof h || h.header_bytes > bytes ||
        h.bytes > bytes - h.header_bytes)
        return 0;
    size_t whole = h.header_bytes + h.bytes, padding = -whole & 7;
    return padding <= bytes - whole ? whole + padding : whole;
}
