#include "bench/exec_reference.h"

void c_scale(float *x, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] *= 2;
    }
}

void c_add(float *x, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] += 1;
    }
}

/* A product and a sum: without FMA instructions fmaf is a call, which would not be what a user
 * writes. */
void c_poly(float *x, int n)
{
    for (int i = 0; i < n; i++) {
        float v = x[i], sum = 1;
        for (int k = 0; k < 64; k++) {
            sum = sum * v + 0.5f;
        }
        x[i] = sum;
    }
}

void c_collatz(int *x, int n)
{
    for (int i = 0; i < n; i++) {
        unsigned v = (unsigned)i + 1;
        int steps = 0;
        while (v != 1) {
            v = v & 1 ? 3 * v + 1 : v >> 1;
            steps++;
        }
        x[i] = steps;
    }
}

void c_matmul(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            c[i * n + j] = 0;
        }
        for (int k = 0; k < n; k++) {
            const float v = a[i * n + k];
            for (int j = 0; j < n; j++) {
                c[i * n + j] += v * b[k * n + j];
            }
        }
    }
}
