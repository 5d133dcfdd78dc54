/* Prints new error findings in one line.
 *
 * Invariant: a pair of calls is told once for each check, however often it repeats and in however
 * many processes. Past LIVE_LINES it says so once and is silent: the report has the rest. */
#include "cli/live.h"

#include "cli/feed.h"

#include "symbol/sites.h"

#include "base/hash.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIVE_LINES 20
#define TEXT_MOST  60 /* bytes of a statement */

static uint64_t key_of(const struct feed *feed, const struct hazard *hazard)
{
    uint64_t key = hash_mix(feed->pid, (uint64_t)hazard->check << 32 | hazard->first.site);
    return hash_mix(key, (uint64_t)hazard->then.site << 32 | hazard->stream);
}

/* "a.cu:34 'add<<<...>>>(dev)'"; less where less is known. */
static void add_place(struct strbuf *out, const struct feed *feed, const struct side *side)
{
    struct symbol_frame frame = {0};
    if (!feed->sites || !sites_place(feed->sites, side->site, &frame)) {
        strbuf_puts(out, side->kind == SIDE_HOST ? "an access of the host" : "a call");
        return;
    }
    if (frame.file) {
        strbuf_printf(out, "%s:%" PRIu32, frame.file, frame.line);
    } else {
        strbuf_puts(out, frame.function ? frame.function : "a call");
    }
    if (frame.text) {
        strbuf_puts(out, " '");
        strbuf_add_printable(out, frame.text, strlen(frame.text), TEXT_MOST);
        strbuf_puts(out, "'");
    }
}

static void tell(const struct feed *feed, const struct hazard *hazard)
{
    const struct check_info *check = check_info(hazard->check);
    struct strbuf line = {0};
    strbuf_puts(&line, "streamsan so far: error: ");
    add_place(&line, feed, &hazard->then);
    if (check->family != FAMILY_MISUSE) {
        strbuf_puts(&line, " against ");
        add_place(&line, feed, &hazard->first);
    }
    strbuf_printf(&line, " [%s]", check->id);
    if (!line.failed) {
        fprintf(stderr, "%s\n", strbuf_text(&line));
    }
    strbuf_finish(&line);
}

/* Those of one feed. */
static void tell_feed(struct live *live, const struct feed *feed)
{
    size_t count, i;
    const struct hazard *hazards = engine_hazards(feed->engine, &count);
    for (i = 0; i < count && live->lines <= LIVE_LINES; i++) {
        const struct hazard *hazard = &hazards[i];
        const enum severity severity = feed->documented ? hazard->documented : hazard->severity;
        uint64_t key = key_of(feed, hazard);
        if (severity != SEVERITY_ERROR || map_find(&live->told, key) ||
            !map_set(&live->told, key, 1)) {
            continue;
        }
        if (live->lines++ < LIVE_LINES) {
            tell(feed, hazard);
        } else {
            fprintf(stderr, "streamsan so far: there are more errors; the report has them\n");
        }
    }
}

void live_tell(struct live *live, const struct feed *feeds, size_t count)
{
    uint64_t seen = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        seen += engine_hazard_count(feeds[i].engine);
    }
    if (seen == live->seen) {
        return;
    }
    live->seen = seen;
    for (i = 0; i < count; i++) {
        tell_feed(live, &feeds[i]);
    }
}

void live_finish(struct live *live)
{
    map_finish(&live->told);
}
