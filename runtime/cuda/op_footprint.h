/* What an operation accesses, but for kernels, which tell it themselves. */
#ifndef PTERA_CUDA_OP_FOOTPRINT_H
#define PTERA_CUDA_OP_FOOTPRINT_H

struct pt_cu_op;
struct pt_footprint;

void pt_cu_op_footprint_add(const struct pt_cu_op *op, struct pt_footprint *footprint);

#endif
