/* The function over n lanes of an instruction: the one whose handler the interpreter would
 * select. */
#include "backend/interp/lanes.h"
#include "backend/interp/decode.h"
#include "ir/chapter.h"

static const struct pt_lanes_row *const lists[] = {
#define X(list) PT_LEVEL_NAME(pt_lanes_##list),
    PT_LANES_LISTS(X)
#undef X
};
enum { LISTS = sizeof lists / sizeof *lists };

/* The selectors of these chapters need no operands to choose among the lists. */
static bool is_listed(const struct pt_form *form)
{
    static const char *const chapters[] = {"integer", "float", "logic", "convert"};
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters; i++)
        if (pt_chapter_has(chapters[i], (enum pt_op)form->op))
            return !(form->effects & ~(uint32_t)PT_FX_FP);
    return false;
}

const struct pt_lanes *pt_lanes_of(struct pt_module *module, const struct pt_form *form,
                                   uint64_t *kind)
{
    pt_handler handler = is_listed(form) ? pt_decode_handler(module, form, kind) : NULL;
    for (int list = 0; handler && list < LISTS; list++)
        for (const struct pt_lanes_row *row = lists[list]; row->handler; row++)
            if (row->handler == handler)
                return &row->lanes;
    return NULL;
}

const struct pt_lanes *pt_lanes_named(const char *name)
{
    for (int list = 0; list < LISTS; list++)
        for (const struct pt_lanes_row *row = lists[list]; row->handler; row++)
            if (strcmp(row->lanes.name, name) == 0)
                return &row->lanes;
    return NULL;
}
