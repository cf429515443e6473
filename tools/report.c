/* Findings read from the file in which the library saved them, and told as text. */
#include "tools/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct report_field report_finding_fields[] = {
#define FINDING_FIELD(type, name) {#name, REPORT_##type, offsetof(ptera_finding, name)},
#include "runtime/finding_fields.def"
    {NULL, REPORT_TEXT, 0}};
const struct report_field report_party_fields[] = {
#define PARTY_FIELD(type, name) {#name, REPORT_##type, offsetof(ptera_party, name)},
#include "runtime/finding_fields.def"
    {NULL, REPORT_TEXT, 0}};
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

static void set_field(void *object, const struct report_field *field, char *value)
{
    void *at = (char *)object + field->offset;
    unsigned *dim = at;
    switch (field->type) {
    case REPORT_TEXT:
        *(const char **)at = unescape(value);
        break;
    case REPORT_LONG:
        *(uint64_t *)at = strtoull(value, NULL, 10);
        break;
    case REPORT_WORD:
    case REPORT_FLAG:
        *(unsigned *)at = (unsigned)strtoul(value, NULL, 10);
        break;
    case REPORT_DIM:
        for (int i = 0; i < 3; i++)
            dim[i] = (unsigned)strtoul(value, &value, 10);
        break;
    }
}

/* What later versions have more is left out. */
static void set(void *object, const struct report_field *fields, const char *name, char *value)
{
    for (const struct report_field *f = fields; f->name; f++)
        if (!strcmp(f->name, name))
            set_field(object, f, value);
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
    else if (!strcmp(line, "launches"))
        report->launches += strtoull(value, NULL, 10);
    else if (last && (line[0] == '0' || line[0] == '1') && line[1] == '.')
        set(&last->parties[line[0] - '0'], report_party_fields, line + 2, value);
    else if (last)
        set(&last->data, report_finding_fields, line, value);
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
    if (*f->data.kernel)
        fprintf(out, "  in kernel '%s'\n", f->data.kernel);
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
