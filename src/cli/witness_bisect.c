/* `witness --bisect`: a set of added waits that cures a wrong result, none of which can be left
 * out.
 *
 * What people do by hand with cudaDeviceSynchronize, without editing the program: let the host wait
 * for what is submitted at a line, and look whether the result gets right. First each line alone,
 * those of the findings in front; where no line alone does it, lines are left out of all of them in
 * ever smaller groups, until none can be. Cost: a trial for each set. */
#include "cli/witness.h"

#include "cli/plan_words.h"
#include "cli/witness_replay.h"

#include <stdio.h>
#include <string.h>

struct line {
    const char *file;
    uint32_t number, site;
    const struct model_item *item; /* one of those submitted there */
};

struct bisect {
    struct witness_search *search;
    struct report *report;
    const char *schedule; /* under which the result is wrong */
    VEC(struct line) lines;
    bool *set, *less; /* of the lines */
    uint64_t tried;
    enum diagnosis_limit limit; /* the first thing that came in between */
};

enum answer { WRONG, RIGHT, UNKNOWN };

static void stop_at(struct bisect *bisect, enum diagnosis_limit limit)
{
    bisect->limit = bisect->limit ? bisect->limit : limit;
}

/* Waits behind the lines of `set`, or behind everything, added to the schedule. */
static bool make_plan(struct bisect *bisect, const bool *set, bool wait, struct plan *plan)
{
    const struct witness_search *search = bisect->search;
    bool fine = plan_read(plan, bisect->schedule, NULL) == SSAN_OK &&
                (strncmp(bisect->schedule, "file:", 5) == 0 || /* which holds them */
                 plan_copy_places(plan, &search->options->plan));
    size_t i;
    plan->serialize_all |= wait && !set;
    for (i = 0; fine && set && i < bisect->lines.count; i++) {
        const struct line *line = &bisect->lines.items[i];
        fine = !set[i] || plan_words_add_line(plan, PLAN_SERIALIZE, search->base->arguments[0],
                                              line->file, line->number, NULL) != SSAN_NO_MEMORY;
    }
    return fine;
}

static enum answer judge_result(struct bisect *bisect, const struct trial_result *result)
{
    struct witness_search *search = bisect->search;
    const struct trial_result *first = search->reference->result;
    struct trial_outcome outcome = {0};
    struct witness witness = {.memory.buffer = -1};
    enum witness_kind kind = WITNESS_FAILED;
    if (result->status) {
        return UNKNOWN;
    }
    if (result->timed_out || first->code || first->end_signal) {
        return result->timed_out || result->code ? WRONG : RIGHT;
    }
    if (result->processes == 0) {
        return WRONG; /* the first run had operations */
    }
    if (outcome_read(&outcome, result, NULL) == SSAN_OK) {
        kind = outcome_compare(bisect->report, search->reference, &outcome, &search->noise, -1,
                               &witness);
    }
    outcome_close(&outcome);
    return kind == WITNESS_SILENT ? RIGHT : kind == WITNESS_SHOWN ? WRONG : UNKNOWN;
}

/* How a run under the schedule ends, with waits (`wait`) behind the lines of `set` (NULL: behind
 * everything). */
static enum answer ask(struct bisect *bisect, const bool *set, bool wait)
{
    struct witness_search *search = bisect->search;
    enum answer answer = UNKNOWN;
    struct plan plan = {0};
    if (make_plan(bisect, set, wait, &plan)) {
        struct trial trial = witness_trial(search, bisect->schedule, &plan);
        const struct trial_result *result = trials_run(search->trials, &trial);
        answer = judge_result(bisect, result);
        trials_drop(search->trials, result);
        bisect->tried++;
    }
    plan_finish(&plan);
    if (answer == UNKNOWN) {
        stop_at(bisect, DIAGNOSIS_FAILED);
    }
    return answer;
}

static bool out_of_time(struct bisect *bisect)
{
    bool over = witness_left(bisect->search) <= 0 || trials_interrupted(bisect->search->trials);
    if (over) {
        stop_at(bisect, DIAGNOSIS_TIME);
    }
    return over;
}

/* A schedule under which the result is wrong: a policy where one does, since waits can't get in its
 * way, else that of a witness. */
static bool find_wrong(struct bisect *bisect)
{
    static const char *const policies[] = {"eager",    "lazy",     "random:1", "random:2",
                                           "random:3", "random:4", "random:5"};
    const struct trial_result *first = bisect->search->reference->result;
    size_t i;
    bisect->schedule = policies[0];
    if (first->code || first->end_signal) {
        return true;
    }
    for (i = 1; i < sizeof policies / sizeof *policies && !out_of_time(bisect); i++) {
        bisect->schedule = policies[i];
        if (ask(bisect, NULL, false) == WRONG) {
            return true;
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
    const struct model_line *at;
    struct line line = {.site = item->site, .item = item};
    size_t i;
    for (i = 0; i < bisect->lines.count; i++) {
        if (bisect->lines.items[i].site == item->site) {
            return;
        }
    }
    at = model_line(&bisect->search->reference->model, item->site);
    if (!at) {
        stop_at(bisect, DIAGNOSIS_LINES);
        return;
    }
    line.file = arena_strndup(&bisect->report->arena, at->file.ptr, at->file.length);
    line.number = at->line;
    for (i = 0; line.file && i < bisect->lines.count; i++) {
        if (bisect->lines.items[i].number == line.number &&
            strcmp(bisect->lines.items[i].file, line.file) == 0) {
            return;
        }
    }
    if (!line.file || !VEC_PUSH(&bisect->lines, line)) {
        stop_at(bisect, DIAGNOSIS_FAILED);
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
    for (i = 0; i < bisect->lines.count; i++) {
        struct line *lines = bisect->lines.items, line = lines[i];
        if (is_first(bisect->report, &line)) {
            memmove(&lines[front + 1], &lines[front], (i - front) * sizeof *lines);
            lines[front++] = line;
        }
    }
}

/* One line that cures alone, in `set`. */
static bool find_single(struct bisect *bisect)
{
    size_t i;
    for (i = 0; i < bisect->lines.count && !out_of_time(bisect); i++) {
        memset(bisect->set, 0, bisect->lines.count * sizeof *bisect->set);
        bisect->set[i] = true;
        if (ask(bisect, bisect->set, true) == RIGHT) {
            return true;
        }
    }
    return false;
}

/* Leaves out of `set`, which cures, each group of so many lines that it can do without; true when
 * one was left out. */
static bool leave_out(struct bisect *bisect, size_t group)
{
    size_t count = bisect->lines.count, begin, i;
    bool any = false;
    for (begin = 0; begin < count; begin += group) {
        size_t removed = 0;
        memcpy(bisect->less, bisect->set, count * sizeof *bisect->set);
        for (i = begin; i < begin + group && i < count; i++) {
            removed += bisect->less[i];
            bisect->less[i] = false;
        }
        if (removed > 0 && !out_of_time(bisect) && ask(bisect, bisect->less, true) == RIGHT) {
            memcpy(bisect->set, bisect->less, count * sizeof *bisect->set);
            any = true;
        }
    }
    return any;
}

/* Groups of half of the lines, a quarter, ... one, and that until nothing changes: without one line
 * another may have become needless. */
static void shrink(struct bisect *bisect)
{
    size_t group;
    for (group = bisect->lines.count / 2; group > 1; group /= 2) {
        leave_out(bisect, group);
    }
    while (leave_out(bisect, 1)) {
    }
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

static void fill_waits(struct bisect *bisect, struct diagnosis *diagnosis)
{
    struct arena *arena = &bisect->report->arena;
    struct diagnosis_wait *waits = arena_alloc(arena, (bisect->lines.count + 1) * sizeof *waits);
    size_t i;
    if (!waits) {
        stop_at(bisect, DIAGNOSIS_FAILED);
    }
    for (i = 0; waits && i < bisect->lines.count; i++) {
        const struct line *line = &bisect->lines.items[i];
        if (bisect->set[i]) {
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
    enum diagnosis_limit before;
    size_t count;
    diagnosis->cured = !out_of_time(bisect) && ask(bisect, NULL, true) == RIGHT;
    if (!diagnosis->cured) {
        return;
    }
    before = bisect->limit;
    find_lines(bisect);
    count = bisect->lines.count;
    bisect->set = mem_zalloc(count + 1, sizeof *bisect->set);
    bisect->less = mem_zalloc(count + 1, sizeof *bisect->less);
    if (!bisect->set || !bisect->less) {
        stop_at(bisect, DIAGNOSIS_FAILED);
        return;
    }
    if (!find_single(bisect)) {
        memset(bisect->set, true, count * sizeof *bisect->set);
        if (count == 0 || out_of_time(bisect) || ask(bisect, bisect->set, true) != RIGHT) {
            stop_at(bisect, DIAGNOSIS_LINES); /* by all, but not by the lines that are known */
            return;
        }
        shrink(bisect);
    }
    if (bisect->limit == DIAGNOSIS_LINES) {
        bisect->limit = before; /* those that are known do */
    }
    fill_waits(bisect, diagnosis);
    diagnosis->smallest = !bisect->limit;
}

void witness_bisect(struct witness_search *search, struct report *report)
{
    struct bisect bisect = {.search = search, .report = report};
    struct diagnosis *diagnosis = arena_alloc(&report->arena, sizeof *diagnosis);
    if (!diagnosis) {
        fprintf(stderr, "streamsan witness: no diagnosis: out of memory\n");
        return;
    }
    *diagnosis = (struct diagnosis){0};
    diagnosis->wrong = find_wrong(&bisect);
    if (diagnosis->wrong) {
        bisect.limit = DIAGNOSIS_NO_LIMIT;
        diagnose(&bisect, diagnosis);
    }
    diagnosis->limit = bisect.limit;
    diagnosis->tried = bisect.tried;
    report->diagnosis = diagnosis;
    VEC_FREE(&bisect.lines);
    mem_free(bisect.set);
    mem_free(bisect.less);
}
