/* Traces of the rules of copies, memsets and frees: which memory makes the host wait. */
#include "core_rules.h"

/* R-COPY-6: half of the source is registered, so it is pageable: free at the return. */
static void half_registered(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, REG, MIB);
    t_host(t, WRITE, REG, MIB / 2);
}

static void memset_sync(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_memset(t, legacy, SYNC, PIN, MIB);
    t_host(t, READ, PIN, MIB);
    t_memset(t, legacy, SYNC, MAN, MIB);
    t_host(t, READ, MAN, MIB);
    t_memset(t, legacy, SYNC, D, MIB);
    t_reads(t, n, D, MIB);
}

static void memset_async(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_memset(t, s, ASYNC, PIN, MIB);
    t_host(t, READ, PIN, MIB);
}

static void copy_pageable_in(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t), s = t_blocking(t);
    t_writes(t, s, D2, 64);
    t_copy(t, legacy, SYNC, D, PAG, 64 * KIB);
    t_host(t, WRITE, PAG, MIB);
    t_reads(t, n, D, 64 * KIB); /* the tail may be in flight */
    t_reads(t, n, D2, 64);      /* joins prior: observed only for small copies */
    t_writes(t, s, D2 + 64, 64);
    t_copy(t, legacy, SYNC, D + 65536, PAG, 64 * KIB + 4);
    t_reads(t, n, D2 + 64, 64);
}

static void copy_pinned_in(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_copy(t, legacy, SYNC, D, PIN, 64 * KIB);
    t_reads(t, n, D, 64 * KIB);
    t_host(t, WRITE, PIN, 64 * KIB);
    t_copy(t, legacy, SYNC, D2, PIN, MIB);
    t_reads(t, n, D2, MIB);
}

static void copy_out(struct trace *t)
{
    uint32_t legacy = t_legacy(t);
    t_copy(t, legacy, SYNC, PAG, D, MIB);
    t_host(t, READ, PAG, MIB);
}

static void copy_on_device(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_copy(t, legacy, SYNC, D2, D, MIB);
    t_reads(t, n, D2, MIB);
}

static void copy_on_host(struct trace *t)
{
    uint32_t legacy = t_legacy(t);
    t_copy(t, legacy, SYNC, PIN2, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void copy_managed(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_copy(t, legacy, SYNC, MAN, D, MIB);
    t_reads(t, n, MAN, MIB);
}

static void async_pageable_in(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, PAG, MIB);
    t_host(t, WRITE, PAG, MIB);
}

static void async_pageable_out(struct trace *t)
{
    uint32_t n = t_non_blocking(t);
    t_copy(t, n, ASYNC, PAG, D, MIB);
    t_host(t, READ, PAG, MIB);
}

static void async_pinned(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, PIN, MIB);
    t_host(t, WRITE, PIN, MIB);
}

static void async_on_device(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t);
    t_copy(t, s, ASYNC, D2, D, MIB);
    t_reads(t, u, D2, MIB);
}

static void async_on_host(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_writes(t, s, PIN, MIB);
    t_copy(t, s, ASYNC, PIN2, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void async_managed(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, MAN, MIB);
    t_host(t, WRITE, MAN, MIB);
}

/* The free of one block makes the next read a portability question, not an error. */
static void free_joins(struct trace *t)
{
    uint32_t s = t_blocking(t), last = t_alloc(t, SSAN_memory_DEVICE, D + 0x10000000, 64);
    t_writes(t, s, PIN, MIB);
    t_free(t, last);
    t_host(t, READ, PIN, MIB);
}

static void free_in_flight(struct trace *t)
{
    uint32_t s = t_blocking(t), p = t_alloc(t, SSAN_memory_DEVICE, D + 0x10000000, 64);
    t_writes(t, s, D + 0x10000000, 64);
    t_free(t, p);
}

static const struct rule_case cases[] = {
    {"half_registered", false, "WAR?A1", half_registered},
    {"memset_sync", false, "RAW?R-COPY-18 RAW!", memset_sync},
    {"memset_async", false, "RAW!", memset_async},
    {"copy_pageable_in", false, "RAW! RAW?C1", copy_pageable_in},
    {"copy_pinned_in", false, "RAW?C2", copy_pinned_in},
    {"copy_out", false, "", copy_out},
    {"copy_on_device", false, "RAW!", copy_on_device},
    {"copy_on_host", false, "", copy_on_host},
    {"copy_managed", false, "RAW?C6", copy_managed},
    {"async_pageable_in", false, "WAR?A1", async_pageable_in},
    {"async_pageable_out", false, "RAW?A2", async_pageable_out},
    {"async_pinned", false, "WAR!", async_pinned},
    {"async_on_device", false, "RAW!", async_on_device},
    {"async_on_host", false, "", async_on_host},
    {"async_managed", false, "WAR!", async_managed},
    {"free_joins", false, "RAW?R-IMPL-3", free_joins},
    {"free_in_flight", false, "FREE-IN-FLIGHT?R-IMPL-4", free_in_flight},
};
const struct rule_cases rule_cases_memory = {cases, sizeof cases / sizeof *cases};
