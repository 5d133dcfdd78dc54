/* The round trip that both readers of events are held to: an event, printed as a line of a listing
 * and read back, is the same event. Aborts, as a fuzzer's check does, when it is not. */
#ifndef SSAN_TESTS_FUZZ_SAME_LINE_H
#define SSAN_TESTS_FUZZ_SAME_LINE_H

#include "unit/trace_random.h"

#include "trace/listing.h"
#include "trace/reader.h"

#include <stdlib.h>

static void expect_same_line(const struct ssan_event *event)
{
    struct strbuf text = {0};
    struct reader *reader;
    struct ssan_event again;
    strbuf_puts(&text, LISTING_FIRST_LINE "\n");
    listing_print(&text, event);
    if (text.failed || reader_open_listing(&reader, "l", text.text, text.length, NULL) != SSAN_OK ||
        ssan_next(reader_source(reader), &again, NULL) != SSAN_NEXT_EVENT ||
        !event_equal(event, &again)) {
        abort();
    }
    reader_close(reader);
    strbuf_finish(&text);
}

#endif
