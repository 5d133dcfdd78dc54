/* The running state of a launch: blocks, warps, groups of lanes, frames. Private to exec*.c.
 *
 * A warp is a set of groups; a group is the lanes that stand at one (frame, pc). The group to run
 * is the one in the deepest frame, and there the one with the lowest pc; groups that meet are
 * merged, so lanes that took different ways come together again where the ways do. A frame is one
 * activation of a function: its register file and its part of the warp's local memory. Local memory
 * is interleaved: word w of lane l lies at byte (w * 32 + l) * 4. */
#ifndef SSAN_PTX_WARP_H
#define SSAN_PTX_WARP_H

#include "ptx/exec.h"
#include "ptx/exec_ops.h"
#include "ptx/ir.h"
#include "ptx/observe.h"

#define SLICE_INSTRUCTIONS  16384u   /* of a group, until others get a turn */
#define STUCK_INSTRUCTIONS  1000000u /* of a warp without progress */
#define MAX_RESIDENT_BLOCKS 32u
#define BARRIERS            16u
#define GRID_BARRIER        BARRIERS /* of all blocks: complete in a block, it waits for the others */
#define CLOCK_STEP_LIMIT    (UINT64_C(1) << 20)

enum group_state {
    GROUP_ready,
    GROUP_barrier, /* waits at `barrier` */
    GROUP_members  /* waits for the other lanes of a warp operation; pc is that operation */
};

struct frame {
    struct frame *parent; /* or the next free frame of the function */
    const struct func *func;
    char *r; /* register file */
    struct mem_state *mem;
    uint32_t return_pc;
    uint32_t call; /* index of the call site in the parent's function */
    uint32_t refs, depth;
    uint32_t local_base, local_end; /* bytes per lane */
    /* whose special registers it holds */
    uint32_t warp_index;
    uint64_t block_serial; /* 0: none yet */
    struct frame *all;     /* next frame of the warp, for destruction */
};

struct group {
    struct frame *frame;
    uint32_t pc, mask;
    enum group_state state;
    uint32_t barrier;
    uint32_t wanted; /* GROUP_members: the lanes that it waits for */
    bool forced;     /* GROUP_members no longer: the others can't come */
    uint64_t turn;   /* when it ran last */
};

/* What an operation on memory remembers between its executions. */
struct mem_state {
    struct ptx_region region;
    uint64_t epoch;
    bool has_region;
    uint8_t access; /* enum ssan_access */
    uint8_t width;
    bool is_used;
    uint32_t line;
    /* Where all lanes have to begin to be moved in rows: addresses without the operation's offset,
     * in global memory while the epoch is `epoch`. Empty at first. */
    uint64_t row_begin, row_end;
    uint64_t last_hash; /* of addresses and values, for the search for spinning warps */
    struct observer observer;
};

struct warp {
    struct ptx_exec *exec;
    struct block *block;
    struct group groups[WARP_LANES];
    uint32_t group_count;
    uint32_t current; /* index of the group that runs */
    uint32_t index;   /* in the block */
    uint32_t live;    /* lanes that have not exited */
    bool stop;        /* a fault, or the group has to be looked at again */
    char *r;          /* of the running group */
    struct mem_state *mem;
    struct lane_shape shapes[WARP_SHAPES]; /* of addresses, see straighten.c */
    uint32_t *local;                       /* interleaved */
    uint32_t local_words;
    uint64_t turn;
    uint64_t slice;         /* instructions since warp_run began */
    uint64_t executed;      /* instructions of the running group that are not in the clock yet */
    bool was_cut, was_fair; /* the last slice ran out; the one before began with the group that
                               waited longest */
    bool observe;
    bool watch;         /* long without an end: find out whether it only spins */
    bool polled, moved; /* since the last look: re-read memory; made progress */
    uint64_t idle;      /* instructions without progress */
    uint64_t seen_progress;
    uint64_t clock_step;
    bool clock_was_last;
    uint64_t poll_address; /* last word that was re-read */
    uint32_t poll_line;
    struct frame *frames; /* all of them */
    struct frame *entry;  /* of the kernel itself; stays with the warp */
    struct frame *free_frames;
    struct warp *next_free;
};

struct barrier {
    uint32_t arrived;    /* threads */
    uint32_t expected;   /* 0: all live threads of the block */
    uint32_t warps;      /* that have arrived, if `expected` is given */
    uint32_t votes, yes; /* bar.red */
};

struct block {
    uint32_t index[3];
    uint64_t serial;
    unsigned char *shared;
    struct warp **warps;     /* NULL: not started, or ended */
    uint32_t started, ended; /* warps */
    bool has_arrivals;       /* a barrier was used */
    bool is_at_grid_barrier; /* all its live threads are */
    uint32_t live_threads;
    struct barrier barriers[BARRIERS + 1];
    struct ptx_exec *exec;
    struct block *next_free;
};

struct func_state {
    struct mem_state *mem;
};

struct ptx_exec {
    struct ptx_machine machine;
    struct ptx_launch launch;
    const struct func *entry;
    const struct lane_isa *isa;
    unsigned char *params;
    uint32_t threads, warps; /* of a block */
    uint32_t shared_bytes;
    uint64_t block_count, next_block;
    struct block **resident; /* room for resident_most */
    uint32_t resident_count, resident_most;
    uint64_t grid_arrived; /* blocks that are at the barrier of the grid */
    struct block *free_blocks;
    struct warp *free_warps;
    struct func_state *states; /* by function */
    uint64_t serial;
    uint64_t instructions; /* of lanes */
    struct ptx_fault_info fault;
    bool is_lacking; /* ptx_exec_lacking */
    struct ptx_line lacking;
    uint64_t progress;            /* counts steps forward of any warp */
    const uint64_t *region_epoch; /* the machine's, or one that never changes */
    uint64_t own_clock;           /* for a machine without one */
    /* observed sets, made on demand */
    VEC(struct ptx_access) sets;
    VEC(struct observer *) merged;
    VEC(struct observed_runs) runs;
};

#define EACH_LANE(i, mask)                                                                         \
    for (uint32_t left_##i = (mask), i = 0;                                                        \
         left_##i && ((i = (uint32_t)__builtin_ctz(left_##i)), true); left_##i &= left_##i - 1)

static inline uint32_t lanes_in(uint32_t mask)
{
    return mask == FULL_MASK ? WARP_LANES : (uint32_t)__builtin_popcount(mask);
}

static inline uint32_t *slot_32(char *r, uint32_t slot)
{
    return (uint32_t *)(void *)(r + slot);
}

static inline uint64_t *slot_64(char *r, uint32_t slot)
{
    return (uint64_t *)(void *)(r + slot);
}

/* exec.c: records a fault of the lowest lane in `mask` and stops the launch. */
void warp_fault(struct warp *w, enum ptx_fault fault, const struct op *op, uint32_t mask,
                uint64_t address, uint32_t size_bytes, bool is_write);
/* exec.c: an operation of the warp goes on without lanes that it names; the first one is kept. */
void warp_lacks(struct warp *w, const struct op *op);
/* warp.c */
struct warp *warp_start(struct ptx_exec *exec, struct block *block, uint32_t index);
void warp_free(struct warp *w);
enum warp_result {
    WARP_ENDED,
    WARP_PARKED,  /* all its groups wait */
    WARP_YIELDED, /* used its slice */
    WARP_STOPPED  /* a fault */
};
enum warp_result warp_run(struct warp *w);
/* Removes lanes from the running group; true when none is left (the group is gone). */
bool group_leave(struct warp *w, uint32_t mask);
struct group *group_add(struct warp *w, struct frame *frame, uint32_t pc, uint32_t mask);
/* frame.c: an activation of `func` with no group in it yet; NULL when out of memory. */
struct frame *frame_push(struct warp *w, const struct func *func, struct frame *parent);
void frame_unref(struct warp *w, struct frame *frame);
/* The warp's frame of the kernel itself, for the thread indices that it has now. */
struct frame *frame_entry(struct warp *w);
/* Ensures `bytes` of local memory for each lane; a fault when it can't. */
bool warp_local(struct warp *w, uint64_t bytes, const struct op *op);
/* exec_ctl.c: wakes the groups at barriers that are complete now. */
void barriers_check(struct block *block);
/* The running group, all of `mask`, waits for all threads of the grid. A fault where the launch
 * doesn't promise that all blocks are there at once. */
void grid_barrier(struct warp *w, const struct op *op, uint32_t mask);
/* extern_mem.c: one lane's bytes at a generic address, for external functions; false after a fault.
 */
bool mem_read_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                   void *bytes, uint32_t size);
bool mem_write_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                    const void *bytes, uint32_t size);
/* Host address of a global word for one lane, checked and observed; NULL after a fault, or where a
 * dry run has to skip the access (then w->stop is false). */
unsigned char *mem_global_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                               uint32_t size, bool writes);
/* Observes an access of the lanes in `mask`. */
void mem_note(struct warp *w, const struct op *op, uint32_t mask, const uint64_t *address,
              enum ssan_access access);
/* exec_misc.c */
uint64_t warp_clock(struct warp *w);
/* exec_local.c */
void local_read(const struct warp *w, uint32_t lane, uint64_t at, void *bytes, uint32_t size);
void local_write(struct warp *w, uint32_t lane, uint64_t at, const void *bytes, uint32_t size);

#endif
