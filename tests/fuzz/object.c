/* libFuzzer target: objects as they lie in the cache, of any bytes, are loaded or refused, and
 * nothing beyond them is read. Loaded code is not run. */
#include <stdlib.h>
#include <string.h>

#include "backend/exec.h"
#include "backend/jit/object/line_table.h"
#include "backend/jit/object/loader.h"
#include "backend/jit/object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t symbols[8] = {0};
    struct pt_module module;
    struct pt_image image = {.module = &module, .symbols = symbols, .func_base = 1 << 20};
    struct pt_program program = {.engine = pt_interp(NULL), .image = &image};
    struct jit_object object = {.bytes = malloc(size ? size : 1), .size = size};
    struct jit_places places;
    struct jit_loaded code;
    const char *why;
    memset(&module, 0, sizeof module);
    module.symbols.n = sizeof symbols / sizeof *symbols;
    /* A copy of the exact size, so that a read past the end is seen. */
    if (size)
        memcpy(object.bytes, data, size);
    if (jit_loader_load(&object, &program, &code, &why)) {
        uintptr_t entry = (uintptr_t)code.entry - (uintptr_t)code.text;
        jit_line_table_read(&object, &places);
        if (entry >= code.text_bytes)
            abort();
        free(places.v);
        jit_loader_unload(&code);
    }
    free(object.bytes);
    return 0;
}
