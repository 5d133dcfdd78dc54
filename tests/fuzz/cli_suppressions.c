/* Any text as a file of suppressions: refused with a sentence that names the file, or entries that
 * can be applied to a report and printed; what is printed is taken back. */
#include "cli/suppress_file.h"
#include "golden/fixtures.h"
#include "report/suppress.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool so)
{
    if (!so) {
        abort();
    }
}

/* Hides what the entries fit, and reads back what is printed for the rest. */
static void apply(struct suppress_list *list)
{
    struct report report;
    struct strbuf text = {0};
    struct suppress_list again = {0};
    struct ssan_error err = {0};
    fixture_handover(&report);
    expect(suppress_apply(&report, list->entries.items, list->entries.count));
    suppress_entries(&text, &report);
    expect(!text.failed);
    expect(suppress_file_parse(&again, "again", strbuf_text(&text), text.length, &err) == SSAN_OK);
    for (size_t i = 0; i < list->entries.count; i++) {
        suppress_words(&text, &list->entries.items[i]);
        expect(list->entries.items[i].reason && list->entries.items[i].reason[0]);
    }
    suppress_list_finish(&again);
    strbuf_finish(&text);
    report_finish(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suppress_list list = {0};
    struct ssan_error err = {0};
    const enum ssan_status status =
        suppress_file_parse(&list, "known", (const char *)data, size, &err);
    if (status == SSAN_OK) {
        apply(&list);
    } else {
        expect(status == SSAN_FORMAT && strncmp(err.text, "known:", 6) == 0);
        expect(list.entries.count == 0);
    }
    suppress_list_finish(&list);
    return 0;
}
