/* Carries a plan out: folders, builds, runs, judgements, sums.
 *
 * Invariant: CONTRACT_HOLDS is said only if every build succeeded, every run without a fault was
 * right, and every fault was caught where it has to be. */
#include "contract/contract.h"

#include "contract/tree.h"
#include "contract/assess.h"
#include "contract/pool.h"
#include "contract/said.h"

#include "base/elapsed.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILD_TIMEOUT_S 600

extern char **environ;

/* The state of carrying out. */
struct carrying {
    struct contract_result *result;
    const struct contract_options *options;
    struct judging judging;
    struct pool pool;
    struct pool_job *jobs;
    size_t done, all;
    enum ssan_status status;
    struct ssan_error *err;
};

const char *contract_state_word(enum contract_state state)
{
    static const char *const words[] = {"holds", "broken", "unfinished"};
    return words[state];
}

const char *run_state_word(enum run_state state)
{
    static const char *const words[] = {"right", "wrong", "caught", "missed", "not-run"};
    return words[state];
}

/* The environment of a program: this one's without what would change a run, and the contract's. The
 * array lies in the arena; NULL when out of memory. */
static const char **make_environment(struct arena *arena, const char *const *added)
{
    static const char *const without[] = {"STREAMSAN_OPTIONS=", "STREAMSAN_SCHEDULE="};
    size_t own = 0, more = 0, used = 0;
    while (environ[own]) {
        own++;
    }
    while (added && added[more]) {
        more++;
    }
    const char **list = arena_alloc(arena, (own + more + 1) * sizeof *list);
    for (size_t i = 0; list && i < own; i++) {
        bool kept = true;
        for (size_t k = 0; k < sizeof without / sizeof *without; k++) {
            kept &= strncmp(environ[i], without[k], strlen(without[k])) != 0;
        }
        for (size_t k = 0; k < more; k++) { /* a name given anew */
            const size_t name = strcspn(added[k], "=") + 1;
            kept &= strncmp(environ[i], added[k], name) != 0;
        }
        if (kept) {
            list[used++] = environ[i];
        }
    }
    if (list) {
        for (size_t k = 0; k < more; k++) {
            list[used++] = added[k];
        }
        list[used] = NULL;
    }
    return list;
}

static const char *whole_path(struct carrying *carrying, const char *path)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s/%s", carrying->options->work, path);
    return strbuf_keep(&text, &carrying->result->arena);
}

static void tell_progress(struct carrying *carrying, const char *what)
{
    carrying->done++;
    if (carrying->options->progress) {
        carrying->options->progress(carrying->options->self, carrying->done, carrying->all, what);
    }
}

/* A header that lies beside the contract or a source, but is not copied with them. */
static void tell_header(const struct carrying *carrying, struct strbuf *why)
{
    const struct spec_list *sources = &carrying->result->spec->contract->build.sources;
    struct strbuf header = {0};
    said_missing_header(&header, strbuf_text(why));
    for (unsigned i = 0; header.length && i <= sources->count; i++) {
        const char *source = i ? sources->items[i - 1] : "";
        const char *slash = strrchr(source, '/');
        const int width = slash ? (int)(slash - source) + 1 : 0;
        struct strbuf path = {0};
        strbuf_printf(&path, "%s/%.*s%s", carrying->options->plan->folder, width, source,
                      strbuf_text(&header));
        const bool there = !path.failed && access(strbuf_text(&path), R_OK) == 0;
        strbuf_finish(&path);
        if (there) {
            strbuf_printf(why, "; add %.*s%s to build.files", width, source, strbuf_text(&header));
            break;
        }
    }
    strbuf_finish(&header);
}

/* A build has ended. */
static void take_build(void *self, struct pool_job *job)
{
    struct carrying *carrying = self;
    struct build_result *result = job->self;
    const struct plan_build *build =
        &carrying->result->plan->builds.items[result - carrying->result->builds];
    struct strbuf why = {0};
    *result = (struct build_result){.code = job->code, .seconds = job->seconds};
    if (!job->started) {
        strbuf_printf(&why, "%s can't be started: %s", job->words[0], strerror(job->error));
    } else if (job->timed_out || job->interrupted) {
        strbuf_printf(&why, "the build did not end%s", job->timed_out ? " in time" : "");
    } else if (job->code) {
        const char *folder = whole_path(carrying, build->folder);
        strbuf_puts(&why, "the build failed: ");
        said_first_line(&why, folder ? folder : "", "stderr");
        tell_header(carrying, &why);
    }
    if (why.length) {
        result->why = strbuf_keep(&why, &carrying->result->arena);
        if (!result->why) {
            carrying->status = ssan_no_memory(carrying->err);
            result->why = "out of memory";
        }
    }
    strbuf_finish(&why);
    tell_progress(carrying, build->folder);
}

/* A run has ended. */
static void take_run(void *self, struct pool_job *job)
{
    struct carrying *carrying = self;
    struct run_result *result = job->self;
    const struct plan_run *run =
        &carrying->result->plan->runs.items[result - carrying->result->runs];
    struct ssan_error err = {0};
    const enum ssan_status status = assess_run(&carrying->judging, run, job, result, &err);
    if (status) {
        *result = (struct run_result){
            .why = "out of memory", .state = RUN_NONE, .code = -1, .done = true};
        if (carrying->status == SSAN_OK) {
            carrying->status = ssan_fail(carrying->err, status, 0, "%s", err.text);
        }
    }
    tell_progress(carrying, run->label);
}

static bool run_builds(struct carrying *carrying)
{
    const struct contract_plan *plan = carrying->result->plan;
    const char **environment = make_environment(&carrying->result->arena, NULL);
    const char *folder = whole_path(carrying, "sources");
    for (size_t i = 0; i < plan->builds.count; i++) {
        struct strbuf out = {0}, err = {0};
        strbuf_printf(&out, "../%s/stdout", plan->builds.items[i].folder);
        strbuf_printf(&err, "../%s/stderr", plan->builds.items[i].folder);
        carrying->jobs[i] = (struct pool_job){
            .words = plan->builds.items[i].command.words,
            .environment = environment,
            .folder = folder,
            .out = strbuf_keep(&out, &carrying->result->arena),
            .err = strbuf_keep(&err, &carrying->result->arena),
            .timeout_s = BUILD_TIMEOUT_S,
            .self = &carrying->result->builds[i],
        };
        carrying->result->builds[i] = (struct build_result){.code = -1, .why = "it was not begun"};
        if (!environment || !folder || !carrying->jobs[i].out || !carrying->jobs[i].err) {
            carrying->status = ssan_no_memory(carrying->err);
            return false;
        }
    }
    return pool_run(&carrying->pool, carrying->jobs, plan->builds.count, carrying->options->jobs,
                    take_build, carrying);
}

/* Runs whose build failed don't begin. */
static bool run_runs(struct carrying *carrying)
{
    const struct contract_plan *plan = carrying->result->plan;
    const unsigned timeout = carrying->result->spec->contract->run.timeout;
    size_t count = 0;
    for (size_t i = 0; i < plan->runs.count; i++) {
        const struct plan_run *run = &plan->runs.items[i];
        struct run_result *result = &carrying->result->runs[i];
        const struct build_result *build = &carrying->result->builds[run->build];
        *result = (struct run_result){.state = RUN_NONE, .why = "it was not begun", .code = -1};
        if (build->why) {
            result->why = build->why;
            result->done = true;
            tell_progress(carrying, run->label);
            continue;
        }
        struct pool_job *job = &carrying->jobs[count++];
        *job = (struct pool_job){
            .words = run->command.words,
            .environment = make_environment(&carrying->result->arena, run->environment),
            .folder = whole_path(carrying, run->folder),
            .out = "stdout",
            .err = "stderr",
            .timeout_s = timeout ? timeout : SPEC_TIMEOUT_S,
            .self = result,
        };
        if (!job->environment || !job->folder) {
            carrying->status = ssan_no_memory(carrying->err);
            return false;
        }
    }
    return pool_run(&carrying->pool, carrying->jobs, count, carrying->options->jobs, take_run,
                    carrying);
}

/* Whether the runs of a fault are enough. */
static void sum_fault(struct contract_result *result, size_t index)
{
    const struct spec_fault *fault = &result->spec->contract->faults[index];
    struct fault_result *sum = &result->faults[index];
    const char *caught = NULL, *missed = NULL, *none = NULL;
    for (size_t i = 0; i < result->plan->runs.count; i++) {
        struct run_result *run = &result->runs[i];
        if (result->plan->runs.items[i].fault != (int)index) {
            continue;
        }
        if (run->state == RUN_CAUGHT && sum->alike) {
            run->state = RUN_MISSED;
            run->why = sum->alike;
        }
        sum->runs++;
        sum->caught += run->state == RUN_CAUGHT;
        sum->none += run->state == RUN_NONE;
        caught = run->state == RUN_CAUGHT && !caught ? run->why : caught;
        missed = run->state == RUN_MISSED && !missed ? run->why : missed;
        none = run->state == RUN_NONE && !none ? run->why : none;
    }
    const bool some = fault->caught.where == SPEC_SOME;
    if (some ? sum->caught > 0 : sum->caught == sum->runs) {
        sum->state = RUN_CAUGHT;
        sum->why = caught;
    } else if (missed && !(some && sum->none)) {
        sum->state = RUN_MISSED;
        sum->why = missed;
    } else {
        sum->state = RUN_NONE;
        sum->why = none;
    }
    sum->why = sum->why ? sum->why : "it has no run";
}

static void sum_all(struct contract_result *result)
{
    bool broken = false, unfinished = false;
    for (size_t i = 0; i < result->plan->runs.count; i++) {
        if (result->plan->runs.items[i].fault < 0) {
            result->right += result->runs[i].state == RUN_RIGHT;
            result->wrong += result->runs[i].state == RUN_WRONG;
            result->none += result->runs[i].state == RUN_NONE;
        }
    }
    for (unsigned i = 0; i < result->spec->contract->faults_count; i++) {
        sum_fault(result, i);
        broken |= result->faults[i].state == RUN_MISSED;
        unfinished |= result->faults[i].state == RUN_NONE;
    }
    broken |= result->wrong > 0;
    unfinished |= result->none > 0 || result->right == 0;
    result->state = broken ? CONTRACT_BROKEN : unfinished ? CONTRACT_UNFINISHED : CONTRACT_HOLDS;
}

static enum ssan_status make_tables(struct carrying *carrying)
{
    struct contract_result *result = carrying->result;
    const struct contract_plan *plan = result->plan;
    const size_t builds = plan->builds.count, runs = plan->runs.count;
    const unsigned faults = result->spec->contract->faults_count;
    result->builds = mem_zalloc(builds + 1, sizeof *result->builds);
    result->runs = mem_zalloc(runs + 1, sizeof *result->runs);
    result->faults = mem_zalloc((size_t)faults + 1, sizeof *result->faults);
    carrying->jobs = mem_zalloc((builds > runs ? builds : runs) + 1, sizeof *carrying->jobs);
    carrying->judging.faults = result->faults;
    carrying->all = builds + runs;
    for (size_t i = 0; result->runs && i < runs; i++) {
        result->runs[i] =
            (struct run_result){.state = RUN_NONE, .why = "it was not begun", .code = -1};
    }
    return result->builds && result->runs && result->faults && carrying->jobs
               ? SSAN_OK
               : ssan_no_memory(carrying->err);
}

enum ssan_status contract_run(struct contract_result *result, const struct spec *spec,
                              const struct contract_plan *plan,
                              const struct contract_options *options, struct ssan_error *err)
{
    struct timespec begun;
    *result = (struct contract_result){.spec = spec, .plan = plan};
    struct carrying carrying = {.result = result,
                                .options = options,
                                .judging = {options, plan, spec, &result->arena, NULL},
                                .err = err};
    clock_gettime(CLOCK_MONOTONIC, &begun);
    enum ssan_status status = tree_fill(options, spec, plan, err);
    if (status == SSAN_OK) {
        status = make_tables(&carrying);
    }
    if (status == SSAN_OK) {
        pool_open(&carrying.pool);
        if (run_builds(&carrying)) {
            (void)run_runs(&carrying);
        }
        result->caught_signal = carrying.pool.caught;
        pool_close(&carrying.pool);
        status = carrying.status;
        sum_all(result);
    }
    result->seconds = seconds_since(&begun);
    mem_free(carrying.jobs);
    return status;
}

void contract_result_finish(struct contract_result *result)
{
    mem_free(result->builds);
    mem_free(result->runs);
    mem_free(result->faults);
    arena_finish(&result->arena);
    *result = (struct contract_result){0};
}
