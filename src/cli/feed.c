/* Reads one trace into its engine while it grows, and keeps a compressed copy that can be read
 * again.
 *
 * What goes wrong with the copy does not stop the engine: the verdict stands, and the caller tells
 * what happened. Space of a live trace is given back in steps of RELEASE_EVENTS, and only while the
 * copy is good. */
#include "cli/feed.h"

#include "cli/folder.h"

#include "symbol/sites.h"

#include "trace/keeper.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RELEASE_EVENTS 65536

enum ssan_status feed_open(struct feed *feed, const char *path, const struct feed_options *options,
                           struct ssan_error *err)
{
    enum ssan_status status;
    memset(feed, 0, sizeof *feed);
    feed->documented = options->documented;
    feed->folder = options->folder;
    feed->limit_bytes = options->limit_bytes;
    feed->path = mem_strdup(path);
    feed->engine = engine_create(options->engine);
    if (options->directory) {
        feed->sites = sites_create(options->directory);
    }
    if (!feed->path || !feed->engine || (options->directory && !feed->sites)) {
        return ssan_no_memory(err);
    }
    status = reader_open(&feed->reader, path, err);
    if (status || !options->kept_path) {
        return status;
    }
    feed->kept_path = mem_strdup(options->kept_path);
    if (!feed->kept_path) {
        return ssan_no_memory(err);
    }
    keeper_open(&feed->keeper, feed->kept_path, &feed->keep_error);
    return SSAN_OK;
}

static bool counts(const struct feed *feed, const struct hazard *hazard, enum severity severity)
{
    return (feed->documented ? hazard->documented : hazard->severity) == severity;
}

uint64_t feed_count(const struct feed *feed, enum severity severity)
{
    size_t count, i;
    uint64_t found = 0;
    const struct hazard *hazards = engine_hazards(feed->engine, &count);
    for (i = 0; i < count; i++) {
        found += counts(feed, &hazards[i], severity);
    }
    return found;
}

static void damage(struct feed *feed)
{
    feed->state = FEED_DAMAGED;
}

/* The engine has refused an event and does not know where it came from. */
static void blame_trace(struct feed *feed)
{
    struct ssan_error inner = feed->error;
    ssan_fail(&feed->error, inner.status, inner.position, "%.100s:%" PRIu64 ": %.380s", feed->path,
              reader_position(feed->reader), inner.text);
    damage(feed);
}

static void answer(struct feed *feed, const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_query_findings && feed->folder) {
        folder_answer(feed->folder, event->query_findings.request,
                      feed_count(feed, SEVERITY_ERROR));
    }
}

/* Gives an event to everybody; false when the feed can't go on. */
static bool take(struct feed *feed, struct ssan_event *event)
{
    if (feed->full) {
        answer(feed, event);
        return true;
    }
    names_tidy(&feed->names, event);
    if (feed->sites) {
        sites_shorten(feed->sites, event);
    }
    if (feed->keeper) {
        keeper_put(feed->keeper, event);
    }
    if (feed->sites && !sites_take(feed->sites, event)) {
        ssan_no_memory(&feed->error);
        damage(feed);
        return false;
    }
    if (engine_feed(feed->engine, event, &feed->error) != SSAN_OK) {
        blame_trace(feed);
        return false;
    }
    if (event->kind == SSAN_EV_process) {
        feed->has_process = true;
        feed->pid = event->process.pid;
    } else if (event->kind == SSAN_EV_infeasible && !feed->infeasible[0]) {
        snprintf(feed->infeasible, sizeof feed->infeasible, "%.*s",
                 (int)event->infeasible.text.length, event->infeasible.text.ptr);
    } else if (event->kind == SSAN_EV_gate) {
        feed->gates.told++;
        feed->gates.by_partner += event->gate.end == SSAN_gate_end_PARTNER;
        feed->gates.by_limit += event->gate.end == SSAN_gate_end_LIMIT;
        feed->gates.submitted = event->gate.until != 0;
    }
    answer(feed, event);
    feed->full =
        feed->limit_bytes && feed->keeper && keeper_bytes(feed->keeper) > feed->limit_bytes;
    return true;
}

/* Counts the event; now and then gives back the space of what was read and copied. Without a good
 * copy the trace itself is needed once more (again.h). */
static void release(struct feed *feed)
{
    feed->events++;
    if (feed->events % RELEASE_EVENTS == 0 && feed->keeper && keeper_is_good(feed->keeper)) {
        reader_release(feed->reader);
    }
}

size_t feed_step(struct feed *feed, size_t most)
{
    struct ssan_source *source = reader_source(feed->reader);
    size_t taken = 0;
    while (feed->state == FEED_GOING && taken < most) {
        struct ssan_event event;
        switch (ssan_next(source, &event, &feed->error)) {
        case SSAN_NEXT_EVENT:
            if (take(feed, &event)) {
                taken++;
                release(feed);
            }
            break;
        case SSAN_NEXT_WAIT:
            return taken;
        case SSAN_NEXT_END:
            feed->state = FEED_WHOLE;
            break;
        case SSAN_NEXT_CUT:
            feed->state = FEED_CUT;
            break;
        case SSAN_NEXT_ERROR:
            damage(feed);
            break;
        }
    }
    return taken;
}

static bool take_line(void *self, const struct ssan_event *event)
{
    struct feed *feed = self;
    if (feed->keeper) {
        keeper_put(feed->keeper, event);
    }
    return engine_feed(feed->engine, event, NULL) == SSAN_OK;
}

void feed_finish(struct feed *feed)
{
    bool judged = feed->state == FEED_WHOLE || feed->state == FEED_CUT || feed->state == FEED_GOING;
    if (judged && feed->sites) {
        sites_resolve(feed->sites, take_line, feed);
    }
    if (feed->keeper) {
        struct keeper *keeper = feed->keeper;
        feed->keeper = NULL;
        keeper_close(keeper, feed->state == FEED_WHOLE && !feed->full, &feed->keep_error);
    }
    if (judged && engine_finish(feed->engine, &feed->error) != SSAN_OK) {
        blame_trace(feed);
    }
}

void feed_explain(const struct feed *feed)
{
    struct strbuf text = {0};
    const char *line;
    if (feed->sites) {
        sites_explain(feed->sites, &text);
    }
    for (line = strbuf_text(&text); *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(stderr, "streamsan run: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    strbuf_finish(&text);
}

void feed_close(struct feed *feed)
{
    if (feed->keeper) {
        keeper_close(feed->keeper, false, NULL);
    }
    reader_close(feed->reader);
    engine_destroy(feed->engine);
    sites_destroy(feed->sites);
    names_finish(&feed->names);
    mem_free(feed->path);
    mem_free(feed->kept_path);
    memset(feed, 0, sizeof *feed);
}
