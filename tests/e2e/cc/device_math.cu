/* Calls every kind of device function that the headers offer; with a device, checks those with
 * exact answers. */
#include <cuda_runtime.h>
#include <math_constants.h>

#include <cstdio>

template <class T> __device__ T transcendental(T x)
{
    T s, c;
    sincos(x, &s, &c);
    return sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + atan2(x, x) + sinh(x) +
           cosh(x) + tanh(x) + asinh(x) + acosh(x) + atanh(x) + exp(x) + exp2(x) + exp10(x) +
           expm1(x) + log(x) + log2(x) + log10(x) + log1p(x) + pow(x, x) + sqrt(x) + cbrt(x) +
           hypot(x, x) + erf(x) + erfc(x) + tgamma(x) + lgamma(x) + fmod(x, x) + remainder(x, x) +
           s + c;
}

__global__ void transcendentals(float *f, double *d)
{
    int i = threadIdx.x;
    f[i] = transcendental(f[i]) + __sinf(f[i]) + __cosf(f[i]) + __tanf(f[i]) + __expf(f[i]) +
           __logf(f[i]) + __log2f(f[i]) + __log10f(f[i]) + __powf(f[i], 2) + __fdividef(f[i], 3) +
           __exp10f(f[i]) + rsqrtf(f[i]) + sinpif(f[i]) + cospif(f[i]) + normcdff(f[i]) +
           norm3df(f[i], 1, 2) + rhypotf(f[i], 1) + rcbrtf(f[i]) + CUDART_PI_F;
    d[i] = transcendental(d[i]) + rsqrt(d[i]) + sinpi(d[i]) + CUDART_PI;
}

__global__ void roundings(int *out, float f, double d)
{
    int k = 0;
    out[k++] = (int)floorf(f) + (int)ceilf(f) + (int)truncf(f) + (int)rintf(f) + (int)roundf(f);
    out[k++] = __float2int_rn(f) + __float2int_rz(f) + __float2int_rd(f) + __float2int_ru(f);
    out[k++] = (int)__float2uint_rn(f) + (int)__float2ll_rn(f) + __double2int_rn(d);
    out[k++] = (int)__fadd_rn(f, 1) + (int)__fmul_rn(f, 2) + (int)__fdiv_rn(f, 1) +
               (int)__fmaf_rn(f, 2, 1) + (int)__dadd_rn(d, 1) + (int)__fsqrt_rn(16) +
               (int)__fsub_rn(f, 1) + (int)__frcp_rn(1);
    out[k++] = __float_as_int(1.0f) + (int)__int_as_float(0x3f800000) + __double2hiint(d) +
               (int)__hiloint2double(__double2hiint(d), __double2loint(d));
    out[k++] = (int)llrintf(f) + (int)llround(d) + (int)lroundf(f) + (int)nearbyint(d);
    int exponent;
    float whole;
    out[k++] = (int)(frexpf(f, &exponent) * 4) + exponent;
    out[k++] = (int)(modff(f, &whole) * 4) + (int)whole;
    out[k++] = (int)ldexpf(1, 4) + (int)scalbnf(1, 3) + ilogbf(8) + (int)fdimf(3, 1) +
               (int)copysignf(2, -1);
    out[k++] = isnan(f) + isinf(d) + (isfinite(f) ? 1 : 0) + (signbit(-1.0f) ? 1 : 0);
    out[k++] = (int)__saturatef(7) + (int)fminf(1, 2) + (int)fmaxf(1, 2) + (int)fmin(1.0, 2.0);
}

__global__ void integers(int *out, int a, unsigned int u, long long l)
{
    int k = 0;
    out[k++] = __clz(a) + __clzll(l) + __ffs(a) + __ffsll(l) + __popc(u) + __popcll(l);
    out[k++] = (int)(__brev(u) >> 24) + (int)(__brevll(l) >> 56) + (int)__byte_perm(u, a, 0x3210);
    out[k++] = __mulhi(a, a) + (int)__umulhi(u, u) + (int)__mul64hi(l, l) + __mul24(a, 3) +
               (int)__umul24(u, 3);
    out[k++] = __hadd(a, a) + __rhadd(a, 1) + (int)__uhadd(u, u) + (int)__sad(a, 1, u) +
               (int)__usad(u, 1u, u);
    out[k++] = min(a, 3) + max(a, 3) + min(u, 3u) + (int)max(l, 3LL) + abs(-a) + (int)llabs(-l);
    out[k++] = (int)__funnelshift_l(u, u, 4) + (int)__funnelshift_r(u, u, 4);
    out[k++] = (int)__isGlobal(out) + (int)__isShared(out);
    out[k++] = __dp4a(a, 0x01ff0203, -1) + (int)__dp4a(u, 0xffu, 2u) + __dp2a_lo(a, a, a) +
               (int)__dp2a_hi(u, 0x0100u, 1u);
}

int main()
{
    enum { COUNT = 16 };
    static_assert(COUNT >= 11, "room for every result");
    int *out, host[COUNT] = {0};
    float *f;
    double *d;
    if (cudaMalloc(&out, sizeof host) || cudaMalloc(&f, 32 * sizeof(float)) ||
        cudaMalloc(&d, 32 * sizeof(double)) || cudaMemset(out, 0, sizeof host) ||
        cudaMemset(f, 0, 32 * sizeof(float)) || cudaMemset(d, 0, 32 * sizeof(double))) {
        return 1;
    }
    transcendentals<<<1, 32>>>(f, d);
    roundings<<<1, 1>>>(out, 2.25f, 2.25);
    if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return 1;
    }
    static const int rounded[] = {2 + 3 + 2 + 2 + 2,
                                  2 + 2 + 2 + 3,
                                  2 + 2 + 2,
                                  3 + 4 + 2 + 5 + 3 + 4 + 1 + 1,
                                  0x3f800000 + 1 + 0x40020000 + 2,
                                  2 + 2 + 2 + 2,
                                  2 + 2, /* 2.25 is 0.5625 * 2^2 */
                                  1 + 2,
                                  16 + 8 + 3 + 2 - 2,
                                  0 + 0 + 1 + 1,
                                  1 + 1 + 2 + 1};
    int bad = 0;
    for (int i = 0; i < 11; i++) {
        bad += host[i] != rounded[i];
    }
    integers<<<1, 1>>>(out, 12, 0xf0u, 12);
    if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return 1;
    }
    static const int whole[] = {28 + 60 + 3 + 3 + 4 + 2,
                                0x0f000000 / 0x1000000 + 0x30 + 0xf0,
                                0 + 0 + 0 + 36 + 720,
                                12 + 7 + 0xf0 + 0xfb + 239 + 0xf0,
                                3 + 12 + 3 + 12 + 12 + 12,
                                (0xf0 << 4) + 0xf,
                                1 + 0,
                                (12 * 3 - 1) + (0xf0 * 0xff + 2) + (12 * 12 + 12) + 1};
    for (int i = 0; i < 8; i++) {
        bad += host[i] != whole[i];
        if (host[i] != whole[i]) {
            std::printf("integers %d: %d instead of %d\n", i, host[i], whole[i]);
        }
    }
    std::printf("elements=%d mismatches=%d\n", 19, bad);
    return bad ? 2 : 0;
}
