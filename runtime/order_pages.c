/* What launches have written, compared and undone. */
#include "runtime/order_pages.h"

#include <math.h>

#include "ir/isa.h"

static bool is_there(const struct pt_written_page *page)
{
    return page && page->is_saved;
}

void pt_order_pages_keep(struct pt_written *w)
{
    for (size_t i = 0; i < w->room; i++) {
        struct pt_written_page *page = w->slots[i];
        if (!is_there(page))
            continue;
        memcpy(page->after, (const void *)(uintptr_t)page->address, PT_WRITTEN_PAGE);
        page->is_compared = true;
    }
}

/* What the first run has not written is as before. */
static const uint8_t *behind_of(const struct pt_written_page *page)
{
    return page->is_compared ? page->after : page->before;
}

void pt_order_pages_restore(const struct pt_written *w, bool is_behind)
{
    for (size_t i = 0; i < w->room; i++)
        if (is_there(w->slots[i]))
            memcpy((void *)(uintptr_t)w->slots[i]->address,
                   is_behind ? behind_of(w->slots[i]) : w->slots[i]->before, PT_WRITTEN_PAGE);
}

uint64_t pt_order_pages_read(uint64_t address, uint64_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)(uintptr_t)address, bytes < 8 ? bytes : 8);
    return value;
}

/* ---- what is excused ------------------------------------------------------------------------- */

static double half_value(uint32_t bits)
{
    double sign = bits >> 15 ? -1 : 1;
    int exponent = bits >> 10 & 31;
    uint32_t fraction = bits & 1023;
    if (exponent == 31)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static double float_value(uint64_t bits, unsigned bytes)
{
    double wide;
    float narrow;
    uint32_t low = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    return bytes == 8 ? wide : (double)narrow;
}

/* Of an element of the type; 0: it is none. */
static unsigned bytes_of(enum pt_type type)
{
    switch (type) {
    case PT_f16:
    case PT_f16x2:
    case PT_bf16:
    case PT_bf16x2:
        return 2;
    case PT_f32:
    case PT_f32x2:
        return 4;
    case PT_f64:
        return 8;
    default:
        return 0;
    }
}

static double value_of(enum pt_type type, const uint8_t *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, bytes_of(type));
    if (type == PT_f16 || type == PT_f16x2)
        return half_value((uint32_t)bits);
    if (type == PT_bf16 || type == PT_bf16x2)
        return float_value(bits << 16, 4);
    return float_value(bits, bytes_of(type));
}

static bool is_near(double a, double b, double tolerance)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static bool is_in_heap(const struct pt_order_excuse *excuse, const uint8_t *bytes)
{
    uint64_t address;
    memcpy(&address, bytes, sizeof address);
    return address - excuse->heap < excuse->heap_bytes;
}

/* The byte at `at` differs. Returns how many bytes from there on may; 0: it may not. */
static size_t excused(const struct pt_written_page *page, size_t at, struct pt_order_excuse *excuse)
{
    const uint8_t *first = behind_of(page), *now = (const uint8_t *)(uintptr_t)page->address;
    size_t word = at & ~(size_t)7;
    if (page->address - excuse->heap < excuse->heap_bytes)
        return PT_WRITTEN_PAGE - at;
    if (is_in_heap(excuse, first + word) && is_in_heap(excuse, now + word))
        return word + 8 - at;
    enum pt_type type = (enum pt_type)page->types[at / PT_WRITTEN_PIECE];
    size_t bytes = bytes_of(type), element = bytes ? at & ~(bytes - 1) : 0;
    if (!bytes || excuse->tolerance <= 0 ||
        !is_near(value_of(type, first + element), value_of(type, now + element), excuse->tolerance))
        return 0;
    excuse->tolerated++;
    return element + bytes - at;
}

/* ---- the comparison -------------------------------------------------------------------------- */

static bool compare(const struct pt_written_page *page, struct pt_order_excuse *excuse,
                    struct pt_order_difference *d)
{
    const uint8_t *first = behind_of(page), *now = (const uint8_t *)(uintptr_t)page->address;
    if (!memcmp(first, now, PT_WRITTEN_PAGE))
        return false;
    for (size_t at = 0, n; at < PT_WRITTEN_PAGE; at += n) {
        n = first[at] == now[at] ? 1 : excused(page, at, excuse);
        if (n)
            continue;
        size_t bytes = bytes_of((enum pt_type)page->types[at / PT_WRITTEN_PIECE]);
        bytes = bytes ? bytes : 4;
        at &= ~(bytes - 1);
        *d = (struct pt_order_difference){.address = page->address + at, .bytes = bytes};
        memcpy(&d->first, first + at, bytes);
        memcpy(&d->now, now + at, bytes);
        return true;
    }
    return false;
}

bool pt_order_pages_compare(const struct pt_written *w, struct pt_order_excuse *excuse,
                            struct pt_order_difference *d)
{
    bool is_different = false;
    for (size_t i = 0; i < w->room; i++) {
        struct pt_order_difference one;
        if (!is_there(w->slots[i]) || !compare(w->slots[i], excuse, &one))
            continue;
        if (!is_different || one.address < d->address)
            *d = one;
        is_different = true;
    }
    return is_different;
}
