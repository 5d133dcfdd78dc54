/* The loops of exec_kernels.cu in plain C, for comparison; built with -O3 in a file of their own.
 */
#ifndef SSAN_TESTS_BENCH_EXEC_REFERENCE_H
#define SSAN_TESTS_BENCH_EXEC_REFERENCE_H

#include <stddef.h>

void c_scale(float *x, int n);
void c_add(float *x, int n);
void c_poly(float *x, int n);
void c_collatz(int *x, int n);
void c_matmul(const float *a, const float *b, float *c, int n);

#endif
