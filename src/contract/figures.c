/* Doubles round whole numbers from 2^53 on: checksums and counts of 64 bits that differ would be
 * the same. So whole numbers stay texts, or integers where there are tolerances. */
#include "contract/figures.h"

#include "contract/forms.h"

#include "streamsan/compare.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A text of digits alone, behind a sign and 0x. */
struct whole {
    bool negative; /* never of 0 */
    int base;
    const char *digits; /* from the first that is not 0 */
    size_t count;
};

static bool read_whole(struct whole *whole, const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    const bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    at += hex ? 2 : 0;
    const size_t length = strspn(at, hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (length == 0 || at[length]) {
        return false;
    }
    whole->base = hex ? 16 : 10;
    whole->digits = at + strspn(at, "0");
    whole->count = strlen(whole->digits);
    whole->negative = *text == '-' && whole->count > 0;
    return true;
}

static int order_wholes(const struct whole *a, const struct whole *b)
{
    const int up = a->negative ? -1 : 1;
    if (a->negative != b->negative) {
        return up;
    }
    if (a->count != b->count) {
        return a->count > b->count ? up : -up;
    }
    const int order = strcasecmp(a->digits, b->digits);
    return order ? (order > 0 ? up : -up) : 0;
}

bool figures_order(const char *a, const char *b, int *order)
{
    struct whole whole_a, whole_b;
    double x, y;
    if (!forms_number(a, &x) || !forms_number(b, &y)) {
        return false;
    }
    *order = read_whole(&whole_a, a) && read_whole(&whole_b, b) && whole_a.base == whole_b.base
                 ? order_wholes(&whole_a, &whole_b)
                 : (x > y) - (x < y);
    return true;
}

/* An element of a type in which a text is not rounded. */
union element {
    int64_t int64;
    uint64_t uint64;
    double float64;
};

/* Reads both texts as elements of a type; false: it does not hold them. */
static bool read_both(enum ssan_compare_type type, const char *const texts[2],
                      union element elements[2])
{
    for (int i = 0; i < 2; i++) {
        struct whole whole;
        if (type == SSAN_COMPARE_FLOAT64) {
            elements[i].float64 = strtod(texts[i], NULL);
            continue;
        }
        if (!read_whole(&whole, texts[i]) || (type == SSAN_COMPARE_UINT64 && whole.negative)) {
            return false;
        }
        errno = 0;
        if (type == SSAN_COMPARE_INT64) {
            elements[i].int64 = strtoll(texts[i], NULL, whole.base);
        } else {
            elements[i].uint64 = strtoull(texts[i], NULL, whole.base);
        }
        if (errno) {
            return false;
        }
    }
    return true;
}

bool figures_equal(const char *a, const char *b, double abs, double rel)
{
    static const enum ssan_compare_type types[] = {SSAN_COMPARE_INT64, SSAN_COMPARE_UINT64,
                                                   SSAN_COMPARE_FLOAT64};
    const char *const texts[2] = {a, b};
    struct ssan_compare_options options = {
        .size_bytes = sizeof options, .type = SSAN_COMPARE_FLOAT64, .abs = abs, .rel = rel};
    struct ssan_compare_result result = {0};
    union element elements[2];
    int order;
    if (!figures_order(a, b, &order)) {
        return strcmp(a, b) == 0;
    }
    if (order == 0 || (abs == 0 && rel == 0)) {
        return order == 0;
    }
    size_t i = 0;
    while (!read_both(types[i], texts, elements)) { /* the last type takes all */
        i++;
    }
    options.type = types[i];
    return ssan_compare_add(&options, &elements[0], &elements[1], 1, &result) == SSAN_COMPARE_EQUAL;
}
