/* Findings in a file, from which `ptera check` makes reports. */
#include "runtime/finding_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/engine.h"

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\\')
            fputs("\\\\", out);
        else
            fputc(*text, out);
    }
}

#define PUT_TEXT(v) put_text(out, v)
#define PUT_LONG(v) fprintf(out, "%" PRIu64, v)
#define PUT_WORD(v) fprintf(out, "%u", v)
#define PUT_FLAG(v) fprintf(out, "%d", v)
#define PUT_DIM(v) fprintf(out, "%u %u %u", (v)[0], (v)[1], (v)[2])
#define PUT(type, prefix, name, v) \
    (fprintf(out, prefix #name " ", which), PUT_##type(v), fputc('\n', out))

static void put_finding(FILE *out, const ptera_finding *finding)
{
    unsigned which = 0;
#define FINDING_FIELD(type, name) PUT(type, "%.0u", name, finding->name);
#include "runtime/finding_fields.def"
}

static void put_party(FILE *out, const ptera_party *party, unsigned which)
{
#define PARTY_FIELD(type, name) PUT(type, "%u.", name, party->name);
#include "runtime/finding_fields.def"
}

/* False: there is no such finding. */
static bool put(FILE *out, const ptera_engine *engine, unsigned index)
{
    ptera_finding finding = {.size = sizeof finding};
    ptera_party party = {.size = sizeof party};
    if (ptera_engine_finding(engine, index, &finding) != PTERA_OK)
        return false;
    fprintf(out, "finding\nid %ld.%p.%u\n", (long)getpid(), (const void *)engine, index);
    put_finding(out, &finding);
    for (unsigned k = 0; ptera_engine_finding_party(engine, index, k, &party) == PTERA_OK; k++)
        put_party(out, &party, k);
    return true;
}

ptera_result pt_finding_file_append(const ptera_engine *engine, unsigned index, const char *path)
{
    FILE *out = fopen(path, "ae");
    if (!out)
        return PTERA_ERROR_FILE;
    put(out, engine, index);
    return fclose(out) == 0 ? PTERA_OK : PTERA_ERROR_FILE;
}

/* Launches whose findings are told. */
static unsigned launches_of(const struct pt_findings *f)
{
    unsigned n = atomic_load(&f->n_launches);
    n = n < f->skip ? 0 : n - f->skip;
    return f->most && f->most < n ? f->most : n;
}

/* How many findings there is no more to say of, and launches in which all were looked for. */
static void put_totals(FILE *out, const ptera_engine *engine)
{
    unsigned launches = launches_of(&engine->findings);
    if (engine->findings.untold)
        fprintf(out, "untold %" PRIu64 "\n", engine->findings.untold);
    if (launches)
        fprintf(out, "launches %u\n", launches);
}

ptera_result pt_finding_file_append_totals(const ptera_engine *engine, const char *path)
{
    FILE *out = fopen(path, "ae");
    if (!out)
        return PTERA_ERROR_FILE;
    put_totals(out, engine);
    return fclose(out) == 0 ? PTERA_OK : PTERA_ERROR_FILE;
}

ptera_result ptera_engine_findings_save(const ptera_engine *engine, const char *path)
{
    if (!engine || !path)
        return PTERA_ERROR_INVALID_ARGUMENT;
    FILE *out = fopen(path, "ae");
    if (!out)
        return PTERA_ERROR_FILE;
    for (unsigned i = 0; put(out, engine, i); i++)
        continue;
    put_totals(out, engine);
    return fclose(out) == 0 ? PTERA_OK : PTERA_ERROR_FILE;
}
