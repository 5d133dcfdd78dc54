/* Random traces, damaged: fields set to wild numbers, events dropped, doubled, swapped. The engine
 * takes such a trace or refuses it with SSAN_FORMAT at the right place; it never crashes (the asan
 * preset looks), and never hangs. And whole ones while memory runs out: SSAN_NO_MEMORY, and nothing
 * leaks. The seed is printed. */
#include "base/mem.h"
#include "core/engine.h"
#include "support/random_trace.h"
#include "support/tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define SEED         UINT64_C(20261130)
#define TRACES       150u
#define ROUNDS       20u
#define SHORT_TRACES 8u

static uint64_t wild(struct rng *rng)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       3,
                                       4095,
                                       4096,
                                       UINT32_MAX,
                                       UINT32_MAX - 1,
                                       1u << 31,
                                       UINT64_MAX,
                                       UINT64_MAX - 4096};
    return rng_below(rng, 2) ? numbers[rng_below(rng, sizeof numbers / sizeof numbers[0])]
                             : rng_below(rng, 40);
}

/* Overwrites one number of the event. */
static void damage_field(struct rng *rng, struct ssan_event *event)
{
    const struct ssan_event_info *info = ssan_event_info(event->kind);
    const struct ssan_field *field = &info->fields[rng_below(rng, info->field_count)];
    unsigned char *at = (unsigned char *)event + field->offset;
    uint64_t value = wild(rng);
    uint32_t narrow = (uint32_t)value;
    switch (field->type) {
    case SSAN_FIELD_U32:
        memcpy(at, &narrow, sizeof narrow);
        break;
    case SSAN_FIELD_U64:
    case SSAN_FIELD_X64:
        memcpy(at, &value, sizeof value);
        break;
    default: /* words, strings and arrays are the reader's to validate */
        break;
    }
}

/* Order of the events of one tape, with one to three damages. */
static void damage(struct rng *rng, const struct ssan_event **order, size_t *count,
                   struct ssan_event *broken)
{
    uint64_t damages = 1 + rng_below(rng, 3);
    for (uint64_t i = 0; i < damages; i++) {
        size_t at = (size_t)rng_below(rng, *count), other = (size_t)rng_below(rng, *count);
        const struct ssan_event *moved = order[at];
        switch (rng_below(rng, 4)) {
        case 0: /* dropped */
            memmove(&order[at], &order[at + 1], (*count - at - 1) * sizeof(order[0]));
            *count -= *count > 1;
            break;
        case 1: /* swapped */
            order[at] = order[other];
            order[other] = moved;
            break;
        case 2: /* doubled in place of another */
            order[other] = moved;
            break;
        default:
            broken[i] = *moved;
            damage_field(rng, &broken[i]);
            order[at] = &broken[i];
            break;
        }
    }
}

/* True when the engine took it all. */
static bool feed_all(const struct ssan_event *const *order, size_t count, bool strict)
{
    struct engine_options options = {.threads = strict ? THREADS_STRICT : THREADS_OBSERVED};
    struct engine *engine = engine_create(&options);
    assert_non_null(engine);
    struct ssan_error err = {0};
    enum ssan_status status = SSAN_OK;
    size_t fed = 0;
    while (fed < count && status == SSAN_OK) {
        status = engine_feed(engine, order[fed++], &err);
    }
    if (status == SSAN_OK) {
        status = engine_finish(engine, &err);
        assert_int_equal(status, SSAN_OK);
    } else {
        assert_int_equal(status, SSAN_FORMAT);
        assert_int_equal(err.position, fed - 1);
        assert_int_equal(engine_feed(engine, order[0], NULL), SSAN_FORMAT); /* takes no more */
    }
    engine_destroy(engine);
    return status == SSAN_OK;
}

static void test_damaged_traces(void **state)
{
    (void)state;
    struct rng rng = {SEED};
    unsigned taken = 0, refused = 0;
    for (unsigned trace = 0; trace < TRACES; trace++) {
        struct tape tape = {0};
        random_trace(&tape, &rng, 20 + rng_below(&rng, 60));
        const struct ssan_event **order = malloc(tape.events.count * sizeof *order);
        assert_non_null(order);
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct ssan_event broken[3];
            size_t count = tape.events.count;
            for (size_t i = 0; i < count; i++) {
                order[i] = &tape.events.items[i];
            }
            damage(&rng, order, &count, broken);
            if (feed_all(order, count, round % 2 == 1)) {
                taken++;
            } else {
                refused++;
            }
        }
        free(order);
        tape_finish(&tape);
    }
    print_message("seed %llu: %u damaged traces refused, %u taken\n", (unsigned long long)SEED,
                  refused, taken);
    assert_true(refused > TRACES && taken > TRACES);
}

/* With the N-th allocation and all behind it failing; true when there are fewer than N. Giving
 * memory back may fail, too: then the engine finds all of its `hazards` none the less. */
static bool run_short_of_memory(const struct tape *tape, bool strict, uint64_t nth, size_t *hazards)
{
    const struct engine_options options = {.threads = strict ? THREADS_STRICT : THREADS_OBSERVED};
    struct ssan_error err = {0};
    enum ssan_status status = SSAN_NO_MEMORY;
    mem_fail_at(nth);
    struct engine *engine = engine_create(&options);
    for (size_t i = 0; engine && i < tape->events.count; i++) {
        status = engine_feed(engine, &tape->events.items[i], &err);
        if (status != SSAN_OK) {
            assert_int_equal(engine_feed(engine, &tape->events.items[i], NULL), status);
            break;
        }
    }
    if (engine && status == SSAN_OK) {
        status = engine_finish(engine, &err);
    }
    bool enough = mem_count() < nth;
    size_t found = status == SSAN_OK ? engine_hazard_count(engine) : 0;
    mem_fail_at(0);
    engine_destroy(engine);
    if (nth == UINT64_MAX) {
        *hazards = found;
    } else if (status == SSAN_OK && !enough && found == *hazards) {
        return false;
    }
    if (status != (enough ? SSAN_OK : SSAN_NO_MEMORY)) {
        fail_msg("allocation %d: status %d, %s", (int)nth, (int)status, err.text);
    }
    return enough;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct rng rng = {SEED};
    for (unsigned trace = 0; trace < SHORT_TRACES; trace++) {
        struct tape tape = {0};
        random_trace(&tape, &rng, 10 + 10 * trace);
        for (int strict = 0; strict < 2; strict++) {
            uint64_t nth = 1;
            size_t hazards = 0;
            assert_true(run_short_of_memory(&tape, strict, UINT64_MAX, &hazards));
            while (!run_short_of_memory(&tape, strict, nth, &hazards)) {
                nth++;
            }
        }
        tape_finish(&tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_traces),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
