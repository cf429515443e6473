/* Functions of CUDA's device runtime that every module may declare and call: the machine provides
 * them. They do their work for one thread, without waiting for others.
 */
#ifndef PTERA_IR_DEVICE_H
#define PTERA_IR_DEVICE_H

#define PT_DEVICE_FUNCTIONS(X) X(vprintf) X(malloc) X(free) X(__assertfail)

enum pt_device_function {
    PT_DEVICE_NONE,
#define X(name) PT_DEVICE_##name,
    PT_DEVICE_FUNCTIONS(X)
#undef X
    PT_DEVICE_COUNT
};

/* What a function of the machine or of the embedder takes or gives, at most. */
enum { PT_DEVICE_BYTES = 1024 };

/* PT_DEVICE_NONE if it is none of them. */
enum pt_device_function pt_device_find(const char *name);

#endif
