/* Results: their texts, and the one that a failure of a kernel is. */
#include "runtime/result.h"

const char *ptera_result_text(ptera_result result)
{
    switch (result) {
    case PTERA_OK:
        return "success";
    case PTERA_ERROR_INVALID_ARGUMENT:
        return "invalid argument";
    case PTERA_ERROR_OUT_OF_MEMORY:
        return "out of memory";
    case PTERA_ERROR_INVALID_PTX:
        return "invalid PTX";
    case PTERA_ERROR_UNSUPPORTED_PTX:
        return "PTX that is not supported yet";
    case PTERA_ERROR_FILE:
        return "the file could not be read";
    case PTERA_ERROR_NOT_FOUND:
        return "not found";
    case PTERA_ERROR_INVALID_LAUNCH:
        return "invalid launch";
    case PTERA_ERROR_NOT_INITIALIZED:
        return "not initialized in this process, which is a fork";
    case PTERA_ERROR_ILLEGAL_ADDRESS:
        return "illegal address";
    case PTERA_ERROR_MISALIGNED_ADDRESS:
        return "misaligned address";
    case PTERA_ERROR_TRAP:
        return "trap";
    case PTERA_ERROR_ASSERT:
        return "failed assertion";
    case PTERA_ERROR_STACK_OVERFLOW:
        return "stack overflow";
    case PTERA_ERROR_ILLEGAL_INSTRUCTION:
        return "illegal instruction";
    case PTERA_ERROR_DEADLOCK:
        return "deadlock";
    case PTERA_ERROR_TIMEOUT:
        return "timeout";
    case PTERA_ERROR_HOST_FUNCTION:
        return "a host function failed";
    case PTERA_ERROR_FINDINGS:
        return "a checker found something";
    case PTERA_ERROR_CANCELLED:
        return "cancelled";
    }
    return "unknown result";
}

ptera_result pt_result_of_fault(enum pt_fault_kind kind)
{
    switch (kind) {
    case PT_FAULT_ILLEGAL_ADDRESS:
    case PT_FAULT_BEYOND_LOCAL:
    case PT_FAULT_INVALID_FREE:
        return PTERA_ERROR_ILLEGAL_ADDRESS;
    case PT_FAULT_MISALIGNED:
        return PTERA_ERROR_MISALIGNED_ADDRESS;
    case PT_FAULT_TRAP:
        return PTERA_ERROR_TRAP;
    case PT_FAULT_ASSERT:
        return PTERA_ERROR_ASSERT;
    case PT_FAULT_STACK_OVERFLOW:
        return PTERA_ERROR_STACK_OVERFLOW;
    case PT_FAULT_ILLEGAL_INSTRUCTION:
    case PT_FAULT_MASK:
    case PT_FAULT_BARRIER:
    case PT_FAULT_MBARRIER:
        return PTERA_ERROR_ILLEGAL_INSTRUCTION;
    case PT_FAULT_DEADLOCK:
        return PTERA_ERROR_DEADLOCK;
    case PT_FAULT_TIMEOUT:
        return PTERA_ERROR_TIMEOUT;
    case PT_FAULT_OUT_OF_MEMORY:
        return PTERA_ERROR_OUT_OF_MEMORY;
    case PT_FAULT_HOST_FUNCTION:
        return PTERA_ERROR_HOST_FUNCTION;
    case PT_FAULT_CANCELLED:
        return PTERA_ERROR_CANCELLED;
    case PT_FAULT_NONE:
        break;
    }
    return PTERA_OK;
}
