/* Runs a piece of a program on a virtual device of its own, in a child process, and reads its trace
 * back. */
#ifndef SSAN_TESTS_VCUDA_SUPPORT_H
#define SSAN_TESTS_VCUDA_SUPPORT_H

#include "base/arena.h"
#include "trace/event.h"

#include "cuda_runtime_api.h"

#include <stdbool.h>
#include <stddef.h>

/* What a child left. Events are copies; free with trace_finish. */
struct trace {
    struct ssan_event *items;
    size_t count, room;
    bool whole; /* it ends with an exit event and a seal */
    int status; /* of waitpid */
    struct arena arena;
};

/* Runs `body(data)` in a child under `schedule`; its result is the exit code. With `trace`, in a
 * session, whose trace is read into it. Returns the exit code, or 128 + the signal. */
int device_run(const char *schedule, int (*body)(void *data), void *data, struct trace *trace);
void trace_finish(struct trace *trace);
size_t trace_count(const struct trace *trace, enum ssan_event_kind kind);
/* The nth event (from 0) of a kind; fails the test when there is none. */
const struct ssan_event *trace_at(const struct trace *trace, enum ssan_event_kind kind, size_t nth);
/* Position of the first event of a kind for an operation; SIZE_MAX: none. */
size_t trace_closed_at(const struct trace *trace, uint64_t op);
bool str_is(struct ssan_str str, const char *text);

/* In a child: ends it with the line as message when a check fails. */
#define CHECK(condition)  check_in_child((condition), #condition, __FILE__, __LINE__)
#define OK(call)          check_code((call), cudaSuccess, #call, __FILE__, __LINE__)
#define FAILS(call, code) check_code((call), (code), #call, __FILE__, __LINE__)
void check_in_child(bool ok, const char *what, const char *file, int line);
void check_code(cudaError_t got, cudaError_t wanted, const char *what, const char *file, int line);

#endif
