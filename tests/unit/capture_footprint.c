/* What parameters say that a kernel may touch. */
#include "capture/memory.h"
#include "capture/observe_footprint.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define FIRST  UINT64_C(0x7f4200000000)
#define SECOND UINT64_C(0x7f4200200000)

static struct {
    struct ssan_sink sink;
    struct ssan_run runs[2][8]; /* of reads and of writes */
    uint32_t counts[2];
} told;

static void on_event(struct ssan_sink *self, const struct ssan_event *event)
{
    assert_int_equal(event->kind, SSAN_EV_set);
    assert_int_equal(event->set.op, 9);
    assert_int_equal(event->set.sureness, SSAN_set_sureness_MAY);
    assert_true(event->set.access == SSAN_access_READ || event->set.access == SSAN_access_WRITE);
    told.counts[event->set.access] = event->set.runs.count;
    memcpy(told.runs[event->set.access], event->set.runs.ptr,
           event->set.runs.count * sizeof(struct ssan_run));
}

static int set_up(void **state)
{
    const struct memory_block blocks[] = {{FIRST, 4096, 1, SSAN_memory_DEVICE, 1, false, NULL},
                                          {SECOND, 1 << 20, 2, SSAN_memory_DEVICE, 1, false, NULL}};
    memset(&told, 0, sizeof told);
    told.sink.put = on_event;
    return memory_add(&blocks[0]) && memory_add(&blocks[1]) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct memory_block block;
    return memory_remove(FIRST, &block) && memory_remove(SECOND, &block) ? 0 : -1;
}

static void is_told(enum ssan_access access, uint32_t index, uint64_t address, uint64_t length)
{
    assert_true(index < told.counts[access]);
    assert_true(told.runs[access][index].address == address);
    assert_true(told.runs[access][index].length == length);
}

/* A pointer, a number that is none, and a struct with a pointer in its middle, as tensor maps are.
 */
static void arguments(void **state)
{
    const struct observe_parameter parameters[] = {{0, 8}, {8, 4}, {16, 24}};
    const struct observed_kernel kernel = {.parameter_count = 3, .parameters = parameters};
    uint64_t pointer = FIRST + 64, map[3] = {7, SECOND + 4096, 9};
    uint32_t number = 5;
    void *const values[] = {&pointer, &number, map};
    struct observe_arguments given = {values, NULL, 0};
    assert_true(observe_footprint_tell(&told.sink, 9, &kernel, &given, false));
    assert_int_equal(told.counts[SSAN_access_READ], 2);
    is_told(SSAN_access_READ, 0, FIRST + 64, 4096 - 64);
    is_told(SSAN_access_READ, 1, SECOND + 4096, (1 << 20) - 4096);
    assert_int_equal(told.counts[SSAN_access_WRITE], 0);
    assert_true(observe_footprint_tell(&told.sink, 9, &kernel, &given, true));
    assert_int_equal(told.counts[SSAN_access_WRITE], 2);
}

struct taken {
    struct observe_operand items[4];
    uint32_t count;
};

static void take(void *self, const struct observe_operand *operand)
{
    struct taken *taken = self;
    assert_true(taken->count < 4);
    taken->items[taken->count++] = *operand;
}

/* Each with its place among all parameters, whichever way they are passed. */
static void places(void **state)
{
    const struct observe_parameter parameters[] = {{0, 8}, {8, 4}, {16, 24}};
    const struct observed_kernel kernel = {.parameter_count = 3, .parameters = parameters};
    uint64_t pointer = FIRST + 64, map[3] = {7, SECOND + 4096, 9};
    uint32_t number = 5;
    unsigned char bytes[40] = {0};
    memcpy(bytes, &pointer, 8);
    memcpy(bytes + 16, map, 24);
    void *const values[] = {&pointer, &number, map};
    const struct observe_arguments given[] = {{values, NULL, 0}, {NULL, bytes, sizeof bytes}};
    for (unsigned i = 0; i < 2; i++) {
        struct taken taken = {.count = 0};
        assert_true(observe_operands_each(&kernel, &given[i], take, &taken));
        assert_int_equal(taken.count, 2);
        assert_int_equal(taken.items[0].offset, 0);
        assert_int_equal(taken.items[1].offset, 24);
        assert_true(taken.items[0].address == FIRST + 64);
        assert_true(taken.items[0].block_end == FIRST + 4096);
        assert_true(taken.items[1].address == SECOND + 4096);
        assert_true(taken.items[1].block_end == SECOND + (1 << 20));
    }
    assert_true(OBSERVE_OPERAND(24) == 8 && OBSERVE_OPERAND(512 + 8) == 2);
}

/* One buffer for all, words at odd places; of two addresses in a block the lower one counts. */
static void buffer(void **state)
{
    const struct observed_kernel kernel = {.flags = 0};
    unsigned char bytes[44] = {0};
    const uint64_t words[] = {SECOND + 128, SECOND + 64, FIRST};
    memcpy(bytes + 4, &words[0], 8);
    memcpy(bytes + 16, &words[1], 8);
    memcpy(bytes + 36, &words[2], 8);
    struct observe_arguments given = {NULL, bytes, sizeof bytes};
    assert_true(observe_footprint_tell(&told.sink, 9, &kernel, &given, true));
    assert_int_equal(told.counts[SSAN_access_WRITE], 2);
    is_told(SSAN_access_WRITE, 0, SECOND + 64, (1 << 20) - 64);
    is_told(SSAN_access_WRITE, 1, FIRST, 4096);
}

static void nothing_known(void **state)
{
    const struct observe_parameter parameters[] = {{0, 8}};
    const struct observed_kernel unknown = {.flags = 0};
    const struct observed_kernel none = {.parameter_count = 0, .parameters = parameters};
    const struct observed_kernel one = {.parameter_count = 1, .parameters = parameters};
    struct observe_arguments given = {NULL, NULL, 0};
    assert_false(observe_footprint_tell(&told.sink, 9, &unknown, &given, true));
    assert_false(observe_footprint_tell(&told.sink, 9, &one, &given, true));
    assert_true(observe_footprint_tell(&told.sink, 9, &none, &given, true));
    assert_int_equal(told.counts[SSAN_access_READ], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arguments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(buffer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_known, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
