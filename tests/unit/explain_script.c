/* The trace of a script: events as a producer writes them, sets and closes right behind each
 * operation, lines last. */
#include "explain_script.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/must.h"

static enum ssan_next next(struct ssan_source *source, struct ssan_event *event,
                           struct ssan_error *err)
{
    struct script *script = (struct script *)source;
    if (script->at == script->count) {
        return SSAN_NEXT_END;
    }
    *event = script->events[script->at++];
    return SSAN_NEXT_EVENT;
}

static bool again(struct ssan_source *source)
{
    struct script *script = (struct script *)source;
    script->at = 0;
    return !script->no_rewind;
}

static struct ssan_event *put(struct script *script, enum ssan_event_kind kind)
{
    MUST(script->count < SCRIPT_EVENTS);
    struct ssan_event *event = &script->events[script->count++];
    memset(event, 0, sizeof *event);
    event->kind = kind;
    return event;
}

void script_begin(struct script *script)
{
    memset(script, 0, sizeof *script);
    script->source = (struct ssan_source){next, again};
    script->function = "main";
    script->file = "handover.cu";
    script->thread = 1;
    script->next_address = UINT64_C(0x700000000000);
    struct ssan_ev_process *process = &put(script, SSAN_EV_process)->process;
    process->accesses = SSAN_accesses_EXACT;
    process->source = SSAN_producer_VIRTUAL_DEVICE;
    process->command = (struct ssan_str){"./handover\0-n", 13};
    process->schedule = ssan_str("eager");
}

uint32_t script_site(struct script *script, unsigned line, const char *text)
{
    line += script->lines_down;
    for (size_t i = 0; i < script->line_count; i++) {
        const struct ssan_ev_line *known = &script->lines[i];
        if (known->depth == 0 && known->line == line && known->text.ptr == text) {
            return known->site;
        }
    }
    MUST(script->line_count < SCRIPT_EVENTS);
    script->lines[script->line_count++] = (struct ssan_ev_line){
        .site = ++script->sites,
        .depth = 0,
        .file = ssan_str(script->file),
        .line = line,
        .function = ssan_str(script->function),
        .text = ssan_str(text ? text : ""),
    };
    script->lines[script->line_count - 1].text.ptr = text;
    return script->sites;
}

void script_frame(struct script *script, uint32_t site, unsigned line, const char *function,
                  const char *text)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < script->line_count; i++) {
        depth += script->lines[i].site == site;
    }
    script->lines[script->line_count++] = (struct ssan_ev_line){
        .site = site,
        .depth = depth,
        .file = ssan_str(script->file),
        .line = line,
        .function = ssan_str(function),
        .text = ssan_str(text),
    };
}

uint32_t script_stream(struct script *script, enum ssan_stream_flavour flavour, unsigned line,
                       const char *text)
{
    struct ssan_ev_stream_create *ev = &put(script, SSAN_EV_stream_create)->stream_create;
    *ev = (struct ssan_ev_stream_create){
        ++script->streams, 1, flavour, 0, script->thread, script_site(script, line, text)};
    return ev->stream;
}

uint32_t script_event(struct script *script, unsigned line, const char *text)
{
    struct ssan_ev_event_create *ev = &put(script, SSAN_EV_event_create)->event_create;
    *ev = (struct ssan_ev_event_create){++script->event_ids, 1, 2, script->thread,
                                        script_site(script, line, text)};
    return ev->event;
}

uint64_t script_alloc(struct script *script, enum ssan_memory memory, const char *call,
                      unsigned line, const char *text)
{
    struct ssan_ev_alloc *ev = &put(script, SSAN_EV_alloc)->alloc;
    *ev = (struct ssan_ev_alloc){++script->allocs, 1,
                                 memory,           script->next_address,
                                 SCRIPT_BYTES,     ssan_str(call),
                                 script->thread,   script_site(script, line, text)};
    script->next_address += 4 * SCRIPT_BYTES;
    return ev->address;
}

void script_free(struct script *script, uint32_t alloc, const char *call, unsigned line,
                 const char *text)
{
    struct ssan_ev_free *ev = &put(script, SSAN_EV_free)->free;
    *ev = (struct ssan_ev_free){alloc, ssan_str(call), script->thread,
                                script_site(script, line, text)};
}

static struct ssan_ev_op *put_op(struct script *script, uint32_t stream, enum ssan_op_kind kind,
                                 const char *call, unsigned line, const char *text)
{
    struct ssan_ev_op *ev = &put(script, SSAN_EV_op)->op;
    ev->op = ++script->ops;
    ev->stream = stream;
    ev->kind = kind;
    ev->call = ssan_str(call);
    ev->thread = script->thread;
    ev->site = script_site(script, line, text);
    return ev;
}

static void put_set(struct script *script, uint64_t op, enum ssan_access access, uint64_t address,
                    uint32_t width)
{
    struct ssan_ev_set *ev = &put(script, SSAN_EV_set)->set;
    script->runs[script->run_count] = (struct ssan_run){address, SCRIPT_BYTES, 0, 1};
    *ev = (struct ssan_ev_set){op, access, SSAN_set_sureness_EXACT,
                               0,  width,  {&script->runs[script->run_count++], 1}};
}

static void put_closed(struct script *script, uint64_t op)
{
    put(script, SSAN_EV_op_closed)->op_closed.op = op;
}

static uint64_t kernel(struct script *script, uint32_t stream, const char *name, unsigned line,
                       const char *text)
{
    struct ssan_ev_op *ev =
        put_op(script, stream, SSAN_op_kind_KERNEL, "cudaLaunchKernel", line, text);
    ev->name = ssan_str(name);
    ev->grid_x = 16;
    ev->block_x = 256;
    ev->grid_y = ev->grid_z = ev->block_y = ev->block_z = 1;
    return ev->op;
}

uint64_t script_kernel(struct script *script, uint32_t stream, const char *name,
                       enum ssan_access access, uint64_t address, unsigned line, const char *text)
{
    const uint64_t op = kernel(script, stream, name, line, text);
    put_set(script, op, access, address, 4);
    put_closed(script, op);
    return op;
}

uint64_t script_update(struct script *script, uint32_t stream, const char *name, uint64_t address,
                       unsigned line, const char *text)
{
    const uint64_t op = kernel(script, stream, name, line, text);
    put_set(script, op, SSAN_access_READ, address, 4);
    put_set(script, op, SSAN_access_WRITE, address, 4);
    put_closed(script, op);
    return op;
}

uint64_t script_copy(struct script *script, uint32_t stream, enum ssan_form form, uint64_t dst,
                     uint64_t src, unsigned line, const char *text)
{
    struct ssan_ev_op *ev =
        put_op(script, stream, SSAN_op_kind_COPY,
               form == SSAN_form_SYNC ? "cudaMemcpy" : "cudaMemcpyAsync", line, text);
    const uint64_t op = ev->op;
    ev->form = form;
    ev->dst = dst;
    ev->src = src;
    ev->width = SCRIPT_BYTES;
    ev->height = 1;
    put_set(script, op, SSAN_access_READ, src, 0);
    put_set(script, op, SSAN_access_WRITE, dst, 0);
    put_closed(script, op);
    put(script, SSAN_EV_op_return)->op_return.op = op;
    return op;
}

uint64_t script_record(struct script *script, uint32_t stream, uint32_t event, unsigned line,
                       const char *text)
{
    struct ssan_ev_op *ev =
        put_op(script, stream, SSAN_op_kind_RECORD, "cudaEventRecord", line, text);
    const uint64_t op = ev->op;
    ev->event = event;
    put_closed(script, op);
    return op;
}

uint64_t script_wait(struct script *script, uint32_t stream, uint32_t event, unsigned line,
                     const char *text)
{
    struct ssan_ev_op *ev =
        put_op(script, stream, SSAN_op_kind_WAIT, "cudaStreamWaitEvent", line, text);
    const uint64_t op = ev->op;
    ev->event = event;
    put_closed(script, op);
    return op;
}

void script_sync(struct script *script, enum ssan_sync_kind kind, uint32_t object, const char *call,
                 unsigned line, const char *text)
{
    struct ssan_ev_sync *ev = &put(script, SSAN_EV_sync)->sync;
    *ev = (struct ssan_ev_sync){++script->syncs, kind,           object,
                                ssan_str(call),  script->thread, script_site(script, line, text)};
    struct ssan_ev_sync_return *back = &put(script, SSAN_EV_sync_return)->sync_return;
    *back = (struct ssan_ev_sync_return){script->syncs, 1, 0};
}

void script_host(struct script *script, enum ssan_access access, uint64_t address, unsigned line,
                 const char *text)
{
    struct ssan_ev_host_access *ev = &put(script, SSAN_EV_host_access)->host_access;
    *ev = (struct ssan_ev_host_access){script->thread, access, address, SCRIPT_BYTES,
                                       script_site(script, line, text)};
}

void script_name(struct script *script, enum ssan_object object, uint64_t id, const char *text)
{
    put(script, SSAN_EV_name)->name = (struct ssan_ev_name){object, id, ssan_str(text)};
}

void script_finish(struct script *script)
{
    put(script, SSAN_EV_exit);
    for (size_t i = 0; i < script->line_count; i++) {
        put(script, SSAN_EV_line)->line = script->lines[i];
    }
    script->finished = true;
}

enum ssan_status script_explain(struct script *script, const struct explain_options *options,
                                struct report *report)
{
    static const struct explain_options plain;
    struct ssan_error err = {0};
    struct ssan_event event;
    enum ssan_status status = SSAN_OK;
    options = options ? options : &plain;
    const struct engine_options engine_options = {
        .threads = options->threads_strict ? THREADS_STRICT : THREADS_OBSERVED};
    if (!script->finished) {
        script_finish(script);
    }
    memset(report, 0, sizeof *report);
    script->at = 0;
    struct engine *engine = engine_create(&engine_options);
    if (!engine) {
        return SSAN_NO_MEMORY;
    }
    while (status == SSAN_OK && next(&script->source, &event, &err) == SSAN_NEXT_EVENT) {
        status = engine_feed(engine, &event, &err);
    }
    if (status == SSAN_OK) {
        status = engine_finish(engine, &err);
    }
    if (status == SSAN_OK) {
        mem_fail_at(script->fail_at);
        status = explain(report, engine, &script->source, options, &err);
        script->allocations = mem_count();
        mem_fail_at(0);
    }
    if (status != SSAN_OK && status != SSAN_NO_MEMORY) {
        fprintf(stderr, "%s\n", err.text);
    }
    engine_destroy(engine);
    return status;
}
