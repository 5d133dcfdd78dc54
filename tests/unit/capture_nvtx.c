/* NVTX from the side of a program: the entries are put into its tables, ranges of the plan's name
 * are the window, others are not. */
#include "capture/observe.h"

#include "trace/control_abi.h"

#include <pthread.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

typedef void function(void);

#define FUNCTIONS 16u

static function *slots[7][FUNCTIONS]; /* by module and number */
static function **tables[7][FUNCTIONS];

static int get_functions(uint32_t module, function ****table, unsigned int *count)
{
    if (module == 4) {
        return 0; /* a program without the part of the runtime */
    }
    for (uint32_t i = 1; i < FUNCTIONS; i++) {
        tables[module][i] = &slots[module][i];
    }
    *table = tables[module];
    *count = FUNCTIONS;
    return 1;
}

static const void *get_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*get_functions)(uint32_t module, function ****table, unsigned int *count);
    } callbacks = {sizeof callbacks, get_functions};
    return id == 1 ? &callbacks : NULL;
}

static const void *get_no_table(uint32_t id)
{
    return NULL;
}

static int push(const char *name)
{
    return ((int (*)(const char *))slots[1][9])(name);
}

static int pop(void)
{
    return ((int (*)(void))slots[1][11])();
}

static void tables_are_filled(void **state)
{
    assert_int_equal(InitializeInjectionNvtx2(get_no_table), 0);
    assert_int_equal(InitializeInjectionNvtx2(get_table), 1);
    assert_non_null(slots[1][9]); /* nvtxRangePushA */
    assert_non_null(slots[5][4]); /* nvtxDomainRangePushEx */
    assert_non_null(slots[2][5]); /* nvtxNameCuStreamA */
    assert_null(slots[4][3]);     /* there is no such module */
    assert_null(slots[1][1]);     /* nvtxMarkEx: of no use here */
}

static void nested_ranges(void **state)
{
    assert_int_equal(push("other"), 0);
    assert_false(observe_is_inside());
    assert_int_equal(push("train"), 1);
    assert_true(observe_is_inside());
    assert_int_equal(push("train"), 2);
    assert_int_equal(pop(), 2);
    assert_true(observe_is_inside());
    assert_int_equal(pop(), 1);
    assert_false(observe_is_inside());
    assert_int_equal(pop(), 0);
    assert_true(pop() < 0); /* one too many */
    assert_int_equal(push("train"), 0);
    assert_true(observe_is_inside());
    assert_int_equal(pop(), 0);
    assert_false(observe_is_inside());
}

static void deep_ranges(void **state)
{
    for (int i = 0; i < 100; i++) {
        assert_int_equal(push(i == 80 ? "train" : "layer"), i);
    }
    assert_false(observe_is_inside()); /* too deep to be remembered */
    for (int i = 99; i >= 0; i--) {
        assert_int_equal(pop(), i);
    }
    assert_false(observe_is_inside());
}

static void ranges_with_ids(void **state)
{
    uint64_t (*start)(const char *) = (uint64_t(*)(const char *))slots[1][5];
    void (*end)(uint64_t) = (void (*)(uint64_t))slots[1][7];
    uint64_t other = start("other"), window = start("train");
    assert_true(other != 0 && window != 0 && other != window);
    assert_true(observe_is_inside());
    end(other);
    assert_true(observe_is_inside());
    end(window);
    assert_false(observe_is_inside());
}

/* Whoever is in a window is inside, whatever other threads leave at that moment. */
static void *in_and_out(void *outside)
{
    for (int i = 0; i < 20000; i++) {
        push("train");
        *(int *)outside += !observe_is_inside();
        pop();
    }
    return NULL;
}

static void two_threads(void **state)
{
    int outside[2] = {0, 0};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, in_and_out, &outside[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(outside[0] + outside[1], 0);
    assert_false(observe_is_inside());
}

/* A plan with the window `train` in a session of the test's own. */
static int make_session(void **state)
{
    static char folder[4096];
    char path[4200];
    const char *parent = getenv("TMPDIR");
    FILE *file;
    snprintf(folder, sizeof folder, "%s/streamsan-nvtx-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/observe", folder);
    file = fopen(path, "w");
    if (!file) {
        return -1;
    }
    fputs("streamsan-observe 1\nwindow nvtx train\n", file);
    fclose(file);
    setenv(CONTROL_ENV, folder, 1);
    *state = folder;
    return 0;
}

static int remove_session(void **state)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/observe", (const char *)*state);
    unlink(path);
    return rmdir(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_filled), cmocka_unit_test(nested_ranges),
        cmocka_unit_test(deep_ranges),       cmocka_unit_test(ranges_with_ids),
        cmocka_unit_test(two_threads),
    };
    return cmocka_run_group_tests(tests, make_session, remove_session);
}
