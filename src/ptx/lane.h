/* Operations that work lane by lane on slots of the register file, and the decoded operation
 * itself.
 *
 * lanes.def lists them; lanes_*.c define each as a loop over 32 lanes that the compiler turns into
 * vector code, once for every processor and once for AVX2 (the files are built twice). Naive model:
 * for each lane whose bit is set in the mask, dst = f(a, b, c); other lanes keep their value. */
#ifndef SSAN_PTX_LANE_H
#define SSAN_PTX_LANE_H

#include <stdbool.h>
#include <stdint.h>

#define WARP_LANES 32
#define FULL_MASK  UINT32_C(0xffffffff)
#define GUARD_NOT  UINT32_C(0x80000000)

struct warp;
struct op;
typedef void ptx_fn(char *r, const struct op *op, uint32_t mask, struct warp *warp);

enum op_kind {
    OP_NOTHING,
    OP_LANE,   /* works on registers only, goes on at the next operation */
    OP_MEMORY, /* may fault */
    OP_BRANCH, /* aux: target */
    OP_CONTROL /* may end, park or move the group */
};

struct op {
    ptx_fn *fn;
    uint32_t dst, a, b, c; /* slots */
    int64_t imm;
    uint32_t guard; /* slot of a predicate, GUARD_NOT set: its complement; 0: none */
    uint32_t aux;   /* branch target, memory state, call site, second destination */
    uint16_t lane;  /* enum lane */
    uint8_t kind;   /* enum op_kind */
    uint8_t width;  /* memory: bytes of an element */
    uint8_t count;  /* memory: elements of a lane */
    uint8_t extend; /* memory: enum extend */
    uint8_t space;  /* enum ptx_space */
    uint8_t sub;    /* memory and control: which operation */
    uint32_t line;  /* index in the module's lines */
};

/* How a loaded element fills its slot. */
enum extend {
    EXTEND_zero,
    EXTEND_sign16, /* to 16 bits, upper half zero */
    EXTEND_sign32
};

enum lane {
    LANE_none,
#define UN(name, d, a, expr)          LANE_##name,
#define BIN(name, d, a, b, expr)      LANE_##name,
#define TER(name, d, a, b, c, expr)   LANE_##name,
#define CMP(name, a, expr)            LANE_##name,
#define SLOW1(name, d, a, expr)       LANE_##name,
#define SLOW2(name, d, a, b, expr)    LANE_##name,
#define SLOW3(name, d, a, b, c, expr) LANE_##name,
#define OWN(name)                     LANE_##name,
#include "ptx/lanes.def"
#undef UN
#undef BIN
#undef TER
#undef CMP
#undef SLOW1
#undef SLOW2
#undef SLOW3
#undef OWN
    LANE_count
};

struct lane_bounds {
    uint64_t lowest, highest, bits;
};

/* One build of the lane loops. */
struct lane_isa {
    const char *name;
    ptx_fn *const *table; /* by enum lane */
    /* True when address[i] == address[0] + i * stride in all 32 lanes. */
    bool (*is_linear)(const uint64_t *address, uint64_t stride);
    /* dst = mask ? src : dst, in 32 lanes. */
    void (*blend_32)(uint32_t *dst, const uint32_t *src, uint32_t mask);
    void (*blend_64)(uint64_t *dst, const uint64_t *src, uint32_t mask);
    /* Lowest and highest of the values whose bit is in `mask`, which isn't 0, and all their bits
     * or'ed. */
    void (*bounds)(const uint64_t *address, uint32_t mask, struct lane_bounds *bounds);
    /* Words of 4 bytes at host addresses address[i] + offset: read into or written from a slot,
     * active lanes only. */
    void (*gather_32)(uint32_t *slot, const uint64_t *address, uint64_t offset, uint32_t mask);
    void (*scatter_32)(const uint32_t *slot, const uint64_t *address, uint64_t offset,
                       uint32_t mask);
    /* The same for a full warp inside an array of `limit` bytes (below 4 GiB), address[i] + offset
     * being offsets in it: false, and nothing done, when one is outside or not aligned. */
    bool (*load_small_32)(uint32_t *slot, const unsigned char *bytes, uint64_t limit,
                          const uint64_t *address, uint64_t offset);
    bool (*store_small_32)(const uint32_t *slot, unsigned char *bytes, uint64_t limit,
                           const uint64_t *address, uint64_t offset);
};

/* The fastest one that this processor runs, unless a test chose one. */
const struct lane_isa *lane_isa_get(void);
/* Test hook: "base", "avx2", or NULL for the choice by processor; false when it isn't there.
 * Modules parsed before keep theirs. */
bool lane_isa_choose(const char *name);
/* Name of a lane operation, for messages and tests. */
const char *lane_name(uint32_t lane);

#endif
