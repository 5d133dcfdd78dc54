/* What was in memory: a file that a target writes beside its live trace, where the control page
 * asks for it (CONTROL_SNAPSHOT), `<live trace>.memory`.
 *
 * A header, then blocks in the order in which they were kept: each the contents of one allocation
 * of CUDA's (device, page-locked, managed) at its free, or at the end of the program when it still
 * lived. Each is followed by its `kept_bytes` bytes. The last one has the id 0: without it the file
 * is not complete. Raise SNAPSHOT_VERSION on any change. */
#ifndef SSAN_TRACE_SNAPSHOT_ABI_H
#define SSAN_TRACE_SNAPSHOT_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_MAGIC   UINT64_C(0x314d454d4e415353) /* "SSANMEM1" */
#define SNAPSHOT_VERSION 1u
#define SNAPSHOT_SUFFIX  ".memory"

struct snapshot_header {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved;
};

struct snapshot_block {
    uint32_t alloc;  /* generation: of the `alloc` event; 0: the end */
    uint32_t memory; /* enum ssan_memory */
    uint64_t address;
    uint64_t size_bytes;
    uint64_t kept_bytes; /* fewer where the limit of the control page was reached */
};

static_assert(sizeof(struct snapshot_header) == 16, "layout");
static_assert(sizeof(struct snapshot_block) == 32, "layout");
static_assert(offsetof(struct snapshot_block, address) == 8, "layout");

#endif
