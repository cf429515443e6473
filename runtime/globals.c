/* The variables of a module: where they lie, what they hold at first, and who asks for them. */
#include "runtime/globals.h"

#include <string.h>

#include "backend/semantics/surface.h"
#include "ir/bits.h"
#include "ir/layout.h"
#include "runtime/engine.h"
#include "runtime/fit.h"
#include "runtime/twin.h"

enum { FUNC_STRIDE = 16, VARIABLE_ALIGN = 16 };

/* A reference to a texture or surface is what its handle leads to, and so is its address one. */
union reference {
    uint64_t key;
    struct pt_texture texture;
    struct pt_surface surface;
};

static bool is_reference(const struct pt_symbol *s)
{
    return s->type == PT_texref || s->type == PT_surfref || s->type == PT_samplerref;
}

static uint64_t bytes_of(const struct pt_symbol *s)
{
    return !is_reference(s) ? s->size : s->size / pt_type_bytes(s->type) * sizeof(union reference);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static bool is_variable(const struct pt_symbol *s)
{
    return pt_layout_is_placed(s, PT_SPACE_GLOBAL) || pt_layout_is_placed(s, PT_SPACE_CONST);
}

/* Gives the variables of a space their offsets in one block, in order of declaration, with
 * `least` for their alignment. False: too large. */
static bool lay_out(ptera_module *module, enum pt_space space, uint32_t least, uint64_t *bytes)
{
    uint64_t end = 0;
    for (uint32_t i = 1; i < module->ir.symbols.n; i++) {
        struct pt_symbol *s = &module->ir.symbols.v[i];
        if (!pt_layout_is_placed(s, space))
            continue;
        end = pt_round_up(end, s->align > least ? s->align : least);
        s->offset = module->symbols[i] = end;
        if (s->size > SIZE_MAX / 64 || end > SIZE_MAX / 4)
            return false;
        end += s->size ? bytes_of(s) : 1; /* no two variables have one address */
    }
    *bytes = end;
    return true;
}

static void move_by(ptera_module *module, enum pt_space space, const uint8_t *base)
{
    for (uint32_t i = 1; i < module->ir.symbols.n; i++)
        if (pt_layout_is_placed(&module->ir.symbols.v[i], space))
            module->symbols[i] += (uintptr_t)base;
}

static bool give_memory(ptera_module *module, uint64_t global, uint64_t constant)
{
    if (global) {
        module->globals = pt_mem_alloc(&module->engine->mem, global, PT_MEM_GLOBALS);
        if (!module->globals)
            return false;
        move_by(module, PT_SPACE_GLOBAL, module->globals);
    }
    if (constant) {
        if (!pt_twin_map(&module->constants, constant))
            return false;
        module->constants_bytes = constant;
        move_by(module, PT_SPACE_CONST, module->constants.read);
    }
    module->funcs_bytes = pt_mem_round((size_t)module->ir.funcs.n * FUNC_STRIDE);
    module->funcs = pt_mem_reserve(module->funcs_bytes, pt_mem_page());
    return module->funcs != NULL;
}

ptera_result pt_globals_place(ptera_module *module)
{
    uint64_t global = 0, constant = 0;
    module->symbols = pt_arena_alloc(&module->ir.arena, module->ir.symbols.n * sizeof(uint64_t));
    if (!lay_out(module, PT_SPACE_GLOBAL, PT_MEM_ALIGN, &global) ||
        !lay_out(module, PT_SPACE_CONST, 1, &constant))
        return PTERA_ERROR_OUT_OF_MEMORY;
    if (!pt_fit_constants(module, constant))
        return PTERA_ERROR_INVALID_PTX;
    return give_memory(module, pt_round_up(global, VARIABLE_ALIGN),
                       pt_round_up(constant, VARIABLE_ALIGN))
               ? PTERA_OK
               : PTERA_ERROR_OUT_OF_MEMORY;
}

/* Where the host writes a variable: .const variables lie in memory that has a second address for
 * it. */
static uint8_t *host_address(const ptera_module *module, uint32_t symbol)
{
    uint64_t address = module->symbols[symbol];
    if (module->ir.symbols.v[symbol].space != PT_SPACE_CONST)
        return (uint8_t *)(uintptr_t)address;
    return module->constants.write + (address - (uintptr_t)module->constants.read);
}

/* ---- initialisers ---------------------------------------------------------------------------- */

/* The address of a variable: generic, or in its space. Global memory is identity-mapped in the
 * generic space. */
static uint64_t variable_address(const ptera_module *module, uint32_t symbol, bool is_generic)
{
    const struct pt_symbol *s = &module->ir.symbols.v[symbol];
    return s->space == PT_SPACE_CONST && !is_generic ? s->offset : module->symbols[symbol];
}

/* PTX ISA, "Initializers": the address of a variable in its space, generic(variable), or of a
 * function; mask() takes single bytes of it. */
static void relocate(const ptera_module *module, uint8_t *to, const struct pt_reloc *reloc)
{
    uint64_t value = reloc->is_func
                         ? (uintptr_t)module->funcs + (uint64_t)reloc->target * FUNC_STRIDE
                         : variable_address(module, reloc->target, reloc->is_generic);
    value = (value + (uint64_t)reloc->addend) >> reloc->shift;
    memcpy(to + reloc->offset, &value, reloc->bytes);
}

/* Bound to nothing: sizes are 0, what is read is 0. */
static void initialise_reference(const struct pt_symbol *s, uint8_t *to)
{
    for (uint64_t at = 0; at < bytes_of(s); at += sizeof(union reference)) {
        uint64_t handle = (uintptr_t)to + at;
        uint64_t key = s->type == PT_surfref ? pt_surface_key(handle) : pt_texture_key(handle);
        memcpy(to + at, &key, sizeof key);
    }
}

void pt_globals_initialise(ptera_module *module)
{
    for (uint32_t i = 1; i < module->ir.symbols.n; i++) {
        const struct pt_symbol *s = &module->ir.symbols.v[i];
        if (!is_variable(s))
            continue;
        uint8_t *to = host_address(module, i);
        if (s->init)
            memcpy(to, s->init, s->init_size < s->size ? s->init_size : s->size);
        for (uint32_t k = 0; k < s->relocs.n; k++)
            relocate(module, to, &s->relocs.v[k]);
        if (is_reference(s))
            initialise_reference(s, to);
    }
}

bool pt_globals_reference(const ptera_module *module, const char *name, enum pt_type type,
                          uint64_t *address)
{
    for (uint32_t i = 1; module->symbols && i < module->ir.symbols.n; i++) {
        const struct pt_symbol *s = &module->ir.symbols.v[i];
        *address = module->symbols[i];
        if (s->func == PT_NONE && s->type == type && is_variable(s) && strcmp(s->name, name) == 0)
            return true;
    }
    return false;
}

bool pt_globals_check_externs(ptera_module *module)
{
    struct pt_module *ir = &module->ir;
    uint32_t errors = ir->diags.errors;
    for (uint32_t i = 1; i < ir->symbols.n; i++) {
        const struct pt_symbol *s = &ir->symbols.v[i];
        if (s->linkage != PT_LINK_EXTERN || !s->is_used ||
            (s->space != PT_SPACE_GLOBAL && s->space != PT_SPACE_CONST))
            continue;
        if (s->size)
            pt_diag_warning(&ir->diags, s->line, 1, 1,
                            "unresolved extern variable '%s' is taken as defined here", s->name);
        else
            pt_diag_error(&ir->diags, s->line, 1, 1, "unresolved extern variable '%s'", s->name);
    }
    return ir->diags.errors == errors;
}

/* ---- looking at variables ------------------------------------------------------------------- */

uint32_t pt_globals_near(const ptera_module *module, uint64_t address)
{
    uint64_t best = PT_MEM_ALIGN; /* farther away a variable explains nothing */
    uint32_t found = PT_NONE;
    for (uint32_t i = 1; module->symbols && i < module->ir.symbols.n; i++) {
        const struct pt_symbol *s = &module->ir.symbols.v[i];
        if (!is_variable(s))
            continue;
        uint64_t offset = address - module->symbols[i];
        uint64_t distance = offset < s->size ? 0 : offset - s->size + 1;
        if (address >= module->symbols[i] && distance < best) {
            best = distance;
            found = i;
        }
    }
    return found;
}

static void give_variable(const ptera_module *module, uint32_t symbol, void **address,
                          size_t *bytes)
{
    if (address)
        *address = host_address(module, symbol);
    if (bytes)
        *bytes = module->ir.symbols.v[symbol].size;
}

ptera_result ptera_module_variable(ptera_module *module, const char *name, void **address,
                                   size_t *bytes)
{
    if (!module || !name)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    for (uint32_t i = 1; module->symbols && i < module->ir.symbols.n; i++) {
        const struct pt_symbol *s = &module->ir.symbols.v[i];
        if (s->func != PT_NONE || strcmp(s->name, name) != 0 || !is_variable(s))
            continue;
        if (is_reference(s))
            return PTERA_ERROR_INVALID_ARGUMENT;
        give_variable(module, i, address, bytes);
        return PTERA_OK;
    }
    return PTERA_ERROR_NOT_FOUND;
}

ptera_result ptera_module_variable_at(ptera_module *module, unsigned index, const char **name,
                                      void **address, size_t *bytes)
{
    if (!module)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    for (uint32_t i = 1; module->symbols && i < module->ir.symbols.n; i++) {
        const struct pt_symbol *s = &module->ir.symbols.v[i];
        if (!is_variable(s) || index-- > 0)
            continue;
        if (name)
            *name = s->name;
        give_variable(module, i, address, bytes);
        return PTERA_OK;
    }
    return PTERA_ERROR_NOT_FOUND;
}
