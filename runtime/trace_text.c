/* Events as JSON. Numbers are written by hand: printf would take most of the time. */
#include "runtime/trace_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a name are escaped to six at most; fields hold short texts of ours or names. */
enum { ELEMENT_BYTES = 1024, ESCAPED = 6 };

static void put_text(struct pt_trace_text *t, const char *text)
{
    size_t n = strlen(text);
    memcpy(t->v + t->n, text, n);
    t->n += n;
}

static void put_number(struct pt_trace_text *t, uint64_t number)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10));
    while (n)
        t->v[t->n++] = digits[--n];
}

/* Nanoseconds as microseconds. */
static void put_time(struct pt_trace_text *t, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    put_number(t, ns / 1000);
    t->v[t->n++] = '.';
    t->v[t->n++] = (char)('0' + rest / 100);
    t->v[t->n++] = (char)('0' + rest / 10 % 10);
    t->v[t->n++] = (char)('0' + rest % 10);
}

/* The length of the UTF-8 sequence at a byte, which has `left` bytes behind it; 0: it is none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    size_t n = s[0] < 0x80                    ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0  ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0  ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;
    if (n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool is_long = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool is_none = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return is_long || is_none ? 0 : n;
}

/* What is not UTF-8 becomes U+FFFD. */
static void put_quoted(struct pt_trace_text *t, const char *text, size_t bytes)
{
    static const char hex[] = "0123456789abcdef";
    t->v[t->n++] = '"';
    for (size_t i = 0, n; i < bytes; i += n ? n : 1) {
        const unsigned char *s = (const unsigned char *)text + i;
        n = utf8_length(s, bytes - i);
        if (!n)
            put_text(t, "\\ufffd");
        else if (*s < 0x20) {
            put_text(t, "\\u00");
            t->v[t->n++] = hex[*s >> 4];
            t->v[t->n++] = hex[*s & 15];
        } else {
            if (*s == '"' || *s == '\\')
                t->v[t->n++] = '\\';
            memcpy(t->v + t->n, s, n);
            t->n += n;
        }
    }
    t->v[t->n++] = '"';
}

/* JSON has no infinities and no NaNs. */
static void put_double(struct pt_trace_text *t, uint64_t bits)
{
    char text[40];
    double d;
    memcpy(&d, &bits, sizeof d);
    snprintf(text, sizeof text, isfinite(d) ? "%.17g" : "\"%g\"", d);
    put_text(t, text);
}

static void put_value(struct pt_trace_text *t, enum pt_trace_type type, const uint64_t *v)
{
    const char *text = (const char *)(uintptr_t)*v;
    switch (type) {
    case PT_TRACE_UNSIGNED:
    case PT_TRACE_ID:
        put_number(t, *v);
        break;
    case PT_TRACE_SIGNED:
        put_text(t, (int64_t)*v < 0 ? "-" : "");
        put_number(t, (int64_t)*v < 0 ? 0 - *v : *v);
        break;
    case PT_TRACE_DOUBLE:
        put_double(t, *v);
        break;
    case PT_TRACE_TEXT:
        put_quoted(t, text, strnlen(text, PT_TRACE_NAME_BYTES));
        break;
    case PT_TRACE_COLOUR:
        t->n += (size_t)sprintf(t->v + t->n, "\"#%06x\"", (unsigned)*v & 0xffffff);
        break;
    case PT_TRACE_SIZE:
        for (int d = 0; d < 3; d++) {
            t->v[t->n++] = d ? ',' : '[';
            put_number(t, v[d]);
        }
        t->v[t->n++] = ']';
        break;
    }
}

static uint32_t width(enum pt_trace_type type)
{
    return type == PT_TRACE_SIZE ? 3 : 1;
}

static const uint64_t *values_of(const struct pt_trace_record *r)
{
    return (const uint64_t *)(const void *)(r + 1);
}

static const char *name_of(const struct pt_trace_record *r)
{
    return (const char *)(values_of(r) + r->shape->n_values);
}

static void put_args(struct pt_trace_text *t, const struct pt_trace_record *r)
{
    const uint64_t *v = values_of(r);
    const char *before = ",\"args\":{";
    for (int i = 0; i < PT_TRACE_FIELDS && r->shape->fields[i].name; i++) {
        const struct pt_trace_field *f = &r->shape->fields[i];
        bool may_lack = f->type == PT_TRACE_TEXT || f->type == PT_TRACE_COLOUR ||
                        f->type == PT_TRACE_ID || f->type == PT_TRACE_SIZE;
        if (*v || !may_lack) {
            put_text(t, before);
            put_quoted(t, f->name, strlen(f->name));
            t->v[t->n++] = ':';
            put_value(t, f->type, v);
            before = ",";
        }
        v += width(f->type);
    }
    if (*before == ',' && !before[1])
        t->v[t->n++] = '}';
}

/* {"ph":"X","pid":1,"tid":1 */
static void put_begin(struct pt_trace_text *t, const struct pt_trace_record *r)
{
    put_text(t, ",\n{\"ph\":\"");
    t->v[t->n++] = r->shape->phase;
    put_text(t, "\",\"pid\":");
    put_number(t, r->process);
    put_text(t, ",\"tid\":");
    put_number(t, r->row);
}

static void put_row_name(struct pt_trace_text *t, const struct pt_trace_record *r)
{
    put_text(t, ",\"name\":");
    put_quoted(t, r->shape->category, strlen(r->shape->category));
    put_text(t, ",\"args\":{\"name\":");
    put_quoted(t, name_of(r), r->name_bytes);
    put_text(t, "}}");
}

static void put_event(struct pt_trace_text *t, const struct pt_trace_record *r)
{
    char phase = r->shape->phase;
    put_text(t, ",\"ts\":");
    put_time(t, r->begin);
    if (phase == 'X') {
        put_text(t, ",\"dur\":");
        put_time(t, r->end - r->begin);
    }
    put_text(t, ",\"cat\":");
    put_quoted(t, r->shape->category, strlen(r->shape->category));
    put_text(t, ",\"name\":");
    put_quoted(t, name_of(r), r->name_bytes);
    if (phase == 'i')
        put_text(t, ",\"s\":\"t\"");
    if (phase == 'b' || phase == 'e') {
        put_text(t, ",\"id\":");
        put_number(t, r->id);
    } else if (r->id && r->shape->arrow) {
        put_text(t, ",\"bind_id\":");
        put_number(t, r->id);
        put_text(t, ",\"");
        put_text(t, r->shape->arrow);
        put_text(t, "\":true");
    }
    put_args(t, r);
    t->v[t->n++] = '}';
}

void pt_trace_text_flush(struct pt_trace_text *t)
{
    if (t->n)
        pt_trace_file_append(t->file, t->v, t->n, t->events);
    t->n = 0;
    t->events = 0;
}

static void make_room(struct pt_trace_text *t, size_t bytes)
{
    if (t->n + bytes > sizeof t->v)
        pt_trace_text_flush(t);
}

static size_t most_bytes(const struct pt_trace_record *r)
{
    size_t bytes = ELEMENT_BYTES + (size_t)ESCAPED * r->name_bytes;
    for (int i = 0; i < PT_TRACE_FIELDS && r->shape->fields[i].name; i++)
        bytes += r->shape->fields[i].type == PT_TRACE_TEXT ? ESCAPED * PT_TRACE_NAME_BYTES : 0;
    return bytes;
}

void pt_trace_text_put(struct pt_trace_text *t, const struct pt_trace_record *r)
{
    make_room(t, most_bytes(r));
    t->events++;
    put_begin(t, r);
    if (r->shape->phase == 'M')
        put_row_name(t, r);
    else
        put_event(t, r);
}
