/* The number of virtual devices: --device virtual:N. */
#include "cli/options_parts.h"

#include "trace/control_abi.h"

#include <stdlib.h>
#include <string.h>

static const char several[] = "virtual:";

bool options_is_several(const char *word)
{
    return strncmp(word, several, sizeof several - 1) == 0;
}

error_t options_take_several(struct reading *reading, int key, const char *word)
{
    struct options *options = reading->options;
    const char *number = word + sizeof several - 1;
    char *end;
    unsigned long count = strtoul(number, &end, 10);
    if (*number < '0' || *number > '9' || *end || count < 1 || count > CONTROL_MOST_DEVICES) {
        reading->status = ssan_fail(reading->err, SSAN_USAGE, 0,
                                    "--%s virtual:N takes a number from 1 to %d, not '%.200s'",
                                    options_info(key)->name, CONTROL_MOST_DEVICES, number);
        return EINVAL;
    }
    options->device = DEVICE_VIRTUAL;
    options->devices = (unsigned)count;
    options->devices_word = word;
    return 0;
}
