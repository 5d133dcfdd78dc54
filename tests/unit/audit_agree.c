/* Names of blocks in the parts of an audit: audit/agree.h. */
#include "audit/agree.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void one_block_has_one_name(void **state)
{
    (void)state;
    struct report_buffer told[] = {{.name = "l", .alloc = 2}, {.name = "l#2", .alloc = 1}};
    struct report_buffer others[] = {{.name = "l", .alloc = 1},    {.name = "l#2", .alloc = 3},
                                     {.name = "l#3", .alloc = 2},  {.name = "out", .alloc = 4},
                                     {.name = "v", .address = 16}, {.name = "v#2", .address = 32}};
    static const char *const wanted[] = {"l#2", "l#3", "l", "out", "v", "v#2"};
    struct report report = {.buffers = told, .buffer_count = 2};
    struct report other = {.buffers = others, .buffer_count = 6};
    assert_true(agree_on_blocks(&report, &other));
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(others[i].name, wanted[i]);
    }
    assert_string_equal(told[0].name, "l");
    arena_finish(&other.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_block_has_one_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
