/* Any bytes as a file: the reader gives events, then one of its ends, twice the same. */
#include "fuzz/read_twice.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size)) {
        abort();
    }
    read_twice(fd);
    close(fd);
    return 0;
}
