/* Products and covering arrays.
 *
 * Pairwise: every two values of two axes stand together in a row. Greedy, by AETG's idea (Cohen,
 * Dalal, Fredman, Patton 1997) without chance: each row begins with the first pair that is not
 * covered, and takes for each further axis the value that covers most pairs with those taken.
 * Cost: rows * values * axes. */
#include "contract/matrix.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

#define OWN_AXES    4 /* size, slots, device, schedule */
#define AXES_MOST   64
#define VALUES_MOST 5000 /* pairs of them are kept as a square */

static char virtual_word[] = "virtual", eager_word[] = "eager";
static char *const default_device[] = {virtual_word}, *const default_schedule[] = {eager_word};

static bool add_axis(struct matrix *matrix, const char *name, const struct spec_list *list,
                     const struct spec_list *instead, char *const *otherwise)
{
    const struct spec_list *from = instead && instead->count ? instead : list;
    if (from->count) {
        return VEC_PUSH(&matrix->axes, (struct axis){name, from->items, from->count});
    }
    return !otherwise || VEC_PUSH(&matrix->axes, (struct axis){name, otherwise, 1});
}

static const struct spec_list *parameter(const struct spec_over *over, const char *name)
{
    for (unsigned i = 0; over && i < over->parameters_count; i++) {
        if (strcmp(over->parameters[i].name, name) == 0) {
            return &over->parameters[i].values;
        }
    }
    return NULL;
}

bool matrix_axes(struct matrix *matrix, const struct spec_over *over, const struct spec_over *fault,
                 char *const *device)
{
    *matrix = (struct matrix){.rows = 0};
    bool good = add_axis(matrix, "size", &over->sizes, fault ? &fault->sizes : NULL, NULL) &&
                add_axis(matrix, "slots", &over->slots, fault ? &fault->slots : NULL, NULL);
    for (unsigned i = 0; good && i < over->parameters_count; i++) {
        const struct spec_parameter *own = &over->parameters[i];
        good = add_axis(matrix, own->name, &own->values, parameter(fault, own->name), NULL);
    }
    if (device) {
        good = good && VEC_PUSH(&matrix->axes, (struct axis){"device", device, 1});
    } else {
        good = good && add_axis(matrix, "device", &over->devices, fault ? &fault->devices : NULL,
                                default_device);
    }
    return good && add_axis(matrix, "schedule", &over->schedules, fault ? &fault->schedules : NULL,
                            default_schedule);
}

/* Takes GPUs out of the devices; "virtual" where none are left. False when out of memory. */
static bool leave_gpus(struct matrix *matrix)
{
    struct axis *axis = &matrix->axes.items[matrix->axes.count - 2]; /* behind it schedule */
    for (unsigned i = 0; i < axis->count; i++) {
        if (strcmp(axis->values[i], "gpu") != 0 && !VEC_PUSH(&matrix->devices, axis->values[i])) {
            return false;
        }
    }
    if (matrix->devices.count == 0 && !VEC_PUSH(&matrix->devices, default_device[0])) {
        return false;
    }
    axis->values = matrix->devices.items;
    axis->count = (unsigned)matrix->devices.count;
    return true;
}

/* Only a virtual device can be made to show it: a call that is suppressed or fails, a schedule. */
static bool is_for_virtual(const struct spec_fault *fault)
{
    return fault->ignore.count > 0 || fault->fail.count > 0 || fault->over.schedules.count > 0;
}

bool matrix_axes_of(struct matrix *matrix, const struct spec_contract *contract, int number,
                    char *const *device)
{
    const struct spec_fault *fault = number < 0 ? NULL : &contract->faults[number];
    const bool has_own = fault && fault->over.devices.count > 0;
    return matrix_axes(matrix, &contract->matrix.over, fault ? &fault->over : NULL,
                       has_own ? NULL : device) &&
           (!fault || has_own || !is_for_virtual(fault) || leave_gpus(matrix));
}

static bool is_gpu(const struct matrix *matrix, const unsigned *row)
{
    const size_t at = matrix->axes.count - 2; /* device; behind it schedule */
    return strcmp(matrix->axes.items[at].values[row[at]], "gpu") == 0;
}

/* The row with the schedule of a GPU's made the first. */
static void settle_schedule(const struct matrix *matrix, unsigned *row)
{
    if (is_gpu(matrix, row)) {
        row[matrix->axes.count - 1] = 0;
    }
}

static bool has_row(const struct matrix *matrix, const unsigned *row)
{
    const size_t axes = matrix->axes.count;
    for (size_t i = 0; i < matrix->rows; i++) {
        if (memcmp(matrix->places.items + i * axes, row, axes * sizeof *row) == 0) {
            return true;
        }
    }
    return false;
}

static bool push_row(struct matrix *matrix, const unsigned *row)
{
    const size_t axes = matrix->axes.count;
    if (!VEC_RESERVE(&matrix->places, (matrix->rows + 1) * axes)) {
        return false;
    }
    memcpy(matrix->places.items + matrix->rows * axes, row, axes * sizeof *row);
    matrix->rows++;
    matrix->places.count += axes;
    return true;
}

/* Adds a row unless it is there: one of a GPU may be, as its schedule is settled. */
static bool add_row(struct matrix *matrix, unsigned *row)
{
    const bool may_be_there =
        is_gpu(matrix, row) && matrix->axes.items[matrix->axes.count - 1].count > 1;
    settle_schedule(matrix, row);
    return (may_be_there && has_row(matrix, row)) || push_row(matrix, row);
}

static bool fill_product(struct matrix *matrix, unsigned *row)
{
    const size_t axes = matrix->axes.count;
    for (;;) {
        /* Rows of a GPU beside the one with the first schedule are the same ones again. */
        if ((!is_gpu(matrix, row) || row[axes - 1] == 0) && !push_row(matrix, row)) {
            return false;
        }
        size_t at = axes;
        while (at > 0 && ++row[at - 1] == matrix->axes.items[at - 1].count) {
            row[--at] = 0;
        }
        if (at == 0) {
            return true;
        }
    }
}

/* Which pairs stand in a row already: a bit for values a of axis i and b of axis j, i < j, in a
 * square over all values of all axes. */
struct pairs {
    const struct matrix *matrix;
    unsigned char *covered;
    unsigned *base; /* of each axis: the number of its first value */
    unsigned values;
};

static unsigned char *pair_at(const struct pairs *pairs, size_t i, unsigned a, size_t j, unsigned b)
{
    const size_t one = pairs->base[i] + a, other = pairs->base[j] + b;
    return &pairs->covered[i < j ? one * pairs->values + other : other * pairs->values + one];
}

/* The value of an axis that covers most pairs with the axes that are taken. */
static unsigned best_value(const struct pairs *pairs, size_t axis, const unsigned *row,
                           const bool *taken)
{
    unsigned best = 0, best_count = 0;
    for (unsigned value = 0; value < pairs->matrix->axes.items[axis].count; value++) {
        unsigned count = 0;
        for (size_t j = 0; j < pairs->matrix->axes.count; j++) {
            count += taken[j] && !*pair_at(pairs, axis, value, j, row[j]);
        }
        if (count > best_count) {
            best = value;
            best_count = count;
        }
    }
    return best;
}

static void cover(const struct pairs *pairs, const unsigned *row)
{
    for (size_t i = 0; i < pairs->matrix->axes.count; i++) {
        for (size_t j = i + 1; j < pairs->matrix->axes.count; j++) {
            *pair_at(pairs, i, row[i], j, row[j]) = 1;
        }
    }
}

static bool fill_from_pair(struct matrix *matrix, const struct pairs *pairs, size_t i, unsigned a,
                           size_t j, unsigned b)
{
    unsigned row[AXES_MOST] = {0};
    bool taken[AXES_MOST] = {false};
    row[i] = a;
    row[j] = b;
    taken[i] = taken[j] = true;
    for (size_t k = 0; k < matrix->axes.count; k++) {
        if (!taken[k]) {
            row[k] = best_value(pairs, k, row, taken);
            taken[k] = true;
        }
    }
    cover(pairs, row);
    return add_row(matrix, row);
}

static bool fill_pairs(struct matrix *matrix, const struct pairs *pairs)
{
    const size_t axes = matrix->axes.count;
    for (size_t i = 0; i < axes; i++) {
        for (size_t j = i + 1; j < axes; j++) {
            for (unsigned a = 0; a < matrix->axes.items[i].count; a++) {
                for (unsigned b = 0; b < matrix->axes.items[j].count; b++) {
                    if (!*pair_at(pairs, i, a, j, b) &&
                        !fill_from_pair(matrix, pairs, i, a, j, b)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

static bool fill_pairwise(struct matrix *matrix)
{
    unsigned base[AXES_MOST];
    struct pairs pairs = {.matrix = matrix, .base = base};
    for (size_t i = 0; i < matrix->axes.count; i++) {
        base[i] = pairs.values;
        pairs.values += matrix->axes.items[i].count;
    }
    pairs.covered = mem_zalloc((size_t)pairs.values * pairs.values, 1);
    const bool good = pairs.covered && fill_pairs(matrix, &pairs);
    mem_free(pairs.covered);
    return good;
}

enum ssan_status matrix_fill(struct matrix *matrix, enum spec_mode mode, struct ssan_error *err)
{
    unsigned row[AXES_MOST] = {0};
    double rows = 1, values = 0, longest = 1, second = 1;
    if (matrix->axes.count > AXES_MOST) {
        return ssan_fail(err, SSAN_FORMAT, 0, "more than %d parameters", AXES_MOST - OWN_AXES);
    }
    for (size_t i = 0; i < matrix->axes.count; i++) {
        const double count = matrix->axes.items[i].count;
        rows *= count;
        values += count;
        second = fmin(longest, fmax(second, count));
        longest = fmax(longest, count);
    }
    if (mode == SPEC_FULL && rows > MATRIX_ROWS_MOST) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "the full product has %.0f configurations, more than %d; 'mode: pairwise' "
                         "takes few of them",
                         rows, MATRIX_ROWS_MOST);
    }
    if (mode == SPEC_PAIRWISE && longest * second > MATRIX_ROWS_MOST) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "two of the lists have %.0f pairs of values, more than %d",
                         longest * second, MATRIX_ROWS_MOST);
    }
    if (values > VALUES_MOST) {
        return ssan_fail(err, SSAN_FORMAT, 0, "more than %d values over all parameters",
                         VALUES_MOST);
    }
    const bool good = mode == SPEC_FULL ? fill_product(matrix, row) : fill_pairwise(matrix);
    return good ? SSAN_OK : ssan_no_memory(err);
}

const char *matrix_value(const struct matrix *matrix, size_t row, const char *axis, size_t length)
{
    for (size_t i = 0; i < matrix->axes.count; i++) {
        const struct axis *found = &matrix->axes.items[i];
        if (strlen(found->name) == length && memcmp(found->name, axis, length) == 0) {
            return found->values[matrix->places.items[row * matrix->axes.count + i]];
        }
    }
    return NULL;
}

void matrix_finish(struct matrix *matrix)
{
    VEC_FREE(&matrix->axes);
    VEC_FREE(&matrix->places);
    VEC_FREE(&matrix->devices);
    matrix->rows = 0;
}
