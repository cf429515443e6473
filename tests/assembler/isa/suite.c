/* Writes the forms of forms.tsv as a set of the conformance suite: isa_suite FILE FOLDER makes
 * FOLDER/modules.ptx and FOLDER/index.tsv (tools/conform/assembler.c). A form is accepted at its
 * first pair of .version and .target, and refused one step below either. What only `ptxas -c` takes
 * is left out: no driver loads it. */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "tests/assembler/isa/forms.h"

struct writer {
    FILE *index, *modules;
    size_t at;
    unsigned form;
};

static void write_module(struct writer *w, char *column[FORM_COLUMNS], const char *what,
                         const struct pt_target *t, unsigned version, bool is_accepted)
{
    static struct form_text text;
    const char *statement = column[4];
    char context[16], target[16];
    snprintf(context, sizeof context, "%.*s", (int)strcspn(column[3], " "), column[3]);
    snprintf(target, sizeof target, "%s", forms_target_name(t));
    forms_begin(&text, forms_version(version), target, context, &statement, 1);
    forms_add(&text, context, "k", statement);
    fprintf(w->index, "%05u.%s\t%s\t%s (.version %s, %s)\t%s\t%zu\t%zu\n", w->form, what, column[0],
            statement, forms_version(version), target, is_accepted ? "accept" : "refuse", w->at,
            text.n);
    fwrite(text.buf, 1, text.n, w->modules);
    w->at += text.n;
}

static void write_form(struct writer *w, char *column[FORM_COLUMNS])
{
    struct form_pairs pairs;
    unsigned from, to;
    forms_pairs(&pairs, column);
    if (!pairs.n) {
        write_module(w, column, "withdrawn", forms_target(column[2]), FORM_NEWEST, false);
        return;
    }
    const struct form_pair *p = &pairs.pair[0];
    if (!forms_versions(&pairs, p->target, &from, &to))
        return;
    write_module(w, column, "form", p->target, from, true);
    unsigned before = forms_version_below(from);
    if (before >= p->target->ptx && !forms_accepted(&pairs, p->target, before))
        write_module(w, column, "version", p->target, before, false);
    const struct pt_target *lower =
        forms_target_below(p->target, from < p->target->ptx ? p->target->ptx : from);
    unsigned version = lower && from < lower->ptx ? lower->ptx : from;
    if (lower && !forms_accepted(&pairs, lower, version))
        write_module(w, column, "target", lower, version, false);
}

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(2);
    }
    return f;
}

int main(int argc, char **argv)
{
    static char line[8192];
    char *column[FORM_COLUMNS];
    FILE *forms = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (!forms) {
        fprintf(stderr, "usage: isa_suite FILE FOLDER\n");
        return 2;
    }
    struct writer w = {create(argv[2], "index.tsv"), create(argv[2], "modules.ptx"), 0, 0};
    for (; forms_read(forms, line, sizeof line, column); w.form++)
        if (strncmp(column[3], "cmod", 4))
            write_form(&w, column);
    fclose(forms);
    bool ok = fclose(w.modules) == 0;
    return !(fclose(w.index) == 0 && ok);
}
