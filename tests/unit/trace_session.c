/* What a producer asks of the tool while it runs. */
#include "trace/session.h"

#include "trace/control_abi.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static struct control_page page;
static bool answers;
static unsigned asked, unsupported;

/* The tool, which reads what is written. */
static void put(struct ssan_sink *self, const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_query_findings) {
        asked++;
        page.findings = 7;
        page.findings_answered = answers ? event->query_findings.request : 0;
    } else {
        assert_int_equal(event->kind, SSAN_EV_unsupported);
        assert_int_equal(event->unsupported.thread, 3);
        unsupported++;
    }
}

static struct ssan_sink sink = {.put = put};

static void answered(void **state)
{
    answers = true;
    assert_int_equal(session_ask_findings(&page, &sink, 3), 7);
    assert_int_equal(asked, 1);
    assert_int_equal(unsupported, 0);
}

/* A number that is not known is no 0 of a clean run. */
static void not_in_time(void **state)
{
    answers = false;
    session_set_findings_wait(1000000);
    assert_int_equal(session_ask_findings(&page, &sink, 3), 0);
    assert_int_equal(asked, 2);
    assert_int_equal(unsupported, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answered), cmocka_unit_test(not_in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
