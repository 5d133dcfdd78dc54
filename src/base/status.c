/* Status names, texts and exit codes, all from status.def. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name, *text;
    int exit_code;
} statuses[SSAN_STATUS_COUNT] = {
#define STATUS(name, exit_code, text) {#name, text, exit_code},
#include "base/status.def"
#undef STATUS
};

const char *ssan_status_name(enum ssan_status status)
{
    return (unsigned)status < SSAN_STATUS_COUNT ? statuses[status].name : "?";
}

const char *ssan_status_text(enum ssan_status status)
{
    return (unsigned)status < SSAN_STATUS_COUNT ? statuses[status].text : "unknown status";
}

int ssan_status_exit_code(enum ssan_status status)
{
    return (unsigned)status < SSAN_STATUS_COUNT ? statuses[status].exit_code : 70;
}

enum ssan_status ssan_fail(struct ssan_error *err, enum ssan_status status, uint64_t position,
                           const char *format, ...)
{
    if (err) {
        va_list args;
        err->status = status;
        err->position = position;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

enum ssan_status ssan_no_memory(struct ssan_error *err)
{
    return ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory");
}
