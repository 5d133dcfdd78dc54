/* What is guessed of a launch's sites from those before it. */
#include "capture/observe_footprint.h"
#include "capture/observe_hints.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>

#define KIND  PATCH_KIND(1, 0)
#define CODE  PATCH_CODE(0x7f001220u, KIND)
#define OTHER PATCH_CODE(0x7f001250u, PATCH_KIND(0, 0))
#define FIRST UINT64_C(0x1fd08000)

static struct patch_launch record;

/* A launch with a window for each set of operands. */
static struct pool_launch begin(struct observed_kernel *kernel, const uint64_t *operands,
                                uint32_t count)
{
    struct pool_launch launch = {.kernel = kernel, .window_count = count};
    memset(&record, 0, sizeof record);
    record.window_count = count;
    for (uint32_t i = 0; i < count; i++) {
        launch.windows[i] = (struct pool_window){
            .first = (uint32_t)FIRST + 100 * i, .count = 4, .operands = operands[i]};
        record.windows[i].bases[KIND - 1] = (i + 1) * UINT64_C(0x1000) | UINT64_C(4) << 48;
        record.windows[i].bases[PATCH_KIND(0, 0) - 1] = (i + 1) * UINT64_C(0x100000);
    }
    return launch;
}

static void fill(uint32_t code, uint32_t window)
{
    struct patch_site *site = &record.sites[PATCH_CODE_PLACE(code) % PATCH_SITES];
    site->head = (FIRST + UINT64_C(100) * window) << 32 | code;
    site->base = record.windows[window].bases[PATCH_CODE_KIND(code) - 1];
}

static const struct patch_site *site_of(uint32_t code)
{
    return &record.sites[PATCH_CODE_PLACE(code) % PATCH_SITES];
}

static bool is_guessed(uint32_t code, uint32_t window)
{
    const struct patch_site *site = site_of(code);
    return site->head == ((FIRST + UINT64_C(100) * window) << 32 | code | PATCH_GUESS) &&
           site->base == record.windows[window].bases[PATCH_CODE_KIND(code) - 1];
}

static const uint64_t x = OBSERVE_OPERAND(0), y = OBSERVE_OPERAND(8), z = OBSERVE_OPERAND(16);

/* The operand decides, wherever it lies in the next launch. */
static void follows_the_operand(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x, y}, 2);
    assert_int_equal(hints_give(&launch, &record), 0);
    assert_true(launch.is_to_learn && !launch.has_guesses);
    fill(CODE, 1);
    fill(OTHER, 0);
    hints_learn(&launch, &record);
    launch = begin(&kernel, (uint64_t[]){y, z, x}, 3);
    size_t end = hints_give(&launch, &record);
    assert_true(is_guessed(CODE, 0) && is_guessed(OTHER, 2));
    assert_int_equal(launch.windows[0].guessed, 1u << KIND);
    assert_int_equal(launch.windows[1].guessed, 0);
    assert_int_equal(launch.windows[2].guessed, 1u << PATCH_KIND(0, 0));
    assert_ptr_equal((char *)&record + end, site_of(OTHER) + 1);
    assert_true(launch.has_guesses);
    launch = begin(&kernel, (uint64_t[]){z}, 1);
    assert_int_equal(hints_give(&launch, &record), 0);
    launch = begin(&kernel, (uint64_t[]){x, y}, 2);
    record.windows[1].bases[KIND - 1] = 0; /* no memory was left for it */
    assert_true(hints_give(&launch, &record) > 0);
    assert_true(site_of(CODE)->head == 0 && is_guessed(OTHER, 0));
}

/* Operands of one window are told apart by a launch in which they lie apart; until then any will
 * do, and with several to choose from none is guessed. */
static void narrows_down(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x | y, z}, 2);
    fill(CODE, 0);
    hints_learn(&launch, &record);
    launch = begin(&kernel, (uint64_t[]){z, x | y}, 2);
    for (unsigned i = 0; i < 4; i++) { /* all that are learnt from in any case */
        memset(record.sites, 0, sizeof record.sites);
        assert_true(hints_give(&launch, &record) > 0 && launch.is_to_learn);
        assert_true(is_guessed(CODE, 1));
    }
    memset(record.sites, 0, sizeof record.sites);
    assert_true(hints_give(&launch, &record) > 0 && !launch.is_to_learn);
    launch = begin(&kernel, (uint64_t[]){x, y, z}, 3);
    assert_int_equal(hints_give(&launch, &record), 0);
    assert_true(launch.is_to_learn);
    fill(CODE, 1);
    hints_learn(&launch, &record);
    launch = begin(&kernel, (uint64_t[]){x | z, y}, 2);
    assert_true(hints_give(&launch, &record) > 0 && is_guessed(CODE, 1) && !launch.is_to_learn);
}

/* Of several windows none is taken, however many; and what stays unclear is not looked at for ever.
 */
static void stays_unclear(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x | y | z}, 1);
    unsigned learnt = 0;
    fill(CODE, 0);
    hints_learn(&launch, &record);
    for (unsigned i = 0; i < 256; i++) {
        launch = begin(&kernel, (uint64_t[]){x, y, z}, 2 + i % 2);
        assert_int_equal(hints_give(&launch, &record), 0);
        learnt += launch.is_to_learn;
        hints_learn(&launch, &record);
    }
    assert_int_equal(learnt, 64 + 3);
}

/* A guess that nobody takes over is made no more, until the instruction is seen again. */
static void forgets_the_absent(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x, y}, 2);
    fill(CODE, 0);
    fill(OTHER, 0);
    hints_learn(&launch, &record);
    for (unsigned i = 0; i < 2; i++) {
        launch = begin(&kernel, (uint64_t[]){x, y}, 2);
        assert_true(hints_give(&launch, &record) > 0);
        assert_true(is_guessed(CODE, 0) && is_guessed(OTHER, 0));
        record.sites[PATCH_CODE_PLACE(OTHER) % PATCH_SITES].head ^= PATCH_GUESS;
        hints_learn(&launch, &record);
        launch = begin(&kernel, (uint64_t[]){x, y}, 2);
        assert_true(hints_give(&launch, &record) > 0);
        assert_true(site_of(CODE)->head == 0 && is_guessed(OTHER, 0));
        fill(CODE, 0);
        record.sites[PATCH_CODE_PLACE(OTHER) % PATCH_SITES].head ^= PATCH_GUESS;
        hints_learn(&launch, &record);
    }
}

/* One whose guess was wrong was there all the same, in another window: it varies. */
static void was_elsewhere(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x, y}, 2);
    fill(CODE, 0);
    hints_learn(&launch, &record);
    for (unsigned i = 0; i < 3; i++) {
        launch = begin(&kernel, (uint64_t[]){x, y}, 2);
        assert_int_equal(hints_give(&launch, &record) > 0, i == 0);
        struct patch_site *found =
            &record.sites[PATCH_CODE_PLACE(CODE ^ PATCH_TRY(1)) % PATCH_SITES];
        found->head = (FIRST + 100) << 32 | CODE;
        hints_learn(&launch, &record);
    }
}

/* What a program wrote over a record is no lesson. */
static void ignores_nonsense(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x}, 1);
    record.sites[0].head = FIRST << 32 | 0x3f800000u;            /* no kind */
    record.sites[1].head = FIRST << 32 | PATCH_CODE(0x1000u, 7); /* none of them */
    record.sites[2].head = (FIRST + 1) << 32 | CODE;             /* no window */
    record.sites[3].head = UINT64_MAX;
    hints_learn(&launch, &record);
    assert_null(atomic_load(&kernel.hints));
}

/* However much there is to guess, who is not guessed finds room: half of the cells. */
static void leaves_room(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x}, 1);
    for (uint32_t i = 0; i < PATCH_SITES; i++) {
        fill(PATCH_CODE(0x7f000000u + 16 * i, KIND), 0);
    }
    hints_learn(&launch, &record);
    launch = begin(&kernel, (uint64_t[]){x}, 1);
    assert_true(hints_give(&launch, &record) > 0);
    for (uint32_t group = 0; group < PATCH_SITES; group += 8) {
        unsigned filled = 0;
        for (uint32_t i = 0; i < 8; i++) {
            filled += record.sites[group + i].head != 0;
        }
        assert_int_equal(filled, 4);
    }
}

/* A kernel whose instructions come and go does not take memory for ever. */
static void learns_so_much(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    for (uint32_t i = 0; i < 100; i++) {
        struct pool_launch launch = begin(&kernel, (uint64_t[]){x}, 1);
        const void *before = atomic_load(&kernel.hints);
        fill(PATCH_CODE(0x7f000000u + 16 * i, KIND), 0);
        hints_learn(&launch, &record);
        assert_int_equal(atomic_load(&kernel.hints) != before, i < 64);
    }
}

/* What takes its addresses from elsewhere is not guessed, whatever it does later on. */
static void forgets_what_varies(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    for (uint32_t i = 0; i < 3; i++) {
        struct pool_launch launch = begin(&kernel, (uint64_t[]){x, y}, 2);
        fill(CODE, i % 2);
        hints_learn(&launch, &record);
        launch = begin(&kernel, (uint64_t[]){x, y}, 2);
        assert_int_equal(hints_give(&launch, &record) > 0, i == 0);
    }
}

/* An instruction has two places; a third one of the same finds both taken. */
static void crowded(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x}, 1);
    const uint32_t away = 16 * PATCH_SITES;
    for (uint32_t i = 0; i < 3; i++) {
        fill(CODE + i * away, 0);
        hints_learn(&launch, &record);
    }
    launch = begin(&kernel, (uint64_t[]){x}, 1);
    assert_true(hints_give(&launch, &record) > 0);
    unsigned filled = 0;
    for (uint32_t i = 0; i < PATCH_SITES; i++) {
        filled += record.sites[i].head != 0;
    }
    assert_int_equal(filled, 2);
    assert_true(is_guessed(CODE, 0));
    assert_true((uint32_t)site_of(CODE ^ PATCH_TRY(1))->head == ((CODE + away) | PATCH_GUESS));
}

/* More instructions than there are sites: as many are known. */
static void too_many(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    struct pool_launch launch = begin(&kernel, (uint64_t[]){x}, 1);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < PATCH_SITES; i++) {
            fill(PATCH_CODE(0x7f000000u - 16 * (round * PATCH_SITES + i), KIND), 0);
        }
        hints_learn(&launch, &record);
    }
    launch = begin(&kernel, (uint64_t[]){x}, 1);
    assert_true(hints_give(&launch, &record) > 0);
    for (uint32_t i = 0; i < PATCH_SITES; i++) {
        uint32_t code = (uint32_t)record.sites[i].head & ~PATCH_GUESS;
        assert_true(code == 0 || code > PATCH_CODE(0x7f000000u - 16 * PATCH_SITES, KIND));
    }
}

/* One launch in 64 shows what has changed. */
static void goes_on_learning(void **state)
{
    static struct observed_kernel kernel = {.kinds = 126}; /* its hints stay */
    unsigned learnt = 0;
    for (unsigned i = 0; i < 256; i++) {
        struct pool_launch launch = begin(&kernel, (uint64_t[]){x}, 1);
        (void)hints_give(&launch, &record);
        learnt += launch.is_to_learn;
    }
    assert_int_equal(learnt, 4 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_operand),
        cmocka_unit_test(narrows_down),
        cmocka_unit_test(forgets_what_varies),
        cmocka_unit_test(crowded),
        cmocka_unit_test(too_many),
        cmocka_unit_test(goes_on_learning),
        cmocka_unit_test(stays_unclear),
        cmocka_unit_test(forgets_the_absent),
        cmocka_unit_test(was_elsewhere),
        cmocka_unit_test(ignores_nonsense),
        cmocka_unit_test(leaves_room),
        cmocka_unit_test(learns_so_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
