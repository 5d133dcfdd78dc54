/* Cubins of any bytes: refused, or every place of them is asked for. */
#include "symbol/cubin.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cubin *cubin = cubin_read(data, size);
    struct arena arena = {0};
    struct object_frame frame;
    for (uint32_t section = 0; cubin && section < 32; section++) {
        for (uint64_t offset = 0; offset < 256; offset += 16) {
            (void)cubin_resolve(cubin, section, offset, &arena, &frame);
        }
    }
    cubin_close(cubin);
    arena_finish(&arena);
    return 0;
}
