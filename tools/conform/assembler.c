/* Chapters of modules that must be accepted, and of others that must be refused. index.tsv, a line
 * a module: name, chapter, what is tested, "accept" or "refuse", where in modules.ptx it begins,
 * and its bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kind.h"

struct module {
    const char *text;
    size_t bytes;
    bool is_accepted;
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t all, at = strtoul(field[4], NULL, 10);
    const char *texts = conform_suite_read(set->suite, set->name, "modules.ptx", &all);
    struct module *m = malloc(sizeof *m);
    if (!texts || !m)
        return false;
    *m = (struct module){texts + at, strtoul(field[5], NULL, 10), !strcmp(field[3], "accept")};
    return at <= all && m->bytes <= all - at &&
           conform_row_add(
               rows,
               &(struct conform_row){
                   .set = set, .chapter = field[1], .name = field[0], .form = field[2], .data = m});
}

static char *text(const struct conform_row *row)
{
    const struct module *m = row->data;
    return strndup(m->text, m->bytes);
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    const struct module *m = row->data;
    char *ptx = text(row);
    CUmodule module = NULL;
    if (!ptx) {
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host");
        return;
    }
    if (conform_launch_claims(worker, ptx, result)) {
        bool is_loaded = conform_launch_load(worker, ptx, -1, &module, result);
        if (is_loaded)
            worker->driver.cuModuleUnload(module);
        if (is_loaded && !m->is_accepted)
            conform_row_tell(result, VERDICT_DIFFERENT, "it is accepted, and must be refused");
        else if (result->verdict == VERDICT_REFUSED && !m->is_accepted)
            conform_row_tell(result, VERDICT_SAME, "%s", "");
    }
    free(ptx);
}

const struct conform_kind conform_assembler = {"assembler", "index.tsv", 6, add, run, text, false};
