/* Drops every site alone, looks for what covers the redundant ones, then for the largest set.
 *
 * Verdicts are the engine's: a site is load-bearing when the trace without it has an error or a
 * warning that the trace as it is has not, or more instances of one. Cost: one re-run for each
 * site, one without any, and those of the search. */
#include "audit/audit.h"

#include "audit/accident.h"
#include "audit/agree.h"
#include "audit/cover.h"
#include "audit/rerun.h"
#include "audit/tell.h"
#include "audit/together.h"
#include "core/explain_read.h"

#define HAZARDS_KEPT 64 /* of one site */
#define RUNS_DEFAULT 500

struct auditing {
    struct audit *audit;
    const struct audit_options *options;
    struct history history;
    struct sites sites;
    struct rerun rerun;
    struct fresh_list needs; /* without any synchronisation call */
};

/* The trace without one site, or (NULL) without all. */
static enum ssan_status drop(struct auditing *auditing, const struct site *site,
                             struct fresh_list *fresh, struct ssan_error *err)
{
    struct drops drops = {0};
    bool found, ok = true;
    for (size_t i = 0; ok && i < auditing->sites.items.count; i++) {
        const struct site *one = &auditing->sites.items.items[i];
        ok = (site && one != site) || drops_add_site(&drops, &auditing->history, one);
    }
    const enum ssan_status status =
        ok ? rerun_without(&auditing->rerun, &drops, &found, fresh, HAZARDS_KEPT, err)
           : ssan_no_memory(err);
    VEC_FREE(&drops);
    return status;
}

static enum ssan_status judge_sites(struct auditing *auditing, struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    bool redundant = false;
    for (size_t i = 0; status == SSAN_OK && i < auditing->sites.items.count; i++) {
        struct site *site = &auditing->sites.items.items[i];
        status = drop(auditing, site, &site->fresh, err);
        redundant |= site->fresh.count == 0;
    }
    if (status != SSAN_OK || !redundant) {
        return status;
    }
    status = drop(auditing, NULL, &auditing->needs, err);
    if (status == SSAN_OK && !cover_find(&auditing->sites, &auditing->history, &auditing->needs,
                                         auditing->options->order_documented)) {
        status = ssan_no_memory(err);
    }
    return status;
}

static enum ssan_status audit_all(struct auditing *auditing, const struct engine *engine,
                                  struct ssan_source *source, struct ssan_error *err)
{
    struct audit *audit = auditing->audit;
    const struct audit_options *options = auditing->options;
    const bool strict = options->engine.threads == THREADS_STRICT;
    if (!source->rewind(source)) {
        return ssan_fail(err, SSAN_IO, 0, "the trace can't be read a second time");
    }
    enum ssan_status status =
        history_read(&auditing->history, &audit->report.arena, source, false, strict, err);
    if (status != SSAN_OK) {
        return status;
    }
    if (!sites_collect(&auditing->sites, &auditing->history) ||
        !rerun_init(&auditing->rerun, engine)) {
        return ssan_no_memory(err);
    }
    status = judge_sites(auditing, err);
    if (status == SSAN_OK) {
        status = together_find(&auditing->sites, &auditing->rerun,
                               options->max_runs ? options->max_runs : RUNS_DEFAULT,
                               &audit->together_exact, err);
    }
    status =
        status == SSAN_OK ? accidents_find(audit, &auditing->rerun, &auditing->sites, err) : status;
    status = status == SSAN_OK ? assumption_judge(audit, &auditing->rerun, err) : status;
    audit->runs = auditing->rerun.runs;
    status =
        status == SSAN_OK ? tell(audit, &auditing->sites, &auditing->history, source, err) : status;
    if (status == SSAN_OK && !(agree_on_blocks(&audit->report, &audit->accidental) &&
                               agree_on_blocks(&audit->report, &audit->assumed))) {
        status = ssan_no_memory(err);
    }
    return status;
}

enum ssan_status audit_run(struct audit *audit, const struct engine *engine,
                           struct ssan_source *source, const struct audit_options *options,
                           struct ssan_error *err)
{
    struct auditing auditing = {.audit = audit, .options = options};
    auditing.history.arena = &audit->report.arena;
    auditing.rerun = (struct rerun){.history = &auditing.history,
                                    .source = source,
                                    .options = options,
                                    .arena = &audit->report.arena};
    audit->report.totals = *engine_totals(engine);
    audit->report.run.threads_strict = options->engine.threads == THREADS_STRICT;
    audit->report.run.order_documented = options->order_documented;
    audit->report.run.submitting_threads = audit->report.totals.submitting_threads;
    const enum ssan_status status = audit_all(&auditing, engine, source, err);
    VEC_FREE(&auditing.needs);
    rerun_finish(&auditing.rerun);
    sites_finish(&auditing.sites);
    history_finish(&auditing.history);
    return status;
}

void audit_finish(struct audit *audit)
{
    report_finish(&audit->accidental);
    report_finish(&audit->assumed);
    report_finish(&audit->report);
}
