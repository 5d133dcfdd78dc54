/* Any text behind the first line: what parses, prints to a line that parses to the same event. */
#include "fuzz/same_line.h"

#include "base/strbuf.h"
#include "trace/listing.h"
#include "trace/reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf text = {0};
    struct reader *reader;
    struct ssan_event event;
    struct ssan_error err = {0};
    enum ssan_next got;
    strbuf_puts(&text, LISTING_FIRST_LINE "\n");
    strbuf_add(&text, (const char *)data, size);
    if (text.failed || reader_open_listing(&reader, "l", text.text, text.length, NULL) != SSAN_OK) {
        abort();
    }
    while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
        expect_same_line(&event);
    }
    if (got == SSAN_NEXT_ERROR ? err.text[0] == '\0' : got != SSAN_NEXT_END) {
        abort();
    }
    reader_close(reader);
    strbuf_finish(&text);
    return 0;
}
