/* The listing: one event a line, `word field=value ...`, printed by `dump` and read back by
 * `check`.
 *
 *     stream_create stream=1 context=1 flavour=non-blocking thread=1
 *     op op=1 stream=1 kind=kernel form=async call="cudaLaunchKernel" name="scale" thread=1 site=4
 *     set op=1 access=write sureness=exact width=4 runs=[0x1000+4096, 0x8000+4*8x100]
 *
 * Numbers that are 0 and what is empty may be left out, and so may a word that is the first of its
 * table; printed are all words. Fields may come in any order. A run is ADDRESS+LENGTH, or
 * ADDRESS+LENGTH*STRIDExCOUNT. Strings are quoted with C escapes. `#` begins a comment. The first
 * line is `streamsan-listing 1`. For hand-written listings `at="file.cu:32"` (or "file.cu:32
 * function") is allowed on every event that has a `site` field: it makes a site of its own with
 * that line. */
#ifndef SSAN_TRACE_LISTING_H
#define SSAN_TRACE_LISTING_H

#include "base/strbuf.h"
#include "trace/event.h"

#define LISTING_VERSION    1u
#define LISTING_FIRST_LINE "streamsan-listing 1" /* the version is in it */

/* Appends one event and a newline. */
void listing_print(struct strbuf *out, const struct ssan_event *event);

#endif
