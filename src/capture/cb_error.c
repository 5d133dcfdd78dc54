/* What a call returned, where that is an error, and threads that ask for the last one (R-ERR-*).
 *
 * Told when the outermost call returns, as the program sees it; NotReady is none. Whether a launch
 * was made by launch syntax, which gives its return code to nobody, no callback says: the stub that
 * a compiler makes for it is looked for on the stack, by the symbols of its object. Without them
 * the launch counts as one whose caller looks. */
#include "capture/dispatch.h"

#include "capture/emit.h"
#include "capture/stack.h"
#include "trace/cuda_names.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* How far out a stub may be: frames of a runtime that is linked into the program come before it. */
#define STUB_FRAMES 8u

/* What is said of kernels that ended a context; of other such errors their own words. */
static const struct {
    int result;
    const char *words;
} deadly[] = {
    {CUDA_ECC_UNCORRECTABLE, "its memory has an error that can't be corrected"},
    {CUDA_ILLEGAL_ADDRESS, "it accessed an illegal address"},
    {CUDA_LAUNCH_TIMEOUT, "it ran longer than the system allows"},
    {CUDA_ASSERT, "an assertion in it failed"},
    {CUDA_HARDWARE_STACK_ERROR, "its stack is damaged"},
    {CUDA_ILLEGAL_INSTRUCTION, "it has an illegal instruction"},
    {CUDA_MISALIGNED_ADDRESS, "it accessed a misaligned address"},
    {CUDA_INVALID_ADDRESS_SPACE, "it accessed an address of another space"},
    {CUDA_INVALID_PC, "it jumped out of its code"},
    {CUDA_LAUNCH_FAILED, "it was ended by an exception"},
};

static const char *words_of(int result)
{
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        if (deadly[i].result == result) {
            return deadly[i].words;
        }
    }
    return cuda_error_text((uint32_t)result);
}

/* An error of earlier work, that ends its context (R-ERR-3; numbers of the driver are those of the
 * runtime). The first is told as a fault: nothing behind it can be judged. */
static bool is_of_work(int result)
{
    static atomic_bool told;
    char text[128];
    if (!cuda_error_is_sticky((uint32_t)result) && result != CUDA_ECC_UNCORRECTABLE) {
        return false;
    }
    if (!atomic_exchange(&told, true)) {
        snprintf(text, sizeof text, "a kernel failed: %s (error %d)", words_of(result), result);
        emit_fault(0, 0, (uint32_t)result, false, text);
    }
    return true;
}

static enum ssan_call_kind kind_of(const struct api_call *call)
{
    switch (call->class) {
    case API_LAUNCH:
        return SSAN_call_kind_LAUNCH;
    case API_COPY:
    case API_MEMSET:
        return SSAN_call_kind_TRANSFER;
    case API_STREAM_SYNC:
    case API_EVENT_SYNC:
    case API_CONTEXT_SYNC:
        return SSAN_call_kind_JOIN;
    default:
        return SSAN_call_kind_OTHER;
    }
}

/* The call was made by the stub of launch syntax. */
static bool is_syntax(const struct api_call *call)
{
    static const char stub[] = "__device_stub__";
    uint64_t frames[STUB_FRAMES];
    uint32_t count;
    if (call->domain != SANITIZER_RUNTIME_API || strcmp(call->name, "cudaLaunchKernel") != 0) {
        return false;
    }
    count = stack_addresses(frames, STUB_FRAMES);
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(hostfunc_holding(frames[i]), stub, sizeof stub - 1) == 0) {
            return true;
        }
    }
    return false;
}

void error_returned(struct thread *thread, const struct api_call *call,
                    const struct sanitizer_api_data *data)
{
    const int result = *data->result;
    const bool earlier = is_of_work(result);
    const bool launch = call->class == API_LAUNCH;
    const bool named = launch && call->domain == SANITIZER_RUNTIME_API && data->symbol;
    const char *name = "";
    struct ssan_event event = {.kind = SSAN_EV_failed};
    if (named) {
        emit_lock();
        name = handles_name(data->symbol);
        emit_unlock();
    }
    event.failed = (struct ssan_ev_failed){
        .call = ssan_str(call->name),
        .name = ssan_str(name),
        .does = kind_of(call),
        .error_of = earlier ? SSAN_error_of_EARLIER : SSAN_error_of_ITSELF,
        .error = (uint32_t)result,
        .discarded = launch && is_syntax(call),
        .thread = thread->id,
        .site = calls_site(thread),
    };
    emit_put(&event);
}

void error_asked(struct thread *thread, const struct api_call *call, int result)
{
    if (!thread->library_asks) {
        emit_asked(call->name, (uint32_t)result, thread->id, calls_site(thread));
    }
}
