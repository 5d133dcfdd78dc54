/* The session that the tool made for a run, as a producer sees it (control_abi.h): the control
 * page, the trace, its first event. */
#ifndef SSAN_TRACE_SESSION_H
#define SSAN_TRACE_SESSION_H

#include "trace/control_abi.h"
#include "trace/writer.h"

/* The control page of the session in `directory`, mapped for good; NULL when there is none or it is
 * of another version. */
struct control_page *session_map_page(const char *directory);
/* The trace of this process, which ends with the tool; NULL with *err set when it can't be made. */
struct writer *session_open_trace(const char *directory, const struct control_page *page,
                                  struct ssan_error *err);
/* Puts the first event: `process` with the ids, the command and the writer of this process filled
 * in. */
void session_tell_process(struct ssan_sink *sink, struct ssan_ev_process process);
/* The number of error findings, once all that is in the trace is judged. After 10 s without an
 * answer: 0, which is told, and the run is incomplete. Any thread. */
uint64_t session_ask_findings(struct control_page *page, struct ssan_sink *sink, uint32_t thread);
/* Another limit than 10 s, for tests. One thread. */
void session_set_findings_wait(int64_t wait_ns);
/* CLOCK_MONOTONIC. */
int64_t session_now_ns(void);

#endif
