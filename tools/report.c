/* Findings read from the file in which the library saved them. */
#include "tools/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum type { TYPE_TEXT, TYPE_LONG, TYPE_WORD, TYPE_FLAG, TYPE_DIM };

struct field {
    const char *name;
    enum type type;
    size_t offset;
};

static const struct field finding_fields[] = {
#define FINDING_FIELD(type, name) {#name, TYPE_##type, offsetof(ptera_finding, name)},
#include "runtime/finding_fields.def"
};
static const struct field party_fields[] = {
#define PARTY_FIELD(type, name) {#name, TYPE_##type, offsetof(ptera_party, name)},
#include "runtime/finding_fields.def"
};
enum {
    N_FINDING = sizeof finding_fields / sizeof *finding_fields,
    N_PARTY = sizeof party_fields / sizeof *party_fields
};

/* In place. */
static char *unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\\' && from[1])
            *to++ = *++from == 'n' ? '\n' : *from;
        else
            *to++ = *from;
    }
    *to = 0;
    return text;
}

static void set_field(void *object, const struct field *field, char *value)
{
    void *at = (char *)object + field->offset;
    unsigned *dim = at;
    switch (field->type) {
    case TYPE_TEXT:
        *(const char **)at = unescape(value);
        break;
    case TYPE_LONG:
        *(uint64_t *)at = strtoull(value, NULL, 10);
        break;
    case TYPE_WORD:
    case TYPE_FLAG:
        *(unsigned *)at = (unsigned)strtoul(value, NULL, 10);
        break;
    case TYPE_DIM:
        for (int i = 0; i < 3; i++)
            dim[i] = (unsigned)strtoul(value, &value, 10);
        break;
    }
}

/* What later versions have more is left out. */
static void set(void *object, const struct field *fields, unsigned n, const char *name, char *value)
{
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(fields[i].name, name))
            set_field(object, &fields[i], value);
}

static bool add(struct report *report)
{
    static const ptera_finding nothing = {
        .tool = "", .kind = "", .kernel = "", .message = "", .text = "", .detail = ""};
    static const ptera_party nobody = {.function = "",
                                       .file = "",
                                       .source = "",
                                       .frames = "",
                                       .instruction = "",
                                       .action = "",
                                       .what = "",
                                       .allocation = ""};
    struct finding *v = realloc(report->v, (report->n + 1) * sizeof *v);
    if (!v)
        return false;
    report->v = v;
    v[report->n] = (struct finding){.data = nothing, .parties = {nobody, nobody}};
    report->current = report->n++;
    return true;
}

/* What was told before, when it was not known how often it would be. */
static void take_id(struct report *report, const char *id)
{
    for (unsigned i = 0; i + 1 < report->n; i++)
        if (report->v[i].id && !strcmp(report->v[i].id, id)) {
            report->n--;
            report->current = i;
            return;
        }
    report->v[report->current].id = id;
}

static bool take_line(struct report *report, char *line)
{
    char *value = strchr(line, ' ');
    struct finding *last = report->n ? &report->v[report->current] : NULL;
    if (!strcmp(line, "finding"))
        return add(report);
    if (!value)
        return true;
    *value++ = 0;
    if (!strcmp(line, "id") && last)
        take_id(report, value);
    else if (!strcmp(line, "untold"))
        report->untold += strtoull(value, NULL, 10);
    else if (last && (line[0] == '0' || line[0] == '1') && line[1] == '.')
        set(&last->parties[line[0] - '0'], party_fields, N_PARTY, line + 2, value);
    else if (last)
        set(&last->data, finding_fields, N_FINDING, line, value);
    return true;
}

static char *read_all(FILE *in)
{
    size_t n = 0, room = 0;
    char *text = NULL;
    do {
        room = room ? 2 * room : 65536;
        char *more = realloc(text, room + 1);
        if (!more)
            break;
        text = more;
        n += fread(text + n, 1, room - n, in);
        text[n] = 0;
    } while (n == room);
    if (n < room && !ferror(in))
        return text;
    free(text);
    return NULL;
}

bool report_read(struct report *report, const char *path)
{
    *report = (struct report){0};
    FILE *in = fopen(path, "re");
    report->text = in ? read_all(in) : NULL;
    bool is_good = report->text;
    if (!is_good)
        fprintf(stderr, "ptera check: cannot read %s: %s\n", path, strerror(errno));
    if (in)
        fclose(in);
    for (char *line = report->text; is_good && *line;) {
        char *end = strchr(line, '\n'), *next = end ? end + 1 : line + strlen(line);
        if (end)
            *end = 0;
        is_good = take_line(report, line);
        line = next;
    }
    return is_good;
}

void report_free(struct report *report)
{
    free(report->v);
    free(report->text);
}

const struct report_format *report_format(const char *name)
{
    static const struct report_format formats[] = {{"text", report_text_put},
                                                   {"json", report_json_put}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_frames(FILE *out, const char *frames)
{
    for (const char *at = strchr(frames, '\n'); at; at = strchr(at + 1, '\n'))
        fprintf(out, "  inlined at %.*s\n", (int)strcspn(at + 1, "\n"), at + 1);
}

static void put_finding(FILE *out, const struct finding *f)
{
    fputs(f->data.text, out);
    put_frames(out, f->parties[0].frames);
    if (*f->parties[0].allocation)
        fprintf(out, "  the address is %s\n", f->parties[0].allocation);
    if (f->data.parties > 1 && *f->parties[1].instruction)
        fprintf(out, "  the other: %s\n", f->parties[1].instruction);
    if (f->data.count > 1)
        fprintf(out, "  %llu times\n", (unsigned long long)f->data.count);
    fprintf(out, "  what it means: ptera check --explain %s\n", f->data.kind);
}

void report_text_put(FILE *out, const struct report *report)
{
    for (unsigned i = 0; i < report->n; i++)
        put_finding(out, &report->v[i]);
    if (report->untold)
        fprintf(out, "%llu more findings are not told apart\n", (unsigned long long)report->untold);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void report_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", *text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void put_fields(FILE *out, const void *object, const struct field *fields, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const void *at = (const char *)object + fields[i].offset;
        const unsigned *word = at;
        fprintf(out, "%s\"%s\": ", i ? ", " : "", fields[i].name);
        switch (fields[i].type) {
        case TYPE_TEXT:
            report_json_string(out, *(const char *const *)at);
            break;
        case TYPE_LONG:
            fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
            break;
        case TYPE_WORD:
            fprintf(out, "%u", *word);
            break;
        case TYPE_FLAG:
            fputs(*word ? "true" : "false", out);
            break;
        case TYPE_DIM:
            fprintf(out, "[%u, %u, %u]", word[0], word[1], word[2]);
            break;
        }
    }
}

void report_json_put(FILE *out, const struct report *report)
{
    fprintf(out, "{\"version\": \"%s\", \"untold\": %llu, \"findings\": [", ptera_version(),
            (unsigned long long)report->untold);
    for (unsigned i = 0; i < report->n; i++) {
        const struct finding *f = &report->v[i];
        fprintf(out, "%s\n{", i ? "," : "");
        put_fields(out, &f->data, finding_fields, N_FINDING);
        fprintf(out, ", \"by\": [");
        for (unsigned k = 0; k < f->data.parties && k < 2; k++) {
            fprintf(out, "%s{", k ? ", " : "");
            put_fields(out, &f->parties[k], party_fields, N_PARTY);
            fputc('}', out);
        }
        fprintf(out, "]}");
    }
    fprintf(out, "\n]}\n");
}
