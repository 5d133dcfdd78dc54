/* Takes the values of options that are numbers: whole ones, sizes, seconds, tolerances. */
#include "cli/options_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SECONDS 1e6 /* what is above was mistyped */

/* A whole number from `least` to `most`. */
error_t options_take_range(struct reading *reading, int key, const char *word, unsigned least,
                           unsigned most, unsigned *number)
{
    char *end;
    unsigned long value;
    errno = 0;
    value = strtoul(word, &end, 10);
    if (*word < '0' || *word > '9' || errno || *end || value < least || value > most) {
        reading->status = ssan_fail(reading->err, SSAN_USAGE, 0,
                                    "--%s takes a number from %u to %u, not '%.200s'",
                                    options_info(key)->name, least, most, word);
        return EINVAL;
    }
    *number = (unsigned)value;
    return 0;
}

/* A whole number from 1 to `most`. */
error_t options_take_number(struct reading *reading, int key, const char *word, unsigned most,
                            unsigned *number)
{
    return options_take_range(reading, key, word, 1, most, number);
}

error_t options_take_seconds(struct reading *reading, const char *word)
{
    char *end;
    double value = strtod(word, &end);
    if (*word < '0' || *word > '9' || *end || !(value > 0 && value <= MOST_SECONDS)) {
        return options_refuse(reading, "--%s takes a number of seconds, not '%s'", "time", word);
    }
    reading->options->time_seconds = value;
    return 0;
}

/* A number with K, M, G or T behind it. */
error_t options_take_size(struct reading *reading, int key, const char *word, uint64_t *size)
{
    static const char units[] = "KMGT";
    char *end;
    unsigned long long value;
    const char *unit;
    unsigned shift = 0;
    errno = 0;
    value = strtoull(word, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
    }
    if (*word < '0' || *word > '9' || errno || *end || value == 0 || value > UINT64_MAX >> shift) {
        return options_refuse(reading, "--%s takes a size such as 512M, not '%s'",
                              options_info(key)->name, word);
    }
    *size = (uint64_t)value << shift;
    return 0;
}

/* A number from 0, without sign. */
error_t options_take_whole(struct reading *reading, int key, const char *word, uint64_t *number)
{
    char *end;
    unsigned long long value;
    errno = 0;
    value = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || errno || *end) {
        return options_refuse(reading, "--%s takes a number from 0, not '%s'",
                              options_info(key)->name, word);
    }
    *number = value;
    return 0;
}

/* A distance of numbers. */
error_t options_take_tolerance(struct reading *reading, int key, const char *word, double *number)
{
    char *end;
    const double value = strtod(word, &end);
    if (!(*word == '.' || (*word >= '0' && *word <= '9')) || *end || !isfinite(value)) {
        return options_refuse(reading, "--%s takes a number from 0, such as 1e-5, not '%s'",
                              options_info(key)->name, word);
    }
    *number = value;
    return 0;
}
