/* What unwinding a frame takes, in one word: what the cache of the unwinder holds for a return
 * address.
 *
 * bits  0-2   kind                      1-3  where the CFA comes from, see below
 *       3     the caller's frame pointer is stored
 *       4     the address lies behind a call instruction
 *       5     the module is one with flags (objects.h)
 *       6-24  CFA offset, in words      signed 19 bits: frames up to 2 MiB
 *      25-36  frame pointer, in words   signed 12 bits, from the CFA (REALIGNED: the register)
 *      37-48  return address, in words  signed 12 bits, from the CFA
 *      49-63  module                    15 bits: OBJECTS_MAX; 0: in no object
 * What does not fit is RULE_TABLE: the whole row is read again each time. */
#ifndef SSAN_CAPTURE_UNWIND_RULE_H
#define SSAN_CAPTURE_UNWIND_RULE_H

#include "capture/unwind_cfi.h"

#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
    RULE_NONE,      /* no rule: an empty entry of the cache */
    RULE_SP,        /* CFA = stack pointer + offset */
    RULE_FP,        /* CFA = frame pointer + offset */
    RULE_REALIGNED, /* CFA = word at frame pointer + offset */
    RULE_TABLE,     /* by the row of the table, in full */
    RULE_CHAIN,     /* no table: a frame record at the frame pointer is tried */
    RULE_OUTERMOST, /* no caller */
};

static inline enum rule_kind rule_kind(uint64_t rule)
{
    return (enum rule_kind)(rule & 7);
}

static inline bool rule_stores_fp(uint64_t rule)
{
    return rule >> 3 & 1;
}

static inline bool rule_is_behind_call(uint64_t rule)
{
    return rule >> 4 & 1;
}

static inline bool rule_is_special(uint64_t rule)
{
    return rule >> 5 & 1;
}

/* The offsets, in bytes. */
static inline uint64_t rule_cfa(uint64_t rule)
{
    return (uint64_t)((int64_t)(rule << 39) >> 45) * 8;
}

static inline uint64_t rule_fp(uint64_t rule)
{
    return (uint64_t)((int64_t)(rule << 27) >> 52) * 8;
}

static inline uint64_t rule_ra(uint64_t rule)
{
    return (uint64_t)((int64_t)(rule << 15) >> 52) * 8;
}

static inline uint32_t rule_module(uint64_t rule)
{
    return (uint32_t)(rule >> 49);
}

/* The rule of a row (NULL: there is none) for an address in `module`, which has flags or not. */
uint64_t rule_make(const struct cfi_row *row, uint32_t module, bool is_special, bool behind_call);

#endif
