/* Scatters: dense short runs of one line that lie close together, four bytes each in place of a
 * piece each. A sealed set of scattered accesses is then smaller than a plain list of runs.
 * Everything that changes a set takes them apart first (scatter_unpack) or goes through them run by
 * run. Naive model: a piece for each run. Cost: O(log n) to find a run in one. */
#include "core/bytes.h"

#include "base/mem.h"

#include <string.h>

/* Fewer runs stay pieces: the memory of a scatter has a size of its own. */
#define SCATTER_FROM 4u

struct piece scatter_run(const struct piece *scatter, uint32_t i)
{
    const struct short_run *run = &scatter->shorts[i];
    return (struct piece){.begin = scatter->begin + run->offset,
                          .length = run->length,
                          .count = 1,
                          .site = scatter->site,
                          .width = scatter->width};
}

uint32_t scatter_find(const struct piece *scatter, uint64_t at)
{
    uint32_t low = 0, high = scatter->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct short_run *run = &scatter->shorts[middle];
        if (scatter->begin + run->offset + run->length <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* How many pieces from `from` on one scatter can hold. */
static uint32_t count_fitting(const struct bytes *set, size_t from)
{
    const struct piece *first = &bytes_pieces(set)[from];
    uint32_t count = 0;
    for (size_t i = from; i < set->count; i++) {
        const struct piece *piece = &bytes_pieces(set)[i];
        if (piece->length == 0 || piece->count != 1 || piece->site != first->site ||
            piece->width != first->width || piece_end(piece) - first->begin > UINT16_MAX) {
            break;
        }
        count++;
    }
    return count;
}

bool scatter_pack(struct bytes *set)
{
    struct piece *pieces = bytes_pieces(set);
    bool fine = true;
    size_t kept = 0;
    for (size_t i = 0; i < set->count;) {
        uint32_t count = fine ? count_fitting(set, i) : 0;
        struct short_run *shorts = count >= SCATTER_FROM ? mem_alloc(count * sizeof *shorts) : NULL;
        if (!shorts) {
            fine = fine && count < SCATTER_FROM;
            count = count > 0 ? count : 1;
            memmove(&pieces[kept], &pieces[i], count * sizeof pieces[0]);
            kept += count;
            i += count;
            continue;
        }
        struct piece scatter = pieces[i];
        for (uint32_t k = 0; k < count; k++) {
            const struct piece *piece = &pieces[i + k];
            shorts[k] = (struct short_run){.offset = (uint16_t)(piece->begin - scatter.begin),
                                           .length = (uint16_t)piece->length};
        }
        scatter.length = piece_end(&pieces[i + count - 1]) - scatter.begin;
        scatter.shorts = shorts;
        scatter.count = count;
        scatter.scatter = 1;
        pieces[kept++] = scatter;
        i += count;
        set->owns = true;
    }
    set->count = (uint32_t)kept;
    return fine;
}

bool scatter_unpack(struct bytes *set)
{
    for (size_t i = 0; i < set->count;) {
        struct piece scatter = bytes_pieces(set)[i];
        if (!scatter.scatter) {
            i++;
            continue;
        }
        for (uint32_t k = 1; k < scatter.count; k++) {
            struct piece run = scatter_run(&scatter, k);
            if (!bytes_add_run(set, run.begin, run.length, 0, 1, run.site, run.width)) {
                return false;
            }
        }
        bytes_pieces(set)[i] = scatter_run(&scatter, 0);
        mem_free(scatter.shorts);
    }
    return true;
}
