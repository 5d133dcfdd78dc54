/* Any listing, judged: the engine takes it or refuses it with a message; what it takes is explained
 * and reported in both forms, and the verdict is never clean when the engine found an error. */
#include "core/engine.h"
#include "core/explain.h"
#include "report/report.h"
#include "trace/listing.h"
#include "trace/reader.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bounds what one input costs. */
enum { MOST_CHECKS = 8, MOST_EVENTS = 2000 };

static void expect(bool so)
{
    if (!so) {
        abort();
    }
}

/* False when the listing or the engine ends early. */
static bool feed_all(struct engine *engine, struct ssan_source *source)
{
    struct ssan_event event;
    struct ssan_error err = {0};
    enum ssan_next got;
    size_t count = 0;
    while ((got = ssan_next(source, &event, &err)) == SSAN_NEXT_EVENT && count++ < MOST_EVENTS &&
           engine_feed(engine, &event, &err) == SSAN_OK) {
    }
    if (got == SSAN_NEXT_END && engine_finish(engine, &err) == SSAN_OK) {
        return true;
    }
    expect(err.text[0] || count > MOST_EVENTS);
    return false;
}

static bool has_error(const struct engine *engine)
{
    size_t count;
    const struct hazard *hazards = engine_hazards(engine, &count);
    for (size_t i = 0; i < count; i++) {
        if (hazards[i].severity == SEVERITY_ERROR) {
            return true;
        }
    }
    return false;
}

static void tell(const struct engine *engine, struct ssan_source *source, bool strict)
{
    struct report report = {.run = {.source = SSAN_producer_LISTING}};
    struct ssan_error err = {0};
    struct strbuf text = {0}, json = {0}, line = {0};
    const struct explain_options options = {.threads_strict = strict, .max_checks = MOST_CHECKS};
    const struct text_options how = {.verbose = true, .with_addresses = true};
    expect(explain(&report, engine, source, &options, &err) == SSAN_OK);
    const struct verdict verdict = verdict_decide(&report, 0, 0);
    expect(verdict.kind != VERDICT_CLEAN || !has_error(engine));
    report_text(&text, &report, &how);
    expect(!text.failed && report_json(&json, &report, &verdict, true));
    verdict_line(&line, &report, &verdict);
    expect(!line.failed && line.length > 0);
    strbuf_finish(&text);
    strbuf_finish(&json);
    strbuf_finish(&line);
    report_finish(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int strict = 0; strict < 2; strict++) {
        const struct engine_options options = {
            .threads = strict ? THREADS_STRICT : THREADS_OBSERVED, .shadow_limit_bytes = 1 << 20};
        struct reader *reader;
        if (reader_open_listing(&reader, "l", (const char *)data, size, NULL) != SSAN_OK) {
            return 0;
        }
        struct engine *engine = engine_create(&options);
        expect(engine != NULL);
        if (feed_all(engine, reader_source(reader))) {
            tell(engine, reader_source(reader), strict);
        }
        engine_destroy(engine);
        reader_close(reader);
    }
    return 0;
}
