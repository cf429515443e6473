/* Kernels of samples/ by the driver API, on a GPU or here. */
#ifndef PTERA_TESTS_HARDWARE_SAMPLES_H
#define PTERA_TESTS_HARDWARE_SAMPLES_H

/* Launches what `line` says, "NAME KERNEL GRID BLOCK SHARED ARGUMENT...", where GRID and BLOCK are
 * X,Y,Z and an ARGUMENT is u32:N, f32:X, or a buffer: zero:BYTES, fill:f32:N:X, fill:u32:N:VALUE,
 * iota:f32:N, iota:u32:N, bytes:N, or hash:u32:N. `tests` is the folder of tests. */
void samples_run(const char *tests, const char *line);

#endif
