/* Stacks with frames whose lines a producer told. */
#include "symbol/sites.h"
#include "symbol/symbols.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static char lines[4096];

static bool give(void *self, const struct ssan_event *event)
{
    const struct ssan_ev_line *line = &event->line;
    size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%u.%u %.*s:%u %.*s %s\n", line->site, line->depth,
             (int)line->file.length, line->file.ptr, line->line, (int)line->function.length,
             line->function.ptr, ssan_enum_word(SSAN_TABLE_language, line->language));
    return true;
}

static void tell_frame(struct sites *sites, uint64_t number, const char *file, uint32_t line,
                       const char *function)
{
    struct ssan_event event = {.kind = SSAN_EV_frame};
    event.frame = (struct ssan_ev_frame){.frame = UINT64_C(0xffff) << 48 | number,
                                         .language = SSAN_language_PYTHON,
                                         .file = ssan_str(file),
                                         .line = line,
                                         .function = ssan_str(function)};
    assert_true(sites_take(sites, &event));
}

static void tell_site(struct sites *sites, uint32_t site, const uint64_t *frames, uint32_t count)
{
    struct ssan_event event = {.kind = SSAN_EV_site, .site = {site, {frames, count}}};
    assert_true(sites_take(sites, &event));
}

static void told_frames_become_lines(void **state)
{
    static const uint64_t told = UINT64_C(0xffff) << 48;
    const uint64_t both[] = {told | 1, told | 2, told | 3}, library[] = {told | 1};
    struct sites *sites = sites_create("/data/u");
    struct symbol_frame frame;
    assert_non_null(sites);
    tell_frame(sites, 1, "/opt/v/lib/python3.12/site-packages/torch/nn/functional.py", 12, "relu");
    tell_frame(sites, 2, "/data/u/train.py", 31, "Net.forward");
    tell_frame(sites, 3, "<stdin>", 0, "main");
    tell_site(sites, 7, both, 3);
    tell_site(sites, 8, library, 1);
    lines[0] = '\0';
    assert_true(sites_resolve(sites, give, NULL));
    assert_string_equal(
        lines, "7.0 /opt/v/lib/python3.12/site-packages/torch/nn/functional.py:12 relu python\n"
               "7.1 train.py:31 Net.forward python\n"
               "7.2 <stdin>:0 main python\n"
               "8.0 /opt/v/lib/python3.12/site-packages/torch/nn/functional.py:12 relu python\n");
    assert_true(sites_place(sites, 7, &frame));
    assert_string_equal(frame.file, "train.py");
    assert_true(sites_place(sites, 8, &frame));
    assert_int_equal(frame.line, 12);
    assert_false(sites_place(sites, 9, &frame));
    sites_destroy(sites);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_frames_become_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
