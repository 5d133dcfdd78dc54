/* trace: the grammar of listings: what is written short, and what is said of mistakes. */
#include "base/strbuf.h"
#include "trace/listing.h"
#include "trace/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WORDS_16 "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"

/* Reads `text` behind the first line and prints it again; NULL with *err on an error. The caller
 * frees. */
static char *read_back(const char *text, struct ssan_error *err)
{
    struct strbuf whole = {0}, out = {0};
    struct reader *reader;
    struct ssan_event event;
    enum ssan_next got;
    strbuf_printf(&whole, LISTING_FIRST_LINE "\n%s", text);
    assert_int_equal(reader_open_listing(&reader, "l", whole.text, whole.length, err), SSAN_OK);
    while ((got = ssan_next(reader_source(reader), &event, err)) == SSAN_NEXT_EVENT) {
        listing_print(&out, &event);
    }
    reader_close(reader);
    strbuf_finish(&whole);
    if (got != SSAN_NEXT_END) {
        assert_int_equal(got, SSAN_NEXT_ERROR);
        strbuf_finish(&out);
        return NULL;
    }
    strbuf_puts(&out, "");
    return strbuf_take(&out);
}

static void expect_reading(const char *text, const char *printed)
{
    struct ssan_error err;
    char *got = read_back(text, &err);
    if (!got) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(got, printed);
    free(got);
}

static void short_forms_mean_the_long_ones(void **state)
{
    expect_reading("", "");
    expect_reading("# nothing\n\n \t # here\r\n", "");
    expect_reading("op_closed op=7", "op_closed op=7\n");
    expect_reading("  op_closed\top=0x7 # seven\r\n", "op_closed op=7\n");
    expect_reading("exit", "exit\n");
    expect_reading("exit code=0\n", "exit\n");
    expect_reading("set runs=[ 4096+4,0x8000+4*8x100 ] op=1 access=write\n",
                   "set op=1 access=write sureness=exact runs=[0x1000+4, 0x8000+4*8x100]\n");
    expect_reading("set op=1 runs=[]\n", "set op=1 access=read sureness=exact\n");
    expect_reading("site site=1 frames=[0x10,2, 0]\n", "site site=1 frames=[0x10, 0x2, 0]\n");
    expect_reading("name object=event id=3 text=\"\"\n", "name object=event id=3\n");
}

static void strings_take_the_escapes_of_c(void **state)
{
    expect_reading(
        "unsupported call=\"a\\n\\t\\\\\\\"\\'\\?\\x41\\x4g\\101\\0\\0001 # no comment\"\n",
        "unsupported call=\"a\\n\\t\\\\\\\"'?A\\004gA\\000\\0001 # no comment\"\n");
    expect_reading("process command=\"a\\0b c\\0\"\n",
                   "process source=listing accesses=off host=off command=\"a\\000b c\\000\"\n");
    expect_reading("unsupported call=\"\xc3\xa9\\177\\377\"\n",
                   "unsupported call=\"\xc3\xa9\\177\xff\"\n");
}

static void places_become_sites(void **state)
{
    expect_reading(
        "alloc alloc=1 size=4 at=\"a b.cu:32\"\n"
        "free alloc=1 at=\"a b.cu:33 ns::main(int)\"\n"
        "free alloc=1 at=\"a b.cu:32\"\n"
        "site site=5\n"
        "unsupported call=\"x\" site=0x6\n",
        "site site=7\n"
        "line site=7 file=\"a b.cu\" line=32 language=native\n"
        "alloc alloc=1 memory=device size=4 site=7\n"
        "site site=8\n"
        "line site=8 file=\"a b.cu\" line=33 function=\"ns::main(int)\" language=native\n"
        "free alloc=1 site=8\n"
        "free alloc=1 site=7\n"
        "site site=5\n"
        "unsupported call=\"x\" site=6\n");
    expect_reading("stream_destroy stream=1 at=\"C:\\\\x.cu:1\"\n",
                   "site site=1\n"
                   "line site=1 file=\"C:\\\\x.cu\" line=1 language=native\n"
                   "stream_destroy stream=1 site=1\n");
}

static void mistakes_are_named(void **state)
{
    static const struct {
        const char *text, *part;
        uint64_t line;
    } mistakes[] = {
        {"\n\nopp op=1\n", "`opp`: not an event; known: process exit lost", 4},
        {"op opp=1\n", "`opp`: not a field of `op`; known: op stream kind form", 2},
        {"op_closed op=1 op=2\n", "`op`: the field stands twice", 2},
        {"op_closed op=1x\n", "`x`: a blank was expected", 2},
        {"op_closed op=\n", "a number was expected", 2},
        {"op_closed op=-1\n", "`-1`: a number was expected", 2},
        {"op_closed op=0x\n", "`x`: a blank", 2},
        {"op_closed op=18446744073709551616\n", "above 64 bits", 2},
        {"exit code=4294967296\n", "`4294967296`: the number is above 32 bits", 2},
        {"op_closed op\n", "`op`: FIELD=VALUE was expected", 2},
        {"op_closed =1\n", "`=1`: FIELD=VALUE was expected", 2},
        {"op_closed;\n", "a blank was expected behind the event", 2},
        {"op kind=kern\n", "`kern`: not a word of this field; known: kernel copy memset", 2},
        {"op kind=\n", "not a word of this field", 2},
        {"op call=x\n", "`x`: a string in quotes was expected", 2},
        {"op call=\"x\n", "`\"x`: the string has no closing quote", 2},
        {"op call=\"\\q\"\n", "`\\q\"`: an escape that C does not have", 2},
        {"op call=\"\\xg\"\n", "\\x needs a hexadecimal digit", 2},
        {"op call=\"\\777\"\n", "an escape above 255", 2},
        {"op call=\"\\", "an escape that C does not have", 2},
        {"set runs=0x1+1\n", "a list in [ ] was expected", 2},
        {"set runs=[0x1]\n", "`0x1]`: a run is ADDRESS+LENGTH", 2},
        {"set runs=[0x1+1*2]\n", "a run is ADDRESS+LENGTH", 2},
        {"set runs=[0x1+1 0x3+1]\n", "`0x3+1]`: `,` or `]` was expected", 2},
        {"set runs=[0x1+1,\n", "a number was expected", 2},
        {"set runs=[0x1+0]\n", "`runs`: a run without bytes", 2},
        {"set runs=[0x1+4*3x2]\n", "`runs`: a run whose stride", 2},
        {"set runs=[0x1+4*4x1]\n", "`runs`: a run whose stride", 2},
        {"set runs=[0x1+4*0x8000000000000000x3]\n", "`runs`: a run that leaves", 2},
        {"set runs=[0xffffffffffffffff+1]\n", "`runs`: a run that leaves", 2},
        {"set_leaf bits=[1]\n", "`bits`: a leaf has 64 words", 2},
        {"set_leaf\n", "`bits`: a leaf has 64 words", 2},
        {"set_leaf unit_log2=2 bits=[1]\n", "`bits`: a leaf has 16 words of this unit", 2},
        {"set_leaf unit_log2=1 bits=[1]\n", "`unit_log2`: a bit of a leaf is 1 byte (0) or 4 (2)",
         2},
        {"set_leaf unit_log2=2 address=4 bits=[" WORDS_16 "]\n", "`address`: a leaf begins at a",
         2},
        {"set_leaf unit_log2=2 address=0xffffffffffffe000 bits=[" WORDS_16 ", " WORDS_16 "]\n",
         "`address`: the leaves leave the address space", 2},
        {"alloc address=0xffffffffffffff00 size=257\n", "`size`: the range leaves", 2},
        {"free site=1 at=\"a:1\"\n", "`at`: an event has either `site` or `at`", 2},
        {"free at=\"\"\n", "`at`: FILE:LINE was expected", 2},
        {"free at=\"a.cu\"\n", "`a.cu`: at is FILE:LINE", 2},
        {"free at=\"a.cu:1x\"\n", "at is FILE:LINE", 2},
        {"free at=\":1\"\n", "at is FILE:LINE", 2},
        {"free at=\"a:99999999999999999999\"\n", "at is FILE:LINE", 2},
        {"op_closed at=\"a:1\"\n", "`at`: not a field of `op_closed`", 2},
        {"line at=\"a:1\"\n", "`at`: not a field of `line`", 2},
        {"exit\nsite frames=[1\001", "`,` or `]` was expected", 3},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct ssan_error err = {0};
        char *got = read_back(mistakes[i].text, &err);
        if (got || !strstr(err.text, mistakes[i].part)) {
            fail_msg("%s gave: %s", mistakes[i].text, got ? got : err.text);
        }
        assert_int_equal(err.status, SSAN_FORMAT);
        assert_int_equal(err.position, mistakes[i].line);
        char where[20];
        snprintf(where, sizeof where, "l:%d: ", (int)mistakes[i].line);
        assert_int_equal(strncmp(err.text, where, strlen(where)), 0);
    }
}

static void the_first_line_is_checked(void **state)
{
    static const struct {
        const char *text;
        enum ssan_status status;
    } firsts[] = {
        {"", SSAN_FORMAT},
        {"streamsan", SSAN_FORMAT},
        {"streamsan-listing \n", SSAN_FORMAT},
        {"streamsan-listing 1x\n", SSAN_FORMAT},
        {"streamsan-listing 2\n", SSAN_VERSION},
        {"streamsan-listing 99999999999999999999999\n", SSAN_FORMAT},
        {"streamsan-listing 1", SSAN_OK},
        {"streamsan-listing 1 \r\nexit\r\n", SSAN_OK},
    };
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        struct reader *reader;
        struct ssan_error err = {0};
        enum ssan_status status =
            reader_open_listing(&reader, "l", firsts[i].text, strlen(firsts[i].text), &err);
        assert_int_equal(status, firsts[i].status);
        assert_int_equal(status == SSAN_OK, err.text[0] == '\0');
        if (status == SSAN_OK) {
            reader_close(reader);
        }
    }
}

/* `-` reads standard input and can still go back. */
static void standard_input_is_held(void **state)
{
    int ends[2], old = dup(STDIN_FILENO);
    struct reader *reader;
    struct ssan_event event;
    static const char text[] = LISTING_FIRST_LINE "\nexit code=3\n";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_int_equal(reader_open(&reader, "-", NULL), SSAN_OK);
    dup2(old, STDIN_FILENO);
    close(old);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(ssan_next(reader_source(reader), &event, NULL), SSAN_NEXT_EVENT);
        assert_int_equal(event.exit.code, 3);
        assert_int_equal(reader_position(reader), 2);
        assert_int_equal(ssan_next(reader_source(reader), &event, NULL), SSAN_NEXT_END);
        assert_true(reader_source(reader)->rewind(reader_source(reader)));
    }
    reader_close(reader);
}

/* The example of docs/trace-format.md says what it seems to. */
static void the_documents_example_reads(void **state)
{
    char text[16384];
    struct reader *reader;
    struct ssan_event event;
    struct ssan_error err = {0};
    FILE *file = fopen(SSAN_SOURCE_DIR "/docs/trace-format.md", "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *from = strstr(text, "```\n" LISTING_FIRST_LINE);
    char *end = from ? strstr(from + 4, "```") : NULL;
    assert_non_null(end);
    from += 4;
    assert_int_equal(reader_open_listing(&reader, "doc", from, (size_t)(end - from), &err),
                     SSAN_OK);
    uint64_t events = 0;
    enum ssan_next got;
    while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
        events++;
    }
    if (got != SSAN_NEXT_END) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(events, 9);
    reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_forms_mean_the_long_ones),
        cmocka_unit_test(strings_take_the_escapes_of_c),
        cmocka_unit_test(places_become_sites),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(the_first_line_is_checked),
        cmocka_unit_test(standard_input_is_held),
        cmocka_unit_test(the_documents_example_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
