/* The memory in which device patches record accesses, shared by them and the library.
 *
 * Each launch in flight has a record of its own (struct patch_launch), the user data of its
 * patches. Bits stand in pages of 8 KiB, leaves: a leaf holds a bit for each 4 bytes of 256 KiB,
 * or, where accesses are smaller, for each byte of 64 KiB. All bits that a launch finds were zeroed
 * before it was submitted. Addresses are resolved by the library alone, as of the launch.
 *
 * A launch has its leaves in two ways. Windows are ranges of addresses for which the library has
 * set pages aside that follow one another, for each kind of access that the kernel's code can make:
 * what its parameters point to, as far as it is likely to go. The other pages are claimed from the
 * pool of the context at first touch: any address will do, whatever the parameters say. The record
 * names a directory for each span of addresses, which names the pages; each claim is told in a
 * ring, so that the library knows of it without a look at those.
 *
 * A bit is found by one multiplication less than an array's element: `base` + (address >> 7) * 4
 * (>> 5 for small accesses) is the address of its word, if `base` is that of the page minus what
 * the first address of the page adds. It is used modulo 2^48.
 *
 * Why so. A load of a table that many processors write to, and a lane that waits for another one
 * that claims, cost more than all else together: the site of an instruction, which says what window
 * it is in, is written once for each launch and read from the level 1 cache ever after; what the
 * library guesses (observe_hints.h) nobody has to look for. A bit for 4 bytes makes a warp's 32
 * neighbouring words one 32-bit word of bits, and 1 GB of operands 32 MB, which stays in the level
 * 2 cache; small accesses pay for their precision themselves.
 *
 * Raise PATCH_VERSION on any change: it stands in the names of the patches, so that the library
 * does not find those of another build. */
#ifndef SSAN_CAPTURE_PATCH_ABI_H
#define SSAN_CAPTURE_PATCH_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define PATCH_VERSION 7

/* The name of a patch, with the version; the same as text. */
#define PATCH_JOIN(name, version) name##_v##version
#define PATCH_OF(name, version)   PATCH_JOIN(name, version)
#define PATCH_FUNCTION(name)      PATCH_OF(name, PATCH_VERSION)
#define PATCH_QUOTE(name)         #name
#define PATCH_TEXT(name)          PATCH_QUOTE(name)
#define PATCH_FUNCTION_NAME(name) PATCH_TEXT(PATCH_FUNCTION(name))

#define PATCH_PAGE_WORDS 2048u
#define PATCH_PAGE_BYTES (PATCH_PAGE_WORDS * 4u)
/* Pages that are nobody's: 0 stands for none; accesses for which no page was left end in the sink,
 * through a directory that holds nothing else. */
#define PATCH_PAGE_NONE  0u
#define PATCH_PAGE_SINK  1u
#define PATCH_PAGE_LOST  2u
#define PATCH_PAGE_FIRST 3u

/* Kinds of pages. An access of kind k (0 read, 1 write, 2 atomic) stands in PATCH_KIND(k, small).
 */
#define PATCH_KIND(access, is_small) (1u + 2u * (access) + (is_small))
#define PATCH_KIND_ACCESS(kind)      (((kind)-1u) / 2u)
#define PATCH_KIND_IS_SMALL(kind)    (((kind)-1u) % 2u)
#define PATCH_KINDS                  6u
#define PATCH_KIND_DIRECTORY         7u

/* log2 of the bytes that a bit stands for */
#define PATCH_UNIT(is_small) ((is_small) ? 0u : 2u)
/* A word of 32 bits holds 32 units, a leaf PATCH_PAGE_WORDS words, a span as many leaves. */
#define PATCH_WORD_SHIFT 5u
#define PATCH_LEAF_SHIFT 11u
#define PATCH_SPAN_SHIFT 11u
/* log2 of the bytes of a leaf */
#define PATCH_LEAF_BYTES(is_small) (PATCH_LEAF_SHIFT + PATCH_WORD_SHIFT + PATCH_UNIT(is_small))
/* N0. Leaves are numbered through memory in 32 bits: addresses of up to 2^50, of small accesses
 * 2^48; those of user programs end at 2^47, or 2^48 on aarch64. */

/* N1. An instruction and the kind of its accesses in 32 bits: the lowest 32 bits of its address,
 * which is a multiple of 16, and the kind. The code of one launch is far smaller than the 4 GiB at
 * which two are taken for one. Between them is the mark of a guess: with it the code is that of no
 * instruction. */
#define PATCH_CODE(pc, kind)   ((uint32_t)(pc) | (kind))
#define PATCH_CODE_KIND(code)  ((code)&7u)
#define PATCH_CODE_PC(code)    ((code) & ~7u)
#define PATCH_CODE_PLACE(code) ((code) >> 4)
#define PATCH_GUESS            8u

/* N2. Windows begin and end with leaves of 256 KiB and have at most 65535 of them, 16 GiB: their
 * count stands above the 48 bits of a base. */
#define PATCH_WINDOW_SHIFT PATCH_LEAF_BYTES(0)
#define PATCH_WINDOW_MOST  0xffffu
#define PATCH_ADDRESS      UINT64_C(0xffffffffffff)

/* What of a span an instruction touches, as 32 bits: 16 for its blocks of 1/16 leaf (16 KiB of
 * words, 4 KiB of small accesses), 16 for those of four leaves, hashed. An access has one bit of
 * each. */
#define PATCH_BLOCK(word)       ((word) >> (PATCH_LEAF_SHIFT - 4u) & 15u)
#define PATCH_PARTS(leaf, word) ((1u << PATCH_BLOCK(word)) | (0x10000u << ((leaf) >> 2 & 15u)))
#define PATCH_PARTS_ALL         0xffffffffu
/* log2 of the bytes of a block */
#define PATCH_BLOCK_BYTES(is_small) (PATCH_LEAF_BYTES(is_small) - 4u)

#define PATCH_SITES   256u
#define PATCH_ENTRIES 512u
#define PATCH_TRIES   16u /* cells that an instruction may be in */
#define PATCH_WINDOWS 8u
#define PATCH_SPANS   128u

/* Where try i of an instruction is, in bytes to be changed in the offset of the first one. The
 * second, the last that is looked at for each access, is far from the first: the cells nearby are
 * those of instructions nearby, and loads follow one another. */
#define PATCH_TRY(i) (((i)&1u) << 11 | ((i) >> 1) << 4)

/* The window that an instruction is in; both words 0: none yet. Once filled it stays. The library
 * may fill it before the launch, with PATCH_GUESS, for an instruction that is thought to be there:
 * one that is takes the mark away. */
struct patch_site {
    uint64_t head; /* first leaf << 32 | PATCH_CODE */
    uint64_t base; /* as in the window */
};

/* An instruction in a region: a span, or a window; for the report. */
struct patch_entry {
    uint64_t key; /* PATCH_CODE << 32 | region; 0: empty */
    uint32_t parts;
    uint32_t unused;
};
#define PATCH_REGION_WINDOW 0x80000000u /* | index of the window; spans are smaller */

struct patch_window {
    uint32_t first, count;       /* leaves of 256 KiB */
    uint64_t bases[PATCH_KINDS]; /* of kind k at k - 1, with the count above 48 bits; 0: none */
    uint64_t unused;
};

/* What the library asks of every launch that has ended; those of all records lie together. */
struct patch_flags {
    uint64_t lost; /* becomes 1 when an access has gone to the sink */
    /* by window: 1 << kind of the accesses that were found there, by no guess */
    uint32_t touched[PATCH_WINDOWS];
};

struct patch_span {
    uint32_t tag; /* span << 3 | kind; 0: empty */
    uint32_t directory;
};

/* A place in the ring of free pages. The library puts a page there and zeroes `what`; who claims it
 * writes all of it at once. */
struct patch_place {
    uint64_t what; /* leaf << 3 | kind; 0: not yet */
    uint32_t launch;
    uint32_t page;
};

/* Places [head, tail) of the ring hold free pages; positions grow for ever. */
struct patch_pool {
    uint64_t head; /* device: by compare and swap */
    uint64_t unused1[15];
    uint64_t tail; /* library */
    uint64_t unused2[15];
};

struct patch_launch {
    /* written by the library before the record is used, then constant */
    uint64_t pages; /* uint32_t[PATCH_PAGE_WORDS] each */
    uint64_t pool;  /* struct patch_pool */
    uint64_t ring;  /* struct patch_place [ring_mask + 1] */
    uint64_t flags; /* struct patch_flags, its own */
    uint64_t gate;  /* of the block-entry patch, or 0 */
    uint32_t ring_mask;
    uint32_t index; /* of this record */
    uint32_t window_count;
    uint32_t unused1;
    uint64_t unused2[3];
    struct patch_window windows[PATCH_WINDOWS];
    /* device */
    uint64_t unlisted; /* 1: the entries were full, instructions are missing */
    uint64_t unused3[21];
    struct patch_site sites[PATCH_SITES];
    struct patch_entry entries[PATCH_ENTRIES];
    struct patch_span spans[PATCH_SPANS];
};

#ifdef __cplusplus
#define PATCH_ASSERT static_assert
#else
#define PATCH_ASSERT _Static_assert
#endif
PATCH_ASSERT(sizeof(struct patch_site) == 16, "one load");
PATCH_ASSERT(sizeof(struct patch_entry) == 16, "one load");
PATCH_ASSERT(sizeof(struct patch_place) == 16, "one store");
PATCH_ASSERT(sizeof(struct patch_span) == 8, "one load");
PATCH_ASSERT(sizeof(struct patch_flags) == 40, "layout");
PATCH_ASSERT(sizeof(struct patch_window) == 64, "layout");
PATCH_ASSERT(sizeof(struct patch_pool) == 256, "layout");
PATCH_ASSERT(offsetof(struct patch_launch, ring_mask) == 40, "copied by whole words from there on");
PATCH_ASSERT(offsetof(struct patch_launch, windows) == 80, "layout");
PATCH_ASSERT(offsetof(struct patch_launch, sites) == 768, "layout");
PATCH_ASSERT(offsetof(struct patch_launch, entries) == 768 + 4096, "layout");
PATCH_ASSERT(sizeof(struct patch_launch) == 768 + 4096 + 8192 + 1024, "layout");

#endif
