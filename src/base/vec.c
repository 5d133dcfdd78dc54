/* Growth of arrays, out of line so that VEC_PUSH stays one compare and one store. */
#include "base/vec.h"

bool vec_reserve_slow(void **items, size_t *room, size_t need, size_t size_bytes)
{
    size_t wanted = *room ? *room : 8;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2) {
            return false;
        }
        wanted *= 2;
    }
    void *moved = mem_resize(*items, wanted, size_bytes);
    if (!moved) {
        return false;
    }
    *items = moved;
    *room = wanted;
    return true;
}
