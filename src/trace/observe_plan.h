/* What of the work on a GPU is to be observed, and which kernels are held up: the file `observe` in
 * the folder of a session, written by the tool and read by the injected library.
 *
 * One directive a line behind OBSERVE_FIRST_LINE, in any order, each optional:
 *
 *   accesses exact|footprint|off   default exact
 *   kernel +GLOB                   only kernels whose name fits such a line are observed
 *   kernel -GLOB                   kernels that fit are not, whatever else they fit
 *   launch-skip N                  of the launches that fit, the first N are not observed
 *   launch-count N                 of those behind them, only N are
 *   window profiler                launches between cudaProfilerStart and cudaProfilerStop only
 *   window nvtx NAME               launches inside a range of that name only
 *   device-memory BYTES            most of the device's memory for records of accesses
 *   gate WORDS                     for whoever holds kernels up; kept as it stands
 *
 * Names are demangled and without arguments (of programs that have no demangler the arguments of
 * templates are read as <...>); GLOB is matched as by fnmatch(3) without flags. One
 * thread reads; a plan that was read is only looked at, by any thread. */
#ifndef SSAN_TRACE_OBSERVE_PLAN_H
#define SSAN_TRACE_OBSERVE_PLAN_H

#include "trace/event.h"

#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define OBSERVE_FILE       "observe" /* in the folder of the session; may be missing */
#define OBSERVE_FIRST_LINE "streamsan-observe 1"

#define OBSERVE_GLOB_ROOM 1024 /* of a pattern, its NUL included */

struct observe_kernel {
    bool leave_out; /* -GLOB */
    char *glob;     /* owned */
};

enum observe_window {
    OBSERVE_ALWAYS,
    OBSERVE_PROFILER, /* between cudaProfilerStart and cudaProfilerStop */
    OBSERVE_NVTX,     /* inside a range named window_name */
};

struct observe_plan {
    enum ssan_accesses accesses;
    VEC(struct observe_kernel) kernels;
    uint64_t launch_skip;
    uint64_t launch_count; /* 0: no limit */
    enum observe_window window;
    char *window_name;            /* owned; NULL but for OBSERVE_NVTX */
    uint64_t device_memory_bytes; /* 0: the library's default */
    VEC(char *) gates;            /* words behind `gate`, owned */
};

/* The plan of a run without the file: everything, exactly. Allocates nothing. */
void observe_plan_init(struct observe_plan *plan);

/* Reads the text of a file; `name` stands in messages. The plan needs observe_plan_finish in any
 * case. SSAN_FORMAT: wrong at err->position (its line); SSAN_NO_MEMORY. */
enum ssan_status observe_plan_parse(struct observe_plan *plan, const char *name, const char *text,
                                    size_t length, struct ssan_error *err);
/* Reads OBSERVE_FILE in this folder; without one the plan is that of observe_plan_init. Also
 * SSAN_IO: it is there and can't be read. */
enum ssan_status observe_plan_read(struct observe_plan *plan, const char *folder,
                                   struct ssan_error *err);

/* Adds a line. False when out of memory. */
bool observe_plan_add_kernel(struct observe_plan *plan, bool leave_out, const char *glob);
bool observe_plan_add_gate(struct observe_plan *plan, const char *words);

/* True when it is the plan of observe_plan_init. */
bool observe_plan_is_plain(const struct observe_plan *plan);
/* Appends the text that reads back to the same plan. */
void observe_plan_print(const struct observe_plan *plan, struct strbuf *out);

/* Appends in words which launches are observed, for the scope of a verdict: "kernels scale* but
 * scale_half, launches from 3 on, 5 at most"; nothing for all. */
void observe_plan_words(const struct observe_plan *plan, struct strbuf *out);

/* Whether launches of this kernel are observed, as far as the `kernel` lines go: a match a line, so
 * callers keep the answer. Any thread. */
bool observe_plan_fits(const struct observe_plan *plan, const char *kernel);
/* The same for the number of a launch, from 0, among those that fit. */
bool observe_plan_counts(const struct observe_plan *plan, uint64_t number);

void observe_plan_finish(struct observe_plan *plan);

#endif
