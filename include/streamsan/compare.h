/* Arrays compared with tolerances: floats of 16, 32 and 64 bits and integers of 8 to 64.
 *
 * The verdict is exact: it is that of real numbers, however the machine rounds. Two finite elements
 * a and b are equal within the tolerances when
 *
 *     |a - b| <= abs + rel * max(|a|, |b|)      or      steps(a, b) <= ulp
 *
 * where abs and rel are the doubles given, and nothing is rounded on either side of the first.
 * steps(a, b) is the number of steps from one to the other through the numbers of their type (units
 * in the last place; -0 and +0 are no step apart); for integers it is |a - b|. With all three 0,
 * the default, a and b are equal when they are the same number.
 *
 * Why this form: with max(|a|, |b|) the verdict is the same for (a, b) and (b, a), so neither array
 * has to be the right one; the sum has no edge near 0, where rel alone allows nothing.
 *
 * What is no finite number is not measured: the rules below decide alone, and no tolerance, however
 * large, makes an infinity or a NaN equal to a number.
 *
 * No memory is taken, nothing is printed. Any thread, also several at once with results of their
 * own. C11 and C++. Source of the formats: IEEE 754-2019, 3.4; bfloat16 is the upper half of a
 * float. */
#ifndef STREAMSAN_COMPARE_H
#define STREAMSAN_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Type of the elements, in the byte order of the machine. The numbers are an interface: new ones
 * are added at the end. */
enum ssan_compare_type {
    SSAN_COMPARE_FLOAT16 = 1,
    SSAN_COMPARE_BFLOAT16 = 2,
    SSAN_COMPARE_FLOAT32 = 3,
    SSAN_COMPARE_FLOAT64 = 4,
    SSAN_COMPARE_INT8 = 5,
    SSAN_COMPARE_INT16 = 6,
    SSAN_COMPARE_INT32 = 7,
    SSAN_COMPARE_INT64 = 8,
    SSAN_COMPARE_UINT8 = 9,
    SSAN_COMPARE_UINT16 = 10,
    SSAN_COMPARE_UINT32 = 11,
    SSAN_COMPARE_UINT64 = 12
};

/* A pair of which one is a NaN, or both are. */
enum ssan_compare_nan {
    SSAN_COMPARE_NAN_NEVER = 0, /* equals nothing, as IEEE 754 has it */
    SSAN_COMPARE_NAN_EQUAL = 1, /* equals every NaN */
    SSAN_COMPARE_NAN_BITS = 2   /* equals a NaN of the same bits */
};

/* Two infinities of one sign. Those of two signs are always different. */
enum ssan_compare_inf {
    SSAN_COMPARE_INF_EQUAL = 0, /* equal */
    SSAN_COMPARE_INF_NEVER = 1  /* different: no infinity is right */
};

/* +0 and -0. */
enum ssan_compare_zero {
    SSAN_COMPARE_ZERO_EQUAL = 0,   /* the same number */
    SSAN_COMPARE_ZERO_DISTINCT = 1 /* different, whatever the tolerances */
};

/* How to compare. Zero but for size_bytes and type: elements must be the same numbers. */
struct ssan_compare_options {
    size_t size_bytes; /* sizeof (struct ssan_compare_options) */
    enum ssan_compare_type type;
    double abs, rel; /* finite, not negative */
    uint64_t ulp;    /* steps */
    enum ssan_compare_nan nan;
    enum ssan_compare_inf inf;
    enum ssan_compare_zero zero;
};

/* Two elements at one place. */
struct ssan_compare_pair {
    uint64_t index;          /* in elements from the beginning of both arrays */
    uint64_t a_bits, b_bits; /* the elements as they stand in memory, in the low bits */
    bool measured;           /* both are finite; else the three below are 0 */
    double abs;   /* |a - b|, rounded to the nearest double; infinite above the largest */
    double rel;   /* |a - b| / max(|a|, |b|), rounded; 0 when both are 0 */
    uint64_t ulp; /* steps(a, b), exact */
};

/* What was found. Zeroed is nothing so far. The largest distances are those of all measured pairs,
 * equal or not; at the first place where each is reached. */
struct ssan_compare_result {
    uint64_t count;     /* elements compared */
    uint64_t different; /* of them */
    uint64_t measured;  /* of them: both finite */
    uint64_t a_nans, b_nans, a_infs, b_infs;
    double max_abs, max_rel;
    uint64_t max_ulp;
    uint64_t max_abs_at, max_rel_at, max_ulp_at; /* indexes; 0 where the distance is 0 */
    struct ssan_compare_pair *first; /* the caller's: where the first mismatches are put; or NULL */
    size_t first_room;               /* elements of `first` */
    size_t first_count;              /* of them filled */
};

enum ssan_compare_verdict {
    SSAN_COMPARE_EQUAL = 0,
    SSAN_COMPARE_DIFFERENT = 1,
    SSAN_COMPARE_WRONG_OPTIONS = 2 /* a tolerance that is negative or not finite, an unknown rule or
                                      type, another size_bytes; nothing was compared */
};

/* Compares `count` elements of `a` with those of `b`, `ssan_compare_size(options->type)` bytes
 * each, at any alignment, and adds what it finds to `result`: arrays that don't fit the memory are
 * compared part by part. The arrays may be the same, and are only read. The verdict is about all
 * elements that `result` holds, those of earlier calls too.
 *
 *     struct ssan_compare_options options = {.size_bytes = sizeof options,
 *                                            .type = SSAN_COMPARE_FLOAT32, .rel = 1e-5};
 *     struct ssan_compare_result result = {0};
 *     if (ssan_compare_add(&options, a, b, count, &result) != SSAN_COMPARE_EQUAL) ... */
enum ssan_compare_verdict ssan_compare_add(const struct ssan_compare_options *options,
                                           const void *a, const void *b, uint64_t count,
                                           struct ssan_compare_result *result);

/* Bytes of an element; 0 for no type. */
size_t ssan_compare_size(enum ssan_compare_type type);
/* "float32"; NULL for no type. */
const char *ssan_compare_type_name(enum ssan_compare_type type);
/* The type of a name, as "float32" or short "f32", "bf16", "i8", "u64"; false: there is none. */
bool ssan_compare_type_find(const char *name, enum ssan_compare_type *type);

#ifdef __cplusplus
}
#endif

#endif
