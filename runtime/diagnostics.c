/* Diagnostics of a module as text, and what they amount to. */
#include "runtime/diagnostics.h"

#include "runtime/engine.h"

void pt_diagnostics_format(ptera_module *module)
{
    struct pt_module *ir = &module->ir;
    while (module->diag_texts.n < ir->diags.list.n) {
        const char *text =
            pt_diag_format(&ir->diags, &ir->diags.list.v[module->diag_texts.n], &ir->arena);
        *pt_vec_push(&ir->arena, &module->diag_texts) = text;
    }
}

ptera_result pt_diagnostics_result(const ptera_module *module, uint32_t from)
{
    ptera_result result = PTERA_ERROR_UNSUPPORTED_PTX;
    const struct pt_diags *diags = &module->ir.diags;
    for (uint32_t i = from; i < diags->list.n; i++)
        if (diags->list.v[i].severity == PT_SEV_ERROR && !diags->list.v[i].unsupported)
            result = PTERA_ERROR_INVALID_PTX;
    return result;
}

const char *pt_diagnostics_first_error(const ptera_module *module, uint32_t from)
{
    for (uint32_t i = from; i < module->diag_texts.n; i++)
        if (module->ir.diags.list.v[i].severity == PT_SEV_ERROR)
            return module->diag_texts.v[i];
    return "";
}
