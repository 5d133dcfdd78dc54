/* Where the parts beside the tool are: `<folder of the executable>/../lib/streamsan`. */
#ifndef SSAN_CLI_PLACE_H
#define SSAN_CLI_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* The folder that holds device.o and include/, whether it is there or not. False when the tool
 * can't tell its own place. */
bool place_library(char *path, size_t room);

#endif
