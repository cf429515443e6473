/* The widest vectors of the machine that a twin is built for. */
#ifndef PTERA_TESTS_BENCH_VECTOR_H
#define PTERA_TESTS_BENCH_VECTOR_H

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
enum { LANES = VECTOR_BYTES / 4 };

#endif
