/* What the tests of the engine share: a small trace (build_trace.h), the engine that it was fed to
 * and its options, made anew for each test. */
#ifndef SSAN_TESTS_UNIT_CORE_ENGINE_H
#define SSAN_TESTS_UNIT_CORE_ENGINE_H

#include "support/build_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define D     UINT64_C(0x100000)
#define PIN   UINT64_C(0x1000000)
#define PAG   UINT64_C(0x7000000)
#define MIB   UINT64_C(0x100000)
#define READ  SSAN_access_READ
#define WRITE SSAN_access_WRITE
#define MAY   SSAN_set_sureness_MAY
#define EXACT SSAN_set_sureness_EXACT

static struct trace t;
static struct engine *engine;
static struct engine_options options;

static int setup(void **state)
{
    (void)state;
    t_init(&t);
    options = (struct engine_options){0};
    engine = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    engine_destroy(engine);
    t_finish(&t);
    return 0;
}

/* Runs the trace; there must be `count` hazards. */
static const struct hazard *run(size_t expected)
{
    struct ssan_error err = {0};
    engine_destroy(engine);
    engine = t_run(&t, &options, &err);
    if (!engine) {
        fail_msg("refused: %s", err.text);
    }
    size_t count = 0;
    const struct hazard *hazards = engine_hazards(engine, &count);
    if (count != expected) {
        fail_msg("%zu hazards, not %zu; first: %s", count, expected,
                 count > 0 ? check_info(hazards[0].check)->id : "-");
    }
    return hazards;
}

static void pool(struct trace *trace, bool alloc, uint64_t address, uint64_t size)
{
    struct ssan_event event = {.kind = alloc ? SSAN_EV_pool_alloc : SSAN_EV_pool_free};
    if (alloc) {
        event.pool_alloc.pool = 1;
        event.pool_alloc.address = address;
        event.pool_alloc.size = size;
        event.pool_alloc.site = t_site(trace);
    } else {
        event.pool_free.pool = 1;
        event.pool_free.address = address;
        event.pool_free.site = t_site(trace);
    }
    t_put(trace, event);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

#endif
