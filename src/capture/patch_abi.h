/* The memory in which device patches record accesses, shared by them and the library.
 *
 * Each launch in flight has a record of its own (struct patch_launch), the user data of its
 * patches. Bits stand in pages of 8 KiB, which launches claim from the pool of the context at first
 * touch: a leaf holds a bit for each 4 bytes of 256 KiB, or, where accesses are smaller, for each
 * byte of 64 KiB; a directory holds the leaves of 2048 neighbours, one span. All that a launch
 * finds was zeroed before it was submitted. Each claim is told in the ring of the pool, so that the
 * library knows whose pages are which without walking directories.
 *
 * Why so. A flat bitmap for each operand must be zeroed at each launch and costs 1/32 of memory for
 * each kind of access whatever is touched; a table of allocations on the device must change while
 * kernels run. Addresses are resolved by the library alone, as of the launch. A bit for 4 bytes
 * makes a warp's 32 neighbouring words one 32-bit word of bits, and 1 GB of operands 32 MB, which
 * stays in the level 2 cache; small accesses pay for their precision themselves, in the same
 * launch.
 *
 * The entry of an instruction and a span answers three questions by one load from the level 1
 * cache: where the directory is, that the instruction is known to the report, and which parts of
 * the span it is known to touch.
 *
 * Raise PATCH_VERSION on any change: it stands in the names of the patches, so that the library
 * does not find those of another build. */
#ifndef SSAN_CAPTURE_PATCH_ABI_H
#define SSAN_CAPTURE_PATCH_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define PATCH_VERSION 2

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
#define PATCH_KIND_DIRECTORY         7u

/* log2 of the bytes that a bit stands for */
#define PATCH_UNIT(is_small) ((is_small) ? 0u : 2u)
/* A word of 32 bits holds 32 units, a leaf PATCH_PAGE_WORDS words, a span as many leaves. */
#define PATCH_WORD_SHIFT 5u
#define PATCH_LEAF_SHIFT 11u
#define PATCH_SPAN_SHIFT 11u
/* N0. Leaves are numbered through memory in 32 bits: addresses of up to 2^50, of small accesses
 * 2^48; those of user programs end at 2^47, or 2^48 on aarch64. */

/* N1. An instruction and the kind of its accesses in 31 bits: the lowest 32 bits of its address /
 * 16, then the kind. The code of one launch is far smaller than the 4 GiB at which two are taken
 * for one. */
#define PATCH_CODE(pc, kind)   ((uint32_t)((pc) >> 4 & 0xfffffffu) << 3 | (kind))
#define PATCH_CODE_KIND(code)  ((code)&7u)
#define PATCH_CODE_PLACE(code) ((code) >> 3)

/* What of a span an instruction touches, as 32 bits: 16 for its blocks of 1/16 leaf (16 KiB of
 * words, 4 KiB of small accesses), 16 for those of four leaves, hashed. An access has one bit of
 * each. */
#define PATCH_BLOCK(word)       ((word) >> (PATCH_LEAF_SHIFT - 4u) & 15u)
#define PATCH_PARTS(leaf, word) ((1u << PATCH_BLOCK(word)) | (0x10000u << ((leaf) >> 2 & 15u)))

#define PATCH_SPANS   128u
#define PATCH_ENTRIES 512u
#define PATCH_RECENT  256u
#define PATCH_PROBES  16u

/* An instruction in a span: where the directory is, and that reports know of it. */
struct patch_entry {
    uint64_t key;       /* PATCH_CODE << 32 | span; 0: empty */
    uint32_t directory; /* page; 0 for a moment after the key was set */
    uint32_t parts;
};

/* An instruction in a leaf: a cache that any lane overwrites. */
struct patch_recent {
    uint64_t key; /* PATCH_CODE << 32 | leaf; 0: empty */
    /* N2. The address of its page (48 bits), above that its blocks whose parts the entry has. */
    uint64_t page;
};
#define PATCH_PAGE_ADDRESS UINT64_C(0xffffffffffff)

struct patch_span {
    uint32_t tag; /* span << 3 | kind; 0: empty */
    uint32_t directory;
};

/* A place in the ring of free pages. The library puts a page there and zeroes `what`; who claims it
 * writes `launch`, then `what`. */
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
    uint64_t lost;  /* uint64_t: becomes 1 when an access has gone to the sink */
    uint64_t gate;  /* of the block-entry patch, or 0 */
    uint32_t ring_mask;
    uint32_t index; /* of this record */
    /* device */
    uint64_t unlisted; /* 1: the entries were full, instructions are missing */
    uint64_t unused[1];
    struct patch_span spans[PATCH_SPANS];
    struct patch_entry entries[PATCH_ENTRIES];
    struct patch_recent recent[PATCH_RECENT];
};

#ifdef __cplusplus
#define PATCH_ASSERT static_assert
#else
#define PATCH_ASSERT _Static_assert
#endif
PATCH_ASSERT(sizeof(struct patch_entry) == 16, "one load");
PATCH_ASSERT(sizeof(struct patch_recent) == 16, "one load");
PATCH_ASSERT(sizeof(struct patch_place) == 16, "layout");
PATCH_ASSERT(sizeof(struct patch_pool) == 256, "layout");
PATCH_ASSERT(offsetof(struct patch_launch, spans) == 64, "layout");
PATCH_ASSERT(offsetof(struct patch_launch, entries) == 64 + 1024, "layout");
PATCH_ASSERT(offsetof(struct patch_launch, recent) == 64 + 1024 + 8192, "layout");
PATCH_ASSERT(sizeof(struct patch_launch) == 64 + 1024 + 8192 + 4096, "layout");

#endif
