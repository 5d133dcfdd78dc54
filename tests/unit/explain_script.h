/* Small programs as traces in memory, each call with its line and source text, and what explain
 * says of them.
 *
 * A script is written call by call, as the program would make them; the functions return ids.
 * `script_explain` runs the engine and explain on it. All texts are borrowed: literals. */
#ifndef SSAN_TESTS_UNIT_EXPLAIN_SCRIPT_H
#define SSAN_TESTS_UNIT_EXPLAIN_SCRIPT_H

#include "core/explain.h"

#define SCRIPT_EVENTS 512
#define SCRIPT_BYTES  16384

struct script {
    struct ssan_source source; /* first: the script is a source */
    struct ssan_event events[SCRIPT_EVENTS];
    struct ssan_run runs[SCRIPT_EVENTS];
    size_t count, at, run_count;
    struct ssan_ev_line lines[SCRIPT_EVENTS];
    size_t line_count;
    uint32_t streams, event_ids, allocs, sites, thread;
    uint64_t ops, syncs;
    uint64_t next_address;
    const char *function, *file;
    unsigned lines_down; /* added to each line */
    bool finished, no_rewind;
    uint64_t fail_at;     /* explain's allocation that fails, and all behind it; 0: none */
    uint64_t allocations; /* that explain made the last time */
};

void script_begin(struct script *script);

/* A site at `line` with the statement `text` (may be NULL) in script->function; the same line and
 * text: the same site. */
uint32_t script_site(struct script *script, unsigned line, const char *text);
/* Adds an outer frame to a site. */
void script_frame(struct script *script, uint32_t site, unsigned line, const char *function,
                  const char *text);

uint32_t script_stream(struct script *script, enum ssan_stream_flavour flavour, unsigned line,
                       const char *text);
uint32_t script_event(struct script *script, unsigned line, const char *text);
/* Returns the address. */
uint64_t script_alloc(struct script *script, enum ssan_memory memory, const char *call,
                      unsigned line, const char *text);
void script_free(struct script *script, uint32_t alloc, const char *call, unsigned line,
                 const char *text);

/* A kernel that accesses SCRIPT_BYTES at `address`; returns its op. */
uint64_t script_kernel(struct script *script, uint32_t stream, const char *name,
                       enum ssan_access access, uint64_t address, unsigned line, const char *text);
/* A kernel that reads and writes. */
uint64_t script_update(struct script *script, uint32_t stream, const char *name, uint64_t address,
                       unsigned line, const char *text);
uint64_t script_copy(struct script *script, uint32_t stream, enum ssan_form form, uint64_t dst,
                     uint64_t src, unsigned line, const char *text);
uint64_t script_record(struct script *script, uint32_t stream, uint32_t event, unsigned line,
                       const char *text);
uint64_t script_wait(struct script *script, uint32_t stream, uint32_t event, unsigned line,
                     const char *text);
void script_sync(struct script *script, enum ssan_sync_kind kind, uint32_t object, const char *call,
                 unsigned line, const char *text);
void script_host(struct script *script, enum ssan_access access, uint64_t address, unsigned line,
                 const char *text);
void script_name(struct script *script, enum ssan_object object, uint64_t id, const char *text);

/* The end of the program and the lines of all sites. */
void script_finish(struct script *script);

/* Runs engine and explain (finishing the script first if need be); `report` is for report_finish.
 */
enum ssan_status script_explain(struct script *script, const struct explain_options *options,
                                struct report *report);

#endif
