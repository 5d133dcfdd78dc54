/* One counter for each call that is named. Without a plan a call costs one comparison; with one, a
 * pass over its failures. */
#include "vcuda/plan_fails.h"

#include "trace/cuda_names.h"
#include "trace/message.h"
#include "vcuda/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* By the failures of the plan. */
struct progress {
    uint64_t calls; /* of the name so far */
    bool happened;
};

static struct {
    const struct plan *plan;
    VEC(struct progress) done;
} fails;

bool plan_fails_follow(const struct plan *plan)
{
    VEC_FREE(&fails.done); /* of the parent, in a forked child */
    fails.plan = plan;
    for (size_t i = 0; i < plan->fails.count; i++) {
        if (!VEC_PUSH(&fails.done, (struct progress){0})) {
            return false;
        }
    }
    return true;
}

/* The failure that is due for a call of this name, which is counted; 0: none, else its place + 1. A
 * number of its own goes before `all`. */
static uint32_t count(const char *name)
{
    uint32_t due = 0;
    for (size_t i = 0; i < fails.done.count; i++) {
        const struct plan_fail *fail = &fails.plan->fails.items[i];
        if (strcmp(fail->call, name) != 0) {
            continue;
        }
        uint64_t number = ++fails.done.items[i].calls;
        if (fail->number == number || (fail->number == 0 && due == 0)) {
            due = (uint32_t)i + 1;
        }
    }
    return due;
}

static void describe(const struct plan_fail *fail, const char *what, char *text, size_t room)
{
    struct strbuf words = {0};
    plan_print_fail(fail, &words);
    snprintf(text, room, "%s fails, as --fail %s asks", what, strbuf_text(&words));
    strbuf_finish(&words);
}

cudaError_t plan_fails_enter(struct call *call)
{
    if (fails.done.count == 0) {
        return cudaSuccess;
    }
    uint32_t due = count(call->name);
    if (due == 0) {
        return cudaSuccess;
    }
    const struct plan_fail *fail = &fails.plan->fails.items[due - 1];
    bool sticky = cuda_error_is_sticky(fail->error);
    if (sticky && cuda_call_submits(call->name)) {
        call->planned = due;
        return cudaSuccess;
    }
    fails.done.items[due - 1].happened = true;
    call->asked_to_fail = true;
    if (sticky) {
        char text[256];
        describe(fail, call->name, text, sizeof text);
        device_die((cudaError_t)fail->error, text);
    }
    return (cudaError_t)fail->error;
}

cudaError_t plan_fails_begin(const struct op *op, char *text, size_t room)
{
    if (op->planned == 0) {
        return cudaSuccess;
    }
    const struct plan_fail *fail = &fails.plan->fails.items[op->planned - 1];
    const char *what = op->kind == SSAN_op_kind_KERNEL ? "the kernel"
                       : op->kind == SSAN_op_kind_COPY ? "the copy"
                                                       : "the memset";
    fails.done.items[op->planned - 1].happened = true;
    describe(fail, what, text, room);
    return (cudaError_t)fail->error;
}

void plan_fails_tell(void)
{
    for (size_t i = 0; i < fails.done.count; i++) {
        const struct progress *done = &fails.done.items[i];
        struct strbuf words = {0};
        if (done->happened) {
            continue;
        }
        plan_print_fail(&fails.plan->fails.items[i], &words);
        emit_missed(strbuf_text(&words), fails.plan->fails.items[i].call, done->calls);
        strbuf_clear(&words);
        strbuf_puts(&words, "--fail ");
        plan_print_fail(&fails.plan->fails.items[i], &words);
        strbuf_printf(&words, " did not happen: %s was called %" PRIu64 " time%s",
                      fails.plan->fails.items[i].call, done->calls, done->calls == 1 ? "" : "s");
        message_tell(strbuf_text(&words));
        strbuf_finish(&words);
    }
}
