/* Calls that a plan lets fail: their words read and printed. */
#include "trace/plan.h"

#include "trace/cuda_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MOST 10 /* digits */

static enum ssan_status unknown(const char *what, const char *word, const char *similar,
                                struct ssan_error *err)
{
    return similar ? ssan_fail(err, SSAN_USAGE, 0, "'%.100s' is no %s; did you mean %s?", word,
                               what, similar)
                   : ssan_fail(err, SSAN_USAGE, 0, "'%.100s' is no %s", word, what);
}

static bool read_number(const char *text, uint32_t *number)
{
    if (strcmp(text, "all") == 0) {
        *number = 0;
        return true;
    }
    return strlen(text) <= NUMBER_MOST && plan_number_read(&text, number) && *text == '\0';
}

enum ssan_status plan_add_fail_parts(struct plan *plan, const char *call, const char *number,
                                     const char *error, struct ssan_error *err)
{
    struct plan_fail fail = {.call = cuda_call_find(call)};
    if (!fail.call) {
        return unknown("call of the CUDA runtime that can be made to fail", call,
                       cuda_call_similar(call), err);
    }
    if (!read_number(number, &fail.number)) {
        return ssan_fail(err, SSAN_USAGE, 0,
                         "'%.100s' is no number of a call, which is 1 or more, or 'all'", number);
    }
    if (error[0] && error[strspn(error, "0123456789")] == '\0') {
        return ssan_fail(err, SSAN_USAGE, 0,
                         "'%.100s' is a number; the name of the error is wanted, as "
                         "cudaErrorMemoryAllocation",
                         error);
    }
    if (!cuda_error_find(error, &fail.error)) {
        return unknown("error of CUDA", error, cuda_error_similar(error), err);
    }
    if (fail.error == 0) {
        return ssan_fail(err, SSAN_USAGE, 0, "%s is no error", error);
    }
    for (size_t i = 0; i < plan->fails.count; i++) {
        const struct plan_fail *known = &plan->fails.items[i];
        if (known->call == fail.call && known->number == fail.number) {
            return ssan_fail(err, SSAN_USAGE, 0, "%s:%s is to fail twice", call, number);
        }
    }
    return VEC_PUSH(&plan->fails, fail) ? SSAN_OK : ssan_no_memory(err);
}

enum ssan_status plan_add_fail(struct plan *plan, const char *words, struct ssan_error *err)
{
    char call[128], number[128] = "1";
    const char *equals = strchr(words, '=');
    const char *colon = strchr(words, ':');
    size_t call_length;
    if (!equals || equals == words || equals[1] == '\0') {
        return ssan_fail(err, SSAN_USAGE, 0,
                         "a failure is CALL=ERROR, CALL:NUMBER=ERROR or CALL:all=ERROR, as "
                         "cudaMalloc:2=cudaErrorMemoryAllocation, not '%.200s'",
                         words);
    }
    if (!colon || colon > equals) {
        colon = NULL;
    }
    call_length = (size_t)((colon ? colon : equals) - words);
    snprintf(call, sizeof call, "%.*s", (int)(call_length < 127 ? call_length : 127), words);
    if (colon) {
        const size_t length = (size_t)(equals - colon - 1);
        snprintf(number, sizeof number, "%.*s", (int)(length < 127 ? length : 127), colon + 1);
    }
    return plan_add_fail_parts(plan, call, number, equals + 1, err);
}

void plan_print_fail(const struct plan_fail *fail, struct strbuf *out)
{
    strbuf_puts(out, fail->call);
    if (fail->number == 0) {
        strbuf_puts(out, ":all");
    } else {
        strbuf_printf(out, ":%" PRIu32, fail->number);
    }
    strbuf_printf(out, "=%s", cuda_error_name(fail->error));
}
