/* Images that program loaders get: PTX text, fatbinaries of nvcc and the wrappers around them,
 * machine code. */
#ifndef PTERA_FRONTEND_FATBIN_H
#define PTERA_FRONTEND_FATBIN_H

#include <stdbool.h>

#include "ir/arena.h"

enum pt_image_status {
    PT_IMAGE_OK,
    PT_IMAGE_INVALID,      /* damaged, or none of these */
    PT_IMAGE_NO_PTX,       /* whole, but nothing in it runs on that device */
    PT_IMAGE_NO_JIT,       /* it has PTX, but no machine code in whose place that might be taken */
    PT_IMAGE_NOT_SUPPORTED /* a compression that this build has no library for */
};

/* The PTX of an image. `text` lies in the arena or in the image; several modules (of -rdc=true)
 * are joined as pt_link_text_join does. Where the status is not PT_IMAGE_OK `message` says why
 * in words, without a final newline. */
struct pt_image_text {
    const char *text;
    size_t len;
    bool is_later;     /* it is for a later device: see pt_image_read */
    bool is_assembled; /* of machine code, or of a cubin, some of it */
    const char *message;
};

/* What is taken: what a GPU's driver would, where PTX stands for its machine code, too; PTX that is
 * there as such; PTX only where there is machine code for such a device. */
enum pt_image_jit { PT_IMAGE_JIT_ALLOWED, PT_IMAGE_JIT_FORCED, PT_IMAGE_JIT_DISABLED };

/* As the size of an image of which only the address is known: its own fields tell where it ends. */
#define PT_IMAGE_UNSIZED SIZE_MAX

/* Finds the PTX for a device of compute capability `sm` (90: 9.0). Of several the newest that
 * the device runs is taken; what is for one architecture or family only (sm_90a, sm_100f) counts
 * as newer than the plain one. Where there is none, but machine code for such a device, so that a
 * GPU runs the program, it is PTX for a later one, the earliest of them. A wrapper holds addresses:
 * it is followed only where the size is not known, since then the image is part of a program in
 * memory. */
enum pt_image_status pt_image_read(const void *image, size_t bytes, unsigned sm,
                                   enum pt_image_jit jit, struct pt_arena *arena,
                                   struct pt_image_text *out);

/* The bytes of the fatbinary at `p`, padding to 8 included, if a whole one begins there; else 0. */
size_t pt_fatbin_bytes(const void *p, size_t bytes);
enum { PT_FATBIN_HEADER = 16 }; /* the bytes of one without entries */

#endif
