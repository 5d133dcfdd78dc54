/* `witness --bisect`: the fewest added waits that cure a wrong result.
 *
 * The document's diagnostic step without editing the program: let the host wait for what is
 * submitted at a line, and look whether the result gets right. First each line alone, those of the
 * findings in front; where no line alone does it, lines are left out of all of them in ever smaller
 * groups, until none can be. Cost: a trial for each set. */
#include "cli/witness.h"

#include "cli/plan_words.h"
#include "cli/witness_replay.h"

#include <stdio.h>
#include <string.h>

#define MOST_LINES 200

struct line {
    const char *file;
    uint32_t number, site;
    const struct model_item *item; /* one of those submitted there */
};

struct bisect {
    struct witness_search *search;
    struct report *report;
    const char *schedule; /* under which the result is wrong */
    struct line lines[MOST_LINES];
    size_t count;
    uint64_t tried;
};

/* A run under these words and waits behind the lines of `set` (NULL: behind everything) is right.
 */
static bool is_right(struct bisect *bisect, const bool *set, bool wait)
{
    struct witness_search *search = bisect->search;
    const struct trial_result *first = search->reference->result, *result;
    struct plan plan = {0};
    struct trial trial;
    struct outcome outcome = {0};
    struct witness witness = {.memory.buffer = -1};
    bool fine = plan_read(&plan, bisect->schedule, NULL) == SSAN_OK;
    size_t i;
    plan.serialize_all = wait && !set;
    for (i = 0; fine && set && i < bisect->count; i++) {
        fine = !set[i] ||
               plan_words_add_line(&plan, PLAN_SERIALIZE, search->base->arguments[0],
                                   bisect->lines[i].file, bisect->lines[i].number, NULL) == SSAN_OK;
    }
    trial = witness_trial(search, bisect->schedule, &plan);
    result = fine ? trials_run(search->trials, &trial) : NULL;
    fine = result && !result->status && !result->timed_out;
    if (fine && (first->code || first->end_signal)) {
        fine = result->code == 0;
    } else if (fine) {
        fine = outcome_read(&outcome, result, NULL) == SSAN_OK &&
               !outcome_compare(bisect->report, search->reference, &outcome, &search->noise, -1,
                                &witness);
    }
    outcome_close(&outcome);
    trials_drop(search->trials, result);
    plan_finish(&plan);
    bisect->tried++;
    return fine;
}

/* A schedule under which the result is wrong: a policy where one does, since waits can't get in its
 * way, else that of a witness. */
static bool find_wrong(struct bisect *bisect)
{
    static const char *const policies[] = {"eager",    "lazy",     "random:1", "random:2",
                                           "random:3", "random:4", "random:5"};
    const struct trial_result *first = bisect->search->reference->result;
    size_t i;
    for (i = 0; i < sizeof policies / sizeof *policies; i++) {
        bisect->schedule = policies[i];
        if (i == 0 ? first->code || first->end_signal : !is_right(bisect, NULL, false)) {
            return true;
        }
        if (trials_interrupted(bisect->search->trials)) {
            return false;
        }
    }
    for (i = 0; i < bisect->report->finding_count; i++) {
        const struct witness *witness = bisect->report->findings[i]->witness;
        if (witness && witness->kind == WITNESS_SHOWN && witness->replay) {
            bisect->schedule = witness->replay[3];
            return true;
        }
    }
    return false;
}

static bool does_work(const struct model_item *item)
{
    return item->kind != SSAN_op_kind_RECORD && item->kind != SSAN_op_kind_WAIT && !item->is_void;
}

static bool is_first(const struct report *report, const struct line *line)
{
    size_t i;
    for (i = 0; i < report->finding_count; i++) {
        int op = report->findings[i]->first.op;
        const struct place *at = op >= 0 ? &report->ops[op].at : NULL;
        if (at && at->file && at->line == line->number && strcmp(at->file, line->file) == 0) {
            return true;
        }
    }
    return false;
}

static void add_line(struct bisect *bisect, const struct model_item *item)
{
    const struct model_line *at = model_line(&bisect->search->reference->model, item->site);
    struct line line = {.site = item->site, .item = item};
    size_t i;
    if (!at || bisect->count == MOST_LINES) {
        return;
    }
    line.file = arena_strndup(&bisect->report->arena, at->file.ptr, at->file.length);
    line.number = at->line;
    for (i = 0; line.file && i < bisect->count; i++) {
        if (bisect->lines[i].number == line.number &&
            strcmp(bisect->lines[i].file, line.file) == 0) {
            return;
        }
    }
    if (line.file) {
        bisect->lines[bisect->count++] = line;
    }
}

/* Lines that submit work; those of the operations that findings name first stand in front. */
static void find_lines(struct bisect *bisect)
{
    const struct model *model = &bisect->search->reference->model;
    size_t i, front = 0;
    for (i = 0; i < model->items.count; i++) {
        if (does_work(&model->items.items[i])) {
            add_line(bisect, &model->items.items[i]);
        }
    }
    for (i = 0; i < bisect->count; i++) {
        if (is_first(bisect->report, &bisect->lines[i])) {
            struct line line = bisect->lines[i];
            memmove(&bisect->lines[front + 1], &bisect->lines[front],
                    (i - front) * sizeof *bisect->lines);
            bisect->lines[front++] = line;
        }
    }
}

static bool out_of_time(struct bisect *bisect)
{
    return witness_left(bisect->search) <= 0 || trials_interrupted(bisect->search->trials);
}

/* One line that cures alone. */
static bool find_single(struct bisect *bisect, bool *set)
{
    size_t i;
    for (i = 0; i < bisect->count && !out_of_time(bisect); i++) {
        memset(set, 0, MOST_LINES * sizeof *set);
        set[i] = true;
        if (is_right(bisect, set, true)) {
            return true;
        }
    }
    return false;
}

/* Leaves lines out of `set`, which cures, in groups of half of them, a quarter, ... one. */
static bool shrink(struct bisect *bisect, bool *set)
{
    size_t group;
    for (group = bisect->count; group > 0; group /= 2) {
        size_t begin;
        for (begin = 0; begin < bisect->count; begin += group) {
            bool less[MOST_LINES];
            size_t i, removed = 0;
            memcpy(less, set, sizeof less);
            for (i = begin; i < begin + group && i < bisect->count; i++) {
                removed += less[i];
                less[i] = false;
            }
            if (out_of_time(bisect)) {
                return false;
            }
            if (removed > 0 && is_right(bisect, less, true)) {
                memcpy(set, less, sizeof less);
            }
        }
    }
    return true;
}

static const char *stream_name(const struct report *report, uint32_t stream)
{
    size_t i;
    for (i = 0; i < report->stream_count; i++) {
        if (report->streams[i].ordinal == stream) {
            return report->streams[i].name;
        }
    }
    return NULL;
}

static void fill_waits(struct bisect *bisect, const bool *set, struct diagnosis *diagnosis)
{
    struct arena *arena = &bisect->report->arena;
    struct diagnosis_wait *waits = arena_alloc(arena, (bisect->count + 1) * sizeof *waits);
    size_t i;
    for (i = 0; waits && i < bisect->count; i++) {
        const struct line *line = &bisect->lines[i];
        if (set[i]) {
            waits[diagnosis->wait_count++] = (struct diagnosis_wait){
                .at = {.file = line->file, .line = line->number},
                .what = arena_strndup(arena, line->item->name.ptr ? line->item->name.ptr : "",
                                      line->item->name.length),
                .stream = stream_name(bisect->report, line->item->id.stream),
            };
        }
    }
    diagnosis->waits = waits;
}

/* Fills a diagnosis whose run is wrong. */
static void diagnose(struct bisect *bisect, struct diagnosis *diagnosis)
{
    bool set[MOST_LINES] = {false};
    diagnosis->cured = is_right(bisect, NULL, true);
    if (!diagnosis->cured) {
        return;
    }
    find_lines(bisect);
    diagnosis->smallest = find_single(bisect, set);
    if (!diagnosis->smallest) {
        memset(set, 0, sizeof set);
        memset(set, true, bisect->count * sizeof *set);
        if (bisect->count == 0 || !is_right(bisect, set, true)) {
            return; /* by all, but not by the lines that are known */
        }
        diagnosis->smallest = shrink(bisect, set);
    }
    fill_waits(bisect, set, diagnosis);
}

void witness_bisect(struct witness_search *search, struct report *report)
{
    struct bisect *bisect = mem_zalloc(1, sizeof *bisect);
    struct diagnosis *diagnosis = arena_alloc(&report->arena, sizeof *diagnosis);
    if (bisect && diagnosis) {
        *diagnosis = (struct diagnosis){0};
        bisect->search = search;
        bisect->report = report;
        diagnosis->wrong = find_wrong(bisect);
        if (diagnosis->wrong) {
            diagnose(bisect, diagnosis);
        }
        diagnosis->tried = bisect->tried;
        report->diagnosis = diagnosis;
    }
    mem_free(bisect);
}
