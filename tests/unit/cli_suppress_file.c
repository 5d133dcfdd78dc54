/* Suppression files: what is taken, what each fault says, and that printed entries are taken back.
 */
#include "cli/suppress_file.h"

#include "golden/fixtures.h"

#include "report/report.h"
#include "report/suppress.h"

#include "base/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static enum ssan_status parse(struct suppress_list *list, const char *text, struct ssan_error *err)
{
    memset(err, 0, sizeof *err);
    return suppress_file_parse(list, "s.yaml", text, strlen(text), err);
}

static void entries_are_taken(void **state)
{
    struct suppress_list list = {0};
    struct ssan_error err;
    const struct suppression *entry;
    assert_int_equal(parse(&list,
                           "# of the queue\n"
                           "- rule: SSAN-RAW\n"
                           "  buffer: 'ring\\[*\\]'\n"
                           "  reason: the reader checks a version\n\n"
                           "- {id: 12345678, kernel: \"ns::copy<int>\", reason: >\n"
                           "     two\n     lines}\n",
                           &err),
                     SSAN_FORMAT); /* no block text in flow style */
    assert_int_equal(list.entries.count, 0);
    assert_int_equal(parse(&list,
                           "# of the queue\n"
                           "- rule: SSAN-RAW\n"
                           "  buffer: 'ring\\[*\\]'\n"
                           "  reason: the reader checks a version\n\n"
                           "- {id: 12345678, kernel: \"ns::copy<int>\", reason: 'it''s so'}\n",
                           &err),
                     SSAN_OK);
    assert_int_equal(list.entries.count, 2);
    entry = &list.entries.items[0];
    assert_string_equal(entry->file, "s.yaml");
    assert_int_equal(entry->line, 2);
    assert_string_equal(entry->rule, "SSAN-RAW");
    assert_string_equal(entry->buffer, "ring\\[*\\]");
    assert_null(entry->id);
    assert_null(entry->kernel);
    entry++;
    assert_int_equal(entry->line, 6);
    assert_string_equal(entry->id, "12345678");
    assert_string_equal(entry->kernel, "ns::copy<int>");
    assert_string_equal(entry->reason, "it's so");
    suppress_list_finish(&list);
}

static void files_may_be_empty(void **state)
{
    static const char *const texts[] = {"", "# nothing\n", "[]", "---\n", "---\n...\n"};
    struct suppress_list list = {0};
    struct ssan_error err;
    size_t i;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (parse(&list, texts[i], &err) != SSAN_OK || list.entries.count != 0) {
            fail_msg("text %zu: %s", i, err.text);
        }
    }
    suppress_list_finish(&list);
}

static void faults_name_line_and_key(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"- rule: SSAN-RAV\n  reason: x\n",
         "s.yaml:1: 'rule': there is no check 'SSAN-RAV'; did you mean 'SSAN-RAW'?"},
        {"- rule: SSAN-RAW\n  id: 00000000\n\n  raeson: x\n",
         "s.yaml:4: there is no key 'raeson'; an entry has rule, id, buffer, kernel, reason; did "
         "you mean 'reason'?"},
        {"- reason: x\n  id: 00000000\n- rule: SSAN-RAW\n- reason: y\n",
         "s.yaml:3: the entry has no 'reason', which each one needs"},
        {"- rule: SSAN-RAW\n  reason:\n", "s.yaml:2: 'reason' is empty"},
        {"- rule: SSAN-RAW\n  reason: ''\n", "s.yaml:2: 'reason' is empty"},
        {"- id: 5B1F20C4\n  reason: x\n", "s.yaml:1: 'id' takes the 8 digits of a finding"},
        {"- reason: x\n  id: 5b1f20c\n", "s.yaml:2: 'id' takes the 8 digits of a finding"},
        {"- reason: everything\n", "s.yaml:1: the entry would hide everything: it needs"},
        {"- kernel: x\n  reason: y\n  kernel: z\n", "s.yaml:3: 'kernel' stands twice"},
        {"- kernel: [x]\n  reason: y\n", "s.yaml:1: 'kernel' takes a text"},
        {"- buffer:\n    a: b\n  reason: y\n", "s.yaml:1: 'buffer' takes a text"},
        {"rule: SSAN-RAW\nreason: x\n", "s.yaml:1: a list of entries is wanted"},
        {"SSAN-RAW\n", "s.yaml:1: a list of entries is wanted"},
        {"- SSAN-RAW\n", "s.yaml:1: an entry with the keys rule, id, buffer, kernel, reason"},
        {"- [SSAN-RAW]\n", "s.yaml:1: an entry with the keys rule, id, buffer, kernel, reason"},
        {"- rule: \"SSAN-RAW\n  reason: x\n", "s.yaml:3: found unexpected end of stream"},
        {"- rule: x\n reason: y\n", "s.yaml:2: did not find expected '-' indicator"},
        {"- &a {id: 00000000, reason: x}\n- *a\n", "s.yaml:2: an alias: write the entry out"},
        {"- {id: 00000000, reason: x}\n---\n[]\n", "s.yaml:2: a second document begins here"},
        {"- reason: \"\\xZZ\"\n", "s.yaml:1: "},
        {"- id: 00000000\n  reason: \"a\\0b\"\n", "s.yaml:2: a character 0"},
        {"- id: 00000000\n  reason: \xff\xff\n", "s.yaml:2: invalid leading UTF-8 octet"},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct suppress_list list = {0};
        struct ssan_error err;
        if (parse(&list, cases[i].text, &err) != SSAN_FORMAT ||
            strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0) {
            fail_msg("case %zu says: %s", i, err.text);
        }
        assert_int_equal(list.entries.count, 0);
        suppress_list_finish(&list);
    }
}

static void limits(void **state)
{
    struct suppress_list list = {0};
    struct ssan_error err;
    struct strbuf text = {0};
    size_t i;
    strbuf_puts(&text, "- id: 00000000\n  reason: ");
    for (i = 0; i < 5000; i++) {
        strbuf_puts(&text, "x");
    }
    assert_int_equal(parse(&list, text.text, &err), SSAN_FORMAT);
    assert_non_null(strstr(err.text, "s.yaml:2: 'reason' is longer than 4096 bytes"));
    strbuf_clear(&text);
    for (i = 0; i < 1000; i++) {
        strbuf_puts(&text, "[");
    }
    assert_int_equal(parse(&list, text.text, &err), SSAN_FORMAT);
    assert_string_equal(err.text, "s.yaml:1: nested too deeply");
    assert_int_equal(suppress_file_read(&list, "/nonexistent/s.yaml", &err), SSAN_IO);
    assert_non_null(strstr(err.text, "/nonexistent/s.yaml"));
    assert_int_equal(suppress_file_read(&list, "/", &err), SSAN_IO);
    strbuf_finish(&text);
    suppress_list_finish(&list);
}

/* What --print-suppressions prints hides all that it was printed for. */
static void printed_entries_are_taken_back(void **state)
{
    static void (*const fixtures[])(struct report *) = {
        fixture_handover,    fixture_host_write, fixture_lifetimes, fixture_advice,
        fixture_portability, fixture_long_names, fixture_losses,
    };
    size_t i;
    for (i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        struct suppress_list list = {0};
        struct ssan_error err;
        struct report report;
        struct strbuf text = {0};
        struct verdict verdict;
        size_t k;
        fixtures[i](&report);
        if (report.buffer_count > 0) {
            report.buffers[0].name = "a\nb\xff*[#'\""; /* whatever the program calls it */
        }
        suppress_entries(&text, &report);
        assert_int_equal(parse(&list, strbuf_text(&text), &err), SSAN_OK);
        assert_true(suppress_apply(&report, list.entries.items, list.entries.count));
        verdict = verdict_decide(&report, 0, 0);
        assert_int_equal(verdict.errors + verdict.warnings + verdict.advice + verdict.folded, 0);
        assert_int_equal(verdict.suppressed, list.entries.count);
        for (k = 0; k < list.entries.count; k++) {
            assert_int_equal(list.entries.items[k].used, 1);
        }
        strbuf_finish(&text);
        report_finish(&report);
        suppress_list_finish(&list);
    }
}

static void no_memory(void **state)
{
    uint64_t nth, most;
    struct suppress_list list = {0};
    struct ssan_error err;
    static const char text[] = "- rule: SSAN-RAW\n  reason: x\n- id: 00000000\n  reason: y\n";
    mem_fail_at(0);
    assert_int_equal(parse(&list, text, &err), SSAN_OK);
    most = mem_count();
    suppress_list_finish(&list);
    assert_true(most > 5);
    for (nth = 1; nth <= most; nth++) {
        struct suppress_list small = {0};
        enum ssan_status status;
        mem_fail_at(nth);
        status = parse(&small, text, &err);
        mem_fail_at(0);
        assert_int_equal(status, SSAN_NO_MEMORY);
        assert_int_equal(small.entries.count, 0);
        suppress_list_finish(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_taken),
        cmocka_unit_test(files_may_be_empty),
        cmocka_unit_test(faults_name_line_and_key),
        cmocka_unit_test(limits),
        cmocka_unit_test(printed_entries_are_taken_back),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
