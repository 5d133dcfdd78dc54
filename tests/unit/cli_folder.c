/* The folder of a run: its page, new traces once each, answers only over requests that were all
 * seen. */
#include "cli/folder.h"

#include "trace/control_abi.h"
#include "trace/plan.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void touch(const struct folder *folder, const char *name)
{
    char path[4096];
    int fd;
    snprintf(path, sizeof path, "%s/%s", folder->directory, name);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void assert_next(struct folder *folder, const char *name)
{
    char *path = folder_next_trace(folder);
    assert_non_null(path);
    assert_string_equal(strrchr(path, '/') + 1, name);
    mem_free(path);
}

static void traces_come_once(void **state)
{
    struct folder folder;
    struct ssan_error err;
    assert_int_equal(folder_open(&folder, &(struct folder_options){.schedule = "random:3"}, &err),
                     SSAN_OK);
    assert_string_equal(folder.page->schedule, "random:3");
    assert_int_equal(folder.page->magic, CONTROL_MAGIC);
    assert_null(folder_next_trace(&folder));
    touch(&folder, "12.live");
    touch(&folder, ".13.live");
    touch(&folder, "12.kept");
    touch(&folder, "11.live");
    assert_next(&folder, "11.live");
    assert_next(&folder, "12.live");
    assert_null(folder_next_trace(&folder));
    touch(&folder, "12.1.live");
    assert_next(&folder, "12.1.live");
    assert_null(folder_next_trace(&folder));
    folder_close(&folder);
}

static void nothing_stays_behind(void **state)
{
    struct folder folder;
    struct ssan_error err;
    char *directory;
    assert_int_equal(folder_open(&folder, &(struct folder_options){.schedule = "eager"}, &err),
                     SSAN_OK);
    touch(&folder, "1.live");
    directory = strdup(folder.directory);
    folder_close(&folder);
    assert_int_equal(access(directory, F_OK), -1);
    free(directory);
}

static void answers_wait_for_earlier_requests(void **state)
{
    struct folder folder;
    struct ssan_error err;
    assert_int_equal(folder_open(&folder, &(struct folder_options){.schedule = "eager"}, &err),
                     SSAN_OK);
    folder_answer(&folder, 2, 1);
    assert_int_equal(folder.page->findings_answered, 0);
    folder_answer(&folder, 3, 1);
    assert_int_equal(folder.page->findings_answered, 0);
    folder_answer(&folder, 1, 4);
    assert_int_equal(folder.page->findings_answered, 3);
    assert_int_equal(folder.page->findings, 4);
    folder_answer(&folder, 1, 9);
    assert_int_equal(folder.page->findings, 4);
    folder_close(&folder);
}

static void no_place_for_it(void **state)
{
    struct folder folder;
    struct ssan_error err;
    setenv("TMPDIR", "/nonexistent", 1);
    assert_int_equal(folder_open(&folder, &(struct folder_options){.schedule = "eager"}, &err),
                     SSAN_IO);
    assert_non_null(strstr(err.text, "/nonexistent"));
    unsetenv("TMPDIR");
    folder_close(&folder);
}

static void a_plan_goes_along(void **state)
{
    struct folder folder;
    struct plan plan;
    struct ssan_error err;
    struct strbuf words = {0};
    char path[4096], text[256] = "";
    int fd;
    strbuf_puts(&words, "order:s1.1");
    while (words.length < 1100) {
        strbuf_printf(&words, ",s1.%zu", words.length);
    }
    assert_int_equal(plan_read(&plan, strbuf_text(&words), &err), SSAN_OK);
    assert_int_equal(folder_open(&folder,
                                 &(struct folder_options){.schedule = strbuf_text(&words),
                                                          .plan = &plan,
                                                          .flags = CONTROL_CALLS},
                                 &err),
                     SSAN_OK);
    assert_int_equal(strlen(folder.page->schedule), sizeof folder.page->schedule - 1);
    assert_string_equal(folder.page->schedule + 1020, "...");
    assert_int_equal(folder.page->flags, CONTROL_CALLS);
    assert_true(folder.page->plan_limit_ms > 0 && folder.page->snapshot_limit_bytes > 0);
    snprintf(path, sizeof path, "%s/" CONTROL_PLAN, folder.directory);
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    assert_non_null(strstr(text, "policy lazy\nitems s1.1 s1.10 "));
    assert_null(folder_next_trace(&folder));
    folder_close(&folder);
    plan_finish(&plan);
    strbuf_finish(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_come_once),     cmocka_unit_test(a_plan_goes_along),
        cmocka_unit_test(nothing_stays_behind), cmocka_unit_test(answers_wait_for_earlier_requests),
        cmocka_unit_test(no_place_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
