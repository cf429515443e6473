/* The number of registers that NVIDIA's assembler would choose, from the features of a function. */
#ifndef PTERA_RUNTIME_REGISTERS_ESTIMATE_H
#define PTERA_RUNTIME_REGISTERS_ESTIMATE_H

#include "runtime/registers/features.h"

unsigned pt_estimate_registers(const int32_t features[PT_FEATURES]);

#endif
