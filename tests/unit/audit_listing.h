/* A listing written line by line, judged by an engine and audited. */
#ifndef SSAN_TESTS_UNIT_AUDIT_LISTING_H
#define SSAN_TESTS_UNIT_AUDIT_LISTING_H

#include "audit/audit.h"
#include "base/strbuf.h"
#include "trace/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

struct listing {
    struct strbuf text;
    unsigned ops, syncs; /* so far */
};

static inline void l_begin(struct listing *l)
{
    *l = (struct listing){.ops = 0};
    strbuf_puts(&l->text, "streamsan-listing 1\nprocess source=listing accesses=exact\n");
}

static inline void l_line(struct listing *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void l_line(struct listing *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&l->text, format, args);
    va_end(args);
    strbuf_puts(&l->text, "\n");
}

/* Streams 1 .. n, non-blocking, events 1 .. m, and a block of 64 KiB at 0x10000. */
static inline void l_world(struct listing *l, unsigned streams, unsigned events)
{
    unsigned i;
    for (i = 1; i <= streams; i++) {
        l_line(l, "stream_create stream=%u context=1 flavour=non-blocking thread=1 at=\"a.cu:1\"",
               i);
    }
    for (i = 1; i <= events; i++) {
        l_line(l, "event_create event=%u thread=1 at=\"a.cu:2\"", i);
    }
    l_line(l, "alloc alloc=1 context=1 memory=device address=0x10000 size=65536 "
              "call=\"cudaMalloc\" thread=1 at=\"a.cu:3\"");
}

/* A kernel that reads or writes the first 4 KiB from `address`. */
static inline void l_kernel(struct listing *l, unsigned stream, const char *access,
                            unsigned address, unsigned line)
{
    l->ops++;
    l_line(l,
           "op op=%u stream=%u kind=kernel call=\"cudaLaunchKernel\" name=\"k%u\" thread=1 "
           "at=\"a.cu:%u main\"",
           l->ops, stream, line, line);
    l_line(l, "set op=%u access=%s width=4 runs=[0x%x+4096]", l->ops, access, address);
    l_line(l, "op_closed op=%u", l->ops);
}

static inline void l_event(struct listing *l, const char *kind, unsigned stream, unsigned event,
                           unsigned line)
{
    l->ops++;
    l_line(l, "op op=%u stream=%u kind=%s call=\"%s\" event=%u thread=1 at=\"a.cu:%u\"", l->ops,
           stream, kind, strcmp(kind, "wait") == 0 ? "cudaStreamWaitEvent" : "cudaEventRecord",
           event, line);
    l_line(l, "op_closed op=%u", l->ops);
}

static inline void l_sync(struct listing *l, const char *kind, unsigned object, const char *call,
                          unsigned line)
{
    l->syncs++;
    l_line(l, "sync sync=%u kind=%s object=%u call=\"%s\" thread=1 at=\"a.cu:%u\"", l->syncs, kind,
           object, call, line);
    l_line(l, "sync_return sync=%u ok=1 blocked_ns=100", l->syncs);
}

/* Feeds all of a source; the engine is the caller's. */
static inline struct engine *judged(struct ssan_source *source)
{
    const struct engine_options options = {.threads = THREADS_OBSERVED};
    struct engine *engine = engine_create(&options);
    struct ssan_event event;
    struct ssan_error err = {0};
    assert_non_null(engine);
    while (ssan_next(source, &event, &err) == SSAN_NEXT_EVENT) {
        if (engine_feed(engine, &event, &err) != SSAN_OK) {
            fail_msg("refused: %s", err.text);
        }
    }
    assert_int_equal(err.status, SSAN_OK);
    assert_int_equal(engine_finish(engine, &err), SSAN_OK);
    return engine;
}

/* Ends the listing and audits it; `audit` is zeroed and wants audit_finish. */
static inline void l_audit(struct listing *l, struct audit *audit,
                           const struct audit_options *options)
{
    struct reader *reader = NULL;
    struct ssan_error err = {0};
    struct engine *engine;
    l_line(l, "exit");
    assert_false(l->text.failed);
    if (reader_open_listing(&reader, "listing", strbuf_text(&l->text), l->text.length, &err)) {
        fail_msg("%s", err.text);
    }
    engine = judged(reader_source(reader));
    if (audit_run(audit, engine, reader_source(reader), options, &err) != SSAN_OK) {
        fail_msg("%s", err.text);
    }
    engine_destroy(engine);
    reader_close(reader);
    strbuf_finish(&l->text);
}

#endif
