/* The way back: one page that the tool maps and every target process of a run maps too.
 *
 * The tool makes a session directory and puts its path into the environment of the target
 * (STREAMSAN_SESSION). In it stand `control` (this page) and, made by each process that has CUDA
 * operations, its live trace `<pid>.live`; a second exec in the same pid makes `<pid>.1.live`, and
 * so on. Without the variable, or with another version in the page, a producer runs the program and
 * writes nothing. Raise CONTROL_VERSION on any change of layout or meaning. Fields are written by
 * one side only, as said. */
#ifndef SSAN_TRACE_CONTROL_ABI_H
#define SSAN_TRACE_CONTROL_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_MAGIC   UINT64_C(0x3130544e4f434e53) /* "SNCONT01" */
#define CONTROL_VERSION 4u
#define CONTROL_ENV     "STREAMSAN_SESSION"
#define CONTROL_FILE    "control"
#define CONTROL_SUFFIX  ".live"
#define CONTROL_PLAN    "plan" /* a schedule in the form of trace/plan.h; may be missing */
#define CONTROL_BYTES   4096

#define CONTROL_CALLS    1u /* `call` events are written */
#define CONTROL_SNAPSHOT 2u /* the contents of memory are kept in <live trace>.memory */

#define CONTROL_MOST_DEVICES 16 /* --device virtual:N */

#define CONTROL_PLAN_LIMIT_MS 10000 /* where plan_limit_ms is 0 */

struct control_page {
    uint64_t magic;   /* tool, before the target starts */
    uint32_t version; /* tool */
    uint32_t flags;   /* tool: CONTROL_* */
    char
        schedule[1024];      /* tool: what --schedule got (eager, order:..., file:...), cut where it
                                is longer; what counts is CONTROL_PLAN where it exists; NUL-terminated */
    uint64_t findings_asked; /* targets: highest request number of query_findings, by atomic add */
    uint64_t findings_answered;  /* tool: request up to which `findings` is right */
    uint64_t findings;           /* tool: error findings so far */
    uint64_t trace_limit_bytes;  /* tool: disk that a live trace may hold at once, what the tool has
                                    given back not counted; 0: no limit */
    uint64_t kill_after_records; /* tool, for tests: the process kills itself as its k-th record is
                                    committed; 0: never */
    uint64_t tool_pid;           /* tool: a target whose tool has gone writes no more; 0: none */
    uint64_t snapshot_limit_bytes; /* tool: contents beyond so many bytes are left out */
    uint64_t plan_limit_ms; /* tool: a plan that holds everything up for so long is not feasible */
    uint64_t devices;       /* tool: virtual devices, at most CONTROL_MOST_DEVICES; 0: one */
    unsigned char reserved[CONTROL_BYTES - 1024 - 16 - 72];
};

static_assert(sizeof(struct control_page) == CONTROL_BYTES, "one page");
static_assert(offsetof(struct control_page, schedule) == 16, "layout");
static_assert(offsetof(struct control_page, findings_asked) == 1040, "layout");
static_assert(offsetof(struct control_page, kill_after_records) == 1072, "layout");

#endif
