/* Device printf: CUDA's conversions, an argument buffer laid out by nvcc, text that goes out
 * whole. */
#define _GNU_SOURCE
#include "runtime/print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/bits.h"
#include "runtime/fault.h"
#include "runtime/mem.h"

enum { BUFFER_FIRST = 1 << 12, BUFFER_MAX = 1 << 20, CHUNK = 256 };

/* ---- memory ---------------------------------------------------------------------------------- */

/* `have` bytes become `want`, or stay: then it returns false. */
static bool resize(struct pt_mem *mem, char **p, size_t have, size_t want)
{
    if (want > have && !pt_mem_charge(mem, want - have))
        return false;
    void *now = mem->allocator->resize(mem->allocator->ud, *p, want);
    bool ok = now || !want;
    if (ok)
        *p = now;
    if (!ok || want < have)
        pt_mem_refund(mem, ok ? have - want : want - have);
    return ok;
}

/* ---- the buffer ------------------------------------------------------------------------------ */

bool pt_print_init(struct pt_printer *printer, struct pt_mem *mem,
                   void (*print)(void *ud, const char *text, size_t bytes), void *ud)
{
    memset(printer, 0, sizeof *printer);
    printer->mem = mem;
    printer->print = print;
    printer->ud = ud;
    printer->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    pthread_mutex_init(&printer->lock, NULL);
    return printer->locale != (locale_t)0;
}

/* With the lock. */
static void drop_buffer(struct pt_printer *printer)
{
    if (printer->text)
        resize(printer->mem, &printer->text, printer->cap, 0);
    printer->text = NULL;
    printer->cap = 0;
}

void pt_print_close(struct pt_printer *printer)
{
    drop_buffer(printer);
    if (printer->locale)
        freelocale(printer->locale);
    pthread_mutex_destroy(&printer->lock);
}

static void flush_locked(struct pt_printer *printer)
{
    if (printer->n)
        printer->print(printer->ud, printer->text, printer->n);
    printer->n = 0;
}

void pt_print_flush(struct pt_printer *printer)
{
    pthread_mutex_lock(&printer->lock);
    flush_locked(printer);
    drop_buffer(printer);
    pthread_mutex_unlock(&printer->lock);
}

/* Grows the buffer up to its limit. */
static bool has_room(struct pt_printer *printer, size_t n)
{
    while (n > printer->cap - printer->n) {
        size_t cap = printer->cap ? printer->cap * 2 : BUFFER_FIRST;
        if (cap > BUFFER_MAX || !resize(printer->mem, &printer->text, printer->cap, cap))
            return false;
        printer->cap = cap;
    }
    return true;
}

void pt_print_put(struct pt_printer *printer, const char *text, size_t n)
{
    if (!printer->print || n == 0)
        return;
    pthread_mutex_lock(&printer->lock);
    if (!has_room(printer, n))
        flush_locked(printer);
    if (n <= printer->cap - printer->n) {
        memcpy(printer->text + printer->n, text, n);
        printer->n += n;
    } else {
        printer->print(printer->ud, text, n);
    }
    pthread_mutex_unlock(&printer->lock);
}

/* ---- text ------------------------------------------------------------------------------------ */

static char *text_room(struct pt_text *t, size_t n)
{
    t->is_long |= n > PT_PRINT_MAX - t->n;
    if (t->failed || t->is_long)
        return NULL;
    if (n > t->cap - t->n) {
        size_t cap = t->cap ? t->cap * 2 : CHUNK;
        while (cap - t->n < n)
            cap *= 2;
        t->failed = !resize(t->mem, &t->v, t->cap, cap);
        if (t->failed)
            return NULL;
        t->cap = cap;
    }
    return t->v + t->n;
}

static void text_put(struct pt_text *t, const char *s, size_t n)
{
    char *to = n ? text_room(t, n) : NULL;
    if (!to)
        return;
    memcpy(to, s, n);
    t->n += n;
}

__attribute__((format(printf, 2, 3))) static void text_printf(struct pt_text *t, const char *format,
                                                              ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    t->failed |= n < 0;
    char *to = n > 0 ? text_room(t, (size_t)n + 1) : NULL;
    if (to) {
        vsnprintf(to, (size_t)n + 1, format, again);
        t->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

static void text_free(struct pt_text *t)
{
    if (t->v)
        resize(t->mem, &t->v, t->cap, 0);
}

/* ---- one call -------------------------------------------------------------------------------- */

struct call {
    const struct pt_readable *readable;
    struct pt_text out, format, string;
    uint64_t args; /* next to read */
    int count;     /* arguments read */
    bool is_bad;
    uint64_t bad;  /* address that could not be read */
};

/* How many of `bytes` bytes at an address may be read. */
static size_t count_readable(const struct call *c, uint64_t address, size_t bytes)
{
    return c->readable ? c->readable->count(c->readable, address, bytes) : bytes;
}

static bool bad_address(struct call *c, uint64_t address)
{
    if (!c->is_bad)
        c->bad = address;
    c->is_bad = true;
    return false;
}

/* Copies a device string, without its end, into `to`. At most `limit` bytes of it. */
static bool read_string(struct call *c, struct pt_text *to, uint64_t from, size_t limit)
{
    to->n = 0;
    while (to->n < limit) {
        size_t want = limit - to->n < CHUNK ? limit - to->n : CHUNK;
        char *room = text_room(to, want + 1);
        if (!room)
            return false;
        size_t got =
            pt_fault_copy_string(room, from + to->n, count_readable(c, from + to->n, want));
        if (got && room[got - 1] == 0) {
            to->n += got - 1;
            return true;
        }
        to->n += got;
        if (got < want)
            return bad_address(c, from + to->n);
        to->v[to->n] = 0;
    }
    if (text_room(to, 1))
        to->v[to->n] = 0;
    return !to->failed && !to->is_long;
}

/* Arguments are aligned to their own size: 4 or 8 bytes. */
static uint64_t read_arg(struct call *c, unsigned bytes)
{
    uint64_t value = 0;
    c->args = pt_round_up(c->args, bytes);
    size_t got = pt_fault_copy(&value, c->args, count_readable(c, c->args, bytes));
    if (got < bytes)
        bad_address(c, c->args + got);
    c->args += bytes;
    c->count++;
    return bytes == 4 ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* A conversion specification, "%[flags][width][.precision][length]conversion". */
struct spec {
    char flags[8];
    bool has_precision;
    int width, precision; /* a negative width was given by * */
    int length;           /* 'H' for hh, 'h', 0, 'l', 'q' for ll, 'j', 'z', 't', 'L' */
    char conversion;
};

static const char *read_number(struct call *c, const char *p, int *value)
{
    if (*p == '*') {
        *value = (int)read_arg(c, 4);
        return p + 1;
    }
    for (*value = 0; *p >= '0' && *p <= '9'; p++)
        if (*value < 100000000)
            *value = *value * 10 + (*p - '0');
    return p;
}

static const char *read_length(const char *p, struct spec *s)
{
    s->length = 0;
    if (!*p || !strchr("hljztL", *p))
        return p;
    s->length = *p++;
    if (*p == s->length && (*p == 'h' || *p == 'l'))
        s->length = *p++ == 'h' ? 'H' : 'q';
    return p;
}

static const char *read_spec(struct call *c, const char *p, struct spec *s)
{
    memset(s, 0, sizeof *s);
    size_t n = 0;
    for (; *p && strchr("-+ #0", *p); p++)
        if (!memchr(s->flags, *p, n))
            s->flags[n++] = *p;
    p = read_number(c, p, &s->width);
    if (*p == '.') {
        s->has_precision = true;
        p = read_number(c, p + 1, &s->precision);
        if (s->precision < 0)
            s->has_precision = false;
    }
    p = read_length(p, s);
    s->conversion = *p;
    return *p ? p + 1 : p;
}

/* The specification for the host's printf, whose arguments have the given length: "%-*.*ll" and
 * a conversion. */
static void host_format(char *buf, size_t size, const struct spec *s, const char *length)
{
    snprintf(buf, size, "%%%s*%s%s%c", s->flags, s->has_precision ? ".*" : "", length,
             s->conversion);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define PUT(text, s, format, value)                                   \
    ((s)->has_precision ? text_printf(text, format, (s)->width, (s)->precision, value) \
                        : text_printf(text, format, (s)->width, value))

static void put_integer(struct call *c, const struct spec *s)
{
    char format[32];
    bool is_wide = s->length && strchr("lqjzt", s->length);
    uint64_t v = read_arg(c, is_wide ? 8 : 4);
    bool is_signed = s->conversion == 'd' || s->conversion == 'i';
    if (s->length == 'h')
        v = is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
    else if (s->length == 'H')
        v = is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
    else if (!is_wide && !is_signed)
        v = (uint32_t)v;
    host_format(format, sizeof format, s, "ll");
    PUT(&c->out, s, format, (unsigned long long)v);
}

static void put_float(struct call *c, const struct spec *s)
{
    char format[32];
    uint64_t bits = read_arg(c, 8);
    double v;
    memcpy(&v, &bits, sizeof v);
    host_format(format, sizeof format, s, "");
    PUT(&c->out, s, format, v);
}

static void put_pointer(struct call *c, const struct spec *s)
{
    char format[32];
    host_format(format, sizeof format, s, "");
    PUT(&c->out, s, format, (void *)(uintptr_t)read_arg(c, 8));
}

static void put_string_text(struct call *c, const struct spec *s)
{
    char format[32];
    struct spec narrow = *s;
    narrow.conversion = 's';
    host_format(format, sizeof format, &narrow, "");
    if (c->string.v)
        PUT(&c->out, s, format, c->string.v);
}
#pragma GCC diagnostic pop

/* Wide characters have 4 bytes and are printed as UTF-8. */
static void put_wide(struct pt_text *t, uint32_t w)
{
    char b[4];
    size_t n = w < 0x80 ? 1 : w < 0x800 ? 2 : w < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; w >>= 6)
        b[i] = (char)(0x80 | (w & 0x3f));
    b[0] = (char)(lead[n] | w);
    text_put(t, b, n);
}

static bool read_wide_string(struct call *c, uint64_t from, size_t limit)
{
    c->string.n = 0;
    for (;; from += 4) {
        uint32_t w = 0;
        size_t got = pt_fault_copy(&w, from, count_readable(c, from, 4));
        if (got < 4)
            return bad_address(c, from + got);
        size_t before = c->string.n;
        if (w)
            put_wide(&c->string, w);
        if (!w || c->string.n > limit) {
            c->string.n = w ? before : c->string.n;
            break;
        }
    }
    if (text_room(&c->string, 1))
        c->string.v[c->string.n] = 0;
    return !c->string.failed && !c->string.is_long;
}

static void put_string(struct call *c, const struct spec *s)
{
    uint64_t from = read_arg(c, 8);
    size_t limit = s->has_precision ? (size_t)s->precision : SIZE_MAX / 4;
    bool ok = true;
    if (c->is_bad)
        return;
    if (!from) {
        c->string.n = 0;
        text_put(&c->string, "(null)", 7);
    } else {
        ok = s->length == 'l' ? read_wide_string(c, from, limit)
                              : read_string(c, &c->string, from, limit);
    }
    if (ok)
        put_string_text(c, s);
}

static void put_char(struct call *c, const struct spec *s)
{
    uint32_t v = (uint32_t)read_arg(c, 4);
    char byte = (char)v;
    size_t pad;
    bool is_left = strchr(s->flags, '-') || s->width < 0;
    c->string.n = 0;
    if (s->length == 'l')
        put_wide(&c->string, v);
    else
        text_put(&c->string, &byte, 1); /* may be zero, which %s would not print */
    pad = (size_t)(s->width < 0 ? -(long)s->width : s->width);
    pad = pad > c->string.n ? pad - c->string.n : 0;
    for (size_t i = 0; i < pad && !is_left; i++)
        text_put(&c->out, " ", 1);
    if (c->string.v)
        text_put(&c->out, c->string.v, c->string.n);
    for (size_t i = 0; i < pad && is_left; i++)
        text_put(&c->out, " ", 1);
}

/* Of numbers that take so much room, the host's printf is not asked: it would take that, and the
 * time for it, to find out. */
static bool is_long(const struct spec *s)
{
    long width = s->width < 0 ? -(long)s->width : s->width;
    bool is_number = s->conversion && strchr("diuoxXfFeEgGaA", s->conversion);
    return width > PT_PRINT_MAX || (is_number && s->has_precision && s->precision > PT_PRINT_MAX);
}

/* `begin` is the '%'; what is no conversion is printed as it stands. */
static void put_conversion(struct call *c, const struct spec *s, const char *begin, const char *end)
{
    c->out.is_long |= is_long(s);
    if (c->out.is_long)
        return;
    switch (s->conversion) {
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
        put_integer(c, s);
        break;
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
        put_float(c, s);
        break;
    case 'p':
        put_pointer(c, s);
        break;
    case 'c':
        put_char(c, s);
        break;
    case 's':
        put_string(c, s);
        break;
    case '%':
        text_put(&c->out, "%", 1);
        break;
    case 'n': /* not supported on devices: writes nothing */
        read_arg(c, 8);
        break;
    default:
        text_put(&c->out, begin, (size_t)(end - begin));
        break;
    }
}

static void put_all(struct call *c)
{
    const char *p = c->format.v;
    while (*p && !c->is_bad && !c->out.failed && !c->out.is_long && !c->string.is_long &&
           !c->string.failed) {
        const char *percent = strchrnul(p, '%');
        text_put(&c->out, p, (size_t)(percent - p));
        if (!*percent)
            break;
        struct spec s;
        p = read_spec(c, percent + 1, &s);
        put_conversion(c, &s, percent, p);
    }
}

/* Hands the text over, even of a call that failed in the middle, and ends the call. */
static enum pt_print_result finish(struct pt_printer *printer, struct call *c, uint64_t *bad)
{
    bool failed = c->out.failed || c->format.failed || c->string.failed;
    if (c->out.v)
        pt_print_put(printer, c->out.v, c->out.n);
    bool is_long = c->out.is_long || c->format.is_long || c->string.is_long;
    text_free(&c->out);
    text_free(&c->format);
    text_free(&c->string);
    *bad = c->bad;
    return failed      ? PT_PRINT_NO_MEMORY
           : is_long   ? PT_PRINT_TOO_LONG
           : c->is_bad ? PT_PRINT_BAD_ADDRESS
                       : PT_PRINT_OK;
}

static void init_call(struct call *c, const struct pt_printer *printer,
                      const struct pt_readable *readable)
{
    memset(c, 0, sizeof *c);
    c->readable = readable;
    c->out.mem = c->format.mem = c->string.mem = printer->mem;
}

enum pt_print_result pt_print_format(struct pt_printer *printer, const struct pt_readable *readable,
                                     uint64_t format, uint64_t args, int *count, uint64_t *bad)
{
    struct call c;
    init_call(&c, printer, readable);
    c.args = args;
    locale_t before = uselocale(printer->locale);
    if (read_string(&c, &c.format, format, SIZE_MAX / 4))
        put_all(&c);
    uselocale(before);
    *count = c.count;
    return finish(printer, &c, bad);
}

enum pt_print_result pt_print_assertion(struct pt_printer *printer,
                                        const struct pt_readable *readable,
                                        const struct pt_assertion *a, uint64_t *bad)
{
    struct call c;
    init_call(&c, printer, readable);
    const size_t all = SIZE_MAX / 4;
    bool ok = read_string(&c, &c.string, a->file, all);
    if (ok)
        text_printf(&c.out, "%s:%" PRIu32 ": ", c.string.v, a->line);
    ok = ok && read_string(&c, &c.string, a->function, all);
    if (ok)
        text_printf(&c.out, "%s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", c.string.v,
                    a->cta[0], a->cta[1], a->cta[2], a->thread[0], a->thread[1], a->thread[2]);
    ok = ok && read_string(&c, &c.string, a->message, all);
    if (ok)
        text_printf(&c.out, "%s` failed.\n", c.string.v);
    return finish(printer, &c, bad);
}
