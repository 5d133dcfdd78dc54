/* The cases of the rules' tests: a small trace each, whose outcome is known (core_rules.c). */
#ifndef SSAN_TESTS_UNIT_CORE_RULES_H
#define SSAN_TESTS_UNIT_CORE_RULES_H

#include "support/build_trace.h"

#define D     UINT64_C(0x100000) /* device memory */
#define D2    UINT64_C(0x400000)
#define PIN   UINT64_C(0x1000000) /* page-locked */
#define PIN2  UINT64_C(0x1400000)
#define MAN   UINT64_C(0x2000000) /* managed */
#define REG   UINT64_C(0x3000000) /* registered host memory, the first half of 1 MiB */
#define PAG   UINT64_C(0x7000000) /* pageable */
#define PAG2  UINT64_C(0x7400000)
#define MIB   UINT64_C(0x100000)
#define KIB   UINT64_C(0x400)
#define SYNC  SSAN_form_SYNC
#define ASYNC SSAN_form_ASYNC
#define READ  SSAN_access_READ
#define WRITE SSAN_access_WRITE

struct rule_case {
    const char *name;
    bool strict;
    const char *outcome;
    void (*build)(struct trace *t);
};

/* Cases of one area, in no order. */
struct rule_cases {
    const struct rule_case *items;
    size_t count;
};

/* core_rules_order.c: streams, events, joins, host threads and host functions. */
extern const struct rule_cases rule_cases_order;
/* core_rules_memory.c: copies, memsets and frees, and what the kind of memory makes of them. */
extern const struct rule_cases rule_cases_memory;

#endif
