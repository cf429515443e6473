/* Blocks of 128 bits in modes: BC6H, halves, and BC7, bytes. */
#ifndef PTERA_BACKEND_SEMANTICS_TEXTURE_BPTC_H
#define PTERA_BACKEND_SEMANTICS_TEXTURE_BPTC_H

#include <stdbool.h>
#include <stdint.h>

void pt_texture_bptc_decode_halves(const uint32_t *block, unsigned at, bool is_signed,
                                   uint32_t *texel);
void pt_texture_bptc_decode_bytes(const uint32_t *block, unsigned at, uint32_t *texel);

#endif
