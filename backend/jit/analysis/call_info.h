/* Calls of device functions that can be native: what is called, and with what. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_CALL_INFO_H
#define PTERA_BACKEND_JIT_ANALYSIS_CALL_INFO_H

#include "backend/jit/jit.h"

enum { JIT_CALL_ARGS = 16 };

/* One value that is passed; `at` is its place in the arguments. */
struct jit_call_pass {
    const struct pt_operand *o;
    const struct pt_symbol *variable; /* NULL: a register or constant */
    enum pt_type type;
    uint32_t bytes, at;
};

struct jit_call_info {
    uint32_t device; /* as services->call takes it */
    unsigned n;
    struct jit_call_pass args[JIT_CALL_ARGS];
    bool has_result;
    struct jit_call_pass result;
};

/* The instruction is a call of a device function that can be native. */
bool jit_call_info_is_native(const struct jit_facts *a, const struct pt_insn *insn);

/* What is called, and with what. False if the instruction is no call that can be native. */
bool jit_call_info_find(const struct jit_facts *a, const struct pt_insn *insn,
                        struct jit_call_info *call);

#endif
