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
    OP_NOTHING, /* of the parser only */
    OP_LANE,    /* works on registers only, goes on at the next operation */
    OP_MEMORY,  /* may fault */
    OP_BRANCH,  /* aux: target */
    OP_CONTROL  /* may end, park or move the group */
};

/* 64 bytes, one cache line. */
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
    /* filled in by straighten.c */
    uint32_t cost;     /* instructions from here to the end of the straight code */
    uint16_t straight; /* operations from here on that go on at the next one, all without guard */
    uint8_t weight;    /* instructions that this operation stands for */
    uint8_t shape;     /* memory: the warp's shape for `a`; SHAPE_KNOWN: it is there */
    bool in_rows;      /* memory: the handler tries rows first */
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

/* How the addresses of a full warp lie. A group is eight lanes: 0-7, 8-15, 16-23, 24-31. */
enum shape_kind {
    SHAPE_linear, /* address[i] == base[0] + i * stride */
    SHAPE_groups, /* address[8 * g + i] == base[g] + i * stride */
    SHAPE_scatter
};

#define LANE_GROUPS 4
#define GROUP_LANES (WARP_LANES / LANE_GROUPS)
#define WARP_SHAPES 4  /* shapes that a warp remembers */
#define SHAPE_KNOWN 4u /* bit of op.shape */
#define NO_STRIDE   UINT64_MAX

struct lane_shape {
    uint64_t lowest, highest,
        bits;                   /* of all addresses; bits: or'ed, or with the same zeros below */
    uint64_t base[LANE_GROUPS]; /* not of SHAPE_scatter; no address wraps */
    uint64_t stride;            /* NO_STRIDE of SHAPE_scatter */
    enum shape_kind kind;
};

/* Handlers for `width` bytes of a lane instead of `any`, which handles whatever comes: where the
 * shape is known, and where it isn't. */
struct row_handler {
    ptx_fn *known, *first, *any;
    uint32_t width;
};

/* One build of the lane loops. */
struct lane_isa {
    const char *name;
    ptx_fn *const *table; /* by enum lane */
    /* Loads and stores that try rows first. */
    const struct row_handler *rows;
    uint32_t row_count;
    /* How 32 addresses lie. */
    void (*find_shape)(const uint64_t *address, struct lane_shape *shape);
    /* The same for the lanes in `mask`, which isn't 0: always SHAPE_scatter. */
    void (*bounds)(const uint64_t *address, uint32_t mask, struct lane_shape *shape);
    /* dst = mask ? src : dst, in 32 lanes. */
    void (*blend_32)(uint32_t *dst, const uint32_t *src, uint32_t mask);
    /* Words of 4 bytes at host addresses address[i] + offset: read into or written from a slot,
     * active lanes only, in ascending order. */
    void (*gather_32)(uint32_t *slot, const uint64_t *address, uint64_t offset, uint32_t mask);
    void (*scatter_32)(const uint32_t *slot, const uint64_t *address, uint64_t offset,
                       uint32_t mask);
};

/* The fastest one that this processor runs, unless a test chose one. */
const struct lane_isa *lane_isa_get(void);
/* Test hook: "base", "avx2", or NULL for the choice by processor; false when it isn't there.
 * Modules parsed before keep theirs. */
bool lane_isa_choose(const char *name);
/* Name of a lane operation, for messages and tests. */
const char *lane_name(uint32_t lane);

#endif
