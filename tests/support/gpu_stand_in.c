/* Stands in for a program on a GPU, for tests of the tool: gives a trace out of a listing, as the
 * injected library would, and prints what such a program would print.
 *
 *   gpu_stand_in LISTING PLAIN [GATE...]
 *
 * PLAIN is what it computes when it just runs: right or wrong. Where the host waits behind each
 * item it is right ("serial=wrong" among the gates: it never ends). With a gate that begins with
 * one of the GATEs (s1.2:s2.1) the kernel is held to the end, and what it computes is wrong;
 * "blocks:" in front: only if a part of its blocks is held. Any other gate opens by its limit.
 * Without exact accesses there are no sets of kernels. */
#include "trace/gate_words.h"
#include "trace/observe_plan.h"
#include "trace/reader.h"
#include "trace/session.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ssan_sink *sink;
static struct observe_plan plan;
static uint64_t kernels[256]; /* 1: the operation is one */
static struct gate_words gate;
static uint64_t held, until; /* operations of the gate */

static void note_item(const struct ssan_ev_op *op)
{
    static uint32_t seq[64];
    uint32_t number = ++seq[op->stream % 64];
    kernels[op->op % 256] = op->kind == SSAN_op_kind_KERNEL;
    if (gate.held.stream == op->stream && gate.held.seq == number) {
        held = op->op;
    }
    if (gate.until.stream == op->stream && gate.until.seq == number) {
        until = op->op;
    }
}

static void copy_trace(const char *path)
{
    struct reader *reader;
    struct ssan_event event;
    if (reader_open(&reader, path, NULL) != SSAN_OK) {
        exit(90);
    }
    while (ssan_next(reader_source(reader), &event, NULL) == SSAN_NEXT_EVENT) {
        bool of_kernel = event.kind == SSAN_EV_set && kernels[event.set.op % 256];
        if (event.kind == SSAN_EV_process) {
            session_tell_process(sink, (struct ssan_ev_process){.source = SSAN_producer_GPU,
                                                                .accesses = plan.accesses});
            continue;
        }
        if (event.kind == SSAN_EV_op) {
            note_item(&event.op);
        }
        if (!of_kernel || plan.accesses == SSAN_accesses_EXACT) {
            ssan_put(sink, &event);
        }
    }
    reader_close(reader);
}

static bool happens(const char *words, char **gates)
{
    for (; *gates; gates++) {
        bool some = strncmp(*gates, "blocks:", 7) == 0;
        const char *wanted = *gates + (some ? 7 : 0);
        if (strncmp(words, wanted, strlen(wanted)) == 0 && (gate.blocks > 0) >= some) {
            return true;
        }
    }
    return false;
}

static void tell_gate(bool partner)
{
    struct ssan_event event = {
        .kind = SSAN_EV_gate,
        .gate = {.op = held,
                 .until = until,
                 .end = partner ? SSAN_gate_end_PARTNER : SSAN_gate_end_LIMIT,
                 .blocks = 16,
                 .held_ns = 20000000}};
    ssan_put(sink, &event);
    if (!partner) {
        static const char text[] = "it was held for 300 ms, and its partner was not done meanwhile";
        event = (struct ssan_event){.kind = SSAN_EV_infeasible,
                                    .infeasible = {.text = {text, sizeof text - 1}}};
        ssan_put(sink, &event);
    }
}

int main(int argc, char **argv)
{
    const char *folder = getenv(CONTROL_ENV);
    struct control_page *page = folder ? session_map_page(folder) : NULL;
    struct writer *writer = page ? session_open_trace(folder, page, NULL) : NULL;
    const char *words;
    bool serial, partner = false, wrong;
    if (argc < 3 || !writer || observe_plan_read(&plan, folder, NULL) != SSAN_OK) {
        return 91;
    }
    sink = writer_sink(writer);
    words = plan.gates.count > 0 ? plan.gates.items[0] : "";
    serial = strcmp(words, GATE_SERIALIZE) == 0;
    (void)gate_words_read(&gate, words, NULL);
    copy_trace(argv[1]);
    if (*words && !serial) {
        partner = happens(words, argv + 3);
        tell_gate(partner);
        wrong = partner;
    } else {
        wrong = !serial && strcmp(argv[2], "wrong") == 0;
    }
    while (serial && argc > 3 && strcmp(argv[3], "serial=wrong") == 0) {
        pause();
    }
    printf("elements=16 mismatches=%d\n", wrong ? 15 : 0);
    ssan_put(sink, &(struct ssan_event){.kind = SSAN_EV_exit, .exit = {.code = wrong ? 2 : 0}});
    writer_finish(writer);
    return wrong ? 2 : 0;
}
