/* Calls every function of device mathematics that clang declares ahead: each must end in a
 * definition or in libdevice. */
#include <cuda_runtime.h>
extern "C" __device__ long t0_abs(long a0)
{
    return abs(a0);
}
extern "C" __device__ long long t1_abs(long long a0)
{
    return abs(a0);
}
extern "C" __device__ double t2_abs(double a0)
{
    return abs(a0);
}
extern "C" __device__ float t3_abs(float a0)
{
    return abs(a0);
}
extern "C" __device__ int t4_abs(int a0)
{
    return abs(a0);
}
extern "C" __device__ double t5_acos(double a0)
{
    return acos(a0);
}
extern "C" __device__ float t6_acos(float a0)
{
    return acos(a0);
}
extern "C" __device__ double t7_acosh(double a0)
{
    return acosh(a0);
}
extern "C" __device__ float t8_acosh(float a0)
{
    return acosh(a0);
}
extern "C" __device__ double t9_asin(double a0)
{
    return asin(a0);
}
extern "C" __device__ float t10_asin(float a0)
{
    return asin(a0);
}
extern "C" __device__ double t11_asinh(double a0)
{
    return asinh(a0);
}
extern "C" __device__ float t12_asinh(float a0)
{
    return asinh(a0);
}
extern "C" __device__ double t13_atan2(double a0, double a1)
{
    return atan2(a0, a1);
}
extern "C" __device__ float t14_atan2(float a0, float a1)
{
    return atan2(a0, a1);
}
extern "C" __device__ double t15_atan(double a0)
{
    return atan(a0);
}
extern "C" __device__ float t16_atan(float a0)
{
    return atan(a0);
}
extern "C" __device__ double t17_atanh(double a0)
{
    return atanh(a0);
}
extern "C" __device__ float t18_atanh(float a0)
{
    return atanh(a0);
}
extern "C" __device__ double t19_cbrt(double a0)
{
    return cbrt(a0);
}
extern "C" __device__ float t20_cbrt(float a0)
{
    return cbrt(a0);
}
extern "C" __device__ double t21_ceil(double a0)
{
    return ceil(a0);
}
extern "C" __device__ float t22_ceil(float a0)
{
    return ceil(a0);
}
extern "C" __device__ double t23_copysign(double a0, double a1)
{
    return copysign(a0, a1);
}
extern "C" __device__ float t24_copysign(float a0, float a1)
{
    return copysign(a0, a1);
}
extern "C" __device__ double t25_cos(double a0)
{
    return cos(a0);
}
extern "C" __device__ float t26_cos(float a0)
{
    return cos(a0);
}
extern "C" __device__ double t27_cosh(double a0)
{
    return cosh(a0);
}
extern "C" __device__ float t28_cosh(float a0)
{
    return cosh(a0);
}
extern "C" __device__ double t29_erfc(double a0)
{
    return erfc(a0);
}
extern "C" __device__ float t30_erfc(float a0)
{
    return erfc(a0);
}
extern "C" __device__ double t31_erf(double a0)
{
    return erf(a0);
}
extern "C" __device__ float t32_erf(float a0)
{
    return erf(a0);
}
extern "C" __device__ double t33_exp2(double a0)
{
    return exp2(a0);
}
extern "C" __device__ float t34_exp2(float a0)
{
    return exp2(a0);
}
extern "C" __device__ double t35_exp(double a0)
{
    return exp(a0);
}
extern "C" __device__ float t36_exp(float a0)
{
    return exp(a0);
}
extern "C" __device__ double t37_expm1(double a0)
{
    return expm1(a0);
}
extern "C" __device__ float t38_expm1(float a0)
{
    return expm1(a0);
}
extern "C" __device__ double t39_fabs(double a0)
{
    return fabs(a0);
}
extern "C" __device__ float t40_fabs(float a0)
{
    return fabs(a0);
}
extern "C" __device__ double t41_fdim(double a0, double a1)
{
    return fdim(a0, a1);
}
extern "C" __device__ float t42_fdim(float a0, float a1)
{
    return fdim(a0, a1);
}
extern "C" __device__ double t43_floor(double a0)
{
    return floor(a0);
}
extern "C" __device__ float t44_floor(float a0)
{
    return floor(a0);
}
extern "C" __device__ double t45_fma(double a0, double a1, double a2)
{
    return fma(a0, a1, a2);
}
extern "C" __device__ float t46_fma(float a0, float a1, float a2)
{
    return fma(a0, a1, a2);
}
extern "C" __device__ double t47_fmax(double a0, double a1)
{
    return fmax(a0, a1);
}
extern "C" __device__ float t48_fmax(float a0, float a1)
{
    return fmax(a0, a1);
}
extern "C" __device__ double t49_fmin(double a0, double a1)
{
    return fmin(a0, a1);
}
extern "C" __device__ float t50_fmin(float a0, float a1)
{
    return fmin(a0, a1);
}
extern "C" __device__ double t51_fmod(double a0, double a1)
{
    return fmod(a0, a1);
}
extern "C" __device__ float t52_fmod(float a0, float a1)
{
    return fmod(a0, a1);
}
extern "C" __device__ int t53_fpclassify(double a0)
{
    return fpclassify(a0);
}
extern "C" __device__ int t54_fpclassify(float a0)
{
    return fpclassify(a0);
}
extern "C" __device__ double t55_frexp(double a0, int *a1)
{
    return frexp(a0, a1);
}
extern "C" __device__ float t56_frexp(float a0, int *a1)
{
    return frexp(a0, a1);
}
extern "C" __device__ double t57_hypot(double a0, double a1)
{
    return hypot(a0, a1);
}
extern "C" __device__ float t58_hypot(float a0, float a1)
{
    return hypot(a0, a1);
}
extern "C" __device__ int t59_ilogb(double a0)
{
    return ilogb(a0);
}
extern "C" __device__ int t60_ilogb(float a0)
{
    return ilogb(a0);
}
extern "C" __device__ bool t61_isfinite(long double a0)
{
    return isfinite(a0);
}
extern "C" __device__ bool t62_isfinite(double a0)
{
    return isfinite(a0);
}
extern "C" __device__ bool t63_isfinite(float a0)
{
    return isfinite(a0);
}
extern "C" __device__ bool t64_isgreater(double a0, double a1)
{
    return isgreater(a0, a1);
}
extern "C" __device__ bool t65_isgreaterequal(double a0, double a1)
{
    return isgreaterequal(a0, a1);
}
extern "C" __device__ bool t66_isgreaterequal(float a0, float a1)
{
    return isgreaterequal(a0, a1);
}
extern "C" __device__ bool t67_isgreater(float a0, float a1)
{
    return isgreater(a0, a1);
}
extern "C" __device__ bool t68_isinf(long double a0)
{
    return isinf(a0);
}
extern "C" __device__ bool t69_isinf(double a0)
{
    return isinf(a0);
}
extern "C" __device__ bool t70_isinf(float a0)
{
    return isinf(a0);
}
extern "C" __device__ bool t71_isless(double a0, double a1)
{
    return isless(a0, a1);
}
extern "C" __device__ bool t72_islessequal(double a0, double a1)
{
    return islessequal(a0, a1);
}
extern "C" __device__ bool t73_islessequal(float a0, float a1)
{
    return islessequal(a0, a1);
}
extern "C" __device__ bool t74_isless(float a0, float a1)
{
    return isless(a0, a1);
}
extern "C" __device__ bool t75_islessgreater(double a0, double a1)
{
    return islessgreater(a0, a1);
}
extern "C" __device__ bool t76_islessgreater(float a0, float a1)
{
    return islessgreater(a0, a1);
}
extern "C" __device__ bool t77_isnan(long double a0)
{
    return isnan(a0);
}
extern "C" __device__ bool t78_isnan(double a0)
{
    return isnan(a0);
}
extern "C" __device__ bool t79_isnan(float a0)
{
    return isnan(a0);
}
extern "C" __device__ bool t80_isnormal(double a0)
{
    return isnormal(a0);
}
extern "C" __device__ bool t81_isnormal(float a0)
{
    return isnormal(a0);
}
extern "C" __device__ bool t82_isunordered(double a0, double a1)
{
    return isunordered(a0, a1);
}
extern "C" __device__ bool t83_isunordered(float a0, float a1)
{
    return isunordered(a0, a1);
}
extern "C" __device__ long t84_labs(long a0)
{
    return labs(a0);
}
extern "C" __device__ double t85_ldexp(double a0, int a1)
{
    return ldexp(a0, a1);
}
extern "C" __device__ float t86_ldexp(float a0, int a1)
{
    return ldexp(a0, a1);
}
extern "C" __device__ double t87_lgamma(double a0)
{
    return lgamma(a0);
}
extern "C" __device__ float t88_lgamma(float a0)
{
    return lgamma(a0);
}
extern "C" __device__ long long t89_llabs(long long a0)
{
    return llabs(a0);
}
extern "C" __device__ long long t90_llrint(double a0)
{
    return llrint(a0);
}
extern "C" __device__ long long t91_llrint(float a0)
{
    return llrint(a0);
}
extern "C" __device__ double t92_log10(double a0)
{
    return log10(a0);
}
extern "C" __device__ float t93_log10(float a0)
{
    return log10(a0);
}
extern "C" __device__ double t94_log1p(double a0)
{
    return log1p(a0);
}
extern "C" __device__ float t95_log1p(float a0)
{
    return log1p(a0);
}
extern "C" __device__ double t96_log2(double a0)
{
    return log2(a0);
}
extern "C" __device__ float t97_log2(float a0)
{
    return log2(a0);
}
extern "C" __device__ double t98_logb(double a0)
{
    return logb(a0);
}
extern "C" __device__ float t99_logb(float a0)
{
    return logb(a0);
}
extern "C" __device__ double t100_log(double a0)
{
    return log(a0);
}
extern "C" __device__ float t101_log(float a0)
{
    return log(a0);
}
extern "C" __device__ long t102_lrint(double a0)
{
    return lrint(a0);
}
extern "C" __device__ long t103_lrint(float a0)
{
    return lrint(a0);
}
extern "C" __device__ long t104_lround(double a0)
{
    return lround(a0);
}
extern "C" __device__ long t105_lround(float a0)
{
    return lround(a0);
}
extern "C" __device__ long long
t106_llround(float); // No llround(double a0) { return llround(a0); }
extern "C" __device__ double t107_modf(double a0, double *a1)
{
    return modf(a0, a1);
}
extern "C" __device__ float t108_modf(float a0, float *a1)
{
    return modf(a0, a1);
}
extern "C" __device__ double t109_nan(const char *a0)
{
    return nan(a0);
}
extern "C" __device__ float t110_nanf(const char *a0)
{
    return nanf(a0);
}
extern "C" __device__ double t111_nearbyint(double a0)
{
    return nearbyint(a0);
}
extern "C" __device__ float t112_nearbyint(float a0)
{
    return nearbyint(a0);
}
extern "C" __device__ double t113_nextafter(double a0, double a1)
{
    return nextafter(a0, a1);
}
extern "C" __device__ float t114_nextafter(float a0, float a1)
{
    return nextafter(a0, a1);
}
extern "C" __device__ double t115_pow(double a0, double a1)
{
    return pow(a0, a1);
}
extern "C" __device__ double t116_pow(double a0, int a1)
{
    return pow(a0, a1);
}
extern "C" __device__ float t117_pow(float a0, float a1)
{
    return pow(a0, a1);
}
extern "C" __device__ float t118_pow(float a0, int a1)
{
    return pow(a0, a1);
}
extern "C" __device__ double t119_remainder(double a0, double a1)
{
    return remainder(a0, a1);
}
extern "C" __device__ float t120_remainder(float a0, float a1)
{
    return remainder(a0, a1);
}
extern "C" __device__ double t121_remquo(double a0, double a1, int *a2)
{
    return remquo(a0, a1, a2);
}
extern "C" __device__ float t122_remquo(float a0, float a1, int *a2)
{
    return remquo(a0, a1, a2);
}
extern "C" __device__ double t123_rint(double a0)
{
    return rint(a0);
}
extern "C" __device__ float t124_rint(float a0)
{
    return rint(a0);
}
extern "C" __device__ double t125_round(double a0)
{
    return round(a0);
}
extern "C" __device__ float t126_round(float a0)
{
    return round(a0);
}
extern "C" __device__ double t127_scalbln(double a0, long a1)
{
    return scalbln(a0, a1);
}
extern "C" __device__ float t128_scalbln(float a0, long a1)
{
    return scalbln(a0, a1);
}
extern "C" __device__ double t129_scalbn(double a0, int a1)
{
    return scalbn(a0, a1);
}
extern "C" __device__ float t130_scalbn(float a0, int a1)
{
    return scalbn(a0, a1);
}
extern "C" __device__ bool t131_signbit(long double a0)
{
    return signbit(a0);
}
extern "C" __device__ bool t132_signbit(double a0)
{
    return signbit(a0);
}
extern "C" __device__ bool t133_signbit(float a0)
{
    return signbit(a0);
}
extern "C" __device__ double t134_sin(double a0)
{
    return sin(a0);
}
extern "C" __device__ float t135_sin(float a0)
{
    return sin(a0);
}
extern "C" __device__ double t136_sinh(double a0)
{
    return sinh(a0);
}
extern "C" __device__ float t137_sinh(float a0)
{
    return sinh(a0);
}
extern "C" __device__ double t138_sqrt(double a0)
{
    return sqrt(a0);
}
extern "C" __device__ float t139_sqrt(float a0)
{
    return sqrt(a0);
}
extern "C" __device__ double t140_tan(double a0)
{
    return tan(a0);
}
extern "C" __device__ float t141_tan(float a0)
{
    return tan(a0);
}
extern "C" __device__ double t142_tanh(double a0)
{
    return tanh(a0);
}
extern "C" __device__ float t143_tanh(float a0)
{
    return tanh(a0);
}
extern "C" __device__ double t144_tgamma(double a0)
{
    return tgamma(a0);
}
extern "C" __device__ float t145_tgamma(float a0)
{
    return tgamma(a0);
}
extern "C" __device__ double t146_trunc(double a0)
{
    return trunc(a0);
}
extern "C" __device__ float t147_trunc(float a0)
{
    return trunc(a0);
}