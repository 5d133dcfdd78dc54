/* Two directions: nothing said that is not so, nothing unsaid. */
#include "support/compare.h"

#include "support/must.h"

#include <string.h>

struct compare {
    const struct oracle *oracle;
    const struct oracle_access *accesses;
    const struct oracle_fault *faults;
    const struct hazard *hazards;
    size_t access_count, fault_count, hazard_count;
    struct strbuf *why;
};

static enum oracle_check check_of(const struct hazard *hazard)
{
    for (int check = 0; check < ORACLE_CHECK_COUNT; check++) {
        if (strcmp(check_info(hazard->check)->id, oracle_check_word(check)) == 0) {
            return (enum oracle_check)check;
        }
    }
    MUST(!"a check that the oracle does not know");
    return ORACLE_CHECK_COUNT;
}

static enum severity documented_severity(const struct oracle_fault *fault)
{
    if (fault->check >= ORACLE_EVENT_UNRECORDED || fault->mild) {
        return SEVERITY_ADVICE;
    }
    return fault->sureness == ORACLE_POSSIBLE ? SEVERITY_WARNING : SEVERITY_ERROR;
}

static enum severity observed_severity(const struct oracle_fault *fault)
{
    enum severity severity = documented_severity(fault);
    return severity == SEVERITY_ERROR && !fault->observed ? SEVERITY_WARNING : severity;
}

static const char *sureness_word_of(const struct oracle_fault *fault)
{
    static const char *const words[] = {"exact", "footprint", "possible"};
    return words[fault->sureness];
}

static void say_bytes(struct strbuf *why, uint64_t base, const struct ranges *bytes)
{
    for (size_t i = 0; i < bytes->count && i < 6; i++) {
        strbuf_printf(why, " [%#llx,%#llx)", (unsigned long long)(base + bytes->items[i].begin),
                      (unsigned long long)(base + bytes->items[i].end));
    }
    strbuf_puts(why, "\n");
}

static void say_fault(struct strbuf *why, const struct oracle_fault *fault)
{
    strbuf_printf(why, "  oracle: %s %s/%s %s events %llu, %llu alloc %u stream %u event %u",
                  oracle_check_word(fault->check), severity_word(observed_severity(fault)),
                  severity_word(documented_severity(fault)), sureness_word_of(fault),
                  (unsigned long long)fault->first_position,
                  (unsigned long long)fault->then_position, fault->alloc, fault->stream,
                  fault->event);
    say_bytes(why, 0, &fault->bytes);
}

static void say_hazard(struct strbuf *why, const struct hazard *hazard)
{
    strbuf_printf(why, "  engine: %s %s/%s %s events %llu, %llu alloc %u stream %u event %u by %s",
                  check_info(hazard->check)->id, severity_word(hazard->severity),
                  severity_word(hazard->documented), sureness_word(hazard->sureness),
                  (unsigned long long)hazard->first.position,
                  (unsigned long long)hazard->then.position, hazard->alloc, hazard->stream,
                  hazard->event, hazard->ordered_by ? hazard->ordered_by : "-");
    say_bytes(why, hazard->base, &hazard->bytes);
}

static bool is_memory(enum oracle_check check)
{
    return check <= ORACLE_WAR;
}

static bool contains_all(const struct ranges *outer, uint64_t base, const struct ranges *inner)
{
    for (size_t i = 0; i < inner->count; i++) {
        if (!ranges_contains(outer, base + inner->items[i].begin, base + inner->items[i].end)) {
            return false;
        }
    }
    return true;
}

static bool same_places(const struct hazard *hazard, const struct oracle_fault *fault)
{
    enum oracle_check check = check_of(hazard);
    if (check != fault->check) {
        return false;
    }
    if (check == ORACLE_EVENT_UNRECORDED) {
        return hazard->then.position == fault->then_position && hazard->event == fault->event;
    }
    if (check == ORACLE_PENDING_AT_EXIT) {
        return hazard->stream == fault->stream;
    }
    return hazard->first.position == fault->first_position &&
           hazard->then.position == fault->then_position &&
           (!is_memory(check) || hazard->alloc == fault->alloc);
}

/* Strict threads: a free unordered with a host access or the alloc of another thread. Drivers wait
 * for the operations behind that access, if there are any, so it may be told as either. */
static bool is_either(const struct compare *compare, const struct oracle_fault *fault)
{
    return fault->check == ORACLE_FREE_IN_FLIGHT && compare->accesses[fault->first].op == 0;
}

static bool same_strength(const struct compare *compare, const struct hazard *hazard,
                          const struct oracle_fault *fault)
{
    bool by = hazard->ordered_by != NULL;
    return ((hazard->severity == observed_severity(fault) && by == !fault->observed) ||
            is_either(compare, fault)) &&
           hazard->documented == documented_severity(fault) &&
           (!is_memory(fault->check) ||
            strcmp(sureness_word(hazard->sureness), sureness_word_of(fault)) == 0);
}

/* A hazard is right when a fault of the oracle stands behind it. Several accesses of one operation
 * may meet the other side: bytes of all of them count. */
static bool judge_hazard(struct compare *compare, const struct hazard *hazard)
{
    struct ranges bytes = {0};
    bool same = false, memory = false;
    for (size_t i = 0; i < compare->fault_count; i++) {
        const struct oracle_fault *fault = &compare->faults[i];
        if (!same_places(hazard, fault)) {
            continue;
        }
        same = same || same_strength(compare, hazard, fault);
        memory = is_memory(fault->check);
        for (size_t k = 0; k < fault->bytes.count; k++) {
            MUST(ranges_add(&bytes, fault->bytes.items[k].begin, fault->bytes.items[k].end));
        }
    }
    bool right = same && hazard->severity <= hazard->documented &&
                 (!memory ||
                  (hazard->bytes.count > 0 && contains_all(&bytes, hazard->base, &hazard->bytes)));
    ranges_finish(&bytes);
    if (right) {
        return true;
    }
    strbuf_puts(compare->why, "the engine tells what is not so:\n");
    say_hazard(compare->why, hazard);
    for (size_t i = 0; i < compare->fault_count; i++) {
        if (compare->faults[i].then_position == hazard->then.position) {
            say_fault(compare->why, &compare->faults[i]);
        }
    }
    return false;
}

static bool writes(enum ssan_access access)
{
    return access != SSAN_access_READ;
}

/* Whether the hazard's first access may speak for the fault's: the same, or a later one that covers
 * it. */
static bool speaks_for(const struct compare *compare, const struct hazard *hazard,
                       const struct oracle_fault *fault)
{
    enum oracle_check check = check_of(hazard);
    bool lifetime = fault->check == ORACLE_FREE_IN_FLIGHT;
    if (hazard->then.position != fault->then_position || hazard->alloc != fault->alloc ||
        (hazard->severity < observed_severity(fault) && !is_either(compare, fault)) ||
        hazard->documented < documented_severity(fault)) {
        return false;
    }
    if (hazard->first.position == fault->first_position) {
        return check == fault->check;
    }
    if (lifetime ? check != ORACLE_FREE_IN_FLIGHT : check > fault->check || check < ORACLE_RAW) {
        return false;
    }
    for (size_t i = 0; i < compare->access_count; i++) {
        const struct oracle_access *at = &compare->accesses[i];
        if (at->position == hazard->first.position && at->alloc == fault->alloc && !at->dead &&
            (lifetime || writes(at->access) || !writes(compare->accesses[fault->first].access)) &&
            oracle_behind(compare->oracle, fault->first, i, READING_DOCUMENTED)) {
            return true;
        }
    }
    return false;
}

static bool judge_memory_fault(struct compare *compare, const struct oracle_fault *fault)
{
    struct ranges rest = {0};
    for (size_t i = 0; i < fault->bytes.count; i++) {
        MUST(ranges_add(&rest, fault->bytes.items[i].begin, fault->bytes.items[i].end));
    }
    for (size_t h = 0; h < compare->hazard_count && rest.count > 0; h++) {
        const struct hazard *hazard = &compare->hazards[h];
        if (!speaks_for(compare, hazard, fault)) {
            continue;
        }
        for (size_t i = 0; i < hazard->bytes.count; i++) {
            MUST(ranges_remove(&rest, hazard->base + hazard->bytes.items[i].begin,
                               hazard->base + hazard->bytes.items[i].end));
        }
    }
    bool told = rest.count == 0;
    if (!told) {
        strbuf_puts(compare->why, "the engine does not tell all bytes of this fault:\n");
        say_fault(compare->why, fault);
        strbuf_puts(compare->why, "  untold:");
        say_bytes(compare->why, 0, &rest);
    }
    ranges_finish(&rest);
    return told;
}

/* Submission races: one first for each `then` is enough; the others must be exact. */
static bool judge_other_fault(struct compare *compare, const struct oracle_fault *fault)
{
    for (size_t h = 0; h < compare->hazard_count; h++) {
        const struct hazard *hazard = &compare->hazards[h];
        bool some = fault->check == ORACLE_SUBMIT_RACE && check_of(hazard) == ORACLE_SUBMIT_RACE &&
                    hazard->then.position == fault->then_position;
        if (some || same_places(hazard, fault)) {
            return true;
        }
    }
    strbuf_puts(compare->why, "the engine does not tell this fault:\n");
    say_fault(compare->why, fault);
    return false;
}

static bool judge(struct compare *compare)
{
    for (size_t h = 0; h < compare->hazard_count; h++) {
        if (!judge_hazard(compare, &compare->hazards[h])) {
            return false;
        }
    }
    for (size_t i = 0; i < compare->fault_count; i++) {
        const struct oracle_fault *fault = &compare->faults[i];
        if (!(is_memory(fault->check) ? judge_memory_fault(compare, fault)
                                      : judge_other_fault(compare, fault))) {
            for (size_t h = 0; h < compare->hazard_count; h++) {
                if (compare->hazards[h].then.position == fault->then_position) {
                    say_hazard(compare->why, &compare->hazards[h]);
                }
            }
            return false;
        }
    }
    return true;
}

struct engine *compare_engine(const struct tape *tape, bool strict, uint32_t mutant,
                              struct ssan_error *err)
{
    struct engine_options options = {
        .threads = strict ? THREADS_STRICT : THREADS_OBSERVED,
        .mutant = mutant,
    };
    struct engine *engine = engine_create(&options);
    MUST(engine);
    enum ssan_status status = SSAN_OK;
    for (size_t i = 0; i < tape->events.count && status == SSAN_OK; i++) {
        status = engine_feed(engine, &tape->events.items[i], err);
    }
    if (status == SSAN_OK) {
        status = engine_finish(engine, err);
    }
    if (status != SSAN_OK) {
        engine_destroy(engine);
        return NULL;
    }
    return engine;
}

enum compare_result compare_tape(const struct tape *tape, bool strict, uint32_t mutant,
                                 struct strbuf *why, struct compare_counts *counts)
{
    const char *reason = NULL;
    struct ssan_error err = {0};
    struct oracle *oracle = oracle_run(tape, strict, &reason);
    if (!oracle) {
        strbuf_printf(why, "the oracle refuses the trace: %s\n", reason);
        return COMPARE_INVALID;
    }
    struct engine *engine = compare_engine(tape, strict, mutant, &err);
    enum compare_result result = COMPARE_DIFFER;
    if (engine) {
        struct compare compare = {.oracle = oracle, .why = why};
        compare.accesses = oracle_accesses(oracle, &compare.access_count);
        compare.faults = oracle_faults(oracle, &compare.fault_count);
        compare.hazards = engine_hazards(engine, &compare.hazard_count);
        result = judge(&compare) ? COMPARE_AGREE : COMPARE_DIFFER;
        for (size_t i = 0; counts && i < compare.fault_count; i++) {
            counts->faults[compare.faults[i].check]++;
            counts->portability[compare.faults[i].check] += !compare.faults[i].observed;
        }
        if (counts) {
            counts->hazards += compare.hazard_count;
        }
    } else {
        strbuf_printf(why, "the engine refuses the trace: %s\n", err.text);
    }
    engine_destroy(engine);
    oracle_destroy(oracle);
    return result;
}
