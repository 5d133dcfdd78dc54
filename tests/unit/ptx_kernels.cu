/* ptx_kernels.def as one kernel. */
#define FN static __attribute__((device, noinline))
#define CASE(name) static __attribute__((device)) long long name(int t)
#include <__clang_cuda_builtin_vars.h>
#include "ptx_kernels.def"

extern "C" __attribute__((global)) void k(long long *out, bool flag)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    out[0 * n + t] = structs_by_value(t);
    out[1 * n + t] = function_pointers(t);
    out[2 * n + t] = switches(t);
    out[3 * n + t] = local_arrays(t);
    out[4 * n + t] = wide_integers(t);
    out[5 * n + t] = narrow_integers(t);
    out[6 * n + t] = floats(t);
    out[7 * n + t] = early_returns(t);
    out[8 * n + t] = flag ? bits(t) : 0;
}
