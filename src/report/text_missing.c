/* The paragraph "missing": which edge is missing, what `then` has waited for, and the nearest miss.
 *
 * text_nearest has one sentence for each kind of finding.h; its switch has no default. */
#include "report/text_parts.h"

#include <ctype.h>
#include <string.h>

/* What a sentence of this file needs of its finding. */
struct miss {
    const struct report *report;
    const struct finding *finding;
    const struct nearest *nearest;
    const char *here; /* file of the finding's own place: its lines are printed as :N */
};

static void at_op(struct strbuf *out, const struct miss *miss, int op)
{
    static const struct place nowhere;
    const struct report_op *found = words_op(miss->report, op);
    words_place(out, found ? &found->at : &nowhere, miss->here);
}

static void label(struct strbuf *out, const struct miss *miss, int op)
{
    const struct report_op *found = words_op(miss->report, op);
    strbuf_puts(out, found && found->label ? found->label : "?");
}

static void noun(struct strbuf *out, const struct miss *miss, int op)
{
    words_noun(out, miss->report, op);
}

/* "before C1", or for the host "before :52". */
static void before_then(struct strbuf *out, const struct miss *miss)
{
    const struct report_op *then = words_op(miss->report, miss->finding->then.op);
    strbuf_puts(out, "before ");
    if (words_is_host(then)) {
        at_op(out, miss, miss->finding->then.op);
    } else {
        label(out, miss, miss->finding->then.op);
    }
}

/* "after add was enqueued", or for the host "after the host reads at :52". */
static void after_then(struct strbuf *out, const struct miss *miss)
{
    const struct report_op *then = words_op(miss->report, miss->finding->then.op);
    if (words_is_host(then)) {
        strbuf_puts(out, "after ");
        at_op(out, miss, miss->finding->then.op);
    } else {
        strbuf_puts(out, "after ");
        noun(out, miss, miss->finding->then.op);
        strbuf_puts(out, " was enqueued");
    }
}

static void recorded_not_waited(struct strbuf *out, const struct miss *miss)
{
    const struct report_op *then = words_op(miss->report, miss->finding->then.op);
    strbuf_printf(out, "'%s' (recorded at ", words_event(miss->report, miss->nearest->event));
    at_op(out, miss, miss->nearest->record);
    strbuf_puts(out, ") covers ");
    label(out, miss, miss->finding->first.op);
    if (words_is_host(then)) {
        strbuf_puts(out, ", but the host does not wait for it ");
    } else if (miss->nearest->elsewhere) {
        strbuf_puts(out, ", but ");
        words_lane(out, miss->report, miss->finding->then.op);
        strbuf_puts(out, " does not wait for it ");
    } else {
        strbuf_puts(out, ", but no stream waits for it ");
    }
    before_then(out, miss);
    strbuf_puts(out, ".");
}

static void wrong_event(struct strbuf *out, const struct miss *miss)
{
    words_lane(out, miss->report, miss->finding->then.op);
    strbuf_printf(out, " waits for '%s' (recorded at ",
                  words_event(miss->report, miss->nearest->other_event));
    at_op(out, miss, miss->nearest->other_record);
    strbuf_puts(out, ", before ");
    noun(out, miss, miss->finding->first.op);
    strbuf_printf(out, "); '%s' (", words_event(miss->report, miss->nearest->event));
    at_op(out, miss, miss->nearest->record);
    strbuf_puts(out, ") covers ");
    label(out, miss, miss->finding->first.op);
    strbuf_puts(out, ".");
}

static void recorded_early(struct strbuf *out, const struct miss *miss)
{
    words_lane(out, miss->report, miss->finding->then.op);
    strbuf_printf(out, " waits for '%s', but that was recorded at ",
                  words_event(miss->report, miss->nearest->event));
    at_op(out, miss, miss->nearest->record);
    strbuf_puts(out, ", before ");
    noun(out, miss, miss->finding->first.op);
    strbuf_puts(out, ".");
}

static void waited_late(struct strbuf *out, const struct miss *miss)
{
    words_lane(out, miss->report, miss->finding->then.op);
    strbuf_printf(out, " waits for '%s' at ", words_event(miss->report, miss->nearest->event));
    at_op(out, miss, miss->nearest->wait);
    strbuf_puts(out, ", ");
    after_then(out, miss);
    strbuf_puts(out, ".");
}

static void never_recorded(struct strbuf *out, const struct miss *miss)
{
    words_lane(out, miss->report, miss->finding->then.op);
    strbuf_printf(out, " waits for '%s' at ", words_event(miss->report, miss->nearest->event));
    at_op(out, miss, miss->nearest->wait);
    strbuf_puts(out, ", but waiting for an event that was never recorded orders nothing.");
}

static void re_recorded(struct strbuf *out, const struct miss *miss)
{
    const struct report_op *other = words_op(miss->report, miss->nearest->other_record);
    strbuf_puts(out, "the wait at ");
    at_op(out, miss, miss->nearest->wait);
    strbuf_puts(out, " uses the record of ");
    at_op(out, miss, miss->nearest->other_record);
    if (other && other->stream >= 0) {
        strbuf_printf(out, " on '%s'", miss->report->streams[other->stream].name);
    }
    strbuf_puts(out, ", not that of ");
    at_op(out, miss, miss->nearest->record);
    strbuf_puts(out, ".");
}

static void host_late(struct strbuf *out, const struct miss *miss)
{
    strbuf_puts(out, "the host waits for ");
    words_lane(out, miss->report, miss->finding->first.op);
    strbuf_puts(out, " at ");
    at_op(out, miss, miss->nearest->wait);
    strbuf_puts(out, ", ");
    after_then(out, miss);
    strbuf_puts(out, ".");
}

static void legacy_exempt(struct strbuf *out, const struct miss *miss)
{
    const struct report_op *then = words_op(miss->report, miss->finding->then.op);
    const struct report_op *first = words_op(miss->report, miss->finding->first.op);
    bool is_then = then && then->stream >= 0 &&
                   miss->report->streams[then->stream].flavour == SSAN_stream_flavour_NON_BLOCKING;
    bool is_first =
        first && first->stream >= 0 &&
        miss->report->streams[first->stream].flavour == SSAN_stream_flavour_NON_BLOCKING;
    if (is_first && is_then) {
        words_lane(out, miss->report, miss->finding->first.op);
        strbuf_puts(out, " and ");
        words_lane(out, miss->report, miss->finding->then.op);
        strbuf_puts(out, " were created with cudaStreamNonBlocking, so the default stream does not "
                         "order them.");
        return;
    }
    words_lane(out, miss->report, is_first ? miss->finding->first.op : miss->finding->then.op);
    strbuf_puts(out, " was created with cudaStreamNonBlocking, so the default stream does not "
                     "order it.");
}

static void host_threads(struct strbuf *out, const struct miss *miss)
{
    const struct report_op *record = words_op(miss->report, miss->nearest->record);
    const struct report_op *wait = words_op(miss->report, miss->nearest->wait);
    if (!record || !wait) {
        strbuf_puts(out, "nothing orders the two host threads there.");
        return;
    }
    strbuf_printf(out, "thread %u records '%s' at ", record->thread,
                  words_event(miss->report, miss->nearest->event));
    at_op(out, miss, miss->nearest->record);
    strbuf_printf(out, ", but nothing orders thread %u's wait at ", wait->thread);
    at_op(out, miss, miss->nearest->wait);
    strbuf_puts(out, " after that.");
}

static void peer_default(struct strbuf *out, const struct miss *miss)
{
    const struct report *report = miss->report;
    const struct report_op *first = words_op(report, miss->finding->first.op);
    const struct report_op *then = words_op(report, miss->finding->then.op);
    strbuf_printf(out, "the default streams of devices %d and %d do not order each other.",
                  report->streams[first->stream].device, report->streams[then->stream].device);
}

static void none(struct strbuf *out, const struct miss *miss)
{
    if (miss->nearest->reversed) {
        words_lane(out, miss->report, miss->finding->first.op);
        strbuf_puts(out, " waits for ");
        words_lane(out, miss->report, miss->finding->then.op);
        strbuf_puts(out, " at ");
        at_op(out, miss, miss->nearest->wait);
        strbuf_puts(out, ", but not the other way round.");
        return;
    }
    strbuf_puts(out, "nothing orders ");
    words_lane(out, miss->report, miss->finding->first.op);
    strbuf_puts(out, " and ");
    words_lane(out, miss->report, miss->finding->then.op);
    strbuf_puts(out, " at all.");
}

void text_nearest(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    struct miss miss = {report, finding, &finding->nearest, words_site(report, finding)->file};
    switch (finding->nearest.kind) {
    case NEAREST_RECORDED_NOT_WAITED:
        recorded_not_waited(out, &miss);
        break;
    case NEAREST_WRONG_EVENT:
        wrong_event(out, &miss);
        break;
    case NEAREST_RECORDED_EARLY:
        recorded_early(out, &miss);
        break;
    case NEAREST_WAITED_LATE:
        waited_late(out, &miss);
        break;
    case NEAREST_NEVER_RECORDED:
        never_recorded(out, &miss);
        break;
    case NEAREST_RE_RECORDED:
        re_recorded(out, &miss);
        break;
    case NEAREST_HOST_LATE:
        host_late(out, &miss);
        break;
    case NEAREST_LEGACY_EXEMPT:
        legacy_exempt(out, &miss);
        break;
    case NEAREST_PAGEABLE_STAGING:
        strbuf_puts(out, "the copy from pageable memory may return before the device has read it.");
        break;
    case NEAREST_HOST_THREADS:
        host_threads(out, &miss);
        break;
    case NEAREST_PEER_DEFAULT:
        peer_default(out, &miss);
        break;
    case NEAREST_NONE:
        none(out, &miss);
        break;
    }
}

/* The label of the item `seq` of a stream, or NULL. */
static const char *label_of(const struct report *report, int stream, uint32_t seq)
{
    size_t i;
    for (i = 0; i < report->op_count; i++) {
        if (report->ops[i].stream == stream && report->ops[i].seq == seq) {
            return report->ops[i].label;
        }
    }
    return NULL;
}

/* "'consumer' has waited for nothing on 'producer'; it needs P2 or later." */
static void what_was_waited_for(struct strbuf *out, const struct miss *miss)
{
    const struct finding *finding = miss->finding;
    const struct report_op *first = words_op(miss->report, finding->first.op);
    const char *seen;
    if (!first || first->stream < 0) {
        return;
    }
    strbuf_puts(out, " ");
    if (words_is_host(words_op(miss->report, finding->then.op))) {
        strbuf_puts(out, "The host");
    } else {
        words_lane(out, miss->report, finding->then.op);
    }
    if (finding->seen_seq == 0) {
        strbuf_puts(out, " has waited for nothing on ");
        words_lane(out, miss->report, finding->first.op);
    } else {
        seen = label_of(miss->report, first->stream, finding->seen_seq);
        strbuf_puts(out, " has waited for ");
        words_lane(out, miss->report, finding->first.op);
        if (seen) {
            strbuf_printf(out, " up to %s only", seen);
        } else {
            strbuf_printf(out, " up to its item %u only", finding->seen_seq);
        }
    }
    strbuf_puts(out, "; it needs ");
    label(out, miss, finding->first.op);
    strbuf_puts(out, " or later.");
}

void text_missing(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    struct miss miss = {report, finding, &finding->nearest, words_site(report, finding)->file};
    const struct report_op *then = words_op(report, finding->then.op);
    struct strbuf edge = {0}, sentence = {0};
    if (!finding->has_missing) {
        return;
    }
    label(&edge, &miss, finding->first.op);
    strbuf_puts(&edge, " -> ");
    if (words_is_host(then)) {
        strbuf_puts(&edge, then->kind == ROP_HOST_READ    ? "host read at "
                           : then->kind == ROP_HOST_WRITE ? "host write at "
                                                          : "host call at ");
        at_op(&edge, &miss, finding->then.op);
    } else {
        label(&edge, &miss, finding->then.op);
    }
    strbuf_puts(&edge, ".");
    what_was_waited_for(&edge, &miss);
    layout_wrap(out, "missing", strbuf_text(&edge));
    text_nearest(&sentence, report, finding);
    if (sentence.text) {
        sentence.text[0] = (char)toupper((unsigned char)sentence.text[0]);
    }
    layout_wrap(out, NULL, strbuf_text(&sentence));
    strbuf_puts(out, "\n");
    out->failed |= edge.failed || sentence.failed;
    strbuf_finish(&edge);
    strbuf_finish(&sentence);
}
