/* Runs one launch of a kernel, a warp at a time, and observes every access to global memory byte by
 * byte.
 *
 * A launch runs block after block in ascending order (x fastest); inside a block warps run until
 * they end, park at a barrier or have used their budget without progress. Divergence: (pc, mask)
 * groups of a warp, lowest pc first, merged on equal pc. One thread at a time per launch; different
 * launches may run in different threads, one at a time each. */
#ifndef SSAN_PTX_EXEC_H
#define SSAN_PTX_EXEC_H

#include "base/ranges.h"
#include "ptx/ptx.h"
#include "trace/event.h"

/* A piece of device-visible memory: device addresses [begin, end) stand at host address (address +
 * delta). */
struct ptx_region {
    uint64_t begin, end;
    int64_t delta;
    bool writable;
};

/* What the executor needs from the device. */
struct ptx_machine {
    void *self;
    /* The live allocation that holds `address`; false when there is none (a device fault). The
     * executor caches regions until `*region_epoch` changes. */
    bool (*find_region)(void *self, uint64_t address, struct ptx_region *region);
    const uint64_t *region_epoch;
    /* Output of device printf, in order. */
    void (*print)(void *self, const char *bytes, size_t length);
    /* Device heap (malloc, free in kernels); malloc gives 0 when there is none. */
    uint64_t (*heap_alloc)(void *self, uint64_t size_bytes);
    void (*heap_free)(void *self, uint64_t address);
    /* Virtual clock of the device in ticks; the executor adds what it executes (design.md 5). */
    uint64_t *clock;
};

struct ptx_launch {
    const struct ptx_module *module;
    const struct ptx_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *params; /* kernel->param_bytes, copied */
    bool observe;       /* collect accesses */
    bool cooperative;   /* all blocks are there at once; a barrier of the grid works */
    bool dry; /* observation only: writes go nowhere outside live regions (pending at exit) */
};

enum ptx_fault {
    PTX_FAULT_NONE,
    PTX_FAULT_ILLEGAL_ADDRESS,
    PTX_FAULT_MISALIGNED,
    PTX_FAULT_ASSERT,
    PTX_FAULT_TRAP,
    PTX_FAULT_ILLEGAL_INSTRUCTION, /* a call of a function that is not there, a barrier misuse */
    PTX_FAULT_NO_MEMORY,
};

enum ptx_state {
    PTX_RUNNING, /* used its budget; call again */
    PTX_STUCK, /* every warp is without progress (spins on memory, or waits at a barrier that can't
                  fill): let other work run, then call again, or fail the launch */
    PTX_DONE,
    PTX_FAULTED,
};

/* Where and why a launch faulted or is stuck. */
struct ptx_fault_info {
    enum ptx_fault fault;
    uint64_t address; /* that it touched, or the word a stuck warp reads; 0: none */
    uint32_t size_bytes;
    bool is_write;
    struct ptx_line at;
    uint32_t thread[3], block[3];
    char text[256]; /* an assert's message */
};

struct ptx_exec;

/* NULL when out of memory. The machine, module and kernel are borrowed until ptx_exec_destroy. */
struct ptx_exec *ptx_exec_create(const struct ptx_machine *machine,
                                 const struct ptx_launch *launch);

/* Runs at most `blocks` more blocks to their end (0: all that remain). A warp that made 1e6
 * instructions without progress makes it return PTX_STUCK. */
enum ptx_state ptx_exec_run(struct ptx_exec *exec, uint64_t blocks);
const struct ptx_fault_info *ptx_exec_fault(const struct ptx_exec *exec);
/* Where first a shuffle, vote, match or barrier of a warp went on without live lanes that it names,
 * as these could not come there (PTX ISA, shfl.sync and its like: a device waits for them): what it
 * gave may not be what a device gives. NULL: none did. */
const struct ptx_line *ptx_exec_lacking(const struct ptx_exec *exec);
/* Lane-instructions executed so far. */
uint64_t ptx_exec_instructions(const struct ptx_exec *exec);
void ptx_exec_destroy(struct ptx_exec *exec);

/* The accesses so far, by (source line or instruction, kind, width): exact sets of bytes. */
struct ptx_access {
    enum ssan_access access; /* atomic: atom and red of any scope */
    uint32_t width;          /* bytes of one lane's access */
    struct ptx_line at;
    /* Exactly one of the two forms, whichever is smaller for each leaf; together they are the set.
     */
    struct ssan_runs runs;
    const struct ptx_leaf *leaves;
    size_t leaf_count;
};

struct ptx_leaf {
    uint64_t address; /* a multiple of SSAN_LEAF_BYTES */
    uint64_t bits[SSAN_LEAF_WORDS];
};

/* Number of sets; valid until the next run or destroy. False from ptx_exec_observed: memory ran out
 * and accesses were lost (the run is incomplete). */
bool ptx_exec_observed(struct ptx_exec *exec, const struct ptx_access **sets, size_t *count);

#endif
