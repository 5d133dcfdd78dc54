/* Hand-made reports. `op` numbers are places in the table of operations; places are (line) of one
 * file. */
#include "golden/fixtures_parts.h"

#include "core/explain_failures.h"

#include "support/must.h"

#include <stdio.h>
#include <string.h>

void *fixtures_make(struct report *report, size_t bytes)
{
    void *memory = arena_alloc(&report->arena, bytes);
    MUST(memory);
    return memory;
}

static struct place at(const char *file, uint32_t line, const char *text)
{
    return (struct place){.file = file, .function = "main", .line = line, .text = text};
}

static struct report_op *add_op(struct report *report, const char *id, const char *label,
                                enum report_op_kind kind, int stream, struct place place)
{
    struct report_op *op = &report->ops[report->op_count++];
    struct place *stack = fixtures_make(report, sizeof *stack);
    *stack = place;
    *op = (struct report_op){
        .id = id,
        .label = label,
        .kind = kind,
        .stream = stream,
        .thread = 1,
        .position = report->op_count * 10,
        .src.buffer = -1,
        .dst.buffer = -1,
        .event = -1,
        .at = place,
        .stack = stack,
        .stack_count = 1,
    };
    op->seq = (uint32_t)strtoul(strchr(id, '.') + 1, NULL, 10);
    return op;
}

static void add_window(struct report *report, struct finding *finding)
{
    int *window = fixtures_make(report, report->op_count * sizeof *window);
    size_t i;
    for (i = 0; i < report->op_count; i++) {
        window[i] = (int)i;
    }
    finding->window = window;
    finding->window_count = report->op_count;
}

struct finding *fixtures_add_finding(struct report *report, const char *id, enum check check,
                                     int first, int then)
{
    struct finding *finding = fixtures_make(report, sizeof *finding);
    *finding = (struct finding){
        .id = id,
        .check = check,
        .severity = check_info(check)->severity,
        .sureness = SURENESS_EXACT,
        .buffer = -1,
        .first.op = first,
        .then.op = then,
        .stream = -1,
        .event = -1,
        .nearest = {NEAREST_NONE, -1, -1, -1, -1, -1, false, false},
        .count = 1,
    };
    report->findings[report->finding_count++] = finding;
    return finding;
}

void fixtures_add_ranges(struct report *report, struct finding *finding, int buffer, uint64_t bytes,
                         size_t count)
{
    struct range *items = fixtures_make(report, count * sizeof *items);
    size_t i;
    for (i = 0; i < count; i++) {
        items[i] = (struct range){i * 64, i * 64 + bytes};
    }
    finding->buffer = buffer;
    finding->bytes = (struct ranges){items, count, 0};
}

/* Tables with room, a run of the virtual device. */
static void begin(struct report *report)
{
    static const char *const command[] = {"./handover", NULL};
    memset(report, 0, sizeof *report);
    report->streams = fixtures_make(report, 8 * sizeof *report->streams);
    report->events = fixtures_make(report, 8 * sizeof *report->events);
    report->buffers = fixtures_make(report, 8 * sizeof *report->buffers);
    report->ops = fixtures_make(report, 32 * sizeof *report->ops);
    report->edges = fixtures_make(report, 8 * sizeof *report->edges);
    report->findings = fixtures_make(report, 64 * sizeof *report->findings);
    report->run = (struct run_info){
        .command = command,
        .source = SSAN_producer_VIRTUAL_DEVICE,
        .accesses = SSAN_accesses_EXACT,
        .schedule = "eager",
        .submitting_threads = 1,
        .has_exit = true,
        .complete = true,
        .seconds = 0.4,
        .memory_bytes = 31 << 20,
        .trace_bytes = 9 << 10,
    };
}

static void add_stream(struct report *report, const char *name, uint32_t line)
{
    struct report_stream *stream = &report->streams[report->stream_count++];
    *stream =
        (struct report_stream){(uint32_t)report->stream_count,   name, NAME_VARIABLE,
                               SSAN_stream_flavour_NON_BLOCKING, 0,    at(FILE_NAME, line, NULL)};
}

static void add_buffer(struct report *report, const char *name, enum ssan_memory memory,
                       const char *call, uint32_t line)
{
    struct report_buffer *buffer = &report->buffers[report->buffer_count++];
    *buffer = (struct report_buffer){
        .name = name,
        .name_from = NAME_VARIABLE,
        .memory = memory,
        .address = 0x7f0000001000 + 0x10000 * report->buffer_count,
        .size_bytes = 16384,
        .generation = 1,
        .call = call,
        .allocated = at(FILE_NAME, line, NULL),
    };
}

static void handover_tables(struct report *report)
{
    begin(report);
    add_stream(report, "producer", 26);
    add_stream(report, "consumer", 27);
    report->events[report->event_count++] =
        (struct report_event){1, "ready", NAME_VARIABLE, at(FILE_NAME, 28, NULL)};
    add_buffer(report, "dev", SSAN_memory_DEVICE, "cudaMalloc", 25);
    add_buffer(report, "in", SSAN_memory_PINNED, "cudaMallocHost", 23);
    add_buffer(report, "out", SSAN_memory_PINNED, "cudaMallocHost", 24);
    report->totals = (struct engine_totals){
        .operations = 5, .streams = 2, .events = 1, .buffers = 3, .accesses = 8, .exited = true};
}

static void handover_ops(struct report *report)
{
    struct report_op *op = add_op(
        report, "s1.1", "P1", ROP_COPY, 0,
        at(FILE_NAME, 31, "cudaMemcpyAsync(dev, in, bytes, cudaMemcpyHostToDevice, producer);"));
    op->call = "cudaMemcpyAsync";
    op->src = (struct buffer_span){1, 0, 16384};
    op->dst = (struct buffer_span){0, 0, 16384};
    op = add_op(report, "s1.2", "P2", ROP_KERNEL, 0,
                at(FILE_NAME, 32, "scale<<<16, 256, 0, producer>>>(dev, COUNT);"));
    op->name = "scale";
    op->grid[0] = 16, op->grid[1] = op->grid[2] = 1;
    op->block[0] = 256, op->block[1] = op->block[2] = 1;
    op = add_op(report, "s1.3", "P3", ROP_RECORD, 0,
                at(FILE_NAME, 33, "cudaEventRecord(ready, producer);"));
    op->event = 0;
    op = add_op(report, "s2.1", "C1", ROP_KERNEL, 1,
                at(FILE_NAME, 34, "add<<<16, 256, 0, consumer>>>(dev, COUNT);"));
    op->name = "add";
    op->grid[0] = 16, op->grid[1] = op->grid[2] = 1;
    op->block[0] = 256, op->block[1] = op->block[2] = 1;
    op = add_op(
        report, "s2.2", "C2", ROP_COPY, 1,
        at(FILE_NAME, 35, "cudaMemcpyAsync(out, dev, bytes, cudaMemcpyDeviceToHost, consumer);"));
    op->call = "cudaMemcpyAsync";
    op->src = (struct buffer_span){0, 0, 16384};
    op->dst = (struct buffer_span){2, 0, 16384};
    report->edges[report->edge_count++] = (struct report_edge){0, 1, "stream"};
    report->edges[report->edge_count++] = (struct report_edge){1, 2, "stream"};
    report->edges[report->edge_count++] = (struct report_edge){3, 4, "stream"};
}

static void handover_fix(struct report *report, struct finding *finding)
{
    struct source_edit *edit = fixtures_make(report, sizeof *edit);
    struct fix *fix = fixtures_make(report, sizeof *fix);
    const char **removes = fixtures_make(report, sizeof *removes);
    removes[0] = finding->id;
    *edit = (struct source_edit){
        .file = FILE_NAME, .line = 34, .insert_before = "cudaStreamWaitEvent(consumer, ready, 0);"};
    *fix = (struct fix){.kind = FIX_INSERT_WAIT,
                        .checked = true,
                        .edits = edit,
                        .edit_count = 1,
                        .removes = removes,
                        .remove_count = 1};
    finding->fix = fix;
}

void fixture_handover(struct report *report)
{
    static const struct place scale_line = {.file = FILE_NAME, .function = "scale", .line = 9};
    static const struct place add_line = {.file = FILE_NAME, .function = "add", .line = 14};
    struct finding *finding, *folded, **list;
    handover_tables(report);
    handover_ops(report);
    folded = fixtures_add_finding(report, "0a0b0c0d", CHECK_WAW, 1, 3);
    report->finding_count--;
    fixtures_add_ranges(report, folded, 0, 16384, 1);
    folded->first.access = folded->then.access = SSAN_access_WRITE;
    finding = fixtures_add_finding(report, "5b1f20c4", CHECK_RAW, 1, 3);
    fixtures_add_ranges(report, finding, 0, 16384, 1);
    finding->first = (struct finding_side){1, SSAN_access_WRITE, &scale_line, 1, 4};
    finding->then = (struct finding_side){3, SSAN_access_READ, &add_line, 1, 4};
    finding->has_missing = true;
    finding->needed_seq = 2;
    finding->nearest =
        (struct nearest){NEAREST_RECORDED_NOT_WAITED, 0, -1, 2, -1, -1, false, false};
    handover_fix(report, finding);
    list = fixtures_make(report, sizeof *list);
    list[0] = folded;
    finding->folded = list;
    finding->folded_count = 1;
    add_window(report, finding);
}

void fixture_set_nearest(struct report *report, enum nearest_kind kind)
{
    struct finding *finding = report->findings[0];
    int other_event = (int)report->event_count, early, wait, other, sync;
    report->events[report->event_count++] =
        (struct report_event){2, "copied", NAME_VARIABLE, at(FILE_NAME, 29, NULL)};
    early = (int)report->op_count;
    add_op(report, "s1.9", "P9", ROP_RECORD, 0, at(FILE_NAME, 30, NULL))->event = other_event;
    wait = (int)report->op_count;
    add_op(report, "s2.9", "C9", ROP_WAIT, 1, at(FILE_NAME, 36, NULL))->event = 0;
    other = (int)report->op_count;
    add_op(report, "s2.8", "C8", ROP_RECORD, 1, at(FILE_NAME, 38, NULL))->event = 0;
    sync = (int)report->op_count;
    add_op(report, "h1.1", "H1", ROP_SYNC, -1, at(FILE_NAME, 37, NULL))->call =
        "cudaStreamSynchronize";
    report->ops[wait].thread = 2;
    finding->nearest = (struct nearest){kind, 0, -1, 2, wait, -1, false, false};
    if (kind == NEAREST_WRONG_EVENT) {
        finding->nearest.other_event = other_event;
        finding->nearest.other_record = early;
    } else if (kind == NEAREST_RECORDED_EARLY) {
        finding->nearest.record = early;
    } else if (kind == NEAREST_RE_RECORDED) {
        finding->nearest.other_record = other;
    } else if (kind == NEAREST_HOST_LATE) {
        finding->nearest.wait = sync;
    } else if (kind == NEAREST_NONE || kind == NEAREST_LEGACY_EXEMPT ||
               kind == NEAREST_PAGEABLE_STAGING) {
        finding->nearest = (struct nearest){kind, -1, -1, -1, -1, -1, false, false};
    }
}

void fixture_host_write(struct report *report)
{
    struct finding *finding;
    struct source_edit *edit;
    struct fix *fix;
    struct report_op *op;
    const char **leaves;
    handover_tables(report);
    report->run.submitting_threads = 2;
    report->totals.host_accesses = true;
    op = add_op(report, "s1.4", "P4", ROP_COPY, 0,
                at("stage.cu", 48, "cudaMemcpyAsync(dev, in, bytes, kind, producer);"));
    op->call = "cudaMemcpyAsync";
    op->src = (struct buffer_span){1, 0, 16384};
    op->dst = (struct buffer_span){0, 0, 16384};
    add_op(report, "s1.5", "P5", ROP_RECORD, 0,
           at("stage.cu", 49, "cudaEventRecord(sent, producer);"))
        ->event = 0;
    op = add_op(report, "h1.3", "H3", ROP_HOST_WRITE, -1, at("stage.cu", 52, "fill(in, round);"));
    op->dst = (struct buffer_span){1, 0, 8192};
    finding = fixtures_add_finding(report, "00c0ffee", CHECK_WAR, 0, 2);
    fixtures_add_ranges(report, finding, 1, 8192, 1);
    finding->first.access = SSAN_access_READ;
    finding->then.access = SSAN_access_WRITE;
    finding->has_missing = true;
    finding->seen_seq = 3;
    finding->needed_seq = 4;
    finding->count = 4;
    finding->nearest =
        (struct nearest){NEAREST_RECORDED_NOT_WAITED, 0, -1, 1, -1, -1, false, false};
    edit = fixtures_make(report, sizeof *edit);
    *edit = (struct source_edit){
        .file = "stage.cu", .line = 52, .insert_before = "cudaEventSynchronize(sent);"};
    leaves = fixtures_make(report, sizeof *leaves);
    leaves[0] = "5b1f20c4";
    fix = fixtures_make(report, sizeof *fix);
    *fix = (struct fix){.kind = FIX_HOST_SYNC,
                        .checked = true,
                        .partial = true,
                        .edits = edit,
                        .edit_count = 1,
                        .leaves = leaves,
                        .leave_count = 1};
    finding->fix = fix;
    add_window(report, finding);
}

void fixture_lifetimes(struct report *report)
{
    struct finding *finding;
    struct report_op *op;
    handover_tables(report);
    report->buffers[0].generation = 3;
    report->buffers[0].freed = at("pool.cu", 71, NULL);
    op = add_op(report, "s2.4", "C4", ROP_KERNEL, 1,
                at("pool.cu", 66, "add<<<1, 1, 0, consumer>>>(dev);"));
    op->name = "add";
    op = add_op(report, "h1.9", "H9", ROP_FREE, -1, at("pool.cu", 71, "cudaFree(dev);"));
    op->call = "cudaFree";
    op->dst = (struct buffer_span){0, 0, 16384};
    op = add_op(report, "s2.5", "C5", ROP_KERNEL, 1,
                at("pool.cu", 75, "late<<<1, 1, 0, consumer>>>(dev);"));
    op->name = "late";
    finding = fixtures_add_finding(report, "11111111", CHECK_FREE_IN_FLIGHT, 0, 1);
    fixtures_add_ranges(report, finding, 0, 4096, 1);
    finding->first.access = SSAN_access_READ;
    finding->then.access = SSAN_access_WRITE;
    finding->has_missing = true;
    finding->needed_seq = 4;
    add_window(report, finding);
    finding = fixtures_add_finding(report, "22222222", CHECK_USE_AFTER_FREE, 1, 2);
    fixtures_add_ranges(report, finding, 0, 4, 1);
    finding->first.access = SSAN_access_WRITE;
    finding->then.access = SSAN_access_READ;
}

void fixture_advice(struct report *report)
{
    struct finding *finding;
    struct report_op *op;
    handover_tables(report);
    op = add_op(report, "s2.1", "C1", ROP_WAIT, 1,
                at("events.cu", 20, "cudaStreamWaitEvent(consumer, ready, 0);"));
    op->event = 0;
    op = add_op(report, "s1.1", "P1", ROP_KERNEL, 0, at("events.cu", 30, NULL));
    op->name = "scale";
    finding = fixtures_add_finding(report, "33333333", CHECK_EVENT_UNRECORDED, -1, 0);
    finding->stream = 1;
    finding->event = 0;
    finding = fixtures_add_finding(report, "44444444", CHECK_PENDING_AT_EXIT, -1, 1);
    finding->stream = 0;
}

static struct finding *add_unchecked(struct report *report, const char *id, int launch)
{
    struct finding *finding = fixtures_add_finding(report, id, CHECK_UNCHECKED_LAUNCH, -1, launch);
    finding->fix = explain_ask_error(&report->arena, report->ops[launch].at);
    return finding;
}

/* A failed launch asked for by nobody and one asked for late; an error passed over; planned
 * failures. */
void fixture_errors(struct report *report)
{
    struct run_failure *failures;
    struct run_missed *missed;
    struct run_info *run = &report->run;
    struct report_op *op;
    handover_tables(report);
    failures = fixtures_make(report, 2 * sizeof *failures);
    missed = fixtures_make(report, sizeof *missed);
    *missed = (struct run_missed){"cudaFree:2=cudaErrorInvalidValue", "cudaFree", 1};
    op = add_op(report, "s1.1", "P1", ROP_KERNEL, 0, at("errors.cu", 20, "scale<<<1, 1>>>(d);"));
    op->name = "scale";
    op = add_op(report, "f1.1", "f1.1", ROP_FAILED, -1, at("errors.cu", 30, NULL));
    op->call = "cudaLaunchKernel";
    op->name = "add";
    op->error = 9;
    op = add_op(report, "f1.2", "f1.2", ROP_FAILED, -1, at("errors.cu", 31, NULL));
    op->call = "cudaLaunchKernel";
    op->error = 4711;
    op = add_op(report, "f1.3", "f1.3", ROP_FAILED, -1, at("errors.cu", 40, NULL));
    op->call = "cudaMemcpy";
    op->error = 700;
    add_unchecked(report, "55550000", 1);
    add_unchecked(report, "55551111", 2)->severity = SEVERITY_ADVICE;
    fixtures_add_finding(report, "66660000", CHECK_LATE_ERROR, 0, 3);
    fixtures_add_finding(report, "66661111", CHECK_LATE_ERROR, -1, 3);
    failures[0] = (struct run_failure){"cudaMalloc", 2, at("errors.cu", 10, NULL), 3};
    failures[1] = (struct run_failure){"cudaLaunchKernel", 700, at("errors.cu", 20, NULL), 1};
    run->failures = failures;
    run->failure_count = 2;
    run->missed = missed;
    run->missed_count = 1;
    run->altered = "--fail cudaMalloc:all=cudaErrorMemoryAllocation";
    run->fault.text = "the kernel fails, as --fail cudaLaunchKernel:1=cudaErrorIllegalAddress asks";
    run->fault.error = 700;
    run->fault.planned = true;
    run->fault.call = "cudaLaunchKernel";
    run->fault.name = "scale";
    run->fault.op_at = at("errors.cu", 20, NULL);
    run->fault.returned = "cudaMemcpy";
    run->fault.returned_at = at("errors.cu", 40, NULL);
}

void fixture_portability(struct report *report)
{
    fixture_handover(report);
    report->findings[0]->severity = SEVERITY_WARNING;
    report->findings[0]->ordered_by = "R-IMPL-3";
    report->findings[0]->has_missing = false;
    report->findings[0]->fix = NULL;
}

void fixture_long_names(struct report *report)
{
    static char name[201], file[121], text[400];
    static const struct place far_line = {.file = file, .function = "kernel", .line = 123456};
    struct finding *finding;
    struct source_edit *edit;
    memset(name, 'n', sizeof name - 1);
    memset(file, 'f', sizeof file - 1);
    memset(text, 't', sizeof text - 1);
    fixture_handover(report);
    finding = report->findings[0];
    report->ops[1].name = report->ops[3].name = name;
    report->ops[3].at.file = file;
    report->ops[2].at.text = text;
    report->streams[0].name = name;
    report->streams[1].name = name;
    report->buffers[0].name = name;
    report->events[0].name = name;
    finding->first.device_at = finding->then.device_at = &far_line;
    fixtures_add_ranges(report, finding, 0, 4, 40);
    edit = fixtures_make(report, sizeof *edit);
    *edit = finding->fix->edits[0];
    edit->insert_before = text;
    ((struct fix *)finding->fix)->edits = edit;
}

void fixture_losses(struct report *report)
{
    static const char *const calls[] = {"cudaMallocAsync", "cudaGraphLaunch"};
    static const uint64_t counts[] = {3, 1};
    static const char *const reasons[] = {"process 77 still runs"};
    handover_tables(report);
    report->run.unsupported = calls;
    report->run.unsupported_counts = counts;
    report->run.unsupported_count = 2;
    report->run.reasons = reasons;
    report->run.reason_count = 1;
    report->run.lost[SSAN_loss_ACCESSES] = 5;
    report->run.lost[SSAN_loss_OPERATIONS] = 1;
    report->run.open_operations = 2;
    report->run.cut = true;
    report->run.fault.text = "scale reads 4 bytes at an address that is in no allocation";
    report->run.fault.error = 700;
    report->run.fault.at = (struct place){.file = FILE_NAME, .function = "scale", .line = 9};
    report->run.has_exit = false;
    report->run.exit_signal = 9;
}
