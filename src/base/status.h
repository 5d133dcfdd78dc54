/* Statuses and the error that explains one.
 *
 * Functions that can fail return enum ssan_status (SSAN_OK is 0) and take a last `struct ssan_error
 * *`, which may be NULL. The error is set only on failure. Faults of the user's program are
 * findings, never statuses. */
#ifndef SSAN_BASE_STATUS_H
#define SSAN_BASE_STATUS_H

#include <stdint.h>

enum ssan_status {
#define STATUS(name, exit_code, text) SSAN_##name,
#include "base/status.def"
#undef STATUS
    SSAN_STATUS_COUNT
};

/* What went wrong, where in the input. `position` is a line (text) or byte offset (binary), 0 when
 * unknown. */
struct ssan_error {
    enum ssan_status status;
    uint64_t position;
    char text[512];
};

/* Never NULL. */
const char *ssan_status_name(enum ssan_status status);
const char *ssan_status_text(enum ssan_status status);

/* Exit code of the command line for a status (docs/report.md). */
int ssan_status_exit_code(enum ssan_status status);

/* Fills `err` (may be NULL) and returns `status`, so that callers can write `return ssan_fail(err,
 * ...)`. The text is cut at the size of err->text. Any thread. */
enum ssan_status ssan_fail(struct ssan_error *err, enum ssan_status status, uint64_t position,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/* SSAN_NO_MEMORY, in the same words everywhere. Any thread. */
enum ssan_status ssan_no_memory(struct ssan_error *err);

#endif
