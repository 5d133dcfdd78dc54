/* Schedules of any bytes: refused with a text, or read; what was read prints to a text that reads
 * back and prints the same. */
#include "trace/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan plan, again;
    struct ssan_error err = {0};
    struct strbuf first = {0}, second = {0};
    if (plan_parse(&plan, "fuzz", (const char *)data, size, &err)) {
        if (err.text[0] == '\0') {
            abort();
        }
        plan_finish(&plan);
        return 0;
    }
    plan_print(&plan, &first);
    if (plan_parse(&again, "fuzz", strbuf_text(&first), first.length, &err)) {
        abort();
    }
    plan_print(&again, &second);
    if (first.length != second.length || memcmp(first.text, second.text, first.length) != 0) {
        abort();
    }
    strbuf_finish(&first);
    strbuf_finish(&second);
    plan_finish(&plan);
    plan_finish(&again);
    return 0;
}
