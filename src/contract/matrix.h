/* Configurations: one value for each axis, as the full product or as a pairwise covering array. */
#ifndef SSAN_CONTRACT_MATRIX_H
#define SSAN_CONTRACT_MATRIX_H

#include "contract/spec.h"

#include "base/vec.h"

#include <stdbool.h>

#define MATRIX_ROWS_MOST 100000

/* Values that are varied; borrowed. */
struct axis {
    const char *name; /* "size", "slots", "device", "schedule" or a parameter's */
    char *const *values;
    unsigned count; /* not 0 */
};

/* Rows of axes.count places in the values of their axes, one after the other. */
struct matrix {
    VEC(struct axis) axes;
    VEC(unsigned) places;
    size_t rows;
    VEC(char *) devices; /* values of that axis, where GPUs were taken out; borrowed */
};

/* The axes of a contract; those of `fault` (may be NULL) instead where it gives some. `device` (may
 * be NULL) instead of all devices. Missing: device "virtual", schedule "eager". False when out of
 * memory. `matrix` needs matrix_finish in any case. */
bool matrix_axes(struct matrix *matrix, const struct spec_over *over, const struct spec_over *fault,
                 char *const *device);

/* The axes of the contract (`fault` < 0) or of one of its faults, by number. A fault's own devices
 * are those on which it can be planted, whatever `device` says; one that a GPU can't be made to
 * show is planted on the others, or on "virtual". The same otherwise. */
bool matrix_axes_of(struct matrix *matrix, const struct spec_contract *contract, int fault,
                    char *const *device);

/* Fills in the rows. A GPU has no schedules: of rows that differ in it only one stays, with the
 * first schedule. SSAN_FORMAT: more than MATRIX_ROWS_MOST; SSAN_NO_MEMORY. The same on every
 * machine. */
enum ssan_status matrix_fill(struct matrix *matrix, enum spec_mode mode, struct ssan_error *err);

/* The value of an axis in a row; NULL: there is no such axis. */
const char *matrix_value(const struct matrix *matrix, size_t row, const char *axis, size_t length);

void matrix_finish(struct matrix *matrix);

#endif
