/* Hazards and nearest misses as lines of a verdict. */
#include "litmus/verdict.h"

#include "core/engine.h"
#include "core/explain.h"
#include "core/finding.h"
#include "support/compare.h"
#include "support/must.h"
#include "trace/reader.h"

#include <string.h>

static void add_hazard(const struct litmus *litmus, const struct hazard *hazard,
                       struct verdict *verdict)
{
    bool advice = hazard->severity == SEVERITY_ADVICE;
    bool alone = advice || hazard->check == CHECK_UNCHECKED_LAUNCH;
    char first[32] = "", then[32], line[200];
    if (!alone) {
        litmus_side(&litmus->tape, hazard->first.position, first, sizeof first);
    }
    litmus_side(&litmus->tape, hazard->then.position, then, sizeof then);
    snprintf(line, sizeof line, "%s %s%s%s%s%s then=%s", severity_word(hazard->severity),
             check_info(hazard->check)->id, hazard->ordered_by ? " by=" : "",
             hazard->ordered_by ? hazard->ordered_by : "", alone ? "" : " first=", first, then);
    verdict_add(verdict, line);
    enum severity documented = hazard->ordered_by && hazard->sureness != SURENESS_POSSIBLE
                                   ? SEVERITY_ERROR
                                   : hazard->severity;
    if (hazard->documented != documented) {
        snprintf(line, sizeof line, "documented: %s %s then=%s", severity_word(hazard->documented),
                 check_info(hazard->check)->id, then);
        verdict_add(verdict, line);
    }
}

void litmus_engine(const struct litmus *litmus, bool strict, uint32_t mutant,
                   struct verdict *verdict)
{
    struct ssan_error err = {0};
    struct engine *engine = compare_engine(&litmus->tape, strict, mutant, &err);
    if (!engine) {
        verdict_add(verdict, err.text);
        return;
    }
    size_t count = 0;
    const struct hazard *hazards = engine_hazards(engine, &count);
    for (size_t i = 0; i < count; i++) {
        add_hazard(litmus, &hazards[i], verdict);
    }
    engine_destroy(engine);
}

static void add_nearest(const struct finding *finding, struct verdict *verdict)
{
    if (finding->has_missing) {
        verdict_add(verdict, nearest_word(finding->nearest.kind));
    }
}

void litmus_nearest(const struct litmus *litmus, bool strict, struct verdict *verdict)
{
    struct ssan_error err = {0};
    struct reader *reader = NULL;
    struct report report = {0};
    struct explain_options options = {.threads_strict = strict};
    struct engine *engine = compare_engine(&litmus->tape, strict, 0, &err);
    MUST(engine);
    MUST(reader_open_listing(&reader, litmus->name, litmus->text, litmus->length, &err) == SSAN_OK);
    if (explain(&report, engine, reader_source(reader), &options, &err) != SSAN_OK) {
        verdict_add(verdict, err.text);
    }
    for (size_t i = 0; i < report.finding_count; i++) {
        add_nearest(report.findings[i], verdict);
    }
    report_finish(&report);
    reader_close(reader);
    engine_destroy(engine);
}
