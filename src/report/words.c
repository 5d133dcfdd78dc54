/* Names and sentences. Every check of rules.def has its sentence in words_message; the switch has
 * no default, so a new check does not compile without one. */
#include "report/words.h"

#include "trace/cuda_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct place nowhere;

const struct report_op *words_op(const struct report *report, int op)
{
    return op >= 0 ? &report->ops[op] : NULL;
}

const char *words_buffer(const struct report *report, int buffer)
{
    return buffer >= 0 && report->buffers[buffer].name ? report->buffers[buffer].name : "?";
}

const char *words_event(const struct report *report, int event)
{
    return event >= 0 && report->events[event].name ? report->events[event].name : "?";
}

bool words_is_host(const struct report_op *op)
{
    return op && op->stream < 0;
}

/* Names the host, and its thread where threads are told apart. */
static void add_host(struct strbuf *out, const struct report *report, const struct report_op *op)
{
    if (report->run.threads_strict && report->run.submitting_threads > 1 && op->thread > 0) {
        strbuf_printf(out, "host thread %u", op->thread);
    } else {
        strbuf_puts(out, "the host");
    }
}

void words_noun(struct strbuf *out, const struct report *report, int index)
{
    const struct report_op *op = words_op(report, index);
    const char *label = op && op->label ? op->label : "";
    if (!op) {
        strbuf_puts(out, "an operation");
        return;
    }
    switch (op->kind) {
    case ROP_KERNEL:
        strbuf_printf(out, "%s", op->name ? op->name : "a kernel");
        break;
    case ROP_COPY:
        strbuf_printf(out, "copy %s", label);
        break;
    case ROP_MEMSET:
        strbuf_printf(out, "memset %s", label);
        break;
    case ROP_ALLOC:
    case ROP_FREE:
        strbuf_printf(out, "%s", op->call ? op->call : label);
        break;
    case ROP_RECORD:
        strbuf_printf(out, "record '%s'", words_event(report, op->event));
        break;
    case ROP_WAIT:
        strbuf_printf(out, "wait '%s'", words_event(report, op->event));
        break;
    case ROP_HOSTFUNC:
        strbuf_printf(out, "host function %s", op->name ? op->name : label);
        break;
    case ROP_FAILED:
        if (op->name) {
            strbuf_printf(out, "the launch of %s", op->name);
        } else {
            strbuf_puts(out, op->call ? op->call : "a call");
        }
        break;
    case ROP_HOST_READ:
    case ROP_HOST_WRITE:
    case ROP_SYNC:
        add_host(out, report, op);
        break;
    }
}

void words_error(struct strbuf *out, uint32_t error)
{
    const char *name = cuda_error_name(error);
    if (name) {
        strbuf_puts(out, name);
    } else {
        strbuf_printf(out, "error %" PRIu32, error);
    }
}

void words_lane(struct strbuf *out, const struct report *report, int index)
{
    const struct report_op *op = words_op(report, index);
    if (!op) {
        strbuf_puts(out, "?");
    } else if (op->stream < 0) {
        add_host(out, report, op);
    } else {
        strbuf_printf(out, "'%s'", report->streams[op->stream].name);
    }
}

void words_device(struct strbuf *out, const struct report *report, int device)
{
    if (report->device_count > 1 && device >= 0) {
        strbuf_printf(out, " (device %d)", device);
    }
}

void words_lane_of_device(struct strbuf *out, const struct report *report, int index)
{
    const struct report_op *op = words_op(report, index);
    words_lane(out, report, index);
    if (op && op->stream >= 0) {
        words_device(out, report, report->streams[op->stream].device);
    }
}

void words_subject(struct strbuf *out, const struct report *report, int index)
{
    const struct report_op *op = words_op(report, index);
    words_noun(out, report, index);
    if (op && op->stream >= 0) {
        strbuf_printf(out, " on '%s'", report->streams[op->stream].name);
        words_device(out, report, report->streams[op->stream].device);
    }
}

const char *words_verb(const struct report *report, const struct finding_side *side)
{
    const struct report_op *op = words_op(report, side->op);
    if (op && op->kind == ROP_FREE) {
        return op->call && strstr(op->call, "Unregister") ? "unregisters" : "frees";
    }
    if (op && op->kind == ROP_ALLOC) {
        return "reuses";
    }
    return side->access == SSAN_access_READ ? "reads" : "writes";
}

static void add_line(struct strbuf *out, const struct place *place, bool with_file)
{
    if (place->file && place->line > 0) {
        strbuf_printf(out, "%s:%u", with_file ? place->file : "", place->line);
    } else if (place->function) {
        strbuf_puts(out, place->function);
    } else {
        strbuf_puts(out, "an unknown line");
    }
}

void words_place(struct strbuf *out, const struct place *place, const char *here)
{
    add_line(out, place, !here || !place->file || strcmp(here, place->file) != 0);
}

void words_place_full(struct strbuf *out, const struct place *place)
{
    add_line(out, place, true);
}

static bool is_known(const struct place *place)
{
    return (place->file && place->line > 0) || place->function;
}

const struct place *words_site(const struct report *report, const struct finding *finding)
{
    const struct report_op *then = words_op(report, finding->then.op);
    const struct report_op *first = words_op(report, finding->first.op);
    if (then && is_known(&then->at)) {
        return &then->at;
    }
    if (first && is_known(&first->at)) {
        return &first->at;
    }
    if (finding->event >= 0 && is_known(&report->events[finding->event].created)) {
        return &report->events[finding->event].created;
    }
    return &nowhere;
}

/* "<first> may still read it" and the like: what the earlier side may still be doing. */
static void add_may_still(struct strbuf *out, const struct report *report,
                          const struct finding *finding)
{
    words_subject(out, report, finding->first.op);
    strbuf_printf(out, " may still %s it",
                  finding->first.access == SSAN_access_READ ? "read" : "write");
}

static void race_message(struct strbuf *out, const struct report *report,
                         const struct finding *finding)
{
    const char *buffer = words_buffer(report, finding->buffer);
    words_subject(out, report, finding->then.op);
    if (finding->check == CHECK_WAR) {
        strbuf_printf(out, " overwrites '%s' while ", buffer);
        add_may_still(out, report, finding);
        return;
    }
    strbuf_printf(out, " %s '%s' before ", words_verb(report, &finding->then), buffer);
    words_subject(out, report, finding->first.op);
    strbuf_puts(out, " has finished writing it");
}

static void lifetime_message(struct strbuf *out, const struct report *report,
                             const struct finding *finding)
{
    const char *buffer = words_buffer(report, finding->buffer);
    const struct report_op *first = words_op(report, finding->first.op);
    const struct report_op *then = words_op(report, finding->then.op);
    if (first && first->kind == ROP_FREE) {
        words_subject(out, report, finding->then.op);
        strbuf_printf(out, " %s '%s' after %s has freed it", words_verb(report, &finding->then),
                      buffer, first->call ? first->call : "a call");
        return;
    }
    if (then && then->stream < 0) {
        strbuf_printf(out, "%s %s '%s' while ", then->call ? then->call : "the host",
                      words_verb(report, &finding->then), buffer);
    } else {
        strbuf_printf(out, "'%s' is freed on ", buffer);
        words_lane(out, report, finding->then.op);
        strbuf_puts(out, " while ");
    }
    add_may_still(out, report, finding);
}

static void thread_message(struct strbuf *out, const struct report *report,
                           const struct finding *finding)
{
    const struct report_op *first = words_op(report, finding->first.op);
    const struct report_op *then = words_op(report, finding->then.op);
    unsigned one = first ? first->thread : 0, two = then ? then->thread : 0;
    if (finding->check == CHECK_EVENT_RACE) {
        strbuf_printf(out,
                      "host thread %u uses '%s' and host thread %u uses it too, but nothing "
                      "orders the two threads there",
                      one, words_event(report, finding->event), two);
        return;
    }
    strbuf_printf(out, "host threads %u and %u submit to ", one, two);
    if (finding->stream >= 0) {
        strbuf_printf(out, "'%s'", report->streams[finding->stream].name);
    } else {
        words_lane(out, report, finding->then.op);
    }
    strbuf_puts(out, " or join it, and nothing orders the two threads there");
}

void words_failure(struct strbuf *out, const struct run_failure *failure)
{
    strbuf_printf(out, "%s at ", failure->call);
    words_place_full(out, &failure->at);
    strbuf_puts(out, ": ");
    words_error(out, failure->error);
    if (failure->count > 1) {
        strbuf_printf(out, ", %" PRIu64 " times", failure->count);
    }
}

void words_missed(struct strbuf *out, const struct run_missed *missed)
{
    strbuf_printf(out, "%s did not happen: %s was called %" PRIu64 " time%s", missed->failure,
                  missed->call, missed->calls, missed->calls == 1 ? "" : "s");
}

static void error_message(struct strbuf *out, const struct report *report,
                          const struct finding *finding)
{
    const struct report_op *then = words_op(report, finding->then.op);
    const uint32_t error = then ? then->error : 0;
    if (finding->check == CHECK_UNCHECKED_LAUNCH) {
        words_noun(out, report, finding->then.op);
        strbuf_puts(out, " fails (");
        words_error(out, error);
        strbuf_puts(out, finding->severity == SEVERITY_ERROR
                             ? "), and nobody asks for its error"
                             : "), and its error is asked for only behind the next join");
        return;
    }
    words_noun(out, report, finding->then.op);
    strbuf_puts(out, " returns the error of ");
    if (finding->first.op >= 0) {
        words_subject(out, report, finding->first.op);
    } else {
        strbuf_puts(out, "earlier work");
    }
    strbuf_puts(out, " (");
    words_error(out, error);
    strbuf_puts(out, "), and the program goes on without asking for it");
}

void words_message(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    switch (finding->check) {
    case CHECK_RAW:
    case CHECK_WAR:
    case CHECK_WAW:
        race_message(out, report, finding);
        break;
    case CHECK_USE_AFTER_FREE:
    case CHECK_FREE_IN_FLIGHT:
        lifetime_message(out, report, finding);
        break;
    case CHECK_EVENT_RACE:
    case CHECK_SUBMIT_RACE:
        thread_message(out, report, finding);
        break;
    case CHECK_EVENT_UNRECORDED:
        if (finding->stream >= 0) {
            strbuf_printf(out, "'%s'", report->streams[finding->stream].name);
        } else {
            words_lane(out, report, finding->then.op);
        }
        strbuf_printf(out, " waits for '%s', which was never recorded; the wait orders nothing",
                      words_event(report, finding->event));
        break;
    case CHECK_PENDING_AT_EXIT:
        words_subject(out, report, finding->then.op >= 0 ? finding->then.op : finding->first.op);
        strbuf_puts(out, " was still pending when the program ended; no wait for it had returned");
        break;
    case CHECK_UNCHECKED_LAUNCH:
    case CHECK_LATE_ERROR:
        error_message(out, report, finding);
        break;
    case CHECK_COUNT:
        break;
    }
}

/* True for words that a shell leaves as they are. */
static bool is_plain(const char *word)
{
    return *word &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-./:,=+@%")] == '\0';
}

void words_shell(struct strbuf *out, const char *word)
{
    if (is_plain(word)) {
        strbuf_puts(out, word);
        return;
    }
    strbuf_puts(out, "'");
    for (; *word; word++) {
        if (*word == '\'') {
            strbuf_puts(out, "'\\''");
        } else {
            strbuf_add(out, word, 1);
        }
    }
    strbuf_puts(out, "'");
}

/* -- the streams of an order -- */

#define STREAMS_TOLD 12

/* Whether an item of that stream stands in the order. */
static bool is_listed(const char *order, uint32_t ordinal)
{
    char text[16];
    size_t length = (size_t)snprintf(text, sizeof text, "s%" PRIu32 ".", ordinal);
    const char *at = order;
    while (at && (at = strstr(at, text)) != NULL) {
        if (at == order || !isalnum((unsigned char)at[-1])) {
            return true;
        }
        at += length;
    }
    return !order;
}

/* The first stream behind `last` by its number that the order names; NULL: there is none. */
static const struct report_stream *next_stream(const struct report *report, const char *order,
                                               uint32_t last)
{
    const struct report_stream *best = NULL;
    for (size_t i = 0; i < report->stream_count + report->spare_streams; i++) {
        const struct report_stream *stream = &report->streams[i];
        if (stream->ordinal > last && (!best || stream->ordinal < best->ordinal) &&
            is_listed(order, stream->ordinal)) {
            best = stream;
        }
    }
    return best;
}

void words_streams(struct strbuf *out, const struct report *report, const char *order)
{
    const struct report_stream *stream = next_stream(report, order, 0);
    size_t told = 0, left = 0;
    for (; stream; stream = next_stream(report, order, stream->ordinal)) {
        if (told == STREAMS_TOLD) {
            left++;
            continue;
        }
        strbuf_printf(out, "%ss%" PRIu32 " '%s'", told++ > 0 ? ", " : "", stream->ordinal,
                      stream->name);
        words_device(out, report, stream->device);
    }
    if (left > 0) {
        strbuf_printf(out, " and %zu more", left);
    }
}
