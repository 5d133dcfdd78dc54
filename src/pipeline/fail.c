/* Statuses and errors: every sentence that the library says is made here or handed to pipe_fail. */
#include "pipeline/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ssan_pipe_status_name(enum ssan_pipe_status status)
{
    static const char *const names[] = {
#define NAME(name, text) "SSAN_PIPE_" #name,
        SSAN_PIPE_STATUSES(NAME)
#undef NAME
    };
    return (unsigned)status < SSAN_PIPE_STATUS_COUNT ? names[status] : "SSAN_PIPE_?";
}

const char *ssan_pipe_status_text(enum ssan_pipe_status status)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        SSAN_PIPE_STATUSES(TEXT)
#undef TEXT
    };
    return (unsigned)status < SSAN_PIPE_STATUS_COUNT ? texts[status] : "unknown status";
}

enum ssan_pipe_status pipe_fail(struct ssan_pipe_error *err, enum ssan_pipe_status status,
                                uint64_t batch, const char *format, ...)
{
    if (err) {
        va_list args;
        err->status = status;
        err->code = 0;
        err->batch = batch;
        err->call = NULL;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

/* What compute returns is the program's, and often a cudaError_t. */
static void tell_code(const struct failure *failure, char *text, size_t size)
{
    const char *name = failure->code_name;
    if (name) {
        snprintf(text, size, "%s", name);
        return;
    }
    name =
        strcmp(failure->call, "compute") == 0 ? cudaGetErrorName((cudaError_t)failure->code) : "";
    if (strncmp(name, "cudaError", 9) == 0) {
        snprintf(text, size, "%d (%s, if it is a cudaError_t)", failure->code, name);
    } else {
        snprintf(text, size, "%d", failure->code);
    }
}

enum ssan_pipe_status pipe_fail_call(struct ssan_pipe_error *err, const struct failure *failure,
                                     const char *name)
{
    char batch[48] = "", call[48], why[96];
    if (!err) {
        return failure->status;
    }
    if (failure->batch != SSAN_PIPE_NO_BATCH) {
        snprintf(batch, sizeof batch, ", batch %llu", (unsigned long long)failure->batch);
    }
    snprintf(call, sizeof call, "%s", failure->call);
    if (strcmp(failure->call, "cudaSetDevice") == 0) {
        snprintf(call, sizeof call, "cudaSetDevice(%d)", failure->device);
    }
    tell_code(failure, why, sizeof why);
    pipe_fail(err, failure->status, failure->batch, "%s%s: %s failed: %s%s%s", name, batch, call,
              why,
              failure->code == cudaErrorInvalidResourceHandle
                  ? "; does the stream live, and is it of the batch's device?"
                  : "",
              failure->status == SSAN_PIPE_BROKEN ? "; its work may still run" : "");
    err->code = failure->code;
    err->call = failure->call;
    return failure->status;
}

enum ssan_pipe_status pipe_fail_make(struct ssan_pipe_error *err, struct failure *failure,
                                     const char *name)
{
    if (strcmp(failure->call, "cudaSetDevice") == 0 && failure->code == cudaErrorInvalidDevice) {
        failure->status = SSAN_PIPE_INVALID;
    }
    return pipe_fail_call(err, failure, name);
}

bool pipe_no_memory(struct failure *failure, const char *call, int code)
{
    *failure = (struct failure){
        .status = SSAN_PIPE_NO_MEMORY, .code = code, .call = call, .batch = SSAN_PIPE_NO_BATCH};
    return false;
}

struct holders pipe_holders(const struct ssan_pipe *pipe)
{
    static const char *const words[] = {
        [SLOT_FILLING] = "to be submitted or abandoned",
        [SLOT_SUBMITTED] = "on the device",
        [SLOT_READY] = "to be taken",
        [SLOT_TAKEN] = "to be released",
    };
    unsigned counts[SLOT_TAKEN + 1] = {[SLOT_TAKEN] = pipe->landings_held};
    struct holders holders = {""};
    size_t length = 0;
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        const enum slot_state state = slot_state(&pipe->slots[i]);
        counts[state == SLOT_SUBMITTING ? SLOT_SUBMITTED : state]++;
    }
    for (unsigned state = SLOT_FILLING; state <= SLOT_TAKEN; state++) {
        if (counts[state] && words[state]) {
            length += (size_t)snprintf(holders.text + length, sizeof holders.text - length,
                                       "%s%u %s", length ? ", " : "", counts[state], words[state]);
        }
    }
    if (!length) {
        snprintf(holders.text, sizeof holders.text, "none, and the pipeline is %s",
                 pipe->is_closed ? "closed" : "not closed");
    }
    return holders;
}

bool pipe_error_stands(void)
{
    SSAN_LIBRARY_ASKS(1);
    bool stands = cudaPeekAtLastError() != cudaSuccess;
    SSAN_LIBRARY_ASKS(0);
    return stands;
}

void pipe_before_call(struct failure *failure)
{
    if (!failure->has_looked) {
        failure->error_stands = pipe_error_stands();
        failure->has_looked = true;
    }
}

/* A failure is told by us, and not once more behind the caller's next launch. But CUDA keeps one
 * error for each thread: where one stood, this one lies over it, and clearing it would lose both.
 */
bool pipe_ok(struct failure *failure, const char *call, cudaError_t error)
{
    if (error != cudaSuccess && !failure->error_stands) {
        (void)cudaGetLastError();
    }
    if (error != cudaSuccess && failure->status == SSAN_PIPE_OK) {
        failure->status = error == cudaErrorMemoryAllocation ? SSAN_PIPE_NO_MEMORY : SSAN_PIPE_CUDA;
        failure->code = (int)error;
        failure->call = call;
        failure->code_name = cudaGetErrorName(error);
        failure->batch = SSAN_PIPE_NO_BATCH;
    }
    return error == cudaSuccess;
}

const char *pipe_wrong_size(size_t size, size_t most)
{
    return size == 0     ? "options.size is 0, and has to be sizeof options"
           : size > most ? "options.size is that of a newer header than this library knows"
                         : NULL;
}
