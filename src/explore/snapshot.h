/* What was in memory at the end of a run (trace/snapshot_abi.h), read back and compared.
 *
 * Two runs of one program number their allocations alike, so blocks are paired by that number. One
 * thread. */
#ifndef SSAN_EXPLORE_SNAPSHOT_H
#define SSAN_EXPLORE_SNAPSHOT_H

#include "trace/event.h"

#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct snapshot_contents {
    uint32_t alloc;
    enum ssan_memory memory;
    uint64_t address, size_bytes, kept_bytes;
    const unsigned char *bytes; /* `kept_bytes` of them, inside the file */
};

struct snapshot {
    VEC(struct snapshot_contents) blocks; /* by alloc */
    bool complete;                        /* the file has its end */
    bool cut;                             /* of some block not all bytes were kept */
    void *map;
    size_t map_bytes;
};

/* One block that differs. */
struct snapshot_difference {
    uint32_t alloc;
    enum ssan_memory memory;
    uint64_t first;                               /* offset of the first byte that differs */
    uint64_t bytes;                               /* how many do */
    const struct snapshot_contents *left, *right; /* equal in size */
};

/* Maps a file. An incomplete one is read as far as it goes. SSAN_IO: there is none; SSAN_FORMAT:
 * it is damaged; SSAN_VERSION. `snapshot` is zeroed before and needs snapshot_close in any case. */
enum ssan_status snapshot_read(struct snapshot *snapshot, const char *path, struct ssan_error *err);
void snapshot_close(struct snapshot *snapshot);

/* The block with this number; NULL: none. */
const struct snapshot_contents *snapshot_find(const struct snapshot *snapshot, uint32_t alloc);

struct snapshot_differences {
    struct snapshot_difference *items;
    size_t count, room;
};

/* Appends a difference for each block that both have and that differs in what both kept, by number
 * of the allocation. Blocks that only one has, or that have other sizes, aren't compared: the
 * program took another way, which its calls tell better. False when out of memory. */
bool snapshot_compare(const struct snapshot *left, const struct snapshot *right,
                      struct snapshot_differences *differences);

/* How the bytes of an element are read. */
enum snapshot_type { TYPE_HEX, TYPE_I8, TYPE_I16, TYPE_I32, TYPE_I64, TYPE_F32, TYPE_F64 };

/* What two values of one element most likely are, by their width in bytes: 4 and 8 are floating
 * point where at least one is an ordinary number and the other one is too, or is 0 or none at all.
 */
enum snapshot_type snapshot_guess(const unsigned char *left, const unsigned char *right,
                                  uint32_t width);
/* "f32" */
const char *snapshot_type_name(enum snapshot_type type);
/* Writes the value as text: "2", "0.1", "nan", "0x1f"; `room` at least 40. */
void snapshot_value(enum snapshot_type type, const unsigned char *bytes, uint32_t width, char *text,
                    size_t room);

#endif
