/* Statements of fixes in the language of their place. */
#include "core/explain_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct place c_place = {.file = "a.cu", .line = 1};
static const struct place python_place = {
    .file = "a.py", .line = 1, .language = SSAN_language_PYTHON};

/* All statements at a place, one a line. */
static void expect(const struct place *place, const char *stream, const char *expected)
{
    struct strbuf text = {0};
    words_declare(&text, place, "e");
    strbuf_puts(&text, "\n");
    words_create(&text, place, "e");
    strbuf_puts(&text, "\n");
    words_record(&text, place, stream, "e");
    strbuf_puts(&text, "\n");
    words_wait(&text, place, stream, "e");
    strbuf_puts(&text, "\n");
    words_join_event(&text, place, "e");
    strbuf_puts(&text, "\n");
    words_join_stream(&text, place, stream);
    strbuf_puts(&text, "\n");
    words_join_device(&text, place);
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_finish(&text);
}

static void in_c(void **state)
{
    expect(&c_place, "s",
           "cudaEvent_t e;\n"
           "cudaEventCreateWithFlags(&e, cudaEventDisableTiming);\n"
           "cudaEventRecord(e, s);\n"
           "cudaStreamWaitEvent(s, e, 0);\n"
           "cudaEventSynchronize(e);\n"
           "cudaStreamSynchronize(s);\n"
           "cudaDeviceSynchronize();");
}

static void in_python(void **state)
{
    expect(&python_place, "s",
           "e = torch.cuda.Event()\n"
           "\n"
           "e.record(s)\n"
           "s.wait_event(e)\n"
           "e.synchronize()\n"
           "s.synchronize()\n"
           "torch.cuda.synchronize()");
    expect(&python_place, "cudaStreamLegacy",
           "e = torch.cuda.Event()\n"
           "\n"
           "e.record(torch.cuda.default_stream())\n"
           "torch.cuda.default_stream().wait_event(e)\n"
           "e.synchronize()\n"
           "torch.cuda.default_stream().synchronize()\n"
           "torch.cuda.synchronize()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_c), cmocka_unit_test(in_python)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
