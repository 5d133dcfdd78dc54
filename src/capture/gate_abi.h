/* What the gate's device code (patches/gate.cu) and the injected library (gate.c) share.
 *
 * A gate's block lies in device memory, where the blocks of a held kernel look at it all the time;
 * its state lies in page-locked memory of the host, so that both sides read it without a call.
 * `make` builds the library, `make capture` the device code. Raise the version in GATE_ENTER on
 * any change: the library does not find the function of another build. */
#ifndef SSAN_CAPTURE_GATE_ABI_H
#define SSAN_CAPTURE_GATE_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_TABLE 128 /* GATE_MOST_HELD of trace/gate_words.h */

/* Called at block entry; its name as text. */
#define GATE_ENTER       ssan_gate_enter_v2
#define GATE_QUOTE(name) #name
#define GATE_TEXT(name)  GATE_QUOTE(name)
#define GATE_FUNCTION    GATE_TEXT(GATE_ENTER)

/* The user data of a launch is shared with the patches of accesses: at this offset stands the
 * address of its gate_block, 0 for none. It is NULL, a record of theirs, or a gate_block. */
#define GATE_OFFSET 32

enum gate_release {
    GATE_HOLDS = 0,
    GATE_BY_PARTNER = 1, /* the other item is done */
    GATE_BY_LIMIT = 2
};

struct gate_state {
    uint32_t submitted;      /* host: the item that is waited for has been submitted */
    uint32_t release;        /* device: enum gate_release, last of what it writes */
    uint32_t submitted_then; /* device: `submitted` at the release */
    uint32_t blocks;         /* device: that had arrived before the release */
    uint64_t held_ns;        /* device: from the first block's arrival to the release */
    uint32_t opened;         /* host: what is waited for has happened, where the host tells it */
    uint32_t unused;
};

struct gate_block {
    uint32_t done; /* 1: a copy of the host's, behind the item in its stream, has set it */
    uint32_t release;
    uint64_t limit_ns, grace_ns;
    uint64_t begun;     /* when the first block arrived; 0: none has */
    uint64_t self;      /* address of this; stands at GATE_OFFSET */
    uint64_t done_seen; /* when one of them saw `done`; 0: none has */
    uint64_t state;     /* address of the struct gate_state */
    uint32_t most;      /* blocks that are held; 0: all */
    uint32_t blocks;
    uint32_t by_host; /* 1: `opened` of the state counts, too, which is slow to look at */
    uint32_t unused;
    uint32_t table[GATE_TABLE]; /* number + 1 of each held block, where there is a most */
};

static_assert(sizeof(struct gate_state) == 32, "layout");
static_assert(offsetof(struct gate_state, held_ns) == 16, "layout");
static_assert(sizeof(struct gate_block) == 72 + 4 * GATE_TABLE, "layout");
static_assert(offsetof(struct gate_block, begun) == 24, "layout");
static_assert(offsetof(struct gate_block, self) == GATE_OFFSET, "found as in other user data");
static_assert(offsetof(struct gate_block, table) == 72, "layout");

#endif
