/* Plans of what is observed, of any bytes: refused with a text and a line, or read; what was read
 * prints to a text that reads back and prints the same. */
#include "trace/observe_plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct observe_plan plan, again;
    struct ssan_error err = {0};
    struct strbuf first = {0}, second = {0};
    if (observe_plan_parse(&plan, "fuzz", (const char *)data, size, &err)) {
        if (err.text[0] == '\0' || err.position == 0) {
            abort();
        }
        observe_plan_finish(&plan);
        return 0;
    }
    observe_plan_print(&plan, &first);
    if (observe_plan_parse(&again, "fuzz", strbuf_text(&first), first.length, &err)) {
        abort();
    }
    observe_plan_print(&again, &second);
    if (first.length != second.length || memcmp(first.text, second.text, first.length) != 0 ||
        observe_plan_is_plain(&plan) != observe_plan_is_plain(&again)) {
        abort();
    }
    (void)observe_plan_fits(&plan, "ns::kern<int>");
    for (size_t i = 0; i < plan.kernels.count; i++) {
        (void)observe_plan_fits(&plan, plan.kernels.items[i].glob); /* as a name */
    }
    strbuf_finish(&first);
    strbuf_finish(&second);
    observe_plan_finish(&plan);
    observe_plan_finish(&again);
    return 0;
}
