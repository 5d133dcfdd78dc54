/* Constants of mathematics under CUDA's names; values by their definitions. Device and host code of
 * .cu files. */
#ifndef SSAN_CC_MATH_CONSTANTS_H
#define SSAN_CC_MATH_CONSTANTS_H
#pragma GCC system_header

#define CUDART_INF_F        __builtin_inff()
#define CUDART_NAN_F        __builtin_nanf("")
#define CUDART_MIN_DENORM_F 1.40129846432481707e-45f
#define CUDART_MAX_NORMAL_F 3.40282346638528860e+38f
#define CUDART_ZERO_F       0.0f
#define CUDART_ONE_F        1.0f
#define CUDART_SQRT_HALF_F  0.70710678118654752f
#define CUDART_SQRT_TWO_F   1.41421356237309505f
#define CUDART_LOG2E_F      1.44269504088896341f
#define CUDART_LN2_F        0.69314718055994531f
#define CUDART_PI_F         3.14159265358979324f
#define CUDART_PIO2_F       1.57079632679489662f
#define CUDART_PIO4_F       0.78539816339744831f
#define CUDART_2_OVER_PI_F  0.63661977236758134f
#define CUDART_INF          __builtin_inf()
#define CUDART_NAN          __builtin_nan("")
#define CUDART_ZERO         0.0
#define CUDART_ONE          1.0
#define CUDART_SQRT_HALF    0.70710678118654752440
#define CUDART_SQRT_TWO     1.41421356237309504880
#define CUDART_LOG2E        1.44269504088896340736
#define CUDART_LN2          0.69314718055994530942
#define CUDART_PI           3.14159265358979323846
#define CUDART_PIO2         1.57079632679489661923
#define CUDART_PIO4         0.78539816339744830962
#define CUDART_2_OVER_PI    0.63661977236758134308

#endif
