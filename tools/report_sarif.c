/* Findings as SARIF 2.1.0, which code reviews show at their lines. */
#include <string.h>

#include "tools/report.h"

static void put_string(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    report_json_string(out, text);
}

static const char *level_of(int is_note)
{
    return is_note ? "note" : "error";
}

static void put_rules(FILE *out)
{
    ptera_finding_kind kind = {.size = sizeof kind};
    for (unsigned i = 0; ptera_finding_kind_get(i, &kind) == PTERA_OK; i++) {
        fprintf(out, "%s\n      {", i ? "," : "");
        put_string(out, "id", kind.name);
        fprintf(out, ", \"shortDescription\": {");
        put_string(out, "text", kind.summary);
        fprintf(out, "}, \"defaultConfiguration\": {");
        put_string(out, "level", level_of(kind.is_note));
        fprintf(out, "}, \"properties\": {\"tags\": [");
        report_json_string(out, kind.tool);
        fprintf(out, "]}}");
    }
}

static unsigned rule_of(const char *name)
{
    ptera_finding_kind kind = {.size = sizeof kind};
    unsigned i = 0;
    while (ptera_finding_kind_get(i, &kind) == PTERA_OK && strcmp(kind.name, name) != 0)
        i++;
    return i;
}

/* Of the source where that is known, else of the PTX. */
static void put_location(FILE *out, const ptera_party *p, bool is_ptx, const char *message)
{
    bool is_source = !is_ptx && *p->source;
    unsigned line = is_source ? p->source_line : p->line;
    fprintf(out, "{\"physicalLocation\": {\"artifactLocation\": {");
    put_string(out, "uri", is_source ? p->source : p->file);
    fputc('}', out);
    if (line && is_source)
        fprintf(out, ", \"region\": {\"startLine\": %u}", line);
    else if (line)
        fprintf(out, ", \"region\": {\"startLine\": %u, \"startColumn\": %u}", line,
                p->column ? p->column : 1);
    fputc('}', out);
    if (*p->function) {
        fprintf(out, ", \"logicalLocations\": [{");
        put_string(out, "name", p->function);
        fprintf(out, ", \"kind\": \"function\"}]");
    }
    if (message) {
        fprintf(out, ", \"message\": {");
        put_string(out, "text", message);
        fputc('}', out);
    }
    fputc('}', out);
}

static void put_related(FILE *out, const struct finding *f)
{
    const char *comma = "";
    fprintf(out, ", \"relatedLocations\": [");
    if (*f->parties[0].source && f->parties[0].line) {
        put_location(out, &f->parties[0], true, "the PTX");
        comma = ", ";
    }
    if (f->data.parties > 1) {
        fputs(comma, out);
        put_location(out, &f->parties[1], false, "the other");
    }
    fputc(']', out);
}

static void put_result(FILE *out, const struct finding *f)
{
    fprintf(out, "{");
    put_string(out, "ruleId", f->data.kind);
    fprintf(out, ", \"ruleIndex\": %u, \"level\": \"%s\", \"message\": {", rule_of(f->data.kind),
            level_of(f->data.is_note));
    put_string(out, "text", f->data.message);
    fprintf(out, "}, \"locations\": [");
    put_location(out, &f->parties[0], false, NULL);
    fprintf(out, "]");
    put_related(out, f);
    fprintf(out, ", \"occurrenceCount\": %llu, \"properties\": {",
            (unsigned long long)f->data.count);
    put_string(out, "kernel", f->data.kernel);
    fprintf(out, ", ");
    put_string(out, "allocation", f->parties[0].allocation);
    fprintf(out, "}}");
}

void report_sarif_put(FILE *out, const struct report *report)
{
    fprintf(out, "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
                 "  \"version\": \"2.1.0\",\n  \"runs\": [{\n"
                 "    \"tool\": {\"driver\": {\"name\": \"ptera check\", ");
    put_string(out, "version", ptera_version());
    fprintf(out, ", \"rules\": [");
    put_rules(out);
    fprintf(out, "]}},\n    \"results\": [");
    for (unsigned i = 0; i < report->n; i++) {
        fprintf(out, "%s\n      ", i ? "," : "");
        put_result(out, &report->v[i]);
    }
    fprintf(out, "],\n    \"properties\": {\"untold\": %llu}\n  }]\n}\n",
            (unsigned long long)report->untold);
}
